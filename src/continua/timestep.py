"""Stability bounds of the explicit step and which of them decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import Body
from continua.bodies.particles import Limits
from continua.errors import TimeStepError

# Largest dt times kinematic viscosity, in cells squared; FLIP with MLS forces fails near 0.3, APIC near 0.4.
VISCOUS = 0.2


# Cells a wave may cross: the linearised step with quadratic splines fails between 0.95 and 1.21, cubic ones near 1.4.
ELASTIC_LIMIT = 1.0


@dataclass(frozen=True)
class Bound:
    """A limit on dt [s], what it comes from and which body sets it."""

    dt: float
    name: str
    body: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.body})" if self.body else self.name


def beyond_stability(elastic_cfl: float, force_dt: bool) -> str:
    """What is wrong with an elastic_cfl, or nothing."""
    if elastic_cfl <= ELASTIC_LIMIT or force_dt:
        return ""
    return (
        f"is {elastic_cfl!r}, but steps in which waves cross more than a cell are unstable: "
        f"use at most {ELASTIC_LIMIT:g}, or set force_dt to insist"
    )


def stability_bounds(bodies: Sequence[Body], dx: float, cfl: float, elastic_cfl: float) -> list[Bound]:
    """CFL: a particle crosses at most `cfl` cells; elastic: a wave crosses at most `elastic_cfl` cells;
    viscous: momentum diffuses over at most a fraction of a cell."""
    bounds = []
    for body in bodies:
        for particles in body.particle_sets():
            limits, name = particles.limits, str(body.name)
            _check_numbers(limits, body)
            if limits.speed > 0:
                bounds.append(Bound(cfl * dx / limits.speed, "cfl", name))
            if limits.wave_speed > 0:
                bounds.append(Bound(elastic_cfl * dx / limits.wave_speed, limits.wave, name))
            if limits.viscosity > 0:
                bounds.append(Bound(VISCOUS * dx**2 / limits.viscosity, "viscous", name))
    return bounds


def _check_numbers(limits: Limits, body: Body) -> None:
    """Refuse to go without a bound because a limit is not a number."""
    for what in ("speed", "wave_speed", "viscosity"):
        if np.isnan(getattr(limits, what)):
            raise TimeStepError(
                f'the {what.replace("_", " ")} of body "{body.name}" ({body.label}) is not a number, so that no time '
                "step is known to be stable; check its velocities and its deformation, which must not be inside out"
            )


def relaxation_bounds(bodies: Sequence[Body]) -> list[Bound]:
    """Stress that fades within a step is not felt, and J15 (4.13) loses positivity: dt <= the relaxation time, with any
    integrator."""
    return [
        Bound(1 / body.relaxation_rate, "relaxation", str(body.name))
        for body in bodies
        if body.relaxation_rate
    ]


def fastest(bodies: Sequence[Body]) -> float:
    """Speed of the fastest particle of some bodies [m/s]."""
    return max((p.limits.speed for body in bodies for p in body.particle_sets()), default=0.0)


def gravity_bound(gravity: NDArray[np.float64], dx: float, cfl: float) -> Bound:
    """What starts to fall crosses at most `cfl` cells of size dx [m] in the first step."""
    return Bound(float(np.sqrt(2 * cfl * dx / np.linalg.norm(gravity))), "gravity")


def strictest(bounds: Sequence[Bound]) -> Bound:
    """The smallest limit; the first of equal ones."""
    return min(bounds, key=lambda b: b.dt)


def check_fixed(dt: float, bounds: Sequence[Bound], materials: dict[str, str]) -> None:
    """Refuse a fixed dt that breaks a bound."""
    worst = strictest(bounds)
    if dt > worst.dt * (1 + 1e-12):
        what = {
            "elastic": "elastic waves would cross too much of a cell",
            "contact": "bodies that touch would get into each other",
            "viscous": "momentum would cross too much of a cell",
            "relaxation": "stress would fade before it is felt",
        }.get(worst.name, "particles would cross too much of a cell")
        owner = f' of body "{worst.body}" ({materials[worst.body]})' if worst.body else ""
        raise TimeStepError(
            f"dt = {dt:.4g} s breaks the {worst.name} bound {worst.dt:.4g} s{owner}: "
            f"{what}; use a smaller dt, leave dt out for automatic steps, or set force_dt to insist"
        )


def fit_to(remaining: float, dt: float) -> float:
    """Largest step <= dt that lands on the end of the remaining time without a tiny last step."""
    if dt * (1 + 1e-9) >= remaining:  # what rounding leaves of a fixed number of steps is no step of its own
        return remaining
    return remaining / 2 if dt > remaining / 2 else dt
