"""A column of water collapses: the dam break of Martin and Moyce (1952).

Water of width a = 5.7 cm and height 2a stands at a wall and is let go at once. Martin and Moyce filmed how the front
advances, and their table of Z = front / a against T = t sqrt(2g / a) is what codes for free surfaces are compared
with. Water is weakly compressible (Tait's equation): sound is ten times as fast as the front, so density changes by
about one percent while the time step stays reasonable. `continua validate dam-break` compares the whole table.

The floor holds the water that touches it (`mode="sticky"`), which was chosen because it fits: the front is
calibration, not validation. On a floor without friction it is 9 percent ahead of the measurement at the end. On a
sticky one the layer that is held back is about a cell thick: with 8 cells over the width the front lags by 16 percent,
with 16 by 3, and with 32 it leads by 3.

What to look at: colours show the speed. The tongue of water is fastest at its upper side, near the tip; the
water at the wall sinks and hardly moves to the side.

8 200 particles, 2 800 steps; on two cores some 10 seconds.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import energy, kept, volume_kept
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import Liquid
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_least, at_most, near
from continua.validation.dam_break import EXPERIMENT, GRAVITY, SECOND, WIDTH

COST = "8 200 particles, 2 800 steps, 10 s"
SMALL = ["dx=0.0047625"]
WRONG = [("water like honey", ["body.material.viscosity=10.0"], "front")]

END = float(EXPERIMENT[-1, 0] / SECOND)  # T = 3.11, the last time of the table [s]

scene = Scene(
    title="Dam break",
    simulation=SimulationSettings(dx=WIDTH / 16, gravity=(0.0, -GRAVITY)),
    body=[
        BodySettings(
            name="water",
            shape=shapes.Box((WIDTH / 2, WIDTH), (WIDTH, 2 * WIDTH)),
            material=Liquid(bulk_modulus=4e5, density=1000.0, viscosity=1e-3, tension=True),
            particles_per_cell=16,
        )
    ],
    collider=[
        colliders.Plane(normal=(0.0, 1.0), mode="sticky", name="floor"),
        colliders.Plane(normal=(1.0, 0.0), name="wall"),
    ],
    run=RunSettings(duration=END, fps=40 / END),
    render=RenderSettings(color_by="speed", limits=(0.0, 2.0)),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Volume over that at the start, energy [J/m]."""
    return {"volume": volume_kept(sim.world.particle_bodies[0]), "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Front of the water against the table at the end (calibration); the water keeps its volume and energy."""
    front = float(run.sim.world.particle_bodies[0].x[:, 0].max()) / WIDTH
    measured = float(np.interp(run.sim.time * SECOND, *EXPERIMENT.T))
    return [
        near("front over the width", front, measured, 0.1),
        at_least("least volume over that at the start", run.least("volume"), 0.99),
        at_most("most volume over that at the start", run.most("volume"), 1.01),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(run.sim, 1e-9)),
    ]
