"""Small helpers on regular grids."""

from __future__ import annotations

import numpy as np


def blur(grid: np.ndarray, rounds: int) -> np.ndarray:
    """Blur with weights 1 2 1 along every axis, again and again; zero outside."""
    for _ in range(rounds):
        for axis in range(grid.ndim):
            moved = np.moveaxis(grid, axis, 0)
            result = 2 * moved
            result[1:] += moved[:-1]
            result[:-1] += moved[1:]
            grid = np.moveaxis(result / 4, 0, axis)
    return np.ascontiguousarray(grid)


def interpolate(grid: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Multilinear interpolation of grid (n1, ..., nd, k) at positions (N, d) in cells; zero outside."""
    count, d = position.shape
    last = np.array(grid.shape[:d]) - 1
    position = position.astype(np.float32)  # before the comparison, which rounding must not undo
    inside = np.flatnonzero(((position >= 0) & (position < last)).all(axis=1))
    position = position[inside]
    corner = position.astype(np.intp)
    part = position - corner.astype(np.float32)
    total = np.zeros((len(position), grid.shape[-1]), np.float32)
    for bits in np.ndindex(*(2,) * d):
        weight = np.where(bits, part, 1 - part).prod(axis=1)
        total += weight[:, None] * grid[tuple((corner + bits).T)]
    result = np.zeros((count, grid.shape[-1]), np.float32)
    result[inside] = total
    return result
