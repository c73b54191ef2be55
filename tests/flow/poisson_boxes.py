"""Systems for the pressure solver, written on plain arrays and cut into blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse
from numpy.typing import DTypeLike, NDArray

from continua import _core
from continua.flow.pressure import PoissonSystem
from continua.grid.blocks import SIDE, Lattice

FAR = 2.0  # distance from the surface where nothing is known [cells]
LEAST_CUT = 1e-6


class Box:
    """Cells of a box: unknown (n, ...), coupling (d, n, ...) on lower faces and diagonal (n, ...).

    Not periodic: one more block of air and closed faces above every axis. `shift`: blocks from the origin to the box.
    `distance` (n, ...) from where phi = 0, negative in unknown cells; FAR beyond the box.
    """

    def __init__(
        self,
        unknown: NDArray,
        coupling: NDArray,
        diagonal: NDArray | None = None,
        *,
        periodic: bool = False,
        shift: int = 0,
        dtype: DTypeLike = np.float64,
        distance: NDArray | None = None,
    ) -> None:
        self.dimension = unknown.ndim
        margin = [(0, 0 if periodic else SIDE)] * unknown.ndim
        self.periodic = periodic
        self.unknown = np.pad(unknown, margin)
        self.coupling = np.stack([np.pad(c, margin) for c in np.asarray(coupling, dtype)])
        self.diagonal = None if diagonal is None else np.pad(diagonal, margin)
        self.distance = None if distance is None else np.pad(distance, margin, constant_values=FAR)
        blocks = np.array(self.unknown.shape) // SIDE
        self.lattice = Lattice(0.5, np.zeros(self.dimension), (blocks * periodic).astype(np.int32))
        self.keys, self.index = self._order(blocks, shift)

    def _order(self, blocks: NDArray, shift: int) -> tuple[NDArray, tuple[NDArray, ...]]:
        corners = np.indices(blocks).reshape(self.dimension, -1) + shift
        x = np.ascontiguousarray((SIDE * corners + 0.5) * self.lattice.dx)
        order = _core.Order()
        order.sort(x, x.shape[1], self.lattice, len(x), 1)
        keys = order.keys
        cells = _core.node_coordinates(keys, self.dimension) - SIDE * shift
        return keys, tuple(np.moveaxis(cells, -1, 0))

    def cut(self, values: NDArray) -> NDArray:
        """Plain (n, ...) to blocks (blocks, 4^d)."""
        margin = [(0, n - m) for n, m in zip(self.unknown.shape, values.shape)]
        return np.ascontiguousarray(np.pad(values, margin)[self.index])

    def arguments(self) -> dict[str, object]:
        """Arguments of PoissonSystem."""
        coupling = np.zeros((*self.index[0].shape, 4), self.coupling.dtype)
        for a, c in enumerate(self.coupling):
            coupling[..., a] = self.cut(c)
        return {
            "keys": self.keys,
            "lattice": self.lattice,
            "fluid": self.cut(self.unknown).astype(np.uint8),
            "coupling": coupling,
            "diagonal": None if self.diagonal is None else self.cut(self.diagonal),
            "distance": None if self.distance is None else self.cut(self.distance),
        }

    def system(self) -> PoissonSystem:
        return PoissonSystem(**self.arguments())

    def below(self, values: NDArray, axis: int, beyond: float) -> NDArray:
        """Values (n, ...) of the cells below along an axis."""
        lower = np.roll(values, 1, axis=axis)
        if not self.periodic:
            np.moveaxis(lower, axis, 0)[0] = beyond
        return lower

    def cuts(self) -> NDArray:
        """Part of the way between the middles of two cells that lies on the side of the unknown one, (d, n, ...)."""
        cuts = np.ones(self.coupling.shape)
        for a in range(self.dimension if self.distance is not None else 0):
            wet, lower = self.unknown, self.below(self.unknown, a, False)
            here, there = self.distance, self.below(self.distance, a, FAR)
            surface = wet != lower
            inside, outside = (np.where(wet == side, here, there)[surface] for side in (True, False))
            cuts[a][surface] = np.clip(inside / (inside - outside), LEAST_CUT, 1)
        return cuts

    def matrix(self) -> scipy.sparse.csr_matrix:
        """The matrix of all cells in plain order, face by face from its definition."""
        number = np.arange(self.unknown.size).reshape(self.unknown.shape)
        own, cuts = np.zeros(self.unknown.size), self.cuts()
        if self.diagonal is not None:
            own += (self.diagonal * self.unknown).ravel()
        rows, columns, values = [], [], []
        for a in range(self.dimension):
            upper, lower = number, np.roll(number, 1, axis=a)
            weight = self.coupling[a].astype(np.float64) / cuts[a]
            inner = np.ones(self.unknown.shape, bool)
            if not self.periodic:  # below the box there is air
                np.moveaxis(inner, a, 0)[0] = False
            np.add.at(own, upper.ravel(), (weight * self.unknown).ravel())
            np.add.at(own, lower[inner], (weight * self.unknown.ravel()[lower])[inner])
            both = inner & self.unknown & self.unknown.ravel()[lower]
            rows += [upper[both], lower[both]]
            columns += [lower[both], upper[both]]
            values += [-weight[both], -weight[both]]
        off = scipy.sparse.coo_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), 2 * (number.size,)
        )
        return scipy.sparse.csr_matrix(off + scipy.sparse.diags(own))


def closed_faces(shape: tuple[int, ...]) -> NDArray:
    """Couplings of 1 inside a closed box."""
    coupling = np.ones((len(shape), *shape))
    for a in range(len(shape)):
        np.moveaxis(coupling[a], a, 0)[0] = 0
    return coupling


def centres(cells: int, dimension: int) -> NDArray:
    """Cell centres (d, n, ...) of the unit box."""
    return (np.indices(dimension * (cells,)) + 0.5) / cells


def box_with_air(cells: int, dimension: int) -> Box:
    return Box(centres(cells, dimension)[-1] < 0.7, closed_faces(dimension * (cells,)))


def ball_in_air(cells: int, dimension: int) -> Box:
    distance = np.linalg.norm(centres(cells, dimension) - 0.5, axis=0)
    return Box(distance < 0.35, closed_faces(dimension * (cells,)))


def solid_ball(cells: int, dimension: int) -> Box:
    """Half-full box with a solid ball whose surface cuts faces."""
    coupling = closed_faces(dimension * (cells,))
    for a in range(dimension):
        x = centres(cells, dimension)
        x[a] -= 0.5 / cells
        coupling[a] *= np.clip((np.linalg.norm(x - 0.4, axis=0) - 0.2) * cells + 0.5, 0, 1)
    return Box(centres(cells, dimension)[-1] < 0.55, coupling)


def periodic_box(cells: int, dimension: int) -> Box:
    shape = dimension * (cells,)
    return Box(np.ones(shape, bool), np.ones((dimension, *shape)), periodic=True)


def splashes(cells: int, dimension: int) -> Box:
    """Wavy surface, droplets, single cells and bubbles."""
    rng = np.random.default_rng(3)
    x = centres(cells, dimension)
    unknown = x[-1] < 0.5 + 0.1 * np.sin(6 * np.pi * x[0]) + 0.05 * np.sin(22 * np.pi * x[0] + 1)
    for _ in range(40):
        centre = rng.random(dimension).reshape(-1, *dimension * (1,))
        unknown |= np.linalg.norm(x - centre, axis=0) < 0.03 * rng.random()
    unknown |= rng.random(unknown.shape) < 0.01
    unknown &= rng.random(unknown.shape) > 0.005
    return Box(unknown, closed_faces(unknown.shape))


CASES: dict[str, Callable[[int, int], Box]] = {
    "box with air": box_with_air,
    "ball in air": ball_in_air,
    "solid ball": solid_ball,
    "periodic": periodic_box,
    "splashes": splashes,
}
