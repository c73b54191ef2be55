"""Walls on the faces of the grid, found anew only where blocks are new or obstacles have moved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.flow.cells import Walls
from continua.grid.blocks import BlockGrid, Workspace

Samples = Sequence[tuple[NDArray, NDArray, float] | None]


class WallFinder:
    """Finds walls and holds the flow back at them. What is remembered depends on obstacles and blocks alone, so nothing
    of a run depends on whether it was remembered."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._memory = workspace, _core.SolidMemory()
        self._rows = np.empty((0, _core.collider_columns))  # of the obstacles that are remembered
        self._samples: Samples = ()
        self._found: tuple[NDArray[np.uint64], Walls] | None = None  # and the keys of its blocks

    @property
    def nbytes(self) -> int:
        """Memory held beside the workspace [bytes]."""
        return int(self._memory.nbytes)

    def find(self, grid: BlockGrid, rows: NDArray[np.float64], samples: Samples, dtype: np.dtype) -> Walls:
        """Of the obstacles in the rows of a table. The arrays of the result are not to be changed."""
        if not (_same_bits(rows, self._rows) and _same_samples(samples, self._samples)):
            self._memory.forget()
            self._found, self._rows, self._samples = None, rows.copy(), list(samples)
        if self._found is None or self._found[0] is not grid.keys or self._found[1].open.dtype != dtype:
            shape = grid.node_shape()
            walls = Walls(
                self._workspace.get("open", shape, dtype),
                self._workspace.get("wall", shape, dtype),
                self._workspace.get("owner", shape, np.int32),
            )
            _core.solid_faces(
                grid.keys,
                grid.lattice,
                grid.dimension,
                rows,
                list(samples),
                walls.open,
                walls.speed,
                walls.owner,
                self._memory,
            )
            self._found = grid.keys, walls
        return self._found[1]

    def constrain(self, velocity: NDArray, grid: BlockGrid, neighbours: NDArray[np.int32]) -> None:
        """Give closed faces (blocks, cells, 4) the velocity that the walls found last leave them."""
        assert self._found is not None
        _core.constrain_faces(
            velocity,
            self._found[1].open,
            grid.reached,
            grid.keys,
            grid.lattice,
            grid.dimension,
            neighbours,
            self._rows,
            list(self._samples),
            self._memory,
        )


def _same_bits(one: NDArray, other: NDArray) -> bool:
    """What is not prescribed is not a number, which no comparison finds equal."""
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def _same_samples(one: Samples, other: Samples) -> bool:
    """Whether they are the same arrays."""
    return len(one) == len(other) and all(
        a is b or (a is not None and b is not None and a[0] is b[0] and a[1] is b[1] and a[2] == b[2])
        for a, b in zip(one, other, strict=True)
    )
