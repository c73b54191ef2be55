"""DRAFT
"""

import numpy as np

from continua import Simulation
from continua.bodies.solid_body import SolidBody
from continua.contact import colliders
from continua.contact.penalty import GridContact
from continua.continuum import Contact, Continuum
from continua.gallery._hybrid import grain_depth, solids, time_to_look
from continua.gallery._measure import kept, momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import BoxMesh
from continua.integrators import Optimization
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
from continua.validation.case import Measurement, at_least, at_most, between

COST = "x"
SMALL = ["dx=0.04", "solid.mesh.counts=[3, 3, 3]", "duration=0.6"]
WRONG = [("the hard cube half as stiff", ["solid.hard.material.E=1.6e5"], "over that of the hard one")]

SIDE, DENSITY = 0.2, 1000.0  # of a cube [m], [kg/m^3]
STIFFNESS = {"soft": 2e4, "middle": 8e4, "hard": 3.2e5}  # Young's modulus [Pa]
PITCH = 0.36  # from cube to cube [m]
BOX = (3 * PITCH, 0.8, PITCH)  # the container [m]
LAYER, FALL = 0.06, 0.05  # of sand that falls, from so high over the cubes [m]
LOOSE = 1600.0  # density of the sand [kg/m^3]
REST = 0.7  # part of the run after which cubes are taken to rest
SAND = DruckerPrager(E=1e5, nu=0.3, density=LOOSE, friction_angle=33.0)


def cube(place: int, name: str) -> SolidSettings:
    """One of three in a row on the floor."""
    x = (place - 1) * PITCH
    return SolidSettings(
        name=name,
        mesh=BoxMesh((x - SIDE / 2, 0.0, -SIDE / 2), (x + SIDE / 2, SIDE, SIDE / 2), (5, 5, 5)),
        material=FixedCorotated(E=STIFFNESS[name], nu=0.3, density=DENSITY),
        contact=GridContact(),
    )


def sand(name: str, shape: shapes.AnyShape) -> BodySettings:
    """Some of the sand."""
    return BodySettings(name=name, shape=shape, material=SAND, sampling="jittered", continuum="sand")


def layer(low: float, high: float) -> shapes.Box:
    """All of the container between two heights [m]."""
    return shapes.Box((0.0, (low + high) / 2, 0.0), (BOX[0], high - low, BOX[2]))


HOLES = [
    shapes.Box(((place - 1) * PITCH, SIDE / 2, 0.0), (SIDE + 0.01, SIDE + 0.01, SIDE + 0.01))
    for place in range(3)
]

scene = Scene(
    title="Jelly in sand",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -9.81, 0.0)),
    continuum=[Continuum("sand"), Continuum("solids", integrator=Optimization())],
    solid=[cube(place, name) for place, name in enumerate(STIFFNESS)],
    body=[
        sand("bed", shapes.Difference(layer(0.0, SIDE), HOLES)),
        sand("load", layer(SIDE + FALL, SIDE + FALL + LAYER)),
    ],
    contact=[Contact("sand", "solids", friction=0.3)],
    collider=[colliders.Box((0.0, BOX[1] / 2, 0.0), BOX, inverted=True, friction=0.3, name="container")],
    run=RunSettings(duration=1.2, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.5, 0.9, 1.9), target=(0.0, 0.15, 0.0))
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
    load = 9.81 * (DENSITY * SIDE / 2 + LOOSE * LAYER)  # of itself and of the sand above [Pa]
    return [
        between("sag of the soft cube, times stiffness, over that of the hard one", stress["soft"] / stress["hard"], 0.6, 1.2),
        between("sag of the middle cube, times stiffness, over that of the hard one", stress["middle"] / stress["hard"], 0.75, 1.2),
        between("sag of the hard cube over that of its load", stress["hard"] / load, 0.4, 1.1),
        at_most("deepest grain in a cube [cells]", run.most("grain"), 0.5),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), kept(sim, 1e-9)),
    ]
