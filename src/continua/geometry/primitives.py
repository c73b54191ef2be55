"""Box, sphere, cylinder, capsule, torus and ellipsoid, with exact signed distances."""

import math
from typing import Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, Positive, Vector
from continua._validation import raises
from continua.errors import GeometryError
from continua.geometry.base import Array, Shape
from continua.geometry.ellipsoid import ellipsoid_distance


def _require_same_length(**vectors: tuple[float, ...]) -> None:
    if len({len(v) for v in vectors.values()}) != 1:
        raise ValueError(f"{' and '.join(vectors)} must have the same number of coordinates")


def _require_positive(name: str, values: tuple[float, ...]) -> None:
    if min(values) <= 0:
        raise ValueError(f"every entry of {name} must be greater than 0")


def _box_distance(beyond: Array) -> Array:
    """Distance to a box from how far (N, k) each coordinate lies beyond its half size."""
    distance: Array = np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)
    return distance


@raises(GeometryError)
@dataclass(config=CONFIG)
class Box(Shape):
    """Axis-aligned box (rectangle in 2D); turn it with `Rotated`."""

    center: Vector = Field(description="centre [m]")
    size: Vector = Field(description="full side lengths [m]")
    type: Literal["box"] = Field(default="box", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _require_same_length(center=self.center, size=self.size)
        _require_positive("size", self.size)

    @property
    def dimension(self) -> int:
        return len(self.center)

    def bounds(self) -> tuple[Array, Array]:
        center, half = np.array(self.center), np.array(self.size) / 2
        return center - half, center + half

    def volume(self) -> float:
        return math.prod(self.size)

    def _distance(self, x: Array) -> Array:
        return _box_distance(np.abs(x - np.array(self.center)) - np.array(self.size) / 2)


@raises(GeometryError)
@dataclass(config=CONFIG)
class Sphere(Shape):
    """Ball (disc in 2D)."""

    center: Vector = Field(description="centre [m]")
    radius: Positive = Field(description="radius [m]")
    type: Literal["sphere"] = Field(default="sphere", kw_only=True, repr=False)

    @property
    def dimension(self) -> int:
        return len(self.center)

    def bounds(self) -> tuple[Array, Array]:
        center = np.array(self.center)
        return center - self.radius, center + self.radius

    def bounding_ball(self) -> tuple[Array, float]:
        return np.array(self.center), self.radius

    def volume(self) -> float:
        return math.pi * self.radius**2 if self.dimension == 2 else 4 / 3 * math.pi * self.radius**3

    def _distance(self, x: Array) -> Array:
        distance: Array = np.linalg.norm(x - np.array(self.center), axis=1)
        return distance - self.radius


@raises(GeometryError)
@dataclass(config=CONFIG)
class Cylinder(Shape):
    """Solid round cylinder with flat ends (3D only)."""

    start: Vector = Field(description="centre of one end [m]")
    end: Vector = Field(description="centre of the other end [m]")
    radius: Positive = Field(description="radius [m]")
    type: Literal["cylinder"] = Field(default="cylinder", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _require_same_length(start=self.start, end=self.end)
        if len(self.start) != 3:
            raise ValueError("a cylinder needs 3 coordinates, use a box or a capsule in 2D")
        if self.start == self.end:
            raise ValueError("start and end must differ")

    @property
    def dimension(self) -> int:
        return 3

    def _axis(self) -> tuple[Array, float]:
        """Unit vector (3,) from start to end, and the length [m]."""
        along = np.array(self.end) - np.array(self.start)
        length = float(np.linalg.norm(along))
        return along / length, length

    def bounds(self) -> tuple[Array, Array]:
        axis, _ = self._axis()
        reach = self.radius * np.sqrt(np.maximum(1 - axis**2, 0))  # extent of the end discs
        start, end = np.array(self.start), np.array(self.end)
        return np.minimum(start, end) - reach, np.maximum(start, end) + reach

    def volume(self) -> float:
        return math.pi * self.radius**2 * self._axis()[1]

    def _distance(self, x: Array) -> Array:
        axis, length = self._axis()
        relative = x - (np.array(self.start) + np.array(self.end)) / 2
        along = relative @ axis
        across = np.linalg.norm(relative - along[:, None] * axis, axis=1)
        return _box_distance(np.stack([across - self.radius, np.abs(along) - length / 2], axis=1))


@raises(GeometryError)
@dataclass(config=CONFIG)
class Capsule(Shape):
    """All points within `radius` of the segment from start to end."""

    start: Vector = Field(description="one end of the segment [m]")
    end: Vector = Field(description="other end of the segment [m]")
    radius: Positive = Field(description="radius [m]")
    type: Literal["capsule"] = Field(default="capsule", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _require_same_length(start=self.start, end=self.end)

    @property
    def dimension(self) -> int:
        return len(self.start)

    def bounds(self) -> tuple[Array, Array]:
        start, end = np.array(self.start), np.array(self.end)
        return np.minimum(start, end) - self.radius, np.maximum(start, end) + self.radius

    def volume(self) -> float:
        r, length = self.radius, math.dist(self.start, self.end)
        if self.dimension == 2:
            return 2 * r * length + math.pi * r**2
        return math.pi * r**2 * length + 4 / 3 * math.pi * r**3

    def _distance(self, x: Array) -> Array:
        along = np.array(self.end) - np.array(self.start)
        relative = x - np.array(self.start)
        t = np.clip(relative @ along / max(along @ along, np.finfo(float).tiny), 0, 1)
        distance: Array = np.linalg.norm(relative - t[:, None] * along, axis=1)
        return distance - self.radius


@raises(GeometryError)
@dataclass(config=CONFIG)
class Torus(Shape):
    """Ring: all points within `tube` of a circle (3D only)."""

    center: Vector = Field(description="centre of the circle [m]")
    radius: Positive = Field(description="radius of the circle [m]")
    tube: Positive = Field(description="radius of the tube [m], smaller than that of the circle")
    axis: Vector = Field(default=(0.0, 1.0, 0.0), description="direction across the circle")
    type: Literal["torus"] = Field(default="torus", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if len(self.center) != 3 or len(self.axis) != 3:
            raise ValueError("a torus needs 3 coordinates, cut a disc from a disc in 2D")
        if self.tube >= self.radius:
            raise ValueError("tube must be smaller than radius")
        if not any(self.axis):
            raise ValueError("axis must not be zero")

    @property
    def dimension(self) -> int:
        return 3

    def _unit_axis(self) -> Array:
        axis = np.array(self.axis) / max(map(abs, self.axis))
        return np.asarray(axis / np.linalg.norm(axis))

    def bounds(self) -> tuple[Array, Array]:
        reach = self.radius * np.sqrt(np.maximum(1 - self._unit_axis() ** 2, 0)) + self.tube
        return np.array(self.center) - reach, np.array(self.center) + reach

    def volume(self) -> float:
        return 2 * math.pi**2 * self.radius * self.tube**2

    def _distance(self, x: Array) -> Array:
        axis = self._unit_axis()
        relative = x - np.array(self.center)
        along = relative @ axis
        across = np.linalg.norm(relative - along[:, None] * axis, axis=1)
        return np.asarray(np.hypot(across - self.radius, along)) - self.tube


@raises(GeometryError)
@dataclass(config=CONFIG)
class Ellipsoid(Shape):
    """Axis-aligned ellipsoid (ellipse in 2D); turn it with `Rotated`."""

    center: Vector = Field(description="centre [m]")
    radii: Vector = Field(description="semi-axes [m]")
    type: Literal["ellipsoid"] = Field(default="ellipsoid", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _require_same_length(center=self.center, radii=self.radii)
        _require_positive("radii", self.radii)

    @property
    def dimension(self) -> int:
        return len(self.center)

    def bounds(self) -> tuple[Array, Array]:
        center, radii = np.array(self.center), np.array(self.radii)
        return center - radii, center + radii

    def volume(self) -> float:
        return (math.pi if self.dimension == 2 else 4 / 3 * math.pi) * math.prod(self.radii)

    def _distance(self, x: Array) -> Array:
        return ellipsoid_distance(x - np.array(self.center), np.array(self.radii))
