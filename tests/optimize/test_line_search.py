"""The line search finds points with both strong Wolfe conditions, also next to regions of infinite energy."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from continua.optimize.line_search import WOLFE, Found, Point, Wolfe, strong_wolfe

Function = Callable[[float], float]


def search(value: Function, slope: Function, wolfe: Wolfe = WOLFE) -> tuple[Found, list[float], list[float]]:
    """Result, and the steps at which values and slopes were asked for."""
    values: list[float] = []
    slopes: list[float] = []

    def asked_value(alpha: float) -> float:
        values.append(alpha)
        return value(alpha)

    def asked_slope(alpha: float) -> float:
        assert alpha == values[-1], "a slope is asked for only directly after its value"
        slopes.append(alpha)
        return slope(alpha)

    found = strong_wolfe(asked_value, asked_slope, Point(0.0, value(0.0), slope(0.0)), wolfe)
    assert found.evaluations == len(values)
    return found, values, slopes


def conditions(found: Found, value: Function, slope: Function) -> bool:
    a = found.point.alpha
    assert found.point.value == value(a)
    low = value(a) <= value(0) + 1e-4 * a * slope(0)
    return low and abs(slope(a)) <= 0.9 * abs(slope(0))


# (phi, phi') with very different best steps; each has phi'(0) < 0.
FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "newton": (lambda a: (a - 1) ** 2, lambda a: 2 * (a - 1)),
    "short": (lambda a: 1e8 * a * a - a, lambda a: 2e8 * a - 1),
    "very short": (lambda a: 1e24 * a * a - a, lambda a: 2e24 * a - 1),
    "long": (lambda a: 1e-2 * a * a - a, lambda a: 2e-2 * a - 1),
    "uphill at 1": (lambda a: (a - 0.51) ** 4, lambda a: 4 * (a - 0.51) ** 3),
    "flat but hardly lower at 1": (
        lambda a: -a + 1.49997 * a**2 - 0.49998 * a**3,
        lambda a: -1 + 2.99994 * a - 1.49994 * a**2,
    ),
    "quartic": (lambda a: (a - 30) ** 4, lambda a: 4 * (a - 30) ** 3),
    "wavy": (
        lambda a: 0.02 * (a - 9) ** 2 - 0.3 * math.sin(9 * a),
        lambda a: 0.04 * (a - 9) - 2.7 * math.cos(9 * a),
    ),
    "wall": (
        lambda a: -a if a < 0.013 else math.inf,
        lambda a: -1.0,
    ),
    "barrier": (
        lambda a: -a - 1e-3 * math.log(0.02 - a) if a < 0.02 else math.inf,
        lambda a: -1 + 1e-3 / (0.02 - a) if a < 0.02 else math.nan,
    ),
    "log": (lambda a: -math.log(1 + a) + a / 50, lambda a: -1 / (1 + a) + 0.02),
}


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "wall"])
def test_both_conditions_hold(name: str) -> None:
    value, slope = FUNCTIONS[name]
    found, _, _ = search(value, slope)
    assert found.satisfied and found.point.alpha > 0
    assert conditions(found, value, slope)


def test_newton_steps_cost_one_value_and_one_slope() -> None:
    found, values, slopes = search(*FUNCTIONS["newton"])
    assert found.point.alpha == 1.0 and values == [1.0] == slopes


def test_armijo_alone_would_take_too_short_a_step() -> None:
    """Negative control: the step 1 decreases "quartic" enough, and is refused for its slope."""
    value, slope = FUNCTIONS["quartic"]
    assert value(1) <= value(0) + 1e-4 * slope(0) and abs(slope(1)) > 0.9 * abs(slope(0))
    found, values, _ = search(value, slope)
    assert values[:2] == [1.0, 2.0] and found.point.alpha >= 2


def test_slopes_are_not_computed_where_the_value_is_refused() -> None:
    found, values, slopes = search(*FUNCTIONS["barrier"])
    assert all(alpha < 0.02 for alpha in slopes) and max(values) == 1.0


def test_a_wall_without_a_flat_point_gives_the_best_point_in_front_of_it() -> None:
    found, values, _ = search(*FUNCTIONS["wall"])
    assert not found.satisfied and found.point.alpha == pytest.approx(0.013, rel=1e-9)
    assert len(values) == 41  # one, and 40 to shrink the bracket


def test_not_a_number_counts_as_outside() -> None:
    value, slope = FUNCTIONS["barrier"]
    found, _, _ = search(lambda a: value(a) if a < 0.02 else math.nan, slope)
    assert found.satisfied and 0 < found.point.alpha < 0.02


def test_unbounded_descent_stops_at_the_largest_step() -> None:
    found, values, _ = search(lambda a: -a, lambda a: -1.0, Wolfe(largest=100))
    assert not found.satisfied and found.point.alpha == 100 and values == [1, 2, 4, 8, 16, 32, 64, 100]


def test_no_step_when_nothing_is_lower() -> None:
    found, _, _ = search(lambda a: abs(a), lambda a: -1.0)
    assert found.point == Point(0.0, 0.0, -1.0) and not found.satisfied


def test_a_stricter_condition_gives_a_flatter_point() -> None:
    value, slope = FUNCTIONS["log"]
    strict, _, _ = search(value, slope, Wolfe(curvature=1e-3))
    assert strict.satisfied and strict.point.alpha == pytest.approx(49, rel=0.1)
    assert abs(slope(strict.point.alpha)) <= 1e-3 * abs(slope(0))
