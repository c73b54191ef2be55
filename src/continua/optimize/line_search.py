"""Line search for the strong Wolfe conditions (J15 A.3.1; Nocedal and Wright, Numerical Optimization, section 3.5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_MARGIN = 0.1  # part of a bracket, at both ends, where no trial is made


@dataclass(frozen=True)
class Wolfe:
    """Conditions on a step alpha along phi, with phi'(0) < 0, and limits of the search for it.

    decrease: phi(alpha) <= phi(0) + decrease alpha phi'(0);
    curvature: |phi'(alpha)| <= curvature |phi'(0)|.
    """

    decrease: float = 1e-4
    curvature: float = 0.9
    largest: float = 1e3
    max_zoom_evaluations: int = 40


WOLFE = Wolfe()


@dataclass(frozen=True)
class Point:
    """A step alpha with phi(alpha) and phi'(alpha); the slope is not computed (nan) where phi is too high."""

    alpha: float
    value: float
    slope: float = math.nan


@dataclass(frozen=True)
class Found:
    """The accepted point, alpha = 0 if no step lowers phi; whether it satisfies both conditions; values computed."""

    point: Point
    satisfied: bool
    evaluations: int


def strong_wolfe(
    value: Callable[[float], float],
    slope: Callable[[float], float],
    start: Point,
    wolfe: Wolfe = WOLFE,
) -> Found:
    """Search phi given by value(alpha) and slope(alpha) from start (alpha = 0), trying alpha = 1 first.

    phi may be +inf (or nan) where the step leaves the domain. slope(alpha) is asked directly after value(alpha), and
    only where phi has decreased enough. Never returns a point above the start.
    """
    return _Search(value, slope, start, wolfe).run()


class _Search:
    def __init__(
        self,
        value: Callable[[float], float],
        slope: Callable[[float], float],
        start: Point,
        wolfe: Wolfe,
    ) -> None:
        self._value, self._slope = value, slope
        self._start, self._wolfe = start, wolfe
        self._evaluations = 0

    def run(self) -> Found:
        """Double alpha until the conditions hold or a bracket [lo, hi] around such a point is known."""
        lo, alpha = self._start, 1.0
        while True:
            trial = self._evaluate(alpha, lo)
            if math.isnan(trial.slope):
                return self._zoom(lo, trial)
            if self._flat(trial):
                return Found(trial, True, self._evaluations)
            if trial.slope >= 0:
                return self._zoom(trial, lo)
            if alpha >= self._wolfe.largest:
                return Found(trial, False, self._evaluations)
            lo, alpha = trial, min(2 * alpha, self._wolfe.largest)

    def _zoom(self, lo: Point, hi: Point) -> Found:
        """Shrink the bracket. lo: the lowest point so far, it decreases enough; phi goes down from lo towards hi."""
        for _ in range(self._wolfe.max_zoom_evaluations):
            trial = self._evaluate(_between(lo, hi), lo)
            if math.isnan(trial.slope):
                hi = trial
                continue
            if self._flat(trial):
                return Found(trial, True, self._evaluations)
            if trial.slope * (hi.alpha - lo.alpha) >= 0:
                hi = lo
            lo = trial
        return Found(lo, False, self._evaluations)

    def _evaluate(self, alpha: float, lowest: Point) -> Point:
        """phi, and its slope if phi decreases enough and is below the lowest point so far."""
        value = self._value(alpha)
        self._evaluations += 1
        limit = self._start.value + self._wolfe.decrease * alpha * self._start.slope
        if not (value <= limit and value < lowest.value):
            return Point(alpha, value)
        return Point(alpha, value, self._slope(alpha))

    def _flat(self, point: Point) -> bool:
        return abs(point.slope) <= self._wolfe.curvature * abs(self._start.slope)


def _between(lo: Point, hi: Point) -> float:
    """Minimum of the parabola through phi(lo), phi'(lo) and phi(hi), kept off the ends; the middle if there is none."""
    width = hi.alpha - lo.alpha
    bend = hi.value - lo.value - lo.slope * width
    part = -0.5 * lo.slope * width / bend if 0 < bend < math.inf else 0.5
    return lo.alpha + min(max(part, _MARGIN), 1 - _MARGIN) * width
