"""Surfaces around particles, frame by frame, reconstructed with pysplashsurf."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from continua._validation import positive_number, whole_number
from continua.errors import OutputError
from continua.geometry.surface import vertex_normals
from continua.geometry.tidy import tidied
from continua.geometry.tubes import SIDES, tubes
from continua.io.atomic import atomic_file, make_folder
from continua.io.export import ExportProgress, FileNames, select_frames
from continua.io.folder import RunFolder
from continua.io.frames import BodyFrame, stored_positions
from continua.io.optional import require
from continua.io.ply import write_ply
from continua.io.vtk import write_pvd, write_vtp

FORMATS = ("ply", "obj", "vtk")
MOST_CELLS = 2.0**60  # of the surface grid, which the library counts
FLAT = 1e-3  # height of a triangle over the size of the surface grid below which it is none


@dataclass
class SurfaceMesh:
    """Triangles (M, 3) over vertices (N, 3) [m] with unit normals (N, 3) and velocities (N, 3) [m/s].

    `fine` is the smallest length that matters [m], which decides whether positions need double precision.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray
    velocities: np.ndarray
    fine: float = np.inf


def mesh(
    folder: str | Path,
    output: str | Path | None = None,
    *,
    to: str = "ply",
    frames: Iterable[int] | None = None,
    bodies: Iterable[str] | None = None,
    radius: float | None = None,
    detail: float = 0.5,
    smoothing: int = 15,
    progress: ExportProgress | None = None,
) -> list[Path]:
    """Write a closed surface per body and frame of a 3D run as ply, obj or vtk to `output` (or DIR/mesh).

    `radius` is half the particle spacing [m] (found from the run by default), `detail` the size of the
    surface grid in radii (smaller is finer), `smoothing` the number of smoothing rounds. Returns the files
    written.
    """
    if to not in FORMATS:
        raise OutputError(f"cannot write surfaces as {to!r}; choose one of {', '.join(FORMATS)}")
    detail = positive_number("detail", detail, OutputError)
    smoothing = whole_number("smoothing", smoothing, OutputError)
    if radius is not None:
        radius = positive_number("radius", radius, OutputError)
    run = RunFolder(folder)
    indices = select_frames(run, frames)
    if run.dimension != 3:
        raise OutputError(f"{run.path} is a 2D run and has no surface to mesh; render or export it instead")
    chosen = _chosen(run, indices, bodies)
    _library()
    target = make_folder(Path(output) if output is not None else run.path / "mesh")
    names = FileNames()
    paths: list[Path] = []
    entries: list[tuple[float, int, str, str]] = []
    for done, index in enumerate(indices, 1):
        frame = run.read_frame(index)
        for part, (body, name) in enumerate(zip(frame.bodies, names.of(frame), strict=True)):
            if chosen is not None and body.name not in chosen:
                continue
            path = target / f"{name}_{index:05d}.{'vtp' if to == 'vtk' else to}"
            half = radius if radius is not None else 0.5 * body.spacing(run.dx)
            write_surface(path, reconstruct(body, half, detail=detail, smoothing=smoothing))
            paths.append(path)
            entries.append((frame.time, part, body.name, path.name))
        if progress is not None:
            progress(done, len(indices))
    if to == "vtk":
        paths.insert(0, target / "surface.pvd")
        write_pvd(paths[0], entries)
    return paths


def reconstruct(body: BodyFrame, radius: float, *, detail: float = 0.5, smoothing: int = 15) -> SurfaceMesh:
    """Surface around the particles of a 3D body, `radius` is half their spacing [m]; of a mesh its own.

    Strands become tubes of their own radius.
    """
    x = np.ascontiguousarray(body.x, np.float64)
    if not np.isfinite(x).all():
        raise OutputError(f"body {body.name!r} has particles at infinity; mesh an earlier frame")
    if (strands := body.strands()) is not None:
        thick = body.arrays["radius"].astype(np.float64)
        vertices, triangles, normals = tubes(x, strands, thick)
        velocities = np.repeat(body.v.astype(np.float64), SIDES, axis=0)
        return SurfaceMesh(vertices, triangles, normals, velocities, FLAT * float(thick.min(initial=np.inf)))
    if (skin := body.skin()) is not None:
        seen, triangles = skin
        corners = x[seen][triangles]
        edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
        normals, fine = vertex_normals(x[seen], triangles), FLAT * edges.min(initial=np.inf)
        return SurfaceMesh(x[seen], triangles, normals, np.asarray(body.v[seen], np.float64), fine)
    if not len(x):
        empty = np.zeros((0, 3))
        return SurfaceMesh(empty, np.zeros((0, 3), np.int64), empty, empty)
    if not np.prod(np.ptp(x, axis=0) / (detail * radius) + 10) < MOST_CELLS:
        raise OutputError(
            f"body {body.name!r} is too large for a surface of radius {radius:g} m; take about half the distance "
            "of its particles"
        )
    velocity = np.ascontiguousarray(body.v, np.float64)
    result, _ = _library().reconstruction_pipeline(
        x,
        attributes_to_interpolate={"v": velocity},
        particle_radius=radius,
        smoothing_length=2.0,
        cube_size=detail,
        iso_surface_threshold=0.6,
        mesh_cleanup=True,
        compute_normals=True,
        normals_smoothing_iters=5,
        mesh_smoothing_iters=smoothing,
        mesh_smoothing_weights=True,
    )
    raw, fine = result.mesh, FLAT * detail * radius
    # Smoothing flattens triangles, and drops of one grid cell may be two triangles back to back.
    left, triangles = tidied(np.asarray(raw.vertices), np.asarray(raw.triangles).astype(np.int64), fine)
    vertices = np.asarray(raw.vertices)[left]
    normals, v = (np.asarray(result.point_attributes[name])[left] for name in ("normals", "v"))
    return SurfaceMesh(vertices, triangles, _whole(normals, vertices, triangles), v, fine)


def _whole(normals: np.ndarray, vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Unit normals (N, 3) as given, or where those are none as the triangles at the vertex have, or one of them."""
    lost = ~(np.linalg.norm(normals, axis=1) > 0.5)  # also NaN
    if not lost.any():
        return normals
    corners = vertices[triangles]
    one = np.zeros_like(normals)
    one[triangles] = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, None]
    mean = vertex_normals(vertices, triangles)
    whole = np.where(np.linalg.norm(mean, axis=1, keepdims=True) > 0.5, mean, one)
    length = np.maximum(np.linalg.norm(whole, axis=1, keepdims=True), 1e-300)
    return np.asarray(np.where(lost[:, None], whole / length, normals))


def write_surface(path: Path, surface: SurfaceMesh) -> None:
    """Write a surface; the suffix .ply, .obj or .vtp chooses the format."""
    vertices = stored_positions(surface.vertices, 0.1 * surface.fine)
    fields = {"v": surface.velocities.astype(np.float32), "normal": surface.normals.astype(np.float32)}
    if path.suffix == ".obj":
        _write_obj(path, vertices, fields["normal"], surface.triangles + 1)
    else:
        (write_ply if path.suffix == ".ply" else write_vtp)(path, vertices, fields, surface.triangles)


def _write_obj(path: Path, vertices: np.ndarray, normals: np.ndarray, triangles: np.ndarray) -> None:
    """Wavefront text; `triangles` count from 1."""
    with atomic_file(path) as file:
        file.write(b"# written by Continua, lengths in metres\n")
        digits = "%.9g" if vertices.dtype == np.float32 else "%.17g"  # so that no two become one
        np.savetxt(file, vertices, f"v {digits} {digits} {digits}")
        np.savetxt(file, normals, "vn %.5g %.5g %.5g")
        np.savetxt(file, np.repeat(triangles, 2, axis=1), "f %d//%d %d//%d %d//%d")


def _chosen(run: RunFolder, indices: list[int], bodies: Iterable[str] | None) -> set[str] | None:
    if bodies is None:
        return None
    chosen = set(bodies)
    known = {body.name for body in run.read_frame(indices[-1]).bodies}
    if chosen - known:
        raise OutputError(
            f"there is no body {sorted(chosen - known)[0]!r}; choose from {', '.join(sorted(known))}"
        )
    return chosen


def _library() -> Any:
    return require("pysplashsurf", "pysplashsurf", "mesh")
