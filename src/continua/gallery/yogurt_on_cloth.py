"""Frozen yogurt falls on a cloth of springs, which sags under it (J15 Fig. 3.1).

The cloth hangs between two bars: 30 x 30 points joined by springs along the threads, across the diagonals and over
every second point. Its points are particles of the same grid as the yogurt, so that the two meet through the nodes
they share, without a contact algorithm (J15 section 3.3); the springs pull at the points wherever they are. Yogurt is
a yield-stress fluid: it piles up where it lands and flows only where it is pressed hard enough.

What to look at: the stream coils up on the cloth, the cloth gives way and swings back, and in the end the heap lies in
a hammock. Nothing falls through. Try `--set springs.springs.stiffness=500` (it sags deeper),
`--set body.material.yield_stress=40` (yogurt runs off), `--set springs.continuum=cloth` (yogurt and cloth are two
continua, so that it does not stick to the cloth: with `--set "body.velocity=[0, -1, 0.8]"` it slides over the edge) or
`--set integrator=optimization`, where the springs no longer limit the time step.

2 900 particles, 900 vertices, 4 800 steps; on two cores about 20 s.
"""

import numpy as np

from continua import Scripted, Simulation
from continua.gallery._measure import kept
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import Cloth
from continua.materials import HerschelBulkley
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    SpringSettings,
)
from continua.validation.case import Measurement, at_most, between

COST = "2 900 particles, 900 vertices, 4 800 steps, 20 s"
SMALL = ["dx=0.0667", "springs.springs.counts=[16, 16]", "duration=0.75"]
WRONG = [
    ("springs without strength", ["springs.springs.stiffness=1.0"], "sag|below"),
    ("a cloth without bars", ["springs.scripted=[]"], "sag|below"),
]

scene = Scene(
    title="Frozen yogurt on a cloth",
    simulation=SimulationSettings(dx=0.0345, gravity=(0.0, -9.81, 0.0)),
    springs=[
        SpringSettings(
            name="cloth",
            springs=Cloth(
                counts=(30, 30), size=(1.0, 1.0), center=(0.0, 0.0, 0.0), stiffness=1500.0, bend=0.1
            ),
            density=3.0,
            scripted=[
                Scripted(shapes.Box(center=(side, 0.0, 0.0), size=(0.05, 0.1, 1.2))) for side in (-0.5, 0.5)
            ],
        )
    ],
    body=[
        BodySettings(
            name="yogurt",
            shape=shapes.Capsule(start=(0.03, 0.14, 0.02), end=(0.03, 1.0, 0.02), radius=0.07),
            material=HerschelBulkley(E=2e4, nu=0.4, density=500.0, yield_stress=250.0, consistency=80.0),
            velocity=(0.0, -1.0, 0.0),
            sampling="jittered",
        )
    ],
    run=RunSettings(duration=1.5, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.9, 0.75, 1.5), target=(0.0, -0.02, 0.0))
    ),
)


def sag(sim: Simulation) -> float:
    """How far the middle of the cloth hangs below its bars [m]."""
    cloth = sim.world.mesh_bodies[0]
    middle = np.hypot(cloth.rest[:, 0], cloth.rest[:, 2]) < 0.15
    return -float(cloth.x[middle, 1].mean())


def below(sim: Simulation) -> float:
    """How far the lowest yogurt over the cloth is below it, in cells."""
    cloth, yogurt = sim.world.mesh_bodies[0].x, sim.world.particle_bodies[0].x
    near = np.linalg.norm(cloth[None, :, ::2] - yogurt[:, None, ::2], axis=2).argmin(axis=1)
    return float((cloth[near, 1] - yogurt[:, 1]).max() / sim.dx)


def stretch(sim: Simulation) -> float:
    """Strain of the spring that is stretched most."""
    cloth = sim.world.mesh_bodies[0]
    now, rest = (
        np.linalg.norm(x[cloth.cells[:, 1]] - x[cloth.cells[:, 0]], axis=1) for x in (cloth.x, cloth.rest)
    )
    return float((now / rest).max() - 1)


def watch(sim: Simulation) -> dict[str, float]:
    """How far yogurt is below the cloth in cells, strain of the spring that is stretched most."""
    return {"below": below(sim), "stretch": stretch(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The cloth carries the yogurt, which never passes through it; bars and weight account for all momentum."""
    sim, cloth = run.sim, run.sim.world.mesh_bodies[0]
    gained = sim.diagnostics()["momentum_y"] - run.start["momentum_y"]
    weight = sim.gravity[1] * run.start["mass"] * sim.time
    return [
        at_most("lowest yogurt below the cloth [cells]", run.most("below"), 2),
        between("sag of the cloth at the end [m]", sag(sim), 0.02, 0.4),
        at_most("most stretch of a spring at the end", float(run.seen["stretch"][-1]), 0.1),
        at_most("most stretch of a spring", run.most("stretch"), 0.5),
        at_most(
            "momentum that is not explained",
            float(abs(gained - weight - cloth.pull[1]) / abs(weight)),
            kept(sim, 1e-9),
        ),
    ]
