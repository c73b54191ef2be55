"""Obstacles as the core wants them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.grid.blocks import SIDE, Lattice

FRICTION = 2  # column of the table


class Obstacle(Protocol):
    """Anything that acts on the grid: colliders and regions of fixed velocity."""

    @property
    def samples(self) -> tuple[NDArray, NDArray, float] | None: ...
    @property
    def bounded(self) -> bool: ...
    def row(self, t: float) -> NDArray[np.float64]: ...


@dataclass
class ObstacleTable:
    """Obstacles as the core wants them: one row each, and one more for each periodic image."""

    rows: NDArray[np.float64]
    samples: list[tuple[NDArray, NDArray, float] | None]
    owners: list[int]  # obstacle that each row belongs to
    obstacles: Sequence[Obstacle]
    lattice: Lattice

    @classmethod
    def of(cls, obstacles: Sequence[Obstacle], t: float, lattice: Lattice) -> ObstacleTable:
        """At time t [s]. On periodic axes every bounded obstacle also acts through its images one period away."""
        rows, samples, owners = [], [], []
        length = SIDE * lattice.dx * lattice.period
        for number, obstacle in enumerate(obstacles):
            row = obstacle.row(t)
            shifts = [(0, s, -s) if s and obstacle.bounded else (0,) for s in length]
            for shift in itertools.product(*shifts):
                image = row.copy()
                image[4 : 4 + len(shift)] += shift
                rows.append(image)
                samples.append(obstacle.samples)
                owners.append(number)
        table = np.array(rows) if rows else np.zeros((0, _core.collider_columns))
        return cls(table, samples, owners, obstacles, lattice)

    @property
    def count(self) -> int:
        """Of obstacles."""
        return len(self.obstacles)

    def at(self, t: float) -> ObstacleTable:
        """The same obstacles at another time [s]."""
        return ObstacleTable.of(self.obstacles, t, self.lattice)

    def with_friction(self, friction: Mapping[int, float]) -> ObstacleTable:
        """With other coefficients of some obstacles, by number."""
        if not friction:
            return self
        rows = self.rows.copy()
        for row, owner in zip(rows, self.owners, strict=True):
            row[FRICTION] = friction.get(owner, row[FRICTION])
        return replace(self, rows=rows)

    def __len__(self) -> int:
        return len(self.rows)

    def per_obstacle(self, impulses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the rows (rows, 3) of each obstacle, (obstacles, 3)."""
        total = np.zeros((self.count, 3))
        np.add.at(total, self.owners, impulses)
        return total
