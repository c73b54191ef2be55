"""A paddle wheel rolls through a sandcastle.

The wheel is a triangle mesh: six paddles and a hub, one outline extruded along the axle, 168 triangles in all. The
library samples its signed distance on a lattice once and afterwards moves and turns the samples, so the cost of a
step does not depend on the number of triangles. Grid nodes lose the velocity with which they would
get farther than the gap to a paddle, relative to the paddle's own V + omega x (x - c), and friction takes its share of
the rest.
Keyframes roll the wheel across the castle without slip: it turns by the distance over its radius.

Moist sand is the snow model (J15 section 3.2) with the density of sand, a small elastic range and little
hardening: it stands as a tower, but a push turns it into loose heaps.

What to look at: paddles bite into the wall, lift sand and throw it ahead; what they leave behind is a field of ruins.

59 000 particles, 11 000 steps; on two cores about 3 minutes.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.gallery._measure import depth, kept, momentum_error
from continua.gallery._paddles import paddle_wheel
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import Snow
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, at_most

COST = "59 000 particles, 11 000 steps, 3 min"
SMALL = ["dx=0.05", "duration=0.4", "precision=double"]
WRONG = [
    (
        "the wheel rolls away",
        ["collider.wheel.motion.positions=[[0, 0, 0], [-1.7, 0, 0]]"],
        "way of all sand",
    ),
]

PADDLES, HUB, TIP, WIDTH, DEPTH = 6, 0.11, 0.30, 0.07, 0.5  # number, radii, paddle and axle length [m]
START, TRAVEL, TIME = (-0.85, 0.33, 0.0), 1.7, 1.5  # centre at the start [m], way [m], duration [s]


def castle() -> shapes.Shape:
    """A wall around a yard between four towers."""
    wall = shapes.Box((0.0, 0.11, 0.0), (0.5, 0.22, 0.36)) - shapes.Box((0.0, 0.17, 0.0), (0.3, 0.24, 0.18))
    corners = [(x, z) for x in (-0.25, 0.25) for z in (-0.18, 0.18)]
    towers = [shapes.Cylinder((x, 0.0, z), (x, 0.34, z), 0.09) for x, z in corners]
    return shapes.Union([wall, *towers])


VERTICES, FACES = paddle_wheel(PADDLES, HUB, TIP, WIDTH, DEPTH)
VERTICES = VERTICES + START

scene = Scene(
    title="Paddle wheel through a sandcastle",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -9.81, 0.0), precision="single"),
    body=[
        BodySettings(
            name="castle",
            shape=castle(),
            material=Snow(E=1e6, nu=0.3, density=1600.0, compression=0.02, stretch=0.006, hardening=2.0),
            sampling="poisson",
        )
    ],
    collider=[
        colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.6, name="beach"),
        colliders.Mesh(
            vertices=VERTICES,
            faces=FACES,
            friction=0.4,
            name="wheel",
            motion=Keyframes(
                times=[0.0, TIME],
                positions=[(0.0, 0.0, 0.0), (TRAVEL, 0.0, 0.0)],
                angles=[0.0, -float(np.degrees(TRAVEL / TIP))],
                axis=(0.0, 0.0, 1.0),
                center=START,
            ),
        ),
    ],
    run=RunSettings(duration=1.5, fps=24.0),
    render=RenderSettings(
        color_by="Jp",
        limits=(0.8, 1.4),
        camera=CameraSettings(position=(1.1, 1.05, 2.3), target=(0.0, 0.17, 0.0)),
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in beach and wheel in cells."""
    return {"depth": depth(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The wheel moved sand along its way, sand never got far into it, and the impulses balance."""
    sim = run.sim
    return [
        at_least(
            "way of all sand, along the wheel's [m]",
            sim.diagnostics()["center_x"] - run.start["center_x"],
            0.01,
        ),
        at_most("deepest particle in a collider [cells]", run.most("depth"), 0.5 + 1e-5),
        at_most("momentum that is not explained", momentum_error(sim, run.start), kept(sim, 1e-9)),
    ]
