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

from continua import Simulation
from continua.bodies.drain import Drain
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.gallery._measure import fullness
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

COST = "185 000 particles, 520 steps, 1.5 min"
SMALL = ["dx=0.03", "duration=0.6"]

BASIN, DEPTH = 0.6, 0.12  # width of the basin, depth of the water [m]
BALL, RADIUS = (0.0, 0.3, 0.0), 0.12  # centre and radius [m]
JET, SPEED, NOZZLE = 0.05, 1.2, 0.6  # radius of the jet [m], its speed [m/s], its height [m]
WATER = IncompressibleFluid.water()

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


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """Water comes in as the nozzle says and leaves by the drain alone; the ball takes part of the jet's momentum."""
    now = sim.diagnostics()
    rate = WATER.density * np.pi * JET**2 * SPEED  # of the jet [kg/s]
    arrived = float((now["mass"] + now["drained"] - start["mass"]) / (rate * sim.time))
    dry = min(
        float(sim.colliders[1].signed_distance(b.x.astype(float))[0].min()) for b in sim.world.particle_bodies
    )
    full = fullness(sim.world.particle_bodies, sim.dx)
    impact = np.sqrt(SPEED**2 + 2 * 9.81 * (NOZZLE - BALL[1] - RADIUS))  # speed at the ball [m/s]
    before = sim.impulses.copy()
    sim.run(frames=1, fps=10.0)
    force = (
        10.0 * (sim.impulses - before)[1] / (rate * impact)
    )  # over the momentum that the jet brings per second
    sideways = float(np.hypot(force[0], force[2]))
    assert abs(arrived - 1) < 0.1, f"{arrived:.3f} of the water came in"
    assert now["drained"] > 0, "nothing has left"
    assert dry > 0, f"water is {-dry:.4f} m deep in the ball"
    assert abs(full - 1) < 0.1, f"cells inside the water hold {full:.3f} of their volume"
    assert 0.2 < force[1] < 1.3 and sideways < 0.1, f"the ball is pushed with {force[1]:.3f} of the jet"
    return {"arrived": arrived, "force": float(force[1]), "sideways": sideways, "fullness": full}
