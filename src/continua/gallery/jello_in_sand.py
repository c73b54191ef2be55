"""Three cubes of jelly, each four times as stiff as the last, carry sand (after G20 Fig. 4.3).

The cubes are meshes that move on their own and meet the sand through points on their surface (G20 section 4.2). They
fill a frictionless container but for gaps that few grains enter, so the sand rests on them and statics knows the
answer: each sags by load times height over its modulus, and all three together carry the sand and themselves.

What to look at: the sand falls, the cubes swing, and the soft one stays down under a dent in the layer; where it sinks
sand beside it takes a part of its load. Try `--set solid.soft.material.E=1e4`.

10 400 particles, 650 vertices, 4 000 steps; on one core 50 s.
"""

import numpy as np

from continua import Simulation
from continua.bodies.solid_body import SolidBody
from continua.contact import colliders
from continua.contact.penalty import GridContact
from continua.continuum import Contact, Continuum
from continua.gallery._hybrid import grain_depth, solids, time_to_look
from continua.gallery._measure import momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import BoxMesh
from continua.materials import DruckerPrager, FixedCorotated
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    SolidSettings,
)
from continua.validation.case import Measurement, at_most, between, near

COST = "10 400 particles, 650 vertices, 4 000 steps, 50 s"
SMALL = ["dx=0.05", "solid.mesh.counts=[2, 2, 2]", "duration=0.75"]
WRONG = [("the hard cube half as stiff", ["solid.hard.material.E=2.4e5"], "over that of the hard one")]

SIDE, DENSITY = 0.2, 1000.0  # of a cube [m], [kg/m^3]
STIFFNESS = {"soft": 3e4, "middle": 1.2e5, "hard": 4.8e5}  # Young's modulus [Pa]
PITCH = 0.24  # from cube to cube, and width of the container [m]
BOX = (3 * PITCH, 0.6, PITCH)  # the container [m]
LAYER, FALL = 0.06, 0.03  # of sand that falls, from so high over the cubes [m]
LOOSE = 1600.0  # density of the sand [kg/m^3]
REST = 0.5  # part of the run after which cubes swing about where they will rest


def cube(place: int, name: str) -> SolidSettings:
    """One of three in a row on the floor."""
    x = (place - 1) * PITCH
    return SolidSettings(
        name=name,
        mesh=BoxMesh((x - SIDE / 2, 0.0, -SIDE / 2), (x + SIDE / 2, SIDE, SIDE / 2), (5, 5, 5)),
        material=FixedCorotated(E=STIFFNESS[name], nu=0.3, density=DENSITY),
        contact=GridContact(),
    )


scene = Scene(
    title="Jelly in sand",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -9.81, 0.0)),
    continuum=[Continuum("sand")],
    solid=[cube(place, name) for place, name in enumerate(STIFFNESS)],
    body=[
        BodySettings(
            name="sand",
            shape=shapes.Box((0.0, SIDE + FALL + LAYER / 2, 0.0), (BOX[0], LAYER, BOX[2])),
            material=DruckerPrager(E=1e5, nu=0.3, density=LOOSE, friction_angle=33.0),
            sampling="jittered",
            continuum="sand",
        )
    ],
    contact=[Contact("sand", "solids", friction=0.3)],
    collider=[colliders.Box((0.0, BOX[1] / 2, 0.0), BOX, inverted=True, name="container")],
    run=RunSettings(duration=1.4, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.3, 0.6, 1.4), target=(0.0, 0.13, 0.0))
    ),
)


def sag(body: SolidBody) -> float:
    """By how much a cube is lower than at rest [m]."""
    top, bottom = (np.isclose(body.rest[:, 1], height) for height in (SIDE, 0.0))
    return SIDE - float(body.x[top, 1].mean() - body.x[bottom, 1].mean())


def watch(sim: Simulation) -> dict[str, float]:
    """How low the cubes are [m], the deepest grain in one [cells]."""
    sags = {name: sag(body) for name, body in zip(STIFFNESS, solids(sim), strict=True)}
    return sags | {"grain": grain_depth(sim) if time_to_look(sim) else 0.0}


def check(run: SceneRun) -> list[Measurement]:
    """Sag is load over stiffness, no grain is in a cube, what sand and cubes gave each other balances."""
    sim, resting = run.sim, run.seen["time"] > REST * run.sim.time
    stress = {name: run.seen[name][resting].mean() / SIDE * E for name, E in STIFFNESS.items()}
    load = 9.81 * (
        DENSITY * SIDE / 2 + LOOSE * LAYER * (PITCH / SIDE) ** 2
    )  # of itself and of the sand above [Pa]
    return [
        between(
            "stiffness times sag of the soft cube over that of the hard one",
            stress["soft"] / stress["hard"],
            0.6,
            1.05,
        ),
        between(
            "stiffness times sag of the middle cube over that of the hard one",
            stress["middle"] / stress["hard"],
            0.7,
            1.1,
        ),
        near("stiffness times sag of all three over their load", sum(stress.values()) / (3 * load), 1.0, 0.1),
        at_most("deepest grain in a cube [cells]", run.most("grain"), 0.5),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), 0.05),
    ]
