"""The flow benchmark's step in plain NumPy, float64: the reference for agreement, not for speed."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .flow_peer import FlowPeer
from .flow_scene import TOLERANCE
from .scene import GRAVITY

Array = NDArray[np.float64]


class Peer(FlowPeer):
    """The step with a dense grid: lower faces (3, s, s, s), one layer of solid cells around the tank, s = cells + 2."""

    def __init__(
        self, x: NDArray[Any], v: NDArray[Any], cells: int, dx: float, dt: float, threads: int = 1
    ) -> None:
        super().__init__()
        self.position, self.velocity = x.astype(np.float64), v.astype(np.float64)
        self.C = np.zeros((len(x), 3, 3))
        self.cells, self.dx, self.dt = cells, dx, dt
        self.solid = np.ones((cells + 2,) * 3, bool)
        self.solid[1:-1, 1:-1, 1:-1] = False

    def x(self) -> Array:
        """Positions (N, 3) [m]."""
        return self.position

    def v(self) -> Array:
        """Velocities (N, 3) [m/s]."""
        return self.velocity

    def faces(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Velocities and weights of lower faces (3, s, s, s), and which cells (s, s, s) are liquid."""
        return self.u, self.weight, self.liquid

    def stencil(self, axis: int) -> list[tuple[tuple[Any, ...], Array, Array, Array]]:
        """For each of the eight faces around the particles: index, weight (N,), its gradient and offset (N, 3)."""
        corner = self.position / self.dx + 1 - 0.5 * (np.arange(3) != axis)
        base = np.floor(corner).astype(int)
        f = corner - base
        found = []
        for offset in product((0, 1), repeat=3):
            o = np.array(offset)
            w = np.where(o, f, 1 - f)
            sign = np.where(o, 1.0, -1.0) / self.dx
            gradient = np.stack([sign[b] * w[:, (b + 1) % 3] * w[:, (b + 2) % 3] for b in range(3)], axis=1)
            found.append((tuple((base + o).T), w.prod(axis=1), gradient, (o - f) * self.dx))
        return found

    def to_grid(self) -> None:
        """Velocities on faces from the particles, with gravity and walls."""
        self.liquid = np.zeros_like(self.solid)
        self.liquid[tuple((self.position / self.dx).astype(int).T + 1)] = True
        self.u, self.weight = np.zeros((2, 3, *self.solid.shape))
        for a in range(3):
            for face, w, _, r in self.stencil(a):
                np.add.at(self.u[a], face, w * (self.velocity[:, a] + (self.C[:, a] * r).sum(axis=1)))
                np.add.at(self.weight[a], face, w)
        near = self.weight > 0
        self.u[near] /= self.weight[near]
        for a in range(3):
            self.u[a][near[a]] += self.dt * GRAVITY[a]
        owned = np.stack([self.liquid | np.roll(self.liquid, 1, a) for a in range(3)])
        wall = np.stack([self.solid | np.roll(self.solid, 1, a) for a in range(3)])
        self.u[owned & wall] = 0
        self.tolerance = TOLERANCE * float(np.abs(self.u).max())
        self.layer = np.where(near, np.where(owned, 1, 9), 0)
        self.open = owned & ~wall

    def project(self) -> None:
        """Make the velocities of the liquid cells free of divergence, by conjugate gradients to 1e-12."""
        rhs = -sum(np.roll(self.u[a], -1, a) - self.u[a] for a in range(3)) * self.liquid
        phi, r = np.zeros_like(rhs), rhs.copy()
        p, rr = r.copy(), (r * r).sum()
        while np.abs(r).max() > 1e-12:
            Ap = self.laplacian(p)
            alpha = rr / (p * Ap).sum()
            phi += alpha * p
            r -= alpha * Ap
            rr, old = (r * r).sum(), rr
            p = r + rr / old * p
        for a in range(3):
            self.u[a] -= self.open[a] * (phi - np.roll(phi, 1, a))

    def laplacian(self, phi: Array) -> Array:
        """Sum over the open faces of liquid cells of phi_c - phi_neighbour; phi is zero elsewhere."""
        out = np.zeros_like(phi)
        for a in range(3):
            flux = self.open[a] * (phi - np.roll(phi, 1, a))
            out += flux - np.roll(flux, -1, a)
        return out * self.liquid

    def to_particles(self) -> None:
        """New velocities and positions of the particles."""
        for known in (1, 2):
            self.extrapolate(known)
        for a in range(3):
            around = [(self.u[a][face], w, gradient) for face, w, gradient, _ in self.stencil(a)]
            self.velocity[:, a] = sum(w * u for u, w, _ in around)
            self.C[:, a] = sum(gradient * u[:, None] for u, _, gradient in around)
        edge = 1e-4 * self.dx
        self.position = np.clip(self.position + self.dt * self.velocity, edge, self.cells * self.dx - edge)

    def extrapolate(self, known: int) -> None:
        """Faces that particles read but no liquid cell owns take the mean of their neighbours of known layers."""
        valid = (self.layer > 0) & (self.layer <= known)
        shifts = [(side, b) for b in (1, 2, 3) for side in (-1, 1)]
        padded = [np.pad(f, ((0, 0), (1, 1), (1, 1), (1, 1))) for f in (valid * 1.0, valid * self.u)]
        count, total = (sum(np.roll(f, *s) for s in shifts)[:, 1:-1, 1:-1, 1:-1] for f in padded)
        fill = (self.layer == 9) & (count > 0)
        self.u[fill] = total[fill] / count[fill]
        self.layer[fill] = known + 1
