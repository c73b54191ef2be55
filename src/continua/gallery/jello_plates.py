"""Meshed jelly cubes spin, strike glass plates and a soft block, and bounce (J15 Fig. 3.2).

The cubes are meshes of tetrahedra whose corners are particles of the grid: elastic forces come from the mesh, momentum
and contact go through the nodes (J15 section 3.3). A mesh knows its rest shape for ever, so the cubes come back to it
however often they bounce, where particles would slowly forget and tear. The block is made of particles, and nobody
told the cube that falls on it: bodies that share nodes meet.

What to look at: one cube hits an upright plate at 4 m/s and is thrown back, one lands on a raised plate, and one sinks
into the soft block and is lifted out again. Try `--set transfer=flip` (the cubes ring), `--set transfer=pic` (they
stop spinning before they land) or `--set integrator=optimization` (longer steps, less bouncing).

26 000 particles, 2 187 vertices, 950 steps; on two cores about 15 s.
"""

import numpy as np

from continua import Simulation, SolidBody
from continua.bodies.velocity import Rigid
from continua.contact import colliders
from continua.gallery._measure import depth, kept, momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import BoxMesh
from continua.materials import FixedCorotated
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    SolidSettings,
)
from continua.validation.case import Measurement, at_least, at_most, reported

COST = "26 000 particles, 2 187 vertices, 950 steps, 15 s"
SMALL = [
    "dx=0.0667",
    *(f"solid.{name}.mesh.counts=[6, 6, 6]" for name in ("left", "middle", "right")),
    "duration=0.5",
]
WRONG = [
    ("the upright plate is far away", ['collider."upright plate".center=[-9.0, 0.7, 0.0]'], "left cube"),
]

SIDE = 0.4  # of a cube [m]
JELLY = FixedCorotated(E=1.5e5, nu=0.3, density=1000.0)


def cube(name: str, center: tuple[float, float, float], velocity: Rigid) -> SolidSettings:
    """A meshed cube around `center` [m]."""
    lower, upper = (tuple(c + side * SIDE / 2 for c in center) for side in (-1, 1))
    return SolidSettings(
        name=name, mesh=BoxMesh(lower=lower, upper=upper, counts=(8, 8, 8)), material=JELLY, velocity=velocity
    )


scene = Scene(
    title="Meshed jelly cubes and glass plates",
    simulation=SimulationSettings(dx=0.05, gravity=(0.0, -9.81, 0.0)),
    solid=[
        cube("left", (-0.75, 0.9, 0.0), Rigid((-4.0, 1.0, 0.0), (0.0, 0.0, 6.0))),
        cube("middle", (0.05, 1.3, 0.05), Rigid((0.0, -2.0, 0.0), (3.0, 0.0, 4.0))),
        cube("right", (1.1, 1.0, 0.0), Rigid((0.3, 0.0, 0.0), (-2.0, 2.0, -5.0))),
    ],
    body=[
        BodySettings(
            name="block",
            shape=shapes.Box(center=(0.0, 0.25, 0.0), size=(0.9, 0.5, 0.9)),
            material=FixedCorotated(E=1e4, nu=0.3, density=1000.0),
        )
    ],
    collider=[
        colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.4, name="ground"),
        colliders.Box(center=(-1.5, 0.7, 0.0), size=(0.14, 1.4, 1.2), friction=0.2, name="upright plate"),
        colliders.Box(center=(1.25, 0.34, 0.0), size=(1.0, 0.14, 1.0), friction=0.3, name="raised plate"),
    ],
    run=RunSettings(duration=0.75, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(1.1, 1.8, 4.6), target=(-0.12, 0.58, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Smallest volume of an element of the cubes over that at rest, depth in ground and plates in cells."""
    cubes = [body for body in sim.world.mesh_bodies if isinstance(body, SolidBody)]
    return {"volume": min(float(body.J.min()) for body in cubes), "depth": depth(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """No cube ever is inside out or in a plate, the left one is thrown back, and impulses account for all momentum."""
    sim = run.sim
    back, middle = (body.v.mean(axis=0) for body in sim.world.mesh_bodies[:2])
    return [
        at_least("least volume of an element", run.least("volume"), 0.1),
        at_most("deepest vertex or particle in a plate [cells]", run.most("depth"), 0.5 + 1e-9),
        at_least("speed of the left cube, back [m/s]", float(back[0]), 0.2),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), kept(sim, 1e-9)),
        reported("speed of the middle cube [m/s]", float(np.linalg.norm(middle))),
    ]
