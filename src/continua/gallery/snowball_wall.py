"""A snowball is thrown at a wall and sticks to it (J15 Fig. 2.1).

The wall is a sticky collider: grid nodes inside it take its velocity, so the snow in contact stops at once, is
compacted and becomes hard. The rest of the ball piles up behind this plate, and its rim breaks off and falls.

What to look at: colours show the plastic volume ratio Jp; blue snow has been compacted for good. The lump stays on
the wall, loose snow rains down. Momentum is checked to the last digits: what the ball lost, the wall and the ground
received.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
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

COST = ""
SMALL = ["dx=0.08", "duration=0.25"]

SPEED = 10.0  # [m/s]

scene = Scene(
    title="Snowball against a wall",
    simulation=SimulationSettings(dx=0.03, gravity=(0.0, -9.81, 0.0)),
    body=[
        BodySettings(
            name="snowball",
            shape=shapes.Sphere(center=(-0.5, 1.3, 0.0), radius=0.4),
            material=Snow(compression=0.02, stretch=0.004),
            velocity=(SPEED, 0.0, 0.0),
            sampling="jittered",
        )
    ],
    collider=[
        colliders.Box(center=(0.15, 1.1, 0.0), size=(0.3, 2.2, 2.6), mode="sticky", name="wall"),
        colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.6, name="ground"),
    ],
    run=RunSettings(duration=1.0, fps=24.0),
    render=RenderSettings(
        color_by="material",
        camera=CameraSettings(position=(-4.6, 1.9, 3.4), target=(-0.2, 0.95, 0.0)),
    ),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """Snow at the wall stands still, nothing is inside the wall, and the impulses balance."""
    ball, wall = sim.bodies[0], sim.colliders[0]
    now = sim.diagnostics()
    distance, _ = wall.signed_distance(ball.x, sim.time)
    layer = np.linalg.norm(ball.v[distance < sim.dx], axis=1)
    gained = np.array([now[f"momentum_{a}"] - start[f"momentum_{a}"] for a in "xyz"])
    weight = now["mass"] * sim.gravity * sim.time
    error = float(np.abs(gained - weight - sim.impulses.sum(axis=0)).max() / np.abs(weight).max())
    stuck = float(np.mean(distance < 0.15))
    assert np.sqrt(np.mean(layer**2)) < 1e-3 * SPEED, f"snow at the wall moves at {layer.max():.3g} m/s"
    assert distance.min() > -0.5 * sim.dx - 1e-9, f"snow is {-distance.min() / sim.dx:.2f} cells deep in the wall"
    assert error < 1e-9, f"momentum balance is off by {error:.1e}"
    return {"layer_speed": float(layer.max()), "stuck": stuck, "momentum_error": error}
