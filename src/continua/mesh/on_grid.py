"""Meshes whose points move with the nodes of a grid, seen by a linear solver: the inverse of D + W^T K W."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.mesh.energy import Array

LIGHT = 30.0  # stiffness over mass of points below which the diagonal alone is a good preconditioner
ITERATIONS = 4.0  # that it saves in one step, over the square root of stiffness over mass
POINT_WORK = 3e3  # multiplications of an iteration for every particle and point, as long as they take
CALL_WORK = 3e5  # the same, for what Python adds to an iteration


@dataclass(frozen=True)
class PointsOnGrid:
    """Points of meshes at x (N, d) [m] with masses (N,) [kg] and the stiffness between them times dt^2 [kg].

    at, weight (N, n): nodes that move each point, -1 for none, and how much; first (N + 1,), column, values: blocks of
    the stiffness row by row, each (d, d) column by column, zero at points that are held.
    """

    x: Array
    mass: Array
    at: NDArray[np.int64]
    weight: Array
    first: NDArray[np.int64]
    column: NDArray[np.int32]
    values: Array

    @classmethod
    def joined(cls, parts: Sequence[PointsOnGrid]) -> PointsOnGrid:
        """The points of several meshes."""
        points = np.cumsum([0, *(len(part.x) for part in parts)])
        blocks = np.cumsum([0, *(len(part.column) for part in parts)])
        return cls(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("x", "mass", "at", "weight")
            ),
            np.concatenate([[0], *(part.first[1:] + n for part, n in zip(parts, blocks, strict=False))]),
            np.concatenate([part.column + np.int32(n) for part, n in zip(parts, points, strict=False)]),
            np.concatenate([part.values for part in parts]),
        )

    def over(self, numbers: NDArray[np.int64]) -> PointsOnGrid:
        """The same with other numbers of nodes: numbers[i] for node i, -1 for those left out."""
        at = np.where(self.at >= 0, numbers[self.at], -1)
        return PointsOnGrid(self.x, self.mass, at, self.weight, self.first, self.column, self.values)

    @property
    def stiffness_over_mass(self) -> float:
        """The largest among the points: how many times faster than inertia the stiffness resists."""
        rows = np.repeat(np.arange(len(self.x)), np.diff(self.first))
        own = rows == self.column
        diagonal = np.trace(self.values[own], axis1=1, axis2=2) / self.x.shape[1]
        return float((diagonal / self.mass[rows[own]]).max(initial=0.0))


class MeshInverse:
    """P^-1 for P = D + W^T K W over nodes (n, 3), exact but for rounding; it takes the place of a diagonal.

    D^-1 (n, 3) is zero for components that are held. Same bits for any number of threads.
    """

    def __init__(self, kernel: _core.MeshOnGrid, size: tuple[int, int]) -> None:
        self._kernel, self._out = kernel, np.empty(size)

    @classmethod
    def where_it_pays(cls, points: PointsOnGrid, inverse: Array, particles: int) -> MeshInverse | None:
        """None where conjugate gradients with a diagonal should be faster, by the work of both: soft meshes, and solid
        ones with many points, whose factors are not sparse. particles: all that an iteration has to do with."""
        ratio = points.stiffness_over_mass
        if not LIGHT < ratio < np.inf:
            return None
        stiffness = (points.first, points.column, points.values)
        kernel = _core.MeshOnGrid(points.at, points.weight, *stiffness, points.x, inverse, points.mass)
        saved = ITERATIONS * np.sqrt(ratio) * (CALL_WORK + POINT_WORK * particles)
        if kernel.work() > saved:
            return None
        kernel.factorise(*stiffness)
        return cls(kernel, inverse.shape)

    def __call__(self, r: Array) -> Array:
        """P^-1 r; the same buffer in every call."""
        self._kernel.apply(r, self._out)
        return self._out
