"""Two soft blocks are pushed together, one of them turned, without friction (after M23 Fig. 13).

Plates at their far sides come closer and stop. Corners of the turned block lie against the side of the other one and
edges cross, which is where surfaces pass through each other most easily. A grid foresees the contact (augury), and
impulses stop what is left: 4 300 meetings, where they stop 63 300 without the grid
(`--set solid.contact.augury=off`).

What to look at: both blocks bulge, the corners dig in, and no surface is in another one at any step. Whatever plates
push is the change of the momentum, to the precision of the solves. M23 has elastic supports in place of plates.

18 522 vertices, 80 000 tetrahedra, 100 steps; on one core 50 s.
"""

import math

from continua import Simulation
from continua.bodies.scripted import Scripted
from continua.bodies.start import Placed
from continua.contact.motions import Keyframes
from continua.contact.penalty import ExactContact
from continua.gallery._exact import never_through, seen, solids, unexplained
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
from continua.validation.case import Measurement, at_most, reported

COST = "18 522 vertices, 100 steps, 50 s"
SMALL = ["solid.mesh.counts=[4, 4, 4]", "dx=0.25", "duration=0.35"]
WRONG = [
    ("blocks that do not feel each other", ['solid.contact={collisions="off"}'], "pass through"),
    (
        "surfaces do not feel what the inside does",
        ["solid.contact.final_velocity=printed"],
        "momentum that is not explained",
    ),
]

SIDE, GAP, TURN = 1.0, 0.05, 0.5  # of a block [m], between them at first [m], of one of them [rad]
SPEED, STOP, STEP = 1.5, 0.2, 0.005  # of a plate [m/s], when it stops [s]; [s]


def block(name: str, side: int) -> SolidSettings:
    """One on that side, -1 or 1, with a plate at its far face; that on the right is turned about the way."""
    near, far = side * GAP / 2, side * (GAP / 2 + SIDE)
    low, high = (min(near, far), -SIDE / 2, -SIDE / 2), (max(near, far), SIDE / 2, SIDE / 2)
    c, s = (math.cos(TURN), math.sin(TURN)) if side > 0 else (1.0, 0.0)
    return SolidSettings(
        name=name,
        mesh=BoxMesh(low, high, (20, 20, 20)),
        material=FixedCorotated(E=1000.0, nu=0.3, density=100.0),
        start=Placed(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))),
        damping=0.05,
        scripted=[plate(side)],
        contact=ExactContact(augury=5),
    )


def plate(side: int) -> Scripted:
    """The far face of the block on that side, turned like it, moves towards the other one, then stops."""
    face = shapes.Box((side * (GAP / 2 + SIDE), 0.0, 0.0), (0.01, 2 * SIDE, 2 * SIDE))
    still, turn = (0.0, 0.0, 0.0), math.degrees(TURN) if side > 0 else 0.0
    way = (-side * SPEED * STOP, 0.0, 0.0)
    return Scripted(face, Keyframes([0.0, STOP], [still, way], [turn, turn], (1.0, 0.0, 0.0), still))


scene = Scene(
    title="Pushed blocks",
    simulation=SimulationSettings(
        dx=0.055, gravity=(0.0, 0.0, 0.0), integrator=Optimization(tolerance=1e-9), dt=STEP, cfl=0.95
    ),
    solid=[block("left", -1), block("right", 1)],
    run=RunSettings(duration=100 * STEP, fps=40.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(1.6, 2.0, 4.6), target=(0.0, 0.0, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Crossing surfaces, momenta, share of elements inside out."""
    return seen(sim)


def check(run: SceneRun) -> list[Measurement]:
    """Blocks are never in each other nor inside out; plates push against each other, and that is all there is."""
    sim = run.sim
    left, right = (float(body.pull[0]) for body in solids(sim))
    now = sim.diagnostics()
    return [
        never_through(run),
        at_most("most elements inside out at a time, of all", run.most("inverted"), 0.01),
        at_most("momentum that is not explained, over all that was pushed", unexplained(run), 1e-8),
        reported("impulses of the plates, left [N s]", left),
        reported("impulses of the plates, right [N s]", right),
        reported("meetings that impulses stopped", now.get("exact_hits", 0.0)),
    ]
