"""Solids on a box of MAC cells, and how much of a cell a plane cuts off, worked out by hand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import DTypeLike, NDArray

from continua import _core
from continua.contact.boundaries import FixedVelocity
from continua.contact.colliders import Collider
from continua.grid.blocks import Lattice

SLIVER = 0.01
Obstacles = Sequence[Collider | FixedVelocity]
NORMALS = {2: np.array([0.6, 0.8]), 3: np.array([-0.48, 0.6, 0.64])}
POINT = np.array([0.013, -0.021, 0.034])


@dataclass
class Grid:
    """A box of blocks from block `low` to `high` (exclusive) on every axis, with the arrays of the solids."""

    d: int
    dx: float = 0.1
    low: int = -2
    high: int = 2
    dtype: DTypeLike = np.float64

    def __post_init__(self) -> None:
        self.lattice = Lattice(self.dx, np.zeros(self.d), np.zeros(self.d, np.int32))
        blocks = itertools.product(range(self.low, self.high), repeat=self.d)
        self.keys = np.array(sorted(_morton(block) for block in blocks), np.uint64)
        self.neighbours = _core.neighbour_blocks(self.keys, self.lattice, self.d)
        self.cells = _core.node_coordinates(self.keys, self.d)
        shape = (len(self.keys), 4**self.d, 4)
        self.open, self.wall = np.full(shape, np.nan, self.dtype), np.full(shape, np.nan, self.dtype)
        self.owner = np.full(shape, -7, np.int32)
        self.reached = np.ones(len(self.keys), np.uint8)

    def put(self, obstacles: Obstacles, t: float = 0.0) -> Grid:
        self.table = np.array([o.row(t) for o in obstacles]).reshape(-1, _core.collider_columns)
        self.samples = [o.samples for o in obstacles]
        _core.solid_faces(
            self.keys, self.lattice, self.d, self.table, self.samples, self.open, self.wall, self.owner
        )
        return self

    def constrain(self, velocity: NDArray) -> NDArray:
        out = velocity.copy()
        _core.constrain_faces(
            out,
            self.open,
            self.reached,
            self.keys,
            self.lattice,
            self.d,
            self.neighbours,
            self.table,
            self.samples,
        )
        return out

    def impulses(
        self,
        pressure: NDArray,
        fluid: NDArray,
        scale: float,
        *,
        gravity: Sequence[float] = (0, 0, 0),
        dt: float = 1.0,
        before: NDArray | None = None,
    ) -> NDArray:
        """With this gravity [m/s^2] during dt [s]; `before`: the table at the beginning of the step."""
        out = np.full((len(self.table), 3), np.nan)
        _core.wall_impulses(
            pressure,
            fluid,
            self.open,
            self.owner,
            self.keys,
            self.lattice,
            self.d,
            self.neighbours,
            self.table,
            self.table if before is None else before,
            self.samples,
            np.array(gravity[: self.d], float),
            dt,
            scale,
            out,
        )
        return out

    def face_centres(self, axis: int) -> NDArray:
        half = np.where(np.arange(self.d) == axis, 0.0, 0.5)
        return self.dx * (self.cells + half)

    def dense(self, values: NDArray) -> NDArray:
        """Cell values (blocks, 4^d, ...) as an array over the whole box."""
        out = np.empty((4 * (self.high - self.low),) * self.d + values.shape[2:], values.dtype)
        out[tuple(np.moveaxis(self.cells - 4 * self.low, -1, 0))] = values
        return out

    def corner_distance(self, obstacles: Sequence[Collider]) -> NDArray:
        """Signed distance of the union at all corners of the box, in cells."""
        line = np.arange(4 * self.low, 4 * self.high + 1) * self.dx
        points = np.stack(np.meshgrid(*[line] * self.d, indexing="ij"), -1)
        phi = [o.signed_distance(points.reshape(-1, self.d))[0] for o in obstacles]
        return np.min(phi, 0).reshape(points.shape[:-1]) / self.dx


def _morton(block: tuple[int, ...]) -> int:
    d = len(block)
    return sum(
        ((b + (1 << 20)) >> bit & 1) << (3 * bit + d - 1 - a)
        for a, b in enumerate(block)
        for bit in range(21)
    )


def below(normal: NDArray, offset: NDArray) -> NDArray:
    """Part of the unit cube with normal . x < offset (inclusion and exclusion over its corners; no zero in normal)."""
    m = len(normal)
    offset = offset - np.minimum(normal, 0).sum()  # mirrored so that the normal is positive
    n = np.abs(normal)
    total = 0.0
    for corner in itertools.product((0, 1), repeat=m):
        total = total + (-1) ** sum(corner) * np.maximum(offset - n @ np.array(corner), 0) ** m
    return np.clip(total / (factorial(m) * np.prod(n)), 0, 1)


def settled(part: NDArray) -> NDArray:
    return np.where(part < SLIVER, 0, np.where(part > 1 - SLIVER, 1, part))


def liquid(grid: Grid, phi: NDArray) -> tuple[NDArray, NDArray]:
    """Pressure and the cells that are not all solid."""
    fluid = (grid.open[..., 3] > 0).astype(np.uint8)
    return np.ascontiguousarray(phi), fluid
