"""Pictures of very many particles with VTK through pyvista, on machines with a graphics card."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np

from continua.io.frames import Frame
from continua.io.optional import require
from continua.render.colliders import Drawable, Ground, Solid
from continua.render.ground import FLOOR
from continua.render.view import View

_PROBE = """
from vtkmodules.vtkRenderingCore import vtkRenderWindow, vtkRenderer
import vtkmodules.vtkRenderingOpenGL2
window = vtkRenderWindow()
window.SetOffScreenRendering(1)
window.SetSize(16, 16)
window.AddRenderer(vtkRenderer())
window.Render()
raise SystemExit(0 if window.SupportsOpenGL() else 1)
"""


@functools.cache
def works_here() -> bool:
    """Whether VTK can draw on this machine; asked in another process, because without OpenGL it crashes."""
    _prefer_egl()
    try:
        return subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def _prefer_egl() -> None:
    """Without a display, ask for the window type that needs none, before VTK complains about it."""
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")


class PyvistaRenderer:
    """Draws the frames of one view; use it from one thread and only where `works_here()`."""

    name = "pyvista"
    parallel = False

    def __init__(self, view: View) -> None:
        _prefer_egl()
        self.pv: Any = require("pyvista", "pyvista", "render")
        self.view = view
        self.plotter = self.pv.Plotter(off_screen=True, window_size=list(view.size), lighting="none")
        self.plotter.set_background("#dfe3e9", top="#edf1f8")
        right, _, forward = view.camera.basis()
        light = np.array([0.0, 1.0, 0.0]) - 0.50 * right - 0.55 * forward
        center = (view.lower + view.upper) / 2
        self.plotter.add_light(self.pv.Light(position=center + 10 * view.extent * light, intensity=0.85))
        self.plotter.add_light(self.pv.Light(light_type="headlight", intensity=0.35))
        self.plotter.camera_position = [view.camera.eye, view.camera.target, view.camera.up]
        self.plotter.camera.view_angle = view.camera.fov
        self.names: list[str] = []
        self._lock = threading.Lock()

    def render(self, frame: Frame) -> np.ndarray:
        """Picture (H, W, 3) of uint8."""
        with self._lock:
            for name in self.names:
                self.plotter.remove_actor(name, render=False)
            self.names = []
            for shape in [*self.view.shapes(frame), *self.view.solids(frame), *self.view.wires(frame)]:
                self._shape(shape)
            focal = self.view.camera.focal(self.view.size[1])
            away = float(np.linalg.norm(np.subtract(self.view.camera.eye, self.view.camera.target)))
            for cloud in self.view.clouds(frame):
                points = self.pv.PolyData(cloud.x)
                points["color"] = (255 * cloud.colors + 0.5).astype(np.uint8)
                size = max(2.3 * cloud.radius * focal / away, 1.5)
                options = {"scalars": "color", "rgb": True, "render_points_as_spheres": True}
                self._add(points, point_size=size, ambient=0.15, **options)
            self.plotter.renderer.ResetCameraClippingRange()
            self.plotter.render()
            return np.array(self.plotter.screenshot(None, return_img=True)[:, :, :3])

    def close(self) -> None:
        """Release the window."""
        self.plotter.close()

    def _add(self, mesh: Any, **options: Any) -> None:
        name = f"part{len(self.names)}"
        self.plotter.add_mesh(mesh, name=name, render=False, reset_camera=False, **options)
        self.names.append(name)

    def _shape(self, shape: Drawable) -> None:
        if isinstance(shape, Solid):
            faces = np.column_stack([np.full(len(shape.triangles), 3), shape.triangles])
            mesh = self.pv.PolyData(shape.vertices, faces.reshape(-1))
            mesh.point_data.active_normals = shape.normals
            mesh["color"] = (255 * shape.colors + 0.5).astype(np.uint8)
            self._add(mesh, scalars="color", rgb=True, smooth_shading=True)
        elif isinstance(shape, Ground):
            if shape.normal @ (np.asarray(self.view.camera.eye) - shape.point) > 0:
                middle = (self.view.lower + self.view.upper) / 2
                middle = middle - shape.normal * (shape.normal @ (middle - shape.point))
                side = 12 * self.view.extent
                plane = self.pv.Plane(center=middle, direction=shape.normal, i_size=side, j_size=side)
                self._add(plane, color=tuple(FLOOR), lighting=False)
        else:
            ends = np.stack([shape.start, shape.end], axis=1).reshape(-1, 3)
            cells = np.column_stack([np.full(len(shape.start), 2), np.arange(len(ends)).reshape(-1, 2)])
            self._add(self.pv.PolyData(ends, lines=cells.reshape(-1)), color="#6b7585", line_width=1.5)
