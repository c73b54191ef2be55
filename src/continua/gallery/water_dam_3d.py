"""Water breaks loose in a tank and hits a block.

A column of water stands at one end of a tank and is let go; a block waits in its way. The set-up is that of many
experiments on waves that strike a building. Before the wave arrives it is a thin tongue as in the scene water-dam. At
the block the tongue parts: some water shoots up, some runs past the sides and meets again behind.

What to look at: colours show the speed. Water leaps up at the block and later at the far wall, falls back, and a wave
returns. The water keeps its volume all the time, and its two sides stay mirror images for long.

197 000 particles, 750 steps; on two cores about 2 minutes.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import fullness, momentum_gap
from continua.geometry import shapes
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)

COST = "197 000 particles, 750 steps, 2 min"
SMALL = ["dx=0.03125", "duration=0.5"]

TANK = (1.0, 1.0, 0.4)  # length, height, width [m]
COLUMN = (0.3, 0.4)  # length and height of the water [m]
BLOCK = (0.08, 0.15, 0.14)  # [m]
PLACE = 0.66  # of the block along the tank [m]

scene = Scene(
    title="Dam break with a block",
    simulation=SimulationSettings(
        dx=0.0125, gravity=(0.0, -9.81, 0.0), precision="single", integrator=Incompressible()
    ),
    body=[
        BodySettings(
            name="water",
            shape=shapes.Box((COLUMN[0] / 2, COLUMN[1] / 2, 0.0), (*COLUMN, TANK[2])),
            material=IncompressibleFluid.water(),
        )
    ],
    collider=[
        colliders.Box((TANK[0] / 2, TANK[1] / 2, 0.0), TANK, inverted=True, name="tank"),
        colliders.Box((PLACE, BLOCK[1] / 2, 0.0), BLOCK, name="block"),
    ],
    run=RunSettings(duration=1.5, fps=40.0),
    render=RenderSettings(
        color_by="speed",
        limits=(0.0, 2.5),
        camera=CameraSettings(position=(1.7, 0.95, 2.1), target=(0.5, 0.28, 0.0)),
    ),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """Water fills its room, stays in the tank and out of the block, pushes the block, and swings to neither side."""
    now = sim.diagnostics()
    x = sim.world.particle_bodies[0].x.astype(float)
    full, gap = fullness(sim.world.particle_bodies, sim.dx), momentum_gap(sim, start)
    outside = all((collider.signed_distance(x)[0] > 0).all() for collider in sim.colliders)
    push = float(-sim.impulses[1, 0] / (start["mass"] * np.sqrt(2 * 9.81 * COLUMN[1])))
    assert abs(full - 1) < 0.1, f"cells inside the water hold {full:.3f} of their volume"
    assert outside, "water has left the tank or entered the block"
    assert 0.05 < push < 0.5, f"the block got {push:.3f} of the momentum of the water"
    assert abs(now["center_z"]) < 0.01 * TANK[2], f"the water has moved to a side by {now['center_z']:.4f} m"
    assert gap < 0.1, f"{gap:.3f} of the momentum is not explained by weight and walls"
    assert now["total"] < start["total"]
    return {"fullness": full, "push": push, "sideways": now["center_z"], "momentum_gap": gap}
