"""Five plates in a row: the first one is pushed, and all of them fall.

The plates are rigid bodies. On the floor they stand and turn over at points of their surface, with Coulomb's law. Each
other they meet through the grid, every other plate in one of two continua: their impulses at nodes are equal and
opposite, so that momentum is kept to rounding and energy is only lost. At an edge the nodes have a small part of the
mass of a plate, and a step stops little of it; so steps are short while plates touch, and yet they come into each other
by 1.3 cells before they move as one. A finer grid does not help: 0.9 cells of 0.04 m, 1.3 of 0.03 m, 2.3 of 0.02 m. The
check reports gap and depth. A domino needs one blow, to which they do not matter. A tower of plates would rest on them
and slip off: stacks of rigid bodies are outside of this method.

A plate turns over once its middle is beyond its edge, at an angle of atan(thickness/height) = 14 degrees. The first one
starts with a spin about its edge that takes it there and further, (1/2) I w^2 = 4 m g (lift of its middle). Then each
must hand on enough for the next one.

What to look at: the wave runs along the row and becomes faster, and at the end the plates lean on each other like
fallen books, the last one on the floor.

40 vertices, 11 000 collision particles, 1 900 steps; on one core about a minute.
"""

import numpy as np

from continua import Simulation
from continua.bodies.rigid_body import RigidBody
from continua.bodies.velocity import Rigid
from continua.contact import colliders
from continua.continuum import Contact, Continuum
from continua.gallery._measure import energy
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.scene import (
    CameraSettings,
    RenderSettings,
    RigidSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, at_most, between, reported

COST = "40 vertices, 11 000 collision particles, 1 900 steps, 1 min"
SMALL = ["dx=0.05", "duration=1.3"]

HEIGHT, THICKNESS, WIDTH = 0.5, 0.125, 0.3  # of a plate [m]
PLATES, APART = 5, 0.3  # number, and distance from middle to middle [m]
DENSITY, G = 600.0, 9.81  # [kg/m^3], [m/s^2]
LIFT = 0.5 * (np.hypot(HEIGHT, THICKNESS) - HEIGHT)  # of the middle, to the highest [m]
INERTIA = (HEIGHT**2 + THICKNESS**2) / 3  # about an edge, over the mass [m^2]
SPIN = -float(np.sqrt(2 * 4.0 * G * LIFT / INERTIA))  # of the first one about its edge [rad/s]
TIPS = float(np.degrees(np.arctan2(THICKNESS, HEIGHT)))  # angle at which a plate turns over [degrees]

WRONG = [
    (
        "a gap wider than a plate is high",
        ["rigid.second.shape.center=[0.85, 0.25, 0.0]"],
        "least that a plate has turned",
    ),
    (
        "a push that is too weak",
        ["rigid.first.velocity.angular=[0.0, 0.0, -0.5]"],
        "least that a plate has turned",
    ),
]


def plate(number: int, name: str) -> RigidSettings:
    """One of the row; the first one turns about its lower edge on the far side."""
    x, edge = APART * number, (APART * number + THICKNESS / 2, 0.0, 0.0)
    spin = SPIN if number == 0 else 0.0
    return RigidSettings(
        name=name,
        shape=shapes.Box((x, HEIGHT / 2, 0.0), (THICKNESS, HEIGHT, WIDTH)),
        density=DENSITY,
        continuum="even" if number % 2 else "odd",
        velocity=Rigid((0.0, 0.0, 0.0), (0.0, 0.0, spin), edge),
    )


scene = Scene(
    title="Dominoes",
    simulation=SimulationSettings(dx=0.03, gravity=(0.0, -G, 0.0)),
    continuum=[Continuum("odd"), Continuum("even")],
    contact=[Contact("odd", "even", friction=0.2)],
    rigid=[plate(k, name) for k, name in enumerate(("first", "second", "third", "fourth", "fifth"))],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.6, name="floor")],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.9, 0.8, 2.6), target=(0.75, 0.2, 0.0))
    ),
)


def plates(sim: Simulation) -> list[RigidBody]:
    """From left to right."""
    return [body for body in sim.bodies if isinstance(body, RigidBody)]


def turned(body: RigidBody) -> float:
    """By how much a plate has turned clockwise about z [degrees]."""
    return float(np.degrees(-np.arctan2(body.rotation[1, 0], body.rotation[0, 0])))


def between_boxes(one: RigidBody, other: RigidBody) -> float:
    """Distance of two plates [m], seen along z, where all that happens is in the plane: negative if they overlap.

    The best of the directions across the sides of both, which is exact where they overlap and where a corner faces a
    side; two corners that face each other are farther apart than it says."""

    def corners(body: RigidBody) -> np.ndarray:
        half = 0.5 * np.array([THICKNESS, HEIGHT])
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        return body.center[:2] + (signs * half) @ body.rotation[:2, :2].T

    a, b = corners(one), corners(other)
    found = []
    for body in (one, other):
        for axis in body.rotation[:2, :2].T:
            p, q = a @ axis, b @ axis
            found.append(max(q.min() - p.max(), p.min() - q.max()))
    return float(max(found))


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J], turning of the plates [degrees], how near neighbours are [cells], depth in the floor [cells]."""
    row = plates(sim)
    near = [between_boxes(a, b) / sim.dx for a, b in zip(row[:-1], row[1:], strict=True)]
    found = {"energy": energy(sim), "least gap": min(near), "first gap": near[0]}
    found["second spin"] = abs(float(row[1].spin[2]))
    found["depth"] = -min(float(body.x[:, 1].min()) for body in row) / sim.dx
    return found


def check(run: SceneRun) -> list[Measurement]:
    """All have fallen, in order, and stay out of each other and of the floor; no energy comes from nothing."""
    row, seen = plates(run.sim), run.seen
    angles = [turned(body) for body in row]
    hit = np.flatnonzero(seen["second spin"] > 1e-3)
    gaps = [between_boxes(a, b) / run.sim.dx for a, b in zip(row[:-1], row[1:], strict=True)]
    touch = float(seen["first gap"][hit[0]]) if len(hit) else np.nan
    return [
        at_least("least that a plate has turned [degrees]", min(angles), 45.0),
        at_most("most that a plate has turned [degrees]", max(angles), 91.0),
        between("gap at the first blow [cells]", touch, -1.0, 3.0),
        at_most("deepest that plates are in each other [cells]", -run.least("least gap"), 2.0),
        at_most("deepest in the floor [cells]", run.most("depth"), 1e-2),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), 1e-3),
        reported("gap of neighbours at the end [cells]", float(np.mean(gaps))),
    ]
