"""Light on particles: smooth normals, shade in hollows, and shadows, all from coarse grids."""

from __future__ import annotations

import numpy as np

from continua.render.colliders import Solid
from continua.render.grids import blur, interpolate

_CELLS = 2_000_000
_TEXELS = 640


class Density:
    """How full space is, on cells of two particle spacings; its gradient gives surface normals."""

    def __init__(self, x: np.ndarray, spacing: float) -> None:
        margin = 6.0
        low, high = np.percentile(x, (0.2, 99.8), axis=0)  # not the stray ones
        extent = high - low + 1e-6
        self.cell = 2.0 * spacing
        while np.prod(extent / self.cell + 2 * margin) > _CELLS:
            self.cell *= 1.2
        self.origin = low - margin * self.cell
        self.shape = tuple((extent / self.cell + 2 * margin).astype(int) + 1)
        spot = ((x - self.origin) / self.cell + 0.5).astype(np.int64)
        spot = spot[((spot >= 0) & (spot < self.shape)).all(axis=1)]
        index = np.ravel_multi_index(tuple(spot.T), self.shape)
        count = np.bincount(index, minlength=int(np.prod(self.shape))).astype(np.float32)
        full = (self.cell / spacing) ** 3
        self.fine = blur(np.minimum(count / full, 1.5).reshape(self.shape), 2)
        self.wide = blur(self.fine, 6)

    def normals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outward normals (N, 3), shorter where there is no clear surface, and openness (N,) in 0..1."""
        gradient = np.stack(np.gradient(self.fine), axis=-1)
        values = interpolate(
            np.concatenate([gradient, self.wide[..., None]], axis=-1), (x - self.origin) / self.cell
        )
        normals, wide = -values[:, :3], values[:, 3]
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        normals *= np.clip(length / 0.12, 0, 1) / np.maximum(length, 1e-9)
        return normals, np.clip(1.45 - 0.95 * wide, 0.35, 1)


def light_axes(light: np.ndarray) -> np.ndarray:
    """Two directions across the light and one along it (3, 3)."""
    side = np.cross(light, (0.0, 1.0, 0.0) if abs(light[1]) < 0.95 else (1.0, 0.0, 0.0))
    side /= np.linalg.norm(side)
    return np.array([side, np.cross(light, side), -light], np.float32)


class Shadows:
    """What the light sees first: a depth map along parallel rays. `light` (3,) points towards the light."""

    def __init__(self, light: np.ndarray, x: np.ndarray, spacing: float) -> None:
        self.axes = light_axes(light)
        local = x @ self.axes.T
        low, high = np.percentile(local[:, :2], (0.1, 99.9), axis=0)
        self.texel = max(1.1 * spacing, float((high - low).max()) / _TEXELS)
        self.bias = 2.0 * self.texel
        self.pad = 10
        self.origin = low - self.pad * self.texel
        self.shape = tuple(((high - low) / self.texel).astype(int) + 2 * self.pad + 1)
        spot = ((local[:, :2] - self.origin) / self.texel + 0.5).astype(np.int64)
        nearest = np.full(self.shape, np.inf, np.float32)
        for i, j in ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)):
            keep = ((spot + (i, j) >= 0) & (spot + (i, j) < self.shape)).all(axis=1)
            index = (spot[keep, 0] + i) * self.shape[1] + spot[keep, 1] + j
            np.minimum.at(nearest.reshape(-1), index, local[keep, 2])
        self.nearest = nearest
        self.cover = blur(np.isfinite(nearest).astype(np.float32), 5)

    def lit(self, x: np.ndarray) -> np.ndarray:
        """Part of the light that reaches points x (N, 3) on bodies, 0..1."""
        local = x @ self.axes.T
        spot = (local[:, :2] - self.origin.astype(np.float32)) / np.float32(self.texel)
        total = np.zeros(len(x), np.float32)
        spot = np.clip(spot, 1, np.array(self.shape, np.float32) - 2)
        height = local[:, 2] - np.float32(self.bias)
        taps = ((-0.7, -0.4), (0.5, -0.8), (0.8, 0.5), (-0.4, 0.8))
        for i, j in taps:
            a, b = ((spot + np.array([i + 0.5, j + 0.5], np.float32)).astype(np.int32)).T
            total += height < self.nearest.reshape(-1).take(a * np.int32(self.shape[1]) + b)
        return total / len(taps)

    def soft(self, local: np.ndarray) -> np.ndarray:
        """Part of the light, with soft edges, that reaches a plane behind everything.

        `local` (N, 2) are the first two coordinates of its points along `light_axes`.
        """
        return 1 - interpolate(self.cover[..., None], (local - self.origin) / self.texel)[:, 0]


def sample_surface(solid: Solid, spacing: float, limit: int = 60_000) -> np.ndarray:
    """Points (N, 3) spread over triangles about `spacing` apart, for casting shadows."""
    corners = solid.vertices[solid.triangles]
    edges = corners[:, 1:] - corners[:, :1]
    area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    count = np.ceil(area / max(spacing**2, area.sum() / limit)).astype(int)
    triangle = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(triangle))
    u, v = (
        (0.5 + 0.7548776662 * number) % 1,
        (0.5 + 0.5698402910 * number) % 1,
    )  # an even pattern in the square
    fold = u + v > 1
    u, v = np.where(fold, 1 - u, u), np.where(fold, 1 - v, v)
    points = corners[triangle, 0] + u[:, None] * edges[triangle, 0] + v[:, None] * edges[triangle, 1]
    return np.asarray(points, np.float32)
