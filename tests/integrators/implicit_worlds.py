"""Small worlds for implicit steps, and what is recorded of the minimisations inside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import continua as ct
from continua.bodies.points import ParticleBody
from continua.optimize import Report

H = 0.05
RUBBER = ct.materials.FixedCorotated(1e5, 0.2, 400.0)


def block_above_floor(
    integrator: object,
    material: object = RUBBER,
    *,
    speed: float = 5.0,
    mode: str = "sticky",
    **settings: Any,
) -> tuple[ct.Simulation, ParticleBody]:
    """20 x 20 particles, two cells above a floor that just covers the nodes at y = 0, falling at `speed` [m/s]."""
    sim = ct.Simulation(H, (0, -9.81), integrator=integrator, **settings)
    body = sim.add(ct.shapes.Box((0.0, 0.35), (0.5, 0.5)), material, velocity=(0, -speed))
    sim.add(ct.colliders.Plane((0, 1), mode=mode))
    return sim, body


@dataclass
class Solve:
    """One minimisation: value at rest (after projection onto the obstacles), value found, report."""

    at_rest: float
    found: float
    report: Report
