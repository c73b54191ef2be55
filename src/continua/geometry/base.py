"""What every shape can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.errors import GeometryError

if TYPE_CHECKING:
    from continua.geometry.combine import Difference, Intersection, Union

Array = NDArray[np.float64]


class Shape(ABC):
    """Region of space, given by its signed distance. Combine shapes with `a | b`, `a - b` and `a & b`."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """2 or 3."""

    @abstractmethod
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper corner (d,), (d,) [m] of an axis-aligned box that holds the shape."""

    @abstractmethod
    def volume(self) -> float | None:
        """Volume [m^3] (area [m^2] in 2D), or None if there is no closed form."""

    @abstractmethod
    def _distance(self, x: Array) -> Array:
        """Signed distance at points x (N, d) that have been checked."""

    def signed_distance(self, x: ArrayLike) -> Array:
        """Distance (N,) [m] from points x (N, d) to the surface, negative inside.

        Exact for single shapes. Where shapes are combined its size never exceeds the true distance.
        """
        points = np.asarray(x, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise GeometryError(
                f"{type(self).__name__} is {self.dimension}D and needs points of shape "
                f"(N, {self.dimension}), not {points.shape}"
            )
        return self._distance(points)

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Which of the points x (N, d) lie inside: (N,) bool."""
        return self.signed_distance(x) < 0

    def bounding_ball(self) -> tuple[Array, float]:
        """Centre (d,) and radius [m] of a ball that holds the shape."""
        lower, upper = self.bounds()
        return (lower + upper) / 2, float(np.linalg.norm(upper - lower)) / 2

    def __or__(self, other: Shape) -> Union:
        from continua.geometry.combine import Union

        return Union([*_parts(self, Union), *_parts(other, Union)])  # type: ignore[list-item]

    def __and__(self, other: Shape) -> Intersection:
        from continua.geometry.combine import Intersection

        return Intersection([*_parts(self, Intersection), *_parts(other, Intersection)])  # type: ignore[list-item]

    def __sub__(self, other: Shape) -> Difference:
        from continua.geometry.combine import Difference

        return Difference(self, [other])  # type: ignore[arg-type,list-item]


def _parts(shape: Shape, kind: type[Shape]) -> list[Shape]:
    """`a | b | c` is one union of three."""
    return list(shape.shapes) if isinstance(shape, kind) else [shape]  # type: ignore[attr-defined]
