"""A column of dry sand collapses into a heap.

A column of width L0 and height 2 L0 stands at a wall; then it is let go. Experiments and discrete grains agree that the
final shape depends on the ratio 2 alone: the foot runs out to about 3 L0 beyond the column, and a heap about as high as
L0 is left at the wall. Sand is the Drucker-Prager model: it resists shear by friction alone, it falls apart without
pressure, and the volume gained while grains are apart is given back when they meet again.

What to look at: colours show how much each grain was sheared. The lower left corner never moves; all flow happens in a
layer above it that becomes thinner until it stops as a slope well below the angle of repose. With a friction
coefficient of 2 instead of 0.65 the foot would run out by only 1.1 L0. The foot ends in a sheet one cell thick, which
is longer on finer grids; the foremost 0.5 percent of the sand are therefore not counted.

11 250 particles, 7 000 steps; on two cores about 40 seconds.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import energy, kept
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import DruckerPrager
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_most, between
from continua.validation.sand import ASPECT, GRAVITY, WIDTH

COST = "11 250 particles, 7 000 steps, 40 s"
SMALL = ["dx=0.00625", "body.particles_per_cell=4"]
FRICTION_2 = ["body.material.friction_angle=63.4", "collider.floor.friction=2.0"]
WRONG = [("friction 2", FRICTION_2, "run-out")]


scene = Scene(
    title="Collapse of a sand column",
    simulation=SimulationSettings(dx=0.004, gravity=(0.0, -GRAVITY)),
    body=[
        BodySettings(
            name="sand",
            shape=shapes.Box((WIDTH / 2, ASPECT * WIDTH / 2), (WIDTH, ASPECT * WIDTH)),
            material=DruckerPrager(E=3e5, nu=0.3, density=1600.0, friction_angle=33.0),
            particles_per_cell=9,
        )
    ],
    collider=[
        colliders.Plane(normal=(0.0, 1.0), friction=0.65, name="floor"),
        colliders.Plane(normal=(1.0, 0.0), name="wall"),
    ],
    run=RunSettings(duration=0.7, fps=48.0),
    render=RenderSettings(color_by="plastic_strain", limits=(0.0, 6.0)),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J/m]."""
    return {"energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Run-out and height of the heap over the width of the column; single grains ahead of the foot do not count."""
    sand = run.sim.world.particle_bodies[0]
    return [
        between("run-out over the width", float(np.quantile(sand.x[:, 0], 0.995)) / WIDTH - 1, 2.40, 3.60),
        between("height of the heap over the width", float(sand.x[:, 1].max()) / WIDTH, 0.8, 1.7),
        at_most("mean speed at the end [m/s]", float(np.linalg.norm(sand.v, axis=1).mean()), 0.02),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(run.sim, 1e-9)),
    ]
