"""The benchmark step in Taichi on its CPU backend (LLVM, all threads, fast math): plain user code.

Dense grid, one parallel loop over particles per transfer, `+=` on the grid compiled to atomics.
Mass and momentum share one 4-vector per node, which is faster on a CPU than two fields.
"""

from __future__ import annotations

import numpy as np
import taichi as ti
from numpy.typing import NDArray

from .scene import GRAVITY, LAST_FLOOR_NODE, grid_shape, lame


@ti.data_oriented
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
        ti.init(
            ti.cpu, default_fp=ti.f32, cpu_max_num_threads=threads, offline_cache=True, log_level=ti.ERROR
        )
        self.dx, self.inv_dx, self.dt = dx, 1 / dx, dt
        self.mu, self.lam = lame(E, nu)
        self.corotated = material == "fixed-corotated"
        self.volume = dx**3 / 8
        self.mass = density * self.volume
        self.position = ti.Vector.field(3, ti.f32, len(x))
        self.velocity = ti.Vector.field(3, ti.f32, len(x))
        self.C = ti.Matrix.field(3, 3, ti.f32, len(x))
        self.F = ti.Matrix.field(3, 3, ti.f32, len(x))
        self.grid = ti.Vector.field(4, ti.f32, grid_shape(x, dx))  # momentum or velocity, and mass
        self.position.from_numpy(x)
        self.velocity.from_numpy(v)
        self.rest()

    def x(self) -> NDArray[np.float32]:
        """Positions (N, 3) [m]."""
        return self.position.to_numpy()

    def v(self) -> NDArray[np.float32]:
        """Velocities (N, 3) [m/s]."""
        return self.velocity.to_numpy()

    def step(self, n: int = 1) -> None:
        """Advance by n time steps and wait for them."""
        for _ in range(n):
            self.grid.fill(0)
            self.particles_to_grid()
            self.update_grid()
            self.grid_to_particles()
        ti.sync()

    @ti.kernel
    def rest(self):
        for p in self.F:
            self.F[p] = ti.Matrix.identity(ti.f32, 3)

    @ti.func
    def kirchhoff(self, F):
        J = F.determinant()
        tau = ti.Matrix.zero(ti.f32, 3, 3)
        if ti.static(self.corotated):
            U, _, V = ti.svd(F)
            tau = 2 * self.mu * (F - U @ V.transpose()) @ F.transpose()
            tau += ti.Matrix.identity(ti.f32, 3) * (self.lam * (J - 1) * J)
        else:
            tau = self.mu * F @ F.transpose()
            tau += ti.Matrix.identity(ti.f32, 3) * (self.lam * ti.log(J) - self.mu)
        return tau

    @ti.kernel
    def particles_to_grid(self):
        for p in self.position:
            scaled = self.position[p] * self.inv_dx
            base = int(scaled - 0.5)
            fx = scaled - base
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            tau = self.kirchhoff(self.F[p])
            affine = self.mass * self.C[p] - (self.dt * self.volume * 4 * self.inv_dx**2) * tau
            momentum = self.mass * self.velocity[p]
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                weight = w[i][0] * w[j][1] * w[k][2]
                moved = momentum + affine @ ((offset - fx) * self.dx)
                self.grid[base + offset] += weight * ti.Vector([moved[0], moved[1], moved[2], self.mass])

    @ti.kernel
    def update_grid(self):
        for node in ti.grouped(self.grid):
            cell = self.grid[node]
            if cell[3] > 0:
                v = cell[:3] / cell[3] + self.dt * ti.Vector(GRAVITY)
                if node[1] <= LAST_FLOOR_NODE:
                    v[1] = 0
                self.grid[node] = ti.Vector([v[0], v[1], v[2], cell[3]])

    @ti.kernel
    def grid_to_particles(self):
        for p in self.position:
            scaled = self.position[p] * self.inv_dx
            base = int(scaled - 0.5)
            fx = scaled - base
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            v = ti.Vector.zero(ti.f32, 3)
            B = ti.Matrix.zero(ti.f32, 3, 3)
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                weight = w[i][0] * w[j][1] * w[k][2]
                node_v = weight * self.grid[base + offset][:3]
                v += node_v
                B += node_v.outer_product(offset - fx)
            C = 4 * self.inv_dx * B
            self.velocity[p] = v
            self.C[p] = C
            self.F[p] += self.dt * C @ self.F[p]
            self.position[p] += self.dt * v
