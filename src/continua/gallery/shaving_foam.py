"""A stream of shaving foam runs onto a plate and folds (J15 chapter 4).

Foam is the viscoelastic model of J15 chapter 4 with a relaxation time of half a second. What leaves the nozzle arrives
at the plate a second later, still partly elastic: the column bends like a ribbon instead of spreading. When it lies,
its stress has faded and the fold stays. The model flows at constant volume, so the heap has the volume of what came
out of the nozzle; what is missing is compression by its own weight.

The check counts the folds on the centre line of the stream, the mean position of what left the nozzle at the same
time.

What to look at: the column bends out under its own thrust, lies down, and turns round at the end of each fold; where
folds touch they merge, since all foam moves in one velocity field. Colours show the speed. The nozzle is a region of
prescribed velocity, and the plate is inclined by one degree so that the column knows on which side to begin.

5 800 particles, 19 000 steps; on two cores about a minute.
"""

import numpy as np

from continua import Simulation
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.contact.boundaries import FixedVelocity
from continua.gallery._measure import centre_line, turns, volume_kept
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import OldroydB
from continua.scene import RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_least, at_most, near, reported

COST = "5 800 particles, 19 000 steps, 1 min"
SMALL = ["dx=0.015", "duration=3.0"]
WRONG = [("foam that gives way ten times as easily", ["emitter.material.lam=5.0"], "least volume")]

WIDTH, HEIGHT, SPEED = 0.06, 0.6, 0.6  # of the stream, of the nozzle above the plate [m], [m/s]


def stream(material: OldroydB, width: float, height: float, speed: float, dx: float) -> Scene:
    """A nozzle of that width [m] and height [m] above a plate; material leaves it with that speed [m/s]."""
    velocity = (0.0, -speed)
    lower, upper = height - width / 2, height + width / 2
    return Scene(
        simulation=SimulationSettings(dx=dx, gravity=(0.0, -9.81), precision="single"),
        emitter=[Emitter(shapes.Box((0.0, height), (width, width)), material, velocity, name="stream")],
        collider=[colliders.Plane((0.02, 1.0), mode="sticky", name="plate")],
        boundary=[FixedVelocity((-width, lower), (width, upper + width), velocity, name="nozzle")],
        run=RunSettings(duration=4.0, fps=24.0),
        render=RenderSettings(color_by="speed"),
    )


scene = stream(OldroydB.shaving_foam(), WIDTH, HEIGHT, SPEED, 0.01)
scene.title = "Shaving foam"


def folds(sim: Simulation, width: float) -> tuple[int, float]:
    """Number of folds in a stream of that width [m], and how far they reach to either side [m]."""
    line = centre_line(sim.world.particle_bodies[0], 100)[:, 0]
    found = turns(line, width / 2)
    lengths = np.abs(np.diff(line[found]))
    return len(lengths), float(lengths.mean() / 2) if len(lengths) else 0.0


def watch(sim: Simulation) -> dict[str, float]:
    """Volume over that at the nozzle."""
    foam = sim.world.particle_bodies[0]
    return {"volume": volume_kept(foam) if len(foam) else 1.0}


def check(run: SceneRun) -> list[Measurement]:
    """Number of folds and how far they reach; the foam keeps its volume, and the heap is what came out."""
    foam = run.sim.world.particle_bodies[0]
    count, amplitude = folds(run.sim, WIDTH)
    return [
        at_least("folds", count, 2),
        at_least("least volume over that at the nozzle", run.least("volume"), 0.97),
        at_most("most volume over that at the nozzle", run.most("volume"), 1.03),
        near(
            "volume over what came out",
            float(foam.J @ foam.volume) / (WIDTH * SPEED * run.sim.time),
            1.0,
            0.03,
        ),
        reported("reach of a fold [m]", amplitude),
    ]
