"""What is remembered of solids that rest gives the same bits as finding them anew, whatever blocks come and go."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray
from solid_grids import Grid

import continua as ct
from continua import _core
from continua.flow.walls import WallFinder
from continua.grid.blocks import BlockGrid, Workspace

OBSTACLES = [
    ct.colliders.Sphere((0.1, 0.0, 0.05), 0.42, mode="separate"),
    ct.colliders.Box((0.0,) * 3, (1.3, 1.5, 1.4), inverted=True, mode="slip"),
]


def table(t: float, speed: float) -> NDArray[np.float64]:
    ball = ct.colliders.Sphere((0.1, 0.0, 0.05), 0.42, motion=ct.motions.Linear((speed, 0.0, 0.0)))
    return np.array([ball.row(t), OBSTACLES[1].row(t)])


class Some:
    """Some blocks of a grid, with what a memory, or none, finds there."""

    def __init__(self, whole: Grid, chosen: NDArray) -> None:
        self.whole, self.keys = whole, whole.keys[chosen]
        self.neighbours = _core.neighbour_blocks(self.keys, whole.lattice, 3)

    def find(self, memory: _core.SolidMemory | None, reached: NDArray) -> list[bytes]:
        g, shape = self.whole, (len(self.keys), 64, 4)
        place, solids = (self.keys, g.lattice, 3), (g.table, g.samples)
        open_, wall, owner = np.empty(shape, g.dtype), np.empty(shape, g.dtype), np.empty(shape, np.int32)
        _core.solid_faces(*place, *solids, open_, wall, owner, memory)
        u = np.random.default_rng(2).normal(size=shape).astype(g.dtype)
        _core.constrain_faces(u, open_, reached, *place, self.neighbours, *solids, memory)
        return [array.tobytes() for array in (open_, wall, owner, u)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_that_come_and_go(dtype: DTypeLike) -> None:
    grid, random, memory = Grid(3, dtype=dtype).put(OBSTACLES), np.random.default_rng(3), _core.SolidMemory()
    for part in (0.5, 0.9, 0.9, 0.2, 1.1):
        some = Some(grid, np.flatnonzero(random.random(len(grid.keys)) < part))
        reached = (random.random(len(some.keys)) < 0.7).astype(np.uint8)
        assert some.find(memory, reached) == some.find(None, reached)
    full = memory.nbytes
    memory.forget()
    assert full > 0 and memory.nbytes == 0


def test_obstacles_that_move_are_found_anew() -> None:
    blocks, finder = Grid(3), WallFinder(Workspace())
    grid = BlockGrid(blocks.lattice)
    grid.keys, grid.reached = blocks.keys, blocks.reached
    seen = []
    for t, speed in ((0.0, 0.0), (1.0, 0.0), (1.0, 0.2), (2.0, 0.2)):
        rows = table(t, speed)
        walls = finder.find(grid, rows, [None, None], np.dtype(np.float64))
        fresh = WallFinder(Workspace()).find(grid, rows, [None, None], np.dtype(np.float64))
        assert np.all(walls.open == fresh.open) and np.all(walls.speed == fresh.speed)
        seen.append((walls.open.tobytes(), walls.speed.tobytes()))
    assert seen[0] == seen[1] and len(set(seen)) == 3
