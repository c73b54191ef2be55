"""Mesh bodies as drawable geometry: surfaces in 3D, springs as lines."""

from __future__ import annotations

import numpy as np

from continua.io.export import in_space
from continua.io.frames import BodyFrame
from continua.render.colliders import Solid, Wires

_CREASE = np.cos(np.radians(40.0))  # faces that meet at a larger angle keep their edge


def solid_of(body: BodyFrame, colors: np.ndarray, eye: np.ndarray) -> Solid | None:
    """Surface of a 3D mesh body with the colours (N, 3) of its points, seen from `eye` (3,); None without one.

    Sheets have no outside: each of their vertices turns its normal towards the eye.
    """
    skin = body.skin()
    if skin is None or body.x.shape[1] == 2:
        return None
    seen, triangles = skin
    x = body.x[seen].astype(np.float64)
    triangles = triangles[np.isfinite(x[triangles]).all(axis=(1, 2))]
    corners = x[triangles]
    normals = creased_normals(corners, triangles).reshape(-1, 3)
    vertices = corners.reshape(-1, 3)
    if body.kind == "springs":
        away = np.einsum("ij,ij->i", normals, vertices - eye) > 0
        normals[away] *= -1
    numbers = np.arange(len(vertices)).reshape(-1, 3)
    return Solid(vertices, numbers, normals, colors[seen][triangles].reshape(-1, 3))


def wires_of(body: BodyFrame) -> Wires | None:
    """Springs of a body without a surface; None for other bodies."""
    if body.kind != "springs" or body.cells is None or body.skin() is not None:
        return None
    ends = in_space(body.x)[body.cells].astype(np.float64)
    ends = ends[np.isfinite(ends).all(axis=(1, 2))]
    return Wires(ends[:, 0], ends[:, 1])


def creased_normals(corners: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals (F, 3, 3) at the corners (F, 3, 3) [m] of triangles (F, 3): smooth, but sharp at creases.

    The normal at a corner is the mean, weighted by area, of those faces at the same vertex that are not turned
    away from its own face by more than the crease angle.
    """
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    unit = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-300)
    vertex = triangles.reshape(-1)
    order = np.argsort(vertex, kind="stable")  # corners grouped by vertex
    valence = np.bincount(vertex)[vertex[order]]
    start = np.searchsorted(vertex[order], vertex[order])
    one = np.repeat(order, valence)  # all pairs of corners at one vertex
    offset = np.arange(len(one)) - np.repeat(np.cumsum(valence) - valence, valence)
    other = order[np.repeat(start, valence) + offset] // 3
    smooth = np.einsum("ij,ij->i", unit[one // 3], unit[other]) > _CREASE
    one, other = one[smooth], other[smooth]
    total = np.stack([np.bincount(one, area[other, k], len(vertex)) for k in range(3)], axis=1)
    length = np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
    return np.asarray((total / length).reshape(corners.shape))
