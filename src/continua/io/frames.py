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


@dataclass
class BodyFrame:
    """One body at one moment, particles sorted by id.

    `arrays` always has x (N, d) [m], v (N, d) [m/s] and id (N,), usually J (N,) and other fields (N, ...).
    """

    name: str
    kind: str
    material: str
    arrays: dict[str, np.ndarray]

    @property
    def x(self) -> np.ndarray:
        """Positions (N, d) [m]."""
        return self.arrays["x"]

    @property
    def v(self) -> np.ndarray:
        """Velocities (N, d) [m/s]."""
        return self.arrays["v"]

    def __len__(self) -> int:
        return len(self.arrays["x"])

    def spacing(self, dx: float) -> float:
        """Typical distance of neighbouring particles [m]: from their volumes if stored, else half a cell."""
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


def write_frame(path: Path, frame: Frame, *, precision: str = "single") -> None:
    """Write a frame atomically; precision "single" stores floats as float32, "double" as they are."""
    arrays: dict[str, np.ndarray] = {}
    bodies = []
    for number, body in enumerate(frame.bodies):
        _check(body)
        keys = {name: _key(number, position, name) for position, name in enumerate(body.arrays)}
        arrays |= {keys[name]: _stored(array, precision) for name, array in body.arrays.items()}
        bodies.append({"name": body.name, "kind": body.kind, "material": body.material, "arrays": keys})
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
    return BodyFrame(entry["name"], entry["kind"], entry["material"], named)


def _check(body: BodyFrame) -> None:
    """Refuse bodies that no reader could show."""
    missing = {"x", "v", "id"} - body.arrays.keys()
    if missing:
        raise ValueError(f"body {body.name!r} lacks the arrays {sorted(missing)}")
    lengths = {name: len(array) for name, array in body.arrays.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"body {body.name!r} has arrays of different lengths: {lengths}")


def _stored(array: np.ndarray, precision: str) -> np.ndarray:
    array = plain(array)
    if precision == "single" and array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return array.astype(np.float32, order="C")
    return np.ascontiguousarray(array)


def _key(number: int, position: int, name: str) -> str:
    """Readable member name, whatever characters the field name has."""
    simple = re.fullmatch(r"\w+", name, re.ASCII)
    return f"body{number}.{name}" if simple else f"body{number}.field.{position}"
