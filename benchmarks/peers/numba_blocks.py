"""Blocks of particles that both Numba programs share: their order, their colours, their tiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .scene import BLOCK, grid_shape

EDGE = 2 * BLOCK  # nodes of a tile along an edge
SLACK = 1  # cells that a particle may be outside of its block


class Blocks(NamedTuple):
    """Blocks that hold particles, by colour."""

    at: NDArray[np.int64]  # place (B, 3) of every block, in blocks
    first: NDArray[np.int64]  # particle (B + 1,) of every block
    colours: NDArray[np.int64]  # first block (9,) of every colour


@njit(forceinline=True)
def corner(block):
    """First node of the tile of a block, as numbers."""
    x, y, z = BLOCK * block - SLACK
    return np.float32(x), np.float32(y), np.float32(z)


def order_by_blocks(x: NDArray[np.float32], dx: float) -> tuple[NDArray[np.intp], Blocks]:
    """Permutation (N,) of positions x (3, N) [m] by colour of their blocks, block and cell, and the blocks."""
    cell = np.floor(x / np.float32(dx) - np.float32(0.5)).astype(np.int64)
    block, inside = cell // BLOCK, cell % BLOCK
    colour = 4 * (block[0] % 2) + 2 * (block[1] % 2) + block[2] % 2
    order = np.lexsort((*inside[::-1], *block[::-1], colour))
    block = block[:, order]
    change = np.flatnonzero(np.any(np.diff(block, axis=1), axis=0)) + 1
    first = np.concatenate([[0], change, [len(order)]])
    at = np.ascontiguousarray(block[:, first[:-1]].T)
    colours = np.searchsorted(colour[order][first[:-1]], np.arange(9))
    return order, Blocks(at, first, colours)


def empty_grid(x: NDArray[np.float32], dx: float) -> NDArray[np.float32]:
    """Momentum or velocity, and mass, at the nodes of a dense grid that starts one block before node 0."""
    blocks = [-(-nodes // BLOCK) + 3 for nodes in grid_shape(x, dx)]
    return np.zeros((*(BLOCK * b for b in blocks), 4), np.float32)
