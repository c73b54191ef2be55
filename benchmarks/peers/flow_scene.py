"""The scene of the flow benchmark: a dam of water in the corner of a cubic tank, in SI units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .scene import GRAVITY, block_order, cells_per_edge

GRAVITY_STEP = -GRAVITY[1]  # [m/s^2], along -y
DENSITY = 1000.0  # [kg/m^3]
TANK = 1.0  # edge of the tank [m]; its walls let liquid slip and lie on faces of the grid
COURANT = 0.7  # cells that liquid falling from the top of the dam would cross in a step
TOLERANCE = 1e-4  # largest |sum of face velocities out of a liquid cell| over the fastest one on a face


def dam(particles: int, cells: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Positions (N, 3) [m] and velocities (N, 3) [m/s] of a cube of resting water in the corner of the tank.

    Every cell holds 2 x 2 x 2 jittered particles; N is the 8 n^3 nearest to `particles`, n < `cells`, the cells along
    an edge of the tank. Particles come ordered by grid block, so that nobody has to sort them first.
    """
    n = cells_per_edge(particles)
    if n >= cells:
        raise ValueError(f"{particles} particles fill {n}^3 cells and do not fit into a tank of {cells}^3")
    axis = np.arange(2 * n)
    lattice = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    jitter = np.random.default_rng(seed).uniform(-0.3, 0.3, lattice.shape)
    dx = TANK / cells
    x = (lattice + 0.5 + jitter) / 2 * dx
    x = x[block_order(x, dx)]
    return x.astype(np.float32), np.zeros(x.shape, np.float32)


def time_step(particles: int, cells: int) -> float:
    """Time step [s] all contenders use."""
    dx = TANK / cells
    fastest = float(np.sqrt(2 * GRAVITY_STEP * cells_per_edge(particles) * dx))
    return COURANT * dx / fastest
