"""An elastic bar vibrates along its length, fixed at one end and free at the other.

Rollers on both long sides keep the bar from bulging, so a cross-section can only move along x and the motion is a
plain wave with speed c = sqrt((lam + 2 mu) / density). The slowest standing wave,

    v(X, t) = v0 sin(k X) cos(w t),   k = pi / (2 L),   w = k c,

has the period 4 L / c, a quarter of a wavelength fits into the bar. In this kind of strain the stress of the fixed
corotated solid is linear, so the formula holds for any amplitude, and 5 % of c gives something to see: the scene runs
for exactly one period and must come back to where it began.

What to look at: colours show the volume ratio J. The bar is densest, and a half period later thinnest, at the wall,
while the free end moves most. What is left of a difference after one period is the error of the method: about 0.8 %
of the period with 40 cells along the bar, half of it with twice as many.

1 300 particles, 800 steps; on two cores about a second.
"""

import numpy as np

from continua import Simulation
from continua.contact.boundaries import FixedVelocity
from continua.gallery._measure import energy
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import FixedCorotated
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_least, at_most, between

COST = "1 300 particles, 800 steps, 1 s"
SMALL = ["dx=0.05"]
WRONG = [("a tenth too stiff", ["body.material.E=1.1e5"], "error of the period")]

LENGTH, HEIGHT = 1.0, 0.2  # [m]
MATERIAL = FixedCorotated(E=1e5, nu=0.3, density=1000.0)
WAVE_SPEED = MATERIAL.wave_speed()
PERIOD = 4 * LENGTH / WAVE_SPEED
AMPLITUDE = 0.05 * WAVE_SPEED  # of the velocity [m/s]


def standing_wave(x: np.ndarray) -> np.ndarray:
    """Velocities (N, 2) [m/s] at the start."""
    return np.column_stack([AMPLITUDE * np.sin(np.pi * x[:, 0] / (2 * LENGTH)), np.zeros(len(x))])


scene = Scene(
    title="Longitudinal vibration of a bar",
    simulation=SimulationSettings(dx=LENGTH / 40, gravity=(0.0, 0.0), elastic_cfl=0.2),
    body=[
        BodySettings(
            name="bar",
            shape=shapes.Box(center=(LENGTH / 2, HEIGHT / 2), size=(LENGTH, HEIGHT)),
            material=MATERIAL,
            velocity=standing_wave,
        )
    ],
    boundary=[
        FixedVelocity((-1.0, -1.0), (0.0, 1.0), (0.0, None), name="wall"),
        FixedVelocity((-1.0, -1.0), (2.0, 0.0), (None, 0.0), name="lower rollers"),
        FixedVelocity((-1.0, HEIGHT), (2.0, 1.0), (None, 0.0), name="upper rollers"),
    ],
    run=RunSettings(duration=PERIOD, fps=48 / PERIOD),
    render=RenderSettings(color_by="J", limits=(0.95, 1.05)),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J/m]."""
    return {"energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """After one period: how late the bar is; during it: how far its energy was from that of the start."""
    bar, cells = run.sim.world.particle_bodies[0], LENGTH / run.sim.dx
    k = np.pi / (2 * LENGTH)
    shape, slope = np.sin(k * bar.x[:, 0]), np.cos(k * bar.x[:, 0])
    velocity = (bar.v[:, 0] @ shape) / (shape @ shape)
    strain = ((bar.J - 1) @ slope) / (slope @ slope)
    late = -np.arctan2(WAVE_SPEED * strain, velocity) / (2 * np.pi)
    return [
        between("error of the period", float(late), 0.0, 0.5 / cells),
        at_most("most energy over that of the start", 1 + run.growth("energy"), 1 + 0.6 / cells),
        at_least(
            "least energy over that of the start", run.least("energy") / run.start["total"], 1 - 0.6 / cells
        ),
    ]
