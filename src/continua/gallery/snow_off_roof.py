"""Snow slides off an elastic roof, as soon as friction lets it.

The roof is a plate of rubber, 12 cm thick and pitched by 35 degrees, that stands on the walls of a house. It bends
under the snow on it. Snow and roof are two continua: each has a velocity of its own where they meet, so that the snow
can slide, with the friction that `[[contact]]` says, and can fall from the eaves. In one continuum it would hang on the
roof as if it were frozen to it.

What to look at: tan(35 degrees) is 0.7. With friction 0.1 both slabs set off at once, bend over the eaves and fold up
beside the house, and the roof rises again without its load. With `--set contact.friction=1` they stay. Try values in
between, or `--set body.snow.continuum=main`.

42 000 particles, 12 000 steps; on two cores about 3 minutes.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.continuum import Contact, Continuum
from continua.gallery._measure import energy, kept, momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import FixedCorotated, Snow
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_most, between

COST = "42 000 particles, 12 000 steps, 3 min"
SMALL = ["dx=0.08", "precision=double", "duration=0.9"]
WRONG = [("snow and roof in one continuum", ["body.snow.continuum=main"], "still on the roof")]

PITCH = 35.0  # [degrees]
HALF, DEPTH = 1.0, 0.6  # width of one side, and depth of the house [m]
PLATE, COVER = 0.12, 0.14  # thickness of roof and snow [m]
GROUND = -1.5  # below the ridge [m]
EAVES = -HALF * float(np.tan(np.radians(PITCH)))  # height of the lower edges [m]
STAYS = 0.8  # friction from which on the snow must stay


def below(side: int, height: float) -> shapes.Rotated:
    """All that is less than `height` [m] above one side of the roof."""
    angle = np.radians(PITCH)
    outward = np.array([side * np.sin(angle), np.cos(angle)])
    x, y = (height - 2.0) * outward
    return shapes.Rotated(
        shapes.Box((float(x), float(y), 0.0), (8.0, 4.0, 2.0)), -side * PITCH, axis=(0.0, 0.0, 1.0)
    )


def layer(lower: float, upper: float, half: float, depth: float) -> shapes.Difference:
    """What lies between two heights [m] over the roof."""
    room = shapes.Box((0.0, -0.5, 0.0), (2 * half, 3.0, depth))
    return shapes.Difference(
        shapes.Intersection([room, below(-1, upper), below(1, upper)]),
        [shapes.Intersection([below(-1, lower), below(1, lower)])],
    )


scene = Scene(
    title="Snow slides off a roof",
    simulation=SimulationSettings(dx=0.04, gravity=(0.0, -9.81, 0.0), precision="single"),
    continuum=[Continuum("snow")],
    body=[
        BodySettings(
            name="roof",
            shape=layer(-PLATE, 0.0, HALF, DEPTH),
            material=FixedCorotated(E=1e6, nu=0.3, density=800.0),
        ),
        BodySettings(
            name="snow",
            shape=shapes.Difference(
                layer(0.0, COVER, 0.95 * HALF, DEPTH - 0.08), [shapes.Box((0.0, 0.0, 0.0), (0.1, 1.0, 2.0))]
            ),
            material=Snow(),
            sampling="jittered",
            continuum="snow",
        ),
    ],
    contact=[Contact("snow", "main", friction=0.1)],
    collider=[
        colliders.Box(
            (0.0, (GROUND - 0.62) / 2, 0.0), (1.56, -0.62 - GROUND, DEPTH - 0.1), mode="sticky", name="house"
        ),
        colliders.Plane(normal=(0.0, 1.0, 0.0), point=(0.0, GROUND, 0.0), friction=0.6, name="ground"),
    ],
    run=RunSettings(duration=1.5, fps=24.0),
    render=RenderSettings(
        color_by="material", camera=CameraSettings(position=(2.0, 0.7, 4.6), target=(0.0, -0.75, 0.0))
    ),
)


def on_roof(sim: Simulation) -> float:
    """Share of the snow that is over the roof."""
    snow = sim.bodies[1].x
    return float(((np.abs(snow[:, 0]) < HALF + sim.dx) & (snow[:, 1] > EAVES - PLATE)).mean())


def watch(sim: Simulation) -> dict[str, float]:
    """Energy over that of all mass as high as the house [J]."""
    return {"energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The snow is down, or still up, as friction says; the roof is where it was; no momentum is lost."""
    sim, friction = run.sim, run.sim.world.contacts[0].friction
    low, high = (0.0, 0.05) if friction < STAYS else (0.9, 1.0)
    return [
        between("part of the snow still on the roof", on_roof(sim), low, high),
        between("height of the ridge [m]", float(np.percentile(sim.bodies[0].x[:, 1], 99.9)), -0.12, 0.12),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), kept(sim, 1e-9)),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
    ]
