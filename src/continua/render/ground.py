"""Planes behind everything: which part of the picture they fill, their grid lines and the shadows on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from continua.render.camera import Camera
from continua.render.colliders import Ground
from continua.render.grids import blur, interpolate

FLOOR = np.array([0.80, 0.82, 0.845], np.float32)
LINE = np.array([0.64, 0.67, 0.71], np.float32)


@dataclass
class Spots:
    """Where a plane is seen: pixels, strength (P,), coordinates in the plane and across the light (P, 2)."""

    ground: Ground
    pixels: np.ndarray
    fade: np.ndarray
    in_plane: np.ndarray
    in_light: np.ndarray


class Backdrop:
    """Background with the planes of a scene; fixed as long as the camera and the planes are.

    `extent` [m] is the size of the scene and `center` (3,) its middle; planes fade out some extents away.
    `across` (2, 3) are two directions across the light.
    """

    def __init__(
        self,
        camera: Camera,
        size: tuple[int, int],
        grounds: list[Ground],
        center: np.ndarray,
        extent: float,
        across: np.ndarray,
    ) -> None:
        self.camera, self.size = camera, size
        eye = np.asarray(camera.eye)
        self.grounds = [
            one for one in grounds if one.normal @ (eye - one.point) > 0
        ]  # seen from the free side
        self.image = _sky(camera, size)
        rays = _rays(camera, size)
        hit = np.full(len(rays), np.inf, np.float32)
        which = np.full(len(rays), -1, np.int8)
        for number, ground in enumerate(self.grounds):
            distance = _distance(rays, eye, ground)
            nearer = distance < hit
            hit[nearer], which[nearer] = distance[nearer], number
        self.spots: list[Spots] = []
        for number, ground in enumerate(self.grounds):
            pixels = np.flatnonzero(which == number)
            points = (eye + hit[pixels, None] * rays[pixels]).astype(np.float32)
            radius = np.linalg.norm(points - center, axis=1) / extent
            fade = np.clip((5.0 - radius) / 3.5, 0, 1)
            fade = (fade * fade * (3 - 2 * fade)).astype(np.float32)
            if abs(ground.normal[1]) < 0.5:
                fade *= 0.45  # walls step back
            keep = fade > 0.004
            pixels, points, fade = pixels[keep], points[keep], fade[keep]
            footprint = hit[pixels] / camera.focal(size[1])
            color = FLOOR + _lines(points, ground, footprint, extent)[:, None] * (LINE - FLOOR)
            self.image[pixels] += fade[:, None] * (color - self.image[pixels])
            in_plane, in_light = points @ plane_axes(ground).T, points @ across.T
            self.spots.append(Spots(ground, pixels, fade, in_plane, in_light))

    def depth_at(self, column: np.ndarray, row: np.ndarray, size: tuple[int, int]) -> np.ndarray:
        """Depth [m] of the nearest plane at pixels of a picture of that size; inf where there is none."""
        depth = np.full(len(column), np.inf, np.float32)
        if self.grounds:
            right, up, forward = self.camera.basis().astype(np.float32)
            focal = np.float32(self.camera.focal(size[1]))
            middle = self.camera.middle(size)
            across = (column + np.float32(0.5) - np.float32(middle[0])) / focal
            along = (np.float32(middle[1]) - row - np.float32(0.5)) / focal
            for ground in self.grounds:
                height = float(ground.normal @ (ground.point - self.camera.eye))
                n = ground.normal.astype(np.float32)
                with np.errstate(divide="ignore"):
                    distance = np.float32(height) / (across * (n @ right) + along * (n @ up) + n @ forward)
                np.minimum(depth, np.where(distance > 0, distance, np.inf), out=depth)
        return depth


def contact(ground: Ground, local: np.ndarray, x: np.ndarray, reach: float) -> np.ndarray:
    """Darkness (P,) in 0..1 close under bodies made of points x (N, 3), at plane points `local` (P, 2)."""
    height = x @ ground.normal.astype(np.float32) - np.float32(ground.point @ ground.normal)
    near = (height < 4 * reach) & (height > -4 * reach)
    if not near.any():
        return np.zeros(len(local), np.float32)
    axes = plane_axes(ground)
    spot, weight = x[near] @ axes.T, np.exp(-np.maximum(height[near], 0) / reach)
    low, high = np.percentile(spot, (0.1, 99.9), axis=0).astype(np.float32)
    texel = max(0.35 * reach, float((high - low).max()) / 300)
    low = low - 12 * texel
    shape = tuple(((high - low) / texel).astype(int) + 13)
    index = ((spot - low) / texel + 0.5).astype(np.int64)
    keep = ((index >= 0) & (index < shape)).all(axis=1)
    flat = index[keep, 0] * shape[1] + index[keep, 1]
    dark = np.zeros(shape[0] * shape[1], np.float32)
    np.maximum.at(dark, flat, weight[keep].astype(np.float32))
    return interpolate(blur(dark.reshape(shape), 4)[..., None], (local - low) / np.float32(texel))[:, 0]


def _sky(camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """Soft vertical gradient (H W, 3), lighter in the middle."""
    first = camera.first_row(size[1])
    whole = np.linspace(0, 1, camera.whole_height(size[1]), dtype=np.float32)
    height = whole[first : first + size[1], None]
    top, bottom = np.array([0.93, 0.95, 0.975]), np.array([0.86, 0.88, 0.905])
    rows = (top + (bottom - top) * height**1.5).astype(np.float32)
    return np.repeat(rows, size[0], axis=0)


def _rays(camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """Direction (H W, 3) of every pixel with unit length along the view, so that lengths are depths."""
    right, up, forward = camera.basis().astype(np.float32)
    focal = camera.focal(size[1])
    middle = camera.middle(size)
    across = ((np.arange(size[0], dtype=np.float32) + 0.5 - middle[0]) / focal)[None, :, None]
    along = ((middle[1] - np.arange(size[1], dtype=np.float32) - 0.5) / focal)[:, None, None]
    return np.asarray(forward + across * right + along * up, np.float32).reshape(-1, 3)


def _distance(rays: np.ndarray, eye: np.ndarray, ground: Ground) -> np.ndarray:
    with np.errstate(divide="ignore"):
        distance = np.float32(ground.normal @ (ground.point - eye)) / (
            rays @ ground.normal.astype(np.float32)
        )
    return np.asarray(np.where(distance > 0, distance, np.float32(np.inf)))


def _lines(points: np.ndarray, ground: Ground, footprint: np.ndarray, extent: float) -> np.ndarray:
    """Strength (P,) of grid lines a round number of metres apart, about ten across the scene."""
    spacing = 10.0 ** np.floor(np.log10(extent / 4))
    spacing *= max(step for step in (1, 2, 5) if step * spacing <= extent / 4)
    strength = np.zeros(len(points), np.float32)
    for coordinate in ((points - ground.point.astype(np.float32)) @ plane_axes(ground).T).T:
        away = np.abs((coordinate / spacing + 0.5) % 1 - 0.5) * spacing
        strength = np.maximum(strength, np.clip(1.4 - away / np.maximum(footprint, 1e-12), 0, 1))
    return np.asarray(strength * np.clip(1.2 - 12 * footprint / spacing, 0, 1), np.float32)


def plane_axes(ground: Ground) -> np.ndarray:
    """Two unit vectors (2, 3) in the plane, along the coordinate axes where possible."""
    normal = ground.normal
    first = np.eye(3)[np.argsort(np.abs(normal))[0]]
    first = first - normal * (normal @ first)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(normal, first)], np.float32)
