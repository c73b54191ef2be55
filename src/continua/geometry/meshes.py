"""Descriptions of meshes, as they stand in scene files; `build()` makes the mesh."""

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, WHOLE, Count, NonNegative, Positive, Vector
from continua._validation import raises
from continua.errors import GeometryError
from continua.geometry.box_mesh import Pattern, box_mesh
from continua.geometry.combine import AnyShape
from continua.geometry.curve_files import FileCurves, read_curves
from continua.geometry.curves import Curves
from continua.geometry.hair import Curl, Fur
from continua.geometry.mesh_files import read_mesh, write_mesh
from continua.geometry.ropes import Braid, Bundle, Strand
from continua.geometry.simplex_mesh import SimplexMesh
from continua.geometry.springs import SpringMesh, chain, cloth_springs, spring_mesh
from continua.geometry.stuffing import mesh_of

__all__ = [
    "AnyCurves",
    "AnyMesh",
    "AnySprings",
    "BoxMesh",
    "Braid",
    "Bundle",
    "Chain",
    "Cloth",
    "Curl",
    "Curves",
    "FileCurves",
    "FileMesh",
    "Fur",
    "ShapeMesh",
    "SimplexMesh",
    "SpringMesh",
    "Strand",
    "box_mesh",
    "chain",
    "cloth_springs",
    "mesh_of",
    "read_curves",
    "read_mesh",
    "spring_mesh",
    "write_mesh",
]

PointCount = Annotated[int, Field(strict=True, ge=2), WHOLE]


@raises(GeometryError)
@dataclass(config=CONFIG)
class BoxMesh:
    """Box cut into squares or cubes, and these into triangles or tetrahedra."""

    lower: Vector = Field(description="lowest corner [m]")
    upper: Vector = Field(description="highest corner [m]")
    counts: tuple[Count, ...] = Field(description="number of squares or cubes along each axis")
    pattern: Pattern = Field(
        default="alternating", description="how they are cut: alternating, same or crossed"
    )
    type: Literal["box-mesh"] = Field(default="box-mesh", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if not len(self.lower) == len(self.upper) == len(self.counts):
            raise ValueError("lower, upper and counts must have the same number of entries")
        if any(high <= low for low, high in zip(self.lower, self.upper, strict=True)):
            raise ValueError("every coordinate of upper must be greater than that of lower")

    @property
    def dimension(self) -> int:
        return len(self.lower)

    def build(self) -> SimplexMesh:
        """The mesh."""
        return box_mesh(self.lower, self.upper, self.counts, self.pattern)


@raises(GeometryError)
@dataclass(config=CONFIG)
class ShapeMesh:
    """Any shape filled with triangles (2D) or tetrahedra (3D)."""

    shape: AnyShape = Field(description="shape to fill")
    size: Positive = Field(description="length of the edges inside [m]")
    type: Literal["shape-mesh"] = Field(default="shape-mesh", kw_only=True, repr=False)

    @property
    def dimension(self) -> int:
        return self.shape.dimension

    def build(self) -> SimplexMesh:
        """The mesh."""
        return mesh_of(self.shape, self.size)


@raises(GeometryError)
@dataclass(config=CONFIG)
class FileMesh:
    """Triangles (2D) or tetrahedra (3D) from a file."""

    path: Path = Field(description="Gmsh (.msh), VTK (.vtk, .vtu) or Medit (.mesh) file")
    scale: Positive = Field(
        default=1.0, kw_only=True, description="factor on all coordinates, before translate"
    )
    translate: Vector | None = Field(default=None, kw_only=True, description="displacement [m]")
    type: Literal["file-mesh"] = Field(default="file-mesh", kw_only=True, repr=False)

    def build(self) -> SimplexMesh:
        """The mesh."""
        mesh = read_mesh(self.path)
        if self.translate is not None and len(self.translate) != mesh.dimension:
            raise GeometryError(
                f"translate of mesh file {self.path} needs {mesh.dimension} coordinates like the mesh"
            )
        shift = np.zeros(mesh.dimension) if self.translate is None else np.array(self.translate)
        return SimplexMesh(mesh.points * self.scale + shift, mesh.cells, f"mesh file {self.path}")


@raises(GeometryError)
@dataclass(config=CONFIG)
class Chain:
    """Springs from each point to the next."""

    points: list[Vector] = Field(min_length=2, description="points [m]")
    stiffness: NonNegative = Field(default=1e3, description="stiffness of every spring [N/m]")
    type: Literal["chain"] = Field(default="chain", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if len({len(point) for point in self.points}) != 1:
            raise ValueError("all points must have the same number of coordinates")

    def build(self) -> SpringMesh:
        """The springs."""
        return chain(self.points, self.stiffness)


@raises(GeometryError)
@dataclass(config=CONFIG)
class Cloth:
    """Rectangular cloth of springs that lies flat (y = const) at first (3D only)."""

    counts: tuple[PointCount, PointCount] = Field(description="number of points along x and z")
    size: tuple[Positive, Positive] = Field(description="length along x and z [m]")
    center: Vector = Field(default=(0.0, 0.0, 0.0), description="middle of the cloth [m]")
    stiffness: NonNegative = Field(default=1e3, kw_only=True, description="stiffness of the threads [N/m]")
    shear: NonNegative = Field(
        default=1.0, kw_only=True, description="stiffness across the diagonals over that of the threads"
    )
    bend: NonNegative = Field(
        default=1.0, kw_only=True, description="stiffness between every second point over that of the threads"
    )
    type: Literal["cloth"] = Field(default="cloth", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if len(self.center) != 3:
            raise ValueError("center needs 3 coordinates")

    def build(self) -> SpringMesh:
        """The springs."""
        return cloth_springs(
            *self.counts,
            self.size,
            center=self.center,
            stiffness=self.stiffness,
            shear=self.shear,
            bend=self.bend,
        )


AnyMesh = Annotated[BoxMesh | ShapeMesh | FileMesh, Field(discriminator="type")]
AnySprings = Annotated[Chain | Cloth, Field(discriminator="type")]
AnyCurves = Annotated[Fur | Strand | Bundle | Braid | FileCurves, Field(discriminator="type")]
