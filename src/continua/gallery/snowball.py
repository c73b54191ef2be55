"""A snowball hits the ground at 5 m/s and breaks apart.

The ball compacts where it lands, hardens there, and cracks run up from the contact. The ground keeps the snow
from sinking in, lets it lift off again and holds it back by friction.
"""

from continua.contact import colliders
from continua.geometry import shapes
from continua.materials import Snow
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)

COST = "98 000 particles, 48 frames"

SMALL = ["dx=0.1", "duration=0.5"]

scene = Scene(
    title="Snowball on the ground",
    simulation=SimulationSettings(dx=0.035, gravity=(0.0, -9.81, 0.0)),
    body=[
        BodySettings(
            name="snowball",
            shape=shapes.Sphere(center=(0.0, 0.6, 0.0), radius=0.5),
            material=Snow(compression=0.02, stretch=0.004),
            velocity=(0.0, -10.0, 0.0),
            sampling="jittered",
        )
    ],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.5, name="ground")],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="material", camera=CameraSettings(position=(2.5, 1.5, 3.5), target=(0.0, 0.25, 0.0))
    ),
)
