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

scene = Scene(
    title="Snowball on the ground",
    simulation=SimulationSettings(dx=0.014, gravity=(0.0, -9.81, 0.0)),
    body=[
        BodySettings(
            name="snowball",
            shape=shapes.Sphere(center=(0.0, 0.25, 0.0), radius=0.2),
            material=Snow(),
            velocity=(0.0, -5.0, 0.0),
            particles_per_cell=8,
        )
    ],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), mode="separate", friction=0.5, name="ground")],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="J", camera=CameraSettings(position=(1.0, 0.6, 1.4), target=(0.0, 0.12, 0.0))
    ),
)
