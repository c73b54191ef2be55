"""Toothpaste flows onto a plate and spreads where foam would fold (J15 chapter 4).

The model is that of shaving foam with other numbers, and a Newtonian viscosity of ten times what the relaxing stress
amounts to: eta = 10 mu T, T the relaxation time. Slender columns buckle whether they are elastic or viscous, and a
slender stream of this paste folds as well as foam does. But thrust on a short viscous column widens it faster
than it bends, and an elastic one has no such way out. This stream is not three times as high as wide; foam from the
same nozzle, which the check runs beside it, folds to and fro.

Numbers are from J15 table 4.1, with the viscosity above, and ten times the printed resistance to compression: even so
its own weight and thrust press the paste together by a tenth.

What to look at: the stream lands, bulges and flows apart to both sides; it leans over at most once. Colours show the
speed. Viscosity sets the time step here: it is twenty times shorter than elastic waves would ask for.

2 400 particles, 41 000 steps; on two cores about a minute.
"""

from continua.gallery._running import SceneRun
from continua.gallery.shaving_foam import folds, stream
from continua.materials import OldroydB
from continua.validation.case import Measurement, at_least, at_most, reported

COST = "2 400 particles, 41 000 steps, 1 min"
SMALL = ["dx=0.05", "duration=2.5"]
FOAM = '{type = "oldroyd-b", mu = 5.0, lam = 50.0, density = 0.2, relaxation_time = 0.5, viscosity = 5e-5}'
WRONG = [("foam for paste", [f"emitter.material={FOAM}"], "reach of a fold over")]

WIDTH, HEIGHT, SPEED = 0.25, 0.7, 1.0  # of the stream, of the nozzle above the plate [m], [m/s]

PRINTED = OldroydB.toothpaste()
PASTE = OldroydB(
    mu=PRINTED.mu,
    lam=10 * PRINTED.lam,
    density=PRINTED.density,
    relaxation_time=PRINTED.relaxation_time,
    viscosity=10 * PRINTED.mu * PRINTED.relaxation_time,
)

scene = stream(PASTE, WIDTH, HEIGHT, SPEED, 0.035)
scene.title = "Toothpaste"
scene.run.duration = 3.0


def check(run: SceneRun) -> list[Measurement]:
    """How far the paste folds to either side, compared with foam from the same nozzle."""
    foam = stream(OldroydB.shaving_foam(), WIDTH, HEIGHT, SPEED, run.sim.dx).build()
    foam.run(run.sim.time)
    _, paste_reach = folds(run.sim, WIDTH)
    foam_folds, foam_reach = folds(foam, WIDTH)
    return [
        at_least("folds of foam", foam_folds, 2),
        at_most("reach of a fold over that of foam", paste_reach / foam_reach, 0.5),
        reported("reach of a fold of foam [m]", foam_reach),
    ]
