"""Backward Euler damps: a vibrating bar loses energy by the factor 1 / (1 + w^2 dt^2) per step, at any dt.

The bar of `bar`, fixed at one end, in its first mode w = pi c / (2 L), over one period 4 L / c. A step may take sound
over several cells, which no explicit step survives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from continua.contact.boundaries import FixedVelocity, Periodic
from continua.errors import InstabilityError
from continua.geometry.shapes import Box
from continua.integrators import Integrator, Optimization, SemiImplicit, Symplectic
from continua.simulation import Simulation
from continua.validation.bar import LENGTH, MATERIAL, SPEED
from continua.validation.case import Case, Measurement, at_most, near

COURANT = (0.5, 1.0, 2.0, 5.0)  # cells that sound crosses per step
FREQUENCY = np.pi / (2 * LENGTH)  # w [1/s], for c = 1 m/s
PERIOD = 4 * LENGTH  # [s]


@dataclass(frozen=True)
class Decay:
    """What one period does to the energy."""

    kept: float  # relative to the start
    law: float
    largest_gain: float  # of a step, relative to the start


def decay(courant: float, integrator: str | Integrator = "semi-implicit", cells: int = 20) -> Decay:
    """Let the bar ring for one period with steps of `courant` cells of sound; explicit ones may tear it apart."""
    h = LENGTH / cells
    sim = Simulation(h, (0, 0), integrator=integrator, dt=courant * h, force_dt=True)
    sim.add(Periodic(1, 0.0, 4 * h))
    sim.add(FixedVelocity((-1, -1), (0, 1), (0, 0)))
    sim.add(
        Box((LENGTH / 2, 2 * h), (LENGTH, 4 * h)),
        MATERIAL,
        velocity=lambda x: np.stack([SPEED * np.sin(FREQUENCY * x[:, 0]), 0 * x[:, 0]], axis=1),
    )
    steps = round(PERIOD / (courant * h))
    law = (1 + (FREQUENCY * courant * h) ** 2) ** -steps
    energy = [sim.diagnostics()["total"]]
    for _ in range(steps):
        try:
            sim.step()
        except InstabilityError:
            return Decay(np.inf, law, np.inf)
        energy.append(sim.diagnostics()["total"])
    return Decay(energy[-1] / energy[0], law, float(np.diff(energy).max() / energy[0]))


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    found = []
    schemes = (SemiImplicit(), Optimization(tolerance=1e-9))
    for scheme in schemes[:1] if quick else schemes:
        for courant in COURANT:
            bar = decay(courant, Symplectic() if wrong else scheme)
            label = f"{scheme.type}, dt = {courant:g} h/c"
            found.append(near(f"{label}: energy kept over a period", bar.kept, bar.law, 0.1))
            found.append(at_most(f"{label}: largest gain of energy in a step", bar.largest_gain, 1e-12))
    return found


CASE = Case(
    name="backward-euler",
    title="Decay of a bar under backward Euler",
    source="closed form: (1 + w^2 dt^2)^-1 per step",
    kind="closed form",
    cost="10 s",
    control="explicit steps of the same length, of which those of 2 and 5 h/c break down",
    measure=measure,
    breaks_down=True,
)
