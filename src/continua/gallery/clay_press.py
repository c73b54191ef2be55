"""A plate squeezes a block of clay to half its height.

Clay flows at constant volume as soon as the shear stress reaches its strength k (von Mises, 20 kPa); below that it is
elastic. Limit analysis encloses the force F, per metre of depth, with which rough plates squeeze a block of width b and
height h:

    2 k b  <=  F  <=  2 k b (1 + b / 4h).

The lower bound is the stress of a block between greased plates; the upper one is the work of squeezing evenly and of
sliding along both plates. As the block becomes flat, friction counts more and more.

What to look at: colours show the plastic strain. Wedges of clay at both plates stay undeformed, and all flow happens
in bands that cross between them and push the flanks out. When the plate lifts, the clay keeps its shape but for an
elastic spring back of one or two percent.

20 000 particles, 10 600 steps; on two cores about 2 minutes.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.gallery._measure import volume_kept
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import VonMises
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_least, at_most, between, near

COST = "20 000 particles, 10 600 steps, 2 min"
SMALL = ["dx=0.00625"]
WRONG = [("clay twice as strong", ["body.material.yield_stress=6e4"], "impulse of the plate")]

# Shear strength 20 kPa, where "soft" begins in BS 5930; the other numbers only need to look like clay.
CLAY = VonMises(E=2e6, nu=0.45, density=1800.0, yield_stress=float(np.sqrt(2.0)) * 2e4)
SHEAR_STRENGTH = CLAY.yield_stress / np.sqrt(2)  # k [Pa]
WIDTH, HEIGHT, LEFT = 0.2, 0.1, 0.05  # of the block; height at the end [m]
PRESS, LIFT = 0.1, 0.03  # time of pressing and of lifting [s]

scene = Scene(
    title="A plate squeezes clay",
    simulation=SimulationSettings(dx=0.002, gravity=(0.0, -9.81)),
    body=[
        BodySettings(
            name="clay",
            shape=shapes.Box((0.0, HEIGHT / 2), (WIDTH, HEIGHT)),
            material=CLAY,
        )
    ],
    collider=[
        colliders.Plane(normal=(0.0, 1.0), mode="sticky", name="table"),
        colliders.Box(
            center=(0.0, HEIGHT + 0.0125),
            size=(0.5, 0.025),
            friction=1.0,
            name="plate",
            motion=Keyframes(
                times=[0.0, PRESS, PRESS + LIFT],
                positions=[(0.0, 0.0), (0.0, LEFT - HEIGHT), (0.0, LEFT - HEIGHT + 0.03)],
            ),
        ),
    ],
    run=RunSettings(duration=PRESS + LIFT, fps=300.0),
    render=RenderSettings(color_by="plastic_strain", limits=(0.0, 2.0)),
)


def bounds() -> tuple[float, float]:
    """Bounds of the impulse of the plate [N s/m]: those of the force, summed over the way from HEIGHT to LEFT."""
    speed, area = (HEIGHT - LEFT) / PRESS, WIDTH * HEIGHT
    lower = 2 * SHEAR_STRENGTH * area * np.log(HEIGHT / LEFT) / speed  # b = area / h
    friction = 2 * SHEAR_STRENGTH * area**2 / 8 * (1 / LEFT**2 - 1 / HEIGHT**2) / speed
    return float(lower), float(lower + friction)


def squeeze() -> float:
    """Part of the volume that the highest mean pressure, k less than the upper bound of the force over the width, takes
    away elastically; a sudden load takes up to twice as much, and up to as much comes on top when it is taken off."""
    width = WIDTH * HEIGHT / LEFT
    pressure = 2 * SHEAR_STRENGTH * (1 + width / (4 * LEFT)) - SHEAR_STRENGTH
    return float(pressure * 3 * (1 - 2 * CLAY.nu) / CLAY.E)


def watch(sim: Simulation) -> dict[str, float]:
    """Volume over that at the start."""
    return {"volume": volume_kept(sim.world.particle_bodies[0])}


def check(run: SceneRun) -> list[Measurement]:
    """The plate's impulse lies between the bounds of limit analysis, and the clay kept its new shape and, but for
    what the pressure takes away for as long as it lasts, its volume."""
    clay, (lower, upper) = run.sim.world.particle_bodies[0], bounds()
    height = float(np.quantile(clay.x[:, 1], 0.999))
    return [
        between("impulse of the plate [N s/m]", -float(run.sim.impulses[1, 1]), 0.95 * lower, 1.05 * upper),
        near("volume at the end over that at the start", float(run.seen["volume"][-1]), 1.0, 0.01),
        at_least("least volume over that at the start", run.least("volume"), 1 - 2 * squeeze()),
        at_most("most volume over that at the start", run.most("volume"), 1 + squeeze()),
        between("height when the plate has left, over that of the plate", height / LEFT, 0.97, 1.1),
    ]
