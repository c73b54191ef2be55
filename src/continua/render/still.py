"""Stills: one frame as a PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from continua.errors import OutputError
from continua.io.folder import RunFolder
from continua.io.frames import Frame
from continua.render.camera import Camera
from continua.render.flat import FlatRenderer
from continua.render.memory import check_memory, picture_memory
from continua.render.overlay import annotate
from continua.render.png import write_png
from continua.render.splat import SplatRenderer
from continua.render.view import View, view_of_frames, view_of_run


class Renderer(Protocol):
    """Draws frames of one view; `parallel` says whether several threads may draw at once."""

    @property
    def name(self) -> str: ...

    @property
    def parallel(self) -> bool: ...

    def render(self, frame: Frame) -> np.ndarray:
        """Picture (H, W, 3) of uint8."""

    def close(self) -> None:
        """Release what it holds."""


@dataclass
class Picture:
    """A picture that was written, and what drew it: "numpy" in 3D, "matplotlib" in 2D."""

    path: Path
    renderer: str


def still(
    frame: Frame,
    path: str | Path,
    *,
    color_by: str = "speed",
    limits: Sequence[float] | None = None,
    colliders: Sequence[Mapping[str, Any]] = (),
    size: tuple[int, int] = (1280, 720),
    dx: float | None = None,
    camera: Camera | None = None,
    hide: Sequence[str] = (),
    legend: bool = True,
) -> Picture:
    """Draw one frame to a PNG file.

    `color_by` is "speed", "J", "material", "body", "continuum" or any field of the frame, `limits` the (low, high) of
    its colour range, `colliders` dicts as in scene files, `size` (width, height) in pixels, `dx` the grid spacing
    [m], from which the size of the particles follows, `hide` the names of bodies that are not drawn. 3D
    frames are drawn in software by NumPy alone, which works everywhere; 2D frames by matplotlib.
    """
    view = view_of_frames(
        [frame],
        color_by=color_by,
        limits=limits,
        colliders=colliders,
        size=size,
        dx=dx,
        camera=camera,
        hide=hide,
    )
    view.show_legend = view.show_time = legend
    return draw(frame, view, path)


def still_of_run(
    folder: str | Path,
    path: str | Path,
    *,
    frame: int | None = None,
    legend: bool = True,
    **options: Any,
) -> Picture:
    """Draw a frame of a run folder (the last by default) with the camera and colours of its film.

    The other options are those of `still`; colliders and dx come from the run.
    """
    run = RunFolder(folder)
    view = view_of_run(run, **options)
    view.show_legend = view.show_time = legend
    return draw(run.read_frame(run.frame_indices()[-1] if frame is None else frame), view, path)


def draw(frame: Frame, view: View, path: str | Path) -> Picture:
    """Draw a frame as a view shows it."""
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise OutputError(f"cannot write the picture {path}; give a file name that ends in .png")
    check_memory("picture", view.size, picture_memory(view, frame))
    artist = make_renderer(view)
    try:
        write_png(path, paint(artist, view, frame))
    finally:
        artist.close()
    return Picture(path, artist.name)


def paint(artist: Renderer, view: View, frame: Frame) -> np.ndarray:
    """The finished picture (H, W, 3) of uint8, legend included."""
    image = artist.render(frame)
    return annotate(image, frame, view) if view.dimension == 3 else image


def make_renderer(view: View) -> Renderer:
    """What draws a view of this dimension."""
    return FlatRenderer(view) if view.dimension == 2 else SplatRenderer(view)
