"""Sand is poured on a cushion of jelly, in 3D.

The same two materials as in sand-on-jello-2d: an elastic cushion that remembers its shape and sand that has none, both
on one grid. A round stream falls on the middle for a second.

What to look at: the heap spreads until its slope bears itself, while the cushion below it sinks in the middle and
bulges at its sides. The check takes the sand away and lets the jelly stand up again.

123 000 particles at the end, 2 450 steps; on two cores about 2 minutes.
"""

from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.gallery.sand_on_jello_2d import DOUGH, HEIGHT, JELLO, SAND, check, watch
from continua.geometry import shapes
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)

__all__ = ["check", "scene", "watch"]

COST = "123 000 particles, 2 450 steps, 2 min"
SMALL = ["dx=0.03125", "duration=1.2", "precision=double", "emitter.particles_per_cell=8"]
WRONG = [("dough for jelly", [f"body.material={DOUGH}", "dx=0.05"], "comes back")]

SIDE = 0.5  # of the cushion [m]

scene = Scene(
    title="Sand on jelly",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -9.81, 0.0), precision="single"),
    body=[
        BodySettings(
            name="jelly",
            shape=shapes.Box((0.0, HEIGHT / 2, 0.0), (SIDE, HEIGHT, SIDE)),
            material=JELLO,
        )
    ],
    emitter=[
        Emitter(
            shapes.Cylinder((-0.05, 0.46, -0.03), (-0.05, 0.54, -0.03), 0.08),
            SAND,
            velocity=(0.25, -0.8, 0.15),  # a little sideways, so that grains do not fall in files
            stop=0.9,
            particles_per_cell=27,
            name="sand",
        )
    ],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.6, name="floor")],
    run=RunSettings(duration=1.5, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.8, 0.95, 1.6), target=(0.0, 0.21, 0.0))
    ),
)
