"""A sponge is held at both ends and twisted until it tears (J15 chapter 4).

A sponge is the viscoelastic model of J15 chapter 4 with a relaxation time so long that nothing relaxes: an elastic
solid that can be stretched a lot. For small angles theta the torque on a bar with a square section of side a and
with length L is that of Saint-Venant,

    M = 0.1406 mu a^4 theta / L,

and the check twists a second bar by a tenth of a radian to compare. For large angles the fibres far from the axis are
stretched most. Where neighbouring particles have come further apart than the grid can see, about two cells, they no
longer pull at each other: the bar tears. The model knows nothing of this, so how far the bar can be twisted depends on
the grid; a strength of the material that does not is the subject of damage models.

What to look at: four strands, two of each colour, wind up like a rope. The corners go first, then a gap opens and
both halves snap back. The strands are two bodies that share one grid, which makes them one bar.

21 000 particles, 6 300 steps; on two cores about 2 minutes.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.gallery._measure import pieces
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import OldroydB
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, near

COST = "21 000 particles, 6 300 steps, 2 min"
SMALL = ["dx=0.08"]
WRONG = [("clamps that do not turn", ["collider.motion.angles=[0.0, 0.0]"], "pieces of the bar")]

SIDE, LENGTH, GRIP = 0.4, 0.8, 0.12  # of the bar, free length, and length inside each clamp [m]
SPONGE = OldroydB.sponge()
TURNS, PULL, TWISTING = (
    2.5,
    0.3,
    1.1,
)  # of the two ends against each other, way apart [m], how long it takes [s]


def strands(name: str, sign: int) -> BodySettings:
    """Two quarters of the bar, opposite each other."""
    quarter = (LENGTH + 2 * GRIP, SIDE / 2, SIDE / 2)
    places = [(0.0, y, sign * y) for y in (-SIDE / 4, SIDE / 4)]
    return BodySettings(
        name=name, shape=shapes.Union([shapes.Box(x, quarter) for x in places]), material=SPONGE
    )


def clamp(side: int, turns: float, pull: float, seconds: float) -> colliders.Box:
    """Block that holds one end of the bar, turns it about the x axis and pulls, each by half of what is given."""
    motion = Keyframes(
        times=[0.0, seconds],
        positions=[(0.0, 0.0, 0.0), (side * pull / 2, 0.0, 0.0)],
        angles=[0.0, side * 180.0 * turns],
        axis=(1.0, 0.0, 0.0),
        interpolation="smooth",
    )
    center = (side * (LENGTH / 2 + GRIP), 0.0, 0.0)
    name = "left clamp" if side < 0 else "right clamp"
    return colliders.Box(center, (2 * GRIP, 1.5 * SIDE, 1.5 * SIDE), mode="sticky", motion=motion, name=name)


def twisted(turns: float, pull: float, seconds: float, dx: float) -> Scene:
    """The bar and two clamps that twist it by `turns` and stretch it by `pull` [m] within `seconds`."""
    return Scene(
        title="Twisted sponge",
        simulation=SimulationSettings(dx=dx, gravity=(0.0, -9.81, 0.0), push_out=None),
        body=[strands("two strands", 1), strands("two others", -1)],
        collider=[clamp(side, turns, pull, seconds) for side in (-1, 1)],
        run=RunSettings(duration=1.25, fps=24.0),
        render=RenderSettings(
            color_by="body",
            camera=CameraSettings(position=(0.7, 0.5, 2.25), target=(0.0, -0.02, 0.0)),
        ),
    )


scene = twisted(TURNS, PULL, TWISTING, 0.04)


def torque(sim: Simulation) -> float:
    """Mean torque over the middle half of the bar [N m]: of the stresses times their arm about the axis."""
    total = 0.0
    for body in sim.world.particle_bodies:
        middle = np.abs(body.x[:, 0]) < LENGTH / 4
        tau = SPONGE.kirchhoff(body.F[middle], {name: z[middle] for name, z in body.state.items()})
        _, y, z = body.x[middle].T
        total += float(body.volume[middle] @ (y * tau[:, 0, 2] - z * tau[:, 0, 1]))
    return total / (LENGTH / 2)


def saint_venant_error(dx: float, angle: float = 0.1, seconds: float = 0.3) -> float:
    """Torque on a bar that is slowly twisted by `angle` [rad], relative to the formula, minus one."""
    sim = twisted(angle / (2 * np.pi), 0.0, seconds, dx).build()
    sim.run(seconds)
    return torque(sim) / (0.1406 * SPONGE.mu * SIDE**4 * angle / LENGTH) - 1


def check(run: SceneRun) -> list[Measurement]:
    """Torque at a small angle; at a large one the bar is in pieces and no mass is lost."""
    bodies = run.sim.world.particle_bodies
    parts = pieces(np.concatenate([body.x for body in bodies]), 1.2 * run.sim.dx)
    return [
        near(
            "torque on a bar twisted a little, over the formula", 1 + saint_venant_error(run.sim.dx), 1.0, 0.1
        ),
        at_least("pieces of the bar", parts, 2),
        near("mass over that at the start", run.sim.diagnostics()["mass"] / run.start["mass"], 1.0, 0.0),
    ]
