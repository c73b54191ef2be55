"""Cameras: where a picture is taken from, and a good default for a given scene."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

Vector3 = tuple[float, float, float]


@dataclass(frozen=True)
class Camera:
    """Perspective camera at `eye` looking at `target` [m]; `fov` is the vertical angle of view [degrees].

    `band` is the part of the picture that it takes: first row, number of rows, and rows of the whole picture.
    """

    eye: Vector3
    target: Vector3
    up: Vector3 = (0.0, 1.0, 0.0)
    fov: float = 28.0
    band: tuple[int, int, int] = (0, 1, 1)

    def seen_from(self, origin: np.ndarray) -> Camera:
        """With lengths from `origin` (3,) [m]."""
        return replace(self, eye=_tuple(self.eye - origin), target=_tuple(self.target - origin))

    def basis(self) -> np.ndarray:
        """Rows right, up and forward (3, 3), orthonormal."""
        forward = _unit(np.subtract(self.target, self.eye))
        right = np.cross(forward, self.up)
        if np.linalg.norm(right) < 1e-6:  # looking straight up or down
            right = np.cross(forward, (0.0, 0.0, -1.0) if abs(forward[1]) > 0.9 else (0.0, 1.0, 0.0))
        right = _unit(right)
        return np.array([right, np.cross(right, forward), forward])

    def whole_height(self, height: int) -> int:
        """Height [pixels] of the whole picture of which a band of that height is taken."""
        return height * self.band[2] // self.band[1]

    def first_row(self, height: int) -> int:
        """Row of the whole picture at which a band of that height [pixels] begins."""
        return height * self.band[0] // self.band[1]

    def focal(self, height: int) -> float:
        """Pixels per metre at a distance of one metre, for a picture or band of that height in pixels."""
        return 0.5 * self.whole_height(height) / float(np.tan(np.radians(self.fov) / 2))

    def middle(self, size: tuple[int, int]) -> tuple[float, float]:
        """Where the camera looks in a picture or band of (width, height) [pixels], y down; it may be outside."""
        return size[0] / 2, self.whole_height(size[1]) / 2 - self.first_row(size[1])

    def project(self, x: np.ndarray, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Pixels (N, 2), y down, and depths (N,) [m] of points (N, 3) in a picture of (width, height)."""
        local = (x - np.asarray(self.eye, x.dtype)) @ self.basis().T.astype(x.dtype)
        depth = local[:, 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = self.focal(size[1]) / depth
            across, along = self.middle(size)
            pixels = np.stack([across + local[:, 0] * scale, along - local[:, 1] * scale], axis=1)
        return pixels, depth


def framing(
    lower: np.ndarray,
    upper: np.ndarray,
    size: tuple[int, int],
    *,
    azimuth: float = 32.0,
    elevation: float = 16.0,
    fov: float = 28.0,
    margin: float = 0.09,
) -> Camera:
    """Camera that has the box from `lower` to `upper` (3,) in view, seen from the front right and above.

    `azimuth` turns around the vertical axis and `elevation` lifts [degrees]; `margin` is the part of the
    picture left free at each side.
    """
    a, e = np.radians(azimuth), np.radians(elevation)
    backward = np.array([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)])
    basis = Camera(_tuple(backward), (0.0, 0.0, 0.0)).basis()
    corners = np.array([[(lower, upper)[bit >> axis & 1][axis] for axis in range(3)] for bit in range(8)])
    center = (lower + upper) / 2
    half = np.tan(np.radians(fov) / 2) * (1 - 2 * margin) * np.array([size[0] / size[1], 1.0])
    for _ in range(4):  # shifting the target changes the perspective a little, so repeat
        local = (corners - center) @ basis.T
        distance = float(np.max(np.abs(local[:, :2]) / half - local[:, 2:]))
        distance = max(distance, 1e-3)
        screen = local[:, :2] / (local[:, 2:] + distance)
        middle = (screen.max(axis=0) + screen.min(axis=0)) / 2 * distance
        center = center + middle @ basis[:2]
    return Camera(_tuple(center + backward * distance), _tuple(center), fov=fov)


def _unit(x: np.ndarray) -> np.ndarray:
    norm = np.linalg.norm(x)
    return np.array([0.0, 0.0, -1.0]) if norm == 0 else np.asarray(x / norm)


def _tuple(x: np.ndarray) -> Vector3:
    return float(x[0]), float(x[1]), float(x[2])
