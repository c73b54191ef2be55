"""Implicit steps of masses on springs: the gates O2 to O6, O15 and O16 of the optimisation integrator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.integrate
from numpy.typing import NDArray
from spring_network import Run, Springs, body, lattice

import continua as ct
from continua.optimize import (
    Gravity,
    ImplicitStep,
    Options,
    PointState,
    StepEnergy,
    line_search,
    minimise,
    newton,
)

DT = 1 / 24
G = np.array([0.0, 0.0, -9.8])
EXACT = {"krylov_tolerance": 1e-13, "max_krylov_iterations": 3000}


def tangled(seed: int, stiffness: float = 1e5) -> Run:
    """A cube of springs with every node somewhere in the box: forces far beyond the linear range."""
    x, springs = body(3, 3, stiffness)
    rng = np.random.default_rng(seed)
    start = rng.random(x.shape) * 2
    return Run(start, rng.standard_normal(x.shape), np.ones(len(x)), [springs], Options.scaled(stiffness))


@pytest.mark.parametrize("seed", range(2))
def test_spring_derivatives_and_symmetry(seed: int) -> None:
    x, springs = body(3, 3, 7.0)
    rng = np.random.default_rng(seed)
    y, d, e = (rng.standard_normal(x.shape) for _ in range(3))
    h = 1e-6
    difference = (springs.value(y + h * d) - springs.value(y - h * d)) / (2 * h)
    assert (springs.gradient(y) * d).sum() == pytest.approx(difference, rel=1e-7)
    springs.prepare(y)
    difference = (springs.gradient(y + h * d) - springs.gradient(y - h * d)) / (2 * h)
    assert np.abs(springs.product(d) - difference).max() < 1e-7 * np.abs(difference).max()
    assert (springs.product(d) * e).sum() == pytest.approx((springs.product(e) * d).sum(), rel=1e-12)
    unit = np.zeros_like(y)
    unit[3, 1] = 1
    assert springs.diagonal()[3, 1] == pytest.approx(springs.product(unit)[3, 1], rel=1e-12)


def test_o2_gravity_as_energy_or_as_shift_of_the_target() -> None:
    """Both forms differ by a constant."""
    x, springs = body(3, 3, 1e3)
    rng = np.random.default_rng(0)
    mass = 0.5 + rng.random(len(x))
    step = ImplicitStep.of("backward-euler", DT, PointState(x, rng.standard_normal(x.shape)), 0 * x)
    shifted = replace(step, base_velocity=step.base_velocity + DT * G)
    as_energy = StepEnergy(step, mass, [springs, Gravity(mass, G)])
    as_shift = StepEnergy(shifted, mass, [springs])
    points = [x + 0.3 * rng.standard_normal(x.shape) for _ in range(20)]
    differences = [as_energy.value(y) - as_shift.value(y) for y in points]
    assert np.ptp(differences) < 1e-9 * max(abs(as_energy.value(y)) for y in points)
    gradient = as_energy.gradient(points[0])
    assert np.abs(gradient - as_shift.gradient(points[0])).max() < 1e-9 * np.abs(gradient).max()


@pytest.mark.parametrize("scheme", ["backward-euler", "trapezoid", "bdf2"])
def test_o2_free_fall_takes_no_iteration(scheme: Any) -> None:
    rng = np.random.default_rng(1)
    mass = np.geomspace(0.01, 10, 8)
    x, v = rng.standard_normal((8, 3)), rng.standard_normal((8, 3))
    run = Run(x, v, mass, [Gravity(mass, G)], Options(tolerance=1e-9))
    for n in range(1, 4):
        run.step(DT, scheme)
        if scheme == "backward-euler":
            exact = x + n * DT * v + n * (n + 1) / 2 * DT**2 * G
        else:
            exact = x + n * DT * v + (n * DT) ** 2 / 2 * G
        assert np.abs(run.now.x - exact).max() < 1e-13
        assert run.reports[-1].iterations == 0


def test_o2_guess_needs_the_inverse_mass() -> None:
    """Negative control: forces instead of accelerations are no solution of free fall."""
    mass = np.geomspace(0.01, 10, 8)
    x = np.zeros((8, 3))
    step = ImplicitStep.of("backward-euler", DT, PointState(x, x), 0 * x)
    energy = StepEnergy(step, mass, [Gravity(mass, G)])
    _, report = minimise(energy, step.starts(mass[:, None] * G), Options(tolerance=1e-9))
    assert report.iterations > 0


@pytest.mark.parametrize("krylov", ["cg", "minres"])
def test_o3_energy_never_rises_and_every_step_is_a_wolfe_step(krylov: Any, monkeypatch: Any) -> None:
    checked = []

    def search_and_check(value: Any, slope: Any, start: Any, wolfe: Any) -> line_search.Found:
        found = line_search.strong_wolfe(value, slope, start, wolfe)
        a = found.point.alpha
        again, steepness = value(a), slope(a)
        checked.append(found.satisfied)
        assert again <= start.value + 1e-4 * a * start.slope and abs(steepness) <= 0.9 * abs(start.slope)
        return found

    monkeypatch.setattr(newton, "strong_wolfe", search_and_check)
    for seed in range(2):
        run = tangled(seed)
        run.options = replace(run.options, krylov=krylov)
        run.step(DT)
        report = run.reports[0]
        energies = np.array([energy for _, energy in report.history])
        assert (np.diff(energies) <= 1e-12 * np.abs(energies[1:])).all()
        assert report.converged and report.iterations > 5
        assert report.sign_flips == 0 or krylov == "minres"
    assert len(checked) > 20 and all(checked)


def test_o3_plain_newton_goes_uphill() -> None:
    """Negative control on the same start."""
    run = tangled(0)
    run.options = replace(run.options, plain_newton=True, krylov="minres", max_iterations=100)
    run.step(DT)
    energies = [energy for _, energy in run.reports[0].history]
    assert (np.diff(energies) > 0).any()


def test_o4_step_energy_is_bounded_for_any_step_size() -> None:
    """1/2 |v_new - v_n|_M^2 + Phi_new <= 1/2 |v_n|_M^2 + Phi_n: staying where it is was among the starts."""
    for dt in (1e-3, DT, 1.0):
        run = tangled(3)
        for _ in range(2):
            v, before = run.now.v, run.kinetic() + run.potential()
            run.step(dt)
            assert 0.5 * ((run.now.v - v) ** 2).sum() + run.potential() <= before * (1 + 1e-12)
            assert run.reports[-1].converged


def spinning(dt: float) -> tuple[NDArray, float]:
    """Relative change of momentum and of angular momentum of a spinning square after 1/12 s."""
    x, springs = body(3, 2, 2e3)
    v = 3 * np.stack([-(x[:, 1] - 1), x[:, 0] - 1], axis=1) + [0.3, 0.1]
    run = Run(x, v, 1 + np.arange(9) % 2 / 3, [springs], Options(tolerance=1e-12, **EXACT))

    def momenta() -> tuple[NDArray, float]:
        p = run.mass[:, None] * run.now.v
        return p.sum(axis=0), float((run.now.x[:, 0] * p[:, 1] - run.now.x[:, 1] * p[:, 0]).sum())

    p0, l0 = momenta()
    for _ in range(round(1 / 12 / dt)):
        run.step(dt)
    p1, l1 = momenta()
    return np.abs(p1 - p0).max() / np.abs(p0).max(), abs(l1 - l0) / abs(l0)


def test_o5_momentum_is_kept_and_angular_momentum_lost_in_proportion_to_the_step() -> None:
    momentum, angular = zip(*[spinning(dt) for dt in (1 / 120, 1 / 240, 1 / 480)])
    assert max(momentum) < 1e-12
    assert angular[2] > 1e-5
    assert 0.8 < np.log2(angular[0] / angular[1]) < 1.2 and 0.8 < np.log2(angular[1] / angular[2]) < 1.2


def test_o5_momentum_drifts_with_a_loose_tolerance() -> None:
    """Negative control: what is kept is only as good as the solve."""
    x, springs = body(3, 2, 2e3)
    mass = 1 + np.arange(9.0)
    run = Run(1.1 * x, np.ones_like(x), mass, [springs], Options(tolerance=10.0))
    run.step(DT)
    assert np.abs(mass @ run.now.v / mass.sum() - 1).max() > 1e-6


def order_of_convergence(krylov_tolerance: float | None) -> float:
    """Exponent p in |g after one iteration| ~ |g before|^p, close to a solution."""
    x, springs = body(5, 3, 1e4)
    rng = np.random.default_rng(0)
    start = x + 0.05 * rng.standard_normal(x.shape)
    step = ImplicitStep.of("backward-euler", DT, PointState(start, 0 * x), 0 * x)
    energy = StepEnergy(step, np.ones(len(x)), [springs])
    solution, _ = minimise(energy, [start], Options(tolerance=1e-9, **EXACT))
    away = rng.standard_normal(x.shape)
    one = Options.scaled(1e4, tolerance=1e-12, max_iterations=1, max_krylov_iterations=3000)
    one = replace(one, krylov_tolerance=krylov_tolerance)
    histories = [
        minimise(energy, [solution + distance * away], one)[1].history
        for distance in np.geomspace(1e-5, 3e-3, 12)
    ]
    before, after = np.log([[g for g, _ in history] for history in histories]).T
    return float(np.polyfit(before, after, 1)[0])


def test_o6_orders_of_convergence() -> None:
    assert order_of_convergence(1e-13) > 1.9
    assert order_of_convergence(None) == pytest.approx(1.5, abs=0.15)
    assert order_of_convergence(0.1) == pytest.approx(1.0, abs=0.1), "a fixed tolerance is only linear"


TRIANGLE = Springs(np.array([[0, 1], [1, 2], [0, 2]]), 20.0, np.ones(3))
MASSES = np.array([1.0, 2.0, 1.5])
POSITIONS = np.array([[0.0, 0.0], [1.2, 0.0], [1.1, 1.0]])
VELOCITIES = np.array([[0.0, 0.5], [0.0, -0.5], [0.3, 0.2]])


def reference(drag: float) -> NDArray:
    """Positions and velocities (2, 3, 2) of the triangle after 1 s."""

    def rate(_: float, state: NDArray) -> NDArray:
        x, v = state.reshape(2, 3, 2)
        return np.concatenate([v, -TRIANGLE.gradient(x) / MASSES[:, None] - drag * v]).ravel()

    start = np.stack([POSITIONS, VELOCITIES]).ravel()
    end = scipy.integrate.solve_ivp(rate, (0, 1), start, method="DOP853", rtol=1e-11, atol=1e-12)
    return end.y[:, -1].reshape(2, 3, 2)


def order_of_scheme(scheme: Any, drag: float) -> float:
    exact = reference(drag)
    errors = []
    for steps in (80, 160):
        run = Run(POSITIONS, VELOCITIES, MASSES, [TRIANGLE], Options(tolerance=1e-10, krylov_tolerance=1e-12))
        for _ in range(steps):
            run.step(1 / steps, scheme, drag)
        errors.append(np.abs(np.stack(run.now) - exact).max())
    return float(np.log2(errors[0] / errors[1]))


@pytest.mark.parametrize("drag", [0.0, 2.0])
@pytest.mark.parametrize("scheme, order", [("backward-euler", 1.0), ("trapezoid", 2.0), ("bdf2", 2.0)])
def test_o15_orders_of_the_schemes(scheme: str, order: float, drag: float) -> None:
    assert order_of_scheme(scheme, drag) == pytest.approx(order, abs=0.1)


def test_o15_trapezoid_without_the_old_forces_is_of_first_order(monkeypatch: Any) -> None:
    """Negative control."""
    monkeypatch.setattr(Run, "acceleration", lambda run: np.zeros_like(run.now.x))
    assert order_of_scheme("trapezoid", 0.0) < 1.3


def test_printed_coefficients_of_the_schemes() -> None:
    """Factor of the mass, target and new velocity as in the specification."""
    rng = np.random.default_rng(5)
    x, v, a, x0, v0, y = rng.standard_normal((6, 4, 2))
    dt, now, before = 0.1, PointState(x, v), PointState(x0, v0)
    for scheme, factor, target, velocity in [
        ("backward-euler", 1 / dt**2, x + dt * v, (y - x) / dt),
        ("trapezoid", 4 / dt**2, x + dt * v + dt**2 / 4 * a, 2 * (y - x) / dt - v),
        (
            "bdf2",
            9 / (4 * dt**2),
            4 / 3 * x - x0 / 3 + 2 * dt / 3 * (4 / 3 * v - v0 / 3),
            3 / (2 * dt) * (y - 4 / 3 * x + x0 / 3),
        ),
    ]:
        step = ImplicitStep.of(scheme, dt, now, a, before=before)  # type: ignore[arg-type]
        assert step.factor == pytest.approx(factor, rel=1e-14)
        assert step.target == pytest.approx(target, rel=1e-13)
        assert step.velocity(y) == pytest.approx(velocity, rel=1e-12)


def test_drag_is_the_energy_of_the_specification() -> None:
    """Phi = k / (2 dt) |x - x_n|_M^2 beside the inertia: the same gradient."""
    rng = np.random.default_rng(6)
    x, v, y = rng.standard_normal((3, 4, 2))
    mass, dt, k = 1 + rng.random(4), 0.1, 3.0
    step = ImplicitStep.of("backward-euler", dt, PointState(x, v), 0 * x, drag=k)
    expected = mass[:, None] * ((y - x - dt * v) / dt**2 + k / dt * (y - x))
    assert StepEnergy(step, mass, []).gradient(y) == pytest.approx(expected, rel=1e-12)


def distance_between_results(rest: float) -> float:
    """Of the same step from two random guesses."""
    x, pairs = lattice(4, 2)
    step = ImplicitStep.of("backward-euler", 1.0, PointState(x, 0 * x), 0 * x)
    energy = StepEnergy(step, np.ones(len(x)), [Springs(pairs, 50.0, np.full(len(pairs), rest))])
    rng = np.random.default_rng(7)
    options = Options(tolerance=1e-10)
    guesses = [5 * rng.standard_normal(x.shape) for _ in range(2)]
    first, second = (minimise(energy, [guess], options)[0] for guess in guesses)
    return float(np.abs(first - second).max())


def test_o16_convex_energies_have_one_result() -> None:
    assert distance_between_results(rest=0.0) < 1e-8
    assert distance_between_results(rest=1.0) > 1e-2, "springs with a rest length are not convex"


def test_diagonal_preconditioner_saves_iterations_for_uneven_masses() -> None:
    x, springs = body(4, 3, 1e3)
    mass = np.geomspace(1e-3, 1e3, len(x))
    rng = np.random.default_rng(8)
    step = ImplicitStep.of("backward-euler", DT, PointState(x, rng.standard_normal(x.shape)), 0 * x)
    options = Options(tolerance=1e-4, krylov_tolerance=1e-6)
    energy = StepEnergy(step, mass, [springs])
    _, with_it = minimise(energy, [x], options)
    energy.precondition = lambda r: r  # type: ignore[method-assign]
    _, without = minimise(energy, [x], options)
    assert with_it.converged and with_it.krylov_iterations * 5 < without.krylov_iterations


def test_wrong_steps_are_explained() -> None:
    now = PointState(np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(ct.ContinuaError, match="unknown implicit scheme"):
        ImplicitStep.of("euler", DT, now, now.x)  # type: ignore[arg-type]
    for dt, drag in [(0.0, 0.0), (float("nan"), 0.0), (DT, -1.0)]:
        with pytest.raises(ct.ContinuaError, match="dt > 0 and drag >= 0"):
            ImplicitStep.of("bdf2", dt, now, now.x, drag=drag)
