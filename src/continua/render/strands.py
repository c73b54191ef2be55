"""Strands as lit tubes: round where they are wide, like hair where they are thin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from continua.io.frames import BodyFrame
from continua.render.camera import Camera
from continua.render.light import Density
from continua.render.raster import Canvas, along_segments

_THIN, _WIDE = 1.0, 3.0  # radius [samples] below which a tube is lit as a hair, and above which as a solid
_TONE = 0.12  # neighbouring strands differ that much in brightness, at most, so that they can be told apart
_CASTERS = 400_000  # points that cast shadows, at most
_GLOSS, _SHARP = np.float32(0.20), 40  # height and narrowness of the highlight of hair


@dataclass
class Tubes:
    """Round tubes along segments (M, 2) between points x (N, 3) [m] of radius (N,) [m]; linear colours (N, 3)."""

    x: np.ndarray
    radius: np.ndarray
    segments: np.ndarray
    colors: np.ndarray
    density: Density | None = None  # where there are strands, for shade among them

    def casters(self, spacing: float) -> np.ndarray:
        """Points (K, 3) along the strands, about `spacing` [m] apart, for casting shadows."""
        a, b = self.x[self.segments[:, 0]], self.x[self.segments[:, 1]]
        length = np.linalg.norm(b - a, axis=1)
        count = np.ceil(length / max(spacing, float(length.sum()) / _CASTERS, 1e-12)).astype(int)
        one = np.repeat(np.arange(len(a)), count)
        part = (np.arange(len(one)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / count[one]
        return np.asarray(a[one] + part[:, None] * (b - a)[one], np.float32)


def tubes_of(body: BodyFrame, colors: np.ndarray) -> Tubes | None:
    """The strands of a body with the colours (N, 3) of its points; None for other bodies."""
    offsets = body.strands()
    if offsets is None or body.cells is None:
        return None
    x = body.x.astype(np.float32)
    strand = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    tone = 1 + _TONE * (2 * ((0.5 + 0.6180339887 * strand) % 1) - 1)
    linear = colors.astype(np.float32) ** np.float32(2.2) * tone[:, None].astype(np.float32)
    segments = body.cells[np.isfinite(x[body.cells]).all(axis=(1, 2))]
    radius = body.arrays["radius"].astype(np.float32)
    finite = x[np.isfinite(x).all(axis=1)]
    spacing = body.spacing(0.0) if len(segments) else 1.0
    density = Density(finite, spacing) if len(finite) >= 500 else None
    return Tubes(x, radius, segments, linear, density)


def merged(tubes: list[Tubes]) -> Tubes:
    """All tubes as one, without density."""
    first = np.cumsum([0, *(len(one.x) for one in tubes)])
    nothing = np.zeros((0, 3), np.float32)
    return Tubes(
        np.concatenate([nothing, *(one.x for one in tubes)]),
        np.concatenate([nothing[:, 0], *(one.radius for one in tubes)]),
        np.concatenate([np.zeros((0, 2), np.int64), *(one.segments + k for one, k in zip(tubes, first))]),
        np.concatenate([nothing, *(one.colors for one in tubes)]),
    )


@dataclass
class Hair:
    """The pixels (P,) of a picture that show tubes, of which the `thin` (P,) part, 0..1, is lit as hair.

    tangent (P, 3): along the tube; clump (P, 3): away from where there are many strands, shorter where that is unclear.
    """

    pixels: np.ndarray
    thin: np.ndarray
    tangent: np.ndarray
    clump: np.ndarray

    def lamp(self, light: np.ndarray, plain: np.ndarray) -> np.ndarray:
        """Part of the light (P,) that the pixels send back, given that of a solid, after Kajiya and Kay (Ka89).

        A hair is brightest across the light whatever its side; only in a clump is there one that is turned away.
        """
        across = np.sqrt(np.clip(1 - (self.tangent @ light) ** 2, 0, 1))
        turned = np.clip((self.clump @ light + np.float32(0.5)) / np.float32(1.5), 0, 1)
        free = 1 - np.linalg.norm(self.clump, axis=1)
        hair = across * (free * np.float32(0.8) + (1 - free) * turned)
        return np.asarray(self.thin * hair + (1 - self.thin) * plain)

    def spread(self, count: int) -> np.ndarray:
        """`thin` of all pixels (count,) of the picture, 0 where there are no tubes."""
        found = np.zeros(count, np.float32)
        found[self.pixels] = self.thin
        return found

    def gloss(self, light: np.ndarray, forward: np.ndarray) -> np.ndarray:
        """Height (P,) of the highlight that hair has where it is across the middle of light and view."""
        half = light - forward
        half /= np.linalg.norm(half)
        across = np.sqrt(np.clip(1 - (self.tangent @ half.astype(np.float32)) ** 2, 0, 1))
        return np.asarray(_GLOSS * self.thin * across**_SHARP)


def show_tubes(
    mine: np.ndarray,
    spots: np.ndarray,
    segment: np.ndarray,
    whole: Tubes,
    tubes: list[Tubes],
    camera: Camera,
    size: tuple[int, int],
) -> tuple[Hair, np.ndarray, np.ndarray, np.ndarray]:
    """Pixels `mine` (P,), whose middles are at spots (P, 2), as they show a segment (P,) of all tubes.

    Returns how they are lit, their normals (P, 3), linear colours (P, 3) and openness (P,).
    """
    ends = whole.segments[segment]
    at, depth, rho = Canvas.tube_ends(camera, size, whole.x, whole.radius)
    part, off, _ = along_segments(spots, at[ends[:, 0]], at[ends[:, 1]])
    share = part / depth[ends[:, 1]]
    share /= share + (1 - part) / depth[ends[:, 0]]  # 1/depth is linear on the screen
    share = share[:, None]
    x = (1 - share) * whole.x[ends[:, 0]] + share * whole.x[ends[:, 1]]
    color = (1 - share) * whole.colors[ends[:, 0]] + share * whole.colors[ends[:, 1]]
    tangent = whole.x[ends[:, 1]] - whole.x[ends[:, 0]]
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-30)
    width = (1 - part) * rho[ends[:, 0]] + part * rho[ends[:, 1]]
    round_ = _round_normals(tangent, off / width, camera)
    clump, openness = np.zeros_like(x), np.ones(len(x), np.float32)
    first = 0
    for one in tubes:
        chosen = np.flatnonzero((segment >= first) & (segment < first + len(one.segments)))
        if one.density is not None and len(chosen):
            clump[chosen], openness[chosen] = one.density.normals(x[chosen])
        first += len(one.segments)
    thin = np.clip((_WIDE - width) / (_WIDE - _THIN), 0, 1)
    normal = (1 - thin[:, None]) * round_ + thin[:, None] * (0.4 * round_ + clump)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-6)
    return Hair(mine, thin, tangent, clump), normal.astype(np.float32), color, openness


def _round_normals(tangent: np.ndarray, across: np.ndarray, camera: Camera) -> np.ndarray:
    """Normals (P, 3) of tubes along tangents (P, 3), seen `across` (P,) radii to the left of their middle lines."""
    right, up, forward = camera.basis().astype(np.float32)
    along = np.stack([tangent @ right, tangent @ up], axis=1)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-6)
    side = along[:, :1] * up - along[:, 1:] * right
    toward = -forward - (tangent @ -forward)[:, None] * tangent
    toward /= np.maximum(np.linalg.norm(toward, axis=1, keepdims=True), 1e-6)
    s = np.clip(across, -1, 1)[:, None]
    return np.asarray(s * side + np.sqrt(1 - s * s) * toward)
