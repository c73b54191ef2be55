"""The part of a picture that does not move: background, planes and colliders, drawn once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from continua.render.camera import Camera
from continua.render.colliders import Drawable, Ground, Solid, Wires, merged
from continua.render.ground import Backdrop
from continua.render.light import light_axes, sample_surface
from continua.render.raster import NOTHING, Canvas
from continua.render.view import View

LINE = -2
"""Owner of pixels that show a line; the pixels of solids are owned by -3, -4, ..."""


@dataclass
class Stage:
    """Canvas with the colliders; `normals` and `colors` (P, 3) belong to the owners -3, -4, ...

    `behind` (H W, 3) is the linear background.
    """

    canvas: Canvas
    backdrop: Backdrop
    behind: np.ndarray
    normals: np.ndarray
    colors: np.ndarray


def build_stage(view: View, shapes: list[Drawable], light: np.ndarray, size: tuple[int, int]) -> Stage:
    """Draw the colliders of a view on a canvas of that size; `light` (3,) points towards the light."""
    canvas = Canvas(view.camera, size)
    solids = [shape for shape in shapes if isinstance(shape, Solid)]
    normals, colors = draw_solids(canvas, solids)
    for shape in shapes:
        if isinstance(shape, Wires):
            canvas.lines(shape, line_width(view.camera, size), LINE)
    grounds = [shape for shape in shapes if isinstance(shape, Ground)]
    center = (view.lower + view.upper) / 2
    backdrop = Backdrop(view.camera, view.size, grounds, center, view.extent, light_axes(light)[:2])
    return Stage(canvas, backdrop, backdrop.image**2.2, normals, colors)


def shadow_points(view: View, shapes: list[Drawable]) -> np.ndarray:
    """Points (N, 3) spread over the colliders of a view, to cast shadows."""
    solids = [shape for shape in shapes if isinstance(shape, Solid)]
    points = [sample_surface(solid, view.extent / 150) for solid in solids]
    return np.concatenate([np.zeros((0, 3), np.float32), *points])


def line_width(camera: Camera, size: tuple[int, int]) -> int:
    """Width of lines [pixels] on a canvas of that size."""
    return max(2, round(camera.whole_height(size[1]) / 480))


def draw_solids(canvas: Canvas, solids: list[Solid], first: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw solids on a canvas; returns the normals and linear colours (P, 3) of what is in front.

    Row k of these tables belongs to the pixel that `LINE - 1 - (first + k)` owns.
    """
    if not solids:
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)
    layer = Canvas(canvas.camera, canvas.size)
    table = layer.triangles(merged(solids))
    front = np.flatnonzero((layer.owner != NOTHING) & (layer.depth < canvas.depth))
    canvas.depth[front] = layer.depth[front]
    canvas.owner[front] = LINE - 1 - (first + np.arange(len(front)))
    rows = table[layer.owner[front]]
    return rows[:, :3], rows[:, 3:] ** np.float32(2.2)
