"""A soft disc turns freely and keeps its angular momentum to the last digits.

No force acts from outside, so momentum and angular momentum must stay what they were. For the momentum this is easy,
for the angular momentum it is what the affine transfer was made for (J15 chapter 5): a particle that hands only its
velocity to the grid forgets how its surroundings turn. Plain PIC brings this disc to rest within one turn and FLIP
loses 0.2 % of the angular momentum per turn; with APIC all digits stay.

The four quarters are four bodies of one material. They hold together because all of them move in the one velocity
field of the grid. Centrifugal force stretches the disc, it starts to breathe, and it drifts to the right across
the grid lines, which must not matter.

What to look at: the quarters come round twice and keep their shape and sharp borders. RPIC and PolyPIC keep the angular
momentum as well; see all of them at once:

    continua compare spinning-disc --over transfer=pic,flip,rpic,apic,polypic

3 200 particles, 2 300 steps; on two cores a few seconds.
"""

import numpy as np

from continua import Simulation
from continua.bodies.velocity import Rigid
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import FixedCorotated
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_most, between, reported

COST = "3 200 particles, 2 300 steps, 2 s"
SMALL = ["dx=0.025"]
WRONG = [("a weight that pulls to the side", ["gravity=[1.0, 0.0]"], "change of momentum")]

RADIUS = 0.2  # [m]
SPIN = 12.566  # two turns per second [rad/s]
DRIFT = (0.25, 0.0)  # [m/s]


def quarter(name: str, x: float, y: float) -> BodySettings:
    """The part of the disc in one quadrant, given by the signs x and y."""
    corner = shapes.Box(center=(x * RADIUS / 2, y * RADIUS / 2), size=(RADIUS, RADIUS))
    return BodySettings(
        name=name,
        shape=shapes.Intersection([corner, shapes.Sphere(center=(0.0, 0.0), radius=RADIUS)]),
        material=FixedCorotated(E=1e5, nu=0.3, density=1000.0),
        velocity=Rigid(linear=DRIFT, angular=SPIN, center=(0.0, 0.0)),
    )


scene = Scene(
    title="Spinning disc",
    simulation=SimulationSettings(dx=0.0125, gravity=(0.0, 0.0)),
    body=[
        quarter("north-east", 1, 1),
        quarter("north-west", -1, 1),
        quarter("south-west", -1, -1),
        quarter("south-east", 1, -1),
    ],
    run=RunSettings(duration=1.0, fps=24.0),
    render=RenderSettings(color_by="body"),
)


def keeps_spin(sim: Simulation) -> bool:
    """Particles carry all of C, hand it on undamped but for its shear, and move with it: RPIC, APIC, PolyPIC."""
    plan = sim.world.transfer.plan(sim.dimension, sim.world.degree)
    return bool(sim.world.transfer.affine and plan.linear.all() and plan.keep == 1 and not plan.moving_map)


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J/m] and angular momentum [N m s/m]."""
    now = sim.diagnostics()
    return {"energy": now["total"], "angular": now["angular_z"]}


def check(run: SceneRun) -> list[Measurement]:
    """What is left of angular momentum and energy, and how far the disc went; the scheme says what must be kept."""
    now, start = run.sim.diagnostics(), run.start
    left = now["angular_z"] / start["angular_z"]
    spin = np.abs(run.seen["angular"] / start["angular_z"] - 1).max()
    spins, way = keeps_spin(run.sim), now["center_x"] - start["center_x"]
    return [
        at_most("largest change of angular momentum", float(spin), 1e-10)
        if spins
        else between("angular momentum left", left, -0.01, 1 - 1e-6),
        reported("change of angular momentum", left - 1),
        between("energy left", now["total"] / start["total"], 0.95 if spins else 0.0, 1 + 1e-9),
        at_most("most energy over that of the start", 1 + run.growth("energy"), 1.01),
        at_most("change of momentum", abs(now["momentum_x"] / start["momentum_x"] - 1), 1e-10),
        at_most("error of the way [m]", abs(way - DRIFT[0] * run.sim.time), 1e-9),
    ]
