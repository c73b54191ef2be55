"""A snowball is thrown at a wall and sticks to it (J15 Fig. 2.1).

The wall is a sticky collider: grid nodes that touch it take its velocity, so the snow in contact stops at once, is
compacted and becomes hard. The rest of the ball piles up behind this plate, and its rim breaks off and falls.

What to look at: the lump stays on the wall, loose snow rains down and collects at its foot. How much falls depends on
how much pull the snow can bear: nothing with `--set body.material.stretch=0.006`, most of the ball with 0.004. It also
depends on the grid, on which material tears over two to three cells: with a smaller dx more falls.
What momentum the ball lost, the wall and the ground received; the check adds it up.

Try `--set integrator=optimization`: 25 ms per step instead of 0.21 in the small version, 120 times as long; the lump
stays where it is.

34 000 particles, 12 000 steps; on two cores about 2 minutes.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import depth, energy, kept, momentum_error
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

COST = "34 000 particles, 12 000 steps, 2 min"
SMALL = ["dx=0.1", "duration=0.5", "precision=double"]
WRONG = [("a wall of ice", ["collider.wall.mode=separate"], "hangs on the wall")]

SPEED = 10.0  # [m/s]

scene = Scene(
    title="Snowball against a wall",
    simulation=SimulationSettings(dx=0.04, gravity=(0.0, -9.81, 0.0), precision="single"),
    body=[
        BodySettings(
            name="snowball",
            shape=shapes.Sphere(center=(-0.5, 1.3, 0.0), radius=0.4),
            material=Snow(compression=0.02, stretch=0.0046),
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


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in wall and ground in cells, energy [J]."""
    return {"depth": depth(sim), "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Snow at the wall stands still, most of the ball hangs on it, nothing was inside it, and the impulses balance.

    Within a cell of the wall there is also snow of the rim, which has torn off and falls.
    """
    sim, ball = run.sim, run.sim.world.particle_bodies[0]
    speed = np.linalg.norm(ball.v, axis=1) / SPEED
    distance = sim.colliders[0].signed_distance(ball.x, sim.time)[0] / sim.dx
    touching, near_wall = speed[distance < 0.25], speed[distance < 1.0]
    rms = float(np.sqrt((touching**2).mean())) if len(touching) else np.inf
    still = float((near_wall < 1e-3).mean()) if len(near_wall) else 0.0
    hangs = (speed < 0.05) & (ball.x[:, 1] > 0.6)
    return [
        at_most("speed of the snow that touches the wall over that of the ball, rms", rms, 1e-3),
        at_least("part of the snow within a cell of the wall that stands still", still, 0.9),
        at_least("part of the ball that hangs on the wall", float(hangs.mean()), 0.5),
        at_most("deepest particle in wall or ground [cells]", run.most("depth"), 0.5 + 1e-5),
        at_most("momentum that is not explained", momentum_error(sim, run.start), kept(sim, 1e-10)),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
    ]
