"""A rubber ball hits the ground so hard that it is flattened, and springs back (J15 Fig. A.6).

The ball arrives at 20 m/s, and one step lasts a frame, in which it would sink in by most of its height. The ground
is a condition of the minimiser: no vertex may be below it, and those that press on it slide along it during a Newton
step. Elasticity and contact are thus solved for together. If vertices are moved out of the ground after an elastic
step instead, layers of tetrahedra are crushed to no volume at all.

What to look at: the ball becomes a dome in one step and flat in the next, without a vertex below the ground or a
tetrahedron inside out, and is round again when it leaves. It jumps 20 cm: backward Euler steps as long as a frame take
most of its energy. Try `--set dt=0.005` (jumps higher), `--set integrator.scheme=bdf2` or
`--set collider.mode=sticky` (stays).

J15 table A.1 counts 3.8 linear solves per step; here they are 6, as only the hit is shown.

4 525 vertices, 22 608 tetrahedra, 12 steps; on two cores about 10 s.
"""

from continua import Simulation
from continua.bodies.shape_error import shape_error
from continua.contact import colliders
from continua.gallery._contact import clearance, newton_per_step
from continua.gallery._measure import energy, kept, momentum_gap
from continua.gallery._mesh_measure import inverted
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import ShapeMesh
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

COST = "4 525 vertices, 12 steps, 10 s"
SMALL = ["solid.mesh.size=0.2"]
WRONG = [("the ground holds the ball", ["collider.mode=sticky"], "height above the ground")]

RADIUS = 0.5  # [m]

scene = Scene(
    title="Ball dropped hard",
    simulation=SimulationSettings(dx=0.1, gravity=(0.0, -9.81, 0.0), integrator="optimization"),
    solid=[
        SolidSettings(
            name="ball",
            mesh=ShapeMesh(shapes.Sphere(center=(0.0, 1.4, 0.0), radius=RADIUS), size=0.066),
            material=FixedCorotated(E=1e5, nu=0.45, density=1000.0),
            velocity=(0.0, -20.0, 0.0),
        )
    ],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), name="ground")],
    run=RunSettings(duration=0.5, fps=24.0),
    render=RenderSettings(
        color_by="speed", camera=CameraSettings(position=(1.3, 1.0, 2.7), target=(0.0, 0.36, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth below the ground [m], tetrahedra inside out, energy [J]."""
    return {"below": -clearance(sim), "inverted": inverted(sim), "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The ball has left the ground, is round, and the ground gave it all the momentum that its weight did not; never
    was a vertex below the ground or a tetrahedron inside out."""
    sim, ball = run.sim, run.sim.world.mesh_bodies[0]
    return [
        at_least("height above the ground at the end [m]", float(ball.x[:, 1].min()), 1e-6),
        at_most("deepest vertex below the ground [m]", run.most("below"), 1e-12),
        at_most("most tetrahedra inside out", run.most("inverted"), 0),
        at_most("shape error at the end", shape_error(ball), 0.05),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), 1e-6),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
        reported("energy left", energy(sim) / run.start["total"]),
        reported("Newton iterations in a step", newton_per_step(sim)),
    ]
