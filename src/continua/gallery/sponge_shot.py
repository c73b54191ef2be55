"""A ball is shot through a hanging slab of sponge (J15 chapter 4).

The slab is clamped along its upper and lower edge and made of the same viscoelastic solid as the twisted sponge, at
half its density. The ball is a moving obstacle: it goes straight on at a quarter of the speed of sound in the sponge
whatever happens, and the simulation counts the momentum it hands over. All momentum is accounted for,

    impulse of the ball + impulse of the clamps + weight x time = momentum of the sponge,

to rounding, since forces act between particles and the grid in pairs and an obstacle changes the velocity of grid nodes
only. So the impulse on the ball is known without any force law of contact.

What to look at: the slab first stretches into a cone, then opens around the tip, and the ball comes through. Flaps
swing behind it, and waves run to the clamps and back.

43 000 particles, 1 200 steps; on two cores about a minute.
"""

import numpy as np

from continua.contact import colliders
from continua.contact.boundaries import FixedVelocity
from continua.contact.motions import Linear
from continua.gallery._measure import momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import OldroydB
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, at_most

COST = "43 000 particles, 1 200 steps, 1 min"
SMALL = ["dx=0.08"]
WRONG = [
    ("the ball flies the other way", ["collider.motion.velocity=[-12.0, 0.0, 0.0]"], "impulse of the ball")
]

SIZE = (0.24, 1.2, 1.2)  # of the slab [m]
EDGE = 0.12  # depth of the clamps [m]
RADIUS, SPEED = 0.16, 12.0  # of the ball [m], [m/s]
SPONGE = OldroydB.light_sponge()
START = -0.5  # where its centre starts [m]


def clamp(name: str, side: int) -> FixedVelocity:
    """Holds the upper or lower edge of the slab."""
    inner, outer = side * (SIZE[1] / 2 - EDGE), side * SIZE[1]
    lower, upper = min(inner, outer), max(inner, outer)
    return FixedVelocity((-1.0, lower, -1.0), (1.0, upper, 1.0), (0.0, 0.0, 0.0), name=name)


scene = Scene(
    title="Ball through a sponge",
    simulation=SimulationSettings(dx=0.04, gravity=(0.0, -9.81, 0.0)),
    body=[BodySettings(name="sponge", shape=shapes.Box((0.0, 0.0, 0.0), SIZE), material=SPONGE)],
    collider=[
        colliders.Sphere(
            (START, 0.0, 0.0), RADIUS, motion=Linear((SPEED, 0.0, 0.0)), friction=0.3, name="ball"
        )
    ],
    boundary=[clamp("upper clamp", 1), clamp("lower clamp", -1)],
    run=RunSettings(duration=0.25, fps=160.0),
    render=RenderSettings(
        color_by="speed",
        camera=CameraSettings(position=(2.0, 0.8, 3.0), target=(0.3, -0.02, 0.0)),
    ),
)


def check(run: SceneRun) -> list[Measurement]:
    """Impulse of the ball, over the momentum of what is in its way at its speed, and the balance of all momentum."""
    way = SPONGE.density * np.pi * RADIUS**2 * SIZE[0] * SPEED  # [N s]
    return [
        at_least(
            "impulse of the ball over the momentum of what is in its way",
            float(run.sim.impulses[0, 0]) / way,
            1.0,
        ),
        at_most("momentum that is not explained", momentum_gap(run.sim, run.start), 1e-9),
    ]
