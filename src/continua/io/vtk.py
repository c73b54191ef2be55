"""VTK files for ParaView, raw binary: .vtp (points, surfaces, strands), .vtu (meshes), and .pvd, their times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from continua.io.atomic import atomic_file, write_bytes

_TYPES = {"f4": "Float32", "f8": "Float64", "i1": "Int8", "i2": "Int16", "i4": "Int32", "i8": "Int64"}
_TYPES |= {"u1": "UInt8", "u2": "UInt16", "u4": "UInt32", "u8": "UInt64"}
_CELL_TYPES = {2: 3, 3: 5, 4: 10}  # VTK numbers of lines, triangles and tetrahedra, by corners
_XML = '<?xml version="1.0" encoding="utf-8"?>'
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_vtp(
    path: Path,
    points: np.ndarray,
    fields: Mapping[str, np.ndarray],
    triangles: np.ndarray | None = None,
    strands: np.ndarray | None = None,
) -> None:
    """Write points (N, 3) [m] with fields (N, ...) and, for a surface, triangles (M, 3), atomically.

    strands (S + 1,): number of the first point of every strand and N, where points are those of strands.
    """
    numbers = np.arange(len(points), dtype=np.int64) if triangles is None else triangles.astype(np.int64)
    ends = np.arange(1, len(numbers) + 1, dtype=np.int64) * (1 if triangles is None else 3)
    kind = "Verts" if triangles is None else "Polys"
    if strands is not None:
        kind, ends = "Lines", strands[1:].astype(np.int64)
    counts = {name: len(ends) if name == kind else 0 for name in ("Verts", "Lines", "Polys")}
    blob = _Blob()
    point_data = [blob.array(name, array) for name, array in fields.items()]
    coordinates = blob.array("Points", points)
    topology = [blob.array("connectivity", numbers.reshape(-1)), blob.array("offsets", ends)]
    head = [
        '<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
        "<PolyData>",
        f'<Piece NumberOfPoints="{len(points)}" NumberOfVerts="{counts["Verts"]}"'
        f' NumberOfLines="{counts["Lines"]}"'
        f' NumberOfStrips="0" NumberOfPolys="{counts["Polys"]}">',
        "<PointData>",
        *point_data,
        "</PointData>",
        f"<Points>{coordinates}</Points>",
        f"<{kind}>",
        *topology,
        f"</{kind}>",
        "</Piece></PolyData>",
    ]
    _write(path, head, blob)


def write_vtu(path: Path, points: np.ndarray, fields: Mapping[str, np.ndarray], cells: np.ndarray) -> None:
    """Write a mesh: points (N, 3) [m] with fields (N, ...), and lines (M, 2), triangles or tetrahedra (M, 4)."""
    blob = _Blob()
    point_data = [blob.array(name, array) for name, array in fields.items()]
    coordinates = blob.array("Points", points)
    ends = np.arange(1, len(cells) + 1, dtype=np.int64) * cells.shape[1]
    kinds = np.full(len(cells), _CELL_TYPES[cells.shape[1]], np.uint8)
    topology = [blob.array("connectivity", cells.astype(np.int64).reshape(-1)), blob.array("offsets", ends)]
    head = [
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
        "<UnstructuredGrid>",
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(cells)}">',
        "<PointData>",
        *point_data,
        "</PointData>",
        f"<Points>{coordinates}</Points>",
        "<Cells>",
        *topology,
        blob.array("types", kinds),
        "</Cells>",
        "</Piece></UnstructuredGrid>",
    ]
    _write(path, head, blob)


def _write(path: Path, head: list[str], blob: _Blob) -> None:
    """Write the XML and, behind it, the arrays it refers to, atomically."""
    with atomic_file(path) as file:
        file.write("\n".join([_XML, *head, '<AppendedData encoding="raw">\n_']).encode())
        for part in blob.parts:
            file.write(np.uint64(part.nbytes).astype("<u8").tobytes())
            file.write(part.data)
        file.write(b"\n</AppendedData></VTKFile>\n")


def write_pvd(path: Path, entries: Iterable[tuple[float, int, str, str]]) -> None:
    """Write the list of (time [s], part number, part name, file name) that ParaView plays."""
    lines = [
        _XML,
        '<VTKFile type="Collection" version="1.0"><Collection>',
    ]
    for time, part, name, file in entries:
        lines.append(
            f'<DataSet timestep="{time!r}" part="{part}" name={_attribute(name)} file={_attribute(file)}/>'
        )
    lines.append("</Collection></VTKFile>\n")
    write_bytes(path, "\n".join(lines).encode())


class _Blob:
    """Collects arrays for the appended section; each gets the offset at which it will be found."""

    def __init__(self) -> None:
        self.parts: list[np.ndarray] = []
        self._offset = 0

    def array(self, name: str, array: np.ndarray) -> str:
        """Register an array (N, ...) and return the XML element that refers to it."""
        array = np.ascontiguousarray(array)
        if array.dtype.kind == "b":
            array = array.astype(np.uint8)
        kind = array.dtype.str[1:]
        components = array.size // len(array) if len(array) else int(np.prod(array.shape[1:], dtype=int))
        element = (
            f'<DataArray type="{_TYPES[kind]}" Name={_attribute(name)} NumberOfComponents="{components}"'
            f' format="appended" offset="{self._offset}"/>'
        )
        self.parts.append(array.astype(f"<{kind}", copy=False).reshape(-1))
        self._offset += 8 + array.nbytes
        return element


def _attribute(text: str) -> str:
    """Quoted XML attribute; characters that XML cannot hold become '?'."""
    return quoteattr(_ILLEGAL.sub("?", text))
