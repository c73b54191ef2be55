"""A soft bar with bones is folded until its sides lie on each other (after M23 Fig. 11).

Two bones inside of the bar are scripted and close like a pair of compasses; the flesh follows, and its surface meets
itself in the fold. Contact knows nothing of the bones: it moves the surface, and the inside between surface and bones
follows.

What to look at: the sides of the fold flatten against each other, from the hinge outwards, and no part of the surface
is in another one at any step, whatever the steps: try `--set dt=0.0015`.

6 219 vertices, 27 368 tetrahedra, 200 steps; on one core 50 s.
"""

import numpy as np

from continua import Simulation
from continua.bodies.scripted import Scripted
from continua.contact.motions import Keyframes
from continua.contact.penalty import ExactContact
from continua.gallery._exact import never_through, seen, solids, unexplained
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
from continua.validation.case import Measurement, at_least, at_most, reported

COST = "6 219 vertices, 200 steps, 50 s"
SMALL = ["solid.mesh.size=0.1", "dx=0.1", "duration=0.54"]
WRONG = [
    ("sides that do not feel each other", ['solid.contact={collisions="off"}'], "pass through"),
    (
        "surfaces do not feel what the inside does",
        ["solid.contact.final_velocity=printed"],
        "momentum that is not explained",
    ),
]

REACH, RADIUS = 0.6, 0.14  # from the hinge to the middle of an end, and of the bar [m]
BONE, KNEE = 0.03, 0.25  # radius of a bone, and how far it stays from the hinge [m]
ANGLE, CLOSED, STEP = 65.0, 0.5, 0.003  # that each bone turns [degrees], and when it has [s]; [s]


def bone(side: int) -> Scripted:
    """That on one side, -1 or 1, which swings up about the hinge."""
    inside = shapes.Capsule((side * KNEE, 0.0, 0.0), (side * REACH, 0.0, 0.0), BONE)
    still = (0.0, 0.0, 0.0)
    swing = Keyframes(
        [0.0, CLOSED], [still, still], [0.0, side * ANGLE], (0.0, 0.0, 1.0), still, interpolation="smooth"
    )
    return Scripted(inside, swing)


scene = Scene(
    title="A bent body",
    simulation=SimulationSettings(
        dx=0.06, gravity=(0.0, 0.0, 0.0), integrator=Optimization(tolerance=1e-11), dt=STEP, cfl=0.95
    ),
    solid=[
        SolidSettings(
            name="bar",
            mesh=ShapeMesh(shapes.Capsule((-REACH, 0.0, 0.0), (REACH, 0.0, 0.0), RADIUS), 0.036),
            material=FixedCorotated(E=5000.0, nu=0.3, density=25.0),
            damping=0.005,
            scripted=[bone(-1), bone(1)],
            contact=ExactContact(friction=0.2, augury=5),
        )
    ],
    run=RunSettings(duration=200 * STEP, fps=1 / (10 * STEP)),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.6, 0.9, 2.2), target=(0.0, 0.25, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Crossing surfaces, momenta, share of elements inside out."""
    return seen(sim)


def touching(sim: Simulation) -> float:
    """Part of the surface, by vertices, above the hinge and within a tenth of the radius of the plane of the fold."""
    (bar,) = solids(sim)
    x = bar.x[np.unique(bar.surface)]
    return float(((x[:, 1] > 0) & (np.abs(x[:, 0]) < 0.1 * RADIUS)).mean())


def beyond() -> float:
    """Part of the surface of two straight arms, folded as the bones are, that would be beyond the plane between them.

    At a distance r from the hinge that is an arc of 2 arccos(r cos(ANGLE) / RADIUS); the integral over r is elementary.
    """
    surface = 2 * np.pi * RADIUS * (2 * REACH) + 4 * np.pi * RADIUS**2
    return float(4 * RADIUS**2 / np.cos(np.radians(ANGLE)) / surface)


def check(run: SceneRun) -> list[Measurement]:
    """The surface was never in itself, though the arms press on each other; bones and nothing else pushed."""
    sim = run.sim
    now = sim.diagnostics()
    return [
        never_through(run),
        at_least("part of the surface that lies on the other arm", touching(sim), beyond() / 3),
        at_most("most elements inside out at a time, of all", run.most("inverted"), 0.01),
        at_most("momentum that is not explained, over all that was pushed", unexplained(run), 1e-8),
        reported("meetings that impulses stopped", now.get("exact_hits", 0.0)),
    ]
