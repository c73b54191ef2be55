"""Closed triangle surfaces: reading, repairing, measuring."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from continua.errors import GeometryError
from continua.geometry.base import Array
from continua.geometry.connected import connected_pieces

Indices = NDArray[np.int32]
FORMATS = (".obj", ".ply", ".stl")


@dataclass(frozen=True)
class ClosedSurface:
    """Closed triangle mesh whose faces turn outwards."""

    vertices: Array  # (V, 3) [m]
    faces: Indices  # (F, 3)

    def volume(self) -> float:
        """Enclosed volume [m^3]."""
        return float(_face_volumes(self.vertices, self.faces).sum())


def read_surface(path: Path) -> ClosedSurface:
    """Surface stored in an OBJ, PLY or STL file, closed and facing outwards."""
    import trimesh

    name = f"mesh file {path}"
    if not path.is_file():
        raise GeometryError(f"{name} does not exist")
    if path.suffix.lower() not in FORMATS:
        raise GeometryError(f"{name} has an unknown format, use one of {', '.join(FORMATS)}")
    try:
        mesh = trimesh.load_mesh(str(path), process=False)
        vertices, faces = np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)
    except Exception as error:  # the readers raise almost anything on damaged files
        raise GeometryError(f"{name} cannot be read as {path.suffix[1:].upper()}, export it again") from error
    return closed_surface(vertices, faces, name)


def closed_surface(vertices: Array, faces: NDArray[np.integer], name: str = "mesh") -> ClosedSurface:
    """Surface made of vertices (V, 3) and faces (F, 3), merged at equal vertices and turned outwards.

    `name` is how error messages call the mesh.
    """
    if len(faces) == 0 or len(vertices) == 0:
        raise GeometryError(f"{name} has no triangles")
    if int(faces.min()) < 0 or int(faces.max()) >= len(vertices):
        raise GeometryError(f"{name} has faces that refer to vertices it does not have")
    if not np.isfinite(vertices).all():
        raise GeometryError(f"{name} has vertices that are not finite")
    vertices, faces = _merge(vertices, faces)
    if len(faces) == 0:
        raise GeometryError(f"{name} has only triangles without area")
    faces = _turn_outwards(vertices, faces, name)
    size = float(np.prod(np.ptp(vertices, axis=0)))
    if not _face_volumes(vertices, faces).sum() > 1e-9 * size:
        raise GeometryError(f"{name} encloses no volume")
    return ClosedSurface(np.ascontiguousarray(vertices), np.ascontiguousarray(faces, dtype=np.int32))


def vertex_normals(vertices: NDArray[np.floating], faces: NDArray[np.integer]) -> Array:
    """Unit normals (V, 3) of a surface at its vertices, mean of the faces (F, 3) weighted by their area."""
    a, b, c = np.asarray(vertices, dtype=np.float64)[faces].transpose(1, 0, 2)
    weighted = np.repeat(np.cross(b - a, c - a), 3, axis=0)
    normals = np.stack([np.bincount(faces.ravel(), n, len(vertices)) for n in weighted.T], axis=1)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300))


def _merge(vertices: Array, faces: NDArray[np.integer]) -> tuple[Array, NDArray[np.integer]]:
    """One vertex per position, no unused vertices, no triangle that repeats a vertex or another triangle."""
    merged, index = np.unique(vertices + 0.0, axis=0, return_inverse=True)  # + 0.0: -0 and 0 are one place
    faces = index.reshape(-1)[faces]
    corners = np.sort(faces, axis=1)
    faces = faces[(corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2])]
    if len(faces) == 0:
        return merged, faces
    start = faces.argmin(axis=1)[:, None]
    rotated = np.take_along_axis(faces, (start + np.arange(3)) % 3, axis=1)
    faces = faces[np.sort(np.unique(rotated, axis=0, return_index=True)[1])]
    used, index = np.unique(faces, return_inverse=True)
    return merged[used], index.reshape(-1, 3)


def _face_volumes(vertices: Array, faces: NDArray[np.integer]) -> Array:
    """Signed volume (F,) of the tetrahedra between each face and the middle of the mesh."""
    a, b, c = (vertices - vertices.mean(axis=0))[faces].transpose(1, 0, 2)
    volumes: Array = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    return volumes


def _turn_outwards(vertices: Array, faces: NDArray[np.integer], name: str) -> NDArray[np.integer]:
    """Check that the surface is closed; flip faces so that all of them turn outwards."""
    half_edges = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    forward = half_edges[:, 0] < half_edges[:, 1]
    _, edge, uses = np.unique(np.sort(half_edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    edge = edge.reshape(-1)
    open_edges = int((uses % 2).sum())
    if open_edges:
        raise GeometryError(f"{name} is not closed, fill its holes ({open_edges} open edges)")
    if (np.bincount(edge, np.where(forward, 1, -1)) == 0).all():
        return faces[:, ::-1] if _face_volumes(vertices, faces).sum() < 0 else faces
    if (uses != 2).any():
        raise GeometryError(f"{name} has edges with more than two triangles and mixed face directions")
    return _make_consistent(vertices, faces, edge, forward, name)


def _make_consistent(
    vertices: Array,
    faces: NDArray[np.integer],
    edge: NDArray[np.integer],
    forward: NDArray[np.bool_],
    name: str,
) -> NDArray[np.integer]:
    """Flip faces until neighbours agree, then every connected piece that is inside out.

    Every face enters a graph twice, as it is and flipped; neighbours that fit are linked. A piece of the
    surface falls apart into two components, one for each of its two sides, or is one-sided.
    """
    count = len(faces)
    pairs = np.argsort(edge, kind="stable").reshape(-1, 2)  # the two half-edges of every edge
    first, second = pairs[:, 0] // 3, pairs[:, 1] // 3
    conflict = forward[pairs[:, 0]] == forward[pairs[:, 1]]
    rows = np.concatenate([first, first + count])
    columns = np.concatenate([second + count * conflict, second + count * ~conflict])
    side = connected_pieces(np.stack([rows, columns], axis=1), 2 * count)
    kept, flipped = side[:count], side[count:]
    if (kept == flipped).any():
        raise GeometryError(f"{name} is one-sided, so that it has no inside")
    faces = np.where((kept > flipped)[:, None], faces[:, ::-1], faces)
    piece = np.minimum(kept, flipped)
    volumes = np.bincount(piece, _face_volumes(vertices, faces))
    return np.where((volumes[piece] < 0)[:, None], faces[:, ::-1], faces)
