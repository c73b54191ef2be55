"""Frames: what a run looks like at one moment, as plain arrays per body, in one .npz file each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from continua.errors import OutputError
from continua.io.npz import plain, read_npz, write_npz

FORMAT = 1
TOPOLOGY = ("cells", "surface")
FINE = 1e-3  # cells that stored positions tell apart


@dataclass
class BodyFrame:
    """One body at one moment, particles or the points of a mesh sorted by id.

    `arrays` always has x (N, d) [m], v (N, d) [m/s] and id (N,), usually J (N,) and other fields (N, ...).
    A mesh has `cells` besides, numbers of points: tetrahedra (M, 4), triangles (M, 3) or springs (M, 2); and
    `surface`, what is seen of it: triangles (F, 3) in 3D, boundary edges (F, 2) of triangles in 2D. Strands have the
    array radius (N,) [m], and as `cells` their segments (M, 2) from each point to the next, one strand after the
    other. `kind` is "points", "mesh", "springs" or "strands"; `continuum` names the one it belongs to.
    """

    name: str
    kind: str
    material: str
    arrays: dict[str, np.ndarray]
    cells: np.ndarray | None = None
    surface: np.ndarray | None = None
    continuum: str = "main"

    @property
    def x(self) -> np.ndarray:
        """Positions (N, d) [m]."""
        return self.arrays["x"]

    @property
    def v(self) -> np.ndarray:
        """Velocities (N, d) [m/s]."""
        return self.arrays["v"]

    def skin(self) -> tuple[np.ndarray, np.ndarray] | None:
        """What a mesh shows: its points that are seen (S,), and triangles (F, 3) between these; None for others.

        In 3D this is the surface, in 2D all triangles.
        """
        for table in (self.surface, self.cells):
            if table is not None and table.shape[1] == 3 and len(table):
                seen, index = np.unique(table, return_inverse=True)
                return seen, index.reshape(table.shape)
        return None

    def strands(self) -> np.ndarray | None:
        """Number (S + 1,) of the first point of every strand, and N; None for bodies that are no strands."""
        if self.kind != "strands" or self.cells is None:
            return None
        first = np.ones(len(self), bool)
        first[self.cells[:, 1]] = False
        return np.append(np.flatnonzero(first), len(self))

    def __len__(self) -> int:
        return len(self.arrays["x"])

    def spacing(self, dx: float) -> float:
        """Typical distance of neighbouring points [m]: from edges or volumes if stored, else half a cell."""
        if self.cells is not None and len(self.cells):
            edges = self.x[self.cells[:, 0]] - self.x[self.cells[:, 1]]
            return float(np.median(np.linalg.norm(edges, axis=1)))
        volume = self.arrays.get("volume")
        if volume is not None and len(volume) and np.median(volume) > 0:
            return float(np.median(volume) ** (1.0 / self.x.shape[1]))
        return 0.5 * dx


@dataclass
class Frame:
    """All bodies at one moment. `time` [s].

    `poses` optionally says where the colliders are: position (M, d) and rotation (M, d, d) in the order of
    the run's collider list; a collider point sits at position + rotation @ x.
    """

    index: int
    time: float
    bodies: list[BodyFrame]
    poses: tuple[np.ndarray, np.ndarray] | None = field(default=None)

    @property
    def dimension(self) -> int:
        """2 or 3 (3 for a frame without bodies)."""
        return int(self.bodies[0].x.shape[1]) if self.bodies else 3

    @property
    def particles(self) -> int:
        """Number of particles of all bodies."""
        return sum(len(body) for body in self.bodies)

    def fields(self) -> list[str]:
        """Names of the arrays of all bodies, in order of appearance."""
        return list(dict.fromkeys(name for body in self.bodies for name in body.arrays))


def write_frame(path: Path, frame: Frame, *, precision: str = "single", dx: float = np.inf) -> None:
    """Write a frame atomically; precision "single" stores floats as float32, "double" as they are.

    Positions so far from zero that float32 would not tell apart a thousandth of a cell dx [m] stay as they are.
    """
    arrays: dict[str, np.ndarray] = {}
    bodies = []
    for number, body in enumerate(frame.bodies):
        _check(body)
        keys = {name: _key(number, position, name) for position, name in enumerate(body.arrays)}
        arrays |= {
            keys[name]: _stored(array, precision) for name, array in body.arrays.items() if name != "x"
        }
        arrays[keys["x"]] = stored_positions(
            _stored(body.x, "double"), FINE * dx if precision == "single" else 0.0
        )
        entry: dict[str, Any] = {
            "name": body.name,
            "kind": body.kind,
            "material": body.material,
            "continuum": body.continuum,
            "arrays": keys,
        }
        for part in TOPOLOGY:
            if (table := getattr(body, part)) is not None:
                entry[part] = f"body{number}:{part}"  # no field has a colon in its member name
                arrays[entry[part]] = np.ascontiguousarray(table, np.int32)
        bodies.append(entry)
    if frame.poses is not None:
        arrays["collider_position"], arrays["collider_rotation"] = map(np.asarray, frame.poses)
    meta = {"format": FORMAT, "index": int(frame.index), "time": float(frame.time), "bodies": bodies}
    write_npz(path, arrays, meta)


def read_frame(path: Path) -> Frame:
    """Read a frame; a missing or damaged file raises OutputError."""
    arrays, meta = read_npz(path)
    try:
        if meta["format"] > FORMAT:
            raise OutputError(f"{path} was written by a newer Continua; update Continua to read it")
        bodies = [_body(entry, arrays) for entry in meta["bodies"]]
        poses = None
        if "collider_position" in arrays:
            poses = arrays["collider_position"], arrays["collider_rotation"]
        return Frame(meta["index"], meta["time"], bodies, poses)
    except (KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path} is not a frame ({error}); choose another file") from error


def _body(entry: dict[str, Any], arrays: dict[str, np.ndarray]) -> BodyFrame:
    named = {name: arrays[key] for name, key in entry["arrays"].items()}
    topology = {part: arrays[entry[part]] for part in TOPOLOGY if part in entry}
    return BodyFrame(
        entry["name"],
        entry["kind"],
        entry["material"],
        named,
        **topology,
        continuum=entry.get("continuum", "main"),
    )


def _check(body: BodyFrame) -> None:
    """Refuse bodies that no reader could show."""
    missing = {"x", "v", "id"} - body.arrays.keys()
    if missing:
        raise ValueError(f"body {body.name!r} lacks the arrays {sorted(missing)}")
    lengths = {name: len(array) for name, array in body.arrays.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"body {body.name!r} has arrays of different lengths: {lengths}")
    for part in TOPOLOGY:
        table = getattr(body, part)
        if table is not None and table.size and (table.min() < 0 or table.max() >= len(body)):
            raise ValueError(f"body {body.name!r} has {part} of points that it does not have")
    if body.kind == "strands":
        _check_strands(body)


def _check_strands(body: BodyFrame) -> None:
    cells = body.cells
    if cells is None or cells.ndim != 2 or cells.shape[1] != 2 or (np.diff(cells, axis=1) != 1).any():
        raise ValueError(f"strands {body.name!r} need segments (M, 2) from each point to the next")
    if body.x.shape[1] != 3 or body.arrays.get("radius", np.zeros(0)).shape != (len(body),):
        raise ValueError(f"strands {body.name!r} need positions (N, 3) and a radius for each")


def _stored(array: np.ndarray, precision: str) -> np.ndarray:
    array = plain(array)
    if precision == "single" and array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return array.astype(np.float32, order="C")
    return np.ascontiguousarray(array)


def stored_positions(x: np.ndarray, fine: float) -> np.ndarray:
    """Positions (N, d) [m] as float32, or as they are if that would not tell apart those `fine` [m] from each other."""
    size = np.abs(x).max(initial=0.0, where=np.isfinite(x))
    with np.errstate(over="ignore", invalid="ignore"):
        return x.astype(np.float32, order="C") if np.spacing(np.float32(size)) <= fine else x


def _key(number: int, position: int, name: str) -> str:
    """Readable member name, whatever characters the field name has."""
    simple = re.fullmatch(r"\w+", name, re.ASCII)
    return f"body{number}.{name}" if simple else f"body{number}.field.{position}"
