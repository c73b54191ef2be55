"""A soft torus is pulled through a hole that is much too small for it (J15 Fig. A.10).

Four round bars leave a square hole 0.9 m wide; the torus above it is 1.36 m wide. A few vertices at its lowest point
are told where to go (`Scripted`): down through the hole at up to 2 m/s, until they are let go. One step per frame.

The bars are analytic, so contact is a condition and no force law: after every Newton iteration all vertices are
outside of all bars, to the last digit. Within an iteration those that press on a bar may only slide on it, and a bar
is round, so that the direction in which they may slide turns along the way; the minimiser knows this curvature.

What to look at: the ring is drawn into a long loop, its arms fold up against the bars and slip through, and it falls
out as a ring again. Try `--set collider.mode=sticky` (it hangs on to the bars) or `--set solid.material.E=1e6`
(it lands standing).

710 vertices, 2 600 tetrahedra, 48 steps; on two cores about 15 s.
"""

from continua import Simulation
from continua.bodies.scripted import Scripted
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.gallery._contact import clearance, newton_per_step
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
from continua.validation.case import Measurement, at_least, at_most

COST = "710 vertices, 2 600 tetrahedra, 48 steps, 15 s"
SMALL = ["solid.mesh.size=0.18", "duration=0.84"]
WRONG = [("bars of glue", ["collider.mode=sticky"], "through the hole")]

RADIUS, TUBE = 0.5, 0.18  # of the circle and of the tube around it [m]
HOLE, BAR, HEIGHT = (
    0.45,
    0.25,
    1.6,
)  # half the width of the hole, radius of the bars, height of their middle [m]
LOWEST = HEIGHT + BAR + TUBE  # height of the middle of the tube at its lowest point [m]
TORUS = shapes.Torus((0.0, LOWEST + RADIUS, 0.0), RADIUS, TUBE, axis=(0.0, 0.0, 1.0))
PULL = Keyframes([0.0, 1.25], [(0.0, 0.0, 0.0), (0.0, -1.5, 0.0)], interpolation="smooth")


def bar(name: str, across: float, axis: int) -> colliders.Capsule:
    """Along x (axis 0) or z (axis 2), at a place across [m]; the ends of two bars are a corner of the hole."""
    start, end = [across, HEIGHT, across], [across, HEIGHT, across]
    start[axis], end[axis] = -HOLE - BAR, HOLE + BAR
    return colliders.Capsule(tuple(start), tuple(end), BAR, name=name)


scene = Scene(
    title="Torus through a hole",
    simulation=SimulationSettings(dx=0.1, gravity=(0.0, -9.81, 0.0), integrator="optimization"),
    solid=[
        SolidSettings(
            name="torus",
            mesh=ShapeMesh(TORUS, 0.12),
            material=FixedCorotated(E=3e5, nu=0.4, density=1000.0),
            scripted=[Scripted(shapes.Sphere((0.0, LOWEST, 0.0), 0.8 * TUBE), PULL, stop=1.0)],
        )
    ],
    collider=[
        bar("left", -HOLE - BAR, 2),
        bar("right", HOLE + BAR, 2),
        bar("back", -HOLE - BAR, 0),
        bar("front", HOLE + BAR, 0),
        colliders.Plane((0.0, 1.0, 0.0), friction=0.3, name="ground"),
    ],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(1.9, 3.4, 6.0), target=(0.0, 1.6, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in bars and ground [m]."""
    return {"depth": -clearance(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Every vertex was outside of every bar all the time, and the torus has come a good way through."""
    torus = run.sim.world.mesh_bodies[0]
    passed = float(torus.mass[torus.x[:, 1] < HEIGHT].sum() / torus.mass.sum())
    return [
        at_most("deepest vertex in a collider [m]", run.most("depth"), 1e-12),
        at_least("part of the torus that is through the hole", passed, 0.5),
        at_most("Newton iterations in a step", newton_per_step(run.sim), 15),
    ]
