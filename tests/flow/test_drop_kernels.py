"""Kernels of drops against plain sums: which parts touch no wall, whose faces are whose, and their rigid motions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage
from drop_boxes import HELD, islands, labels_of, parts
from mac_boxes import Mac, random_velocity
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from continua import _core

both = pytest.mark.parametrize("d", [2, 3])


def same_partition(one: NDArray, other: NDArray) -> bool:
    """Equal labels in one where they are equal in the other."""
    pairs = np.unique(np.stack([one, other]), axis=1)
    return bool(len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1])


@both
def test_without_walls_parts_are_the_connected_ones_of_scipy(d: int) -> None:
    box = islands(d, 0.0)
    count, labels = labels_of(box)
    expected, number = scipy.ndimage.label(box.unknown)
    assert count == number > 10
    found = box.plain(labels)
    np.testing.assert_array_equal(found >= 0, box.unknown)
    assert same_partition(found[box.unknown], expected[box.unknown])
    assert set(np.unique(labels)) == {-1, *range(count)}


@both
def test_parts_that_a_wall_touches_are_held(d: int) -> None:
    """Cut faces touch, closed ones also divide; a part all of whose faces are open is free."""
    box = islands(d, 0.03)
    count, labels = labels_of(box)
    matrix = box.matrix()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    component = connected_components(matrix)[1].reshape(box.unknown.shape)
    walled = np.zeros(box.unknown.shape, bool)
    for a in range(d):
        cut = box.coupling[a] < 1
        walled |= cut | np.roll(cut, -1, axis=a)
    held = np.isin(component, component[walled & box.unknown])
    found = box.plain(labels)
    np.testing.assert_array_equal(found == HELD, box.unknown & held)
    np.testing.assert_array_equal(found == -1, ~box.unknown)
    free = box.unknown & ~held
    assert same_partition(found[free], component[free])
    assert count == len(np.unique(component[free])) > 3


def test_no_free_part_leaves_no_label() -> None:
    box = islands(2, 1.0, part=0.9)
    count, labels = labels_of(box)
    assert count == 0 and np.all(labels == -1)


@pytest.mark.parametrize("layers", [0, 1, 3])
@both
def test_labels_spread_to_cells_without_one_and_the_lowest_wins(d: int, layers: int) -> None:
    box = islands(d, 0.0)
    rng = np.random.default_rng(5)
    start = np.where(rng.random(box.liquid.shape) < 0.03, rng.integers(0, 9, box.liquid.shape), -1)
    labels = start.astype(np.int32)
    _core.spread_labels(labels, np.empty_like(labels), box.neighbours, d, layers)
    expected = np.pad(box.plain(start.astype(float)), 1, constant_values=-1)
    inside = np.pad(np.ones(box.unknown.shape, bool), 1)
    for _ in range(layers):
        known = np.where(expected < 0, np.inf, expected)
        around = np.min([np.roll(known, s, axis=a) for a in range(d) for s in (1, -1)], axis=0)
        expected = np.where((expected < 0) & np.isfinite(around) & inside, around, expected)
    np.testing.assert_array_equal(box.plain(labels), expected[(slice(1, -1),) * d])


# ---- rigid motions ----


def motion_at(d: int, k: int, a: int, x: NDArray) -> NDArray:
    """Component a of rigid motion k at x (n, d) from the centre, with the cross product of NumPy."""
    if k < d:
        return np.full(len(x), float(k == a))
    axis = np.eye(3)[2 if d == 2 else k - d]
    return np.cross(axis, np.pad(x, [(0, 0), (0, 3 - d)]))[:, a]


def faces_by_hand(box: Mac, labels: NDArray, count: int, a: int) -> tuple[NDArray, NDArray, NDArray]:
    """Faces along axis a of parts: which they are (blocks, 4^d) bool, their labels (n,) and positions (n, d)."""
    here, wet = box.plain(labels), box.unknown
    below, wet_below = box.below(here, a, -1), box.below(wet, a, False)
    lowest = np.where(here < 0, below, np.where(below < 0, here, np.minimum(here, below)))
    label = np.where(wet, here, np.where(wet_below, below, lowest))
    ours = box.cut((label >= 0) & (label < count) & (box.coupling[a] == 1))
    cells = np.asarray(_core.node_coordinates(box.keys, box.dimension), float)
    x = cells + 0.5 * (np.arange(box.dimension) != a)
    return ours, box.cut(label)[ours].astype(int), x[ours]


@both
def test_momenta_of_parts_are_sums_over_their_faces(d: int) -> None:
    box, count, labels, centres = parts(d)
    rng = np.random.default_rng(7)
    mass, velocity = rng.uniform(-1, 1, box.open.shape).clip(0), random_velocity(box)
    k = 3 if d == 2 else 6
    gram, momentum = np.full((count, k, k), np.nan), np.full((count, k), np.nan)
    _core.part_momenta(
        box.keys, box.neighbours, labels, box.liquid, box.open, centres, mass, velocity, d, gram, momentum
    )
    expected_gram, expected = np.zeros_like(gram), np.zeros_like(momentum)
    for a in range(d):
        ours, label, x = faces_by_hand(box, labels, count, a)
        r = np.stack([motion_at(d, n, a, x - centres[label, :d]) for n in range(k)], axis=1)
        m, u = mass[ours][:, a], velocity[ours][:, a]
        np.add.at(expected, label, (m * u)[:, None] * r)
        np.add.at(expected_gram, label, m[:, None, None] * r[:, :, None] * r[:, None, :])
    np.testing.assert_allclose(momentum, expected, atol=1e-11)
    np.testing.assert_allclose(gram, expected_gram, atol=1e-10)
    assert np.count_nonzero(expected) > 0.5 * expected.size


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@both
def test_motions_are_taken_off_the_faces_of_their_part_and_have_no_divergence(d: int, dtype: type) -> None:
    box, count, labels, centres = parts(d)
    motions = np.random.default_rng(8).normal(size=(count, 3 if d == 2 else 6))
    before = random_velocity(box).astype(dtype)
    velocity = before.copy()
    _core.subtract_motions(
        box.keys,
        box.neighbours,
        labels,
        box.liquid,
        box.open.astype(dtype),
        centres,
        motions,
        d,
        velocity,
    )
    expected = before.astype(float)
    for a in range(d):
        ours, label, x = faces_by_hand(box, labels, count, a)
        for n in range(motions.shape[1]):
            expected[ours, a] -= motions[label, n] * motion_at(d, n, a, x - centres[label, :d])
    np.testing.assert_allclose(velocity, expected, atol=1e-12 if dtype is np.float64 else 1e-4)
    if dtype is np.float64:
        free = (labels >= 0) & (labels < count) & (box.liquid > 0)
        assert free.any() and np.abs(box.outflow(velocity - before)[free]).max() <= 1e-11
