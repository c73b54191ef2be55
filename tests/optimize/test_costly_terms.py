"""Terms that are only evaluated where the others leave a chance (J15 A.3.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.optimize import ImplicitStep, Options, PointState, Report, StepEnergy, minimise


class Separable:
    """Phi = sum f(x), from f and its first two derivatives; counts how often it is evaluated."""

    def __init__(self, *derivatives) -> None:  # type: ignore[no-untyped-def]
        self._f = derivatives
        self.evaluations = 0

    def value(self, x: NDArray) -> float:
        self.evaluations += 1
        return float(self._f[0](x).sum())

    def gradient(self, x: NDArray) -> NDArray:
        return self._f[1](x)

    def prepare(self, x: NDArray, *, positive: bool = False) -> None:
        self._second = self._f[2](x)

    def product(self, dx: NDArray) -> NDArray:
        return self._second * dx

    def diagonal(self) -> NDArray:
        return self._second


def cone() -> Separable:
    """Convex with one minimum at 0, but so pointed that Newton steps from afar go much too far."""
    return Separable(
        lambda x: np.sqrt(1 + x * x) - 1,
        lambda x: x / np.sqrt(1 + x * x),
        lambda x: (1 + x * x) ** -1.5,
    )


def bowl() -> Separable:
    """Nowhere negative, with its minimum at 1."""
    return Separable(lambda x: 0.01 * (x - 1) ** 2, lambda x: 0.02 * (x - 1), lambda x: np.full_like(x, 0.02))


def one_step() -> ImplicitStep:
    now = PointState(np.linspace(2.0, 9.0, 8).reshape(4, 2), np.zeros((4, 2)))
    return ImplicitStep.of("backward-euler", 100.0, now, np.zeros((4, 2)))


def solved(shortcut: bool) -> tuple[NDArray, Report, int]:
    step, costly = one_step(), bowl()
    terms = ([cone()], [costly]) if shortcut else ([cone(), costly], [])
    energy = StepEnergy(step, np.ones(4), *terms)
    x, report = minimise(energy, [step.target.copy()], Options(tolerance=1e-10))
    return x, report, costly.evaluations


def test_the_shortcut_finds_the_same_minimum_with_fewer_evaluations() -> None:
    (x, report, few), (y, whole, many) = solved(True), solved(False)
    assert report.converged and whole.converged
    np.testing.assert_allclose(x, y, atol=1e-8)
    assert few < many
    energies = np.array([energy for _, energy in report.history])
    assert (np.diff(energies) <= 0).all()


def test_values_are_whole_where_they_are_low_and_high_where_they_are_not_whole() -> None:
    step, costly = one_step(), bowl()
    short = StepEnergy(step, np.ones(4), [cone()], [costly])
    whole = StepEnergy(step, np.ones(4), [cone()], [bowl()])
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 2))
    assert short.value(100 * x) == whole.value(100 * x)  # nothing is prepared yet
    short.prepare(x)
    here, left_out = whole.value(x), 0
    assert short.value(x) == here
    for _ in range(100):
        y = x + rng.normal(size=x.shape)
        before = costly.evaluations
        value = short.value(y)
        if costly.evaluations > before:
            assert value == whole.value(y)
        else:
            left_out += 1
            assert whole.value(y) >= value > here
    assert 10 < left_out < 90
