"""Krylov solvers for symmetric systems A x = b given by products: conjugate gradients, MINRES, conjugate residuals.

All three take and give the same things, work on float64 arrays of any shape, start from x = 0 and measure the residual
|b - A x| in the Euclidean norm unless told otherwise, preconditioned or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.errors import SetupError

Array = NDArray[np.float64]
Operator = Callable[[Array], Array]
Measure = Callable[[Array], float]
Ending = Literal["tol", "negative-curvature", "max_iter", "breakdown"]


def dot(a: Array, b: Array) -> float:
    """Full contraction; the same bits for any number of threads."""
    return _core.dot(a, b)


def norm(a: Array) -> float:
    """Euclidean norm over all entries."""
    return math.sqrt(dot(a, a))


def identity(r: Array) -> Array:
    """The preconditioner that does nothing."""
    return r


@dataclass(frozen=True)
class Stopping:
    """When a solve ends: |b - A x| <= max(relative |b|, absolute), or after max_iterations products.

    stop_at_negative_curvature: end at a direction p with p.A p <= 0, with the iterate before it; with the
    preconditioned b if it is the first. With CG the result is then a descent direction of x.A x / 2 - b.x
    (J15 A.3.1). measure: the norm |.| in which all this is meant.
    """

    relative: float = 1e-8
    absolute: float = 0.0
    max_iterations: int = 1000
    stop_at_negative_curvature: bool = False
    measure: Measure = norm


STOPPING = Stopping()


@dataclass(frozen=True)
class Solution:
    """x, shaped like b, and how the solve ended; a breakdown (division by zero, not finite) keeps the last iterate."""

    x: Array
    status: Ending
    iterations: int  # products with A
    residual: float  # |b - A x| as the recurrence of the method knows it
    negative_curvature: bool  # a direction p with p.A p <= 0 was met


class Solver(Protocol):
    """operator: product with the symmetric A; precondition: product with a positive definite M^-1, close to A^-1.

    Both may return the same buffer in every call, and must not change their argument.
    """

    def __call__(
        self, operator: Operator, b: Array, precondition: Operator = ..., stopping: Stopping = ...
    ) -> Solution: ...


class _Solve:
    """What the three methods share: iterate, residual, when to stop."""

    def __init__(self, b: Array, stopping: Stopping) -> None:
        self.x = np.zeros_like(b)
        self.iterations = 0
        self.measure = stopping.measure
        self.residual = self.measure(b)
        self.negative_curvature = False
        self._stopping = stopping
        self._limit = max(stopping.relative * self.residual, stopping.absolute)

    def finished(self) -> Ending | None:
        if self.residual <= self._limit:
            return "tol"
        return "max_iter" if self.iterations >= self._stopping.max_iterations else None

    def meets(self, curvature: float, first_direction: Array) -> Ending | None:
        """Called in every iteration with a curvature p.A p: whether to stop in front of it."""
        self.iterations += 1
        if not math.isfinite(curvature):
            return "breakdown"
        if curvature > 0:
            return None
        self.negative_curvature = True
        if not self._stopping.stop_at_negative_curvature:
            return None
        if self.iterations == 1:
            self.x += first_direction
        return "negative-curvature"

    def square(self, r: Array, z: Array) -> float:
        """r.M^-1 r, given z = M^-1 r; of a tiny r it may be negative by rounding."""
        square = dot(r, z)
        if square < 0 and self.iterations == 0:
            raise SetupError("the preconditioner of a Krylov solver must be positive definite: r.M^-1 r < 0")
        return max(square, 0.0)

    def ended(self, status: Ending) -> Solution:
        return Solution(self.x, status, self.iterations, self.residual, self.negative_curvature)


def cg(
    operator: Operator, b: Array, precondition: Operator = identity, stopping: Stopping = STOPPING
) -> Solution:
    """Preconditioned conjugate gradients: for positive definite A, or with stop_at_negative_curvature."""
    solve = _Solve(b, stopping)
    r = b.copy()
    p = np.zeros_like(b)
    previous = math.inf
    while (status := solve.finished()) is None:
        z = precondition(r)
        rz = solve.square(r, z)
        _core.scale_and_add(p, rz / previous, z)
        q = operator(p)
        curvature = dot(p, q)
        if status := solve.meets(curvature, p):
            return solve.ended(status)
        if rz * curvature == 0:
            return solve.ended("breakdown")
        alpha = rz / curvature
        _core.add_multiple(solve.x, alpha, p)
        _core.add_multiple(r, -alpha, q)
        solve.residual = solve.measure(r)
        previous = rz
    return solve.ended(status)


def cr(
    operator: Operator, b: Array, precondition: Operator = identity, stopping: Stopping = STOPPING
) -> Solution:
    """Preconditioned conjugate residuals: the iterates of MINRES for definite A; may break down for others."""
    solve = _Solve(b, stopping)
    rho = b.copy()  # residual; r is the preconditioned one
    r = precondition(rho).copy()
    solve.square(rho, r)
    p, q = np.zeros_like(b), np.zeros_like(b)
    previous = math.inf
    while (status := solve.finished()) is None:
        product = operator(r)
        curvature = dot(r, product)
        if status := solve.meets(curvature, r):
            return solve.ended(status)
        for direction, new in ((p, r), (q, product)):
            _core.scale_and_add(direction, curvature / previous, new)
        z = precondition(q)
        qz = solve.square(q, z)
        if qz * curvature == 0:
            return solve.ended("breakdown")
        alpha = curvature / qz
        for changed, factor, by in ((solve.x, alpha, p), (r, -alpha, z), (rho, -alpha, q)):
            _core.add_multiple(changed, factor, by)
        solve.residual = solve.measure(rho)
        previous = curvature
    return solve.ended(status)


def minres(
    operator: Operator, b: Array, precondition: Operator = identity, stopping: Stopping = STOPPING
) -> Solution:
    """Minimal residuals of Paige and Saunders, for any symmetric A; least |b - A x| in the norm of M^-1.

    The tridiagonal matrix of the Lanczos process is triangularised by plane rotations (c, s), one per iteration.
    """
    solve = _Solve(b, stopping)
    r = b.copy()
    w, w_before = np.zeros_like(b), np.zeros_like(b)
    c, s, c_before, s_before = 1.0, 0.0, 1.0, 0.0
    z = precondition(b)
    beta = remaining = math.sqrt(solve.square(b, z))
    steps = _lanczos(operator, precondition, b.copy(), z.copy())
    while (status := solve.finished()) is None:
        v, alpha, beta_next, u_next = next(steps)
        # Column of the tridiagonal matrix (beta, alpha, beta_next) after the two rotations before this one.
        above2 = s_before * beta
        above = s * alpha + c * c_before * beta
        pivot = c * alpha - s * c_before * beta
        # The curvature along the residual so far has the sign of c * pivot.
        if status := solve.meets(c * pivot, v * beta if solve.iterations == 0 else v):
            return solve.ended(status)
        length = math.hypot(pivot, beta_next)
        if length == 0:
            return solve.ended("breakdown")
        c_before, s_before, c, s = c, s, pivot / length, beta_next / length
        w, w_before = (v - above * w - above2 * w_before) / length, w
        solve.x += (c * remaining) * w
        r *= s * s
        if beta_next > 0:
            r -= (c * s * remaining / beta_next) * u_next
        remaining *= -s
        beta = beta_next
        solve.residual = solve.measure(r)
    return solve.ended(status)


def _lanczos(
    operator: Operator, precondition: Operator, u: Array, v: Array
) -> Iterator[tuple[Array, float, float, Array]]:
    """Directions v with v_i.M v_j = delta_ij and the tridiagonal V^T A V: gives v, its diagonal entry alpha, the entry
    beta_next below it, and the not normalised u_next = beta_next M v_next. Starts from u and v = M^-1 u."""
    u_before = np.zeros_like(u)
    beta, beta_before = math.sqrt(dot(u, v)), 1.0
    while True:
        v /= beta
        u_next = operator(v) - (beta / beta_before) * u_before
        alpha = dot(v, u_next)
        u_next -= (alpha / beta) * u
        z = precondition(u_next)
        beta_next = math.sqrt(max(dot(u_next, z), 0.0))
        yield v, alpha, beta_next, u_next
        u, u_before, v, beta, beta_before = u_next, u, z.copy(), beta_next, beta


SOLVERS: dict[str, Solver] = {"cg": cg, "minres": minres, "cr": cr}
