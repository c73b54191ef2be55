"""Four discs of liquid meet at high speed, each a little beside the middle, and shed spirals.

Every disc aims to the right of the middle, so together they turn. The collision squeezes the liquid out between
neighbouring discs in four jets, which the rotation bends into arms, and the hole that opens in the middle is wound
round by what comes off its rim (J15 Fig. 5.8 shows such spirals, which APIC resolves and other transfers do not).

The liquid is a stiff spring without shear, its sound not much faster than the discs; no force acts from outside. Then
momentum and angular momentum must stay, whatever happens inside. PIC loses the rotation, and the discs merely flatten
each other. FLIP keeps most of it but lets neighbours fly different ways: the arms are grainy, single particles go
astray, and the fastest of them sets the time step. APIC has the angular momentum to the last digits, and clean arms:

                             PIC     FLIP     APIC
    angular momentum left    0.868   0.9999   1 - 7e-16
    total energy left        0.43    0.81     0.74
    steps                    2037    2512     2045

What to look at: colours tell the discs apart. See the schemes side by side:

    continua compare spiral-collision --over transfer=pic,flip,apic

80 000 particles, 2 000 steps; on two cores about 20 seconds.
"""

import numpy as np

from continua import Simulation
from continua.gallery._running import SceneRun
from continua.gallery._transfers import ORDER, compared, noise, vorticity
from continua.geometry import shapes
from continua.materials import Liquid
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_least, at_most, reported

COST = "80 000 particles, 2 000 steps, 20 s"
SMALL = ["dx=0.016", "duration=0.08"]
WRONG = [
    ("PIC, which loses the rotation", ["transfer=pic"], "change of angular momentum"),
    ("FLIP, which is noisy", ["transfer=flip"], "noise of FLIP"),
    ("a weight that pulls to the side", ["gravity=[10.0, 0.0]"], "change of momentum"),
]

RADIUS, DISTANCE, ASIDE = 0.2, 0.4, 0.1  # of a disc, of its centre from the middle, by which it misses it [m]
SPEED = 10.0  # [m/s]
LIQUID = Liquid(bulk_modulus=1e6, density=1000.0, viscosity=0.0, tension=False)
COMPARED = ["dx=0.016", "duration=0.08"]


def disc(name: str, quarter: int) -> BodySettings:
    """A disc that comes from one of the four sides."""
    turn = np.pi / 2 * quarter
    ahead, left = np.array([-np.cos(turn), -np.sin(turn)]), np.array([np.sin(turn), -np.cos(turn)])
    center, velocity = -DISTANCE * ahead - ASIDE * left, SPEED * ahead
    return BodySettings(
        name=name,
        shape=shapes.Sphere((float(center[0]), float(center[1])), RADIUS),
        material=LIQUID,
        velocity=(float(velocity[0]), float(velocity[1])),
        sampling="jittered",
    )


scene = Scene(
    title="Spirals of a collision",
    simulation=SimulationSettings(dx=0.005, gravity=(0.0, 0.0)),
    body=[disc("east", 0), disc("north", 1), disc("west", 2), disc("south", 3)],
    run=RunSettings(duration=0.08, fps=500.0),
    render=RenderSettings(color_by="body", size=(1000, 840)),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J/m] and angular momentum [N m s/m]."""
    now = sim.diagnostics()
    return {"energy": now["total"], "angular": now["angular_z"]}


def look(run: SceneRun) -> dict[str, float]:
    """What is compared between transfers."""
    now = run.sim.diagnostics()
    return {
        "angular": now["angular_z"] / run.start["angular_z"],
        "energy": now["kinetic"] / run.start["kinetic"],
        "vorticity": vorticity(run.sim),
        "noise": noise(run.sim),
        "steps": run.sim.steps,
    }


def check(run: SceneRun) -> list[Measurement]:
    """Momentum and angular momentum stay; PIC keeps less rotation and energy, FLIP is noisier and takes more steps."""
    sim, now, start = run.sim, run.sim.diagnostics(), run.start
    spin = float(np.abs(run.seen["angular"] / start["angular_z"] - 1).max())
    momentum = float(
        np.hypot(now["momentum_x"] - start["momentum_x"], now["momentum_y"] - start["momentum_y"])
    )
    pic, flip, own = compared("spiral-collision", COMPARED, sim.world.transfer, look)
    return [
        at_most("largest change of angular momentum", spin, 1e-10),
        at_most("change of momentum over that of all mass", momentum / (start["mass"] * SPEED), 1e-10),
        at_most("most energy over that of the start", 1 + run.growth("energy"), 1.01),
        at_most("angular momentum left with PIC", pic["angular"], 1 / ORDER),
        at_least("energy left over that with PIC", own["energy"] / pic["energy"], ORDER),
        at_least("vorticity over that with PIC", own["vorticity"] / pic["vorticity"], ORDER),
        at_least("noise of FLIP over that of the scene", flip["noise"] / own["noise"], ORDER),
        at_least("steps over those with PIC", own["steps"] / pic["steps"], ORDER),
        at_least("steps with FLIP over those of the scene", flip["steps"] / own["steps"], ORDER),
        reported("angular momentum left with FLIP", flip["angular"]),
        reported("energy left with FLIP over that of the scene", flip["energy"] / own["energy"]),
    ]
