"""B-splines of particles at the nodes of a block grid, as a table: for matrices over nodes, not for transfers."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.grid.blocks import SIDE, BlockGrid

Array = NDArray[np.float64]


def node_weights(x: Array, grid: BlockGrid, degree: int) -> tuple[NDArray[np.int64], Array]:
    """Nodes that particles at x (N, d) [m] reach, (N, (degree + 1)^d) numbers in the flat node array, and weights."""
    d, lattice = grid.dimension, grid.lattice
    place = (x - lattice.origin) / lattice.dx
    base = np.floor(place - 0.5 * (degree - 1)).astype(np.int64)
    along = _splines(place - base, degree)  # (degree + 1, N, d)
    find = _Finder(grid)
    steps = list(product(range(degree + 1), repeat=d))
    at = np.stack([find(base + np.array(step)) for step in steps], axis=1)
    weights = [np.prod([along[step[a], :, a] for a in range(d)], axis=0) for step in steps]
    return at, np.ascontiguousarray(np.stack(weights, axis=1))


def _splines(r: Array, degree: int) -> Array:
    """Values at the degree + 1 nodes of particles at r (N, d), in cells from the first node."""
    if degree == 1:
        return np.stack([1 - r, r])
    if degree == 2:
        return np.stack([0.5 * (1.5 - r) ** 2, 0.75 - (r - 1) ** 2, 0.5 * (r - 0.5) ** 2])
    s = r - 1  # from the second node
    return (
        np.stack([(1 - s) ** 3, 4 - 6 * s**2 + 3 * s**3, 4 - 6 * (1 - s) ** 2 + 3 * (1 - s) ** 3, s**3]) / 6
    )


class _Finder:
    """Numbers of nodes with given coordinates, by their blocks."""

    def __init__(self, grid: BlockGrid) -> None:
        nodes = np.asarray(_core.node_coordinates(grid.keys, grid.dimension), np.int64)
        self._period = SIDE * grid.lattice.period.astype(np.int64)
        blocks = nodes[:, 0] // SIDE
        self._low, self._extent = blocks.min(axis=0), np.ptp(blocks, axis=0) + 1
        names = self._name(blocks)
        self._order = np.argsort(names, kind="stable")
        self._names = names[self._order]
        inside = np.ravel_multi_index(tuple((nodes[0] % SIDE).T), (SIDE,) * grid.dimension)
        self._inside = np.argsort(inside)  # number within a block of the node at raveled coordinates
        self._per_block = nodes.shape[1]

    def _name(self, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.ravel_multi_index(tuple((blocks - self._low).T), tuple(self._extent))

    def __call__(self, coordinates: NDArray[np.int64]) -> NDArray[np.int64]:
        wrapped = np.where(self._period > 0, coordinates % np.maximum(self._period, 1), coordinates)
        block = self._order[np.searchsorted(self._names, self._name(wrapped // SIDE))]
        inside = np.ravel_multi_index(tuple((wrapped % SIDE).T), (SIDE,) * wrapped.shape[1])
        return block * self._per_block + self._inside[inside]
