"""Two soft bunnies drop on the floor, and sand drops on them (W20 Fig. 4.9).

The bunnies, loaves with a head and two ears, are coarse meshes that move on their own: the grid only tells points on
their surface what they meet (W20 section 4.4). Each other and themselves they meet by how these points share the
velocities of nodes, the sand by the law at nodes of two continua. Nothing sticks: without friction all of the sand runs
off. On one common grid, where W20 needs twenty times as many tetrahedra to keep sand out, most of it stays on.

What to look at: sand breaks over heads and backs and lies around the bunnies in the end. The share of it that is still
above them after 0.8 s in the small version, by friction between sand and bunnies:

| friction              | 0   | 0.3  | 1    | all on one grid |
|-----------------------|-----|------|------|-----------------|
| sand left on them     | 0 % | 15 % | 46 % | 68 %           |

A layer rests where the ground is less steep than the angle of friction: nowhere, below 17 degrees, and as steep as sand
itself can stand. Try `--set contact.friction=0.3`. Single grains get into the ears, which are four cells thick, by up
to two thirds of a cell, and come out again.

8 600 particles, 1 000 vertices, 3 900 steps; on one core 55 s.
"""

import math

import numpy as np

from continua import Simulation
from continua.bodies.start import Placed
from continua.contact import colliders
from continua.contact.penalty import GridContact
from continua.continuum import Contact, Continuum
from continua.gallery._hybrid import grain_depth, solid_depth, solids, surface_points, time_to_look
from continua.gallery._measure import momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import ShapeMesh
from continua.materials import DruckerPrager, FixedCorotated
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    SolidSettings,
)
from continua.validation.case import Measurement, at_least, at_most, between

COST = "8 600 particles, 1 000 vertices, 3 900 steps, 55 s"
SMALL = ["dx=0.035", "solid.mesh.size=0.08", "duration=0.8"]
PLAIN = ["solid.contact={}", "solid.on_grid=true", "solid.continuum=sand", "contact=[]"]
WRONG = [("sand and bunnies on one grid", PLAIN, "left on the bunnies")]

SLIDES, HOLDS = (
    0.02,
    0.8,
)  # friction up to which all of the sand must go, and from which on much of it must stay
MIDDLES, HEADINGS = (
    ((-0.26, -0.02), (0.26, 0.02)),
    (20.0, 165.0),
)  # x and z [m], and where they look [degrees]
LIFT = 0.03  # of the bunnies over the floor at the start [m]


def bunny(number: int) -> SolidSettings:
    """A loaf of a body with a head and two ears, which looks somewhere."""
    body = shapes.Ellipsoid((0.0, 0.1, 0.0), (0.2, 0.1, 0.17))
    head = shapes.Sphere((0.16, 0.19, 0.0), 0.08)
    ears = [shapes.Capsule((0.15, 0.22, side * 0.04), (0.08, 0.31, side * 0.09), 0.038) for side in (-1, 1)]
    angle = math.radians(HEADINGS[number])
    c, s = math.cos(angle), math.sin(angle)
    turn = ((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c))
    x, z = MIDDLES[number]
    return SolidSettings(
        name=("left", "right")[number],
        mesh=ShapeMesh(shapes.Union([body, head, *ears]), 0.05),
        start=Placed(turn, (x, LIFT, z)),
        material=FixedCorotated(E=5e4, nu=0.35, density=1000.0),
        contact=GridContact(friction=0.5),
    )


scene = Scene(
    title="Bunnies in sand",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -9.81, 0.0)),
    continuum=[Continuum("sand")],
    solid=[bunny(0), bunny(1)],
    body=[
        BodySettings(
            name=f"sand {number + 1}",
            shape=shapes.Box((x, 0.44, z), (0.3, 0.06, 0.24)),
            material=DruckerPrager(E=5e4, nu=0.3, density=1600.0, friction_angle=33.0),
            sampling="jittered",
            continuum="sand",
        )
        for number, (x, z) in enumerate(MIDDLES)
    ],
    contact=[Contact("sand", "solids", friction=0.0)],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.4, name="floor")],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.5, 0.9, 1.9), target=(0.0, 0.13, 0.0))
    ),
)


def left_on_top(sim: Simulation) -> float:
    """Share of the sand that is above one of the bunnies: higher than what is highest of them there."""
    top: dict[tuple[int, int], float] = {}
    x = np.concatenate([surface_points(body, sim.dx)[0] for body in solids(sim)])
    cells = np.floor(x[:, [0, 2]] / sim.dx).astype(int)
    for place, height in zip(map(tuple, cells.tolist()), x[:, 1].tolist(), strict=True):
        top[place] = max(height, top.get(place, 0.0))
    sand = np.concatenate([body.x for body in sim.world.particle_bodies]).astype(np.float64)
    under = [top.get((i, k), np.inf) for i, k in np.floor(sand[:, [0, 2]] / sim.dx).astype(int).tolist()]
    return float((sand[:, 1] > np.array(under)).mean())


def watch(sim: Simulation) -> dict[str, float]:
    """Deepest grain in a bunny, deepest point of one in another or in itself [cells], least volume of an element."""
    volume = min(float(body.J.min()) for body in solids(sim))
    if not time_to_look(sim):
        return {"grain": 0.0, "solid": 0.0, "volume": volume}
    return {"grain": grain_depth(sim), "solid": solid_depth(sim), "volume": volume}


def check(run: SceneRun) -> list[Measurement]:
    """Sand goes or stays as friction says, nothing gets far into a bunny, and momentum is nearly that of the pushes."""
    sim = run.sim
    friction = max((contact.friction for contact in sim.world.contacts), default=0.0)
    low, high = (0.0, 0.05) if friction <= SLIDES else (0.3, 1.0) if friction >= HOLDS else (0.02, 0.9)
    return [
        between("part of the sand left on the bunnies", left_on_top(sim), low, high),
        at_most("deepest grain in a bunny [cells]", run.most("grain"), 1.0),
        at_most("deepest point of a bunny in a bunny [cells]", run.most("solid"), 0.5),
        at_least("least volume of an element", run.least("volume"), 0.1),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), 0.05),
    ]
