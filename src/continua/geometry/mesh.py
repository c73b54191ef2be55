"""Bodies and distances from triangle meshes."""

from dataclasses import dataclass as plain_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._core import mesh_signed_distance
from continua._model import CONFIG, Positive, Vector
from continua._validation import raises
from continua.errors import GeometryError
from continua.geometry.arrays import Coordinates, Triangles, same_value
from continua.geometry.base import Array, Shape
from continua.geometry.surface import ClosedSurface, closed_surface, read_surface

MAX_LATTICE_NODES = 500_000_000


@raises(GeometryError)
@dataclass(config=CONFIG, eq=False)
class Mesh(Shape):
    """Inside of a closed triangle mesh (3D only), from a file or from arrays.

    The file is read when the shape is first measured. Meshes that are inside out are turned; meshes with
    holes are refused. Where closed pieces overlap, the body is all of them together.
    """

    path: Path | None = Field(default=None, description="OBJ, PLY or STL file")
    vertices: Coordinates | None = Field(
        default=None, kw_only=True, description="instead of a file: vertices (V, 3) [m]"
    )
    faces: Triangles | None = Field(
        default=None, kw_only=True, description="vertex numbers of the triangles (F, 3)"
    )
    scale: Positive = Field(
        default=1.0, kw_only=True, description="factor on all coordinates, before translate"
    )
    translate: Vector = Field(default=(0.0, 0.0, 0.0), kw_only=True, description="displacement [m]")
    type: Literal["mesh"] = Field(default="mesh", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        arrays = (self.vertices is not None) + (self.faces is not None)
        if arrays == 1 or (arrays == 2) == (self.path is not None):
            raise ValueError("give either path, or vertices and faces")
        if self.vertices is not None and self.vertices.shape[1] != 3:
            raise ValueError("vertices need 3 coordinates")
        if len(self.translate) != 3:
            raise ValueError("translate needs 3 coordinates")

    def __eq__(self, other: Any) -> bool:
        names = ("path", "vertices", "faces", "scale", "translate")
        return isinstance(other, Mesh) and all(same_value(getattr(self, n), getattr(other, n)) for n in names)

    @cached_property
    def surface(self) -> ClosedSurface:
        """The triangles, merged, closed, facing outwards, scaled and moved into place."""
        if self.path is not None:
            surface = read_surface(self.path)
        else:
            assert self.vertices is not None and self.faces is not None
            surface = closed_surface(self.vertices, self.faces)
        return ClosedSurface(surface.vertices * self.scale + np.array(self.translate), surface.faces)

    @property
    def dimension(self) -> int:
        return 3

    def bounds(self) -> tuple[Array, Array]:
        return self.surface.vertices.min(axis=0), self.surface.vertices.max(axis=0)

    def volume(self) -> float:
        return self.surface.volume()

    def _distance(self, x: Array) -> Array:
        return _mesh_distance(self.surface.vertices, self.surface.faces, x)


@plain_dataclass(frozen=True)
class SampledDistance:
    """Signed distance on a regular lattice; node (i, j, k) sits at origin + (i, j, k) * spacing."""

    values: Array  # (nx, ny, nz) [m]
    origin: Array  # (3,) [m]
    spacing: float  # [m]


def lattice_round(
    lower: Array, upper: Array, resolution: int, padding: int
) -> tuple[tuple[int, ...], Array, float]:
    """Nodes along each axis, first node (d,) [m] and spacing [m] of a lattice round a box (d,), (d,) [m].

    The longest side of the box is `resolution` cells long; `padding` more cells follow on every side.
    """
    spacing = float((upper - lower).max()) / resolution
    cells = np.ceil((upper - lower) / spacing - 1e-9).astype(int) + 2 * padding
    shape = tuple(int(n) + 1 for n in cells)
    if np.prod(shape, dtype=float) > MAX_LATTICE_NODES:
        raise GeometryError(
            f"a lattice of {' x '.join(map(str, shape))} nodes is too large, use a smaller resolution"
        )
    return shape, (lower + upper) / 2 - cells * spacing / 2, spacing


def sample_distance(
    vertices: Array, faces: NDArray[np.integer], resolution: int = 64, padding: int = 3
) -> SampledDistance:
    """Signed distance to the closed mesh vertices (V, 3) [m], faces (F, 3) on a lattice round it.

    The longest side of the mesh is `resolution` cells long; `padding` more cells follow on every side.
    """
    if resolution < 1 or padding < 0:
        raise GeometryError(
            f"a sampled mesh needs a resolution of at least 1 and a padding of at least 0 cells, "
            f"not {resolution} and {padding}"
        )
    surface = closed_surface(np.asarray(vertices, dtype=np.float64), np.asarray(faces))
    lower, upper = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    shape, origin, spacing = lattice_round(lower, upper, resolution, padding)
    axes = [origin[a] + spacing * np.arange(shape[a]) for a in range(3)]
    values = np.empty(shape)
    for i, x in enumerate(axes[0]):  # one layer at a time bounds the memory
        layer = np.stack(np.meshgrid([x], axes[1], axes[2], indexing="ij"), axis=-1)
        values[i] = _mesh_distance(surface.vertices, surface.faces, layer.reshape(-1, 3)).reshape(shape[1:])
    return SampledDistance(values, origin, spacing)


def _mesh_distance(vertices: Array, faces: NDArray[np.int32], x: Array) -> Array:
    if not np.isfinite(x).all():
        raise GeometryError("the distance to a mesh needs finite points")
    distance: Array = mesh_signed_distance(vertices, faces, np.ascontiguousarray(x))
    return distance
