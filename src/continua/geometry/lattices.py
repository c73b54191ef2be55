"""Regular lattices of well-shaped cells that cover a box: the raw material of `mesh_of`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from continua.errors import GeometryError
from continua.geometry.base import Array

Indices = NDArray[np.int64]
MAX_POINTS = 4_000_000  # about as many GB of memory while cells are chosen


@dataclass(frozen=True)
class CellLattice:
    """Points (N, d) [m] and cells (M, d+1).

    `color` (N,) tells the points apart that longer edges join: two of one colour are `size` [m] apart, two of
    different colours 0.87 sizes.
    """

    points: Array
    cells: Indices
    color: NDArray[np.int8]
    size: float


def lattice_around(lower: Array, upper: Array, size: float) -> CellLattice:
    """Lattice whose cells cover the box from `lower` to `upper` (d,), symmetric about its middle.

    2D: equilateral triangles. 3D: the body-centred cubic lattice, whose tetrahedra are all alike.
    """
    step = size * (np.array([1, np.sqrt(3) / 2]) if len(lower) == 2 else np.ones(3))
    reach = np.floor((upper - lower) / 2 / step).astype(np.int64) + 2  # steps from the middle to either end
    if np.prod(2.0 * reach + 1) > MAX_POINTS:
        raise GeometryError(
            f"a mesh of size {size:g} m over {' x '.join(f'{s:g}' for s in upper - lower)} m would need too many "
            "cells, use a larger size"
        )
    lattice = _triangles if len(lower) == 2 else _body_centred
    return lattice((lower + upper) / 2, reach, step, size)


def _triangles(middle: Array, reach: Indices, step: Array, size: float) -> CellLattice:
    """Rows of points, every other one shifted by half a step."""
    shape = tuple(2 * reach + 1)
    index = np.indices(shape).reshape(2, -1).T
    shift = 0.5 * ((index[:, 1] - reach[1]) % 2)
    points = middle + (index - reach + np.stack([shift, 0 * shift], axis=1)) * step
    i, j = (a.reshape(-1) for a in np.indices((shape[0] - 1, shape[1] - 1)))
    right = (j - reach[1]) % 2  # whether row j is the shifted one of the two
    corners = [[(i, j), (i + 1, j), (i + right, j + 1)], [(i, j + 1), (i + 1, j + 1), (i + 1 - right, j)]]
    cells = [np.stack([np.ravel_multi_index(c, shape) for c in cell], axis=1) for cell in corners]
    return CellLattice(points, np.concatenate(cells), np.zeros(len(points), dtype=np.int8), size)


def _body_centred(middle: Array, reach: Indices, step: Array, size: float) -> CellLattice:
    """Corners and centres of cubes. Centres of two neighbours and each edge of their common face make a cell."""
    corners, centres = tuple(2 * reach + 1), tuple(2 * reach)
    count = int(np.prod(corners))
    at_corner, at_centre = (np.indices(shape).reshape(3, -1).T for shape in (corners, centres))
    points = middle + np.concatenate([at_corner - reach, at_centre - reach + 0.5]) * step
    color = (np.arange(len(points)) >= count).astype(np.int8)
    unit = np.eye(3, dtype=np.int64)
    cells = []
    for axis, edge, side in product(range(3), range(1, 3), (0, 1)):
        along, across, other = unit[axis], unit[(axis + edge) % 3], unit[(axis - edge) % 3]
        near = at_centre[at_centre[:, axis] < centres[axis] - 1]
        start = near + along + side * other
        ends = [count + np.ravel_multi_index(tuple(c.T), centres) for c in (near, near + along)]
        ends += [np.ravel_multi_index(tuple(c.T), corners) for c in (start, start + across)]
        cells.append(np.stack(ends, axis=1))
    return CellLattice(points, np.concatenate(cells), color, size)
