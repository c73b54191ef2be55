"""Eight jelly cubes tumble into a glass box, onto each other.

Every cube is a soft fixed corotated solid (J15 section 3.1.3) that starts turned and spinning. There is no collision
detection between them: all cubes write to one grid and read one velocity field back, so two cubes that come within
two cells of each other push each other apart, and they do not slide where they touch. The same picture with meshed
cubes is in J15 Fig. 3.2.

What to look at: cubes land on an edge, wobble and find a face to rest on, corners of the upper cubes sink into the
lower ones, and all cubes are cubes again when they come to rest. The box is one collider turned inside out
(`inverted=True`).

64 000 particles, 1 600 steps; on two cores about a minute.
"""

import numpy as np

from continua import Simulation
from continua.bodies.velocity import Rigid
from continua.contact import colliders
from continua.gallery._measure import depth, energy, kept, momentum_error, volume_kept
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import FixedCorotated
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, at_most

COST = "64 000 particles, 1 600 steps, 1 min"
SMALL = ["dx=0.0625", "duration=1.5"]
WRONG = [("jelly a tenth as stiff", ["body.material.E=4e3"], "least volume of a cube at the end")]

SIDE = 0.25  # of a cube [m]
BOX = (1.1, 1.6, 0.8)  # the container [m]
JELLY = FixedCorotated(E=4e4, nu=0.35, density=1000.0)
PLACES = [(-0.2, 0.25, 0.05), (0.2, 0.3, -0.1), (0.05, 0.62, 0.12), (-0.22, 0.75, -0.12)]
PLACES += [(0.22, 0.85, 0.08), (-0.05, 1.1, 0.0), (0.2, 1.3, -0.1), (-0.22, 1.4, 0.1)]


def cube(number: int) -> BodySettings:
    """Cube of that number, turned about a direction of its own."""
    center = PLACES[number]
    axis = (np.cos(number), 0.7, np.sin(number))
    shape = shapes.Box(center, (SIDE, SIDE, SIDE))
    return BodySettings(
        name=f"cube {number + 1}",
        shape=shapes.Rotated(shape, 25.0 + 40.0 * number, axis=axis, center=center),
        material=JELLY,
        velocity=Rigid(linear=(0.0, -1.0, 0.0), angular=tuple(4.0 * a for a in axis), center=center),
    )


scene = Scene(
    title="Jelly cubes in a box",
    simulation=SimulationSettings(dx=0.025, gravity=(0.0, -9.81, 0.0)),
    body=[cube(number) for number in range(len(PLACES))],
    collider=[
        colliders.Box(center=(0.0, BOX[1] / 2, 0.0), size=BOX, inverted=True, friction=0.2, name="container")
    ],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="body",
        camera=CameraSettings(position=(2.0, 1.6, 3.6), target=(0.0, 0.72, 0.0)),
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in the wall in cells, smallest volume of a cube over that at rest, energy [J]."""
    volume = min(volume_kept(body) for body in sim.world.particle_bodies)
    return {"depth": depth(sim), "volume": volume, "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The cubes stay inside the box, gain no energy, have their volume in the end, and the walls took up all the
    momentum that is missing; a plane wave of the fastest fall presses out v/c of the volume, and no cube loses more."""
    sim = run.sim
    fall = np.sqrt(1.0 + 2 * 9.81 * max(y for _, y, _ in PLACES))  # [m/s]
    return [
        at_most("deepest particle in the wall [cells]", run.most("depth"), 0.5 + 1e-9),
        at_least("least volume of a cube", run.least("volume"), 1 - float(fall) / JELLY.wave_speed()),
        at_least("least volume of a cube at the end", float(run.seen["volume"][-1]), 0.9),
        at_most("momentum that is not explained", momentum_error(sim, run.start), kept(sim, 1e-9)),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
    ]
