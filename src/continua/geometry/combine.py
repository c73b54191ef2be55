"""Shapes made of shapes: unions, differences, intersections, rotations."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass, rebuild_dataclass

from continua._model import CONFIG, Finite, Vector
from continua._validation import raises
from continua.errors import GeometryError
from continua.geometry.base import Array, Shape
from continua.geometry.mesh import Mesh
from continua.geometry.points import Points
from continua.geometry.primitives import Box, Capsule, Cylinder, Ellipsoid, Sphere, Torus
from continua.geometry.rotation import rotation_matrix


def _check_parts(shapes: Sequence[Shape]) -> None:
    for shape in shapes:
        base = shape
        while isinstance(base, Rotated):
            base = base.shape
        if isinstance(base, Points):
            raise ValueError("points have no inside and cannot be combined with other shapes")
    if len({shape.dimension for shape in shapes}) > 1:
        raise ValueError("2D and 3D shapes cannot be combined")


def _apart(a: Shape, b: Shape) -> bool:
    """True only if the shapes certainly do not overlap."""
    (a_lower, a_upper), (b_lower, b_upper) = a.bounds(), b.bounds()
    hair = 1e-12 * float(np.max(np.maximum(a_upper - a_lower, b_upper - b_lower)))
    if np.any(a_lower >= b_upper - hair) or np.any(b_lower >= a_upper - hair):
        return True
    return any(_distance_to_center(p, q) >= q.bounding_ball()[1] for p, q in ((a, b), (b, a)))


def _holds(outer: Shape, inner: Shape) -> bool:
    """True only if `inner` certainly lies inside `outer`."""
    return _distance_to_center(outer, inner) <= -inner.bounding_ball()[1]


def _distance_to_center(shape: Shape, other: Shape) -> float:
    return float(shape.signed_distance(other.bounding_ball()[0][None])[0])


def _sum_if_apart(shapes: Sequence[Shape]) -> float | None:
    """Total volume of shapes that do not overlap, else None."""
    volumes = [shape.volume() for shape in shapes]
    if any(v is None for v in volumes) or not all(_apart(a, b) for a, b in combinations(shapes, 2)):
        return None
    return math.fsum(v for v in volumes if v is not None)


@dataclass(config=CONFIG)
class Union(Shape):
    """Everything that lies in at least one of the shapes; `a | b`."""

    shapes: list["AnyShape"] = Field(min_length=1, description="shapes to join")
    type: Literal["union"] = Field(default="union", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _check_parts(self.shapes)

    @property
    def dimension(self) -> int:
        return self.shapes[0].dimension

    def bounds(self) -> tuple[Array, Array]:
        lower, upper = zip(*(shape.bounds() for shape in self.shapes), strict=True)
        return np.min(lower, axis=0), np.max(upper, axis=0)

    def volume(self) -> float | None:
        """Sum of the volumes where the shapes are certainly apart, else None."""
        return _sum_if_apart(self.shapes)

    def _distance(self, x: Array) -> Array:
        distance: Array = np.min([shape.signed_distance(x) for shape in self.shapes], axis=0)
        return distance


@dataclass(config=CONFIG)
class Intersection(Shape):
    """Everything that lies in all of the shapes; `a & b`."""

    shapes: list["AnyShape"] = Field(min_length=1, description="shapes to intersect")
    type: Literal["intersection"] = Field(default="intersection", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _check_parts(self.shapes)

    @property
    def dimension(self) -> int:
        return self.shapes[0].dimension

    def bounds(self) -> tuple[Array, Array]:
        lower, upper = zip(*(shape.bounds() for shape in self.shapes), strict=True)
        low, high = np.max(lower, axis=0), np.min(upper, axis=0)
        if np.any(low >= high):
            raise GeometryError("the intersection is empty, move its shapes so that they overlap")
        return low, high

    def volume(self) -> float | None:
        """Volume of the innermost shape if it certainly lies inside all others, else None."""
        for inner in self.shapes:
            if all(_holds(outer, inner) for outer in self.shapes if outer is not inner):
                return inner.volume()
        return None

    def _distance(self, x: Array) -> Array:
        distance: Array = np.max([shape.signed_distance(x) for shape in self.shapes], axis=0)
        return distance


@dataclass(config=CONFIG)
class Difference(Shape):
    """A shape without the parts that lie in other shapes; `a - b`."""

    shape: "AnyShape" = Field(description="shape to cut from")
    minus: list["AnyShape"] = Field(min_length=1, description="shapes to cut away")
    type: Literal["difference"] = Field(default="difference", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _check_parts([self.shape, *self.minus])

    @property
    def dimension(self) -> int:
        return self.shape.dimension

    def bounds(self) -> tuple[Array, Array]:
        return self.shape.bounds()

    def volume(self) -> float | None:
        """Volume less holes that are certainly inside or certainly outside the shape, else None."""
        holes = [hole for hole in self.minus if not _apart(self.shape, hole)]
        whole, cut = self.shape.volume(), _sum_if_apart(holes)
        if whole is None or cut is None or not all(_holds(self.shape, hole) for hole in holes):
            return None
        return whole - cut if whole > cut else None

    def _distance(self, x: Array) -> Array:
        cut = np.min([shape.signed_distance(x) for shape in self.minus], axis=0)
        distance: Array = np.maximum(self.shape.signed_distance(x), -cut)
        return distance


@dataclass(config=CONFIG)
class Rotated(Shape):
    """A shape turned about a point (and an axis in 3D), counter-clockwise."""

    shape: "AnyShape" = Field(description="shape to turn")
    angle: Finite = Field(description="angle [degrees]")
    axis: Vector | None = Field(default=None, description="direction of the axis of rotation, in 3D only")
    center: Vector | None = Field(
        default=None, description="fixed point [m]; left out: the middle of the shape's bounds"
    )
    type: Literal["rotated"] = Field(default="rotated", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self.rotation()
        if self.center is not None and len(self.center) != self.dimension:
            raise ValueError(f"center needs {self.dimension} coordinates like the shape")

    @property
    def dimension(self) -> int:
        return self.shape.dimension

    def rotation(self) -> Array:
        """Rotation matrix (d, d)."""
        return rotation_matrix(math.radians(self.angle), self.axis, self.dimension)

    def to_world(self, x: Array) -> Array:
        """Where the points x (N, d) of the unturned shape end up."""
        center = self._center()
        return center + (x - center) @ self.rotation().T

    def _center(self) -> Array:
        if self.center is not None:
            return np.array(self.center)
        lower, upper = self.shape.bounds()
        return (lower + upper) / 2

    def bounds(self) -> tuple[Array, Array]:
        lower, upper = self.shape.bounds()
        center, half = self.to_world((lower + upper)[None] / 2)[0], (upper - lower) / 2
        reach = np.abs(self.rotation()) @ half
        return center - reach, center + reach

    def bounding_ball(self) -> tuple[Array, float]:
        center, radius = self.shape.bounding_ball()
        return self.to_world(center[None])[0], radius

    def volume(self) -> float | None:
        return self.shape.volume()

    def _distance(self, x: Array) -> Array:
        center = self._center()
        return self.shape.signed_distance(center + (x - center) @ self.rotation())


AnyShape = Annotated[
    Box
    | Sphere
    | Cylinder
    | Capsule
    | Torus
    | Ellipsoid
    | Mesh
    | Points
    | Union
    | Difference
    | Intersection
    | Rotated,
    Field(discriminator="type"),
]

for _cls in (Union, Intersection, Difference, Rotated):
    rebuild_dataclass(_cls)  # type: ignore[arg-type]
    raises(GeometryError)(_cls)  # after rebuilding, which writes a new constructor
