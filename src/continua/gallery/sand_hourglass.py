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

COST = "47 000 particles, 3 500 steps, 1.5 min"
SMALL = ["dx=0.015", "duration=0.7"]

RADIUS, NECK = 0.1, 0.024  # of the glass, where it is widest and narrowest [m]
SHOULDER, HALF = 0.15, 0.2  # height above the neck where it is widest, and where it ends [m]
LEVEL = 0.18  # of the sand above the neck at the start [m]
AROUND = 24  # edges of a ring


def glass() -> tuple[np.ndarray, np.ndarray]:
    """Closed mesh, vertices (V, 3) [m] and faces (F, 3): rings of a profile turned about y, and two lids."""
    y = np.concatenate([[-HALF], np.linspace(-SHOULDER, SHOULDER, 13), [HALF]])
    s = np.minimum(np.abs(y) / SHOULDER, 1.0)
    r = NECK + (RADIUS - NECK) * s**2 * (3 - 2 * s)
    turn = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)[None]
    rings = np.stack(
        np.broadcast_arrays(r[:, None] * np.cos(turn), y[:, None], r[:, None] * np.sin(turn)), axis=-1
    )
    vertices = np.concatenate([rings.reshape(-1, 3), [[0.0, -HALF, 0.0], [0.0, HALF, 0.0]]])
    a = np.arange(AROUND)
    b, bottom, top = (a + 1) % AROUND, len(vertices) - 2, len(vertices) - 1
    faces = [np.column_stack([a, b, np.full(AROUND, bottom)])]
    for k in range(len(y) - 1):
        low, high = k * AROUND, (k + 1) * AROUND
        faces += [
            np.column_stack([low + a, high + a, low + b]),
            np.column_stack([low + b, high + a, high + b]),
        ]
    last = (len(y) - 1) * AROUND
    faces.append(np.column_stack([last + b, last + a, np.full(AROUND, top)]))
    return vertices, np.concatenate(faces)


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


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """Mass per second through the neck [kg/s]: the mean of the run, and what follows in a quarter of its time."""
    sand = sim.world.particle_bodies[0]

    def fallen() -> float:
        return float(sand.mass[sand.x[:, 1] < 0.0].sum())

    passed, time = fallen(), sim.time
    sim.run(frames=1, fps=4 / time)
    mean, later = passed / time, (fallen() - passed) / (sim.time - time)
    left = 1 - passed / start["mass"]
    assert passed > 0.1 * start["mass"], f"only {passed:.3f} kg of {start['mass']:.3f} kg fell"
    assert 0.85 < later / mean < 1.15, f"{later:.3f} kg/s after {mean:.3f} kg/s"
    return {"mean_flow": mean, "later_flow": later, "left_above": left}
