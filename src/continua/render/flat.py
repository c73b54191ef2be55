"""Pictures of 2D runs with matplotlib: discs in metres on both axes, colliders behind."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from continua.io.frames import Frame
from continua.io.optional import require
from continua.render.colliders import contour_lines
from continua.render.colors import ramp
from continua.render.view import View

_FACE, _EDGE = "#c3c8d0", "#6f7784"


class FlatRenderer:
    """Draws the frames of one 2D view; `bare` leaves out axes and margins."""

    name = "matplotlib"
    parallel = False

    def __init__(self, view: View, *, bare: bool = False) -> None:
        figure_module = require("matplotlib.figure", "matplotlib", "render")
        agg = require("matplotlib.backends.backend_agg", "matplotlib", "render")
        self.patches = require("matplotlib.patches", "matplotlib", "render")
        self.collections = require("matplotlib.collections", "matplotlib", "render")
        self.paths = require("matplotlib.path", "matplotlib", "render").Path
        self.view = view
        dpi = 100 * view.size[1] / 720
        inches = view.size[0] / dpi, view.size[1] / dpi
        self.figure = figure_module.Figure(inches, dpi=dpi, facecolor="white")
        self.canvas = agg.FigureCanvasAgg(self.figure)
        place = (0.01, 0.01, 0.98, 0.98) if bare else (0.08, 0.09, 0.76 if view.show_legend else 0.89, 0.84)
        self.axes = self.figure.add_axes(place)
        self._set_axes()
        if bare:
            self.axes.tick_params(length=0, labelbottom=False, labelleft=False)
            self.axes.set(xlabel="", ylabel="")
        self.moving: list[Any] = []
        self.points = self.axes.scatter([], [], linewidths=0, zorder=3)
        if view.show_legend:
            self._legend()
        self._lock = threading.Lock()

    def render(self, frame: Frame) -> np.ndarray:
        """Picture (H, W, 3) of uint8."""
        with self._lock:
            clouds = self.view.clouds(frame)
            nothing = np.zeros((0, 3), np.float32)
            self.points.set_offsets(np.concatenate([nothing, *(cloud.x for cloud in clouds)])[:, :2])
            self.points.set_facecolors(np.concatenate([nothing, *(cloud.colors for cloud in clouds)]))
            sizes = [np.full(len(cloud.x), self._points_squared(cloud.radius)) for cloud in clouds]
            self.points.set_sizes(np.concatenate([np.zeros(0), *sizes]))
            self._draw_colliders(frame)
            self._draw_meshes(frame)
            if self.view.show_time:
                self.axes.set_title(f"t = {frame.time:.3f} s", fontsize=11, loc="left", color="#3a404a")
            self.canvas.draw()
            return np.array(np.asarray(self.canvas.buffer_rgba())[:, :, :3])

    def close(self) -> None:
        """Let go of the figure."""
        self.figure.clear()

    def _set_axes(self) -> None:
        axes, view = self.axes, self.view
        box = axes.get_window_extent()
        middle, half = (view.lower + view.upper)[:2] / 2, (view.upper - view.lower)[:2] / 2 * 1.06
        scale = max(half[0] / box.width, half[1] / box.height)  # metres per pixel, the same on both axes
        x, y = scale * box.width, scale * box.height
        self.limits = middle[0] - x, middle[0] + x, middle[1] - y, middle[1] + y
        axes.set_xlim(self.limits[:2])
        axes.set_ylim(self.limits[2:])
        axes.set_aspect("equal")
        axes.set_facecolor("#f6f7f9")
        axes.grid(color="#e1e4e9", linewidth=0.7, zorder=0)
        axes.set_axisbelow(True)
        axes.set_xlabel("x [m]")
        axes.set_ylabel("y [m]")
        for spine in axes.spines.values():
            spine.set_color("#b6bcc6")
        axes.set_autoscale_on(False)

    def _points_squared(self, radius: float) -> float:
        """Marker area in points for a disc of that radius [m], a little larger so that discs close up."""
        width = self.axes.get_window_extent().width / (self.limits[1] - self.limits[0])
        return float(max(2 * 1.3 * radius * width * 72 / self.figure.dpi, 0.8) ** 2)

    def _legend(self) -> None:
        scale = self.view.scale
        if scale.categorical:
            handles = [
                self.patches.Patch(facecolor=scale.category_color(name), edgecolor="#8c929c", label=name)
                for name in scale.categories[:12]
            ]
            labels = [name.replace("$", r"\$") for name in scale.categories[:12]]
            if handles:
                place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "frameon": False}
                self.axes.legend(handles, labels, **place)
            return
        cm = require("matplotlib.cm", "matplotlib", "render")
        colors = require("matplotlib.colors", "matplotlib", "render")
        table = colors.ListedColormap(ramp(np.linspace(0, 1, 256), diverging=scale.diverging))
        mappable = cm.ScalarMappable(colors.Normalize(scale.low, scale.high), table)
        place = self.figure.add_axes((0.87, 0.2, 0.016, 0.6))
        bar = self.figure.colorbar(mappable, cax=place, label=scale.label.replace("$", r"\$"))
        bar.outline.set_visible(False)

    def _draw_colliders(self, frame: Frame) -> None:
        for patch in self.moving:
            patch.remove()
        self.moving = []
        for number, collider in enumerate(self.view.colliders):
            position, rotation = np.zeros(2), np.eye(2)
            if frame.poses is not None and number < len(frame.poses[0]):
                position, rotation = frame.poses[0][number], frame.poses[1][number]
            lines = _outlines(collider, self.limits)
            if lines:
                style: dict[str, Any] = {
                    "facecolor": _FACE,
                    "edgecolor": _EDGE,
                    "linewidth": 1.0,
                    "zorder": 2,
                }
                if collider.get("inverted"):
                    style |= {"facecolor": "none", "linewidth": 1.6}
                rounds = [np.concatenate([line, line[:1]]) @ rotation.T + position for line in lines]
                path = self.paths.make_compound_path(*(self.paths(line, closed=True) for line in rounds))
                self.moving.append(self.axes.add_patch(self.patches.PathPatch(path, **style)))

    def _draw_meshes(self, frame: Frame) -> None:
        """Triangles in the mean colour of their corners, with a line round the body; springs as lines."""
        for body in self.view.shown(frame):
            if body.cells is None:
                continue
            places, colors = body.x[body.cells], self.view.scale.colors(body)[body.cells].mean(axis=1)
            if body.cells.shape[1] == 2:
                self._lines(places, colors, 1.2)
                continue
            style = {"facecolors": colors, "edgecolors": colors, "linewidths": 0.3, "zorder": 3}
            triangles = self.collections.PolyCollection(places, **style)
            self.moving.append(self.axes.add_collection(triangles, autolim=False))
            if body.surface is not None:
                self._lines(body.x[body.surface], _EDGE, 0.8)

    def _lines(self, ends: np.ndarray, colors: Any, width: float) -> None:
        lines = self.collections.LineCollection(ends, colors=colors, linewidths=width, zorder=3.5)
        self.moving.append(self.axes.add_collection(lines, autolim=False))


def _outlines(collider: Mapping[str, Any], limits: tuple[float, ...]) -> list[np.ndarray]:
    """Corners (N, 2) of each closed line round a collider or a hole in it; none for kinds that have none in 2D."""
    kind = collider.get("type")
    if kind == "shape":
        shape = dict(collider["shape"])
        if shape.get("type") not in ("box", "sphere", "capsule"):
            return contour_lines(json.dumps(shape, sort_keys=True, default=str))
        collider, kind = shape, shape["type"]
    if kind == "plane":
        normal = np.asarray(collider["normal"][:2], float)
        normal = normal / max(np.linalg.norm(normal), 1e-12)
        point = np.asarray((collider.get("point") or (0, 0))[:2], float)
        middle = np.array([limits[0] + limits[1], limits[2] + limits[3]]) / 2
        along = np.array([-normal[1], normal[0]])
        point = point + along * (along @ (middle - point))
        reach = 4 * (limits[1] - limits[0] + limits[3] - limits[2])
        edge = [point - reach * along, point + reach * along]
        return [np.array([*edge, edge[1] - reach * normal, edge[0] - reach * normal])]
    if kind == "box":
        half = np.asarray(collider["size"][:2], float) / 2
        corners = half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        return [corners + np.asarray(collider["center"][:2])]
    if kind in ("sphere", "capsule"):
        start = np.asarray(collider["center" if kind == "sphere" else "start"][:2], float)
        end = np.asarray(collider["center" if kind == "sphere" else "end"][:2], float)
        turn = np.arctan2(*(end - start)[::-1]) - np.pi / 2
        angle = np.linspace(0, np.pi, 49) + turn
        arc = float(collider["radius"]) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return [np.concatenate([end + arc, start - arc])]
    return []
