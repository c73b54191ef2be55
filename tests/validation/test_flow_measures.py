"""The numbers that cases of incompressible flow are measured by mean what they say."""

from __future__ import annotations

import numpy as np
import pytest

from continua.validation.dam_break import EXPERIMENT, best_delay, largest_deviation
from continua.validation.tank import WIDTH, bulk_volume
from continua.validation.taylor_green import vortices
from continua.validation.vortex_sheet import disc

DX = WIDTH / 16


def filled(rows: int, per_side: int = 2) -> np.ndarray:
    """Particles on a lattice in the lowest rows of cells of the tank (N, 2)."""
    x, y = ((np.arange(n * per_side) + 0.5) * DX / per_side for n in (16, rows))
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def test_volume_follows_from_the_density_inside() -> None:
    x = filled(8)
    assert bulk_volume(x, DX) == pytest.approx(8 * DX * WIDTH)
    torn = x[(x[:, 1] < 7 * DX) | (np.arange(len(x)) % 3 == 0)]  # only the surface is thinner
    assert bulk_volume(torn, DX) == pytest.approx(len(torn) / 4 * DX**2)
    pressed = x * (1.0, 0.8)
    assert bulk_volume(pressed, DX) == pytest.approx(0.8 * 8 * DX * WIDTH, rel=0.05)
    clump = np.concatenate([x, np.full((32, 2), 0.5 * DX)])  # in a corner: particles that take no room
    assert bulk_volume(clump, DX) < 0.99 * len(clump) / 4 * DX**2


def test_the_delay_is_found_and_repairs_nothing_else() -> None:
    T = np.linspace(0.0, 4.0, 81)
    late = np.interp(T, EXPERIMENT[:, 0], EXPERIMENT[:, 1])
    early = np.interp(T + 0.2, EXPERIMENT[:, 0], EXPERIMENT[:, 1])  # the same front, let go sooner
    assert best_delay(T, late) == pytest.approx(0.0, abs=0.01)
    delay = best_delay(T, early)
    assert delay == pytest.approx(0.2, abs=0.03) and largest_deviation(T, early, delay) < 0.02
    slow = 1 + 0.5 * (late - 1)
    assert largest_deviation(T, slow, best_delay(T, slow)) > 0.2


@pytest.mark.parametrize("field", [vortices, disc])
def test_initial_fields_are_free_of_divergence(field) -> None:
    x, step = np.random.default_rng(0).uniform(0.3, 0.7, (200, 2)), 1e-5
    divergence = sum(
        (field(x + e)[:, a] - field(x - e)[:, a]) / (2 * step) for a, e in enumerate(step * np.eye(2))
    )
    away = np.abs(np.linalg.norm(x - 0.5, axis=1) - 0.25) > 1e-3  # from the edge of the disc
    assert np.abs(divergence[away]).max() < 1e-8
