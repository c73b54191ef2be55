"""`continua render`, `mesh` and `export`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

from continua.cli import text
from continua.errors import SceneError


def export(folder: Path, output: Path | None, *, to: str, frames: str | None, quiet: bool) -> int:
    """Write the particles of a run for other programs."""
    from continua import io

    paths = io.export(folder, to, output, frames=frame_numbers(frames), progress=reporter("exported", quiet))
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
    numbers = frame_numbers(frames)
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


def frame_numbers(words: str | None) -> list[int] | None:
    """`0,10,20-30` as numbers."""
    if words is None:
        return None
    numbers: list[int] = []
    for word in words.split(","):
        first, dash, last = word.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise SceneError(
                f'--frames {words}: "{word}" is neither a frame number nor a range such as 20-30'
            )
        numbers += range(int(first), int(last if dash else first) + 1)
    return numbers


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
