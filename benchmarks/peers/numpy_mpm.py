"""Reference of the benchmark step in plain NumPy, float64: one line per formula, slow.

Explicit MLS-MPM with quadratic B-splines and APIC, in the order all peers follow:

    tau(F) -> P2G of mass and of m v + A (x_i - x_p) -> gravity and slip floor -> G2P of v and C
           -> F <- (I + dt C) F -> x <- x + dt v,        A = m C - dt V (4 / dx^2) tau
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .scene import GRAVITY, LAST_FLOOR_NODE, grid_shape, lame

Array = NDArray[np.float64]


class Peer:
    """Elastic particles on a slip floor; see `peers.scene` for the scene and the units."""

    def __init__(
        self,
        x: NDArray[np.float32],
        v: NDArray[np.float32],
        dx: float,
        material: str,
        E: float,
        nu: float,
        density: float,
        dt: float,
        threads: int = 1,
    ) -> None:
        self.dx, self.dt = dx, dt
        self.mu, self.lam = lame(E, nu)
        self.kirchhoff = {"fixed-corotated": fixed_corotated, "neo-hookean": neo_hookean}[material]
        self.volume = dx**3 / 8
        self.mass = density * self.volume
        self.shape = grid_shape(x, dx)
        self._x, self._v = x.astype(np.float64), v.astype(np.float64)
        self.C = np.zeros((len(x), 3, 3))
        self.F = np.tile(np.eye(3), (len(x), 1, 1))

    def x(self) -> Array:
        """Positions (N, 3) [m]."""
        return self._x

    def v(self) -> Array:
        """Velocities (N, 3) [m/s]."""
        return self._v

    def step(self, n: int = 1) -> None:
        """Advance by n time steps."""
        for _ in range(n):
            base, w = weights(self._x, self.dx)
            grid_v = self.grid_velocity(*self.scatter(base, w))
            self.gather(base, w, grid_v)
            self.F += self.dt * self.C @ self.F
            self._x = self._x + self.dt * self._v

    def scatter(self, base: NDArray[np.int64], w: Array) -> tuple[Array, Array]:
        """Node masses (I, J, K) [kg] and momenta (I, J, K, 3) [kg m/s], with the stress impulse included."""
        tau = self.kirchhoff(self.F, self.mu, self.lam)
        affine = self.mass * self.C - self.dt * self.volume * 4 / self.dx**2 * tau
        mass, momentum = np.zeros(self.shape), np.zeros((*self.shape, 3))
        for node, weight, offset in self.stencil(base, w):
            np.add.at(mass, node, weight * self.mass)
            moved = self.mass * self._v + np.einsum("pij,pj->pi", affine, offset)
            np.add.at(momentum, node, weight[:, None] * moved)
        return mass, momentum

    def grid_velocity(self, mass: Array, momentum: Array) -> Array:
        """Node velocities (I, J, K, 3) [m/s] after gravity and the slip floor."""
        active = mass > 0
        v = np.zeros_like(momentum)
        v[active] = momentum[active] / mass[active, None] + self.dt * np.array(GRAVITY)
        v[:, : LAST_FLOOR_NODE + 1, :, 1] = 0
        return v

    def gather(self, base: NDArray[np.int64], w: Array, grid_v: Array) -> None:
        """Take velocities and affine velocities C = (4 / dx^2) sum w v (x_i - x_p)^T back from the grid."""
        self._v, self.C = np.zeros_like(self._v), np.zeros_like(self.C)
        for node, weight, offset in self.stencil(base, w):
            v = weight[:, None] * grid_v[node]
            self._v += v
            self.C += 4 / self.dx**2 * v[:, :, None] * offset[:, None, :]

    def stencil(self, base: NDArray[np.int64], w: Array) -> Iterator[tuple[tuple[Any, ...], Array, Array]]:
        """For each of the 27 stencil nodes: index arrays, weights (N,) and offsets x_i - x_p (N, 3) [m]."""
        for i, j, k in itertools.product(range(3), repeat=3):
            node = base + (i, j, k)
            yield tuple(node.T), w[:, i, 0] * w[:, j, 1] * w[:, k, 2], node * self.dx - self._x


def weights(x: Array, dx: float) -> tuple[NDArray[np.int64], Array]:
    """Lowest stencil nodes (N, 3) and quadratic B-spline weights (N, node, axis)."""
    base = np.floor(x / dx - 0.5).astype(np.int64)
    f = x / dx - base
    return base, np.stack([0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2], axis=1)


def fixed_corotated(F: Array, mu: float, lam: float) -> Array:
    """Kirchhoff stress (N, 3, 3) [Pa]: 2 mu (F - R) F^T + lam (J - 1) J I."""
    u, _, vt = np.linalg.svd(F)
    J = np.linalg.det(F)[:, None, None]
    return np.asarray(2 * mu * (F - u @ vt) @ F.transpose(0, 2, 1) + lam * (J - 1) * J * np.eye(3))


def neo_hookean(F: Array, mu: float, lam: float) -> Array:
    """Kirchhoff stress (N, 3, 3) [Pa]: mu (F F^T - I) + lam ln(J) I."""
    J = np.linalg.det(F)[:, None, None]
    return np.asarray(mu * (F @ F.transpose(0, 2, 1) - np.eye(3)) + lam * np.log(J) * np.eye(3))
