"""Strands from the files of other programs: lines of Wavefront, edges of PLY, lines of VTK and Gmsh."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, Positive, Vector
from continua._validation import raises
from continua.errors import GeometryError, MissingExtraError
from continua.geometry.base import Array
from continua.geometry.connected import connected_pieces
from continua.geometry.curves import Curves
from continua.geometry.mesh_files import meshio, quietly

FORMATS = (".obj", ".ply", ".vtk", ".vtu", ".msh")
_PLY_TYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"}
_PLY_TYPES |= {"float": "f4", "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2"}
_PLY_TYPES |= {"int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8"}
_PLY_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}


@raises(GeometryError)
@dataclass(config=CONFIG)
class FileCurves:
    """Strands from a file (3D only)."""

    path: Path = Field(
        description="file with lines: Wavefront .obj, .ply with edges, .vtk, .vtu or Gmsh .msh"
    )
    scale: Positive = Field(
        default=1.0, kw_only=True, description="factor on all coordinates, before translate"
    )
    translate: Vector = Field(default=(0.0, 0.0, 0.0), kw_only=True, description="displacement [m]")
    type: Literal["file-curves"] = Field(default="file-curves", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if len(self.translate) != 3:
            raise ValueError("translate needs 3 coordinates")

    def build(self) -> Curves:
        """The strands."""
        curves = read_curves(self.path)
        return Curves(curves.points * self.scale + np.array(self.translate), np.diff(curves.offsets))


def read_curves(path: str | Path) -> Curves:
    """Strands [m] from a file: chains of its lines, from root to tip; points without lines are left out."""
    path = Path(path)
    name = f"curve file {path}"
    if not path.is_file():
        raise GeometryError(f"{name} does not exist")
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise GeometryError(f"{name} has an unknown format, use one of {', '.join(FORMATS)}")
    read = {".obj": _read_obj, ".ply": _read_ply}.get(suffix, _read_other)
    try:
        points, edges = read(path)
    except MissingExtraError:
        raise
    except (Exception, SystemExit) as error:  # damaged files break readers in any way
        raise GeometryError(f"{name} cannot be read as {suffix[1:].upper()}, export it again") from error
    return chained(points, edges, name)


def chained(points: ArrayLike, edges: ArrayLike, name: str = "these curves") -> Curves:
    """Curves along chains of edges (E, 2) between points (N, 3) [m].

    A chain begins at the end that its edges lead away from, or where they disagree at that of the smaller number.
    """
    x, pairs = np.asarray(points, dtype=np.float64), np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    if not len(pairs):
        raise GeometryError(f"{name} has no lines; export curves as lines, edges or polylines")
    if pairs.min() < 0 or pairs.max() >= len(x):
        raise GeometryError(f"{name} has lines between points that it does not have, export it again")
    joined = np.bincount(pairs.ravel(), minlength=len(x))
    if (joined > 2).any():
        raise GeometryError(
            f"point {int((joined > 2).argmax())} of {name} is on {joined.max()} lines; strands do not branch"
        )
    # Of two ends the one that an edge starts from comes first, then the one of the smaller number.
    ends = np.flatnonzero(joined == 1)
    leaves = np.bincount(pairs[:, 0], minlength=len(x)) > 0
    piece = connected_pieces(pairs, len(x))
    order = np.lexsort((ends, ~leaves[ends], piece[ends]))
    roots = ends[order][::2]
    if len(np.unique(piece[joined > 0])) != len(roots):
        raise GeometryError(f"{name} has a closed ring; strands have two ends, cut it open")
    neighbors = np.full((len(x), 2), -1)
    for a, b in np.concatenate([pairs, pairs[:, ::-1]]).tolist():
        neighbors[a, 0 if neighbors[a, 0] < 0 else 1] = b
    walks = [_walk(int(root), neighbors) for root in np.sort(roots)]
    return Curves(x[np.concatenate(walks)], [len(walk) for walk in walks])


def _walk(root: int, neighbors: NDArray[np.int64]) -> list[int]:
    """Numbers of the points from one end of a chain to the other."""
    path, before = [root], -1
    while True:
        further = [int(n) for n in neighbors[path[-1]] if n >= 0 and n != before]
        if not further:
            return path
        before = path[-1]
        path.append(further[0])


def _read_obj(path: Path) -> tuple[Array, Any]:
    points, edges = [], []
    for line in path.read_text().splitlines():
        kind, *words = line.split() or [""]
        if kind == "v":
            points.append([float(word) for word in words[:3]])
        elif kind == "l":
            numbers = [int(word.split("/")[0]) for word in words]
            chain = [n - 1 if n > 0 else len(points) + n for n in numbers]  # negative ones count backwards
            edges += list(zip(chain[:-1], chain[1:], strict=True))
    return np.array(points).reshape(-1, 3), edges


def _read_ply(path: Path) -> tuple[Array, Any]:
    """Elements vertex (x, y, z) and edge (vertex1, vertex2); what stands before them must not have lists."""
    head, _, body = path.read_bytes().partition(b"end_header")
    body = body.partition(b"\n")[2]
    order = ""
    elements: list[tuple[str, int, list[tuple[str, str]]]] = []
    for line in head.decode("ascii").splitlines():
        words = line.split()
        if words[:1] == ["format"]:
            order = _PLY_ORDERS[words[1]]
        elif words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][2].append(
                (words[-1], order + _PLY_TYPES[words[1]] if words[1] != "list" else "list")
            )
    tables: dict[str, NDArray] = {}
    for element, count, columns in elements:
        if {"vertex", "edge"} <= tables.keys():
            break
        types = np.dtype(columns)
        if order:
            tables[element] = np.frombuffer(body, types, count)
            body = body[count * types.itemsize :]
        else:
            rows = body.split(b"\n", count)
            table = np.array([row.split() for row in rows[:count]], dtype=np.float64).reshape(
                count, len(columns)
            )
            tables[element] = np.empty(count, types)
            for column, (key, _) in zip(table.T, columns, strict=True):
                tables[element][key] = column
            body = rows[count] if len(rows) > count else b""
    vertex, edge = tables["vertex"], tables.get("edge")
    points = np.stack([np.asarray(vertex[axis], np.float64) for axis in "xyz"], axis=1)
    return points, [] if edge is None else np.stack([edge["vertex1"], edge["vertex2"]], axis=1)


def _read_other(path: Path) -> tuple[Array, Any]:
    content = quietly(meshio().read, str(path))
    points = np.zeros((len(content.points), 3))
    points[:, : content.points.shape[1]] = content.points
    lines = [block.data for block in content.cells if block.type in ("line", "polyline")]
    edges = [np.stack([rows[:-1], rows[1:]], axis=1) for block in lines for rows in block]
    return points, np.concatenate(edges) if edges else []
