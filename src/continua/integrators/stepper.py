"""What all time integrators share: sorting, obstacles, push-out, timing."""

from __future__ import annotations

import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.points import Body
from continua.grid.blocks import SIDE, BlockGrid, BlockOrder, Lattice, Workspace, sort_particles
from continua.optimize import Report
from continua.transfers import Transfer


class Obstacle(Protocol):
    """Anything that acts on the grid: colliders and regions of fixed velocity."""

    @property
    def samples(self) -> tuple[NDArray, NDArray, float] | None: ...
    @property
    def bounded(self) -> bool: ...
    def row(self, t: float) -> NDArray[np.float64]: ...


@dataclass
class BadParticle:
    """A particle that left the finite world."""

    body: Body
    index: int  # into the arrays before the step


@dataclass
class StepResult:
    """What one step found out. Nothing of it is in force until the bodies are swapped."""

    max_strain: float = 0.0  # largest |dt grad v|
    halvings: int = 0  # particles whose F update had to be split
    # per body: fastest particle [m/s], fastest wave [m/s], largest kinematic viscosity [m^2/s]
    speeds: list[tuple[float, float, float]] = field(default_factory=list)
    impulses: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))  # per obstacle [N s]
    bad: BadParticle | None = None
    unconverged: str = ""  # how an implicit solve ended that did not reach its tolerance


@dataclass
class ObstacleTable:
    """Obstacles as the core wants them: one row each, and one more for each periodic image."""

    rows: NDArray[np.float64]
    samples: list[tuple[NDArray, NDArray, float] | None]
    owners: list[int]  # obstacle that each row belongs to
    count: int  # of obstacles

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
        return cls(table, samples, owners, len(obstacles))

    def __len__(self) -> int:
        return len(self.rows)

    def per_obstacle(self, impulses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the rows (rows, 3) of each obstacle, (obstacles, 3)."""
        total = np.zeros((self.count, 3))
        np.add.at(total, self.owners, impulses)
        return total


@dataclass
class Stepper(ABC):
    """A pipeline that advances bodies by one step: sort, particles to grid, the grid's own step, grid to particles."""

    lattice: Lattice
    degree: int
    transfer: Transfer
    push_out: float | None = 0.5  # tolerated depth in cells, None = no particle-level pass
    workspace: Workspace = field(default_factory=Workspace)

    PHASES: ClassVar[tuple[str, ...]] = ()
    staggered: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.grid = BlockGrid(self.lattice, self.degree)
        self.plan = self.transfer.plan(self.lattice.dimension, self.degree)
        self.seconds = dict.fromkeys(self.PHASES, 0.0)
        self.report: dict[str, float] = {}  # more columns of the diagnostics, of the last step
        self.last_solve: Report | None = None  # of an integrator that minimises
        self._orders: list[BlockOrder] = []

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.lattice.dimension

    @property
    def sort_lattice(self) -> Lattice:
        """The lattice whose blocks particles are sorted into."""
        return self.lattice

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - start

    def sort(self, bodies: Sequence[Body], *, by_cell: bool = True) -> BadParticle | None:
        """Sort every body into blocks (and cells) and activate the grid under them."""
        with self._phase("sort"):
            self._orders = []
            lattice = self.sort_lattice
            for number, body in enumerate(bodies):
                a = body.arrays
                order = sort_particles(
                    a.x, a.count, lattice, self.degree, self.workspace, str(number), by_cell=by_cell
                )
                if order.bad >= 0:
                    return BadParticle(body, order.bad)
                self._orders.append(order)
            self.grid.cover(self._orders)
        return None

    @abstractmethod
    def advance(
        self,
        bodies: Sequence[Body],
        obstacles: Sequence[Obstacle],
        dt: float,
        t: float,
        gravity: NDArray[np.float64],
    ) -> StepResult:
        """One step from t to t + dt, written to the bodies' other arrays."""

    def _push_out(
        self, bodies: Sequence[Body], table: ObstacleTable, depth: float, dt: float, result: StepResult
    ) -> None:
        """Particles deeper in obstacles than `depth` [m] are set back to it."""
        for number, body in enumerate(bodies):
            impulses = np.zeros((len(table), 3))
            _core.push_out(
                particles=body.next_arrays,
                order=self._orders[number],
                lattice=self.lattice,
                dimension=self.dimension,
                depth=depth,
                travel=2 * dt * result.speeds[number][0] + self.lattice.dx,
                table=table.rows,
                samples=table.samples,
                impulses=impulses,
            )
            result.impulses += table.per_obstacle(impulses)
