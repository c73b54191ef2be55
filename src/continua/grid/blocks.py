"""Block-sparse collocated grid. A grid is a value: a step may use several."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import DTypeLike, NDArray

from continua import _core

SIDE = 4  # nodes per block and axis
CHANNELS = 4  # momentum or velocity x, y, z (0 in 2D) and mass


@dataclass(frozen=True)
class Lattice:
    """Where nodes lie: node i is at origin + i dx; axes with period > 0 repeat after that many blocks."""

    dx: float
    origin: NDArray[np.float64]  # (d,) [m]
    period: NDArray[np.int32]  # (d,) blocks, 0 = unbounded

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.origin)


@dataclass(frozen=True)
class BlockOrder:
    """Particles sorted by block: particle order[k] is in block s for offsets[s] <= k < offsets[s + 1]."""

    keys: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    order: NDArray[np.int32]
    bad: int  # first particle that lies nowhere (not finite, or too far out), or -1


@dataclass
class Workspace:
    """Arrays kept from step to step, so that large buffers are not allocated again and again."""

    arrays: dict[str, NDArray] = field(default_factory=dict)

    def get(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray:
        """Uninitialised C-contiguous array; grown by a quarter more than needed."""
        buffer = self.arrays.get(name)
        size = prod(shape)
        if buffer is None or buffer.size < size or buffer.dtype != np.dtype(dtype):
            buffer = self.arrays[name] = np.empty(size + size // 4, dtype)
        return buffer[:size].reshape(shape)

    @property
    def nbytes(self) -> int:
        """Memory held [bytes]."""
        return sum(a.nbytes for a in self.arrays.values())


def sort_particles(
    x: NDArray, count: int, lattice: Lattice, degree: int, workspace: Workspace, tag: str, *, by_cell: bool
) -> BlockOrder:
    """Sort particles with positions x (d, capacity) into blocks (stable, the same for any number of threads).

    `by_cell` also sorts them within each block, so that neighbours in memory share their nodes.
    """
    order = workspace.get(f"order {tag}", (count,), np.int32)
    slots = workspace.get("slots", (count,), np.int32)
    keys, offsets, bad = _core.sort_particles(
        x, count, lattice, lattice.dimension, degree, by_cell, order, slots
    )
    return BlockOrder(keys, offsets, order, bad)


class BlockGrid:
    """Nodes of all blocks that particles reach.

    `reach[b]` lists the node blocks under the tile of each particle block of body b, `sources[b]` the tiles that
    overlap each node block. With a rim there are blocks on all sides of those that hold particles.
    """

    def __init__(self, lattice: Lattice, degree: int, *, rim: bool = False) -> None:
        self.lattice = lattice
        self.degree = degree
        self.rim = rim
        self.keys: NDArray[np.uint64] = np.empty(0, np.uint64)
        self.reach: list[NDArray[np.int32]] = []
        self.sources: list[NDArray[np.int32]] = []
        self._particle_keys: list[NDArray[np.uint64]] = []

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.lattice.dimension

    @property
    def blocks(self) -> int:
        """Number of node blocks."""
        return len(self.keys)

    def cover(self, orders: list[BlockOrder]) -> None:
        """Activate the blocks reached by these particles; nothing to do while they stay in the same blocks."""
        keys = [order.keys for order in orders]
        if len(keys) == len(self._particle_keys) and all(map(np.array_equal, keys, self._particle_keys)):
            return
        self.keys = np.asarray(_core.grid_blocks(keys, self.lattice, self.dimension, self.rim), np.uint64)
        links = [_core.link_blocks(k, self.keys, self.lattice, self.dimension) for k in keys]
        self.reach = [reach for reach, _ in links]
        self.sources = [sources for _, sources in links]
        self._particle_keys = keys

    def node_shape(self) -> tuple[int, int, int]:
        """Shape of a node array: (blocks, nodes per block, channels)."""
        return self.blocks, SIDE**self.dimension, CHANNELS

    def tile_shape(self, order: BlockOrder) -> tuple[int, int, int]:
        """Shape of the tiles of a body: (particle blocks, tile nodes, channels)."""
        return len(order.keys), _core.tile_nodes(self.dimension, self.degree), CHANNELS

    def node_positions(self) -> NDArray[np.float64]:
        """Positions (blocks, nodes per block, d) [m]."""
        coordinates = np.asarray(_core.node_coordinates(self.keys, self.dimension), np.float64)
        return self.lattice.origin + self.lattice.dx * coordinates
