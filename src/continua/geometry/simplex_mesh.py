"""Meshes of triangles (2D) and tetrahedra (3D) as plain, checked arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.errors import GeometryError
from continua.geometry.base import Array
from continua.geometry.connected import connected_pieces

Indices = NDArray[np.int32]

# Facet k lies opposite corner k; seen from outside a positively oriented cell it turns counter-clockwise.
FACETS = {2: [[1, 2], [2, 0], [0, 1]], 3: [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]}
FLAT = 1e-9  # a cell is degenerate if its volume is less than this part of its longest edge to the power d


@dataclass(frozen=True)
class Quality:
    """How well shaped the cells are; a regular simplex has angles of 60 (2D) or 70.5 (3D) degrees, ratio 1."""

    smallest_angle: float  # between two facets of a cell [degrees]; in 3D these are the dihedral angles
    largest_angle: float  # [degrees]
    smallest_ratio: float  # d times inscribed over circumscribed radius, in (0, 1]
    worst_cell: int  # the cell of that ratio


class SimplexMesh:
    """Points (N, d) [m] and the cells (M, d+1) between them: triangles in 2D, tetrahedra in 3D.

    Cells given inside out are turned (`turned` says how many); cells without volume, cells that overlap a
    neighbour and points without a cell are refused. The arrays are copies and cannot be written to.
    """

    def __init__(self, points: ArrayLike, cells: ArrayLike, name: str = "mesh") -> None:
        """`name` is how error messages call the mesh."""
        self.points = _checked_points(points, name)
        self.cells, self.turned = _turned(self.points, _checked_cells(cells, self.points, name), name)
        self.surface, self.cell_behind = _boundary(self.cells, name)
        """Boundary facets (F, d), counter-clockwise from outside; in 2D the body lies left of each edge. And
        the cell (F,) that each belongs to."""
        for array in (self.points, self.cells, self.surface, self.cell_behind):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"SimplexMesh({len(self.points)} points, {len(self.cells)} cells, {self.dimension}D)"

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.points.shape[1])

    @cached_property
    def volumes(self) -> Array:
        """Volume (M,) [m^3] of every cell (area [m^2] in 2D)."""
        return signed_volumes(self.points, self.cells)

    @cached_property
    def gradients(self) -> Array:
        """Gradients (M, d+1, d) [1/m] of the barycentric coordinates, so that F = sum_k x_k gradient_k^T."""
        corners = self.points[self.cells]
        edges = corners[:, 1:] - corners[:, :1]
        others = np.linalg.inv(edges).transpose(0, 2, 1)
        return np.concatenate([-others.sum(axis=1, keepdims=True), others], axis=1)

    @cached_property
    def edges(self) -> Indices:
        """Every edge once, as sorted pairs of points (E, 2)."""
        pairs = list(combinations(range(self.dimension + 1), 2))
        ends = np.sort(self.cells[:, pairs].reshape(-1, 2), axis=1)
        return ends[np.unique(_keys(ends), return_index=True)[1]]

    @cached_property
    def components(self) -> Indices:
        """Number (N,) of the connected piece that every point belongs to, counted from 0."""
        return connected_pieces(self.edges, len(self.points))

    def quality(self) -> Quality:
        """Angles and radius ratio of the worst cells."""
        angles, ratios = cell_angles(self.gradients), radius_ratios(self.points, self.cells, self.gradients)
        worst = int(ratios.argmin())
        return Quality(float(angles.min()), float(angles.max()), float(ratios[worst]), worst)


def signed_volumes(points: Array, cells: NDArray[np.integer]) -> Array:
    """Volume (M,) of the cells (M, d+1), negative where a cell is inside out."""
    corners = points[cells]
    edges = corners[:, 1:] - corners[:, :1]
    if points.shape[1] == 2:
        return np.asarray(edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]) / 2
    return np.asarray(np.einsum("mi,mi->m", edges[:, 0], np.cross(edges[:, 1], edges[:, 2]))) / 6


def cell_angles(gradients: Array) -> Array:
    """Angles (M, d(d+1)/2) [degrees] between the facets of every cell, from its gradients (M, d+1, d).

    A gradient is an inward facet normal, so that facets i and j meet at the angle of cosine -g_i.g_j.
    """
    normals = gradients / np.linalg.norm(gradients, axis=2, keepdims=True)
    i, j = np.array(list(combinations(range(gradients.shape[1]), 2))).T
    cosines = -np.einsum("mkc,mkc->mk", normals[:, i], normals[:, j])
    return np.degrees(np.arccos(np.clip(cosines, -1, 1)))


def radius_ratios(points: Array, cells: NDArray[np.integer], gradients: Array) -> Array:
    """d times inscribed over circumscribed radius (M,): 1 for regular cells, 0 for flat ones."""
    corners = points[cells]
    edges = corners[:, 1:] - corners[:, :1]
    # The centre c of the circumscribed sphere, seen from corner 0, has e.c = |e|^2 / 2 for all edges e.
    half = np.einsum("mkc,mkc->mk", edges, edges) / 2
    center = np.einsum("mkc,mk->mc", gradients[:, 1:], half)
    inscribed = 1 / np.linalg.norm(gradients, axis=2).sum(axis=1)  # heights are 1 / |gradient|
    return np.asarray(points.shape[1] * inscribed / np.linalg.norm(center, axis=1))


def _checked_points(points: ArrayLike, name: str) -> Array:
    try:
        array = np.array(points, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise GeometryError(f"the points of {name} must be rows of numbers, all of the same length") from None
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise GeometryError(f"the points of {name} need the shape (N, 2) or (N, 3), not {array.shape}")
    broken = ~np.isfinite(array).all(axis=1)
    if broken.any():
        raise GeometryError(f"point {int(broken.argmax())} of {name} is not finite, give it a place")
    return array


def _checked_cells(cells: ArrayLike, points: Array, name: str) -> Indices:
    array, corners = np.asarray(cells), points.shape[1] + 1
    if array.ndim != 2 or array.shape[1] != corners or not np.issubdtype(array.dtype, np.integer):
        kind = "triangles" if corners == 3 else "tetrahedra"
        raise GeometryError(
            f"the cells of {name} must be {kind}, whole numbers of shape (M, {corners}), not {array.shape}"
        )
    if len(array) == 0:
        raise GeometryError(f"{name} has no cells")
    outside = ((array < 0) | (array >= len(points))).any(axis=1)
    if outside.any():
        cell = int(outside.argmax())
        raise GeometryError(
            f"cell {cell} of {name} refers to a point that does not exist, {_row(array[cell])}"
        )
    unused = np.bincount(array.ravel(), minlength=len(points)) == 0
    if unused.any():
        raise GeometryError(f"point {int(unused.argmax())} of {name} belongs to no cell, leave it out")
    return np.array(array, dtype=np.int32, order="C")


def _turned(points: Array, cells: Indices, name: str) -> tuple[Indices, int]:
    """Cells with positive volume, and how many had to be turned for it."""
    volumes = signed_volumes(points, cells)
    corners = points[cells]
    pairs = combinations(range(cells.shape[1]), 2)
    longest = np.max([np.linalg.norm(corners[:, i] - corners[:, j], axis=1) for i, j in pairs], axis=0)
    flat = ~(np.abs(volumes) > FLAT * longest ** points.shape[1])
    if flat.any():
        cell = int(flat.argmax())
        raise GeometryError(f"cell {cell} of {name}, {_row(cells[cell])}, has no volume, remove or repair it")
    inverted = volumes < 0
    cells[inverted, :2] = cells[inverted, 1::-1]
    return cells, int(inverted.sum())


def _boundary(cells: Indices, name: str) -> tuple[Indices, Indices]:
    """Facets (F, d) of one cell only, and that cell (F,).

    A facet of two cells must have one on either side, or they overlap.
    """
    corners = cells.shape[1]
    facets = cells[:, FACETS[corners - 1]].reshape(-1, corners - 1)
    _, first, number, uses = np.unique(
        _keys(np.sort(facets, axis=1)), return_index=True, return_inverse=True, return_counts=True
    )
    if (uses > 2).any():
        cell = int(first[uses > 2].min()) // corners
        raise GeometryError(f"cell {cell} of {name} shares a facet with more than one other cell, remove one")
    overlap = (np.bincount(number, _parity(facets)) != 0) & (uses == 2)
    if overlap.any():
        pair = np.flatnonzero(number == int(overlap.argmax())) // corners
        raise GeometryError(f"cells {pair[0]} and {pair[1]} of {name} overlap, repair the mesh")
    own = np.sort(first[uses == 1])
    return facets[own], (own // corners).astype(np.int32)


def _keys(rows: Indices) -> NDArray[np.int64]:
    """One number per row (R, k) of indices; equal rows have equal numbers, which sort like the rows."""
    keys, size = rows[:, 0].astype(np.int64), int(rows.max()) + 1
    for column in rows.T[1:]:
        if int(keys.max()) + 1 > np.iinfo(np.int64).max // size:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
        keys = keys * size + column
    return keys


def _parity(facets: Indices) -> NDArray[np.integer]:
    """1 for facets (F, d) that are an even permutation of their sorted corners, -1 for odd ones."""
    pairs = combinations(range(facets.shape[1]), 2)
    return np.asarray(np.prod([np.sign(facets[:, j] - facets[:, i]) for i, j in pairs], axis=0))


def _row(numbers: NDArray[np.integer]) -> str:
    return f"({', '.join(map(str, numbers.tolist()))})"
