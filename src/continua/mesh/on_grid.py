"""Meshes whose points move with the nodes of a grid, seen by a linear solver: the inverse of D + W^T K W."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.mesh.energy import Array

EXPECTED = 3.0  # iterations of a step with a diagonal, over the square root of stiffness over mass
USES = 3.5  # work of factors and their use in one step, over that of making them
POINT_WORK = 1.5e3  # multiplications in the time that an iteration takes for a particle or point
CALL_WORK = 9e5  # the same, for what it takes in any case


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
            x=np.concatenate([part.x for part in parts]),
            mass=np.concatenate([part.mass for part in parts]),
            at=np.concatenate([part.at for part in parts]),
            weight=np.concatenate([part.weight for part in parts]),
            first=np.concatenate(
                [[0], *(part.first[1:] + n for part, n in zip(parts, blocks, strict=False))]
            ),
            column=np.concatenate(
                [part.column + np.int32(n) for part, n in zip(parts, points, strict=False)]
            ),
            values=np.concatenate([part.values for part in parts]),
        )

    def over(self, numbers: NDArray[np.int64]) -> PointsOnGrid:
        """The same with other numbers of nodes: numbers[i] for node i, -1 for those left out."""
        at = np.where(self.at >= 0, numbers[self.at], -1)
        return replace(self, at=at)

    @property
    def stiffness_over_mass(self) -> float:
        """The largest among the points: how many times faster than inertia the stiffness resists."""
        rows = np.repeat(np.arange(len(self.x)), np.diff(self.first))
        own = rows == self.column
        diagonal = np.trace(self.values[own], axis1=1, axis2=2) / self.x.shape[1]
        return float((diagonal / self.mass[rows[own]]).max(initial=0.0))


class MeshInverse:
    """P^-1 for P = D + W^T K W over nodes (n, 3), exact but for rounding; it takes the place of a diagonal.

    D^-1 (n, 3) is zero for components that are held. Factors are made when they pay, which is told from counts, not
    from clocks, so that runs can be repeated. Soft meshes can do without, and solid ones of many points, whose factors
    are not sparse. particles: all that an iteration has to do with.
    """

    def __init__(self, points: PointsOnGrid, inverse: Array, particles: int) -> None:
        self._stiffness = (points.first, points.column, points.values)
        self._kernel = _core.MeshOnGrid(
            points.at, points.weight, *self._stiffness, points.x, inverse, points.mass
        )
        self._out = np.empty_like(inverse)
        self._expected = EXPECTED * np.sqrt(points.stiffness_over_mass)
        self._breaks_even = USES * self._kernel.work() / (CALL_WORK + POINT_WORK * particles)
        self.ready = False

    def consider(self, iterations: int) -> None:
        """Make factors if those with a diagonal, so many in this step so far, have cost as much or are going to."""
        if not self.ready and max(self._expected, iterations) > self._breaks_even:
            self._kernel.factorise(*self._stiffness)
            self.ready = True

    def __call__(self, r: Array) -> Array:
        """P^-1 r; the same buffer in every call."""
        self._kernel.apply(r, self._out)
        return self._out
