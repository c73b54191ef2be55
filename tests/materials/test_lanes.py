"""Logarithm and exponential of the core in lanes, seen through Hencky elasticity: as accurate as the C library's.

A single point is computed with the C library, many points in lanes with the core's own series.
"""

from __future__ import annotations

import numpy as np
import pytest
from material_samples import both, core_call

from continua.materials import Hencky, VonMises

UNIT = Hencky(E=1.0, nu=0.0)  # mu = 1/2, lam = 0: tau_i = e_i
STRETCHES = np.concatenate(
    [
        10.0 ** np.linspace(-12, 12, 4001),
        1 + np.linspace(-0.3, 0.45, 4001),  # around 1, where the logarithm vanishes
        1 + 10.0 ** np.linspace(-15, -1, 400),
        1 - 10.0 ** np.linspace(-15, -1, 400),
        [np.sqrt(0.5), np.nextafter(np.sqrt(0.5), 0), np.sqrt(2), np.nextafter(np.sqrt(2), 9), 1.0],
    ]
)


def diagonal(s: np.ndarray, d: int) -> np.ndarray:
    """F = diag(s, 1, 1) (n, d, d)."""
    F = np.broadcast_to(np.eye(d), (len(s), d, d)).copy()
    F[:, 0, 0] = s
    return F


def logarithms(s: np.ndarray, d: int, dtype: type = np.float64) -> np.ndarray:
    """ln s as the stress s P_11 of unit Hencky material."""
    return core_call("piola", UNIT, diagonal(s, d), dtype)[:, 0, 0] * s


def in_units(error: np.ndarray, exact: np.ndarray, dtype: type) -> float:
    """Largest error in units in the last place of the exact value; below 1/2 in those of 1/2, because ln s near s = 1
    can be no better than s."""
    last_place = np.spacing(np.maximum(np.abs(exact), 0.5).astype(dtype)).astype(np.float64)
    return float((np.abs(error) / last_place).max())


@both
def test_logarithm_in_lanes(d: int) -> None:
    exact = np.log(STRETCHES)
    lanes = logarithms(STRETCHES, d)
    assert in_units(lanes - exact, exact, np.float64) <= 4
    single = np.concatenate([logarithms(STRETCHES[k : k + 1], d) for k in range(0, len(STRETCHES), 7)])
    assert in_units(lanes[::7] - single, exact[::7], np.float64) <= 4
    assert (
        in_units(np.log(STRETCHES * (1 + 2e-15)) - exact, exact, np.float64) > 4
    )  # an error of 9 eps in s shows


@both
def test_logarithm_in_single_precision_lanes(d: int) -> None:
    s = STRETCHES.astype(np.float32).astype(np.float64)
    s = s[(s > 1e-5) & (s < 1e5)]
    exact = np.log(s)
    assert in_units(logarithms(s, d, np.float32) - exact, exact, np.float32) <= 4
    assert in_units(np.log(s * (1 + 1e-6)) - exact, exact, np.float32) > 4


def shrunk(s: np.ndarray, dtype: type) -> np.ndarray:
    """diag(s, 1/s) after flow to the yield surface: diag(e^k, e^-k) with k = limit/(2 mu sqrt(2)), (n, 2)."""
    F = np.zeros((len(s), 2, 2))
    F[:, 0, 0], F[:, 1, 1] = s, 1 / s
    new, _ = core_call("flow", VonMises(E=1.0, nu=0.0, yield_stress=LIMIT), F, dtype)
    return np.stack([new[:, 0, 0], new[:, 1, 1]], axis=1)


LIMIT = 1.1  # Pa, mu = 1/2: |dev e| = 1.1


@pytest.mark.parametrize(("dtype", "units"), [(np.float64, 8), (np.float32, 8)])
def test_exponential_in_lanes(dtype: type, units: float) -> None:
    s = np.exp(np.linspace(0.9, 4.0, 501)).astype(dtype).astype(np.float64)
    exact = np.exp(np.array([1, -1]) * LIMIT / np.sqrt(2))
    lanes = shrunk(s, dtype)
    assert in_units(lanes - exact, np.broadcast_to(exact, lanes.shape), dtype) <= units
    single = np.concatenate([shrunk(s[k : k + 1], dtype) for k in range(0, len(s), 11)])
    assert in_units(lanes[::11] - single, np.broadcast_to(exact, single.shape), dtype) <= units
    off = np.exp(np.array([1, -1]) * LIMIT * (1 + 100 * np.finfo(dtype).eps) / np.sqrt(2))
    assert in_units(lanes - off, np.broadcast_to(exact, lanes.shape), dtype) > units


@both
def test_energy_of_lanes_and_of_single_points(d: int) -> None:
    rng = np.random.default_rng(1)
    F = np.eye(d) + 0.3 * rng.normal(size=(64, d, d))
    F = F[np.linalg.det(F) > 0.1]
    lanes = Hencky().energy(F)
    single = np.array([Hencky().energy(F[k : k + 1])[0] for k in range(len(F))])
    np.testing.assert_allclose(lanes, single, rtol=2e-14)
    assert np.abs(Hencky().energy(F * (1 + 1e-13)) / single - 1).max() > 2e-14
