"""Longitudinal vibration of a bar, fixed at one end and free at the other: w = pi c / (2 L)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import continua as ct
from continua.materials.base import lame
from continua.transfers import FLIP

LENGTH, NU = 1.0, 0.3
PERIOD = 4 * LENGTH  # with c = 1


@dataclass
class Ringing:
    period_error: float  # relative
    energy: float  # after one period, relative


def ring(
    cells: int, transfer="apic", *, stress_transfer: str = "gradient", stiffness: float = 1.0
) -> Ringing:
    """Start in the first mode; the sides are periodic, so that the bar is strained along its axis only."""
    h = LENGTH / cells
    mu, lam = lame(1.0, NU)
    material = ct.materials.FixedCorotated(stiffness / (lam + 2 * mu), NU, 1.0)
    sim = ct.Simulation(h, (0, 0), transfer=transfer, stress_transfer=stress_transfer, dt=0.2 * h)
    sim.add(ct.boundaries.Periodic(1, 0.0, 4 * h))
    sim.add(ct.boundaries.FixedVelocity((-1, -1), (1e-6 * h, 1), (0, 0)))
    bar = ct.shapes.Box((LENGTH / 2, 2 * h), (LENGTH, 4 * h))

    def mode(x: np.ndarray) -> np.ndarray:
        return np.sin(np.pi * x[:, 0] / (2 * LENGTH))

    body = sim.add(bar, material, velocity=lambda x: np.stack([1e-3 * mode(x), 0 * x[:, 0]], axis=1))
    start, energy = sim.diagnostics()["total"], float("nan")
    times, amplitudes = [0.0], [float((body.mass * body.v[:, 0] * mode(body.x)).sum())]
    while sim.time < 1.1 * PERIOD:
        sim.step()
        times.append(sim.time)
        amplitudes.append(float((body.mass * body.v[:, 0] * mode(body.x)).sum()))
        if np.isnan(energy) and sim.time >= PERIOD - 1e-9:
            energy = sim.diagnostics()["total"] / start
    t, q = np.array(times), np.array(amplitudes)
    k = np.flatnonzero(q[:-1] * q[1:] < 0)[:2]
    crossing = t[k] - q[k] * (t[k + 1] - t[k]) / (q[k + 1] - q[k])
    return Ringing(2 * (crossing[1] - crossing[0]) / PERIOD - 1, energy)


def test_period_converges_to_the_exact_one() -> None:
    """Reference values: 1.63 % at L/20, 0.79 % at L/40."""
    coarse, fine = abs(ring(20).period_error), abs(ring(40).period_error)
    assert coarse <= 0.025 and fine <= 0.013
    assert np.log2(coarse / fine) >= 0.9
    assert abs(ring(20, stiffness=1.1).period_error) > 0.025  # 10 % too stiff is noticed


def test_period_with_the_mls_stress() -> None:
    assert abs(ring(20, stress_transfer="mls").period_error) <= 0.025


@pytest.mark.parametrize(
    ("transfer", "kept"), [("apic", 0.990), ("flip", 0.996), (FLIP(0.95), 0.961), ("pic", 0.547)], ids=str
)
def test_energy_left_after_one_period(transfer, kept: float) -> None:
    measured = ring(20, transfer).energy
    assert measured == pytest.approx(kept, abs=0.02)
    assert measured <= 1.0
    assert measured != pytest.approx(0.961 if transfer == "pic" else 0.547, abs=0.02)
