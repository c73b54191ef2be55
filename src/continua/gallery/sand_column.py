"""A column of dry sand collapses into a heap.

A column of width L0 and height 2 L0 stands at a wall; then it is let go. Experiments and discrete grains agree that the
final shape depends on the ratio 2 alone: the foot runs out to about 3 L0 beyond the column, and a heap about as high as
L0 is left at the wall. Sand is the Drucker-Prager model: it resists shear by friction alone, it falls apart without
pressure, and the volume gained while grains are apart is given back when they meet again.

What to look at: colours show how much each grain was sheared. The lower left corner never moves; all flow happens in a
layer above it that becomes thinner until it stops as a slope well below the angle of repose. With a friction
coefficient of 1 instead of 0.65 the foot would run out by only 1.4 L0. The foot is measured to where the deposit is
L0/50 thick, so that single grains do not count. `continua validate sand-column` halves the cells to see that the
run-out is not a matter of the grid.

A coefficient of 0.65 means that sand shears under 0.65 times the pressure on the plane of sliding, inside and on the
floor. In plane sand that does not dilate it takes a `friction_angle` of 41 degrees, see the theory of plasticity.

28 800 particles, 11 000 steps; on two cores about 40 seconds.
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
from continua.validation.sand import ASPECT, FRICTION, GRAVITY, WIDTH, friction_angle, run_out_of

COST = "28 800 particles, 11 000 steps, 40 s"
SMALL = ["dx=0.004", "body.particles_per_cell=4"]
FRICTION_1 = [f"body.material.friction_angle={friction_angle(1.0)}", "collider.floor.friction=1.0"]
WRONG = [("friction 1", FRICTION_1, "run-out")]


scene = Scene(
    title="Collapse of a sand column",
    simulation=SimulationSettings(dx=0.0025, gravity=(0.0, -GRAVITY)),
    body=[
        BodySettings(
            name="sand",
            shape=shapes.Box((WIDTH / 2, ASPECT * WIDTH / 2), (WIDTH, ASPECT * WIDTH)),
            material=DruckerPrager(E=3e5, nu=0.3, density=1600.0, friction_angle=friction_angle(FRICTION)),
            particles_per_cell=9,
        )
    ],
    collider=[
        colliders.Plane(normal=(0.0, 1.0), friction=FRICTION, name="floor"),
        colliders.Plane(normal=(1.0, 0.0), name="wall"),
    ],
    run=RunSettings(duration=0.7, fps=48.0),
    render=RenderSettings(color_by="plastic_strain", limits=(0.0, 6.0)),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J/m]."""
    return {"energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Run-out and height of the heap over the width of the column; thinner than L0/50 does not count."""
    sand = run.sim.world.particle_bodies[0]
    return [
        between("run-out over the width", run_out_of(sand), 2.40, 3.60),
        between("height of the heap over the width", float(sand.x[:, 1].max()) / WIDTH, 0.8, 1.7),
        at_most("mean speed at the end [m/s]", float(np.linalg.norm(sand.v, axis=1).mean()), 0.02),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(run.sim, 1e-9)),
    ]
