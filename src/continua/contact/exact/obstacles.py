"""Colliders as surfaces of infinite mass: facets that go where the collider goes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.contact.colliders import Collider, Plane
from continua.errors import GeometryError, SetupError
from continua.geometry.boundary import boundary_of

Array = NDArray[np.float64]
Indices = NDArray[np.int32]
FINE, COARSE = 160, 32  # facets along the longest side of a curved collider, at most and at least
PATCH = {2: np.array([[0, 1]], np.int32), 3: np.array([[0, 1, 2], [0, 2, 3]], np.int32)}  # facets of a plane
WIDE = 4.0  # half size of the patch that stands for a plane, in radii of what is above it


class ObstacleMesh:
    """The surface of a collider between points (V, d) [m] of its own frame.

    size [m]: of the facets of curved ones. A plane is a patch below what is near it, found anew in every step.
    """

    def __init__(self, collider: Collider, size: float) -> None:
        self.collider = collider
        self._points = np.empty((0, collider.dimension))
        if isinstance(collider, Plane):
            self.facets = PATCH[collider.dimension]
        else:
            self._points, self.facets = _surface(collider, size)

    def __len__(self) -> int:
        """Number of its points."""
        return int(self.facets.max()) + 1

    def ends(self, t: float, dt: float, center: Array, radius: float) -> tuple[Array, Array]:
        """Where its points (V, d) [m] are at time t [s], and dt [s] later.

        center (d,) [m] and radius [m]: of a ball around everything that may touch it meanwhile.
        """
        d = self.collider.dimension
        before, after = (self.collider.movement.pose(time, d) for time in (t, t + dt))
        points = self._points
        if isinstance(self.collider, Plane):
            own = before.rotation.T @ (center - before.position)
            points = _patch(self.collider, own, WIDE * radius)
        return before.position + points @ before.rotation.T, after.position + points @ after.rotation.T


def _surface(collider: Collider, size: float) -> tuple[Array, Indices]:
    shape = collider.as_shape()
    assert shape is not None
    lower, upper = shape.bounds()
    longest = float((upper - lower).max())
    try:
        found = boundary_of(shape, float(np.clip(size, longest / FINE, longest / COARSE)))
    except GeometryError as error:
        raise SetupError(
            f'the surface of the collider "{collider.name}" for exact contact: {error}'
        ) from None
    used, facets = np.unique(found.facets, return_inverse=True)
    return np.asarray(found.points[used], float), facets.reshape(found.facets.shape).astype(np.int32)


def _patch(plane: Plane, center: Array, half: float) -> Array:
    """Corners of a segment or a square of a plane, below a point (d,) of its frame."""
    d = plane.dimension
    normal = np.array(plane.normal) / np.linalg.norm(plane.normal)
    point = np.zeros(d) if plane.point is None else np.array(plane.point)
    foot = center - normal * float(normal @ (center - point))
    along = np.linalg.svd(normal[None])[2][1:]  # (d - 1, d), normal to it
    if np.linalg.det(np.vstack([normal, along])) < 0:
        along[0] *= -1
    corners = np.array([[-1], [1]] if d == 2 else [[-1, -1], [1, -1], [1, 1], [-1, 1]], float)
    return np.asarray(foot + half * corners @ along, float)
