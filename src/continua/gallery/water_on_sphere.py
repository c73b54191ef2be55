"""A jet of water falls on a ball, runs down all around it and dives into a basin.

An emitter makes the jet; a drain at one side of the basin, a little above the level of the water, takes out what is too
much. The jet spreads into a sheet and follows the ball round to its lower side, as water does at a spoon held under
a tap: a stream that turns pulls at the wall inside its bend. Here walls can pull, because the pressure may be negative
where water touches them.

What to look at: colours show the speed. The sheet is about a cell thin; it gathers below the ball and digs a crater
into the pool, whose rim runs to the walls. The check compares the force on the ball with the momentum that
the jet brings, and what is in the basin with what came in and went out.

185 000 particles at the end, 520 steps; on two cores about 90 seconds.
"""

import numpy as np
from numpy.typing import NDArray

from continua import Simulation
from continua.bodies.drain import Drain
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.gallery._measure import depth, fullness
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, at_most, between, near

COST = "185 000 particles, 520 steps, 1.5 min"
SMALL = ["dx=0.03", "duration=0.6"]
WRONG = [
    ("half as much water", ["emitter.velocity=[0.0, -0.6, 0.0]"], "water that came in"),
    ("a jet that misses the middle", ["collider.ball.center=[0.05, 0.3, 0.0]"], "force to a side"),
]

Array = NDArray[np.float64]

BASIN, DEPTH = 0.6, 0.12  # width of the basin, depth of the water [m]
BALL, RADIUS = (0.0, 0.3, 0.0), 0.12  # centre and radius [m]
JET, SPEED, NOZZLE = 0.05, 1.2, 0.6  # radius of the jet [m], its speed [m/s], its height [m]
WATER = IncompressibleFluid.water()
RATE = WATER.density * np.pi * JET**2 * SPEED  # of the jet [kg/s]

scene = Scene(
    title="Water on a sphere",
    simulation=SimulationSettings(
        dx=0.015, gravity=(0.0, -9.81, 0.0), precision="single", integrator=Incompressible()
    ),
    body=[
        BodySettings(
            name="pool", shape=shapes.Box((0.0, DEPTH / 2, 0.0), (BASIN, DEPTH, BASIN)), material=WATER
        )
    ],
    emitter=[
        Emitter(
            shapes.Cylinder((0.0, NOZZLE, 0.0), (0.0, NOZZLE + 0.05, 0.0), JET),
            WATER,
            velocity=(0.0, -SPEED, 0.0),
            particles_per_cell=27,
            sampling="jittered",
            name="jet",
        )
    ],
    drain=[Drain(shapes.Box((BASIN / 2, DEPTH + 0.1, 0.0), (0.06, 0.195, BASIN)), name="overflow")],
    collider=[
        colliders.Box((0.0, 0.4, 0.0), (BASIN, 0.8, BASIN), inverted=True, name="basin"),
        colliders.Sphere(BALL, RADIUS, name="ball"),
    ],
    run=RunSettings(duration=1.5, fps=40.0),
    render=RenderSettings(
        color_by="speed",
        limits=(0.0, 2.5),
        camera=CameraSettings(position=(0.8, 0.8, 1.6), target=(0.0, 0.27, 0.0)),
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Water in inner cells over their volume, depth in ball and basin in cells, impulse of the ball so far [N s]."""
    full = fullness(sim.world.particle_bodies, sim.dx)
    return {"fullness": full, "depth": depth(sim)} | dict(zip("xyz", sim.impulses[1], strict=True))


def force(run: SceneRun) -> Array:
    """Mean force on the ball since water got there (3,), over the momentum that the jet brings per second."""
    impact = np.sqrt(SPEED**2 + 2 * 9.81 * (NOZZLE - BALL[1] - RADIUS))  # speed at the ball [m/s]
    arrival = (impact - SPEED) / 9.81  # [s]
    first = int(np.searchsorted(run.seen["time"], arrival))
    given = np.array([run.seen[axis][-1] - run.seen[axis][first] for axis in "xyz"])
    return given / (run.sim.time - run.seen["time"][first]) / (RATE * impact)


def check(run: SceneRun) -> list[Measurement]:
    """Water comes in as the nozzle says and leaves by the drain alone; the ball takes part of the jet's momentum."""
    now, push = run.sim.diagnostics(), force(run)
    arrived = (now["mass"] + now["drained"] - run.start["mass"]) / (RATE * run.sim.time)
    return [
        near("water that came in over what the nozzle gives", float(arrived), 1.0, 0.1),
        at_least("water that left [kg]", now["drained"], 1e-6),
        at_most("deepest particle in ball or basin [cells]", run.most("depth"), 1e-5),
        at_least("least water in inner cells", run.least("fullness"), 0.95),
        at_most("most water in inner cells", run.most("fullness"), 1.05),
        between("mean force on the ball over that of the jet", float(push[1]), 0.4, 1.2),
        at_most("mean force to a side over that of the jet", float(np.hypot(push[0], push[2])), 0.05),
    ]
