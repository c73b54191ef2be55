"""Closed tubes around curves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.geometry.base import Array
from continua.geometry.hair import perpendicular, transported

SIDES = 8


def tubes(
    points: Array, offsets: NDArray[np.integer], radius: Array
) -> tuple[Array, NDArray[np.int64], Array]:
    """Closed surface of tubes of radius (N,) [m] around curves through points (N, 3) [m], flat at their ends.

    offsets: number (S + 1,) of the first point of every curve, and N. Returns its vertices (SIDES N, 3), those of point
    k from SIDES k on, triangles (F, 3) that turn outwards, and unit normals (SIDES N, 3).
    """
    x = np.asarray(points, dtype=np.float64)
    along, across = _frames(x, np.asarray(offsets))
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    other = np.cross(along, across)
    normals = np.cos(angle)[None, :, None] * across[:, None] + np.sin(angle)[None, :, None] * other[:, None]
    vertices = x[:, None] + np.asarray(radius, dtype=np.float64)[:, None, None] * normals
    first, last = np.asarray(offsets)[:-1], np.asarray(offsets)[1:] - 1
    body = np.delete(np.arange(len(x)), last)
    side = np.arange(SIDES)
    following = (side + 1) % SIDES
    a, b = SIDES * body[:, None] + side, SIDES * body[:, None] + following
    walls = np.stack([a, b, b + SIDES, a, b + SIDES, a + SIDES], axis=-1).reshape(-1, 3)
    fan = np.stack([np.zeros(SIDES - 2, int), side[1:-1], side[2:]], axis=1)
    ends = [(SIDES * first[:, None, None] + fan[:, ::-1]), (SIDES * last[:, None, None] + fan)]
    faces = np.concatenate([walls, *(end.reshape(-1, 3) for end in ends)]).astype(np.int64)
    return vertices.reshape(-1, 3), faces, normals.reshape(-1, 3)


def _frames(x: Array, offsets: NDArray[np.integer]) -> tuple[Array, Array]:
    """Unit vectors along curves (N, 3) at their points, and across them (N, 3), without twist."""
    step = np.diff(x, axis=0)
    step /= np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-300)
    before, after = np.empty_like(x), np.empty_like(x)
    before[1:], after[:-1] = step, step
    before[offsets[:-1]] = after[offsets[:-1]]
    after[offsets[1:] - 1] = before[offsets[1:] - 1]
    along = before + after
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    across = perpendicular(along)
    place = np.arange(len(x)) - np.repeat(offsets[:-1], np.diff(offsets))
    for k in range(1, int(np.diff(offsets).max(initial=0))):  # all curves at once
        now = np.flatnonzero(place == k)
        across[now] = transported(across[now - 1], along[now - 1], along[now])
    return along, across
