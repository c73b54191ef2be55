"""Export a run for other programs: ParaView (vtk), point clouds (ply), Houdini, Blender and friends (usd)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from continua._validation import shown
from continua.errors import OutputError
from continua.io.atomic import make_folder
from continua.io.folder import RunFolder
from continua.io.frames import BodyFrame, Frame
from continua.io.ply import write_ply
from continua.io.usd import write_usd
from continua.io.vtk import write_pvd, write_vtp, write_vtu

FORMATS = ("vtk", "ply", "usd")

ExportProgress = Callable[[int, int], None]
"""Called with (frames done, frames in all)."""


def export(
    folder: str | Path,
    to: str,
    output: str | Path | None = None,
    *,
    frames: Iterable[int] | None = None,
    progress: ExportProgress | None = None,
) -> list[Path]:
    """Write the frames of a run folder in another format; 2D runs lie in the plane z = 0.

    `to` is "vtk" (one .vtp, or .vtu for a mesh, per body and frame and a .pvd that plays them), "ply" (one per
    body and frame, of a mesh its surface) or "usd" (one .usdc with time samples). Strands stay curves: polylines in
    vtk, edges in ply, BasisCurves in usd, with their radius. Files go to `output`, by default DIR/export/FORMAT.
    Returns the files written, the one to open first.
    """
    if to not in FORMATS:
        raise OutputError(f"cannot export to {to!r}; choose one of {', '.join(FORMATS)}")
    run = RunFolder(folder)
    indices = select_frames(run, frames)
    target = make_folder(Path(output) if output is not None else run.path / "export" / to)
    report = progress or (lambda done, total: None)
    if to == "usd":
        path = target / f"{safe_name(run.path.resolve().name)}.usdc"
        write_usd(path, run, indices, report)
        return [path]
    return _export_files(run, indices, to, target, report)


def select_frames(run: RunFolder, frames: Iterable[int] | None) -> list[int]:
    """The frame numbers asked for (all by default), which must exist; at least one."""
    known = run.frame_indices()
    if not known:
        raise OutputError(f"{run.path} has no frames yet; run the simulation first")
    if frames is None:
        return known
    try:
        chosen = sorted({operator.index(index) for index in frames})
    except TypeError:
        raise OutputError(f"frames must be a list of frame numbers, not {shown(frames)}") from None
    missing = [index for index in chosen if index not in known]
    if missing or not chosen:
        which = f"frame {missing[0]}" if missing else "frame to write"
        raise OutputError(f"{run.path} has no {which}; choose from {known[0]} to {known[-1]}")
    return chosen


def _export_files(
    run: RunFolder, indices: list[int], to: str, target: Path, report: ExportProgress
) -> list[Path]:
    names = FileNames()
    paths: list[Path] = []
    entries: list[tuple[float, int, str, str]] = []
    for done, index in enumerate(indices, 1):
        frame = run.read_frame(index)
        for part, (body, name) in enumerate(zip(frame.bodies, names.of(frame), strict=True)):
            path = _write_body(target / f"{name}_{index:05d}", body, to)
            paths.append(path)
            entries.append((frame.time, part, body.name, path.name))
        report(done, len(indices))
    if to == "vtk":
        collection = target / f"{safe_name(run.path.resolve().name)}.pvd"
        write_pvd(collection, entries)
        paths.insert(0, collection)
    return paths


def _write_body(stem: Path, body: BodyFrame, to: str) -> Path:
    """Write one body; the format and whether it is a mesh choose the ending of the file's name."""
    x, fields, strands = in_space(body.x), exported_fields(body), body.strands()
    if to == "ply":
        path = stem.with_name(f"{stem.name}.ply")
        seen, triangles = body.skin() or (slice(None), None)
        edges = None if strands is None else body.cells
        write_ply(path, x[seen], {name: array[seen] for name, array in fields.items()}, triangles, edges)
    elif body.cells is not None and strands is None:
        path = stem.with_name(f"{stem.name}.vtu")
        write_vtu(path, x, fields, body.cells)
    else:
        path = stem.with_name(f"{stem.name}.vtp")
        write_vtp(path, x, fields, strands=strands)
    return path


def exported_fields(body: BodyFrame) -> dict[str, np.ndarray]:
    """All numeric fields of a body except its positions; vectors (N, 2) get a third component 0."""
    fields = {}
    for name, array in body.arrays.items():
        if name != "x" and array.dtype.kind in "bfiu":
            if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
                array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
            fields[name] = in_space(array) if array.ndim == 2 and array.shape[1] == 2 else array
    return fields


def in_space(x: np.ndarray) -> np.ndarray:
    """Vectors (N, 2) or (N, 3) as (N, 3) with z = 0."""
    return x if x.shape[1] == 3 else np.column_stack([x, np.zeros(len(x), x.dtype)])


class FileNames:
    """A file name for every body of a run: readable, safe on every system, never the same for two bodies."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], str] = {}

    def of(self, frame: Frame) -> list[str]:
        """File names of the bodies of a frame, the same in every frame."""
        seen: dict[str, int] = {}
        return [self._name(body.name, seen) for body in frame.bodies]

    def _name(self, body: str, seen: dict[str, int]) -> str:
        seen[body] = seen.get(body, 0) + 1  # bodies may share a name; then their order tells them apart
        key = body, seen[body]
        if key not in self._names:
            base = safe_name(body)
            taken = {name.lower() for name in self._names.values()}
            name, number = base, 2
            while name.lower() in taken:
                name, number = f"{base}-{number}", number + 1
            self._names[key] = name
        return self._names[key]


def safe_name(text: str) -> str:
    """The text with everything but ASCII letters, digits, '-' and '_' replaced, at most 60 characters."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:60] or "body"
