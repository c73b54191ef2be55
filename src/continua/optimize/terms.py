"""Energy of an implicit step as a sum of terms over the positions x (N, d) of nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.optimize.krylov import Array, Operator, dot
from continua.optimize.steps import ImplicitStep


class Term(Protocol):
    """A potential energy Phi(x) [J], defined and continuous for every x, or +inf where it is not defined."""

    def value(self, x: Array) -> float:
        """Phi(x)."""

    def gradient(self, x: Array) -> Array:
        """dPhi/dx (N, d) [N]: minus the forces."""

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        """Make ready for `product` and `diagonal` at x; `positive` leaves out negative stiffness, if the term can."""

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

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        pass

    def product(self, dx: Array) -> Array:
        return np.zeros_like(dx)

    def diagonal(self) -> Array:
        return np.zeros_like(self._weight)


class StepEnergy:
    """Objective of an implicit step: inertia and drag of masses m (N,) [kg], and potential energies.

    Preconditioned by its diagonal, without what is negative in that of the terms, or for some rows by what `inverses`
    makes of that diagonal: products with positive definite matrices, close to the inverse of the Hessian. costly: terms
    that are nowhere negative and take long to evaluate. `value` leaves them out where the others alone exceed the value
    at the prepared x: no line search goes there, however much is left out (J15 A.3.3).
    """

    def __init__(
        self,
        step: ImplicitStep,
        mass: NDArray[np.float64],
        terms: Sequence[Term],
        costly: Sequence[Term] = (),
        inverses: Callable[[Array], Sequence[tuple[slice, Operator]]] | None = None,
    ) -> None:
        self._target = step.target
        self._inertia = step.factor * mass[:, None]
        self._cheap, self._costly = terms, costly
        self._terms = [*terms, *costly]
        self._diagonal = self._inertia
        self._find_inverses, self._inverses = inverses, list[tuple[slice, Operator]]()
        self.forget()

    def forget(self) -> None:
        """A term has changed: values that were computed before no longer count."""
        self._ceiling = math.inf
        self._known = (np.full_like(self._target, math.nan), math.nan)  # the last place and the value there

    def value(self, x: Array) -> float:
        away = x - self._target
        total = 0.5 * dot(self._inertia * away, away) + sum(term.value(x) for term in self._cheap)
        if total > self._ceiling:
            return total
        total += sum(term.value(x) for term in self._costly)
        self._known = (x.copy(), total)
        return total

    @property
    def mass_matrix(self) -> Array:
        """Its part of the Hessian, with the drag (N, 1) [N/m]."""
        return self._inertia

    def inertia(self, x: Array) -> Array:
        """The part of the gradient that masses and drag add (N, d) [N]."""
        return self._inertia * (x - self._target)

    def gradient(self, x: Array) -> Array:
        total = self.inertia(x)
        for term in self._terms:
            total += term.gradient(x)
        return total

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        stiffness = np.zeros_like(x)
        for term in self._terms:
            term.prepare(x, positive=positive)
            stiffness += term.diagonal()
        if self._costly:
            self._ceiling = math.inf
            self._ceiling = self._known[1] if np.array_equal(x, self._known[0]) else self.value(x)
        self._diagonal = self._inertia + np.maximum(stiffness, 0.0)
        if self._find_inverses is not None:
            self._inverses = list(self._find_inverses(self._diagonal))

    def product(self, dx: Array) -> Array:
        total = self._inertia * dx
        for term in self._terms:
            total += term.product(dx)
        return total

    def precondition(self, r: Array) -> Array:
        z = r / self._diagonal
        for rows, inverse in self._inverses:
            z[rows] = inverse(r[rows])
        return z
