"""Sand runs through an hourglass at a steady rate, whatever is left above.

Water leaves a vessel more and more slowly, because the pressure at the outlet falls with the level. Sand does not: the
walls carry its weight by friction, the pressure at the neck does not know how much is above, and the mass per second
depends on the neck alone. This is why hourglasses measure time. Sand is the Drucker-Prager model, and nothing in it
says anything about outlets: the steady flow must come out by itself.

The glass is one triangle mesh, a turned profile, as a collider turned inside out (`inverted=True`); the sand starts as
the part of the same solid that lies above the neck.

What to look at: colours show the speed. Only grains near the neck are fast; the surface above sinks into a crater and
the heap below grows as a cone.

47 000 particles, 3 500 steps; on two cores about 90 seconds.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.gallery._running import SceneRun
from continua.gallery._turned import turned
from continua.geometry import shapes
from continua.materials import DruckerPrager
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, near, reported

COST = "47 000 particles, 3 500 steps, 1.5 min"
SMALL = ["dx=0.015", "duration=0.7"]
SLIPPERY = ["body.material.friction_angle=1.0", "collider.friction=0.0", "duration=1.6"]
WRONG = [("sand without friction", SLIPPERY, "flow at the end")]

RADIUS, NECK = 0.1, 0.024  # of the glass, where it is widest and narrowest [m]
SHOULDER, HALF = 0.15, 0.2  # height above the neck where it is widest, and where it ends [m]
LEVEL = 0.18  # of the sand above the neck at the start [m]


def glass() -> tuple[np.ndarray, np.ndarray]:
    """Closed mesh, vertices (V, 3) [m] and faces (F, 3)."""
    y = np.concatenate([[-HALF], np.linspace(-SHOULDER, SHOULDER, 13), [HALF]])
    s = np.minimum(np.abs(y) / SHOULDER, 1.0)
    return turned(NECK + (RADIUS - NECK) * s**2 * (3 - 2 * s), y)


VERTICES, FACES = glass()

scene = Scene(
    title="Hourglass",
    simulation=SimulationSettings(dx=0.008, gravity=(0.0, -9.81, 0.0), precision="single"),
    body=[
        BodySettings(
            name="sand",
            shape=shapes.Intersection(
                [
                    shapes.Mesh(vertices=VERTICES, faces=FACES),
                    shapes.Box((0.0, LEVEL / 2, 0.0), (2 * RADIUS, LEVEL, 2 * RADIUS)),
                ]
            ),
            material=DruckerPrager(E=1e5, nu=0.3, density=1600.0, friction_angle=33.0),
            sampling="jittered",
        )
    ],
    collider=[
        colliders.Mesh(
            vertices=VERTICES, faces=FACES, inverted=True, friction=0.3, resolution=96, name="glass"
        )
    ],
    run=RunSettings(duration=1.2, fps=24.0),
    render=RenderSettings(
        color_by="speed",
        limits=(0.0, 1.5),
        camera=CameraSettings(position=(0.0, 0.15, 1.1), target=(0.0, 0.0, 0.0)),
    ),
)


def check(run: SceneRun) -> list[Measurement]:
    """Mass per second through the neck: the mean of the run, and what follows in a quarter of its time."""
    sim = run.sim
    passed, time = fallen(sim), sim.time
    sim.run(frames=1, fps=4 / time)
    mean, later = passed / time, (fallen(sim) - passed) / (sim.time - time)
    return [
        at_least("part of the sand that fell", passed / run.start["mass"], 0.1),
        near("flow at the end over the mean flow", later / mean, 1.0, 0.15),
        reported("mean flow [kg/s]", mean),
    ]


def fallen(sim: Simulation) -> float:
    """Mass that is below the neck [kg]."""
    sand = sim.world.particle_bodies[0]
    return float(sand.mass[sand.x[:, 1] < 0.0].sum())
