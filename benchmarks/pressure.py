"""The pressure solver on growing grids, and next to PyAMG on the same systems; see README.md.

    python benchmarks/pressure.py                          # iterations on growing grids, then both solvers in turn
    python benchmarks/pressure.py --cells2 256 --cells3 48 --rounds 1

All solves start from zero and make the largest residual a million times smaller. PyAMG (pip install pyamg) is optional.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import continua as ct
from continua import _core
from continua.flow.pressure import PoissonReport, PoissonSystem
from continua.grid.blocks import SIDE, Lattice

try:
    import pyamg
except ImportError:
    pyamg = None

REDUCTION = 1e-6


@dataclass
class Scene:
    """A pressure system in a box of cells^d, as blocks: fluid (blocks, 4^d), coupling (blocks, 4^d, 4), rhs."""

    keys: NDArray[np.uint64]
    lattice: Lattice
    coordinates: NDArray[np.int32]  # of the cells (blocks, 4^d, d)
    fluid: NDArray[np.uint8]
    coupling: NDArray[np.float32]
    rhs: NDArray[np.float64]

    def system(self) -> PoissonSystem:
        """Set up ours."""
        return PoissonSystem(self.keys, self.lattice, self.fluid, self.coupling)

    def matrix(self) -> tuple[scipy.sparse.csr_matrix, NDArray[np.float64]]:
        """The same system as a sparse matrix and a right-hand side."""
        shape = self.coordinates.reshape(-1, self.lattice.dimension).max(0) + 1
        number = np.full(shape, -1)
        cells = self.coordinates[self.fluid > 0]
        number[tuple(cells.T)] = np.arange(len(cells))
        rows, columns, values, own = [], [], [], np.zeros(len(cells))
        for a in range(self.lattice.dimension):
            faces = self.coordinates.reshape(-1, self.lattice.dimension)
            below = faces.copy()
            below[:, a] -= 1
            if self.lattice.period[a]:
                below[:, a] %= shape[a]
            upper = number[tuple(faces.T)]
            lower = np.where(below[:, a] >= 0, number[tuple(below.T)], -1)
            weight = self.coupling[..., a].ravel().astype(np.float64)
            for one, other in ((upper, lower), (lower, upper)):
                np.add.at(own, one[one >= 0], weight[one >= 0])
                both = (one >= 0) & (other >= 0) & (weight > 0)
                rows.append(one[both])
                columns.append(other[both])
                values.append(-weight[both])
        index = (np.concatenate(rows), np.concatenate(columns))
        matrix = scipy.sparse.coo_matrix((np.concatenate(values), index), 2 * (len(cells),))
        return scipy.sparse.csr_matrix(matrix + scipy.sparse.diags(own)), self.rhs[self.fluid > 0]


def open_fraction(x: NDArray, axis: int, side: int, cells: int) -> NDArray:
    """Of the lower (0) or upper (1) faces of cells at x (d, ...), next to a solid ball whose surface cuts faces."""
    face = x.copy()
    face[axis] += (side - 0.5) / cells
    return np.clip((np.linalg.norm(face - 0.4, axis=0) - 0.2) * cells + 0.5, 0, 1)


def scene(
    cells: int, dimension: int, shape: Callable[[NDArray, NDArray], NDArray], solid: bool = False
) -> Scene:
    """Liquid where shape(x, random numbers), x (d, ...) in the unit box; closed walls, or periodic if it is full."""
    rng = np.random.default_rng(0)
    full = bool(np.all(shape(np.full((dimension, 1), 0.99), np.ones(1))))
    blocks = cells // SIDE + (0 if full else 1)
    lattice = Lattice(1 / cells, np.zeros(dimension), np.full(dimension, blocks if full else 0, np.int32))
    corners = np.indices(dimension * (blocks,)).reshape(dimension, -1)
    x = np.ascontiguousarray((SIDE * corners + 0.5) / cells)
    order = _core.Order()
    order.sort(x, x.shape[1], lattice, len(x), 1)
    keys = order.keys
    coordinates = np.asarray(_core.node_coordinates(keys, dimension))
    cell = np.moveaxis(coordinates, -1, 0)
    x = (cell + 0.5) / cells
    fluid = shape(x, rng.random(x.shape[1:])) & np.all(cell < cells, axis=0)
    coupling = np.zeros((*fluid.shape, 4), np.float32)
    connected = np.zeros(fluid.shape, bool)
    for a in range(dimension):
        for side in (1, 0):  # the upper faces only to see which cells have an open one
            coupling[..., a] = 1 if full else (cell[a] + side > 0) & (cell[a] + side < cells)
            if solid:
                coupling[..., a] *= open_fraction(x, a, side, cells)
            connected |= coupling[..., a] > 0
    fluid &= connected
    rhs = (rng.standard_normal(fluid.shape) + 3 * np.sin(2 * np.pi * x[0])) * fluid
    return Scene(keys, lattice, coordinates, fluid.astype(np.uint8), coupling, rhs)


def waves(x: NDArray, random: NDArray) -> NDArray:
    """A wavy surface, single drops above and bubbles below it."""
    height = 0.5 + 0.1 * np.sin(6 * np.pi * x[0]) + 0.05 * np.sin(22 * np.pi * x[0] + 1)
    return np.where(x[-1] < height, random > 0.005, random < 0.01)


SCENES: dict[str, Callable[[int, int], Scene]] = {
    "box, air on top": lambda n, d: scene(n, d, lambda x, _: x[-1] < 0.7),
    "ball in air": lambda n, d: scene(n, d, lambda x, _: np.linalg.norm(x - 0.5, axis=0) < 0.35),
    "half full, solid ball": lambda n, d: scene(n, d, lambda x, _: x[-1] < 0.55, solid=True),
    "periodic": lambda n, d: scene(n, d, lambda x, _: x[0] >= 0),
    "waves, drops, bubbles": lambda n, d: scene(n, d, waves),
}


def solve_ours(given: Scene, reduction: float = REDUCTION) -> tuple[PoissonReport, float, float]:
    """Result, and milliseconds of set-up and solve."""
    start = time.perf_counter()
    system = given.system()
    ready = time.perf_counter()
    phi = np.zeros_like(given.rhs)
    tolerance = reduction * np.abs(given.rhs).max()
    solving = time.perf_counter()
    result = system.solve(given.rhs, phi, tolerance=tolerance)
    return result, 1e3 * (ready - start), 1e3 * (time.perf_counter() - solving)


def solve_pyamg(
    build: Callable, matrix: scipy.sparse.csr_matrix, rhs: NDArray, reduction: float = REDUCTION
) -> tuple[int, float, float]:
    """Iterations of conjugate gradients with one cycle as the preconditioner, milliseconds of set-up and solve."""
    start = time.perf_counter()
    inverse = build(matrix).aspreconditioner(cycle="V")
    ready = time.perf_counter()
    r, p, before = rhs.copy(), np.zeros_like(rhs), np.inf
    x, limit, iterations = np.zeros_like(rhs), reduction * np.abs(rhs).max(), 0
    while np.abs(r).max() > limit and iterations < 200:
        z = inverse @ r
        product = r @ z
        p = z + product / before * p
        q = matrix @ p
        step = product / (p @ q)
        x += step * p
        r -= step * q
        before = product
        iterations += 1
    return iterations, 1e3 * (ready - start), 1e3 * (time.perf_counter() - ready)


def growth_table(sizes: dict[int, Sequence[int]]) -> Table:
    """Iterations on a coarse and a fine grid."""
    table = Table(title="iterations for 1e-6", box=MARKDOWN)
    for column in ("scene", *(f"{n}^{d}" for d, ns in sizes.items() for n in ns), "largest growth"):
        table.add_column(column, justify="left" if column == "scene" else "right")
    for name, make in SCENES.items():
        counts = {d: [solve_ours(make(n, d))[0].iterations for n in ns] for d, ns in sizes.items()}
        worst = max(c[-1] / c[0] for c in counts.values())
        table.add_row(name, *(str(c) for cs in counts.values() for c in cs), f"{worst:.2f}")
    return table


def peer_table(name: str, given: Scene, rounds: int) -> Table:
    """Both solvers on one system; ratios within a round, medians over the rounds."""
    matrix, rhs = given.matrix()
    builders = (
        {}
        if pyamg is None
        else {
            "Ruge-Stuben": pyamg.ruge_stuben_solver,
            "smoothed aggregation": pyamg.smoothed_aggregation_solver,
        }
    )
    rows: dict[str, list[tuple[int, float, float]]] = {"Continua": [], **{key: [] for key in builders}}
    for _ in range(rounds):
        result, setup, solve = solve_ours(given)
        rows["Continua"].append((result.iterations, setup, solve))
        for key, build in builders.items():
            rows[key].append(solve_pyamg(build, matrix, rhs))
    table = Table(title=f"{name}: {len(rhs):,} unknowns", box=MARKDOWN)
    for column in ("solver", "iterations", "set-up ms", "solve ms", "set-up + solve / Continua"):
        table.add_column(column, justify="left" if column == "solver" else "right")
    for key, runs in rows.items():
        ratios = [(r[1] + r[2]) / (o[1] + o[2]) for r, o in zip(runs, rows["Continua"])]
        times = [f"{statistics.median(r[i] for r in runs):.1f}" for i in (1, 2)]
        table.add_row(key, str(runs[0][0]), *times, f"{statistics.median(ratios):.1f}")
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells2", type=int, nargs="+", default=[128, 1024], help="growth in 2D")
    parser.add_argument("--cells3", type=int, nargs="+", default=[64, 128], help="growth in 3D")
    parser.add_argument("--peers2", type=int, default=512, help="cells per axis next to PyAMG, 0 = skip")
    parser.add_argument("--peers3", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    ct.set_threads(given.threads)
    console = Console(width=120)
    console.print(f"{given.threads} threads, load {os.getloadavg()[0]:.1f} before")
    console.print(growth_table({2: given.cells2, 3: given.cells3}))
    for dimension, cells in ((2, given.peers2), (3, given.peers3)):
        for name in ("half full, solid ball", "waves, drops, bubbles"):
            if cells:
                console.print(
                    peer_table(f"{name}, {cells}^{dimension}", SCENES[name](cells, dimension), given.rounds)
                )


if __name__ == "__main__":
    main()
