"""The numbers that cases of incompressible flow are measured by mean what they say."""

from __future__ import annotations

import numpy as np
import pytest

from continua.validation.dam_break import EXPERIMENT, best_delay, largest_deviation, speed
from continua.validation.spread import layer_front
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
    assert best_delay((T, late)) == pytest.approx(0.0, abs=0.01)
    delay = best_delay((T, early))
    assert delay == pytest.approx(0.2, abs=0.03) and largest_deviation((T, early), delay) < 0.02
    slow = T, 1 + 0.5 * (late - 1)
    assert largest_deviation(slow, best_delay(slow)) > 0.2
    assert speed(tuple(EXPERIMENT.T)).error == pytest.approx(0.0, abs=1e-12)
    assert not speed(slow).passed


def heap(rows: int) -> np.ndarray:
    """Particles (N,) of 0.05 m x 0.05 m: a heap, 1 m long and 0.5 m high, then so many rows on 1 m, then one alone."""
    column = (np.arange(20) + 0.5) * 0.05
    return np.concatenate([np.repeat(column, 10), np.repeat(1 + column, rows), [2.3]])


def test_a_layer_ends_where_it_is_thinner() -> None:
    """A row of particles is 0.05 m thick; one particle is no layer; where the heap ends is known to the window."""
    area = 0.05**2
    for rows, ends in ((1, (1.0, 1.2)), (2, (1.97, 1.98))):
        x = heap(rows)
        assert layer_front(x, area, thickness=0.04, window=0.2) == pytest.approx(1.975)
        assert ends[0] <= layer_front(x, area, thickness=0.09, window=0.2) <= ends[1]
        assert np.isnan(layer_front(x, area, thickness=0.6, window=0.2))
    order = np.random.default_rng(0).permutation(len(x))
    split = np.repeat(x[order], 4)  # the same sand in finer particles
    assert layer_front(split, np.full(len(split), area / 4), thickness=0.09, window=0.2) == pytest.approx(
        1.975
    )
    assert np.quantile(x, 0.999) > 2.2  # what single particles say


@pytest.mark.parametrize("field", [vortices, disc])
def test_initial_fields_are_free_of_divergence(field) -> None:
    x, step = np.random.default_rng(0).uniform(0.3, 0.7, (200, 2)), 1e-5
    divergence = sum(
        (field(x + e)[:, a] - field(x - e)[:, a]) / (2 * step) for a, e in enumerate(step * np.eye(2))
    )
    away = np.abs(np.linalg.norm(x - 0.5, axis=1) - 0.25) > 1e-3  # from the edge of the disc
    assert np.abs(divergence[away]).max() < 1e-8
