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

The small version of the tests has snow that tears more easily (`body.material.stretch=0.001`): material tears over two
or three cells, and on its coarse grid nothing would scatter otherwise.

98 000 particles, 19 000 steps; on two cores about 5 minutes.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import depth, energy, kept, momentum_error
from continua.gallery._running import SceneRun
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
from continua.validation.case import Measurement, at_least, at_most, between, reported

COST = "98 000 particles, 19 000 steps, 5 min"
SMALL = ["dx=0.1", "duration=0.125", "precision=double", "body.material.stretch=0.001"]
WRONG = [("snow that does not harden", ["body.material.hardening=0"], "height of the heap")]

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


def watch(sim: Simulation) -> dict[str, float]:
    """Depth below the ground in cells, energy [J]."""
    return {"depth": depth(sim), "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The ball is lower and has scattered (if steps are explicit), nothing was below the ground, impulses balance."""
    sim, ball = run.sim, run.sim.world.particle_bodies[0]
    height = float(np.percentile(ball.x[:, 1], 99) / (2 * RADIUS))
    scattered = float(np.mean(np.hypot(ball.x[:, 0], ball.x[:, 2]) > 1.2 * RADIUS))
    implicit = sim.world.integrator.implicit
    return [
        between("height of the heap over the diameter", height, 0.4, 0.9),
        reported("part that has scattered", scattered)
        if implicit
        else at_least("part that has scattered", scattered, 0.02),
        at_most("deepest particle below the ground [cells]", run.most("depth"), 0.5 + 1e-5),
        at_most("momentum that is not explained", momentum_error(sim, run.start), kept(sim, 1e-9)),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
    ]
