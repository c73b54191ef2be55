"""How far, how fast and under which pressure to drive a material when nobody says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from continua.materials.base import Material
from continua.pointtest.driving import Driven, _Point
from continua.pointtest.paths import PATHS, STEPS, Path, confined

AMOUNTS = {"shear": 1.0, "uniaxial": 0.5, "biaxial": 0.5, "triaxial": 0.1, "compress": 0.2, "relax": 0.1}
BEYOND_YIELD = 8.0  # how many times the strain of first yield is enough to see the flow
RELAXATION_TIMES = 5.0  # until a viscoelastic material is steady
EXTENSION = 0.25  # extension rate times relaxation time; from 1/2 on, Oldroyd-B stretches without bound
PRESSURE = 0.01  # of the modulus


def default_path(
    name: str,
    materials: Sequence[Driven],
    *,
    amount: float | None = None,
    rate: float | None = None,
    pressure: float | None = None,
    steps: int = STEPS,
    dimension: int = 3,
) -> Path:
    """The named path, the same for all materials; what is None is chosen so that they show what they can do.

    amount: up to well beyond yield, or five relaxation times. rate [1/s]: one, or that of the slowest relaxation.
    pressure [Pa]: confinement before the test; triaxial uses the softest modulus / 100, the others none.
    """
    if rate is None:
        rate = default_rate(name, materials)
    if amount is None:
        amount = max(default_amount(name, material, dimension) for material in materials)
    settings: dict[str, Any] = {"rate": rate, "steps": steps, "dimension": dimension}
    if name == "triaxial":
        if pressure is None:
            pressure = PRESSURE * min(material.modulus() for material in materials)
        return PATHS[name](amount, pressure=pressure, **settings)
    path = PATHS[name](amount, **settings)
    return path if pressure is None else confined(path, pressure)


def default_rate(name: str, materials: Sequence[Material]) -> float:
    """1/s, unless a material relaxes: then as fast as the slowest one does."""
    times = [relaxation_time(material) for material in materials]
    slowest = max((time for time in times if time is not None), default=None)
    if slowest is None:
        return 1.0
    return pace(name) / slowest


def pace(name: str) -> float:
    """Strain in one relaxation time."""
    return EXTENSION if name in ("uniaxial", "biaxial", "triaxial") else 1.0


def default_amount(name: str, material: Driven, dimension: int) -> float:
    """Strain that passes yield, or takes five relaxation times, or else a large one."""
    if relaxation_time(material) is not None and name not in ("compress", "relax"):
        return RELAXATION_TIMES * pace(name)
    usual = AMOUNTS[name]
    strain = yield_strain(name, material, dimension)
    return usual if strain is None else float(f"{min(usual, BEYOND_YIELD * strain):.2g}")


def relaxation_time(material: Material) -> float | None:
    """Relaxation time [s] of a viscoelastic material, None if it has none worth waiting for."""
    time = getattr(material, "relaxation_time", None)
    return float(time) if time is not None and 0 < time < 1e6 else None


def yield_strain(name: str, material: Driven, dimension: int) -> float | None:
    """Rough strain at which the material begins to flow on that path; None if it does not, or does at once."""
    point = _Point(material, dimension)
    strains = np.geomspace(1e-5, AMOUNTS[name], 60)
    for number, strain in enumerate(strains):
        trial = _deformed(name, float(strain), dimension)
        F, _ = point.project(trial, float(strain), np.zeros_like(trial))
        if point.flow(trial, F) > 1e-9 * strain:
            return float(strain) if number else None  # what flows at once has no scale of its own
    return None


def _deformed(name: str, strain: float, dimension: int) -> np.ndarray:
    """F of the path at a strain; where sides are free they contract by a third."""
    if name in ("shear", "relax"):
        F = np.eye(dimension)
        F[0, 1] = strain
        return F
    if name == "compress":
        return np.exp(-strain / dimension) * np.eye(dimension)
    sign = -1.0 if name == "triaxial" else 1.0
    stretched = 2 if name == "biaxial" else 1
    e = sign * strain * np.where(np.arange(dimension) < stretched, 1.0, -1 / 3)
    return np.diag(np.exp(e - (PRESSURE / 2 if name == "triaxial" else 0.0)))  # the latter by confinement
