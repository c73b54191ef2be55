"""The snowball of 716 particles, made of every elastic and plastic model: it falls on a sticky floor at 5 m/s.

No closed form says how it lands. Whatever it is made of, momentum changes by weight and floor alone, energy is only
lost, and nothing enters the floor. A plastic model that never yields is the elastic one that it is built on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.contact.colliders import Plane
from continua.geometry.shapes import Sphere
from continua.materials import (
    DeviatoricCorotated,
    DruckerPrager,
    FixedCorotated,
    Hencky,
    HerschelBulkley,
    NeoHookean,
    OldroydB,
    QuadraticNeoHookean,
    Rankine,
    Snow,
    VonMises,
)
from continua.materials.base import NativeMaterial, lame
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_most, near

RADIUS, H, SPEED, GRAVITY = 0.15, 0.02, 5.0, 9.81  # [m], [m], [m/s], [m/s^2]
SOLID = (1.4e5, 0.2, 400.0)  # Young's modulus [Pa], Poisson's ratio, density [kg/m^3]
MODELS: tuple[NativeMaterial, ...] = (
    FixedCorotated(*SOLID),
    NeoHookean(*SOLID),
    QuadraticNeoHookean(*SOLID),
    DeviatoricCorotated(*SOLID),
    Hencky(*SOLID),
    Snow(*SOLID),
    Rankine(*SOLID, strength=2e3),
    VonMises(*SOLID, yield_stress=2e3),
    DruckerPrager(*SOLID),
    HerschelBulkley(*SOLID, yield_stress=1e3),
    OldroydB(*lame(*SOLID[:2]), SOLID[2], relaxation_time=0.05),
)
NEVER, SOON = 1e30, 1e3  # yield stresses [Pa]
COROTATED, HENCKY = BASES = FixedCorotated(*SOLID), Hencky(*SOLID)
# a plastic model that never yields, its elastic base, and the model as it is
UNYIELDING: tuple[tuple[NativeMaterial, NativeMaterial, NativeMaterial], ...] = (
    (Snow(*SOLID, 0.99, 100.0, hardening=0.0), COROTATED, Snow(*SOLID)),
    (Rankine(*SOLID, strength=NEVER), HENCKY, Rankine(*SOLID, strength=SOON)),
    (VonMises(*SOLID, yield_stress=NEVER), HENCKY, VonMises(*SOLID, yield_stress=SOON)),
    (DruckerPrager(*SOLID, cohesion=NEVER), HENCKY, DruckerPrager(*SOLID, cohesion=SOON)),
    (HerschelBulkley(*SOLID, yield_stress=NEVER), HENCKY, HerschelBulkley(*SOLID, yield_stress=SOON)),
)


@dataclass
class Landing:
    """What the ball did."""

    unexplained: float  # momentum that neither weight nor floor gave, over that of the ball
    growth: float  # largest energy less that at the start, over that of the impact
    deepest: float  # particle below the floor [cells]
    height: float  # at the end, over the diameter
    x: NDArray[np.float64]  # at the end, in the order of creation (N, 2) [m]


def drop(
    material: NativeMaterial, duration: float, *, gravity: float = GRAVITY, floor: float = 0.0, gap: float = H
) -> Landing:
    """From `gap` [m] above height 0, where the floor should be; gravity should be 9.81 m/s^2."""
    sim = Simulation(H, (0, -gravity))
    body = sim.add(Sphere((0, RADIUS + gap), RADIUS), material, velocity=(0, -SPEED))
    sim.add(Plane((0.0, 1.0), (0.0, floor), mode="sticky"))
    start, mass = sim.diagnostics(), float(body.mass.sum())

    def energy() -> float:
        row = sim.diagnostics()
        return row["kinetic"] + row["elastic"] + mass * GRAVITY * row["center_y"]

    first, growth, deepest = energy(), 0.0, 0.0
    while sim.time < duration - 1e-12:
        sim.step(duration - sim.time)
        growth = max(growth, energy() - first)
        deepest = max(deepest, -float(body.x[:, 1].min()) / H)
    given = sim.impulses[0, 1] - mass * GRAVITY * sim.time
    unexplained = sim.diagnostics()["momentum_y"] - start["momentum_y"] - given
    x = np.empty_like(body.x)
    x[body.ids] = body.x
    height = float(np.ptp(x[:, 1])) / (2 * RADIUS)
    return Landing(abs(unexplained) / (mass * SPEED), growth / start["kinetic"], deepest, height, x)


def laws(material: NativeMaterial, duration: float, wrong: bool) -> list[Measurement]:
    """What holds for every model; if wrong, gravity is 10 % larger and the floor a cell lower than is claimed."""
    fault = {"gravity": 1.1 * GRAVITY, "floor": -H} if wrong else {}
    ball = drop(material, duration, **fault)
    return [
        at_most(f"{material.label}: momentum unexplained, relative", ball.unexplained, 1e-10),
        at_most(f"{material.label}: growth of the energy, relative", ball.growth, 1e-4),
        at_most(f"{material.label}: deepest particle [cells]", ball.deepest, 0.5),
    ]


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    duration, found = 0.05 if quick else 0.3, []
    for material in MODELS:
        found += laws(material, duration, wrong)
    bases = {base.label: drop(base, 0.05) for base in BASES}
    for never, base, yields in UNYIELDING:
        one, other = drop(yields if wrong else never, 0.05), bases[base.label]
        away = float(np.linalg.norm(one.x - other.x, axis=1).max()) / RADIUS
        label = f"{never.label} that never yields: farthest from {base.label}, over the radius"
        found.append(at_most(label, away, 1e-8).of_kind("comparison"))
    if not quick:
        snow = drop(Snow(hardening=0.0 if wrong else 10.0), 0.3, gap=0.0)
        found.append(near("snow: height over the diameter", snow.height, 0.747, 0.1).of_kind("comparison"))
    return found


CASE = Case(
    name="ball-models",
    title="Ball of every elastic and plastic model falls on a sticky floor",
    source="balance of momentum and energy; elastic base of plastic models; prototype for the height of snow",
    kind="closed form",
    cost="1 min",
    control="10 % more gravity and the floor a cell lower than claimed; plastic models yield; snow does not harden",
    measure=measure,
)
