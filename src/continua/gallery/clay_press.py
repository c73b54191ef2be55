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
from continua.geometry import shapes
from continua.materials import VonMises
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings

COST = "20 000 particles, 10 600 steps, 2 min"
SMALL = ["dx=0.00625"]

CLAY = VonMises.clay()
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


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """The plate's impulse lies between the bounds of limit analysis, and the clay kept its volume and its new shape."""
    clay, (lower, upper) = sim.world.particle_bodies[0], bounds()
    impulse = -float(sim.impulses[1, 1])
    volume = float(clay.J @ clay.volume / clay.volume.sum())
    height = float(np.quantile(clay.x[:, 1], 0.999))
    assert 0.95 * lower < impulse < 1.05 * upper, f"{impulse:.0f} N s/m, not in {lower:.0f} to {upper:.0f}"
    assert abs(volume - 1) < 0.01, f"the volume is {volume:.3f} of what it was"
    assert 0.97 < height / LEFT < 1.1, f"the clay is {height:.3f} m high after the plate has left"
    return {"impulse": impulse, "lower": lower, "upper": upper, "volume": volume, "height": height}
