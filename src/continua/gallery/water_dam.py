"""Water breaks loose in a tank: the dam break of Martin and Moyce (1952), incompressible.

A column of water of width a = 5.7 cm and height 2a stands at a wall and is let go at once, as in the scene dam-break.
There water is a stiff spring and sound sets the time step. Here the pressure is solved for in every step, the volume
is kept, and a step may last until the water has crossed half a cell: on the same grid that is thirty times fewer steps.

The front runs with the speed that Martin and Moyce measured, to 3 %, but it leads: by 15 % at first and by 8 % at
their last time T = t sqrt(2g / a) = 3.11, whatever the grid and the transfer. It is as if the experiment had started
12 ms late, and there a gate had to get out of the way first.

What to look at: colours show the speed. The tongue runs to the other wall, shoots up there, falls back over itself
and encloses air, which here is nothing at all: a bubble can only collapse. Watch the water come back as a wave.

29 000 particles, 2 900 steps; on two cores about a minute.
"""

import numpy as np
from numpy.typing import NDArray

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import fullness, momentum_gap
from continua.geometry import shapes
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.dam_break import EXPERIMENT, GRAVITY, SECOND, WIDTH

COST = "29 000 particles, 2 900 steps, 1 min"
SMALL = ["dx=0.0047625"]

LENGTH = 6 * WIDTH  # of the tank [m]

scene = Scene(
    title="Dam break in a tank",
    simulation=SimulationSettings(dx=WIDTH / 60, gravity=(0.0, -GRAVITY), integrator=Incompressible()),
    body=[
        BodySettings(
            name="water",
            shape=shapes.Box((WIDTH / 2, WIDTH), (WIDTH, 2 * WIDTH)),
            material=IncompressibleFluid.water(),
        )
    ],
    collider=[
        colliders.Plane(normal=(0.0, 1.0), name="floor"),
        colliders.Plane(normal=(1.0, 0.0), name="wall"),
        colliders.Plane(normal=(-1.0, 0.0), point=(LENGTH, 0.0), name="far wall"),
    ],
    run=RunSettings(duration=0.9, fps=60.0),
    render=RenderSettings(color_by="speed", limits=(0.0, 2.0), size=(900, 840)),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """Front against the experiment, until the far wall; at the end all the water is there and fills its room."""
    front, (times, measured) = fronts(sim), EXPERIMENT.T
    last = float(front[-1] / measured[-1])
    speed = float(np.polyfit(times[1:], front[1:], 1)[0] / np.polyfit(times[1:], measured[1:], 1)[0])
    full, gap = fullness(sim.world.particle_bodies, sim.dx), momentum_gap(sim, start)
    inside = all(
        (collider.signed_distance(sim.world.particle_bodies[0].x)[0] > 0).all() for collider in sim.colliders
    )
    assert abs(last - 1) < 0.1, f"the front is at {last:.3f} of the measured place"
    assert abs(speed - 1) < 0.05, f"the front runs with {speed:.3f} of the measured speed"
    assert abs(full - 1) < 0.1, f"cells inside the water hold {full:.3f} of their volume"
    assert inside, "water has left the tank"
    assert gap < 0.1, f"{gap:.3f} of the momentum is not explained by weight and walls"
    assert sim.diagnostics()["total"] < start["total"]
    return {"front": last, "front_speed": speed, "fullness": full, "momentum_gap": gap}


def fronts(sim: Simulation) -> NDArray[np.float64]:
    """Front over width at the seven times of the experiment (7,), of the same water let go once more."""
    again = Simulation(
        sim.dx, tuple(sim.gravity), transfer=sim.world.transfer, integrator=sim.world.integrator
    )
    again.add(scene.body[0].shape, sim.world.particle_bodies[0].material)
    for collider in scene.collider:
        again.add(collider)
    found = []
    for time in EXPERIMENT[:, 0] / SECOND:
        again.run(frames=1, fps=1 / (time - again.time))
        found.append(float(np.quantile(again.bodies[0].x[:, 0], 0.999)) / WIDTH)  # without single drops
    return np.array(found)
