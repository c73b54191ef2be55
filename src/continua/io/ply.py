"""PLY files (binary, little-endian): points, triangles or edges with velocity and any other fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from continua.io.atomic import atomic_file

_TYPES = {"<f4": "float", "<f8": "double", "|u1": "uchar", "<i4": "int", "<u4": "uint"}


def write_ply(
    path: Path,
    points: np.ndarray,
    fields: Mapping[str, np.ndarray],
    triangles: np.ndarray | None = None,
    edges: np.ndarray | None = None,
) -> None:
    """Write points (N, 3) [m] with fields (N, ...) and, for a surface, triangles (M, 3) or, for strands, edges (M, 2),
    atomically.

    A field with several components becomes several properties: v gives vx vy vz, normal gives nx ny nz,
    another vector f gives f_x f_y f_z, and other shapes f_0 f_1 and so on.
    """
    columns = dict(zip("xyz", points.T, strict=True))
    for name, array in fields.items():
        for key, column in _columns(name, array):
            while key in columns:
                key += "_"
            columns[key] = column
    table = np.empty(len(points), [(key, _dtype(column)) for key, column in columns.items()])
    for key, column in columns.items():
        table[key] = column
    lines = ["ply", "format binary_little_endian 1.0", "comment written by Continua, lengths in metres"]
    lines.append(f"element vertex {len(points)}")
    lines += [f"property {_TYPES[_dtype(column)]} {key}" for key, column in columns.items()]
    if triangles is not None:
        lines += [f"element face {len(triangles)}", "property list uchar int vertex_indices"]
    if edges is not None:
        lines += [f"element edge {len(edges)}", "property int vertex1", "property int vertex2"]
    with atomic_file(path) as file:
        file.write(("\n".join([*lines, "end_header"]) + "\n").encode("ascii"))
        file.write(table.tobytes())
        if triangles is not None:
            faces = np.empty(len(triangles), [("count", "u1"), ("vertices", "<i4", 3)])
            faces["count"], faces["vertices"] = 3, triangles
            file.write(faces.tobytes())
        if edges is not None:
            file.write(edges.astype("<i4").tobytes())


def _columns(name: str, array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The PLY properties of one field: (name, values (N,)) each."""
    name = re.sub(r"\W", "_", name, flags=re.ASCII) or "field"
    if array.ndim == 1:
        return [(name, array)]
    flat = array.reshape(len(array), int(np.prod(array.shape[1:], dtype=int)))
    if name in ("v", "normal") and flat.shape[1] == 3:
        keys = [f"{name[0]}{axis}" for axis in "xyz"]
    elif flat.shape[1] == 3:
        keys = [f"{name}_{axis}" for axis in "xyz"]
    else:
        keys = [f"{name}_{number}" for number in range(flat.shape[1])]
    return list(zip(keys, flat.T, strict=True))


def _dtype(column: np.ndarray) -> str:
    """The smallest PLY type that holds the values; PLY has no 64-bit integers."""
    if column.dtype.kind == "f":
        return "<f8" if column.dtype.itemsize == 8 else "<f4"
    if column.dtype.kind == "b" or column.dtype == np.uint8:
        return "|u1"
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    if low >= -(2**31) and high < 2**31:
        return "<i4"
    return "<u4" if low >= 0 and high < 2**32 else "<f8"
