"""Networks of springs: chains and cloth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.errors import GeometryError
from continua.geometry.base import Array

Indices = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class SpringMesh:
    """Springs between points (N, d) [m]: edges (K, 2), rest lengths (K,) [m] and stiffness (K,) [N/m].

    `triangles` (F, 3) is the sheet to draw, empty for a chain.
    """

    points: Array
    edges: Indices
    rest_lengths: Array
    stiffness: Array
    triangles: Indices

    def __post_init__(self) -> None:
        count = len(self.points)
        if self.points.ndim != 2 or self.points.shape[1] not in (2, 3) or not np.isfinite(self.points).all():
            raise GeometryError("the points of springs must be finite and of shape (N, 2) or (N, 3)")
        if self.edges.ndim != 2 or self.edges.shape[1] != 2 or len(self.edges) == 0:
            raise GeometryError("springs need at least one edge, whole numbers of shape (K, 2)")
        wrong = ((self.edges < 0) | (self.edges >= count)).any(axis=1) | (
            self.edges[:, 0] == self.edges[:, 1]
        )
        if wrong.any():
            number = int(wrong.argmax())
            raise GeometryError(f"spring {number} must join two different points among {count}")
        for name, values in (("rest length", self.rest_lengths), ("stiffness", self.stiffness)):
            if values.shape != (len(self.edges),) or not (np.isfinite(values) & (values >= 0)).all():
                raise GeometryError(f"every spring needs one {name}, a number of at least 0")

    def __repr__(self) -> str:
        return f"SpringMesh({len(self.points)} points, {len(self.edges)} springs, {self.dimension}D)"

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.points.shape[1])


def spring_mesh(
    points: ArrayLike,
    edges: ArrayLike,
    stiffness: ArrayLike = 1e3,
    rest_lengths: ArrayLike | None = None,
    triangles: ArrayLike = (),
) -> SpringMesh:
    """Springs between points (N, d) [m] along edges (K, 2), one stiffness [N/m] for all or (K,).

    Left out, the rest lengths [m] are the distances of the points.
    """
    x, pairs = np.array(points, dtype=np.float64), np.array(edges, dtype=np.int32)
    if pairs.ndim != 2 or x.ndim != 2 or not (pairs.size and 0 <= pairs.min() <= pairs.max() < len(x)):
        raise GeometryError("springs need edges of shape (K, 2) between points of shape (N, d) that exist")
    if rest_lengths is None:
        rest_lengths = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    try:
        rest, stiff = (
            np.array(np.broadcast_to(a, len(pairs)), np.float64) for a in (rest_lengths, stiffness)
        )
    except (TypeError, ValueError):
        raise GeometryError(
            f"give one stiffness and rest length for all {len(pairs)} springs or each"
        ) from None
    return SpringMesh(x, pairs, rest, stiff, np.array(triangles, dtype=np.int32).reshape(-1, 3))


def chain(points: ArrayLike, stiffness: float = 1e3) -> SpringMesh:
    """Springs from each of the points (N, d) [m] to the next, at rest; stiffness [N/m]."""
    x = np.asarray(points, dtype=np.float64)
    if x.ndim != 2 or len(x) < 2:
        raise GeometryError("a chain needs at least 2 points")
    start = np.arange(len(x) - 1)
    return spring_mesh(x, np.stack([start, start + 1], axis=1), stiffness)


def cloth_springs(
    nx: int,
    ny: int,
    size: Sequence[float],
    *,
    center: Sequence[float] = (0.0, 0.0, 0.0),
    axes: tuple[Sequence[float], Sequence[float]] = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    stiffness: float = 1e3,
    shear: float = True,
    bend: float = True,
) -> SpringMesh:
    """Rectangular cloth of nx x ny points, `size` (2,) [m] along the two `axes` from its `center` [m].

    Threads join neighbours with `stiffness` [N/m], shear springs join them across the diagonals, and bending
    springs join every second point along the threads. `shear` and `bend` are their stiffness over that of the
    threads; False leaves them out. Point (i, j) has the number i ny + j.
    """
    _check_cloth(nx, ny, size, stiffness, shear, bend)
    if np.shape(axes) != (2, 3) or np.shape(center) != (3,) or not np.linalg.norm(np.cross(*axes)) > 0:
        raise GeometryError("a cloth needs a center and two axes of 3 numbers, the axes not parallel")
    u, v = (np.array(axis, dtype=np.float64) / np.linalg.norm(axis) for axis in axes)
    s, t = np.meshgrid(
        np.linspace(-0.5, 0.5, nx) * size[0], np.linspace(-0.5, 0.5, ny) * size[1], indexing="ij"
    )
    points = np.array(center) + s.reshape(-1, 1) * u + t.reshape(-1, 1) * v
    kinds = [(1.0, [(1, 0), (0, 1)]), (shear, [(1, 1), (1, -1)]), (bend, [(2, 0), (0, 2)])]
    edges = [(ratio, _joined(nx, ny, *step)) for ratio, steps in kinds if ratio for step in steps]
    values = np.concatenate([np.full(len(pairs), ratio * stiffness) for ratio, pairs in edges])
    a = np.arange(nx * ny).reshape(nx, ny)[:-1, :-1].reshape(-1)
    triangles = np.concatenate([np.stack([a, a + 1, a + ny], 1), np.stack([a + ny, a + 1, a + ny + 1], 1)])
    return spring_mesh(points, np.concatenate([pairs for _, pairs in edges]), values, triangles=triangles)


def _joined(nx: int, ny: int, di: int, dj: int) -> NDArray[np.int64]:
    """Pairs (K, 2) of all points (i, j) and (i + di, j + dj)."""
    i, j = (a.reshape(-1) for a in np.indices((nx, ny)))
    inside = (i + di < nx) & (j + dj >= 0) & (j + dj < ny)
    start = (i * ny + j)[inside]
    return np.stack([start, start + di * ny + dj], axis=1)


def _check_cloth(
    nx: int, ny: int, size: Sequence[float], stiffness: float, shear: float, bend: float
) -> None:
    if nx < 2 or ny < 2:
        raise GeometryError(f"a cloth needs at least 2 points along each side, not {nx} x {ny}")
    if len(size) != 2 or not all(math.isfinite(side) and side > 0 for side in size):
        raise GeometryError("the size of a cloth must be two numbers greater than 0")
    if not all(math.isfinite(value) and value >= 0 for value in (stiffness, shear, bend)):
        raise GeometryError("stiffness, shear and bend of a cloth must be finite and not negative")
