"""A jet of water falls on a ball, spreads over it and runs off into a basin with an outlet.

An emitter makes the jet, a drain in the floor takes the water out again. The jet meets the ball, turns into a thin sheet
and follows the round side. Water does not cling here (the ball lets go what would move away), so the sheet leaves
the ball on its way down and falls as a bell into the basin, where the level rises until as much leaves as comes in.

What to look at: colours show the speed. The sheet is one or two cells thin and tears into strands, which particles
show and a smooth surface would not. The ball feels the weight and the blow of the jet: the check compares its force
with the momentum that the jet brings.

PARTICLES particles, STEPS steps; on two cores COSTTEXT.
"""

import numpy as np

from continua import Simulation
from continua.bodies.drain import Drain
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.geometry import shapes
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.scene import CameraSettings, RenderSettings, RunSettings, Scene, SimulationSettings

COST = "PARTICLES particles, STEPS steps, COSTTEXT"
SMALL = ["dx=0.025", "duration=0.5"]

BALL, RADIUS = (0.0, 0.3, 0.0), 0.14  # centre and radius [m]
JET, SPEED, NOZZLE = 0.06, 1.5, 0.62  # radius of the jet [m], its speed [m/s], its height [m]
BASIN = (0.8, 0.8, 0.8)  # [m]
OUTLET = 0.1  # radius of the drain [m]
WATER = IncompressibleFluid.water()

scene = Scene(
    title="Water on a sphere",
    simulation=SimulationSettings(
        dx=0.0125, gravity=(0.0, -9.81, 0.0), precision="single", integrator=Incompressible()
    ),
    emitter=[
        Emitter(
            shapes.Cylinder((0.0, NOZZLE, 0.0), (0.0, NOZZLE + 0.05, 0.0), JET),
            WATER,
            velocity=(0.0, -SPEED, 0.0),
            name="jet",
        )
    ],
    drain=[Drain(shapes.Box((0.3, 0.01, 0.3), (0.2, 0.02, 0.2)), name="outlet")],
    collider=[
        colliders.Box((0.0, BASIN[1] / 2, 0.0), BASIN, inverted=True, name="basin"),
        colliders.Sphere(BALL, RADIUS, name="ball"),
    ],
    run=RunSettings(duration=1.5, fps=40.0),
    render=RenderSettings(
        color_by="speed",
        limits=(0.0, 2.5),
        camera=CameraSettings(position=(0.9, 0.95, 1.7), target=(0.0, 0.28, 0.0)),
    ),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """Water comes in as the nozzle says and leaves by the drain alone; the ball takes most of the jet's momentum."""
    now = sim.diagnostics()
    rate = WATER.density * np.pi * JET**2 * SPEED  # of the jet [kg/s]
    arrived = float((now["mass"] + now["drained"]) / (rate * sim.time))
    dry = float(sim.colliders[1].signed_distance(sim.bodies[0].x.astype(float))[0].min())
    impact = np.sqrt(SPEED**2 + 2 * 9.81 * (NOZZLE - BALL[1] - RADIUS))  # speed at the ball [m/s]
    before = sim.impulses.copy()
    sim.run(frames=1, fps=10.0)
    force = 10.0 * (sim.impulses - before)[1] / (rate * impact)  # over the momentum that the jet brings per second
    sideways = float(np.hypot(force[0], force[2]))
    assert abs(arrived - 1) < 0.1, f"{arrived:.3f} of the water came in"
    assert now["drained"] > 0, "nothing has left"
    assert dry > 0, f"water is {-dry:.4f} m deep in the ball"
    assert 0.4 < force[1] < 1.2 and sideways < 0.05, f"the ball is pushed with {force[1]:.3f} of the jet"
    return {"arrived": arrived, "drained": now["drained"], "force": float(force[1]), "sideways": sideways}
