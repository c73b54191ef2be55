"""A mannequin of soft capsules walks through a wall of loose blocks (after W20 Figs. 4.1 and 4.14).

Scripted bones move inside of a torso and of two legs, the flesh around them follows. Every block is a mesh of its own.
Mannequin, blocks and ground meet without any search for collisions, by points on their surfaces that share a grid
(W20 section 4.4).

What to look at: chest and legs tilt the columns in the way until they topple, the others stand. Blocks keep a part of a
cell from each other. A hit turns a tetrahedron at a shin inside out for a while; the material has an energy for that.
Try `--set solid.material.E=3e4` (softer blocks and flesh).

1 100 vertices, 2 900 tetrahedra in 16 bodies, 1 300 steps; on one core 30 s.
"""

import numpy as np

from continua import Simulation
from continua.bodies.scripted import Scripted
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.contact.penalty import GridContact
from continua.gallery._hybrid import solid_depth, solids, time_to_look
from continua.gallery._mesh_measure import inverted
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import BoxMesh, ShapeMesh
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

COST = "1 100 vertices, 2 900 tetrahedra, 1 300 steps, 30 s"
SMALL = ["dx=0.09", "solid.mannequin.mesh.size=0.2", "duration=0.4"]
WRONG = [
    (
        "blocks and mannequin do not see each other",
        ['solid.contact={collisions="off"}', "integrator=optimization"],
        "deepest point",
    )
]

WAY, TIME = 1.3, 0.8  # that the mannequin walks [m], and how long it takes [s]
STRIDE, STEPS = 20.0, 2  # of a leg to either side [degrees], and how many steps it takes
HIP, SHOULDER, APART = 0.8, 1.35, 0.22  # heights [m], and half the distance of the legs
SIDE, GAP = 0.34, 0.06  # of a block, and between blocks [m]
ROWS, COLUMNS, BEFORE = 3, 5, 0.62  # of blocks, and how far the wall is from where the mannequin starts [m]
SKIN, TORSO = 0.14, 0.25  # radius of a leg and of the torso [m]


def limb(side: int) -> Scripted:
    """The bone of a leg, which swings about the hip while the hip moves on."""
    times = np.linspace(0.0, TIME, 2 * STEPS + 1)
    swing = side * STRIDE * np.sin(np.pi / 2 * np.arange(2 * STEPS + 1))
    ways: list[tuple[float, ...]] = [(WAY * t / TIME, 0.0, 0.0) for t in times.tolist()]
    motion = Keyframes(
        times.tolist(), ways, swing.tolist(), (0.0, 0.0, 1.0), (0.0, HIP, 0.0), interpolation="smooth"
    )
    bone = shapes.Capsule((0.0, SKIN, side * APART), (0.0, HIP - 0.16, side * APART), 0.6 * SKIN)
    return Scripted(bone, motion)


def mannequin() -> SolidSettings:
    """Torso, head and legs of soft capsules around bones that are scripted."""
    torso = shapes.Capsule((0.0, HIP + 0.1, 0.0), (0.0, SHOULDER, 0.0), TORSO)
    head = shapes.Sphere((0.0, SHOULDER + 0.4, 0.0), 0.18)
    legs = [
        shapes.Capsule((0.0, SKIN + 0.03, side * APART), (0.0, HIP, side * APART), SKIN) for side in (-1, 1)
    ]
    walk = Keyframes([0.0, TIME], [(0.0, 0.0, 0.0), (WAY, 0.0, 0.0)])
    spine = Scripted(shapes.Capsule((0.0, HIP + 0.1, 0.0), (0.0, SHOULDER, 0.0), 0.14), walk)
    return SolidSettings(
        name="mannequin",
        mesh=ShapeMesh(shapes.Union([torso, head, *legs]), 0.12),
        material=FixedCorotated(E=2e5, nu=0.4, density=1000.0),
        velocity=(WAY / TIME, 0.0, 0.0),
        scripted=[spine, limb(-1), limb(1)],
        contact=GridContact(friction=0.3),
    )


def block(row: int, column: int) -> SolidSettings:
    """One of a wall of loose blocks."""
    low = (BEFORE, GAP + row * (SIDE + GAP), (column - COLUMNS / 2) * (SIDE + GAP) + GAP / 2)
    return SolidSettings(
        name=f"block {row + 1}.{column + 1}",
        mesh=BoxMesh(low, tuple(c + SIDE for c in low), (2, 2, 2)),
        material=FixedCorotated(E=4e4, nu=0.3, density=100.0),
        contact=GridContact(friction=0.3),
    )


scene = Scene(
    title="A mannequin walks through a wall",
    simulation=SimulationSettings(dx=0.06, gravity=(0.0, -9.81, 0.0)),
    solid=[mannequin(), *(block(row, column) for row in range(ROWS) for column in range(COLUMNS))],
    collider=[colliders.Plane((0.0, 1.0, 0.0), friction=0.4, name="ground")],
    run=RunSettings(duration=TIME, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(4.6, 2.4, 2.6), target=(0.9, 0.75, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth of surface points in others [cells], share of elements inside out."""
    depth = solid_depth(sim) if time_to_look(sim) else 0.0
    return {"depth": depth, "inverted": inverted(sim) / sum(len(body.cells) for body in solids(sim))}


def farthest_pushed(sim: Simulation) -> float:
    """How far the block that has gone farthest has gone along the way of the mannequin [m]."""
    return max(float((body.x - body.rest)[:, 0].mean()) for body in solids(sim)[1:])


def check(run: SceneRun) -> list[Measurement]:
    """No surface is in another one, hardly an element inside out, what was in the way has been pushed out of it."""
    sim = run.sim
    pushed = (
        WAY * min(sim.time / TIME, 1.0) + TORSO - BEFORE
    )  # by the chest of a mannequin as stiff as its bones [m]
    return [
        at_most("deepest point in a body [cells]", run.most("depth"), 0.5),
        at_most("most elements inside out at a time, of all", run.most("inverted"), 0.01),
        at_least(
            "way of the block that went farthest over that of the chest in the wall",
            farthest_pushed(sim) / pushed,
            0.7,
        ),
    ]
