"""Water breaks loose in a tank: the dam break of Martin and Moyce (1952), incompressible.

A column of water of width a = 5.7 cm and height 2a stands at a wall and is let go at once, as in the scene dam-break.
There water is a stiff spring and sound sets the time step. Here the pressure is solved for in every step, the volume
is kept, and a step may last until the water has crossed half a cell: on the same grid that is thirty times fewer steps.

The front, where the water is a tenth of its first width thick, runs with the speed that Martin and Moyce measured, to
3 %, but it leads: by up to 15 % and by 5 % at their last time T = t sqrt(2g / a) = 3.11, whatever the grid. It is as
if the experiment had started 10 ms late, and there a gate had to get out of the way first.

What to look at: colours show the speed. The tongue runs to the other wall, shoots up there, falls back over itself
and encloses air, which here is nothing at all: a bubble can only collapse. Watch the water come back as a wave.

29 000 particles, 2 900 steps; on two cores about a minute.
"""

import numpy as np
from numpy.typing import NDArray

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import depth, energy, fullness, kept, momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_least, at_most, near
from continua.validation.dam_break import EXPERIMENT, GRAVITY, SECOND, WIDTH, front_of

COST = "29 000 particles, 2 900 steps, 1 min"
SMALL = ["dx=0.003571875"]
WRONG = [
    ("water like honey", ["body.material.viscosity=10.0"], "place of the front"),
    ("water that may be squeezed", ["integrator.volume_control=0"], "water in inner cells"),
]

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


def watch(sim: Simulation) -> dict[str, float]:
    """Water in inner cells over their volume, depth in the walls in cells, energy [J/m]."""
    full = fullness(sim.world.particle_bodies, sim.dx)
    return {"fullness": full, "depth": depth(sim), "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Front against the experiment, until the far wall; all the water stays in the tank and fills its room."""
    sim, front, (times, measured) = run.sim, fronts(run.sim), EXPERIMENT.T
    margin = (
        0.05 if sim.dx <= scene.simulation.dx else 0.1
    )  # on coarse grids most inner cells are next to the surface
    speed = float(np.polyfit(times[1:], front[1:], 1)[0] / np.polyfit(times[1:], measured[1:], 1)[0])
    return [
        near("last place of the front over the measured one", float(front[-1] / measured[-1]), 1.0, 0.1),
        near("speed of the front over the measured one", speed, 1.0, 0.05),
        near("water in inner cells, mean of the run", float(run.seen["fullness"].mean()), 1.0, 0.05),
        at_least("least water in inner cells", run.least("fullness"), 1 - margin),
        at_most("most water in inner cells", run.most("fullness"), 1 + margin),
        at_most("deepest particle in a wall [cells]", run.most("depth"), 0.0),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), 0.1),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
    ]


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
        found.append(front_of(again.world.particle_bodies[0]))
    return np.array(found)
