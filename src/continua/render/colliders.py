"""Colliders as drawable geometry: triangles for solids, lines for containers, planes as planes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from continua.errors import ContinuaError
from continua.geometry.contour import Contour, gradient, loops
from continua.geometry.sampled_shape import outline
from continua.geometry.shapes import AnyShape, Shape

Pose = tuple[np.ndarray, np.ndarray]
RESOLUTION = 72  # lattice cells along the longest side of a shape that is drawn
WIRES = 16  # and of one that is drawn as lines


@dataclass
class Solid:
    """Triangles (M, 3) over vertices (N, 3) [m] with outward normals (N, 3).

    `color` is one colour, RGB in 0..1, or one for every vertex (N, 3).
    """

    vertices: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray
    color: tuple[float, float, float] | np.ndarray = (0.60, 0.64, 0.70)

    @property
    def colors(self) -> np.ndarray:
        """Colours (N, 3) of the vertices."""
        return np.broadcast_to(np.asarray(self.color, np.float32), (len(self.vertices), 3))


def merged(solids: Sequence[Solid]) -> Solid:
    """All solids, at least one, as one."""
    first = np.cumsum([0, *(len(solid.vertices) for solid in solids[:-1])])
    return Solid(
        np.concatenate([solid.vertices for solid in solids]),
        np.concatenate([solid.triangles + shift for solid, shift in zip(solids, first, strict=True)]),
        np.concatenate([solid.normals for solid in solids]),
        np.concatenate([solid.colors for solid in solids]),
    )


@dataclass
class Wires:
    """Line segments from start (M, 3) to end (M, 3) [m]."""

    start: np.ndarray
    end: np.ndarray


@dataclass
class Ground:
    """Infinite plane through `point` (3,) [m]; `normal` (3,) points to the free side."""

    point: np.ndarray
    normal: np.ndarray


Drawable = Solid | Wires | Ground


def drawables(collider: Mapping[str, Any], pose: Pose | None = None) -> list[Drawable]:
    """Geometry of a collider given as a dict (`type`, `center`, `size`, ...) in 3D, moved to its pose.

    Inverted colliders are containers, which would hide what they contain; they become lines, and boxes keep
    their floor. A kind that is not known, or a mesh file that is gone, gives nothing: a picture should not
    fail for it.
    """
    kind = collider.get("type")
    inverted = bool(collider.get("inverted", False))
    if kind == "shape" and collider["shape"].get("type") in ("box", "sphere", "capsule", "mesh"):
        return drawables({**collider["shape"], "inverted": inverted}, pose)
    shapes: list[Drawable] = []
    if kind == "plane":
        shapes = [_plane(collider)]
    elif kind == "box":
        solid = _box(_vector(collider["center"]), _vector(collider["size"]))
        shapes = [_box_edges(solid), _floor(solid)] if inverted else [solid]
    elif kind in ("sphere", "capsule", "mesh", "shape"):
        curved = {"mesh": _mesh, "shape": _shape}.get(kind, _capsule)(collider)
        if curved is not None:
            shapes = [_wires(curved)] if inverted else [curved]
    return [_moved(shape, pose) for shape in shapes]


def seen_from(shape: Drawable, origin: np.ndarray) -> Drawable:
    """The same with lengths from `origin` (3,) [m]; planes go through the point next to it."""
    moved = _moved(shape, (-origin, np.eye(3)))
    if isinstance(moved, Ground):
        moved.point = moved.normal * float(moved.normal @ moved.point)
    return moved


def _vector(value: Sequence[float] | np.ndarray) -> np.ndarray:
    """Three numbers; a missing third one is 0."""
    return np.array([*value, 0.0][:3], float)


def _plane(collider: Mapping[str, Any]) -> Ground:
    normal = _vector(collider["normal"])
    return Ground(_vector(collider.get("point") or (0, 0, 0)), normal / max(np.linalg.norm(normal), 1e-12))


def _box(center: np.ndarray, size: np.ndarray) -> Solid:
    """Four vertices per face; faces in the order -x +x -y +y -z +z."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    vertices: list[np.ndarray] = []
    triangles: list[list[int]] = []
    normals: list[np.ndarray] = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            first = 4 * len(vertices)
            vertices.append(center + corners[corners[:, axis] == side] * size)
            triangles += [[first, first + 1, first + 3], [first, first + 3, first + 2]]
            normals.append(np.tile(np.eye(3)[axis] * 2 * side, (4, 1)))
    return Solid(np.concatenate(vertices), np.array(triangles), np.concatenate(normals))


def _box_edges(box: Solid) -> Wires:
    low, high = box.vertices[:4], box.vertices[4:8]  # the faces -x and +x
    ring = [0, 1, 3, 2]
    turn = [1, 3, 2, 0]
    start = np.concatenate([low[ring], high[ring], low])
    return Wires(start, np.concatenate([low[turn], high[turn], high]))


def _floor(box: Solid) -> Solid:
    """The face -y, seen from inside."""
    return Solid(box.vertices[8:12], box.triangles[:2], -box.normals[8:12], (0.74, 0.77, 0.81))


def _capsule(collider: Mapping[str, Any], rings: int = 24, sides: int = 48) -> Solid:
    """Sphere swept from start to end: a sphere of rings, cut at the equator and pulled apart."""
    start = _vector(collider["start"] if "start" in collider else collider["center"])
    end = _vector(collider["end"] if "end" in collider else collider["center"])
    axis = end - start
    length = float(np.linalg.norm(axis))
    axis = axis / length if length > 0 else np.array([0.0, 1.0, 0.0])
    side = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.8 else (0.0, 0.0, 1.0))
    side /= np.linalg.norm(side)
    half = np.linspace(0, 90, rings // 2 + 1)
    latitude = np.radians(np.concatenate([-half[::-1], half]))[:, None, None]
    longitude = np.linspace(0, 2 * np.pi, sides, endpoint=False)[None, :, None]
    around = np.cos(longitude) * side + np.sin(longitude) * np.cross(axis, side)
    normals = np.cos(latitude) * around + np.sin(latitude) * axis
    upper = (np.arange(len(latitude)) > rings // 2)[:, None, None]
    points = np.where(upper, end, start) + float(collider["radius"]) * normals
    i, j = np.meshgrid(np.arange(len(latitude) - 1), np.arange(sides), indexing="ij")
    a, b = i * sides + j, i * sides + (j + 1) % sides
    triangles = np.stack([a, b, b + sides, a, b + sides, a + sides], -1)
    return Solid(points.reshape(-1, 3), triangles.reshape(-1, 3), normals.reshape(-1, 3))


def _mesh(collider: Mapping[str, Any]) -> Solid | None:
    vertices, faces = collider.get("vertices"), collider.get("faces")
    if vertices is None or faces is None:
        loaded = _load(collider.get("path"))
        if loaded is None:
            return None
        vertices, faces = loaded
    points = np.asarray(vertices, float) * np.asarray(collider.get("scale") or 1.0)
    points = points + _vector(collider.get("translate") or (0, 0, 0))
    triangles = np.asarray(faces, np.intp)
    if points.ndim != 2 or points.shape[1] != 3 or triangles.ndim != 2 or triangles.shape[1] != 3:
        return None
    corners = points[triangles]  # flat shading: every triangle has its own vertices
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return Solid(
        corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), np.repeat(normals, 3, axis=0)
    )


def _shape(collider: Mapping[str, Any]) -> Solid | None:
    text = json.dumps(collider["shape"], sort_keys=True, default=str)
    return _contour_solid(text, WIRES if collider.get("inverted") else RESOLUTION)


@lru_cache(maxsize=16)  # colliders that move are drawn anew in every frame
def _contour_solid(text: str, resolution: int) -> Solid | None:
    """Triangles of a shape given as JSON; every one has its own vertices, whose normals are those of the shape nearby,
    so that round parts look round and edges sharp."""
    found = _drawn(text, 3, resolution)
    if found is None:
        return None
    shape, surface = found
    corners = surface.vertices[surface.faces]
    inward = 0.95 * corners + 0.05 * corners.mean(axis=1, keepdims=True)
    size = float(np.ptp(surface.vertices, axis=0).max())
    normals = gradient(shape, inward.reshape(-1, 3), 1e-6 * size)
    return Solid(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), normals)


@lru_cache(maxsize=16)
def contour_lines(text: str) -> list[np.ndarray]:
    """Closed lines (N, 2) round a 2D shape given as JSON and round its holes."""
    found = _drawn(text, 2, RESOLUTION)
    return [] if found is None else loops(found[1])


def _drawn(text: str, dimension: int, resolution: int) -> tuple[Shape, Contour] | None:
    """A shape and its surface, or None if it cannot be made here: a picture should not fail for it."""
    try:
        adapter: TypeAdapter[Shape] = TypeAdapter(AnyShape)
        shape = adapter.validate_json(text)
        return (shape, outline(shape, resolution)) if shape.dimension == dimension else None
    except (ContinuaError, ValidationError):
        return None


def _load(path: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Vertices and faces of a mesh file, or None if it cannot be read here."""
    if not path or not Path(path).exists():
        return None
    try:
        import trimesh

        mesh: Any = trimesh.load(path, force="mesh")
        return np.asarray(mesh.vertices), np.asarray(mesh.faces)
    except Exception:  # whatever the reader dislikes, the picture goes on without this collider
        return None


def _wires(solid: Solid) -> Wires:
    """Every edge of the triangles once, thinned to at most a few thousand."""
    edges = np.concatenate([solid.triangles[:, [0, 1]], solid.triangles[:, [1, 2]]])
    edges = edges[:: len(edges) // 4000 + 1]
    return Wires(solid.vertices[edges[:, 0]], solid.vertices[edges[:, 1]])


def _moved(shape: Drawable, pose: Pose | None) -> Drawable:
    if pose is None:
        return shape
    position, rotation = _vector(pose[0]), np.eye(3)
    d = len(pose[0])
    rotation[:d, :d] = pose[1]
    if isinstance(shape, Solid):
        vertices = shape.vertices @ rotation.T + position
        return replace(shape, vertices=vertices, normals=shape.normals @ rotation.T)
    if isinstance(shape, Wires):
        return Wires(shape.start @ rotation.T + position, shape.end @ rotation.T + position)
    return Ground(rotation @ shape.point + position, rotation @ shape.normal)
