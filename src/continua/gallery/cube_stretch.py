"""A rubber cube is stretched to three times its length, held, and let go (J15 Fig. A.3).

A mesh of tetrahedra, stepped as finite elements once per frame: a step is the minimum of an energy, and the line
search of the minimiser makes it converge however far the ends have moved. The two ends are scripted vertices; they
move apart for 3/4 s and are let go after one second.

What to look at: the cube thins in the middle, because its volume hardly changes (`nu=0.45`), and snaps back within
a few frames. It does not ring for long: backward Euler damps what is fast against its step. Try
`--set integrator.scheme=bdf2` (order 2, rings longer), `--set dt=0.005` (steps eight times shorter, rings longer
still) or `--set solid.material.nu=0` (no thinning).

J15 table A.1 counts 2.8 linear solves per step; here they are 3.7, and most of them after the ends were let go.

5 832 vertices, 24 565 tetrahedra, 48 steps; on two cores about 20 s.
"""

from continua import Simulation
from continua.bodies.scripted import Scripted
from continua.bodies.shape_error import shape_error
from continua.contact.motions import Keyframes
from continua.gallery._contact import newton_per_step
from continua.gallery._mesh_measure import drift, inverted
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import BoxMesh
from continua.integrators import Optimization
from continua.materials import FixedCorotated
from continua.scene import (
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    SolidSettings,
)
from continua.validation.case import Measurement, at_most

COST = "5 832 vertices, 48 steps, 20 s"
SMALL = ["solid.mesh.counts=[4, 4, 4]"]
DOUGH = '{type = "von-mises", E = 1e5, nu = 0.45, density = 1000.0, yield_stress = 5000.0}'
WRONG = [("dough for rubber", [f"solid.material={DOUGH}"], "shape error")]

PULL = 1.0  # way of each end [m]
PULLED, RELEASED = 0.75, 1.0  # when the ends arrive, and when they are let go [s]


def stretched(
    title: str, ends: Keyframes, released: float, run: RunSettings, render: RenderSettings
) -> Scene:
    """A cube whose right face goes the way of `ends`, and the left one its mirror image, until they are let go [s]."""
    mirrored = Keyframes(
        ends.times, [(-x, y, z) for x, y, z in ends.positions], interpolation=ends.interpolation
    )
    faces = [shapes.Box(center=(side / 2, 0.5, 0.0), size=(0.01, 2.0, 2.0)) for side in (-1, 1)]
    cube = SolidSettings(
        name="cube",
        mesh=BoxMesh((-0.5, 0.0, -0.5), (0.5, 1.0, 0.5), (17, 17, 17)),
        material=FixedCorotated(E=1e5, nu=0.45, density=1000.0),
        scripted=[Scripted(face, way, stop=released) for face, way in zip(faces, (mirrored, ends))],
    )
    simulation = SimulationSettings(dx=0.1, gravity=(0.0, 0.0, 0.0), integrator=Optimization(tolerance=1e-7))
    return Scene(title=title, simulation=simulation, solid=[cube], run=run, render=render)


scene = stretched(
    "Cube stretched and let go",
    Keyframes([0.0, PULLED], [(0.0, 0.0, 0.0), (PULL, 0.0, 0.0)], interpolation="smooth"),
    RELEASED,
    RunSettings(duration=2.0, fps=24.0),
    RenderSettings(color_by="body", camera=CameraSettings(position=(2.0, 2.0, 4.6), target=(0.1, 0.5, 0.0))),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Tetrahedra inside out."""
    return {"inverted": inverted(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The cube has its shape again, never had a tetrahedron inside out, and did not move away; steps took few Newton
    iterations."""
    sim = run.sim
    return [
        at_most("shape error at the end", shape_error(sim.world.mesh_bodies[0]), 5e-3),
        at_most("most tetrahedra inside out", run.most("inverted"), 0),
        at_most("speed without a push [m/s]", drift(sim, 1.0), 1e-7),
        at_most("Newton iterations in a step", newton_per_step(sim), 6),
    ]
