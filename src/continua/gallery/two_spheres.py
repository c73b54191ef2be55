"""Two rubber balls collide off centre and bounce off each other (J15 Fig. A.4).

Each comes at 5 m/s, and one step lasts a frame. A vertex inside the other ball is pushed to the nearest point of its
surface by an energy that grows with the cube of the depth (J15 section A.5.3); the same forces, with opposite sign, act
on the corners of the triangle there, so that the balls exchange momentum and none is lost.

What to look at: both balls are flattened where they meet, leave in new directions and spin a little. Try
`--set solid.contact.friction=0.5` (they spin more), `--set solid.contact.collisions=off` (they pass through each other)
or `--set solid.contact.stiffness=1e5` (they sink into each other).

J15 table A.1 counts 8.1 linear solves per step. Here they are 29, and more with finer meshes and stiffer
contact; on the small mesh of the tests they are 8.5.

5 754 vertices, 27 168 tetrahedra, 12 steps; on two cores about 30 s.
"""

from continua import Simulation
from continua.bodies.shape_error import shape_error
from continua.gallery._contact import newton_per_step, overlap
from continua.gallery._measure import energy
from continua.gallery._mesh_measure import drift, inverted
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import ShapeMesh
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
from continua.validation.case import Measurement, at_least, at_most, reported

COST = "5 754 vertices, 12 steps, 30 s"
SMALL = ["solid.mesh.size=0.2"]
WRONG = [("balls that do not feel each other", ["solid.contact.collisions=off"], "right ball, away")]

RADIUS, SPEED = 0.5, 5.0  # [m], [m/s]


def ball(name: str, side: float) -> SolidSettings:
    """Ball on that side, -1 or 1, on its way to the other."""
    center = (0.8 * side, 0.05 * side, 0.0)
    return SolidSettings(
        name=name,
        mesh=ShapeMesh(shapes.Sphere(center=center, radius=RADIUS), size=0.08),
        material=FixedCorotated(E=1e5, nu=0.3, density=1000.0),
        velocity=(-SPEED * side, 0.0, 0.0),
    )


scene = Scene(
    title="Two spheres collide",
    simulation=SimulationSettings(dx=0.1, gravity=(0.0, 0.0, 0.0), integrator=Optimization(tolerance=1e-9)),
    solid=[ball("left", -1.0), ball("right", 1.0)],
    run=RunSettings(duration=0.5, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.6, 0.9, 3.5), target=(0.0, 0.0, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Tetrahedra inside out, energy [J]."""
    return {"inverted": inverted(sim), "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The balls fly apart, round again; the momentum is the one before, and energy did not come from nowhere."""
    sim, (left, right) = run.sim, run.sim.world.mesh_bodies
    away = float((right.mass @ right.v)[0] / right.mass.sum())
    return [
        at_least("speed of the right ball, away [m/s]", away, 1e-6),
        at_most("overlap at the end [m]", overlap(sim), 0.0),
        at_most("shape error at the end", max(shape_error(left), shape_error(right)), 0.05),
        at_most("most tetrahedra inside out", run.most("inverted"), 0),
        at_most("momentum over that of all mass at the first speed", drift(sim, SPEED), 1e-10),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), 1e-9),
        reported("energy left", energy(sim) / run.start["total"]),
        reported("Newton iterations in a step", newton_per_step(sim)),
    ]
