"""A cube runs into a stack of soft boxes and others ten times as stiff (J15 Fig. A.11).

Each of the ten boxes is a mesh of its own, and all are solved for at once, one step per frame. Where a vertex of one
gets into another, an energy that grows with the cube of the depth drives both apart; friction between boxes and on the
ground is part of the same solve. The cube is a collider that moves on rails, whatever is in its way.

Boxes of two stiffnesses in one solve, contacts that come and go within a step, and a body that cannot be stopped: the
minimiser needs 74 Newton iterations per step on the average, in several solves, each with the normal forces of the one
before; on the small mesh of the tests 47.

What to look at: the soft boxes are squeezed between hard ones, the upper boxes tip over and slide down the far side.
Try `--set solid.contact.friction=0` (boxes on ice) or `--set solid.material.E=1e5` (all of them soft).

1 250 vertices, 3 200 tetrahedra, 48 steps; on one busy core about 90 s.
"""

from continua import Simulation
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.contact.penalty import PenaltyContact
from continua.gallery._contact import clearance, newton_per_step, overlap
from continua.gallery._measure import momentum_gap
from continua.gallery._running import SceneRun
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
from continua.validation.case import Measurement, at_least, at_most

COST = "1 250 vertices, 3 200 tetrahedra, 48 steps, 90 s"
SMALL = ["solid.mesh.counts=[2,2,2]", "duration=0.75"]
WRONG = [("boxes do not see each other", ["solid.contact.collisions=off"], "in another box")]

ROWS, SIDE, GAP = 4, 0.5, 0.02  # of the stack; of a box, and between boxes of a row [m]
SOFT, HARD = (FixedCorotated(E=E, nu=0.3, density=1000.0) for E in (2e5, 2e6))
PUSH = Keyframes([0.25, 1.25], [(0.0, 0.0, 0.0), (1.6, 0.0, 0.0)], interpolation="smooth")


def box(row: int, place: int) -> SolidSettings:
    """One of a row, which rests on two of the row below."""
    lower = ((SIDE + GAP) * (place - (ROWS - row) / 2), SIDE * row, -SIDE / 2)
    hard = (row + place) % 2 == 1
    return SolidSettings(
        name=f"{'hard' if hard else 'soft'} {row + 1}.{place + 1}",
        mesh=BoxMesh(lower, tuple(c + SIDE for c in lower), (4, 4, 4)),
        material=HARD if hard else SOFT,
        contact=PenaltyContact(friction=0.5),
    )


scene = Scene(
    title="Stack of boxes hit by a cube",
    simulation=SimulationSettings(dx=0.1, gravity=(0.0, -9.81, 0.0), integrator=Optimization()),
    solid=[box(row, place) for row in range(ROWS) for place in range(ROWS - row)],
    collider=[
        colliders.Plane((0.0, 1.0, 0.0), friction=0.5, name="ground"),
        colliders.Box((-1.6, 0.85, 0.0), (0.6, 0.6, 0.6), motion=PUSH, name="cube"),
    ],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(1.7, 2.4, 6.4), target=(0.7, 0.8, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depths in colliders and in other boxes [m]."""
    return {"in_collider": -clearance(sim), "in_box": overlap(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """No vertex ever was in the cube or below the ground, the boxes are not in each other, and the impulses balance."""
    pushed = run.sim.diagnostics()["center_x"] - run.start["center_x"]
    return [
        at_most("deepest vertex in a collider [m]", run.most("in_collider"), 1e-12),
        at_most("deepest vertex in another box, over its side", run.most("in_box") / SIDE, 0.02),
        at_most("Newton iterations in a step", newton_per_step(run.sim), 80),
        at_most("momentum that is not explained", momentum_gap(run.sim, run.start), 1e-6),
        at_least("way of all boxes [m]", pushed, 0.04),
    ]
