"""A snowball hits the ground at 10 m/s and breaks apart (J15 Fig. 2.2).

A ball one metre wide, as if it had fallen from 5 m. Where it lands it is compacted and becomes hard, up to a
hundred times as stiff as fresh snow, and this sole carries the middle of the ball. The outer parts keep coming
down, spread sideways, are pulled beyond what snow can bear and scatter. The ground lets snow lift off again
(mode "separate") and holds it back by friction.

The snow is that of J15 section 3.2.2 with a smaller elastic range, which makes it more brittle: `compression=0.02`
and `stretch=0.004` instead of 0.025 and 0.0075. The particles start at random places within their cells; a perfect
lattice would break along its own planes.

What to look at: a dome remains in the middle, with a ring of loose snow around it. Try
`--set body.material.hardening=0` (a flat cake), `--set body.material.stretch=0.02` (wet snow, nothing breaks) or
`--set render.color_by=Jp` (what was compacted and what was torn).

Or try `--set integrator=optimization`: 9.6 ms per step instead of 0.34 in the small version, 28 times as long, but
nothing scatters. Backward Euler silences what rings, and what scatters is what rings: 29 % of the small ball with
explicit steps, 18 % with the minimiser at `cfl=0.02`, nothing at 0.6.

98 000 particles, 19 000 steps; on two cores about 5 minutes.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import kept
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

COST = "98 000 particles, 19 000 steps, 5 min"
SMALL = ["dx=0.1", "duration=0.125", "precision=double", "body.material.stretch=0.001"]

RADIUS = 0.5  # [m]

scene = Scene(
    title="Snowball on the ground",
    simulation=SimulationSettings(dx=0.035, gravity=(0.0, -9.81, 0.0), precision="single", elastic_cfl=0.6),
    body=[
        BodySettings(
            name="snowball",
            shape=shapes.Sphere(center=(0.0, 0.6, 0.0), radius=RADIUS),
            material=Snow(compression=0.02, stretch=0.004),
            velocity=(0.0, -10.0, 0.0),
            sampling="jittered",
        )
    ],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.5, name="ground")],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="material", camera=CameraSettings(position=(2.9, 1.8, 4.1), target=(0.0, 0.2, 0.0))
    ),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """The ball is lower and has scattered (if steps are explicit), nothing is below the ground, impulses balance."""
    ball, ground = sim.bodies[0], sim.colliders[0]
    now = sim.diagnostics()
    height = float(np.percentile(ball.x[:, 1], 99) / (2 * RADIUS))
    scattered = float(np.mean(np.hypot(ball.x[:, 0], ball.x[:, 2]) > 1.2 * RADIUS))
    depth = -float(ground.signed_distance(ball.x, sim.time)[0].min()) / sim.dx
    gained = np.array([now[f"momentum_{a}"] - start[f"momentum_{a}"] for a in "xyz"])
    weight = now["mass"] * sim.gravity * sim.time
    error = float(np.abs(gained - weight - sim.impulses.sum(axis=0)).max() / np.abs(weight).max())
    assert 0.4 < height < 0.9, f"the heap is {height:.2f} ball diameters high"
    assert scattered > 0.02 or sim.world.integrator.implicit, (
        f"only {scattered:.1%} of the snow has left the heap"
    )
    assert depth < 0.5 + 1e-6, f"snow is {depth:.2f} cells below the ground"
    assert error < kept(sim, 1e-9), f"momentum balance is off by {error:.1e}"
    return {"height": height, "scattered": scattered, "depth_cells": depth, "momentum_error": error}
