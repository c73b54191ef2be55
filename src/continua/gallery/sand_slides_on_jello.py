"""A layer of sand slides down a block of jelly: two continua and the friction between them.

The top of the jelly is tilted by 20 degrees and carries a layer of sand. Inside one continuum there is no sliding: sand
and jelly would share one velocity at every node and stick to each other, as in `sand-on-jello-2d`. Here the sand is a
continuum of its own. Where both have mass at a node and fill it, they get an impulse that keeps them from moving into
each other, and Coulomb friction along the surface; nothing holds them together.

What to look at: without friction the layer goes off as a whole, at g sin(20 degrees), and the jelly swings back when
its load has gone. The share of the sand that is still on the jelly after two seconds grows with friction:

| friction                       | 0   | 0.3  | 1    | one continuum |
|--------------------------------|-----|------|------|---------------|
| sand left on the jelly         | 0 % | 31 % | 93 % | 93 %          |

tan(20 degrees) is 0.36: at 0.3 the sand creeps down, at 1 it stays but for what rolls off its edges. Try
`--set contact.friction=0.3`, or `--set body.sand.continuum=main`, where it sticks.

11 000 particles, 6 500 steps; on two cores about 10 seconds.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.continuum import Contact, Continuum
from continua.gallery._measure import energy, kept, momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import DruckerPrager, FixedCorotated
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_most, between

COST = "11 000 particles, 6 500 steps, 10 s"
SMALL = ["dx=0.02"]
WRONG = [("sand and jelly in one continuum", ["body.sand.continuum=main"], "left on the jelly")]

ANGLE = 20.0  # of the top of the jelly [degrees]
WIDTH, LOW = 0.8, 0.15  # of the jelly, and its height at the low end [m]
LAYER = (0.5, 0.08)  # length and thickness of the sand [m]
SLIDES, HOLDS = (
    0.1,
    0.8,
)  # friction up to which all of the sand must go, and from which on most of it must stay

ALONG = np.array([np.cos(np.radians(ANGLE)), -np.sin(np.radians(ANGLE))])  # downhill
NORMAL = np.array([-ALONG[1], ALONG[0]])
TOP = np.array([-WIDTH / 2, LOW + WIDTH * np.tan(np.radians(ANGLE))])  # highest corner of the jelly


def turned(center: np.ndarray, size: tuple[float, float]) -> shapes.Rotated:
    """A box that lies on a slope."""
    return shapes.Rotated(shapes.Box((float(center[0]), float(center[1])), size), -ANGLE)


scene = Scene(
    title="Sand slides on jelly",
    simulation=SimulationSettings(dx=0.01, gravity=(0.0, -9.81)),
    continuum=[Continuum("sand")],
    body=[
        BodySettings(
            name="jelly",
            shape=shapes.Difference(
                shapes.Box((0.0, float(TOP[1]) / 2), (WIDTH, float(TOP[1]))),
                [turned(TOP + 0.5 * NORMAL, (4.0, 1.0))],
            ),
            material=FixedCorotated(E=5e4, nu=0.3, density=1000.0),
        ),
        BodySettings(
            name="sand",
            shape=turned(TOP + (0.05 + LAYER[0] / 2) * ALONG + LAYER[1] / 2 * NORMAL, LAYER),
            material=DruckerPrager(E=2e5, nu=0.3, density=1600.0, friction_angle=33.0),
            sampling="jittered",
            continuum="sand",
        ),
    ],
    contact=[Contact("sand", "main", friction=0.0)],
    collider=[colliders.Plane(normal=(0.0, 1.0), friction=0.8, name="floor")],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(color_by="continuum"),
)


def left_on_top(sim: Simulation) -> float:
    """Share of the sand that is above the jelly."""
    jelly, sand = (body.x.astype(np.float64) for body in sim.bodies)
    above = (sand[:, 0] > jelly[:, 0].min()) & (sand[:, 0] < jelly[:, 0].max()) & (sand[:, 1] > LOW / 3)
    return float(above.mean())


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J/m]."""
    return {"energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Sand goes or stays as friction says; the momentum that both have is what weight and floor gave them."""
    sim, friction = run.sim, run.sim.world.contacts[0].friction
    low, high = (0.0, 0.05) if friction <= SLIDES else (0.8, 1.0) if friction >= HOLDS else (0.05, 0.9)
    return [
        between("part of the sand left on the jelly", left_on_top(sim), low, high),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), kept(sim, 1e-9)),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
    ]
