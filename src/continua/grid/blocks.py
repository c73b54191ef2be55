"""Block-sparse collocated grid. A grid is a value: a step may use several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


class Buffer:
    """An array kept from step to step, so that large memory is not allocated again and again."""

    def __init__(self) -> None:
        self._memory: NDArray = np.empty(0)

    def get(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray:
        """Uninitialised C-contiguous array; grown by a quarter more than needed."""
        size = prod(shape)
        if self._memory.size < size or self._memory.dtype != np.dtype(dtype):
            self._memory = np.empty(size + size // 4, dtype)
        return self._memory[:size].reshape(shape)

    @property
    def nbytes(self) -> int:
        """Memory held [bytes]."""
        return self._memory.nbytes


class Workspace:
    """Buffers by name, for a step that needs many arrays of one shape."""

    def __init__(self) -> None:
        self.buffers: dict[str, Buffer] = {}

    def get(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray:
        """See `Buffer.get`."""
        return self.buffers.setdefault(name, Buffer()).get(shape, dtype)

    @property
    def nbytes(self) -> int:
        """Memory held [bytes]."""
        return sum(buffer.nbytes for buffer in self.buffers.values())


class BlockGrid:
    """Nodes of all blocks that particles reach.

    `links[k]` joins the tiles of the k-th sorted set to the blocks: the node blocks under each tile, and the tiles that
    overlap each node block. With a rim there are blocks on all sides of those that hold particles.
    """

    def __init__(self, lattice: Lattice, *, rim: bool = False) -> None:
        self.lattice = lattice
        self.rim = rim
        self.keys: NDArray[np.uint64] = np.empty(0, np.uint64)
        self.links: list[_core.Links] = []
        self.reached: NDArray[np.uint8] = np.empty(0, np.uint8)  # 1 for blocks under tiles: all but the rim
        self._particle_keys: list[NDArray[np.uint64]] = []

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.lattice.dimension

    @property
    def blocks(self) -> int:
        """Number of node blocks."""
        return len(self.keys)

    def cover(self, orders: Sequence[_core.Order]) -> None:
        """Activate the blocks reached by these particles; nothing to do while they stay in the same blocks."""
        keys = [order.keys for order in orders]
        if len(keys) == len(self._particle_keys) and all(map(np.array_equal, keys, self._particle_keys)):
            return
        self.keys = _core.grid_blocks(keys, self.lattice, self.dimension, self.rim)
        self.links = [_core.link_blocks(o, self.keys, self.lattice, self.dimension) for o in orders]
        self.reached = np.zeros(len(self.keys), np.uint8)
        for link in self.links:
            self.reached |= (link.sources >= 0).any(axis=1)
        self._particle_keys = keys

    def node_shape(self) -> tuple[int, int, int]:
        """Shape of a node array: (blocks, nodes per block, channels)."""
        return self.blocks, SIDE**self.dimension, CHANNELS

    def node_positions(self) -> NDArray[np.float64]:
        """Positions (blocks, nodes per block, d) [m]."""
        coordinates = np.asarray(_core.node_coordinates(self.keys, self.dimension), np.float64)
        return self.lattice.origin + self.lattice.dx * coordinates
