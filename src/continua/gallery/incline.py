"""Two blocks on slopes of 30 degrees: one slides, one stays.

Coulomb friction lets a block slide when tan(angle) exceeds the friction coefficient f, with the acceleration

    a = g (sin(angle) - f cos(angle)).

At 30 degrees tan is 0.577. The left slope has f = 0.2, so its block must reach a = 3.206 m/s^2; the right slope has
f = 0.7, so its block must stay. The law of contact acts on single grid nodes: each one that would move
farther than its gap to the slope in a step loses what is too much, and up to f times that much of the velocity along
the surface. That the block as a whole then obeys the law of friction is the test.

What to look at: colours show the speed. The left block goes down evenly and does not tip over, the right one only
sinks a little under its own weight.

2 400 particles, 3 500 steps; on two cores a few seconds.
"""

import numpy as np

from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import FixedCorotated
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, near

COST = "2 400 particles, 3 500 steps, 4 s"
SMALL = ["dx=0.05"]
WRONG = [
    ("less friction than tan 30 degrees", ['collider."rough slope".friction=0.5'], "rough slope"),
    ("a slope that grips", ['collider."smooth slope".mode=sticky'], "smooth slope"),
]

ANGLE = 30.0  # [degrees]
GRAVITY = 9.81  # [m/s^2]
ALONG = np.array([np.cos(np.radians(ANGLE)), -np.sin(np.radians(ANGLE))])  # downhill
NORMAL = np.array([-ALONG[1], ALONG[0]])
LENGTH, THICKNESS = 2.0, 0.3  # of a slope [m]
BLOCK = (0.4, 0.3)  # [m]


def slope(name: str, x: float, friction: float) -> colliders.Box:
    """A box whose middle is at height 0, turned downhill to the right; a motion that stands still turns it."""
    turned = Keyframes(times=[0.0, 1.0], positions=[(0.0, 0.0)] * 2, angles=[-ANGLE, -ANGLE], center=(x, 0.0))
    return colliders.Box((x, 0.0), (LENGTH, THICKNESS), friction=friction, motion=turned, name=name)


def block(name: str, x: float) -> BodySettings:
    """A block that lies on the slope at x, near its upper end."""
    place = np.array([x, 0.0]) + (THICKNESS + BLOCK[1]) / 2 * NORMAL - 0.33 * LENGTH * ALONG
    center = (float(place[0]), float(place[1]))
    shape = shapes.Rotated(shapes.Box(center, BLOCK), -ANGLE, center=center)
    return BodySettings(name=name, shape=shape, material=FixedCorotated(E=1e6, nu=0.3, density=1000.0))


scene = Scene(
    title="Friction on a slope",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -GRAVITY)),
    body=[block("slides", -1.1), block("stays", 1.1)],
    collider=[slope("smooth slope", -1.1, 0.2), slope("rough slope", 1.1, 0.7)],
    run=RunSettings(duration=0.75, fps=32.0),
    render=RenderSettings(color_by="speed"),
)


def check(run: SceneRun) -> list[Measurement]:
    """Mean accelerations along the slopes [m/s^2] against Coulomb's law."""
    found = []
    for body in run.sim.world.particle_bodies:
        momentum = (body.mass[:, None] * body.v).sum(axis=0)
        found.append(float(momentum @ ALONG / body.mass.sum() / run.sim.time))
    friction = run.sim.colliders[0].friction
    exact = GRAVITY * (np.sin(np.radians(ANGLE)) - friction * np.cos(np.radians(ANGLE)))
    return [
        near("acceleration on the smooth slope [m/s^2]", found[0], float(exact), 0.003, GRAVITY),
        near("acceleration on the rough slope [m/s^2]", found[1], 0.0, 0.01, GRAVITY),
    ]
