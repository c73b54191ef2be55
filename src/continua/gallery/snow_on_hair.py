"""Snow falls on fur and is shaken off (W20 Fig. 4.2).

Fur and snow are continua of their own that meet at the nodes of one grid: they push and rub and never pull. Snow lies
on the hairs, bends them, and stays there; then the board on which the fur grows is shaken.

What to look at: hairs lie down below the slab of snow, which rests on them. When the board is pulled away under it and
down, the snow is thrown off and the hairs spring back; none is left on them. Try `--set contact.friction=0.0` or
`--set strands.curves.length=0.05`.

The published hair has 1.9 million segments, the snow 2.2 million particles. The small version has fewer of both, on
coarser cells: `strands.curves.count=200`, `strands.curves.segments=5`.

3 900 particles, 7 200 vertices, 4 600 steps; on one core about 90 s.
"""

import numpy as np
from scipy.spatial import cKDTree

from continua import Simulation
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.contact.strand_contact import StrandContact
from continua.continuum.settings import Contact
from continua.gallery._running import SceneRun
from continua.gallery._strands import crossed_share, strands
from continua.geometry import shapes
from continua.geometry.hair import Fur
from continua.materials import Snow
from continua.materials.rod import Rod
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    StrandsSettings,
)
from continua.validation.case import Measurement, at_least, at_most

COST = "3 900 particles, 7 200 vertices, 4 600 steps, 90 s"
SMALL = ["dx=0.025", "strands.curves.count=200", "strands.curves.segments=5", "duration=0.6"]
WRONG = [
    (
        "a board that is not shaken",
        ["collider.board.motion.times=[10.0, 10.1, 10.2, 10.3]"],
        "left",
    )
]

SIDE, THICK, LENGTH = 0.3, 0.06, 0.1  # of the board, and of a hair [m]
SHAKEN, STILL = 0.2, 0.5  # when shaking begins and ends [s]
AWAY = 0.13  # from its place [m]
SHAKE = Keyframes(
    times=[SHAKEN, SHAKEN + 0.08, SHAKEN + 0.2, STILL],
    positions=[(0.0, 0.0, 0.0), (AWAY, 0.5 * AWAY, 0.0), (-AWAY, -AWAY, 0.0), (0.0, 0.0, 0.0)],
    interpolation="smooth",
)

scene = Scene(
    title="Snow is shaken off fur",
    simulation=SimulationSettings(dx=0.016, gravity=(0.0, -9.81, 0.0)),
    strands=[
        StrandsSettings(
            name="fur",
            curves=Fur(
                on="board",
                count=800,
                length=LENGTH,
                segments=8,
                part=shapes.Box((0.0, 0.0, 0.0), (0.9 * SIDE, 0.5 * THICK, 0.9 * SIDE)),
                lean=(0.5, 0.0, 0.0),
            ),
            material=Rod(E=5e5, radius=1e-3, density=1300.0),
            contact=StrandContact(friction=0.2, stiffness=1e3),
        )
    ],
    body=[
        BodySettings(
            name="snow",
            shape=shapes.Box((0.0, LENGTH + 0.06, 0.0), (0.2, 0.05, 0.2)),
            material=Snow(E=3e4, hardening=5.0),
            velocity=(0.0, -1.0, 0.0),
            sampling="jittered",
        )
    ],
    contact=[Contact("main", "strands", friction=0.3)],
    collider=[
        colliders.Box((0.0, -THICK / 2, 0.0), (SIDE, THICK, SIDE), friction=0.3, name="board", motion=SHAKE)
    ],
    run=RunSettings(duration=0.7, fps=60.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.5, 0.4, 0.8), target=(0.0, 0.0, 0.0), fov=36.0)
    ),
)


def mass_on_hair(sim: Simulation) -> float:
    """Share of the snow that is within two cells of a hair."""
    (snow,), (fur,) = sim.world.particle_bodies, strands(sim)
    near = cKDTree(fur.x).query(snow.x, distance_upper_bound=2 * sim.dx)[0] < np.inf
    return float(snow.mass[near].sum() / snow.mass.sum())


def watch(sim: Simulation) -> dict[str, float]:
    """Share of the snow that is on the hair."""
    return {"on": mass_on_hair(sim)}


def momentum_lost(run: SceneRun) -> float:
    """Momentum of snow and fur that neither weight nor board nor roots explain, over what the weight gave."""
    sim, start = run.sim, run.start
    now = sim.diagnostics()
    gained = np.array([now[f"momentum_{a}"] - start[f"momentum_{a}"] for a in "xyz"])
    weight = now["mass"] * sim.gravity * sim.time
    given = sim.impulses[:, :3].sum(axis=0) + strands(sim)[0].pull[:3]
    return float(np.abs(gained - weight - given).max() / np.abs(weight).max())


def check(run: SceneRun) -> list[Measurement]:
    """Snow lands on the hair, and most of it is off after the shaking; momentum is that of the weight and the board."""
    sim, on, time = run.sim, run.seen["on"], run.seen["time"]
    before = float(on[time < SHAKEN][-1])
    return [
        at_least("snow on the hair before the shaking, of all", before, 0.5),
        at_most("of that, left after it", float(on[-1]) / before, 0.5),
        at_most("share of meetings of segments that went through each other", crossed_share(sim), 0.01),
        at_most("momentum that is not explained", momentum_lost(run), 1e-9),
    ]
