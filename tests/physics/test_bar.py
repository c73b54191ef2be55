"""Longitudinal vibration of a bar, fixed at one end and free at the other: w = pi c / (2 L)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from continua.transfers import FLIP
from continua.validation.bar import MATERIAL, ring


def test_period_converges_to_the_exact_one() -> None:
    """Reference values: 1.63 % at L/20, 0.79 % at L/40."""
    coarse, fine = abs(ring(20).period_error), abs(ring(40).period_error)
    assert coarse <= 0.025 and fine <= 0.013
    assert np.log2(coarse / fine) >= 0.9
    stiffer = replace(MATERIAL, E=1.1 * MATERIAL.E)
    assert abs(ring(20, material=stiffer).period_error) > 0.025


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
