"""Implicit time steps as minimisation problems (J15 A.2, A.8).

Every scheme here sets v_new = rate (x_new - base_position) and rate (v_new - base_velocity) = a(x_new), the
acceleration at the end of the step. With forces -dPhi/dx and drag that is where the gradient of

    E(x) = factor / 2 (x - target)^T M (x - target) + Phi(x)

vanishes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from continua.errors import SetupError
from continua.optimize.krylov import Array

Scheme = Literal["backward-euler", "trapezoid", "bdf2"]


class PointState(NamedTuple):
    """Positions [m] and velocities [m/s], (N, d), at one time."""

    x: Array
    v: Array


@dataclass(frozen=True)
class ImplicitStep:
    """One step of a scheme. Arrays (N, d)."""

    start: Array  # positions at the beginning of the step [m]
    base_position: Array  # [m]
    base_velocity: Array  # [m/s]
    rate: float  # [1/s]
    drag: float | Array = 0.0  # k [1/s], one number or (N, 1): a force -k M v_new

    @classmethod
    def of(
        cls,
        scheme: Scheme,
        dt: float,
        now: PointState,
        acceleration: Array,
        *,
        before: PointState | None = None,
        drag: float | Array = 0.0,
    ) -> ImplicitStep:
        """The step of length dt [s] from `now`.

        acceleration: M^-1 times the forces -dPhi/dx at now.x [m/s^2], without the drag. before: the motion one step of
        the same length ago, for bdf2; without it, as in the first step, bdf2 takes a step of the trapezoid rule.
        """
        if not (dt > 0 and math.isfinite(dt) and np.all(np.isfinite(drag) & (np.asarray(drag) >= 0))):
            raise SetupError(
                f"an implicit step needs dt > 0 and drag >= 0, both finite, got dt = {dt}, drag = {drag}"
            )
        x, v = now
        if scheme == "backward-euler":
            return cls(x, x, v, 1 / dt, drag)
        if scheme == "bdf2" and before is not None:
            return cls(x, (4 * x - before.x) / 3, (4 * v - before.v) / 3, 1.5 / dt, drag)
        if scheme in ("trapezoid", "bdf2"):
            half = dt / 2
            return cls(x, x + half * v, v + half * (acceleration - drag * v), 2 / dt, drag)
        raise SetupError(f'unknown implicit scheme "{scheme}", use backward-euler, trapezoid or bdf2')

    @property
    def factor(self) -> float | Array:
        """Of the mass in the Hessian [1/s^2]; with the drag in it, because that is quadratic in x as well."""
        return self.rate * (self.rate + self.drag)

    @property
    def target(self) -> Array:
        """Positions at the end if there were no forces but drag [m]."""
        return self.base_position + self.base_velocity / (self.rate + self.drag)

    def starts(self, acceleration: Array) -> list[Array]:
        """Guesses for the minimiser: no forces, constant forces (exact in free fall), no motion (bounds the energy)."""
        target = self.target
        return [target, target + acceleration / self.factor, self.start]

    def velocity(self, x: Array) -> Array:
        """Velocities at the end [m/s] for positions x there."""
        return self.rate * (x - self.base_position)
