"""Small objectives for the tests of the minimiser, written as plain functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Functions:
    """An objective of three functions: value, gradient, Hessian matrix; preconditioned by `diagonal` if given."""

    def __init__(
        self,
        value: Callable[[Vector], float],
        gradient: Callable[[Vector], Vector],
        hessian: Callable[[Vector], Vector],
        diagonal: Vector | None = None,
    ) -> None:
        self.value, self.gradient = value, gradient
        self._hessian, self._diagonal = hessian, diagonal

    def prepare(self, x: Vector, *, positive: bool = False) -> None:
        self._matrix = self._hessian(x)
        if positive:
            values, vectors = np.linalg.eigh(self._matrix)
            self._matrix = vectors * np.maximum(values, 0.0) @ vectors.T

    def product(self, dx: Vector) -> Vector:
        return self._matrix @ dx

    def precondition(self, r: Vector) -> Vector:
        return r if self._diagonal is None else r / self._diagonal


def quadratic(matrix: Vector, b: Vector, diagonal: Vector | None = None) -> Functions:
    """x.A x / 2 - b.x."""
    return Functions(
        lambda x: float(0.5 * x @ matrix @ x - b @ x), lambda x: matrix @ x - b, lambda x: matrix, diagonal
    )


def rosenbrock() -> Functions:
    """A curved valley with its minimum at (1, 1)."""
    return Functions(
        lambda x: float((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2),
        lambda x: np.array([-2 * (1 - x[0]) - 400 * x[0] * (x[1] - x[0] ** 2), 200 * (x[1] - x[0] ** 2)]),
        lambda x: np.array([[2 - 400 * x[1] + 1200 * x[0] ** 2, -400 * x[0]], [-400 * x[0], 200.0]]),
    )


def bowl() -> Functions:
    """sqrt(1 + x^2): convex, but Newton's method overshoots more and more from |x| > 1."""
    return Functions(
        lambda x: float(np.sqrt(1 + x**2).sum()),
        lambda x: x / np.sqrt(1 + x**2),
        lambda x: np.diag((1 + x**2) ** -1.5),
    )


def barrier() -> Functions:
    """sum of x - log x: defined for x > 0 only, with its minimum at 1."""
    return Functions(
        lambda x: float((x - np.log(x)).sum()) if (x > 0).all() else np.inf,
        lambda x: 1 - 1 / x,
        lambda x: np.diag(1 / x**2),
    )


def two_wells() -> Functions:
    """(x^2 - 1)^2 / 4 + y^2 / 2: curved downwards around the origin."""
    return Functions(
        lambda x: float((x[0] ** 2 - 1) ** 2 / 4 + x[1] ** 2 / 2),
        lambda x: np.array([x[0] ** 3 - x[0], x[1]]),
        lambda x: np.diag([3 * x[0] ** 2 - 1, 1.0]),
    )
