"""Pressure on a MAC grid in NVIDIA Warp: the multigrid conjugate gradients of `taichi_flow_pressure`, as Warp kernels.

Arrays over cells are flat: cell (i, j, k) of a level with n^3 cells and one layer of solid ones around them has number
((i + 1) s + j + 1) s + k + 1 with s = n + 2. Vectors are zero outside the liquid, so a stencil reads all six neighbours
without asking what they are. Launches run over lists of the liquid cells, one list per colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from . import warp_mpm as _settings  # noqa: F401  (compiler options)

SOLID, AIR, LIQUID = wp.constant(0), wp.constant(1), wp.constant(2)
COARSEST = 8  # cells along an edge of the last level at most
SWEEPS = 2  # red-black sweeps before and after each coarser level
LAST_SWEEPS = 20  # symmetric sweeps on the last level


@wp.func
def neighbours(z: wp.array[float], c: int, s: int):
    return z[c - 1] + z[c + 1] + z[c - s] + z[c + s] + z[c - s * s] + z[c + s * s]


@wp.func
def number(i: int, j: int, k: int, s: int):
    return ((i + 1) * s + j + 1) * s + k + 1


@wp.func
def first_child(coarse: int, s: int, fine_s: int):
    i = coarse // (s * s) - 1
    j = coarse // s % s - 1
    k = coarse % s - 1
    return number(2 * i, 2 * j, 2 * k, fine_s)


@wp.func
def child(n: int, s: int):
    """Number of child n in 0..7, from the first one; children 0 to 3 have even coordinate sums, like the first."""
    i = (n // 4 + n // 2 + n) % 2
    return (i * s + n // 2 % 2) * s + n % 2


@wp.kernel
def coarsen(fine: wp.array[wp.uint8], kind: wp.array[wp.uint8], first: wp.vec3i, fine_s: int, s: int):
    i, j, k = wp.tid()
    coarse = number(first[0] + i, first[1] + j, first[2] + k, s)
    base = first_child(coarse, s, fine_s)
    air = wp.int32(0)
    liquid = wp.int32(0)
    for n in range(8):
        what = int(fine[base + child(n, fine_s)])
        if what == AIR:
            air = 1
        if what == LIQUID:
            liquid = 1
    kind[coarse] = wp.uint8(wp.where(air == 1, AIR, wp.where(liquid == 1, LIQUID, SOLID)))


@wp.kernel
def collect(
    kind: wp.array[wp.uint8],
    first: wp.vec3i,
    s: int,
    red: wp.array[int],
    black: wp.array[int],
    length: wp.array[int],
    diagonal: wp.array[float],
    z: wp.array[float],
):
    i, j, k = wp.tid()
    c = number(first[0] + i, first[1] + j, first[2] + k, s)
    if int(kind[c]) != LIQUID:
        z[c] = 0.0
        return
    if (first[0] + i + first[1] + j + first[2] + k) % 2 == 0:
        red[wp.atomic_add(length, 0, 1)] = c
    else:
        black[wp.atomic_add(length, 1, 1)] = c
    walls = wp.int32(0)
    if int(kind[c - 1]) == SOLID:
        walls += 1
    if int(kind[c + 1]) == SOLID:
        walls += 1
    if int(kind[c - s]) == SOLID:
        walls += 1
    if int(kind[c + s]) == SOLID:
        walls += 1
    if int(kind[c - s * s]) == SOLID:
        walls += 1
    if int(kind[c + s * s]) == SOLID:
        walls += 1
    diagonal[c] = float(wp.max(6 - walls, 1))


@wp.kernel
def forget(kind: wp.array[wp.uint8], first: wp.vec3i, s: int, phi: wp.array[float], p: wp.array[float]):
    i, j, k = wp.tid()
    c = number(first[0] + i, first[1] + j, first[2] + k, s)
    if int(kind[c]) != LIQUID:
        phi[c] = 0.0
        p[c] = 0.0


@wp.kernel
def relax_from_zero(cells: wp.array[int], r: wp.array[float], d: wp.array[float], z: wp.array[float]):
    c = cells[wp.tid()]
    z[c] = r[c] / d[c]


@wp.kernel
def relax(cells: wp.array[int], r: wp.array[float], d: wp.array[float], z: wp.array[float], s: int):
    c = cells[wp.tid()]
    z[c] = (r[c] + neighbours(z, c, s)) / d[c]


@wp.kernel
def restrict(
    cells: wp.array[int],
    kind: wp.array[wp.uint8],
    r: wp.array[float],
    d: wp.array[float],
    z: wp.array[float],
    coarse_r: wp.array[float],
    s: int,
    coarse_s: int,
):
    """Sum of the residuals times the ratio of the scales, 1/2. Odd cells were relaxed last: no residual there."""
    coarse = cells[wp.tid()]
    base = first_child(coarse, coarse_s, s)
    total = wp.float32(0.0)
    for n in range(4):
        c = base + child(n, s)
        if int(kind[c]) == LIQUID:
            total += r[c] - d[c] * z[c] + neighbours(z, c, s)
    coarse_r[coarse] = 0.5 * total


@wp.kernel
def prolong(
    cells: wp.array[int],
    kind: wp.array[wp.uint8],
    z: wp.array[float],
    coarse_z: wp.array[float],
    s: int,
    coarse_s: int,
):
    coarse = cells[wp.tid()]
    base = first_child(coarse, coarse_s, s)
    for n in range(8):
        c = base + child(n, s)
        if int(kind[c]) == LIQUID:
            z[c] = z[c] + coarse_z[coarse]


@wp.kernel
def subtract_guess(
    cells: wp.array[int],
    r: wp.array[float],
    d: wp.array[float],
    phi: wp.array[float],
    s: int,
    largest: wp.array[float],
):
    c = cells[wp.tid()]
    r[c] = r[c] + neighbours(phi, c, s) - d[c] * phi[c]
    wp.atomic_max(largest, 0, wp.abs(r[c]))


@wp.kernel
def dot(cells: wp.array[int], a: wp.array[float], b: wp.array[float], total: wp.array[wp.float64]):
    c = cells[wp.tid()]
    wp.atomic_add(total, 0, wp.float64(a[c] * b[c]))


@wp.kernel
def next_direction(cells: wp.array[int], z: wp.array[float], p: wp.array[float], beta: float):
    c = cells[wp.tid()]
    p[c] = z[c] + beta * p[c]


@wp.kernel
def apply(
    cells: wp.array[int],
    d: wp.array[float],
    p: wp.array[float],
    Ap: wp.array[float],
    s: int,
    total: wp.array[wp.float64],
):
    c = cells[wp.tid()]
    Ap[c] = d[c] * p[c] - neighbours(p, c, s)
    wp.atomic_add(total, 0, wp.float64(p[c] * Ap[c]))


@wp.kernel
def advance(
    cells: wp.array[int],
    p: wp.array[float],
    Ap: wp.array[float],
    phi: wp.array[float],
    r: wp.array[float],
    alpha: float,
    largest: wp.array[float],
):
    c = cells[wp.tid()]
    phi[c] = phi[c] + alpha * p[c]
    r[c] = r[c] - alpha * Ap[c]
    wp.atomic_max(largest, 0, wp.abs(r[c]))


@dataclass
class Level:
    """Arrays of one level; `colours` are the lists of its liquid cells."""

    cells: int
    kind: wp.array
    d: wp.array
    r: wp.array
    z: wp.array
    storage: tuple[wp.array, wp.array]
    colours: Sequence[wp.array] = ()

    @property
    def s(self) -> int:
        """Cells along an edge with the layer around."""
        return self.cells + 2


def make_level(n: int) -> Level:
    """Level of n^3 cells of air inside solid ones."""
    kind = np.zeros((n + 2,) * 3, np.uint8)
    kind[1:-1, 1:-1, 1:-1] = AIR
    vectors = [wp.zeros(kind.size, dtype=float) for _ in range(3)]
    lists = tuple(wp.empty(n**3 // 2 + 1, dtype=int) for _ in range(2))
    return Level(n, wp.array(kind.ravel()), *vectors, lists)


class Pressure:
    """Solver for sum over faces that are no wall of (phi_c - phi_neighbour) = rhs_c, with phi = 0 in air."""

    def __init__(self, cells: int) -> None:
        self.levels = [make_level(cells)]
        while self.levels[-1].cells > COARSEST and self.levels[-1].cells % 2 == 0:
            self.levels.append(make_level(self.levels[-1].cells // 2))
        self.fine = self.levels[0]
        self.phi, self.p, self.Ap = (wp.zeros(self.fine.s**3, dtype=float) for _ in range(3))
        self.length = wp.zeros(2, dtype=int)
        self.largest = wp.zeros(1, dtype=float)
        self.total = wp.zeros(1, dtype=wp.float64)

    def build(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Prepare all levels for the kinds of cells now on the finest; lower, upper (3,): box that holds the liquid."""
        for number, level in enumerate(self.levels):
            first = lower >> number
            edges, origin = tuple((upper >> number) - first + 1), wp.vec3i(*map(int, first))
            if number > 0:
                finer = self.levels[number - 1]
                wp.launch(coarsen, edges, [finer.kind, level.kind, origin, finer.s, level.s])
            else:
                wp.launch(forget, edges, [level.kind, origin, level.s, self.phi, self.p])
            self.length.zero_()
            wp.launch(
                collect, edges, [level.kind, origin, level.s, *level.storage, self.length, level.d, level.z]
            )
            level.colours = [cells[:n] for cells, n in zip(level.storage, self.length.numpy(), strict=True)]

    def solve(self, tolerance: float, max_iterations: int = 500) -> tuple[int, float]:
        """Solve until max |residual| <= tolerance; `fine.r` holds the right side on entry. Iterations and residual."""
        fine = self.fine
        residual = self.reduce(self.largest, subtract_guess, fine.r, fine.d, self.phi, fine.s)
        if residual <= tolerance:
            return 0, residual
        rz = 0.0
        for iteration in range(1, max_iterations + 1):
            self.precondition()
            rz, old = self.reduce(self.total, dot, fine.r, fine.z), rz
            each(fine, next_direction, fine.z, self.p, rz / old if iteration > 1 else 0.0)
            alpha = rz / self.reduce(self.total, apply, fine.d, self.p, self.Ap, fine.s)
            residual = self.reduce(self.largest, advance, self.p, self.Ap, self.phi, fine.r, alpha)
            if residual <= tolerance:
                break
        return iteration, residual

    def reduce(self, result: wp.array, kernel: wp.Kernel, *arguments: Any) -> float:
        """Launch a kernel that collects into one number, and that number."""
        result.zero_()
        each(self.fine, kernel, *arguments, result)
        return float(result.numpy()[0])

    def precondition(self) -> None:
        """fine.z = one V-cycle on fine.r."""
        for level, coarse in zip(self.levels, self.levels[1:], strict=False):
            wp.launch(relax_from_zero, len(level.colours[0]), [level.colours[0], level.r, level.d, level.z])
            sweep(level, [1] + [0, 1] * (SWEEPS - 1))
            each(coarse, restrict, level.kind, level.r, level.d, level.z, coarse.r, level.s, coarse.s)
        self.levels[-1].z.zero_()
        sweep(self.levels[-1], [0, 1, 1, 0] * LAST_SWEEPS)
        for level, coarse in reversed(list(zip(self.levels, self.levels[1:], strict=False))):
            each(coarse, prolong, level.kind, level.z, coarse.z, level.s, coarse.s)
            sweep(level, [1, 0] * SWEEPS)


def each(level: Level, kernel: wp.Kernel, *arguments: Any) -> None:
    """Launch a kernel over all liquid cells of a level."""
    for cells in level.colours:
        wp.launch(kernel, len(cells), [cells, *arguments])


def sweep(level: Level, colours: Sequence[int]) -> None:
    """Relax these colours in turn."""
    for colour in colours:
        cells = level.colours[colour]
        wp.launch(relax, len(cells), [cells, level.r, level.d, level.z, level.s])
