"""What users read when an implicit step fails."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.errors import InstabilityError
from continua.integrators import Optimization


def shaken(**settings: object) -> ct.Simulation:
    """Steel in which every row of cells starts in another direction, on soft ground."""
    sim = ct.Simulation(0.1, (0.0, -9.81), integrator=Optimization(**settings))
    soft, steel = (ct.materials.FixedCorotated(E=E, nu=0.3, density=1000.0) for E in (1e4, 1e11))
    sim.add(ct.shapes.Box((0.5, -0.5), (1.0, 1.0)), soft, name="ground")
    sim.add(
        ct.shapes.Box((0.5, 0.5), (1.0, 1.0)),
        steel,
        velocity=lambda x: np.stack([3 * np.sin(40 * x[:, 1]), -3 * x[:, 1]], axis=1),
        name="hammer",
    )
    return sim


def test_a_solve_that_never_converges_says_how_it_ended_where_and_what_to_try() -> None:
    sim = shaken(max_iterations=1, tolerance=1e-14)
    with pytest.raises(InstabilityError) as caught:
        sim.step()
    sentence = str(caught.value)
    assert 'implicit solve of step 1 from t = 0 s ended as "max_iter"' in sentence
    assert 'the stiffest body is "hammer" (fixed-corotated)' in sentence
    assert "max_iterations = 1, tolerance = 1e-14, positive = None" in sentence
    for remedy in ("max_iterations", "tolerance", "positive", "cfl", "symplectic"):
        assert remedy in sentence
    assert "run away" not in sentence
    assert sim.steps == 0 and sim.time == 0.0


def test_what_it_says_helps() -> None:
    sim = shaken(max_iterations=100)
    sim.step()
    assert sim.steps == 1
    assert not sim.bound.name.startswith("solver")
