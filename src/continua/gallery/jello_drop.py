"""Three cubes of jelly fall to the floor; the more modes the transfer has, the higher they bounce.

TEXT
"""

from continua import Simulation
from continua.contact import colliders
from continua.geometry import shapes
from continua.materials import FixedCorotated
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.transfers import PolyPIC

COST = "24 000 particles, 3 300 steps, 1 min"
SMALL = ["dx=0.04"]

SIDE, DROP = 0.26, 0.3  # of a cube, and how far its centre falls before a cube lying flat would touch [m]
JELLY = FixedCorotated(E=2e4, nu=0.3, density=1000.0)
GAP = 1e-6  # the floor lies a hair above a row of nodes, so that this row carries the cubes [m]


def cube(name: str, x: float, tilt: float) -> BodySettings:
    """A cube that stands beside the others, turned by `tilt` [degrees]."""
    center = (x, DROP + SIDE / 2, 0.0)
    shape = shapes.Rotated(shapes.Box(center, (SIDE, SIDE, SIDE)), tilt, axis=(1.0, 0.3, 1.0), center=center)
    return BodySettings(name=name, shape=shape, material=JELLY)


scene = Scene(
    title="Falling Jell-Os",
    simulation=SimulationSettings(
        dx=0.026, gravity=(0.0, -9.81, 0.0), transfer=PolyPIC(modes=11), elastic_cfl=0.1
    ),
    body=[cube("flat", -0.62, 0.0), cube("tilted", 0.0, 20.0), cube("on a corner", 0.6, 45.0)],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), point=(0.0, GAP, 0.0), friction=0.3, name="floor")],
    run=RunSettings(duration=1.1, fps=40.0),
    render=RenderSettings(
        color_by="body",
        camera=CameraSettings(position=(0.5, 0.65, 2.6), target=(0.0, 0.24, 0.0)),
    ),
)
