"""Two elastic spheres collide off centre and part, surfaces apart all the time (M23 table 2).

Both are made of one mesh, the second one turned by 180 degrees about a slanted axis: masses are equal to the last
digit, but nothing about the collision is symmetric. That they leave with opposite velocities says that contact keeps
momentum: a grid foresees it and gives the surfaces velocities that fit together, impulses stop what would still pass
through, the inside follows, and what it does then acts on the body as a whole (`final_velocity`, recoil). Without
that, as printed, some percent of the momentum are lost.

What to look at: the spheres flatten and leave each other, without the gap that a penalty needs. Steps are the published
ones. They are solved a hundred thousand times more precisely than usual (`integrator.tolerance`), since momentum is
kept only as well as forces balance.

5 322 vertices, 24 864 tetrahedra, 60 steps; on one core 8 s.
"""

from continua import Simulation
from continua.bodies.start import Placed
from continua.contact.penalty import ExactContact
from continua.gallery._exact import energy_of_motion, momentum_change, never_through, seen, solids
from continua.gallery._measure import energy
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
from continua.validation.case import Measurement, at_most, between, reported

COST = "5 322 vertices, 60 steps, 8 s"
SMALL = ["solid.mesh.size=0.11", "dx=0.1"]
WRONG = [
    (
        "surfaces do not feel what the inside does",
        ["solid.contact.final_velocity=printed"],
        "sum of the two velocities",
    ),
    ("spheres that do not feel each other", ['solid.contact={collisions="off"}'], "pass through"),
]

RADIUS, SPEED, GAP, OFFSET = 0.25, 1.0, 0.02, 0.06  # [m], [m/s], between them at first [m], aside [m]
FRAMES, STEP = 60, 0.005  # M23 table 2 [s]
HALF_TURN = ((-7 / 9, 4 / 9, 4 / 9), (4 / 9, -1 / 9, 8 / 9), (4 / 9, 8 / 9, -1 / 9))  # about (1, 2, 2)


def sphere(name: str, side: int) -> SolidSettings:
    """One on that side, -1 or 1, on its way to the other; both rest in the middle."""
    turn = HALF_TURN if side > 0 else ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    return SolidSettings(
        name=name,
        mesh=ShapeMesh(shapes.Sphere((0.0, 0.0, 0.0), RADIUS), 0.041),
        material=FixedCorotated(E=5e4, nu=0.3, density=1000.0),
        start=Placed(turn, (side * (RADIUS + GAP / 2), side * OFFSET / 2, 0.0)),
        velocity=(-side * SPEED, 0.0, 0.0),
        contact=ExactContact(augury=5),
    )


scene = Scene(
    title="Two spheres collide, exactly",
    simulation=SimulationSettings(
        dx=0.06, gravity=(0.0, 0.0, 0.0), integrator=Optimization(tolerance=1e-10), dt=STEP, cfl=0.95
    ),
    solid=[sphere("left", -1), sphere("right", 1)],
    run=RunSettings(duration=FRAMES * STEP, fps=1 / STEP),
    render=RenderSettings(
        color_by="speed", camera=CameraSettings(position=(0.5, 0.7, 2.1), target=(0.0, 0.0, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Crossing surfaces, momenta, energy [J], share of elements inside out."""
    return seen(sim) | {"energy": energy_of_motion(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Surfaces never pass through each other, velocities are opposite at the end, energy did not come from nowhere."""
    left, right = (body.mass @ body.v / body.mass.sum() for body in solids(run.sim))
    now = run.sim.diagnostics()
    return [
        never_through(run),
        at_most(
            "largest sum of the two velocities at the end [m/s]", float(abs(left + right).max()), 1e-6 * SPEED
        ),
        at_most("most change of the momentum, over sum m |v|", momentum_change(run), 1e-6),
        between("speed of the right sphere, away [m/s]", float(right[0]), 0.1 * SPEED, SPEED),
        at_most("most elements inside out at a time, of all", run.most("inverted"), 0.01),
        at_most("most energy of the motion over that of the start, minus 1", run.growth("energy"), 1e-6),
        reported("energy left", energy(run.sim) / run.start["total"]),
        reported("meetings that impulses stopped", now.get("exact_hits", 0.0)),
    ]
