"""Eight jelly cubes tumble into a glass box, onto each other.

Every cube is a soft fixed corotated solid (J15 section 3.1.3) that starts turned and spinning. There is no collision
detection between them: all cubes write to one grid and read one velocity field back, so two cubes that come within
two cells of each other push each other apart, and they do not slide where they touch. The same picture with meshed
cubes is in J15 Fig. 3.2.

What to look at: cubes land on an edge, wobble and find a face to rest on, corners of the upper cubes sink into the
lower ones, and all cubes are cubes again when they come to rest. The box is one collider turned inside out
(`inverted=True`).

64 000 particles, 1 600 steps; on two cores about a minute.
"""

import numpy as np

from continua import Simulation
from continua.bodies.velocity import Rigid
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

COST = "64 000 particles, 1 600 steps, 1 min"
SMALL = ["dx=0.0625", "duration=1.5"]

SIDE = 0.25  # of a cube [m]
BOX = (1.1, 1.6, 0.8)  # the container [m]
JELLY = FixedCorotated(E=4e4, nu=0.35, density=1000.0)
PLACES = [(-0.2, 0.25, 0.05), (0.2, 0.3, -0.1), (0.05, 0.62, 0.12), (-0.22, 0.75, -0.12)]
PLACES += [(0.22, 0.85, 0.08), (-0.05, 1.1, 0.0), (0.2, 1.3, -0.1), (-0.22, 1.4, 0.1)]


def cube(number: int) -> BodySettings:
    """Cube of that number, turned about a direction of its own."""
    center = PLACES[number]
    axis = (np.cos(number), 0.7, np.sin(number))
    shape = shapes.Box(center, (SIDE, SIDE, SIDE))
    return BodySettings(
        name=f"cube {number + 1}",
        shape=shapes.Rotated(shape, 25.0 + 40.0 * number, axis=axis, center=center),
        material=JELLY,
        velocity=Rigid(linear=(0.0, -1.0, 0.0), angular=tuple(4.0 * a for a in axis), center=center),
    )


scene = Scene(
    title="Jelly cubes in a box",
    simulation=SimulationSettings(dx=0.025, gravity=(0.0, -9.81, 0.0)),
    body=[cube(number) for number in range(len(PLACES))],
    collider=[
        colliders.Box(center=(0.0, BOX[1] / 2, 0.0), size=BOX, inverted=True, friction=0.2, name="container")
    ],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="body",
        camera=CameraSettings(position=(2.0, 1.6, 3.6), target=(0.0, 0.72, 0.0)),
    ),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """The cubes are inside the box, have their volume, and the walls took up all the momentum that is missing."""
    now = sim.diagnostics()
    depth = (
        max(
            -float(sim.colliders[0].signed_distance(b.x, sim.time)[0].min())
            for b in sim.world.particle_bodies
        )
        / sim.dx
    )
    volume = min(float(b.J @ b.volume / b.volume.sum()) for b in sim.world.particle_bodies)
    gained = np.array([now[f"momentum_{a}"] - start[f"momentum_{a}"] for a in "xyz"])
    weight = now["mass"] * sim.gravity * sim.time
    error = float(np.abs(gained - weight - sim.impulses.sum(axis=0)).max() / np.abs(weight).max())
    assert depth <= 0.5 + 1e-9, f"a particle is {depth:.2f} cells deep in the wall"
    assert volume > 0.9, f"a cube has only {volume:.2f} of its volume"
    assert error < 1e-9, f"momentum balance is off by {error:.1e}"
    assert now["total"] < start["total"]
    return {"depth_cells": depth, "smallest_volume": volume, "momentum_error": error}
