"""Volume, middle and second moments of what a closed surface encloses, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.errors import GeometryError
from continua.geometry.base import Array

THINNEST = 1e-12  # volume of a solid over that of the ball of its size, at least


@dataclass(frozen=True)
class Moments:
    """Of a solid of density one, or of an area in 2D."""

    volume: float  # [m^d]
    center: Array  # (d,) [m]
    second: Array  # (d, d) integral of r r^T about the centre [m^(d+2)]

    def inertia(self) -> Array:
        """Inertia (3, 3) about the centre over the density [m^(d+2)]; in 2D that of a slice of unit depth, of which
        only the last entry turns anything."""
        d = len(self.center)
        whole = np.zeros((3, 3))
        whole[:d, :d] = self.second
        return np.asarray(np.trace(whole) * np.eye(3) - whole)


def moments_of(points: Array, facets: NDArray[np.integer], name: str = "mesh") -> Moments:
    """Of the inside of facets (F, d) between points (N, d) [m], which turn outwards and close.

    Every facet and a point near the middle span a simplex; with corners r_k about that point its integrals are those
    of linear and quadratic functions, and signed volumes add up to the solid (divergence theorem).
    """
    d = points.shape[1]
    near = points[np.unique(facets)].mean(axis=0)
    corners = (points - near)[facets]  # (F, d, d)
    volumes = np.linalg.det(corners) / (2.0 if d == 2 else 6.0)
    volume = float(volumes.sum())
    size = float(np.linalg.norm(np.ptp(points[np.unique(facets)], axis=0)))
    if not volume > THINNEST * size**d:
        raise GeometryError(
            f"{name} encloses no volume, so that a rigid body of it would have no mass; check that its facets turn "
            "outwards and that it is not flat"
        )
    total = corners.sum(axis=1)
    first = (volumes @ total) / (d + 1)
    # Over a simplex with a corner at zero: V/((d+1)(d+2)) (sum r r^T + sum r (sum r)^T).
    squares = np.einsum("f,fka,fkb->ab", volumes, corners, corners) + np.einsum(
        "f,fa,fb->ab", volumes, total, total
    )
    center = first / volume
    second = squares / ((d + 1) * (d + 2)) - volume * np.outer(center, center)
    return Moments(volume, center + near, second)
