"""Soft ice cream is laid in folds on a moving belt (J15 chapter 4).

A viscous sheet that runs onto a plate does not pile up but folds back and forth like a ribbon. A belt that moves with
speed U carries the folds away; if one takes the time T_f they lie at the distance

    pitch = U T_f.

On a slow belt the sheet folds as if the belt were at rest, in 0.51 to 0.56 s for U from 0.08 to 0.24 m/s, so
the pitch grows with U. On a faster one a fold ends when the belt has drawn the sheet out as far as it reaches: then it
is the pitch that is always the same, and the period becomes shorter. The check finds the turning points on the
centre line of the sheet, takes the period from when they left the nozzle and the pitch from where they lie at the end,
and does the same for a belt that is a quarter faster.

What to look at: every fold leans on the one before and all look alike; colours show the speed. A slow belt
(`--set collider.motion.velocity=[0.08,0]`) lets them lie on top of each other, until the heap sags and spreads.

9 600 particles, 10 000 steps; on two cores half a minute.
"""

import numpy as np

from continua import Simulation
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.contact.boundaries import FixedVelocity
from continua.contact.motions import Linear
from continua.gallery._measure import centre_line, turns
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import OldroydB
from continua.scene import RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, near, reported

COST = "9 600 particles, 10 000 steps, 30 s"
SMALL = ["dx=0.0075"]
WRONG = [("a belt that stands still", ["collider.motion.velocity=[0.0, 0.0]"], "pitch over way of the belt")]

WIDTH, HEIGHT, SPEED = 0.03, 0.2, 0.4  # of the sheet and its nozzle [m], [m/s]
BELT, FASTER = 0.25, 0.3125  # speeds of the belt and of that in the check [m/s]
DURATION = 5.0  # [s]
SETTLED = 1.5  # the first folds, on the empty belt, are not counted [s]


def laid(belt: float, dx: float) -> Scene:
    """A nozzle above a belt that moves to the right with speed `belt` [m/s]."""
    velocity = (0.0, -SPEED)
    lower, upper = HEIGHT - WIDTH / 2, HEIGHT + WIDTH / 2
    return Scene(
        title="Folds on a belt",
        simulation=SimulationSettings(dx=dx, gravity=(0.0, -9.81), precision="single"),
        emitter=[
            Emitter(
                shapes.Box((0.0, HEIGHT), (WIDTH, upper - lower)),
                OldroydB.viennetta(),
                velocity,
                name="ice cream",
            )
        ],
        collider=[
            colliders.Plane((0.0, 1.0), mode="sticky", motion=Linear((belt, 0.0)), name="belt"),
        ],
        boundary=[FixedVelocity((-WIDTH, lower), (WIDTH, upper + WIDTH), velocity, name="nozzle")],
        run=RunSettings(duration=DURATION, fps=24.0),
        render=RenderSettings(color_by="speed", size=(1280, 400)),
    )


scene = laid(BELT, 0.005)


def folds(sim: Simulation, belt: float) -> tuple[float, float]:
    """Mean time between two folds [s] and their distance on the belt [m]."""
    line = centre_line(sim.world.particle_bodies[0], 400)[:, 0]
    left = (np.arange(400) + 0.5) / 400 * sim.time  # when it left the nozzle [s]
    place = line - belt * (sim.time - left)  # where it would be on a belt at rest [m]
    found = turns(place, WIDTH / 2)
    found = found[left[found] > SETTLED]
    right = found[place[found] > place.mean()][:-1]  # turning points on one side; the last fold still moves
    return float(np.diff(left[right]).mean()), float(-np.diff(line[right]).mean())


def check(run: SceneRun) -> list[Measurement]:
    """The folds' period and pitch, here and on a faster belt."""
    sim = run.sim
    period, pitch = folds(sim, BELT)
    other = laid(FASTER, sim.dx).build()
    other.run(sim.time)
    shorter, _ = folds(other, FASTER)
    return [
        near("pitch over way of the belt during a fold", pitch / (BELT * period), 1.0, 0.15),
        near("pitch on a faster belt over that here", FASTER * shorter / (BELT * period), 1.0, 0.15),
        reported("period of the folds [s]", period),
    ]
