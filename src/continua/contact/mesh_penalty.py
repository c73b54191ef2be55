"""Colliders known at lattice points only push points of meshes out by an energy (J15 A.5.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.contact.mesh_contact import Array, ContactSurface, Mask


class LevelSetPenalty:
    """Phi = -k phi^3 where phi < 0, over positions x (N, d) [m]; a `Term` of the minimiser. In 2D z is 0.

    phi is interpolated with C1 cubics (Catmull-Rom), and the derivatives are those of the interpolant: others would not
    fit the energy, and the line search would get stuck. stiffness [N/m^2]: k. Only points of `free` (N,) are pushed.
    """

    def __init__(self, surface: ContactSurface, free: Mask, stiffness: float) -> None:
        assert surface.samples is not None
        self.surface, self.stiffness = surface, stiffness
        self._free = free
        self._values, self._origin, self._spacing = surface.samples
        self._rotation = surface.row[7:16].reshape(3, 3)
        self._position, self._sign = surface.row[4:7], float(surface.row[3])

    def value(self, x: Array) -> float:
        _, phi, _, _ = self._inside(x, 0)
        return float(-self.stiffness * np.sum(phi**3))

    def gradient(self, x: Array) -> Array:
        some, phi, slope, _ = self._inside(x, 1)
        g = np.zeros_like(x)
        g[some] = -3 * self.stiffness * (phi**2)[:, None] * slope
        return g

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        self._some, phi, slope, curve = self._inside(x, 2)
        outer = slope[:, :, None] * slope[:, None, :]
        self._blocks = -self.stiffness * (
            6 * phi[:, None, None] * outer + 3 * (phi**2)[:, None, None] * curve
        )
        if positive:  # around convex bodies the second part is negative
            stiffness, axes = np.linalg.eigh(self._blocks)
            self._blocks = axes * np.maximum(stiffness, 0.0)[:, None, :] @ axes.transpose(0, 2, 1)

    def product(self, dx: Array) -> Array:
        out = np.zeros_like(dx)
        out[self._some] = np.einsum("nij,nj->ni", self._blocks, dx[self._some])
        return out

    def diagonal(self) -> Array:
        out = np.zeros((len(self._free), self._blocks.shape[1]))
        out[self._some] = np.einsum("nii->ni", self._blocks)
        return out

    def reaction(self, x: Array) -> tuple[NDArray[np.intp], Array]:
        """Points (n,) inside and the forces (n, d) [N] on them."""
        g = self.gradient(x)
        some = np.flatnonzero(g.any(axis=1))
        return some, -g[some]

    def _inside(self, x: Array, order: int) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """Points with phi < 0, their phi (n,), and if asked for its gradient (n, d) and Hessian (n, d, d)."""
        near, _ = self.surface.at(x)  # linear interpolation differs by less than a cell
        some = np.flatnonzero(self._free & (near < self._spacing))
        d, points = x.shape[1], np.zeros((len(some), 3))
        points[:, :d] = x[some]
        local = (points - self._position) @ self._rotation
        phi, slope, curve = self._interpolated(local, order)
        inside = self._sign * phi < 0
        R, s = self._rotation, self._sign
        turned = (s * slope[inside] @ R.T)[:, :d]
        curved = (s * R @ curve[inside] @ R.T)[:, :d, :d]
        return some[inside], s * phi[inside], turned, curved

    def _interpolated(self, local: Array, order: int) -> tuple[Array, Array, Array]:
        """Value and derivatives at points (n, 3); beyond the lattice the distance to it is added."""
        count = np.array(self._values.shape)
        place = (local - self._origin) / self._spacing
        within = np.clip(place, 0.0, count - 1.0)
        beyond = (place - within) * self._spacing
        cell = np.minimum(within.astype(np.intp), count - 2)
        weights = _catmull_rom(within - cell)  # (3 derivatives, 4 samples, n, 3 axes)
        weights[1] /= self._spacing
        weights[2] /= self._spacing**2
        weights[1:] *= beyond == 0
        index = np.clip(cell[:, :, None] + np.arange(-1, 3), 0, (count - 1)[:, None])  # (n, 3, 4)
        block = self._values[
            index[:, 0, :, None, None], index[:, 1, None, :, None], index[:, 2, None, None, :]
        ]

        def derivative(a: int, b: int, c: int) -> Array:
            total = block
            for axis, k in enumerate((a, b, c)):
                total = np.einsum("ni...,in->n...", total, weights[k, :, :, axis])
            return total

        distance = np.linalg.norm(beyond, axis=1)
        phi = derivative(0, 0, 0) + distance
        slope, curve = np.zeros((len(local), 3)), np.zeros((len(local), 3, 3))
        unit = np.eye(3, dtype=int)
        if order >= 1:
            away = np.divide(
                beyond, distance[:, None], out=np.zeros_like(beyond), where=distance[:, None] > 0
            )
            slope = np.stack([derivative(*unit[a]) for a in range(3)], axis=1) + away
        if order >= 2:
            for a in range(3):
                for b in range(a, 3):
                    curve[:, a, b] = curve[:, b, a] = derivative(*(unit[a] + unit[b]))
            round_corners = (beyond != 0)[:, :, None] * np.eye(3) - away[:, :, None] * away[:, None, :]
            curve += round_corners / np.where(distance > 0, distance, np.inf)[:, None, None]
        return phi, slope, curve


def _catmull_rom(t: Array) -> Array:
    """Weights (3, 4, ...) of the samples at -1, 0, 1, 2 for t in [0, 1], and their first and second derivatives."""
    one, zero = np.ones_like(t), np.zeros_like(t)
    powers = [[one, t, t * t, t**3], [zero, one, 2 * t, 3 * t * t], [zero, zero, 2 * one, 6 * t]]
    rows = 0.5 * np.array([[0, -1, 2, -1], [2, 0, -5, 3], [0, 1, 4, -3], [0, 0, -1, 1]], dtype=np.float64)
    return np.einsum("sp,dp...->ds...", rows, np.array(powers))
