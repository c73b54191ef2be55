"""The minimiser converges from anywhere, never uphill, and says how it ended."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from simple_objectives import Functions, barrier, bowl, quadratic, rosenbrock, two_wells

import continua as ct
from continua.optimize import Options, minimise


@pytest.mark.parametrize("krylov", ["cg", "minres"])
@pytest.mark.parametrize("start", [(-1.2, 1.0), (0.0, 0.0), (5.0, -8.0)])
def test_rosenbrock(krylov: Any, start: tuple[float, float]) -> None:
    options = Options(tolerance=1e-9, krylov=krylov, krylov_tolerance=1e-2)
    x, report = minimise(rosenbrock(), [np.array(start)], options)
    assert report.converged and np.abs(x - 1).max() < 1e-8
    assert report.iterations < 60 and len(report.history) == report.iterations + 1
    energies = [energy for _, energy in report.history]
    assert all(after < before for before, after in zip(energies, energies[1:]))


def test_line_search_converges_where_plain_newton_runs_away() -> None:
    start = [np.array([1.5, -3.0])]
    x, report = minimise(bowl(), start)
    assert report.status == "tol" and np.abs(x).max() < 1e-6
    x, report = minimise(bowl(), start, Options(plain_newton=True))
    assert not report.converged and not np.abs(x).max() < 1e6


def test_plain_newton_is_newtons_method() -> None:
    x, report = minimise(bowl(), [np.array([0.5])], Options(plain_newton=True, krylov_tolerance=1e-14))
    by_hand = 0.5
    for _ in range(report.iterations):
        by_hand = -(by_hand**3)
    assert report.status == "tol" and report.line_search_evaluations == 0
    assert x[0] == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("krylov", ["cg", "minres"])
def test_negative_curvature_is_left_downhill(krylov: Any) -> None:
    x, report = minimise(two_wells(), [np.array([0.1, 2.0])], Options(krylov=krylov))
    assert report.status == "tol" and x == pytest.approx([1, 0], abs=1e-6)
    assert report.negative_curvature_count > 0
    saddle, _ = minimise(two_wells(), [np.array([0.1, 2.0])], Options(plain_newton=True, krylov="minres"))
    assert saddle == pytest.approx([0, 0], abs=1e-6), "plain Newton goes to the saddle point"


def asked_for_positive(start: tuple[float, float], **options: Any) -> list[bool]:
    """Whether negative curvature was to be left out, in every iteration on the way into a well."""
    objective, asked = two_wells(), []
    prepare = objective.prepare

    def listening(x: np.ndarray, *, positive: bool = False) -> None:
        asked.append(positive)
        prepare(x, positive=positive)

    objective.prepare = listening  # type: ignore[method-assign]
    _, report = minimise(objective, [np.array(start)], Options(**options))
    assert report.converged
    return asked


def test_negative_curvature_is_left_out_after_it_was_met() -> None:
    """Once: the iterations near the solution have the whole Hessian."""
    curved, straight = (0.5, 0.1), (0.9, 0.1)
    assert asked_for_positive(curved)[:3] == [False, True, False] and sum(asked_for_positive(curved)) == 1
    assert not any(asked_for_positive(straight))
    assert not any(asked_for_positive(curved, positive=False))
    assert all(asked_for_positive(straight, positive=True))
    assert not any(asked_for_positive(curved, positive=True, plain_newton=True, krylov="minres"))


def test_minres_directions_are_turned_around() -> None:
    """MINRES solves H dx = -g even where that leads uphill; CG has stopped before."""
    start = [np.array([0.1, 0.0])]
    _, report = minimise(two_wells(), start, Options(krylov="minres"))
    assert report.sign_flips > 0 and report.converged
    _, report = minimise(two_wells(), start)
    assert report.sign_flips == 0 and report.converged


def test_infinite_energy_is_never_entered() -> None:
    asked = []
    objective = barrier()
    inside = objective.gradient
    objective.gradient = lambda x: (asked.append(x), inside(x))[1]  # type: ignore[method-assign, assignment]
    x, report = minimise(objective, [np.array([30.0, 1e-3])], Options(tolerance=1e-9))
    assert report.converged and np.abs(x - 1).max() < 1e-8
    assert all((x > 0).all() for x in asked)


def test_best_point_in_front_of_a_wall_is_reported_with_its_own_energy() -> None:
    """The line search ends with a point that it did not evaluate last."""
    wall = Functions(
        lambda x: -float(x[0]) if x[0] < 0.3 else math.inf, lambda x: np.full(1, -1.0), lambda x: np.eye(1)
    )
    x, report = minimise(wall, [np.zeros(1)], Options(max_iterations=1))
    assert 0.2999 < x[0] < 0.3 and report.history[-1] == (1.0, -x[0])


def test_lowest_start_is_taken_and_infinite_ones_are_ignored() -> None:
    starts = [np.array([-1.0]), np.array([50.0]), np.array([1.0]), np.array([2.0])]
    x, report = minimise(barrier(), starts)
    assert report.iterations == 0 and x[0] == 1.0 and report.history == ((0.0, 1.0),)
    with pytest.raises(ct.ContinuaError, match="not finite at any start"):
        minimise(barrier(), starts[:1])
    starts[2][0] = 7.0
    assert x[0] == 1.0, "results do not share memory with the starts"


def test_a_start_may_need_less_than_the_tolerance() -> None:
    objective = quadratic(np.diag([1.0, 4.0]), np.array([1.0, 4.0]))
    near = [np.array([1.0, 1 + 1e-8])]
    assert minimise(objective, near)[1].iterations == 0
    assert minimise(objective, near, Options(start_tolerance=0.0))[1].iterations == 1


def test_status_max_iter() -> None:
    _, report = minimise(rosenbrock(), [np.array([-1.2, 1.0])], Options(max_iterations=3))
    assert report.status == "max_iter" and report.iterations == 3 and not report.converged


def test_status_noise_reaches_the_rounding_error_of_the_gradient() -> None:
    """A large constant hides the last digits of the energy; the gradient still knows the way."""
    hidden = Functions(
        lambda x: float(((x**2 - 2) ** 2).sum()) / 4 + 1e6,
        lambda x: x**3 - 2 * x,
        lambda x: np.diag(3 * x**2 - 2),
    )
    start = [np.array([2.0, 3.0])]
    x, report = minimise(hidden, start, Options(tolerance=1e-300))
    assert report.status == "noise" and np.abs(x - np.sqrt(2)).max() < 1e-15
    _, report = minimise(hidden, start, Options(tolerance=1e-12, noise=0.0))
    assert report.status == "stuck", "without the noise floor the line search looks for a decrease in vain"


def test_status_stuck_in_a_valley_shaped_kink() -> None:
    kink = Functions(
        lambda x: float(np.abs(x).sum()), lambda x: np.where(x < 0, -1.0, 1.0), lambda x: np.eye(1)
    )
    x, report = minimise(kink, [np.array([0.0])])
    assert report.status == "stuck" and report.line_search_evaluations == 41 and x[0] == 0


def test_status_stuck_when_the_gradient_is_not_finite() -> None:
    broken = Functions(lambda x: 0.0, lambda x: np.full(1, np.nan), lambda x: np.eye(1))
    assert minimise(broken, [np.zeros(1)])[1].status == "stuck"


def test_long_directions_are_cut() -> None:
    """A nearly flat parabola asks for a step of 1e6; one line search goes at most 1000 times further than the cut."""
    objective = quadratic(np.array([[1e-6]]), np.array([1.0]))
    x, _ = minimise(objective, [np.zeros(1)], Options(max_iterations=1, max_step=10.0, tolerance=1e-9))
    assert x[0] == pytest.approx(1e4, rel=1e-12)
    x, _ = minimise(objective, [np.zeros(1)], Options(max_iterations=1, max_step=1e7, tolerance=1e-9))
    assert x[0] == pytest.approx(1e6, rel=1e-12)


def test_descent_test_ignores_the_scaling_of_preconditioned_unknowns() -> None:
    """Light and heavy unknowns: the exact solution is almost orthogonal to the gradient, and still the best step."""
    weights = np.geomspace(1, 1e8, 9)
    b = np.sqrt(weights)
    exact = Options(krylov_tolerance=1e-12, max_iterations=3, tolerance=1e-4)
    _, report = minimise(quadratic(np.diag(weights), b, diagonal=weights), [np.zeros(9)], exact)
    assert report.iterations == 1 and report.gradient_fallbacks == 0 and report.krylov_iterations == 1
    _, report = minimise(quadratic(np.diag(weights), b), [np.zeros(9)], exact)
    assert report.gradient_fallbacks > 0


def test_scaled_options_make_the_path_independent_of_units() -> None:
    """E in other units: the same iterations, the same points."""
    unit = bowl()
    reports, results = [], []
    for scale in (1.0, 2.0**40):
        objective = Functions(
            lambda x, s=scale: s * unit.value(x),
            lambda x, s=scale: s * unit.gradient(x),
            lambda x, s=scale: s * unit._hessian(x),
        )
        x, report = minimise(objective, [np.array([1.5, -3.0])], Options.scaled(scale))
        reports.append(report)
        results.append(x)
    assert reports[0].iterations == reports[1].iterations
    assert (results[0] == results[1]).all()


def test_wrong_arguments_are_explained() -> None:
    with pytest.raises(ct.ContinuaError, match="tolerance"):
        Options(tolerance=-1.0)
    with pytest.raises(ct.ContinuaError, match="krylov"):
        Options(krylov="lu")  # type: ignore[arg-type]
    with pytest.raises(ct.ContinuaError, match="reference"):
        Options.scaled(0.0)
    with pytest.raises(ct.ContinuaError, match="reference"):
        Options.scaled(math.inf)
    for starts in ([], [np.zeros(2), np.zeros(3)]):
        with pytest.raises(ct.ContinuaError, match="start"):
            minimise(bowl(), starts)
