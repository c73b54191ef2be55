"""Films: the frames of a run as an MP4."""

from __future__ import annotations

import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from continua._validation import finite_number
from continua.errors import OutputError
from continua.io.atomic import atomic_path
from continua.io.export import select_frames
from continua.io.folder import RunFolder
from continua.io.machine import machine
from continua.io.optional import require
from continua.render.memory import check_memory, film_memory
from continua.render.still import Renderer, make_renderer, paint
from continua.render.view import View, view_of_run


@dataclass
class Film:
    """A film that was written: number of frames, seconds spent, and what drew it."""

    path: Path
    renderer: str
    frames: int
    seconds: float


def film(
    folder: str | Path,
    path: str | Path,
    fps: float | None = None,
    *,
    frames: Iterable[int] | None = None,
    size: tuple[int, int] = (1280, 720),
    legend: bool = True,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Film:
    """Draw the frames of a run folder to an MP4 (H.264, plays everywhere).

    `fps` is frames per second (that of the run by default); `progress` is called with (frames done, in all).
    Camera and colours are fixed so that the whole run is in view. The other options are those of `still`.
    """
    path = Path(path)
    if path.suffix.lower() != ".mp4":
        raise OutputError(f"cannot write the film {path}; give a file name that ends in .mp4")
    executable = str(require("imageio_ffmpeg", "imageio-ffmpeg", "render").get_ffmpeg_exe())
    run = RunFolder(folder)
    rate = finite_number("fps", fps if fps is not None else run.description.get("fps") or 24.0, OutputError)
    if not 0 < rate <= 1000:
        raise OutputError(f"a film of {rate:g} frames per second cannot be made; choose between 1 and 120")
    indices = select_frames(run, frames)
    size = max(size[0] // 2 * 2, 16), max(size[1] // 2 * 2, 16)  # H.264 wants even sides
    view = view_of_run(run, size=size, **options)
    view.show_legend = view.show_time = legend
    started = time.perf_counter()
    artist = make_renderer(view)
    largest = run.read_frame(max(indices, key=run.frame_bytes))  # emitters add, drains remove
    needed = film_memory(view, largest, len(indices), workers_of(artist))
    check_memory("film", size, needed)
    try:
        with atomic_path(path) as temporary:
            images = _images(run, indices, view, artist)
            encode(executable, temporary, path, images, rate, size, len(indices), progress)
    finally:
        artist.close()
    return Film(path, artist.name, len(indices), time.perf_counter() - started)


def workers_of(artist: Renderer) -> int:
    """Frames that are drawn at once."""
    return min(machine()["cores"], 4) if artist.parallel else 1


def _images(run: RunFolder, indices: list[int], view: View, artist: Renderer) -> Iterator[np.ndarray]:
    """The pictures in order, drawn a few at a time where the renderer allows it."""
    workers = workers_of(artist)
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[np.ndarray]] = deque()
        try:
            for index in indices:
                waiting.append(pool.submit(lambda index: paint(artist, view, run.read_frame(index)), index))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def encode(
    executable: str,
    target: Path,
    path: Path,
    images: Iterator[np.ndarray],
    rate: float,
    size: tuple[int, int],
    total: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Feed pictures to ffmpeg, which writes `target`; errors name `path`."""
    command = [executable, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{size[0]}x{size[1]}", "-r", f"{rate:g}", "-i", "-", "-an", "-c:v", "libx264"]
    command += [
        "-pix_fmt",
        "yuv420p",
        "-crf",
        "18",
        "-preset",
        "fast",
        "-movflags",
        "+faststart",
        str(target),
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe) as process:
        assert process.stdin is not None and process.stderr is not None
        try:
            for done, image in enumerate(images, 1):
                process.stdin.write(np.ascontiguousarray(image).data)
                if progress is not None:
                    progress(done, total)
            process.stdin.close()
        except BrokenPipeError:
            pass  # ffmpeg gave up; it says why below
        except BaseException:
            process.kill()
            raise
        words = process.stderr.read().decode(errors="replace").strip().splitlines()
        if process.wait() != 0:
            reason = words[-1] if words else "it ended early"
            raise OutputError(
                f"cannot write {path}: ffmpeg failed ({reason}); free some space or try another folder"
            )
