"""A column under its own weight: the stress at height y carries what is above, sigma_yy = -density g (H - y).

The sides are periodic, so that the column is strained upright only, and PIC brings it to rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.contact.boundaries import FixedVelocity, Periodic
from continua.geometry.shapes import Box
from continua.materials import NeoHookean
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_most, near, reported

HEIGHT, GRAVITY = 1.0, 9.81
MATERIAL = NeoHookean(E=5e5, nu=0.3, density=1000.0)  # sinks by 0.7 %
WEIGHT = MATERIAL.density * GRAVITY * HEIGHT  # stress at the bottom [Pa]


@dataclass
class Profile:
    """Distance from the top (N,) [m] of the undeformed column, and stress sigma_yy (N,) [Pa] at rest."""

    above: NDArray[np.float64]
    stress: NDArray[np.float64]

    @property
    def error(self) -> NDArray[np.float64]:
        """Distance from the exact line, over the stress at the bottom (N,)."""
        return (self.stress + WEIGHT * self.above / HEIGHT) / WEIGHT

    @property
    def middle(self) -> NDArray[np.bool_]:
        """The half of the column away from wall and free end."""
        return np.abs(self.above / HEIGHT - 0.5) < 0.25


def settle(cells: int, gravity: float) -> Profile:
    """Start without stress and wait; PIC takes a part of the energy per oscillation that is proportional to dx."""
    h = HEIGHT / cells
    sim = Simulation(h, (0.0, -gravity), transfer="pic")
    sim.add(Periodic(0, 0.0, 4 * h))
    sim.add(FixedVelocity((-1, -1), (1, 0), (0, 0)))
    body = sim.add(Box((2 * h, HEIGHT / 2), (4 * h, HEIGHT)), MATERIAL)
    above = HEIGHT - body.x[:, 1]
    end = 2.5 * cells * 4 * HEIGHT / MATERIAL.wave_speed()
    while sim.time < end:
        sim.step()
    sigma = (MATERIAL.stress(body.F) @ body.F.transpose(0, 2, 1))[:, 1, 1] / body.J
    return Profile(above[body.ids], sigma)


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    profile = settle(12 if quick else 24, 1.1 * GRAVITY if wrong else GRAVITY)
    middle = profile.middle
    slope, offset = np.polyfit(profile.above[middle], profile.stress[middle], 1)
    largest = float(np.abs(profile.error[middle]).max())
    return [
        near("stress at the bottom, from the middle half [Pa]", slope * HEIGHT + offset, -WEIGHT, 0.01),
        at_most("largest error in the middle half, over the weight", largest, 0.02),
        reported("RMS error of the whole column, over the weight", float(np.sqrt(np.mean(profile.error**2)))),
    ]


CASE = Case(
    name="column",
    title="Elastic column under its own weight",
    source="balance of forces, closed form",
    kind="closed form",
    cost="10 s",
    control="10 % more gravity",
    measure=measure,
)
