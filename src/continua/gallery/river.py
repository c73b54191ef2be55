"""A river rushes over rocks, from pool to pool.

Water comes in at the upper end, runs down a bed of steps and boulders and leaves at the lower end (J15 Fig. 5.3 has a
river on a rugged terrain; here it is a section along the stream, in 2D). It shoots through the upper pool, breaks in
the lower one and turns there. The viscosity of water does next to nothing within seconds, so what turns should go on
turning until it is carried away, and what is lost is lost by the transfer. After 4 s on cells of 20 mm:

                             PIC     FLIP    APIC
    kinetic energy [J/m]     298     468     584
    vorticity [1/s]          9.4     20.2    18.2
    noise of the velocities  0.02    0.16    0.04
    steps                    1054    1464    1388

With PIC the river flows like oil, thick and slow over the steps. FLIP keeps the energy and takes the most steps.

What to look at: colours show the speed. Water clings to the bed, because walls may pull. See the schemes side by side:

    continua compare river --over transfer=pic,flip,apic

16 000 particles, 4 900 steps; on two cores half a minute.
"""

import numpy as np

from continua import Simulation
from continua.bodies.drain import Drain
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.gallery._measure import depth, fullness
from continua.gallery._paths import capsules_below
from continua.gallery._running import SceneRun
from continua.gallery._transfers import ORDER, compared, noise, particles, vorticity
from continua.geometry import shapes
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.scene import RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_least, at_most, near, reported

COST = "16 000 particles, 4 900 steps, 30 s"
SMALL = ["dx=0.02", "duration=4.5"]
WRONG = [
    ("half as much water", ["emitter.velocity=[0.75, 0.0]"], "water that came in"),
    ("PIC, which damps", ["transfer=pic"], "over that with PIC"),
    ("FLIP, which is noisy", ["transfer=flip"], "noise of FLIP"),
]

GRAVITY = 9.81  # [m/s^2]
SPRING = [(-0.1, 0.84), (0.2, 0.8), (0.36, 0.62), (0.5, 0.48)]  # surface of the bed [m], from here on
UPPER_POOL = [(0.64, 0.42), (1.0, 0.4), (1.12, 0.48), (1.22, 0.58), (1.34, 0.5), (1.46, 0.32)]
LOWER_POOL = [(1.6, 0.18), (1.74, 0.12), (2.1, 0.1), (2.22, 0.18), (2.32, 0.28), (2.44, 0.2)]
MOUTH = [(2.56, 0.04), (2.7, -0.03), (3.1, -0.06)]
BED = np.array([*SPRING, *UPPER_POOL, *LOWER_POOL, *MOUTH])
ROCKS = [
    ((0.86, 0.41), 0.07),
    ((1.22, 0.56), 0.05),
    ((1.92, 0.11), 0.09),
    ((2.3, 0.25), 0.05),
    ((2.8, -0.03), 0.05),
]
LENGTH = 3.0  # of the river [m]
INFLOW, SPEED = 0.08, 1.5  # depth of the water that comes in [m], its speed [m/s]
LEVEL = float(BED[0, 1]) + INFLOW  # level there [m]
WATER = IncompressibleFluid.water()
COMPARED = ["dx=0.02", "duration=2.0"]

scene = Scene(
    title="River over rocks",
    simulation=SimulationSettings(dx=0.008, gravity=(0.0, -GRAVITY), integrator=Incompressible()),
    emitter=[
        Emitter(
            shapes.Box((-0.065, LEVEL - INFLOW / 2), (0.06, INFLOW)),  # jitter stays out of the wall
            WATER,
            velocity=(SPEED, 0.0),
            sampling="jittered",
            name="spring",
        )
    ],
    drain=[
        Drain(shapes.Box((LENGTH + 5.0, 0.0), (10.0, 10.0)), name="mouth"),  # spray does not fly over it
        Drain(shapes.Box((0.0, -2.5), (2 * LENGTH, 4.0)), name="below"),  # nor falls for ever
    ],
    collider=[
        colliders.Box((-0.2, 1.2), (0.2, 1.0), name="wall"),
        *capsules_below(BED, 0.06),
        *(colliders.Sphere(center, radius) for center, radius in ROCKS),
    ],
    run=RunSettings(duration=5.0, fps=40.0),
    render=RenderSettings(color_by="speed", limits=(0.0, 3.0), size=(1280, 560)),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in bed and rocks in cells, water that left so far [kg/m]."""
    return {"depth": depth(sim) if sim.particles else 0.0, "left": sum(sim.drained.values())}


def look(run: SceneRun) -> dict[str, float]:
    """What is compared between transfers."""
    return {
        "energy": run.sim.diagnostics()["kinetic"],
        "vorticity": vorticity(run.sim),
        "noise": noise(run.sim),
        "steps": run.sim.steps,
    }


def check(run: SceneRun) -> list[Measurement]:
    """As much leaves as comes in, with no more energy; PIC stills the rollers, FLIP is noisy."""
    sim, now, rate = run.sim, run.sim.diagnostics(), WATER.density * INFLOW * SPEED
    late = int(np.searchsorted(run.seen["time"], sim.time * 2 / 3))  # the pools are full by then
    left = (run.seen["left"][-1] - run.seen["left"][late]) / (sim.time - run.seen["time"][late])
    pic, flip, own = compared("river", COMPARED, sim.world.transfer, look)
    return [
        near(
            "water that came in over what the spring gives",
            (now["mass"] + now["drained"]) / (rate * sim.time),
            1.0,
            0.05,
        ),
        near("water that left in the last third over what came in", left / rate, 1.0, 0.2),
        at_most("energy of the lower half over that at the spring", head(sim), 1.0),
        at_most("deepest particle in bed or rocks [cells]", run.most("depth"), 0.01),
        near("water in inner cells", fullness(sim.world.particle_bodies, sim.dx), 1.0, 0.1),
        at_least("kinetic energy over that with PIC", own["energy"] / pic["energy"], ORDER),
        at_least("vorticity over that with PIC", own["vorticity"] / pic["vorticity"], ORDER),
        at_least("noise of FLIP over that of the scene", flip["noise"] / own["noise"], ORDER),
        reported("vorticity with FLIP over that of the scene", flip["vorticity"] / own["vorticity"]),
        reported("steps with PIC", pic["steps"]),
        reported("steps with FLIP", flip["steps"]),
        reported("steps with the scene's transfer", own["steps"]),
    ]


def head(sim: Simulation) -> float:
    """Mean mechanical energy of the water in the lower half over that at the spring, heights from the lowest bed."""
    x, v, _ = particles(sim)
    energy = (v**2).sum(axis=1) / 2 + GRAVITY * (x[:, 1] - BED[-1, 1])
    start = SPEED**2 / 2 + GRAVITY * (LEVEL - INFLOW / 2 - BED[-1, 1])
    return float(energy[x[:, 0] > LENGTH / 2].mean() / start)
