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
from continua.gallery._measure import depth, energy, fullness, kept, momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.integrators import Incompressible
from continua.integrators.incompressible import CLEARANCE
from continua.materials import IncompressibleFluid
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, at_most, between, near

COST = "197 000 particles, 750 steps, 2 min"
SMALL = ["dx=0.03125", "duration=0.5"]
WRONG = [
    ("the block floats above the water", ["collider.block.center=[0.66, 0.9, 0.0]"], "impulse of the block")
]

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


def watch(sim: Simulation) -> dict[str, float]:
    """Water in inner cells over their volume, depth in tank and block in cells, energy [J]."""
    full = fullness(sim.world.particle_bodies, sim.dx)
    return {"fullness": full, "depth": depth(sim), "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Water fills its room, stays in the tank and out of the block, pushes the block, and swings to neither side."""
    sim = run.sim
    margin = (
        0.05 if sim.dx <= scene.simulation.dx else 0.1
    )  # on coarse grids most inner cells are next to the surface
    push = float(-sim.impulses[1, 0] / (run.start["mass"] * np.sqrt(2 * 9.81 * COLUMN[1])))
    return [
        near("water in inner cells, mean of the run", float(run.seen["fullness"].mean()), 1.0, 0.05),
        at_least("least water in inner cells", run.least("fullness"), 1 - margin),
        at_most("most water in inner cells", run.most("fullness"), 1 + margin),
        # the block stands on the floor: who is set back below the block is in the floor by as much
        at_most("deepest particle in tank or block [cells]", run.most("depth"), CLEARANCE + 1e-5),
        between("impulse of the block over the momentum of the water", push, 0.05, 0.5),
        at_most("way to a side over the width", abs(sim.diagnostics()["center_z"]) / TANK[2], 0.01),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), 0.1),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
    ]
