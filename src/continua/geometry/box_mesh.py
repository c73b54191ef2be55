"""Boxes cut into triangles or tetrahedra."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.errors import GeometryError
from continua.geometry.base import Array
from continua.geometry.simplex_mesh import SimplexMesh

Pattern = Literal["alternating", "same", "crossed"]
MAX_POINTS = 50_000_000


def box_mesh(
    lower: ArrayLike, upper: ArrayLike, counts: Sequence[int], pattern: Pattern = "alternating"
) -> SimplexMesh:
    """Mesh of the box from `lower` (d,) to `upper` (d,) [m], cut into `counts` (d,) squares or cubes.

    - alternating: squares in 2 triangles whose diagonals alternate, cubes in 5 tetrahedra that alternate; no
      direction is preferred.
    - same: all squares in the same 2 triangles, all cubes in the same 6 tetrahedra round the same diagonal.
    - crossed: squares in 4 triangles round their middle (2D only).

    Without `crossed`, point (i, j, k) has the number (i (ny + 1) + j) (nz + 1) + k.
    """
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    _check(low, high, counts, pattern)
    dimension = len(counts)
    shape = tuple(int(n) + 1 for n in counts)
    index = np.indices(shape).reshape(dimension, -1).T
    points = low + index * ((high - low) / np.array(counts))
    points = np.where(index == np.array(counts), high, points)  # the far faces without rounding
    corner = np.indices(tuple(map(int, counts))).reshape(dimension, -1).T  # lowest corner of every box
    if pattern == "crossed":
        return _crossed(points, corner, shape)
    odd = (corner.sum(axis=1) % 2 == 1) & (pattern == "alternating")
    simplices = FIVE if pattern == "alternating" and dimension == 3 else _kuhn(dimension)
    offsets = np.repeat(simplices[None], len(corner), axis=0)  # (boxes, cells per box, d + 1, d)
    offsets[odd, ..., 0] ^= 1  # the mirror image; the mesh turns it the right way round
    cells = np.ravel_multi_index(tuple(np.moveaxis(corner[:, None, None] + offsets, -1, 0)), shape)
    return SimplexMesh(points, cells.reshape(-1, dimension + 1), "box mesh")


# Cube in five: a regular tetrahedron between every other corner, and the four corners it leaves.
FIVE = np.array(
    [
        [[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]],
        [[1, 0, 0], [0, 0, 0], [1, 1, 0], [1, 0, 1]],
        [[0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 1, 1]],
        [[0, 0, 1], [0, 0, 0], [1, 0, 1], [0, 1, 1]],
        [[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]],
    ]
)


def _kuhn(dimension: int) -> NDArray[np.int64]:
    """Simplices (d!, d+1, d) of the unit box round its main diagonal: one path along the axes each."""
    paths = [np.eye(dimension, dtype=np.int64)[list(order)] for order in permutations(range(dimension))]
    start = np.zeros((1, dimension), dtype=np.int64)
    return np.array([np.concatenate([start, np.cumsum(path, axis=0)]) for path in paths])


def _crossed(points: Array, corner: NDArray[np.integer], shape: tuple[int, ...]) -> SimplexMesh:
    around = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    ring = np.ravel_multi_index(tuple(np.moveaxis(corner[:, None] + around, -1, 0)), shape)  # (boxes, 4)
    middle = np.repeat(len(points) + np.arange(len(ring))[:, None], 4, axis=1)
    cells = np.stack([ring, np.roll(ring, -1, axis=1), middle], axis=-1)
    return SimplexMesh(np.concatenate([points, points[ring].mean(axis=1)]), cells.reshape(-1, 3), "box mesh")


def _check(lower: Array, upper: Array, counts: Sequence[int], pattern: str) -> None:
    if lower.shape not in ((2,), (3,)) or lower.shape != upper.shape or len(counts) != len(lower):
        raise GeometryError("lower, upper and counts of a box mesh need 2 or 3 numbers each, equally many")
    if not (np.isfinite(lower).all() and np.isfinite(upper).all() and (upper > lower).all()):
        raise GeometryError("every coordinate of upper must be finite and greater than that of lower")
    if any(n != int(n) or n < 1 for n in counts):
        raise GeometryError(
            f"the counts of a box mesh must be whole numbers of at least 1, not {list(counts)}"
        )
    if np.prod([n + 1.0 for n in counts]) > MAX_POINTS:
        raise GeometryError(f"a box mesh of {' x '.join(map(str, counts))} is too large, use smaller counts")
    if pattern not in get_args(Pattern):
        raise GeometryError(f"there is no pattern {pattern!r}, use one of {', '.join(get_args(Pattern))}")
    if pattern == "crossed" and len(counts) == 3:
        raise GeometryError("the pattern crossed is for 2D, use alternating or same in 3D")
