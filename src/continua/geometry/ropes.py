"""Single strands, bundles of parallel ones, and braids."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass
from scipy.spatial import cKDTree

from continua._model import CONFIG, WHOLE, Count, Positive, Vector
from continua._validation import raises
from continua.errors import GeometryError
from continua.geometry.base import Array
from continua.geometry.curves import Curves
from continua.geometry.hair import perpendicular, transported

GOLDEN = np.pi * (3 - np.sqrt(5))  # angle between neighbours of a sunflower
ROOM = 1.1  # middle lines of a braid are that many diameters of its bundles apart, at least
FINE = 0.25  # distance over the radius of a bundle of points between which distances are measured
WIDTHS, HALVINGS = 40, 12  # of a braid, that are tried

Bundles = Annotated[int, Field(strict=True, ge=3), WHOLE]


def _check_axis(start: Vector, end: Vector) -> None:
    if len(start) != 3 or len(end) != 3:
        raise ValueError("start and end need 3 coordinates")
    if start == end:
        raise ValueError("start and end must differ")


@raises(GeometryError)
@dataclass(config=CONFIG)
class Strand:
    """One strand along straight lines from point to point (3D only)."""

    points: list[Vector] = Field(min_length=2, description="points from root to tip [m]")
    segments: Count = Field(default=1, description="segments of every line between two points")
    type: Literal["strand"] = Field(default="strand", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if any(len(point) != 3 for point in self.points):
            raise ValueError("all points must have 3 coordinates")

    def build(self) -> Curves:
        """The strand."""
        corners = np.array(self.points)
        place = np.arange((len(corners) - 1) * self.segments + 1) / self.segments
        at = np.arange(len(corners))
        return Curves(np.stack([np.interp(place, at, column) for column in corners.T], axis=1))


@raises(GeometryError)
@dataclass(config=CONFIG)
class Bundle:
    """Parallel strands, evenly over a disc (3D only)."""

    start: Vector = Field(description="middle of the roots [m]")
    end: Vector = Field(description="middle of the tips [m]")
    radius: Positive = Field(description="radius of the bundle [m]")
    count: Count = Field(description="number of strands")
    segments: Count = Field(description="segments of a strand")
    type: Literal["bundle"] = Field(default="bundle", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _check_axis(self.start, self.end)

    def build(self) -> Curves:
        """The strands."""
        line = np.linspace(self.start, self.end, self.segments + 1)
        return _around(line, _disc(self.radius, self.count))


@raises(GeometryError)
@dataclass(config=CONFIG)
class Braid:
    """Bundles braided about a straight line (3D only)."""

    start: Vector = Field(description="middle of the roots [m]")
    end: Vector = Field(description="middle of the tips [m]")
    radius: Positive = Field(description="radius of a bundle [m]")
    strands: Count = Field(description="strands in a bundle")
    segments: Count = Field(description="segments of a strand")
    turns: Positive = Field(description="how often a bundle comes back to where it was across the braid")
    bundles: Bundles = Field(default=3, kw_only=True, description="number of bundles, an odd number")
    across: Vector | None = Field(
        default=None, kw_only=True, description="direction in which the braid is wide; left out: any"
    )
    type: Literal["braid"] = Field(default="braid", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _check_axis(self.start, self.end)
        if self.bundles % 2 == 0:
            raise ValueError("bundles must be an odd number, or two meet in the middle")
        along = np.subtract(self.end, self.start)
        if self.across is not None and (len(self.across) != 3 or not np.cross(along, self.across).any()):
            raise ValueError(
                "across needs 3 coordinates and must not be parallel to the line from start to end"
            )
        if self.segments < 12 * self.turns:
            raise ValueError(f"a braid of {self.turns:g} turns needs at least {12 * self.turns:g} segments")

    def build(self) -> Curves:
        """The strands, bundle after bundle."""
        width = self._width()
        disc = _disc(self.radius, self.strands)
        bundles = [_around(self._line(k, width, self.segments), disc) for k in range(self.bundles)]
        points = np.concatenate([bundle.points for bundle in bundles])
        return Curves(points, np.full(self.bundles * self.strands, self.segments + 1))

    def _line(self, bundle: int, width: float, segments: int) -> Array:
        """Middle line (segments + 1, 3) [m] of a bundle: seen along the braid a figure of eight, one third of the way
        behind the next of three bundles."""
        along = np.subtract(self.end, self.start)
        unit = along / np.linalg.norm(along)
        wide = perpendicular(unit[None])[0] if self.across is None else np.array(self.across)
        wide = wide - (wide @ unit) * unit
        wide /= np.linalg.norm(wide)
        part = np.linspace(0, 1, segments + 1)[:, None]
        angle = 2 * np.pi * (self.turns * part + bundle / self.bundles)
        deep = np.cross(unit, wide)
        return np.asarray(
            self.start + part * along + width * (np.sin(angle) * wide + 0.5 * np.sin(2 * angle) * deep)
        )

    def _width(self) -> float:
        """Half the width of the braid [m], the least that gives bundles room beside each other."""
        length = float(np.linalg.norm(np.subtract(self.end, self.start)))
        widths = np.geomspace(self.radius, max(length / self.turns, 2 * self.radius), WIDTHS)
        fits = next((k for k, width in enumerate(widths) if self._fits(float(width), length)), None)
        if fits is None:
            raise GeometryError(
                f"{self.bundles} bundles of radius {self.radius:g} m do not fit into a braid of {self.turns:g} "
                f"turns on {length:g} m; use fewer turns or thinner bundles"
            )
        low, high = float(widths[max(fits - 1, 0)]), float(widths[fits])
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._fits(middle, length) else (middle, high)
        return high

    def _fits(self, width: float, length: float) -> bool:
        """Whether all middle lines are far enough apart."""
        path = length + 6 * np.pi * self.turns * width  # longer than any middle line
        steps = int(np.ceil(path / (FINE * self.radius)))
        lines = [self._line(k, width, steps) for k in range(self.bundles)]
        pairs = [(a, b) for k, a in enumerate(lines) for b in lines[k + 1 :]]
        return all(np.min(cKDTree(a).query(b)[0]) >= 2 * ROOM * self.radius for a, b in pairs)


def _disc(radius: float, count: int) -> Array:
    """Points (count, 2) [m] evenly over a disc, as the seeds of a sunflower (Vo79)."""
    k = np.arange(count)
    r = radius * np.sqrt((k + 0.5) / count) if count > 1 else np.zeros(1)
    return np.stack([r * np.cos(GOLDEN * k), r * np.sin(GOLDEN * k)], axis=1)


def _around(line: Array, disc: Array) -> Curves:
    """Strands beside a middle line (S + 1, 3), one through every point of a disc (n, 2) that goes along untwisted."""
    steps = np.diff(line, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    tangents = np.concatenate([steps[:1], steps[:-1] + steps[1:], steps[-1:]])
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    first = [perpendicular(tangents[:1])[0]]
    for before, after in zip(tangents[:-1], tangents[1:], strict=True):
        first.append(transported(first[-1][None], before[None], after[None])[0])
    u = np.array(first)
    v = np.cross(tangents, u)
    points = line + disc[:, 0, None, None] * u + disc[:, 1, None, None] * v
    return Curves(points.reshape(-1, 3), np.full(len(disc), len(line)))
