"""Backward Euler loses energy where the potential is convex (O4); where it is not, only the step is bounded."""

from __future__ import annotations

import numpy as np
import pytest
from spring_network import Run, Springs, lattice

from continua.optimize import Options

TIGHT = Options(tolerance=1e-11, krylov_tolerance=1e-13)


def largest_gain(run: Run, dt: float, steps: int) -> float:
    """Of kinetic and potential energy in a step, relative to the start."""
    energies = [run.kinetic() + run.potential()]
    for _ in range(steps):
        run.step(dt)
        energies.append(run.kinetic() + run.potential())
    return float(np.diff(energies).max() / energies[0])


@pytest.mark.parametrize("dt", [1e-3, 1 / 24, 1.0])
def test_o4_the_total_energy_never_rises_if_springs_have_no_rest_length(dt: float) -> None:
    x, pairs = lattice(3, 2)
    v = 20 * np.random.default_rng(0).standard_normal(x.shape)
    run = Run(x, v, 1 + np.arange(9) % 3.0, [Springs(pairs, 50.0, np.zeros(len(pairs)))], TIGHT)
    assert largest_gain(run, dt, 10) <= 1e-12


def test_o4_a_compressed_spring_that_turns_may_gain_energy() -> None:
    """Across its axis such a spring has negative stiffness."""
    x, v = np.array([[0.0, 0.0], [0.5, 0.0]]), np.array([[0.0, -10.0], [0.0, 10.0]])
    run = Run(x, v, np.ones(2), [Springs(np.array([[0, 1]]), 100.0, np.ones(1))], TIGHT)
    assert largest_gain(run, 1e-3, 1) > 1e-6
