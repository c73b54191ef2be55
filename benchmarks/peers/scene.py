"""The scene every contender runs: a jittered elastic cube on a slip floor, in SI units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GRAVITY = (0.0, -9.81, 0.0)  # [m/s^2]
MARGIN = 4  # empty cells on every side of the cube
FLOOR = MARGIN - 0.5  # height of the floor in cells: half way between nodes, so rounding decides nothing
LAST_FLOOR_NODE = MARGIN - 1  # nodes with this y index or a lower one lie inside the floor
BLOCK = 4  # edge of the node blocks in which particles are ordered, in cells


@dataclass(frozen=True)
class Elastic:
    """Parameters of an isotropic elastic solid."""

    material: str  # "fixed-corotated" or "neo-hookean"
    E: float = 1e5  # Young's modulus [Pa]
    nu: float = 0.3  # Poisson's ratio
    density: float = 1000.0  # [kg/m^3]

    @property
    def wave_speed(self) -> float:
        """Speed of pressure waves in the undeformed solid [m/s]."""
        mu, lam = lame(self.E, self.nu)
        return float(np.sqrt((lam + 2 * mu) / self.density))


def lame(E: float, nu: float) -> tuple[float, float]:
    """Lame parameters (mu, lam) [Pa] from Young's modulus [Pa] and Poisson's ratio."""
    return E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))


def cells_per_edge(particles: int) -> int:
    """Edge of the cube, in cells, whose particle count 8 n^3 comes nearest to `particles`."""
    return max(1, round(float(np.cbrt(particles / 8))))


def cube(particles: int, dx: float, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Positions (N, 3) [m] and velocities (N, 3) [m/s] of a cube with 2 x 2 x 2 jittered particles per cell.

    N is the 8 n^3 nearest to `particles`. Particles come ordered by grid block and then by cell, so that a
    library without sorting of its own starts with good memory locality.
    """
    n = cells_per_edge(particles)
    generator = np.random.default_rng(seed)
    axis = np.arange(2 * n)
    lattice = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    jitter = generator.uniform(-0.3, 0.3, lattice.shape)
    x = (MARGIN + (lattice + 0.5 + jitter) / 2) * dx
    x = x[block_order(x, dx)]
    return x.astype(np.float32), smooth_velocity(x / (n * dx), generator).astype(np.float32)


def block_order(x: NDArray[np.float64], dx: float) -> NDArray[np.intp]:
    """Permutation (N,) that sorts positions x (N, 3) [m] by grid block, then by cell inside the block."""
    cell = np.floor(x / dx).astype(np.int64)
    block, inside = cell // BLOCK, cell % BLOCK
    return np.lexsort((*inside.T[::-1], *block.T[::-1]))


def smooth_velocity(
    s: NDArray[np.float64], generator: np.random.Generator, speed: float = 0.1
) -> NDArray[np.float64]:
    """Velocities (N, 3) [m/s] of a few random long waves; positions s (N, 3) are in cube edges."""
    v = np.zeros_like(s)
    for _ in range(4):
        wave, phase = generator.integers(-2, 3, 3), generator.uniform(0, 2 * np.pi)
        v += generator.uniform(-1, 1, 3) * np.sin(np.pi * (s @ wave) + phase)[:, None]
    v -= v.mean(axis=0)  # nothing holds the cube on a slip floor: without net momentum it stays on the grid
    return np.asarray(speed * v / np.abs(v).max())


def time_step(dx: float, elastic: Elastic) -> float:
    """Time step [s] all contenders use: 0.3 of the time a pressure wave needs to cross a cell."""
    return 0.3 * dx / elastic.wave_speed


def grid_shape(x: NDArray[np.float32], dx: float) -> tuple[int, int, int]:
    """Nodes per axis of a grid that starts at the origin and ends `MARGIN` cells past positions x (N, 3)."""
    nodes = np.ceil(x.max(axis=0) / dx).astype(int) + MARGIN
    return int(nodes[0]), int(nodes[1]), int(nodes[2])
