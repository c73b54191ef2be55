"""Lagged Rayleigh damping: its energy, its work, and how fast modes decay."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_samples import box, dense, derivative_errors, shaken
from scipy import linalg

from continua.errors import SetupError
from continua.materials import FixedCorotated
from continua.mesh import Elements, Rayleigh


def mesh(d: int = 2) -> tuple[np.ndarray, Elements]:
    points, cells = box(d, 2)
    return points, Elements(points, cells, FixedCorotated(1e4, 0.3))


@pytest.mark.parametrize("d", [2, 3])
def test_damping_energy_and_its_derivatives(d: int) -> None:
    points, elements = mesh(d)
    x_n, x = shaken(points, 0.05), shaken(points, 0.05, 1)
    damping = Rayleigh(elements, x_n, coefficient=0.02, dt=0.01)
    assert (derivative_errors(damping, x) < 1e-7).all()
    assert damping.value(x_n) == 0 and not damping.gradient(x_n).any()
    np.testing.assert_allclose(damping.diagonal().ravel(), np.diag(dense(damping, x)), rtol=1e-12)
    with pytest.raises(SetupError, match="time step"):
        Rayleigh(elements, x_n, coefficient=0.02, dt=0.0)


def test_rayleigh_damping_takes_energy_away_whatever_the_motion() -> None:
    points, elements = mesh()
    x_n = shaken(points, 0.1)  # the raw stiffness has negative eigenvalues here
    assert np.linalg.eigvalsh(dense(elements, x_n)).min() < 0
    damping = Rayleigh(elements, x_n, coefficient=0.02, dt=0.01)
    D = dense(elements, x_n, positive=True)
    for seed in range(20):
        dx = shaken(np.zeros_like(x_n), 0.1, seed)
        work = -np.vdot(damping.gradient(x_n + dx), dx)
        np.testing.assert_allclose(work, -0.02 / 0.01 * dx.ravel() @ D @ dx.ravel(), rtol=1e-11)
        assert work <= 0


def decay_rate(damped: float) -> float:
    """Decay rate of an eigenmode over its frequency, for a coefficient of damped / frequency: small backward Euler
    steps over one period, after which the energy is in the same phase again."""
    points, elements = mesh()
    mass = np.repeat(elements.lumped_mass(), points.shape[1])
    K = dense(elements, points)
    squares, modes = linalg.eigh(K, np.diag(mass))
    omega, x = np.sqrt(squares[-3]), modes[:, -3]
    dt = 0.002 / omega
    damping = Rayleigh(elements, points, coefficient=damped / omega, dt=dt)
    D = dense(damping, points)
    step = linalg.lu_factor(np.diag(mass) / dt**2 + K + D)
    period = round(2 * np.pi / (0.002 * np.sqrt(1 - (damped / 2) ** 2)))
    v, energies = np.zeros_like(x), []
    for _ in range(period + 1):
        new = linalg.lu_solve(step, mass * (x + dt * v) / dt**2 + D @ x)
        x, v = new, (new - x) / dt
        energies.append(0.5 * v @ (mass * v) + 0.5 * x @ K @ x)
    return -0.5 * np.log(energies[-1] / energies[0]) / (dt * period * omega)


def test_modes_decay_at_half_the_coefficient_times_frequency_squared() -> None:
    assert decay_rate(0.2) == pytest.approx(0.2 / 2, rel=0.02)
    assert decay_rate(0.0) < 0.02 * 0.2 / 2
