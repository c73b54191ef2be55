"""Read and write meshes of triangles and tetrahedra in the formats of other programs, through meshio."""

from __future__ import annotations

import contextlib
import importlib
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from continua.errors import GeometryError, MissingExtraError, OutputError
from continua.geometry.base import Array
from continua.geometry.simplex_mesh import SimplexMesh

FORMATS = (".msh", ".vtk", ".vtu", ".mesh")
SURFACE_FORMATS = (".stl", ".obj", ".ply")  # written from the boundary of a 3D mesh


def read_mesh(path: str | Path) -> SimplexMesh:
    """Mesh [m] of the tetrahedra in a Gmsh, VTK or Medit file; of its triangles if it has none and is flat.

    Points that belong to no cell are left out.
    """
    path = Path(path)
    name = f"mesh file {path}"
    if not path.is_file():
        raise GeometryError(f"{name} does not exist")
    suffix = path.suffix.lower()
    if suffix in SURFACE_FORMATS:
        raise GeometryError(f"{name} holds a surface only, fill it with ShapeMesh(shapes.Mesh(path), size)")
    if suffix not in FORMATS:
        raise GeometryError(f"{name} has an unknown format, use one of {', '.join(FORMATS)}")
    try:
        content = quietly(meshio().read, str(path))
        points, cells = np.array(content.points, dtype=np.float64), content.cells_dict
    except MissingExtraError:
        raise
    except (Exception, SystemExit) as error:  # the readers raise almost anything, or leave, on damaged files
        raise GeometryError(f"{name} cannot be read as {suffix[1:].upper()}, export it again") from error
    return _mesh(points, cells, name)


def write_mesh(path: str | Path, mesh: SimplexMesh) -> None:
    """Write a mesh [m] as Gmsh, VTK or Medit file, or the surface of a 3D mesh as STL, OBJ or PLY."""
    path = Path(path)
    suffix = path.suffix.lower()
    surface = suffix in SURFACE_FORMATS
    if suffix not in (*FORMATS, *SURFACE_FORMATS):
        choices = ", ".join((*FORMATS, *SURFACE_FORMATS))
        raise OutputError(f"{path} has no known mesh format, use one of {choices}")
    if surface and mesh.dimension == 2:
        raise OutputError(f"a 2D mesh has no surface to write to {path}, use one of {', '.join(FORMATS)}")
    points: Array = mesh.points
    cells: NDArray[np.integer] = mesh.cells
    if surface:
        used, index = np.unique(mesh.surface, return_inverse=True)
        points, cells = points[used], index.reshape(mesh.surface.shape)
    if mesh.dimension == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    content = meshio().Mesh(points, [("tetra" if cells.shape[1] == 4 else "triangle", cells)])
    try:
        quietly(content.write, str(path))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def _mesh(points: Array, cells: dict[str, NDArray[np.integer]], name: str) -> SimplexMesh:
    if "tetra" in cells:
        chosen = cells["tetra"]
    elif "triangle" in cells:
        chosen = cells["triangle"]
        if points.shape[1] == 3 and np.ptp(points[chosen.ravel(), 2]) > 0:
            raise GeometryError(f"{name} holds a surface only, export tetrahedra or a flat mesh with one z")
        points = points[:, :2]
    else:
        found = ", ".join(cells) or "no cells"
        raise GeometryError(f"{name} has neither tetrahedra nor triangles ({found}), convert its cells")
    used, index = np.unique(chosen, return_inverse=True)
    if int(used[-1]) >= len(points) or int(used[0]) < 0:
        raise GeometryError(f"{name} has cells that refer to points it does not have, export it again")
    return SimplexMesh(points[used], index.reshape(chosen.shape), name)


def meshio() -> Any:
    """The library, an extra."""
    try:
        return importlib.import_module("meshio")
    except ImportError as error:
        raise MissingExtraError("meshio", "mesh") from error


def quietly(action: Any, *arguments: Any) -> Any:
    """meshio reports its doubts to the terminal; what matters comes as an exception."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return action(*arguments)
