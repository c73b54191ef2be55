"""Triangle surfaces without triangles that have no area and without two that lie on each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.geometry.base import Array

Triangles = NDArray[np.int64]


def tidied(points: Array, triangles: Triangles, height: float) -> tuple[NDArray[np.int64], Triangles]:
    """Surface of points (N, 3) [m] and triangles (M, 3) whose triangles are higher than `height` [m] and lie apart.

    Returns the points that are left (K,), and triangles (L, 3) between these. Flat triangles shrink to one of their
    ends, so that a closed surface stays closed: every edge is passed as often one way as the other.
    """
    while True:
        triangles = _without_opposites(triangles)
        flat = _shortest_edges(points, triangles, height)
        if not len(flat):
            break
        into = np.arange(len(points))
        chosen = _apart(flat)
        into[chosen[:, 1]] = chosen[:, 0]
        triangles = into[triangles]
        a, b, c = triangles.T
        triangles = triangles[(a != b) & (b != c) & (c != a)]
    left, index = np.unique(triangles, return_inverse=True)
    return left, index.reshape(-1, 3)


def _shortest_edges(points: Array, triangles: Triangles, height: float) -> Triangles:
    """The shortest edge (F, 2) of every triangle that is not higher than `height` above its longest one."""
    corners = points[triangles]
    edges = np.roll(corners, -1, axis=1) - corners
    lengths = np.linalg.norm(edges, axis=2)
    twice_area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    flat = np.flatnonzero(~(twice_area > height * lengths.max(axis=1)))
    start = lengths[flat].argmin(axis=1)
    return np.stack([triangles[flat, start], triangles[flat, (start + 1) % 3]], axis=1)


def _apart(edges: Triangles) -> Triangles:
    """Edges (E, 2) of which no two share a point, at least one, the lower point first."""
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    first = np.zeros(edges.size, bool)
    first[np.unique(edges, return_index=True)[1]] = True
    return edges[first.reshape(-1, 2).all(axis=1)]


def _without_opposites(triangles: Triangles) -> Triangles:
    """Without pairs of triangles that have the same corners and face each other: they enclose nothing."""
    order = np.argsort(triangles, axis=1)
    even = (np.diff(order, axis=1) % 3 == 1).all(axis=1)  # a rotation of ascending corners
    corners, group = np.unique(np.sort(triangles, axis=1), axis=0, return_inverse=True)
    if len(corners) == len(triangles):
        return triangles
    group = group.reshape(-1)
    ups, downs = (np.bincount(group[way], minlength=len(corners)) for way in (even, ~even))
    keep = np.ones(len(triangles), bool)
    for way in (even, ~even):  # as many of either way as there are of the other go
        rows = np.flatnonzero(way)
        rows = rows[np.argsort(group[rows], kind="stable")]
        rank = np.arange(len(rows)) - np.searchsorted(group[rows], group[rows])
        keep[rows[rank < np.minimum(ups, downs)[group[rows]]]] = False
    return triangles[keep]
