"""A box of MAC cells by hand, and its viscous step written out face by face as a reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity
from scipy.sparse.linalg import spsolve

from continua import _core
from continua.grid.blocks import Lattice

Cell = tuple[int, ...]
Face = tuple[Cell, int]


def morton(block: Cell) -> int:
    """Key of a block with these coordinates: biased 21-bit numbers, bits of the first axis highest."""
    d = len(block)
    return sum(
        ((b + (1 << 20)) >> bit & 1) << (3 * bit + d - 1 - a)
        for a, b in enumerate(block)
        for bit in range(21)
    )


@dataclass
class Tank:
    """A box of cells, all of them liquid between open faces at first. Arrays over cells, faces as in the core."""

    cells: Cell
    dx: float = 1.0
    periodic: tuple[int, ...] = ()  # axes
    dtype: type = np.float64
    velocity: NDArray = field(init=False)
    fluid: NDArray = field(init=False)
    open: NDArray = field(init=False)
    wall: NDArray = field(init=False)
    noslip: NDArray = field(init=False)

    def __post_init__(self) -> None:
        self.velocity = np.zeros((*self.cells, 4), self.dtype)
        self.open = np.ones_like(self.velocity)
        self.wall = np.zeros_like(self.velocity)
        self.noslip = np.zeros(self.velocity.shape, np.uint8)
        self.fluid = np.ones(self.cells, np.uint8)

    @property
    def dimension(self) -> int:
        return len(self.cells)

    def centres(self, axis: int) -> NDArray:
        """Centres of the lower faces along an axis, (*cells, d) [m]."""
        centre = np.stack(np.meshgrid(*map(np.arange, self.cells), indexing="ij"), -1) + 0.5
        centre[..., axis] -= 0.5
        return centre * self.dx

    def wet(self, axis: int) -> NDArray:
        """Faces with liquid on at least one side, (*cells,) bool."""
        below = np.roll(self.fluid, 1, axis)
        if axis not in self.periodic:
            below[(slice(None),) * axis + (0,)] = 0
        return (self.fluid | below) > 0

    def free(self, axis: int) -> NDArray:
        """Unknowns, (*cells,) bool."""
        return self.wet(axis) & (self.open[..., axis] > 0)

    def close(self, solid: NDArray, *, sticky: bool) -> None:
        """Cells (*cells,) bool become solid: no liquid in them and all their faces closed."""
        self.fluid[solid] = 0
        for a in range(self.dimension):
            faces = solid | np.roll(solid, 1, a)
            self.open[faces, a] = 0
            self.noslip[faces, a] = sticky

    def set_field(self, function: Callable[[NDArray], NDArray]) -> None:
        """Velocities from function(x (..., d)) -> (..., d), and the same for the walls."""
        for a in range(self.dimension):
            values = function(self.centres(a))[..., a]
            self.velocity[..., a] = np.where(self.free(a), values, 0)
            self.wall[..., a] = np.where(self.open[..., a] == 0, values, 0)

    def values(self) -> NDArray:
        """Velocities of all free faces (n,)."""
        return np.concatenate([self.velocity[..., a][self.free(a)] for a in range(self.dimension)])

    def solve(self, nu: float | NDArray, dt: float, tolerance: float = 1e-12, limit: int = 5000) -> dict:
        """One viscous step of the core."""
        d = self.dimension
        keys = np.sort(
            np.array([morton(b) for b in product(*(range(n // 4) for n in self.cells))], np.uint64)
        )
        period = [n // 4 if a in self.periodic else 0 for a, n in enumerate(self.cells)]
        lattice = Lattice(self.dx, np.zeros(d), np.array(period, np.int32))
        at = tuple(np.moveaxis(np.asarray(_core.node_coordinates(keys, d)), -1, 0))
        velocity = self.velocity[at]
        report = _core.solve_viscosity(
            keys,
            lattice,
            d,
            _core.neighbour_blocks(keys, lattice, d),
            velocity,
            self.fluid[at],
            self.open[at],
            self.wall[at],
            self.noslip[at],
            nu[at] if isinstance(nu, np.ndarray) else nu,
            dt,
            tolerance,
            limit,
        )
        self.velocity[at] = velocity
        return report


def step(cell: Cell, axis: int, by: int) -> Cell:
    return (*cell[:axis], cell[axis] + by, *cell[axis + 1 :])


class Assembled:
    """The same minimisation written out face by face and solved with a sparse factorisation."""

    def __init__(self, tank: Tank, nu: NDArray, *, component_wise: bool = False) -> None:
        self.tank, self.nu = tank, nu
        d = tank.dimension
        cells = list(product(*map(range, tank.cells)))
        self.unknown = {
            face: n for n, face in enumerate(f for f in product(cells, range(d)) if self.kind(f) == "free")
        }
        self.samples: list[tuple[float, list[tuple[float, Face]]]] = []
        for c in cells:
            for a in range(d):
                self.sample(2 * nu[c] if tank.fluid[c] else 0, [(1, (step(c, a, 1), a)), (-1, (c, a))])
            for a, b in combinations(range(d), 2):
                first = [(1.0, (c, a)), (-1.0, (step(c, b, -1), a))]
                second = [(1.0, (c, b)), (-1.0, (step(c, a, -1), b))]
                around = [c, step(c, a, -1), step(c, b, -1), step(step(c, a, -1), b, -1)]
                for terms in [first, second] if component_wise else [first + second]:
                    self.sample(self.edge(terms, around), terms)

    def home(self, cell: Cell) -> Cell | None:
        """The cell of the tank that this one stands for."""
        tank = self.tank
        wrapped = tuple(i % n if a in tank.periodic else i for a, (i, n) in enumerate(zip(cell, tank.cells)))
        return wrapped if all(0 <= i < n for i, n in zip(wrapped, tank.cells)) else None

    def liquid(self, cell: Cell) -> bool:
        at = self.home(cell)
        return at is not None and bool(self.tank.fluid[at])

    def kind(self, face: Face) -> str:
        cell, a = face
        at = self.home(cell)
        if at is None:
            return "air"
        wet = self.liquid(cell) or self.liquid(step(cell, a, -1))
        if self.tank.open[at][a] > 0:
            return "free" if wet else "air"
        return ("wall" if wet else "inside") + ("" if self.tank.noslip[at][a] else " slippery")

    def edge(self, terms: list[tuple[float, Face]], around: list[Cell]) -> float:
        """Weight times viscosity of an edge."""
        kinds = [self.kind(face) for _, face in terms]
        values = [self.nu[self.home(c)] for c in around if self.liquid(c)]
        if not values or any(kind == "air" or "slippery" in kind for kind in kinds):
            return 0
        return float(np.mean(values)) * (2 if "inside" in kinds else 1)

    def sample(self, stiffness: float, terms: list[tuple[float, Face]]) -> None:
        if stiffness:
            self.samples.append((stiffness, terms))

    def step(self, dt: float) -> NDArray:
        """New velocities of the unknowns, in the order of self.unknown."""
        tank, rows = self.tank, len(self.samples)
        entries: list[tuple[float, int, int]] = []
        known = np.zeros(rows)
        for row, (_, terms) in enumerate(self.samples):
            for sign, (cell, a) in terms:
                at = self.home(cell)
                assert at is not None
                if (at, a) in self.unknown:
                    entries.append((sign, row, self.unknown[at, a]))
                else:
                    known[row] += sign * tank.wall[at][a]
        signs, at_rows, columns = (np.array(part) for part in zip(*entries))
        G = csr_matrix((signs, (at_rows, columns)), (rows, len(self.unknown)))
        K = csr_matrix((np.array([s for s, _ in self.samples]), (range(rows), range(rows)))) * (
            dt / tank.dx**2
        )
        old = np.array([tank.velocity[cell][a] for cell, a in self.unknown])
        return spsolve((identity(len(old)) + G.T @ K @ G).tocsc(), old - G.T @ (K @ known))

    def of_tank(self) -> NDArray:
        return np.array([self.tank.velocity[cell][a] for cell, a in self.unknown])
