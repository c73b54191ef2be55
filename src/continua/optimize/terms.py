"""Energy of an implicit step as a sum of terms over the positions x (N, d) of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.optimize.krylov import Array, dot
from continua.optimize.steps import ImplicitStep


class Term(Protocol):
    """A potential energy Phi(x) [J], defined and continuous for every x, or +inf where it is not defined."""

    def value(self, x: Array) -> float:
        """Phi(x)."""

    def gradient(self, x: Array) -> Array:
        """dPhi/dx (N, d) [N]: minus the forces."""

    def prepare(self, x: Array) -> None:
        """Make ready for `product` and `diagonal` at x."""

    def product(self, dx: Array) -> Array:
        """Second derivatives at the prepared x times dx (N, d)."""

    def diagonal(self) -> Array:
        """Diagonal of the second derivatives at the prepared x (N, d), or one like it: for the preconditioner."""


class Gravity:
    """Phi = -sum m g.x, for masses m (N,) [kg] and g (d,) [m/s^2]."""

    def __init__(self, mass: NDArray[np.float64], g: ArrayLike) -> None:
        self._weight = mass[:, None] * np.asarray(g, dtype=np.float64)

    def value(self, x: Array) -> float:
        return -dot(self._weight, x)

    def gradient(self, x: Array) -> Array:
        return -self._weight

    def prepare(self, x: Array) -> None:
        pass

    def product(self, dx: Array) -> Array:
        return np.zeros_like(dx)

    def diagonal(self) -> Array:
        return np.zeros_like(self._weight)


class StepEnergy:
    """Objective of an implicit step: inertia and drag of masses m (N,) [kg], and potential energies.

    Preconditioned by its diagonal, without what is negative in that of the terms.
    """

    def __init__(self, step: ImplicitStep, mass: NDArray[np.float64], terms: Sequence[Term]) -> None:
        self._target = step.target
        self._inertia = step.factor * mass[:, None]
        self._terms = terms
        self._diagonal = self._inertia

    def value(self, x: Array) -> float:
        away = x - self._target
        return 0.5 * dot(self._inertia * away, away) + sum(term.value(x) for term in self._terms)

    def gradient(self, x: Array) -> Array:
        total = self._inertia * (x - self._target)
        for term in self._terms:
            total += term.gradient(x)
        return total

    def prepare(self, x: Array) -> None:
        stiffness = np.zeros_like(x)
        for term in self._terms:
            term.prepare(x)
            stiffness += term.diagonal()
        self._diagonal = self._inertia + np.maximum(stiffness, 0.0)

    def product(self, dx: Array) -> Array:
        total = self._inertia * dx
        for term in self._terms:
            total += term.product(dx)
        return total

    def precondition(self, r: Array) -> Array:
        return r / self._diagonal
