"""A column of sand collapses: how far it runs and how high the deposit stays, and whether finer cells change that.

Half of a plane column, twice as high as the half is wide, behind a slippery wall that stands for the plane of symmetry.
"""

from __future__ import annotations

import numpy as np

from continua.bodies.points import ParticleBody
from continua.contact.colliders import Plane
from continua.geometry.shapes import Box
from continua.materials import DruckerPrager
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_most, between
from continua.validation.spread import layer_front

WIDTH, ASPECT, GRAVITY = 0.1, 2.0, 9.81  # L0 [m], [m/s^2]
FRICTION = 0.65  # shear stress over pressure, inside the sand where it shears and on the floor


def friction_angle(friction: float) -> float:
    """Angle [degrees] of the Drucker-Prager model with which plane sand shears under `friction` times its pressure.

    Sliding does not dilate, so the stress has the axes of the shear, at 45 degrees to the plane of sliding, and that
    plane carries sqrt(2) alpha times the pressure on it. The angle is that of alpha in triaxial compression.
    """
    alpha = friction / np.sqrt(2.0)
    return float(np.degrees(np.arcsin(3 * alpha / (2 * np.sqrt(2 / 3) + alpha))))


def run_out_of(body: ParticleBody) -> float:
    """(L - L0) / L0, where L is the furthest place with a deposit of a thickness of L0/50."""
    front = layer_front(body.x[:, 0], body.volume, thickness=WIDTH / 50, window=WIDTH / 10)
    return (front - WIDTH) / WIDTH


def collapse(cells: int, friction: float = FRICTION, *, E: float = 5e5, end: float = 0.8) -> ParticleBody:
    """The sand at the time `end` [s], with that many cells over the width; E in Pa."""
    sand = DruckerPrager(E=E, nu=0.3, density=1600.0, friction_angle=friction_angle(friction))
    height = ASPECT * WIDTH
    sim = Simulation(WIDTH / cells, (0.0, -GRAVITY))
    body = sim.add(Box((WIDTH / 2, height / 2), (WIDTH, height)), sand)
    sim.add(Plane((0.0, 1.0), friction=friction, name="floor"))
    sim.add(Plane((1.0, 0.0), name="wall"))
    while sim.time < end - 1e-12:
        sim.step(end - sim.time)
    return body


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    """From 40 to 80 cells, whose cells are thinner than the deposit that is measured; quick: from 20 to 40, with twice
    the gate of an error of first order."""
    cells = 20 if quick else 40
    E, end = (1e5, 0.5) if quick else (5e5, 0.8)  # [s]; flow stops after about 3 sqrt(height / g) = 0.43 s
    if wrong:
        coarse, fine = (run_out_of(collapse(n, E=E, end=end)) for n in (5, 10))
        run_out = run_out_of(collapse(cells, 1.0, E=E, end=end))
        heap = collapse(cells, 0.1, E=E, end=end)
    else:
        coarse = run_out_of(collapse(cells, E=E, end=end))
        heap = collapse(2 * cells, E=E, end=end)
        fine = run_out = run_out_of(heap)
    return [
        between("run-out over the width", run_out, 2.4, 3.6),
        at_most(
            "change of the run-out by the last halving, relative",
            abs(fine - coarse) / fine,
            0.2 if quick else 0.1,
        ).of_kind("comparison"),
        between("height of the deposit over the width", float(heap.x[:, 1].max()) / WIDTH, 0.8, 1.7),
    ]


CASE = Case(
    name="sand-column",
    title="Collapse of a column of sand, aspect ratio 2",
    source="experiments in channels, range of the literature (Lube et al. 2005 and others); half the cells",
    kind="experiment",
    cost="3 min",
    control="friction 1 for the run-out, 0.1 for the height; the halving from 5 to 10 cells, which are much thicker "
    "than the deposit that is measured",
    measure=measure,
)
