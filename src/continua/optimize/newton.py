"""Minimise a smooth function that need not be convex: Newton steps by Krylov solves, with a line search (J15 A.3.1).

Goes downhill from any start where the energy is finite, so that an implicit time step written as a minimum can be as
long as a frame; how many iterations that takes is another question, and saddle points of symmetric problems hold it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, Protocol

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass as checked_dataclass

from continua._model import CONFIG, NonNegative, Positive
from continua._validation import raises
from continua.errors import InstabilityError, SetupError
from continua.optimize.constraints import Constraint, Unconstrained
from continua.optimize.krylov import SOLVERS, Array, Measure, Stopping, dot, norm
from continua.optimize.line_search import WOLFE, Point, Wolfe, strong_wolfe

Status = Literal["tol", "noise", "max_iter", "stuck"]
Count = Annotated[int, Field(ge=0)]


class Objective(Protocol):
    """A function E of an array x (positions or velocities) with its gradient and Hessian H."""

    def value(self, x: Array) -> float:
        """E(x); +inf outside the domain."""

    def gradient(self, x: Array) -> Array:
        """Gradient at x, a new array in every call; asked where value(x) is finite, directly after it."""

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        """Make ready for products at x, once per Newton iteration; `positive` asks for an H without its negative
        curvature, as far as that is easily left out."""

    def product(self, dx: Array) -> Array:
        """H dx at the prepared x; the same buffer may be returned in every call."""

    def precondition(self, r: Array) -> Array:
        """M^-1 r with M positive definite and like H at the prepared x; r itself if there is nothing better."""


@raises(SetupError)
@checked_dataclass(config=CONFIG, frozen=True)
class Options:
    """How to minimise. The gradient has units, so `tolerance` and `forcing` should come from `Options.scaled`."""

    tolerance: Positive = Field(default=1e-6, description="tau: done when |gradient| is below")
    forcing: Positive = Field(
        default=1.0,
        description="sigma: relative tolerance of a Krylov solve is min(1/2, sigma sqrt|gradient|)",
    )
    krylov: Literal["cg", "minres", "cr"] = Field(
        default="cg",
        description="cg stops at negative curvature; minres and cr go on and may turn their result around",
    )
    krylov_tolerance: Positive | None = Field(
        default=None, description="fixed relative tolerance of the Krylov solves in place of the adaptive one"
    )
    positive: bool | None = Field(
        default=None,
        description="whether iterations go without negative curvature; None: only those after one that met some",
    )
    max_krylov_iterations: Annotated[int, Field(ge=1)] = 1000
    max_iterations: Count = 500
    start_tolerance: NonNegative | None = Field(
        default=None,
        description="a start whose |gradient| is not below takes at least one iteration; None: as `tolerance`",
    )
    max_step: Positive = Field(default=1e3, description="Newton directions are cut to this length")
    descent: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=1e-2, description="kappa: smallest cosine between a direction and the negative gradient"
    )
    noise: NonNegative = Field(default=1e-14, description="relative rounding error of the energy")
    plain_newton: bool = Field(
        default=False, description="full steps, no safeguards: the textbook method, for comparison"
    )
    wolfe: Wolfe = WOLFE

    @classmethod
    def scaled(cls, reference: float, **others: Any) -> Options:
        """Options for gradients of the size of `reference`: Young's modulus times an area, or a weight [N]."""
        if not (reference > 0 and math.isfinite(reference)):
            raise SetupError(f"Options.scaled: reference must be positive and finite, got {reference!r}")
        return cls(**({"tolerance": 1e-6 * reference, "forcing": reference**-0.5} | others))


@dataclass(frozen=True)
class Report:
    """How a minimisation went. history: (|gradient|, E) at the start and after every iteration.

    status: "tol" gradient below the tolerance; "noise" at the rounding error of the energy; "max_iter" no iterations
    left; "stuck" no step along the last direction lowers E, or the gradient is not finite.
    """

    status: Status
    iterations: int
    krylov_iterations: int
    negative_curvature_count: int  # Krylov solves that met it
    gradient_fallbacks: int  # directions replaced by the (preconditioned) negative gradient
    sign_flips: int  # directions turned around
    line_search_evaluations: int  # values computed by line searches
    history: tuple[tuple[float, float], ...] = field(repr=False)

    @property
    def converged(self) -> bool:
        """Whether the result is as good as asked for, or as good as rounding allows."""
        return self.status in ("tol", "noise")


DEFAULT = Options()


def minimise(
    objective: Objective,
    starts: Sequence[Array],
    options: Options = DEFAULT,
    constraint: Constraint | None = None,
    measure: Measure = norm,
) -> tuple[Array, Report]:
    """Local minimum of the objective from the start with the lowest value; E never increases beyond its noise.

    starts: arrays of one shape, projected onto the constraint first. measure: the norm of gradients and residuals,
    for unknowns that belong to things of very different size.
    """
    if not starts or any(x.shape != starts[0].shape for x in starts):
        raise SetupError("minimise needs at least one start, and all of the same shape")
    newton = _Newton(objective, options, constraint or Unconstrained(), measure)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is rejected, or ends as "stuck"
        return newton.run([np.array(x, dtype=np.float64) for x in starts])


class _State(NamedTuple):
    x: Array
    energy: float
    gradient: Array  # without the constraint


class _Newton:
    def __init__(
        self, objective: Objective, options: Options, constraint: Constraint, measure: Measure
    ) -> None:
        self._objective, self._options, self._constraint = objective, options, constraint
        self._measure = measure
        self._history: list[tuple[float, float]] = []
        self._krylov_iterations = self._negative_curvature_count = 0
        self._met_negative_curvature = False  # in the last iteration
        self._gradient_fallbacks = self._sign_flips = self._evaluations = 0

    def run(self, starts: Sequence[Array]) -> tuple[Array, Report]:
        state = self._lowest([self._constraint.project(x) for x in starts])
        while True:
            g = self._reduced_gradient(state)
            self._history.append((self._measure(g), state.energy))
            if status := self._finished():
                break
            dx = self._direction(state.x, g)
            moved = self._move(state, g, dx)
            if not isinstance(moved, _State):
                status = "tol" if self._history[-1][0] < self._options.tolerance else moved
                break
            state = moved
        return state.x, self._report(status)

    def _lowest(self, starts: Sequence[Array]) -> _State:
        values = [self._objective.value(x) for x in starts]
        energy, k = min((math.inf if math.isnan(value) else value, k) for k, value in enumerate(values))
        if math.isinf(energy):
            raise InstabilityError(
                "the energy is not finite at any start of the minimisation; use a smaller time step"
            )
        return _State(starts[k], energy, self._objective.gradient(starts[k]))

    def _reduced_gradient(self, state: _State) -> Array:
        self._constraint.register_active(state.x, state.gradient)
        return self._constraint.reduce_gradient(state.gradient)

    def _finished(self) -> Status | None:
        size, _ = self._history[-1]
        iterations = len(self._history) - 1
        enough = self._options.tolerance
        if iterations == 0 and self._options.start_tolerance is not None:
            enough = min(enough, self._options.start_tolerance)
        if size == 0 or size < enough:
            return "tol"
        if not math.isfinite(size):
            return "stuck"
        return "max_iter" if iterations >= self._options.max_iterations else None

    def _direction(self, x: Array, g: Array) -> Array:
        """Newton direction at x, made a descent direction and cut to length."""
        options, plain = self._options, self._options.plain_newton
        size, _ = self._history[-1]
        adaptive = min(0.5, options.forcing * math.sqrt(max(size, options.tolerance)))
        stopping = Stopping(
            relative=options.krylov_tolerance or adaptive,
            max_iterations=options.max_krylov_iterations,
            stop_at_negative_curvature=options.krylov == "cg" and not plain,
            measure=self._measure,
        )
        self._objective.prepare(x, positive=self._leaves_out_negative_curvature())
        solution = SOLVERS[options.krylov](self._product, -g, self._precondition, stopping)
        self._krylov_iterations += solution.iterations
        self._met_negative_curvature = solution.negative_curvature
        self._negative_curvature_count += solution.negative_curvature
        if plain:
            return solution.x
        dx = self._descending(solution.x, g)
        length = norm(dx)
        return dx if length <= options.max_step else dx * (options.max_step / length)

    def _leaves_out_negative_curvature(self) -> bool:
        """CG stops at negative curvature, with a short direction. If the next iteration leaves that curvature out, CG
        goes on to the end. The one after it has all of H again, to converge fast."""
        if self._options.plain_newton:
            return False
        chosen = self._options.positive
        return self._met_negative_curvature if chosen is None else chosen

    def _product(self, dx: Array) -> Array:
        return self._constraint.reduce_product(self._objective.product(dx), dx)

    def _precondition(self, r: Array) -> Array:
        return self._constraint.reduce_gradient(self._objective.precondition(r))

    def _descending(self, dx: Array, g: Array) -> Array:
        """dx or -dx, whichever is steep enough compared to the preconditioned gradient, else the latter downhill.

        Without a preconditioner this is the angle test of J15 A.3.1; with one it ignores the scaling of the unknowns.
        """
        z = self._precondition(g)
        slope = dot(g, dx)
        needed = self._options.descent * dot(g, z) / norm(z) * norm(dx)
        if slope < -needed:
            return dx
        if slope > needed:
            self._sign_flips += 1
            return -dx
        self._gradient_fallbacks += 1
        return -z

    def _move(self, state: _State, g: Array, dx: Array) -> _State | Status:
        """The next state, or why there is none."""
        if self._options.plain_newton:
            return self._full_step(state.x, dx)
        slope = dot(g, dx)
        if -slope < self._options.noise * abs(state.energy):
            return self._polish(state, dx)
        ray = _Ray(self._objective, self._constraint, state.x, dx)
        start = Point(0.0, state.energy, slope)
        found = strong_wolfe(ray.value, ray.slope, start, self._options.wolfe)
        self._evaluations += found.evaluations
        return "stuck" if found.point.alpha == 0 else ray.state(found.point)

    def _polish(self, state: _State, dx: Array) -> _State | Status:
        """Where the energy can no longer rank points: the full step, if it still lowers the gradient noticeably."""
        size, _ = self._history[-1]
        moved = self._full_step(state.x, dx)
        if math.isfinite(moved.energy) and self._measure(self._reduced_gradient(moved)) < 0.9 * size:
            return moved
        self._constraint.register_active(state.x, state.gradient)
        return "noise"

    def _full_step(self, x: Array, dx: Array) -> _State:
        y, _ = self._constraint.path(x, dx, 1.0)
        return _State(y, self._objective.value(y), self._objective.gradient(y))

    def _report(self, status: Status) -> Report:
        return Report(
            status=status,
            iterations=len(self._history) - 1,
            krylov_iterations=self._krylov_iterations,
            negative_curvature_count=self._negative_curvature_count,
            gradient_fallbacks=self._gradient_fallbacks,
            sign_flips=self._sign_flips,
            line_search_evaluations=self._evaluations,
            history=tuple(self._history),
        )


class _Ray:
    """The objective along a path; remembers the last point, which is mostly the accepted one."""

    def __init__(self, objective: Objective, constraint: Constraint, x: Array, dx: Array) -> None:
        self._objective, self._constraint = objective, constraint
        self._x, self._dx = x, dx
        self._alpha = math.nan

    def value(self, alpha: float) -> float:
        self._alpha = alpha
        self._y, self._dy = self._constraint.path(self._x, self._dx, alpha)
        return self._objective.value(self._y)

    def slope(self, alpha: float) -> float:
        """Directly after value(alpha)."""
        self._gradient = self._objective.gradient(self._y)
        return dot(self._gradient, self._dy)

    def state(self, point: Point) -> _State:
        if point.alpha != self._alpha:
            self.value(point.alpha)
            self.slope(point.alpha)
        return _State(self._y, point.value, self._gradient)
