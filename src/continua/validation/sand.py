"""A column of sand collapses: how far it runs and how high the deposit stays.

Half of a plane column, twice as high as the half is wide, behind a slippery wall that stands for the plane of symmetry.
"""

from __future__ import annotations

import numpy as np

from continua.contact.colliders import Plane
from continua.geometry.shapes import Box
from continua.materials import DruckerPrager
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, between

WIDTH, ASPECT, GRAVITY = 0.1, 2.0, 9.81  # [m], [m/s^2]


def collapse(cells: int, friction: float, *, E: float, end: float) -> tuple[float, float]:
    """Run-out (L - L0) / L0 and height of the deposit over L0, at the time `end` [s].

    `friction` is the coefficient inside the sand and on the floor.
    """
    sand = DruckerPrager(E=E, nu=0.3, density=1600.0, friction_angle=float(np.degrees(np.arctan(friction))))
    height = ASPECT * WIDTH
    sim = Simulation(WIDTH / cells, (0.0, -GRAVITY))
    body = sim.add(Box((WIDTH / 2, height / 2), (WIDTH, height)), sand)
    sim.add(Plane((0.0, 1.0), friction=friction, name="floor"))
    sim.add(Plane((1.0, 0.0), name="wall"))
    while sim.time < end - 1e-12:
        sim.step(end - sim.time)
    front = float(np.quantile(body.x[:, 0], 0.999))  # without single grains that roll on
    top = float(body.x[:, 1].max())
    return (front - WIDTH) / WIDTH, top / WIDTH


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    cells, E = (10, 1e5) if quick else (16, 5e5)
    end = 0.5 if quick else 0.8  # [s]; the flow stops after about 3 sqrt(height / g) = 0.43 s
    run_out, height = collapse(cells, 2.0 if wrong else 0.65, E=E, end=end)
    if wrong:
        height = collapse(cells, 0.1, E=E, end=end)[1]
    return [
        between("run-out over the width", run_out, 2.4, 3.6),
        between("height of the deposit over the width", height, 0.8, 1.7),
    ]


CASE = Case(
    name="sand-column",
    title="Collapse of a column of sand, aspect ratio 2",
    source="experiments in channels, range of the literature (Lube et al. 2005 and others)",
    kind="experiment",
    cost="40 s",
    control="friction 2 for the run-out, 0.1 for the height",
    measure=measure,
)
