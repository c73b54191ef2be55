"""Whether a surface passes through itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from continua.geometry.base import Array

SLACK = 1e-9  # of an edge and of a facet, within which touching is no crossing


def crossing(points: Array, facets: NDArray[np.integer]) -> int | None:
    """Number of a facet that an edge of the surface passes through, or None where no edge does.

    points (N, d) [m], facets (F, d): triangles in 3D, segments in 2D. Facets that share a point do not count.
    """
    d = points.shape[1]
    middles = points[facets].mean(axis=1)
    reach = np.linalg.norm(points[facets] - middles[:, None], axis=2).max(axis=1)
    tree = cKDTree(middles)
    order = np.argsort(reach)  # the larger of two facets looks for the smaller one, in shells of like size
    for begin, end in _shells(reach[order]):
        near = tree.query_ball_point(middles[order[begin:end]], 2 * reach[order[end - 1]])
        one = np.repeat(order[begin:end], [len(found) for found in near])
        other = np.concatenate([np.asarray(found, np.intp) for found in near])
        kept = (reach[other] <= reach[one]) & (one != other)
        kept &= ~(facets[one][:, :, None] == facets[other][:, None, :]).any(axis=(1, 2))
        one, other = one[kept], other[kept]
        for a, b in ((one, other), (other, one)):
            for k in range(d if d == 3 else 1):
                ends = points[facets[b][:, [k, (k + 1) % d]]]
                hit = _pierces(ends[:, 0], ends[:, 1], points[facets[a]])
                if hit.any():
                    return int(a[int(np.argmax(hit))])
    return None


def _shells(sizes: Array) -> list[tuple[int, int]]:
    """Ranges of ascending sizes that differ by at most a factor of two."""
    found, begin = [], 0
    while begin < len(sizes):
        end = int(np.searchsorted(sizes, 2 * sizes[begin], side="right"))
        found.append((begin, end))
        begin = end
    return found


def _pierces(start: Array, end: Array, corners: Array) -> NDArray[np.bool_]:
    """Which segments (n, d) pass through facets (n, d, d): start + t (end - start) = p_0 + sum_k u_k (p_k - p_0)."""
    matrix = np.concatenate(
        [(end - start)[:, :, None], (corners[:, :1] - corners[:, 1:]).transpose(0, 2, 1)], axis=2
    )
    scale = np.prod(np.linalg.norm(matrix, axis=1), axis=1)
    flat = np.abs(np.linalg.det(matrix)) <= SLACK * scale  # along the facet
    matrix[flat] = np.eye(matrix.shape[1])
    t, *u = np.linalg.solve(matrix, (corners[:, 0] - start)[:, :, None])[:, :, 0].T
    inside = (t > SLACK) & (t < 1 - SLACK) & (sum(u) < 1 - SLACK)
    for one in u:
        inside &= one > SLACK
    return np.asarray(inside & ~flat)
