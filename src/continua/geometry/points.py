"""Bodies from points that already exist."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field
from pydantic.dataclasses import dataclass
from scipy.spatial import cKDTree

from continua._model import CONFIG
from continua._validation import raises
from continua.errors import GeometryError
from continua.geometry.arrays import Coordinates, Numbers, same_value
from continua.geometry.base import Array, Shape


@raises(GeometryError)
@dataclass(config=CONFIG, eq=False)
class Points(Shape):
    """Particles at given places, one per point; nothing is resampled.

    A point cloud has no inside: distances are to the nearest point, and it cannot be combined with shapes.
    """

    points: Coordinates | None = Field(default=None, description="positions (N, d) [m]")
    volumes: Numbers | None = Field(
        default=None, description="volume of each particle (N,) [m^3] ([m^2] in 2D); left out: spacing^d"
    )
    path: Path | None = Field(
        default=None,
        kw_only=True,
        description="instead of points: .npy, .csv (one point per line) or .ply file",
    )
    type: Literal["points"] = Field(default="points", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if (self.points is None) == (self.path is None):
            raise ValueError("give either points or path")
        if self.points is not None and len(self.points) == 0:
            raise ValueError("at least one point is needed")
        if self.volumes is not None:
            if not (self.volumes > 0).all():
                raise ValueError("every volume must be greater than 0")
            if self.points is not None and len(self.volumes) != len(self.points):
                raise ValueError(f"{len(self.points)} points need as many volumes, not {len(self.volumes)}")

    def __eq__(self, other: Any) -> bool:
        names = ("points", "volumes", "path")
        return isinstance(other, Points) and all(
            same_value(getattr(self, n), getattr(other, n)) for n in names
        )

    @cached_property
    def positions(self) -> Array:
        """All points (N, d) [m], read from the file where there is one."""
        if self.points is not None:
            return self.points
        assert self.path is not None
        positions = read_points(self.path)
        if self.volumes is not None and len(self.volumes) != len(positions):
            raise GeometryError(
                f"the {len(positions)} points in point file {self.path} need as many volumes, "
                f"not {len(self.volumes)}"
            )
        return positions

    @property
    def dimension(self) -> int:
        return int(self.positions.shape[1])

    def bounds(self) -> tuple[Array, Array]:
        return self.positions.min(axis=0), self.positions.max(axis=0)

    def volume(self) -> float | None:
        return None if self.volumes is None else float(self.volumes.sum())

    def _distance(self, x: Array) -> Array:
        return np.asarray(cKDTree(self.positions).query(x)[0], dtype=np.float64)


def read_points(path: Path) -> Array:
    """Points (N, d) stored in a .npy, .csv or .ply file."""
    name = f"point file {path}"
    if not path.is_file():
        raise GeometryError(f"{name} does not exist")
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise GeometryError(f"{name} has an unknown format, use one of {', '.join(READERS)}")
    try:
        points = np.asarray(READERS[suffix](path), dtype=np.float64)
    except Exception as error:  # the readers raise almost anything on damaged files
        raise GeometryError(f"{name} cannot be read as {suffix[1:].upper()}, export it again") from error
    if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) == 0:
        raise GeometryError(f"{name} must hold an array of shape (N, 2) or (N, 3), not {points.shape}")
    if not np.isfinite(points).all():
        raise GeometryError(f"{name} has coordinates that are not finite")
    return points


def _read_npy(path: Path) -> ArrayLike:
    return np.asarray(np.load(path, allow_pickle=False))


def _read_csv(path: Path) -> ArrayLike:
    """Comma-separated numbers, with or without a line of column names."""
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        [float(word) for word in lines[0].split(",")]
    except ValueError:
        lines = lines[1:]
    return np.loadtxt(lines, delimiter=",", ndmin=2)


def _read_ply(path: Path) -> ArrayLike:
    import trimesh

    vertices: ArrayLike = trimesh.load(str(path), process=False).vertices
    return vertices


READERS: dict[str, Callable[[Path], ArrayLike]] = {".npy": _read_npy, ".csv": _read_csv, ".ply": _read_ply}
