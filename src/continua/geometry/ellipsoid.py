"""Distance to an ellipse or ellipsoid."""

from __future__ import annotations

import numpy as np

from continua.geometry.base import Array


def ellipsoid_distance(x: Array, radii: Array) -> Array:
    """Signed distance (N,) [m] from points x (N, d) to an ellipsoid about the origin, semi-axes radii (d,).

    The nearest surface point is q_i = r_i x_i / (u + r_i - 1) with r_i = (radii_i / min radii)^2, where u > 0
    solves sum_i (r_i z_i / (u + r_i - 1))^2 = 1 for z = x / radii. Newton on the inverse of the root of that
    sum, which is nearly linear in u, started below the root, climbs to it in a few steps.
    """
    smallest = int(np.argmin(radii))
    ratio = (radii / radii[smallest]) ** 2
    y = np.abs(x)
    # On the plane across the shortest axis u may be zero; a step of 1e-14 off that plane keeps it positive.
    y[:, smallest] = np.maximum(y[:, smallest], 1e-14 * radii[smallest])
    z = y / radii
    u = np.max(ratio * z - (ratio - 1), axis=1)
    u = np.maximum(u, z[:, smallest])
    for _ in range(50):
        terms = (ratio * z / (u[:, None] + (ratio - 1))) ** 2
        total = terms.sum(axis=1)
        slope = (terms / (u[:, None] + (ratio - 1))).sum(axis=1)  # -1/2 d(total)/du
        step = (np.sqrt(total) - 1) * total / slope
        u = u + step
        if np.all(np.abs(step) <= 1e-14 * u):
            break
    nearest = ratio * y / (u[:, None] + (ratio - 1))
    distance: Array = np.linalg.norm(y - nearest, axis=1)
    return np.where((z**2).sum(axis=1) < 1, -distance, distance)
