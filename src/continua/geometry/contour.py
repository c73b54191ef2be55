"""The surface of any shape as triangles, or as segments in 2D, with its sharp edges: dual contouring.

After Ju, Losasso, Schaefer and Warren (SIGGRAPH 2002). Every lattice cell that the surface passes through gets one
vertex, where the planes that touch the surface on the edges of the cell come closest to meet; every lattice edge that
the surface cuts gets a face between the vertices of the cells around it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.geometry.base import Array, Shape

Indices = NDArray[np.int64]
BISECTIONS = 24  # of a lattice edge
HAIR = 1e-5  # of a lattice cell, for differences
CLOSER = (
    0.2,
    0.2,
)  # distances from the vertex of a cell, each of the last, at which the surface is looked at again
SLACK = 0.5  # cells that a vertex may lie beyond its own, for edges that only just miss it
SAME = 0.9  # cosine of the angle between normals of one smooth part in a cell, at least
FLAT = 0.1  # bends below this part of the largest one are no edge


@dataclass(frozen=True)
class Contour:
    """Vertices (V, d) [m], and triangles (F, 3) that turn outwards or, in 2D, segments (F, 2) with the inside left."""

    vertices: Array
    faces: Indices


def gradient(shape: Shape, x: Array, hair: float) -> Array:
    """Gradient (N, d) of the signed distance at points x (N, d), by differences over `hair` [m]."""
    sides = [
        shape.signed_distance(x + step) - shape.signed_distance(x - step)
        for step in hair * np.eye(x.shape[1])
    ]
    slope = np.stack(sides, axis=1) / (2 * hair)
    return np.asarray(slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-12))


def _projected(shape: Shape, x: Array, hair: float) -> Array:
    """Points of the surface close to points x (N, d) near it."""
    return np.asarray(x - shape.signed_distance(x)[:, None] * gradient(shape, x, hair))


def contour(shape: Shape, values: Array, origin: Array, spacing: float) -> Contour:
    """Surface of a shape whose signed distance on a lattice, (nx, ny[, nz]) from `origin` (d,), is `values`.

    The outermost points of the lattice must lie outside. What is thinner than a cell may be missed.
    """
    hair = HAIR * spacing
    points, faces = _cut_edges(shape, values < 0, origin, spacing)
    used, found = np.unique(faces, return_inverse=True)
    faces = found.reshape(len(faces), -1)
    owner = faces.ravel()
    cut = np.repeat(points, faces.shape[1], axis=0)
    normals = np.repeat(gradient(shape, points, hair), faces.shape[1], axis=0)
    corner = origin + spacing * np.stack(np.unravel_index(used, values.shape), axis=1)
    vertices = _vertices(cut, normals, owner, corner, spacing)
    for nearer in CLOSER:  # curved surfaces are flatter the closer one looks
        middle = vertices[owner]
        place = _projected(shape, middle + nearer * (cut - middle), hair)
        across = gradient(shape, place, hair)
        same = (np.einsum("ij,ij->i", across, normals) > SAME)[:, None]  # else it has passed an edge
        cut, normals = np.where(same, place, cut), np.where(same, across, normals)
        vertices = _vertices(cut, normals, owner, corner, spacing)
    return Contour(vertices, faces if values.ndim == 2 else _triangles(shape, vertices, faces))


def _cut_edges(
    shape: Shape, inside: NDArray[np.bool_], origin: Array, spacing: float
) -> tuple[Array, Indices]:
    """Where the surface cuts lattice edges (N, d), and the cells round each of them (N, 2 or 4), turned outwards."""
    d = inside.ndim
    strides = np.array(
        [int(np.prod(inside.shape[a + 1 :])) for a in range(d)]
    )  # of numbers of nodes and cells
    points, faces = [], []
    for axis in range(d):
        low, high = np.delete(inside, -1, axis), np.delete(inside, 0, axis)
        node = np.argwhere(low != high)
        upward = low[tuple(node.T)]
        points.append(_roots(shape, origin + spacing * node, spacing * np.eye(d)[axis], upward))
        b, c = strides[(axis + 1) % d], strides[(axis + 2) % d]
        round_edge = [-b - c, -c, 0, -b] if d == 3 else [-b, 0] if axis == 0 else [0, -b]
        around = (node @ strides)[:, None] + np.array(round_edge)
        faces.append(np.where(upward[:, None], around, around[:, ::-1]))
    return np.concatenate(points), np.concatenate(faces)


def _roots(shape: Shape, start: Array, step: Array, inside: NDArray[np.bool_]) -> Array:
    """Where the surface cuts the edges from start (N, d) to start + step, which begin inside or outside."""
    low, high = np.zeros(len(start)), np.ones(len(start))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        before = (shape.signed_distance(start + middle[:, None] * step) < 0) == inside
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return np.asarray(start + ((low + high) / 2)[:, None] * step)


def _vertices(points: Array, normals: Array, owner: Indices, corner: Array, spacing: float) -> Array:
    """Vertex (C, d) of every cell: the least squares of n.(x - p) over its points and normals, near their mean."""
    count = len(corner)

    def total(values: Array) -> Array:
        columns = values.reshape(len(values), -1).T
        sums = [np.bincount(owner, column, count).astype(np.float64) for column in columns]
        return np.stack(sums, axis=1).reshape(count, *values.shape[1:])

    mean = total(points) / np.bincount(owner, minlength=count)[:, None]
    bends, axes = np.linalg.eigh(total(normals[:, :, None] * normals[:, None, :]))
    offset = total(normals * np.einsum("ij,ij->i", normals, points - mean[owner])[:, None])
    along = np.einsum("nji,nj->ni", axes, offset)
    sharp = bends > FLAT * bends[:, -1:]
    moved = np.where(sharp, along / np.where(sharp, bends, 1.0), 0.0)
    vertices: Array = mean + np.einsum("nij,nj->ni", axes, moved)
    return np.asarray(np.clip(vertices, corner - SLACK * spacing, corner + (1 + SLACK) * spacing))


def _triangles(shape: Shape, vertices: Array, quads: Indices) -> Indices:
    """Two triangles of each quadrilateral, cut along the diagonal that is closer to the surface."""
    ends = vertices[quads]
    off = [np.abs(shape.signed_distance((ends[:, k] + ends[:, k + 2]) / 2)) for k in (0, 1)]
    cut = np.where((off[0] <= off[1])[:, None], quads, np.roll(quads, -1, axis=1))
    found = cut[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    a, b, c = vertices[found].transpose(1, 0, 2)
    return np.asarray(found[np.cross(b - a, c - a).any(axis=1)])


def loops(outline: Contour) -> list[Array]:
    """Closed lines (N, 2) [m] of a 2D contour, anticlockwise round the shape and clockwise round its holes."""
    following: dict[int, list[int]] = {}
    for start, end in outline.faces.tolist():
        following.setdefault(start, []).append(end)
    found = []
    while following:
        path = [next(iter(following))]
        while ends := following.get(path[-1]):
            path.append(ends.pop())
            if not ends:
                del following[path[-2]]
        found.append(outline.vertices[path[:-1]])
    return found
