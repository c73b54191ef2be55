"""Fill of cells and distance from the surface: where a level is, beside which walls, and how much liquid there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from surface_cells import DX, FLUID, Cells, cells_of, tank, world

import continua as ct

both = pytest.mark.parametrize("d", [2, 3])
OFFSETS = np.arange(12) / 12


# ---- a level ----


def slab(d: int, kernel: str, offset: float) -> Cells:
    """A lattice of 2^d particles per cell between y = offset and 6 + offset [cells], with nothing around it."""
    sim = world(d, kernel)
    size = DX * np.array([8.0, 6.0, 8.0])[:d]
    centre = 0.5 * size
    centre[1] += offset * DX
    sim.add(ct.shapes.Box(tuple(centre), tuple(size)), FLUID)
    return cells_of(sim)


def height(cells: Cells, distance: NDArray) -> float:
    """Where a distance (n,) changes its sign in the middle column [cells]."""
    d = cells.place.shape[1]
    column = [distance[cells.at(4, y, *[4] * (d - 2))] for y in range(4, 9)]
    top = max(y for y, value in enumerate(column) if value < 0)
    return 4 + top + 0.5 + column[top] / (column[top] - column[top + 1])


def by_fill(fill: NDArray) -> NDArray:
    """The distance that a hat over a plane of even mass says, from the fill itself."""
    h = np.clip(fill - 0.5, -0.5, 0.5)
    return -np.sign(h) * (1 - np.sqrt(1 - 2 * np.abs(h)))


@pytest.mark.parametrize("kernel", ["linear", "quadratic"])
@both
def test_the_surface_of_a_lattice_is_found_wherever_it_lies_in_a_cell(d: int, kernel: str) -> None:
    found = [slab(d, kernel, offset) for offset in OFFSETS]
    errors = [height(cells, cells.distance) - 6 - offset for cells, offset in zip(found, OFFSETS)]
    assert np.abs(errors).max() <= 0.01
    # Not smoothed, and a distance that is linear in the fill.
    for wrong in (by_fill, lambda fill: 0.5 - fill):
        errors = [height(cells, wrong(cells.fill)) - 6 - offset for cells, offset in zip(found, OFFSETS)]
        assert np.abs(errors).max() > 0.01 or kernel != "linear"


@both
def test_cells_far_from_liquid_are_far_from_the_surface(d: int) -> None:
    cells = slab(d, "linear", 0.0)
    away = (cells.place[:, 1] > 7) | (cells.place[:, 0] > 9)
    assert np.all(cells.distance[away] == 2) and np.all(cells.fill[away] == 0) and away.any()
    inside = cells.at(*[3] * d)
    assert cells.distance[inside] == pytest.approx(-2, abs=1e-6)  # a root of rounding
    assert cells.fill[inside] == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("kernel", ["linear", "quadratic"])
@both
def test_the_volume_is_that_of_the_particles_at_any_depth(d: int, kernel: str) -> None:
    """Air cells that the surface enters count for what is wet of them; the sampling is seen to 0.03 of a cell."""
    for depth in (5.0, 5.5, 6.0):
        cells = cells_of(tank(d, kernel, depth=depth))
        assert cells.amount / 10 ** (d - 1) == pytest.approx(depth, abs=0.03)
        whole_cells = np.count_nonzero(cells.liquid)
        assert depth != 5.5 or abs(whole_cells / 10 ** (d - 1) - depth) > 0.03


# ---- beside walls ----

LINEAR_SAMPLING = (
    1 / 32 / 0.405
)  # midpoints of two particles per cell at a kink of a hat, over the least mass expected
SAMPLING = {"linear": LINEAR_SAMPLING, "quadratic": 0.04, "cubic": 0.04}


@pytest.mark.parametrize(("d", "kernel"), [(2, "linear"), (2, "quadratic"), (2, "cubic"), (3, "linear")])
@pytest.mark.parametrize("off", [0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9])
def test_a_regular_filling_fills_cells_beside_walls_anywhere(d: int, off: float, kernel: str) -> None:
    """Expected is what splines find in the open part of cells, wherever in the cell that is; exact along walls at which
    kinks fall between two particles."""
    cells = cells_of(tank(d, kernel, off=(off,)))
    rows = (cells.place[:, 1] > 1) & (cells.place[:, 1] < 4) & (cells.volume > 0)
    rows &= (cells.place[:, -1] > 1) & (cells.place[:, -1] < 8) if d == 3 else True
    error = np.abs(cells.fill[rows] - 1).max()
    assert error <= (1e-12 if kernel == "linear" and off == 0.5 else SAMPLING[kernel])
    cut = rows & (cells.volume < 1)
    assert cut.any()


@pytest.mark.parametrize("off", [0.0, 0.25, 0.5, 0.85])
@both
def test_it_does_not_matter_where_blocks_end_beside_a_wall(d: int, off: float) -> None:
    """The same tank moved by whole cells, so that its walls lie inside of blocks and at their borders."""
    steps = [(k,) * d for k in range(1, 5)] if d == 3 else list(product(range(3), range(3)))
    place = np.array([off, off + 0.125, off])[:d]  # the surface away from the middles of cells
    first = cells_of(tank(d, off=tuple(place)))
    inside = np.flatnonzero(
        (first.place >= -1).all(axis=1) & (first.place <= 11).all(axis=1) & (first.place[:, 1] < 9)
    )
    for step in steps:
        moved = cells_of(tank(d, off=tuple(place + step)))
        there = [moved.at(*(first.place[n] + step).tolist()) for n in inside]
        for name in ("fill", "distance", "crowding"):
            np.testing.assert_allclose(getattr(moved, name)[there], getattr(first, name)[inside], atol=1e-12)
        assert moved.amount == pytest.approx(first.amount, rel=1e-12)
        np.testing.assert_array_equal(moved.liquid[there], first.liquid[inside])


@pytest.mark.parametrize("off", [0.1, 0.3, 0.5, 0.7, 0.9])
@both
def test_a_level_reaches_into_slivers_at_walls(d: int, off: float) -> None:
    """The surface is as high in the sliver that a side wall leaves of a cell as away from it, on either side."""
    cells = cells_of(tank(d, off=(off, 0.75), depth=4.5))
    rest = [4] * (d - 2)
    level = []
    for x in (0, 4, 9 + (off > 0)):
        if cells.volume[cells.at(x, 4, *rest)] == 0:
            continue
        column = [cells.distance[cells.at(x, y, *rest)] for y in range(3, 8)]
        top = max(y for y, value in enumerate(column) if value < 0)
        level.append(3.5 + top + column[top] / (column[top] - column[top + 1]))
    assert len(level) >= 2
    np.testing.assert_allclose(level, 5.25, atol=0.02)  # twice the error of a level away from walls


def test_a_moving_wall_changes_fills_without_jumps() -> None:
    """Slivers turn into walls by ramps of a fifth of a cell: over a hundredth of a cell a fill changes by a twentieth
    of what the sampling can be wrong, on both sides of a face."""
    fills = []
    for off in np.linspace(0.3, 0.7, 41):
        cells = cells_of(tank(2, off=(float(off),)))
        fills.append([cells.fill[cells.at(x, 3)] for x in (0, 1, 2)])
    assert np.abs(np.diff(fills, axis=0)).max() <= 0.02
