"""The kernels under the minimiser: one backward Euler step of a body on the grid. O4, O5 of the optimization spec."""

from __future__ import annotations

import numpy as np
import pytest
from implicit_driver import CASES, FIXED, Case, H, ImplicitDriver, strained

from continua.optimize.newton import Options, minimise


class StepEnergy:
    """E(v) = sum m |v - v_n|^2 / 2 + Phi(v) on the nodes with mass; the others rest."""

    def __init__(self, at: ImplicitDriver, *, stale: bool = False) -> None:
        self.at, self.stale = at, stale
        mass, momentum = at.driver.scatter()
        self.active = (mass > 1e-10 * at.body.mass.mean())[:, None]
        self.mass = mass[:, None] * self.active
        self.start = np.where(self.active, momentum / np.where(self.active, mass[:, None], 1), 0.0)
        self.diagonal = np.where(self.active, self.mass + at.diagonal(), 1.0)

    def value(self, v: np.ndarray) -> float:
        return 0.5 * float((self.mass * (v - self.start) ** 2).sum()) + self.at.energy(v)

    def gradient(self, v: np.ndarray) -> np.ndarray:
        return self.mass * (v - self.start) + self.active * self.at.forces(v)

    def prepare(self, v: np.ndarray, *, positive: bool = False) -> None:
        self.tangents = self.at.prepare(0 * v if self.stale else v, positive=positive)

    def product(self, u: np.ndarray) -> np.ndarray:
        return self.mass * u + self.active * self.at.product(self.tangents, u)

    def precondition(self, r: np.ndarray) -> np.ndarray:
        return r / self.diagonal


def moving(case: Case, d: int, courant: float) -> ImplicitDriver:
    at = strained(case, d, "quadratic", n=200, amount=0.1)
    at.body.v[:] = np.random.default_rng(1).normal(size=at.body.v.shape) + np.arange(1, d + 1)
    return ImplicitDriver(at.driver, at.parameters, dt=courant * H / case.material.wave_speed())


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("case", [FIXED, CASES[1], CASES[4], CASES[5]], ids=lambda case: case.name)
def test_a_step_loses_energy_and_keeps_momentum(case: Case, d: int) -> None:
    at = moving(case, d, courant=5.0)
    step = StepEnergy(at)
    momentum = (step.mass * step.start).sum(axis=0)
    tolerance = 1e-9 * float(np.abs(step.mass * step.start).sum())
    v, report = minimise(
        step, [step.start, 0 * step.start], Options(tolerance=tolerance, krylov_tolerance=1e-6)
    )
    assert report.converged and report.iterations > 1
    assert np.abs((step.mass * v).sum(axis=0) - momentum).max() < 1e-7 * np.abs(momentum).max()
    kinetic = 0.5 * (step.mass * step.start**2).sum()
    assert step.value(v) <= (kinetic + at.energy(0 * v)) * (1 + 1e-12)  # the energy of v = 0


def contraction(step: StepEnergy) -> float:
    """|gradient| after the third Newton step over that before it."""
    exact = Options(tolerance=1e-30, krylov_tolerance=1e-12, max_iterations=3, noise=0.0)
    _, report = minimise(step, [step.start], exact)
    before, after = report.history[-2][0], report.history[-1][0]
    return after / before


def test_exact_tangents_converge_quadratically() -> None:
    at = moving(FIXED, 2, courant=1.0)
    exact, stale = contraction(StepEnergy(at)), contraction(StepEnergy(at, stale=True))
    assert exact < 1e-3 < 1e-2 < stale
