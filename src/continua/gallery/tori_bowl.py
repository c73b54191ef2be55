"""Six soft tori fall into a bowl with a peg in its middle; contact of three kinds (J15 Fig. A.13).

- The bowl is a triangle mesh, known by its signed distance on a lattice only. Nothing can be projected onto it exactly,
  so it pushes vertices out by an energy that grows with the cube of their depth, and they sink in a little.
- The peg is analytic: no vertex is ever inside it.
- The tori push each other, and each itself, apart by an energy like that of the bowl.

All of it is one minimisation per step, with five steps per frame, because energies of contact act only once something
is inside and nothing should get far inside in one step. Friction is part of it: a step is solved several times,
each with the normal forces of the one before.

What to look at: the first torus is caught by the peg, the others pile up around it, tilt, and wedge themselves against
the wall. At the end all three kinds of contact are active. Try `--set solid.contact.friction=0`,
`--set solid.material.E=3e5`, or `--set solid.contact.obstacle_stiffness=1e5` (a bowl of foam, into which they sink).

1 750 vertices, 5 500 tetrahedra, 240 steps of 48 Newton iterations; on one core 3.5 minutes.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.contact.penalty import PenaltyContact
from continua.gallery._contact import clearance, newton_per_step, overlap
from continua.gallery._measure import momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import ShapeMesh
from continua.integrators import Optimization
from continua.materials import FixedCorotated
from continua.scene import (
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    SolidSettings,
)
from continua.validation.case import Measurement, at_least, at_most, between

COST = "1 750 vertices, 5 500 tetrahedra, 240 steps, 3.5 min"
SMALL = ["solid.mesh.size=0.25", "collider.bowl.resolution=32", "duration=0.542"]
WRONG = [
    ("tori do not see each other", ["solid.contact.collisions=off"], "in a torus"),
    ("a bowl of foam", ["solid.contact.obstacle_stiffness=1e5"], "in the bowl"),
]

COUNT, RADIUS, TUBE = 6, 0.4, 0.17  # of the tori [m]
HOLLOW, WALL = 1.1, 0.25  # radius of the bowl inside, and its thickness [m]
RIM = np.radians(15.0)  # how far the wall goes up beyond the middle of the sphere


def bowl(along: int = 16, around: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Closed mesh, vertices (V, 3) [m] and faces (F, 3): a profile of the wall, turned about the y axis."""
    angle = np.linspace(-np.pi / 2, RIM, along + 1)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    profile = np.concatenate([(HOLLOW + WALL) * arc[1:], HOLLOW * arc[:0:-1]])  # up outside, down inside
    turn = 2 * np.pi * np.arange(around) / around
    circle = np.column_stack([np.cos(turn), np.zeros(around), np.sin(turn)])
    rings = [r * circle + (0.0, y, 0.0) for r, y in profile]
    poles = [(0.0, -HOLLOW - WALL, 0.0), (0.0, -HOLLOW, 0.0)]
    ring = np.arange(len(rings) * around).reshape(len(rings), around)
    a, b = ring, np.roll(ring, -1, axis=1)
    lower, upper = np.full(around, ring.size), np.full(around, ring.size + 1)
    quads = [(a[:-1], a[1:], b[1:]), (a[:-1], b[1:], b[:-1])]
    caps = [(lower, a[0], b[0]), (upper, b[-1], a[-1])]
    faces = [np.column_stack([corner.ravel() for corner in corners]) for corners in (*quads, *caps)]
    return np.concatenate([*rings, poles]) + (0.0, HOLLOW + WALL, 0.0), np.concatenate(faces)


def torus(number: int) -> SolidSettings:
    """Each higher than the last, to another side and tilted in another way."""
    turn = 2.4 * number
    center = (0.25 * np.cos(turn), 1.4 + 0.7 * number, 0.25 * np.sin(turn))
    axis = (0.5 * np.sin(3 * turn), 1.0, 0.5 * np.cos(2 * turn))
    return SolidSettings(
        name=f"torus {number + 1}",
        mesh=ShapeMesh(shapes.Torus(center, RADIUS, TUBE, axis), 0.15),
        material=FixedCorotated(E=1e5, nu=0.4, density=1000.0),
        contact=PenaltyContact("all", friction=0.3),
    )


VERTICES, FACES = bowl()

scene = Scene(
    title="Tori into a bowl",
    simulation=SimulationSettings(dx=0.1, gravity=(0.0, -9.81, 0.0), dt=1 / 120, integrator=Optimization()),
    solid=[torus(number) for number in range(COUNT)],
    collider=[
        colliders.Mesh(vertices=VERTICES, faces=FACES, friction=0.3, name="bowl"),
        colliders.Capsule((0.0, WALL, 0.0), (0.0, 0.85, 0.0), 0.12, friction=0.3, name="peg"),
    ],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(1.3, 5.6, 3.4), target=(0.0, 0.9, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depths in the peg, in tori and in the bowl [m]."""
    x = np.concatenate([torus.x for torus in sim.world.mesh_bodies])
    sunk = -float(sim.colliders[0].signed_distance(x, sim.time)[0].min())
    return {"in_peg": -clearance(sim), "in_torus": overlap(sim, own_body=True), "in_bowl": sunk}


def check(run: SceneRun) -> list[Measurement]:
    """All three kinds of contact push, none of them ever gives way too far, and the impulses balance."""
    bowl_push, peg_push = (float(np.linalg.norm(push)) for push in run.sim.impulses)
    return [
        at_most("deepest vertex in the peg [m]", run.most("in_peg"), 1e-12),
        between(
            "deepest vertex in a torus, over the radius of the tube", run.most("in_torus") / TUBE, 1e-6, 0.15
        ),
        between("deepest vertex in the bowl, over its thickness", run.most("in_bowl") / WALL, 1e-6, 0.1),
        at_least("impulse of the bowl [N s]", bowl_push, 10),
        at_least("impulse of the peg [N s]", peg_push, 10),
        at_most("Newton iterations in a step", newton_per_step(run.sim), 80),
        at_most("momentum that is not explained", momentum_gap(run.sim, run.start), 1e-6),
    ]
