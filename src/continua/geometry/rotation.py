"""Rotation matrices from an angle and an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from continua.geometry.base import Array


def unit_axis(axis: Sequence[float] | None, dimension: int) -> Array:
    """Unit vector (3,) along the axis of rotation: z in 2D, where `axis` must be None."""
    if dimension == 2:
        if axis is not None:
            raise ValueError("axis has no meaning in 2D, leave it out")
        return np.array([0.0, 0.0, 1.0])
    if axis is None:
        raise ValueError("axis is needed in 3D")
    if len(axis) != 3:
        raise ValueError("axis needs 3 coordinates")
    length = math.hypot(*axis)
    if length == 0:
        raise ValueError("axis must not be zero")
    return np.array(axis) / length


def cross_matrix(w: Array) -> Array:
    """Matrix (3, 3) that maps x to w cross x."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def rotation_matrix(angle: float, axis: Sequence[float] | None, dimension: int) -> Array:
    """Rotation (d, d) by `angle` [rad], counter-clockwise about `axis`.

    R = I + sin(angle) K + (1 - cos(angle)) K^2 with K the cross matrix of the unit axis; in 2D its x-y part.
    """
    K = cross_matrix(unit_axis(axis, dimension))
    R = np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * (K @ K)
    return R[:dimension, :dimension]
