"""Several runs of one scene in one picture: tiles side by side, and curves in one plot."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from continua.errors import OutputError
from continua.io.atomic import atomic_path
from continua.io.folder import RunFolder
from continua.io.frames import Frame
from continua.io.optional import require
from continua.render.camera import Camera
from continua.render.colors import PALETTE
from continua.render.film import encode
from continua.render.flat import FlatRenderer
from continua.render.memory import ENCODED_FRAMES, check_memory, film_memory, picture_memory
from continua.render.overlay import annotate
from continua.render.plots import Columns, new_figure, save_figure
from continua.render.png import write_png
from continua.render.still import Renderer, make_renderer
from continua.render.view import colliders_of, view_of_frames

INK = (58, 64, 74)
HEADER, FOOTER = 34, 92  # pixels above each tile, and below all of them
SCANNED = 12  # frames of each run that are looked at to choose camera and colours
LEGEND_NAMES = 3  # more names than this do not fit into the footer


class SideBySide:
    """Draws the same frame of several runs, with one camera and one colour scale; `runs` maps labels to folders."""

    def __init__(
        self, runs: Mapping[str, Path], *, size: tuple[int, int] = (1280, 720), **options: Any
    ) -> None:
        self.runs = {label: RunFolder(folder) for label, folder in runs.items()}
        self.size = size[0] // 2 * 2, size[1] // 2 * 2  # H.264 wants even sides
        frames = [frame for run in self.runs.values() for frame in some_frames(run)]
        first = next(iter(self.runs.values()))
        options |= {"colliders": colliders_of(first), "dx": first.dx}
        self.columns, self.tile = arrangement(len(runs), self.size, aspect(frames, self.size, options))
        if min(self.tile) < 64:
            raise OutputError(f"{len(runs)} runs do not fit into {size[0]}x{size[1]} pixels; compare fewer")
        if options.get("camera") is not None:
            options["camera"] = widened(options["camera"], self.size, self.tile)
        self.view = view_of_frames(frames, size=self.tile, **options)
        tiles = [picture_memory(self.view, frame) for frame in frames[-1:]]
        encoder = film_memory(self.view, frames[-1], ENCODED_FRAMES, 0) * len(runs)
        check_memory("comparison", self.size, len(runs) * sum(tiles) + encoder)
        self.artists = [self._artist(run) for run in self.runs.values()]

    def _artist(self, run: RunFolder) -> Renderer:
        view = dataclasses.replace(
            self.view, show_legend=False, show_time=False, dx=run.dx, colliders=colliders_of(run), spacings={}
        )
        return FlatRenderer(view, bare=True) if view.dimension == 2 else make_renderer(view)

    @property
    def frames(self) -> int:
        """Number of the last frame of the longest run."""
        return max(run.frame_indices()[-1] for run in self.runs.values())

    def image(self, index: int) -> np.ndarray:
        """Picture (H, W, 3) of uint8 of frame `index`, or the last before it where a run ended earlier."""
        width, height = self.size
        picture = np.full((height, width, 3), 255, np.uint8)
        moments = []
        for number, (run, artist) in enumerate(zip(self.runs.values(), self.artists, strict=True)):
            shown = [k for k in run.frame_indices() if k <= index] or run.frame_indices()[:1]
            moments.append(run.read_frame(shown[-1]))
            left, top = self._corner(number)
            picture[top : top + self.tile[1], left : left + self.tile[0]] = artist.render(moments[-1])
        latest = max(moments, key=lambda frame: frame.time)
        scale = self.view.scale
        self.view.show_legend = not scale.categorical or len(scale.categories) <= LEGEND_NAMES
        return self._labelled(annotate(picture, latest, self.view))

    def _corner(self, number: int) -> tuple[int, int]:
        row, column = divmod(number, self.columns)
        return column * self.tile[0], row * (self.tile[1] + HEADER) + HEADER

    def _labelled(self, picture: np.ndarray) -> np.ndarray:
        """With the name of every run above its tile."""
        Image, Draw, Font = (
            require(f"PIL.{n}", "pillow", "render") for n in ("Image", "ImageDraw", "ImageFont")
        )
        image = Image.fromarray(picture)
        pen, font = Draw.Draw(image), Font.load_default(20)
        for number, label in enumerate(self.runs):
            left, top = self._corner(number)
            pen.text((left + self.tile[0] / 2, top - HEADER / 2), label, INK, font, anchor="mm")
        return np.asarray(image)

    def still(self, path: Path, index: int | None = None) -> Path:
        """Write one frame, the last by default, as PNG."""
        write_png(path, self.image(self.frames if index is None else index))
        return path

    def film(self, path: Path, progress: Callable[[int, int], None] | None = None) -> Path:
        """Write all frames as MP4, at the frame rate of the first run but never above 30 per second."""
        executable = str(require("imageio_ffmpeg", "imageio-ffmpeg", "render").get_ffmpeg_exe())
        rate = min(float(next(iter(self.runs.values())).description.get("fps") or 24.0), 30.0)
        total = self.frames + 1
        with atomic_path(path) as temporary:
            encode(executable, temporary, path, self._images(total), rate, self.size, total, progress)
        return path

    def _images(self, total: int) -> Iterator[np.ndarray]:
        for index in range(total):
            yield self.image(index)

    def close(self) -> None:
        """Release what the renderers hold."""
        for artist in self.artists:
            artist.close()


def some_frames(run: RunFolder) -> list[Frame]:
    """Frames spread over a run."""
    indices = run.frame_indices()
    if not indices:
        raise OutputError(f"{run.path} has no frames yet; run the simulation first")
    places = np.linspace(0, len(indices) - 1, min(SCANNED, len(indices)))
    return [run.read_frame(indices[round(place)]) for place in places]


def aspect(frames: list[Frame], size: tuple[int, int], options: dict[str, Any]) -> float:
    """Width over height of what a tile should show: the whole of a 2D scene, the picture of a 3D scene."""
    view = view_of_frames(frames, size=size, **options)
    width, height = (view.upper - view.lower)[:2] if view.dimension == 2 else size
    return float(max(width, 1e-9) / max(height, 1e-9))


def arrangement(count: int, size: tuple[int, int], wanted: float) -> tuple[int, tuple[int, int]]:
    """Columns, and (width, height) of a tile [pixels], for which pictures of the wanted aspect are largest."""

    def tile(columns: int) -> tuple[int, int]:
        return size[0] // columns, (size[1] - FOOTER) // math.ceil(count / columns) - HEADER

    def picture_height(columns: int) -> float:
        width, height = tile(columns)
        return min(width / wanted, height)

    columns = max(range(1, count + 1), key=picture_height)
    return columns, tile(columns)


def widened(camera: Camera, size: tuple[int, int], tile: tuple[int, int]) -> Camera:
    """The camera for a tile that is narrower than the picture it was made for: nothing drops out at the sides."""
    narrowing = max(size[0] / size[1] * tile[1] / tile[0], 1.0)
    half = math.atan(math.tan(math.radians(camera.fov) / 2) * narrowing)
    return dataclasses.replace(camera, fov=math.degrees(2 * half))


def energy_plot(runs: Mapping[str, Columns], path: Path, *, depth: str = "") -> Path:
    """Total energy over time, one curve per run; `depth` is "/m" in 2D."""
    figure, axes = new_figure("Energy")
    _curves(axes, runs, "total", f"total energy [J{depth}]")
    _legend(axes)
    return save_figure(figure, path)


def momentum_plot(runs: Mapping[str, Columns], path: Path, *, depth: str = "") -> Path:
    """Linear and angular momentum over time, one curve per run: of each the component that is largest."""
    figure, axes = new_figure("Momentum and angular momentum", panels=2)
    for panel, name, unit in zip(axes, ("momentum", "angular"), ("kg m/s", "kg m²/s"), strict=True):
        column = largest(runs, name)
        words = "angular momentum" if name == "angular" else "momentum"
        _curves(panel, runs, column, f"{words}, {column[-1]} [{unit}{depth}]")
    _legend(axes[1])
    return save_figure(figure, path)


def largest(runs: Mapping[str, Columns], name: str) -> str:
    """Column `name_x`, `name_y` or `name_z` with the largest value in any of the runs."""
    size = {
        column: max(float(np.abs(table[column]).max()) for table in runs.values())
        for column in next(iter(runs.values()))
        if column.startswith(f"{name}_")
    }
    return max(size, key=lambda column: size[column])


def _curves(axes: Any, runs: Mapping[str, Columns], column: str, label: str) -> None:
    for number, (name, table) in enumerate(runs.items()):
        color = PALETTE[number % len(PALETTE)]
        axes.plot(table["time"], table[column], label=name.replace("$", r"\$"), linewidth=1.6, color=color)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(label)
    axes.ticklabel_format(axis="y", scilimits=(-3, 4), useMathText=True)
    axes.margins(x=0.01)


def _legend(axes: Any) -> None:
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))
