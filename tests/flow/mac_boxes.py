"""Boxes of cells with face arrays, written on plain arrays and cut into blocks, and the operators of the projection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from poisson_boxes import Box, closed_faces

from continua import _core

SIZE = {2: 12, 3: 8}  # cells along the boxes


class Mac(Box):
    """A box of cells with face arrays: unknowns are liquid, couplings open fractions; plain arrays are (d, n, ...)."""

    def __init__(self, liquid: NDArray, opening: NDArray, **options) -> None:
        super().__init__(liquid, opening, **options)
        self.liquid = self.cut(self.unknown).astype(np.uint8)
        self.open = self.quads(self.coupling)
        self.neighbours = _core.neighbour_blocks(self.keys, self.lattice, self.dimension)

    def quads(self, plain: NDArray) -> NDArray:
        out = np.zeros((*self.index[0].shape, 4))
        for a, values in enumerate(plain):
            out[..., a] = self.cut(values)
        return out

    def plain(self, values: NDArray) -> NDArray:
        """Cells (blocks, 4^d) or faces (blocks, 4^d, 4) as (n, ...) or (d, n, ...)."""
        out = np.zeros((*self.unknown.shape, *values.shape[2:]))
        out[self.index] = values
        return out if values.ndim == 2 else np.moveaxis(out, -1, 0)[: self.dimension]

    def outflow(self, velocity: NDArray, wall: NDArray | None = None) -> NDArray:
        """Of quads (blocks, 4^d, 4), for all cells (blocks, 4^d)."""
        out = np.full(self.liquid.shape, np.nan)
        wall = np.zeros_like(velocity) if wall is None else wall
        most = _core.cell_outflow(
            velocity, self.open, wall, self.liquid, self.neighbours, self.dimension, out
        )
        assert most == np.abs(out).max()
        return out

    def subtract(
        self, phi: NDArray, velocity: NDArray, *, overwrite: bool = False
    ) -> tuple[NDArray, NDArray]:
        """Velocity minus the differences of phi, and the bits of the faces it may change."""
        out, valid = velocity.copy(), np.zeros(self.liquid.shape, np.uint8)
        distance = None if self.distance is None else self.cut(self.distance)
        _core.subtract_differences(
            phi, self.liquid, distance, self.open, self.neighbours, self.dimension, overwrite, out, valid
        )
        return out, valid

    def project(self, velocity: NDArray, wall: NDArray | None = None, tolerance: float = 1e-12) -> NDArray:
        """The potential that frees the flow of divergence (blocks, 4^d)."""
        phi = np.zeros(self.liquid.shape)
        self.system().solve(-self.outflow(velocity, wall), phi, tolerance=tolerance)
        return phi

    def extrapolate(self, velocity: NDArray, valid: NDArray, layers: int) -> tuple[NDArray, NDArray]:
        out, known = velocity.copy(), valid.copy()
        _core.extrapolate_faces(out, known, self.neighbours, self.dimension, layers)
        return out, known

    def energy(self, velocity: NDArray) -> float:
        """Of the open faces of liquid cells: each weighs what is open of it times what of it lies in the liquid."""
        _, valid = self.subtract(np.zeros(self.liquid.shape), velocity)
        near = (valid[..., None] >> np.arange(4) & 1).astype(bool)
        return float(0.5 * (self.open * self.quads(self.cuts()) * velocity**2)[near].sum())


def random_distance(liquid: NDArray, seed: int = 7) -> NDArray:
    """From a surface that lies anywhere between liquid and air cells (n, ...) [cells]."""
    return np.random.default_rng(seed).uniform(0.02, 1, liquid.shape) * np.where(liquid, -1, 1)


def random_box(d: int, periodic: bool = False, seed: int = 0, *, surface: bool = True) -> Mac:
    """Liquid and air at random; a third of the faces closed, a third of them partly open. Without `surface`: phi = 0 in
    the middle of air cells."""
    rng, shape = np.random.default_rng(seed), (SIZE[d],) * d
    opening = np.clip(rng.uniform(-1, 2, (d, *shape)), 0, 1)
    liquid = rng.random(shape) < 0.7
    distance = random_distance(liquid) if surface else None
    return Mac(liquid, opening, periodic=periodic, shift=0 if periodic else -1, distance=distance)


def pool(d: int) -> Mac:
    """A closed box, two thirds full, with a solid ball in it that cuts faces, and a surface that is not level."""
    shape = (SIZE[d],) * d
    opening = closed_faces(shape)
    for a in range(d):
        centre = np.indices(shape) + 0.5 - 0.5 * (np.arange(d) == a).reshape(-1, *[1] * d)
        opening[a] *= np.clip(np.linalg.norm(centre - 0.4 * SIZE[d], axis=0) - 1.7, 0, 1)
    liquid = np.indices(shape)[-1] < 2 * SIZE[d] // 3
    return Mac(liquid, opening, distance=random_distance(liquid))


def random_velocity(box: Mac, seed: int = 1) -> NDArray:
    return box.quads(np.random.default_rng(seed).normal(size=box.coupling.shape))


def random_potential(box: Mac, seed: int = 2) -> NDArray:
    """In liquid cells only."""
    return np.random.default_rng(seed).normal(size=box.liquid.shape) * box.liquid
