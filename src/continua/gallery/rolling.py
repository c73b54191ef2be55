"""A disc, a ring and a block race down a slope: what rolls is slower the more of its mass is outside.

A round body that rolls without slipping down a slope of angle a has the acceleration

    g sin(a) / (1 + k),    k = I / (m R^2),

whatever its mass and size: 2/3 of g sin(a) for a disc, k = 1/2, and little more than half of it for a ring, whose
k = (1 + (r/R)^2) / 2 is nearly 1. (A ball in 3D has k = 2/5, and 5/7.) It needs friction of at least
tan(a) k / (1 + k), else it slips. A block slides with g (sin(a) - f cos(a)), slower than both on this slope of 20
degrees with f = 0.2: friction, which makes the others roll, takes nothing from them, since what touches rests.

Rigid bodies touch obstacles at points of their surface, where impulses of contact obey Coulomb's law. Round shapes are
round there, not the polygons that are drawn. Nothing is said about rolling: it follows from friction and inertia.

What to look at: the three start together, the disc in front. Distances grow as the squares of time: the disc leaves the
ring, the ring the block. Try `--set collider.slope.friction=0.0`, where all three slide alike, or 0.1, where the disc
and the ring slip.

600 vertices, 280 steps; on one core 4 seconds.
"""

import numpy as np

from continua import Simulation
from continua.bodies.rigid_body import RigidBody
from continua.contact import colliders
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.scene import RenderSettings, RigidSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_most, near

COST = "600 vertices, 280 steps, 4 s"
SMALL = ["duration=0.4"]
WRONG = [
    ("less friction than rolling needs", ["collider.slope.friction=0.05"], "acceleration of the disc"),
    ("a slope that grips", ["collider.slope.mode=sticky"], "acceleration of the block"),
    (
        "a block that was pushed uphill first",
        ["rigid.block.velocity=[-0.3, 0.1]"],
        "acceleration of the block",
    ),
]

ANGLE, GRAVITY = float(np.radians(20.0)), 9.81  # of the slope, [m/s^2]
FRICTION = 0.2
RADIUS, HOLE = 0.15, 0.12  # of disc and ring, and of the hole in the ring [m]
BLOCK = (0.3, 0.24)  # [m]
ALONG = np.array([np.cos(ANGLE), -np.sin(ANGLE)])  # downhill
NORMAL = np.array([np.sin(ANGLE), np.cos(ANGLE)])


def place(way: float, height: float) -> tuple[float, float]:
    """Point at some way along the slope and height above it."""
    x, y = way * ALONG + height * NORMAL
    return float(x), float(y)


def circle(way: float, radius: float) -> shapes.Sphere:
    """Inside of a circle about the middle of a round body."""
    return shapes.Sphere(place(way, RADIUS), radius)


scene = Scene(
    title="Disc, ring and block on a slope",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -GRAVITY)),
    rigid=[
        RigidSettings(name="disc", shape=circle(0.0, RADIUS), density=1000.0),
        RigidSettings(
            name="ring",
            shape=shapes.Difference(circle(-0.4, RADIUS), [circle(-0.4, HOLE)]),
            density=1000.0,
        ),
        RigidSettings(
            name="block",
            shape=shapes.Rotated(
                shapes.Box(place(-0.8, BLOCK[1] / 2), BLOCK),
                -float(np.degrees(ANGLE)),
                center=place(-0.8, BLOCK[1] / 2),
            ),
            density=1000.0,
        ),
    ],
    collider=[colliders.Plane(normal=(float(NORMAL[0]), float(NORMAL[1])), friction=FRICTION, name="slope")],
    run=RunSettings(duration=1.2, fps=24.0),
    render=RenderSettings(color_by="body"),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth of the points of the bodies in the slope [cells]."""
    return {"depth": -min(float((body.x @ NORMAL).min()) for body in sim.bodies) / sim.dx}


def check(run: SceneRun) -> list[Measurement]:
    """Mean accelerations along the slope [m/s^2] against rigid bodies that roll, or slide by Coulomb's law."""
    found, pull = [], GRAVITY * np.sin(ANGLE)
    exact = {"disc": pull / 1.5, "ring": pull / (1.5 + 0.5 * (HOLE / RADIUS) ** 2)}
    exact["block"] = pull - FRICTION * GRAVITY * np.cos(ANGLE)
    for body in run.sim.bodies:
        assert isinstance(body, RigidBody)
        name = str(body.name)
        measured = float(body.velocity @ ALONG) / run.sim.time
        gate = 0.02 if name == "block" else 0.01
        found.append(near(f"acceleration of the {name} [m/s^2]", measured, float(exact[name]), gate))
    found.append(at_most("deepest point in the slope [cells]", run.most("depth"), 1e-2))
    return found
