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
from continua.gallery._measure import centre_line, turns
from continua.geometry import shapes
from continua.materials import OldroydB
from continua.scene import RenderSettings, RunSettings, Scene, SimulationSettings

COST = "5 800 particles, 19 000 steps, 1 min"
SMALL = ["dx=0.015", "duration=3.0"]

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


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """Number of folds, how far they reach [m], and volume of the heap against what came out."""
    foam = sim.world.particle_bodies[0]
    count, amplitude = folds(sim, WIDTH)
    volume = float(foam.J @ foam.volume) / (WIDTH * SPEED * sim.time)
    assert count > 1, "the stream does not fold"
    assert abs(volume - 1) < 0.03, f"the heap has {volume:.3f} of the volume that came out"
    return {"folds": float(count), "amplitude": amplitude, "volume": volume}
