"""`continua render`, `mesh` and `export`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from continua.cli import text
from continua.errors import SceneError

if TYPE_CHECKING:
    from continua.io import RunFolder
    from continua.scene.models import RenderSettings


@dataclass
class Drawing:
    """What to draw and how; None means what the scene says."""

    still: bool = True
    film: bool = True
    plots: bool = True
    frame: int | None = None
    color_by: str | None = None
    size: str | None = None
    fps: float | None = None


def render(
    folder: Path, output: Path | None, drawing: Drawing, *, quiet: bool, stream: IO[str] | None = None
) -> int:
    """Draw still.png, film.mp4 and plots into DIR/render."""
    from continua import render as draw
    from continua.io import RunFolder
    from continua.io.atomic import make_folder

    run = RunFolder(folder)
    options = look(run, drawing)
    target = make_folder(output or folder / "render")
    paths: list[Path] = []
    if drawing.still:
        picture = draw.still_of_run(folder, target / "still.png", frame=drawing.frame, **options)
        paths.append(picture.path)
    if drawing.film:
        report = reporter("drew", quiet, stream)
        film = draw.film(folder, target / "film.mp4", drawing.fps, progress=report, **options)
        paths.append(film.path)
    if drawing.plots:
        paths += draw.plots(folder, target)
    if not quiet:
        for path in paths:
            print(f"wrote {path}", file=stream or sys.stdout)
    return 0


def look(run: RunFolder, drawing: Drawing) -> dict[str, Any]:
    """Colour, size and camera: from the command line, or else from the scene of the run."""
    from continua.render import Camera

    settings = render_settings(run.description)
    camera = settings.camera
    return {
        "color_by": drawing.color_by or settings.color_by,
        "limits": settings.limits if drawing.color_by in (None, settings.color_by) else None,
        "hide": settings.hide,
        "size": picture_size(drawing.size) or settings.size,
        "camera": None
        if camera is None
        else Camera(vector3(camera.position), vector3(camera.target), vector3(camera.up), camera.fov),
    }


def render_settings(description: dict[str, Any]) -> RenderSettings:
    """How the scene of a run wants to be drawn, from data alone; defaults for a run from Python."""
    from pydantic import ValidationError

    from continua.scene.models import RenderSettings

    scene = description.get("scene")
    stored = description.get("render") or (scene.get("render") if isinstance(scene, dict) else None)
    try:
        return RenderSettings.model_validate(stored or {})
    except ValidationError:  # of another version: the frames can still be drawn
        return RenderSettings()


def vector3(vector: tuple[float, ...]) -> tuple[float, float, float]:
    """Three numbers as a triple."""
    x, y, z = vector
    return x, y, z


def picture_size(words: str | None) -> tuple[int, int] | None:
    """`1280x720` as numbers."""
    if words is None:
        return None
    width, _, height = words.lower().partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise SceneError(f'--size is "{words}", must be width x height in pixels such as 1280x720')
    return int(width), int(height)


def export(folder: Path, output: Path | None, *, to: str, frames: str | None, quiet: bool) -> int:
    """Write the particles of a run for other programs."""
    from continua import io

    paths = io.export(
        folder,
        to,
        output,
        frames=frame_numbers(frames, folder),
        progress=reporter("exported", quiet),
    )
    return written(paths, quiet)


def mesh(
    folder: Path,
    output: Path | None,
    *,
    to: str,
    frames: str | None,
    bodies: list[str] | None,
    radius: float | None,
    quiet: bool,
) -> int:
    """Write a surface per body and frame."""
    from continua import io

    if radius is not None and not 0 < radius < float("inf"):
        raise SceneError(f"--radius is {radius:g}, must be a length > 0")
    numbers = frame_numbers(frames, folder)
    paths = io.mesh(
        folder,
        output,
        to=to,
        frames=numbers,
        bodies=bodies or None,
        radius=radius,
        progress=reporter("meshed", quiet),
    )
    return written(paths, quiet)


def last_frame(folder: Path) -> int:
    """Number of the last frame of a run."""
    from continua.io import RunFolder

    return max(RunFolder(folder).frame_indices(), default=0)


def frame_numbers(words: str | None, folder: Path) -> list[int] | None:
    """`0,10,20-30` as numbers; a range ends at the latest one after the last frame of the run, which is missing."""
    if words is None:
        return None
    ranges: list[tuple[int, int]] = []
    for word in words.split(","):
        first, dash, last = word.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise SceneError(
                f'--frames {words}: "{word}" is neither a frame number nor a range such as 20-30'
            )
        ranges.append((int(first), int(last if dash else first)))
    most = last_frame(folder) + 1
    return [number for first, last in ranges for number in range(first, min(last, max(first, most)) + 1)]


def reporter(verb: str, quiet: bool, stream: IO[str] | None = None) -> Callable[[int, int], None]:
    """Prints `exported frame 3 of 48`, over itself on a terminal, at the end only elsewhere."""
    out = stream or sys.stdout

    def report(done: int, total: int) -> None:
        if quiet:
            return
        if out.isatty():
            print(
                f"\r{verb} {done} of {text.plural(total, 'frame')}",
                end="\n" if done == total else "",
                file=out,
                flush=True,
            )
        elif done == total:
            print(f"{verb} {text.plural(total, 'frame')}", file=out)

    return report


def written(paths: list[Path], quiet: bool, stream: IO[str] | None = None) -> int:
    """Say what to open."""
    if not quiet and paths:
        more = f" and {text.plural(len(paths) - 1, 'more file')}" if len(paths) > 1 else ""
        print(f"wrote {paths[0]}{more}", file=stream or sys.stdout)
    return 0
