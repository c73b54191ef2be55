"""The benchmark step in Numba, as a careful user would write it: blocks of particles, no atomics, one loop per formula.

Particles are ordered by blocks of 4 x 4 x 4 cells. The particles of a block meet only the 8 x 8 x 8 nodes of its tile,
one cell more on every side than the block needs, so that the order is renewed only when somebody may have moved by a
cell. Blocks run in eight colours by the parity of their place: tiles of one colour share no node and are added to the
grid without atomics, in the same order with any number of threads. `numba_tuned_mpm.py` is the same, written for the
vectoriser.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .numba_blocks import EDGE, SLACK, corner, empty_grid, order_by_blocks
from .scene import BLOCK, GRAVITY, LAST_FLOOR_NODE, lame

f4 = np.float32
fast = njit(fastmath=True, error_model="numpy", forceinline=True)


@fast
def cofactors(a, b, c, d, e, f, g, h, i):
    """Cofactor matrix of the matrix with these rows, and its determinant."""
    p, q, r = e * i - f * h, f * g - d * i, d * h - e * g
    s, t, u = c * h - b * i, a * i - c * g, b * g - a * h
    x, y, z = b * f - c * e, c * d - a * f, a * e - b * d
    return p, q, r, s, t, u, x, y, z, a * p + b * q + c * r


@fast
def rotation(a, b, c, d, e, f, g, h, i):
    """Rotation of the polar decomposition, by Newton's iteration A <- (A + A^-T) / 2."""
    for _ in range(12):
        p, q, r, s, t, u, x, y, z, J = cofactors(a, b, c, d, e, f, g, h, i)
        k, n = f4(0.5), f4(0.5) / J
        p, q, r = k * a + n * p, k * b + n * q, k * c + n * r
        s, t, u = k * d + n * s, k * e + n * t, k * f + n * u
        x, y, z = k * g + n * x, k * h + n * y, k * i + n * z
        change = (p - a) ** 2 + (q - b) ** 2 + (r - c) ** 2 + (s - d) ** 2 + (t - e) ** 2
        change += (u - f) ** 2 + (x - g) ** 2 + (y - h) ** 2 + (z - i) ** 2
        a, b, c, d, e, f, g, h, i = p, q, r, s, t, u, x, y, z
        if change < f4(1e-7):  # the iteration converges quadratically: what is left is below rounding
            break
    return a, b, c, d, e, f, g, h, i


@fast
def fixed_corotated(F, mu, lam):
    """Kirchhoff stress 2 mu (F - R) F^T + lam (J - 1) J I: xx, xy, xz, yy, yz, zz."""
    a, b, c, d, e, f, g, h, i = F[0], F[1], F[2], F[3], F[4], F[5], F[6], F[7], F[8]
    J = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
    p, q, r, s, t, u, x, y, z = rotation(a, b, c, d, e, f, g, h, i)
    two, pressure = f4(2) * mu, lam * (J - f4(1)) * J
    p, q, r, s, t, u, x, y, z = a - p, b - q, c - r, d - s, e - t, f - u, g - x, h - y, i - z
    xx = two * (p * a + q * b + r * c) + pressure
    xy = two * (p * d + q * e + r * f)
    xz = two * (p * g + q * h + r * i)
    yy = two * (s * d + t * e + u * f) + pressure
    yz = two * (s * g + t * h + u * i)
    zz = two * (x * g + y * h + z * i) + pressure
    return xx, xy, xz, yy, yz, zz


@fast
def neo_hookean(F, mu, lam):
    """Kirchhoff stress mu (F F^T - I) + lam ln(J) I: xx, xy, xz, yy, yz, zz."""
    a, b, c, d, e, f, g, h, i = F[0], F[1], F[2], F[3], F[4], F[5], F[6], F[7], F[8]
    J = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
    pressure = lam * math.log(J) - mu
    xx, yy, zz = a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i
    xy, xz, yz = a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i
    return mu * xx + pressure, mu * xy, mu * xz, mu * yy + pressure, mu * yz, mu * zz + pressure


@fast
def place(x, inv_dx, first):
    """First node of the stencil along an axis, seen from the tile; distance from it in cells; quadratic weights."""
    q = x * inv_dx - first
    node = int(q - f4(0.5))
    f = q - f4(node)
    return node, f, f4(0.5) * (f4(1.5) - f) ** 2, f4(0.75) - (f - f4(1)) ** 2, f4(0.5) * (f - f4(0.5)) ** 2


def particles_to_grid(kirchhoff):
    """Kernel that scatters mass, momentum and the stress impulse of one material."""

    @fast
    def scatter(x, v, C, F, tile, corner, dx, inv_dx, mass, mu, lam, stress_scale):
        ix, fx, x0, x1, x2 = place(x[0], inv_dx, corner[0])
        iy, fy, y0, y1, y2 = place(x[1], inv_dx, corner[1])
        iz, fz, z0, z1, z2 = place(x[2], inv_dx, corner[2])
        xx, xy, xz, yy, yz, zz = kirchhoff(F, mu, lam)
        m, s = mass * dx, stress_scale * dx
        a, b, c = m * C[0] - s * xx, m * C[1] - s * xy, m * C[2] - s * xz
        d, e, f = m * C[3] - s * xy, m * C[4] - s * yy, m * C[5] - s * yz
        g, h, i = m * C[6] - s * xz, m * C[7] - s * yz, m * C[8] - s * zz
        px = mass * v[0] - a * fx - b * fy - c * fz  # at the first node; linear in the place from there
        py = mass * v[1] - d * fx - e * fy - f * fz
        pz = mass * v[2] - g * fx - h * fy - i * fz
        for k, wx in enumerate((x0, x1, x2)):
            for j, wy in enumerate((y0, y1, y2)):
                row = tile[ix + k, iy + j]
                for n, wz in enumerate((z0, z1, z2)):
                    w, node = wx * wy * wz, row[iz + n]
                    node[0] += w * (px + f4(k) * a + f4(j) * b + f4(n) * c)
                    node[1] += w * (py + f4(k) * d + f4(j) * e + f4(n) * f)
                    node[2] += w * (pz + f4(k) * g + f4(j) * h + f4(n) * i)
                    node[3] += w * mass

    @njit(parallel=True, fastmath=True, error_model="numpy")
    def scatter_all(x, v, C, F, grid, blocks, first, colours, dx, mass, mu, lam, stress_scale):
        inv_dx = f4(1) / dx
        for colour in range(len(colours) - 1):
            for b in prange(colours[colour], colours[colour + 1]):
                tile = np.zeros((EDGE, EDGE, EDGE, 4), f4)
                start = corner(blocks[b])
                for p in range(first[b], first[b + 1]):
                    scatter(x[p], v[p], C[p], F[p], tile, start, dx, inv_dx, mass, mu, lam, stress_scale)
                i, j, k = BLOCK * (blocks[b] + 1) - SLACK  # the grid starts one block before node 0
                grid[i : i + EDGE, j : j + EDGE, k : k + EDGE] += tile

    return scatter_all


@njit(parallel=True, fastmath=True, error_model="numpy")
def update_grid(grid, pull, floor):
    """Velocities from momenta, gravity, and the slip floor up to this row of nodes."""
    for i in prange(grid.shape[0]):
        for j in range(grid.shape[1]):
            for k in range(grid.shape[2]):
                node = grid[i, j, k]
                if node[3] > 0:
                    node[0] /= node[3]
                    node[1] = node[1] / node[3] + pull if j > floor else f4(0)
                    node[2] /= node[3]


@njit(parallel=True, fastmath=True, error_model="numpy")
def grid_to_particles(x, v, C, F, grid, blocks, first, dx, dt):
    """Gather and advance every particle; the largest component of a velocity."""
    inv_dx, speeds = f4(1) / dx, np.zeros(len(blocks), f4)
    for b in prange(len(blocks)):
        i, j, k = BLOCK * (blocks[b] + 1) - SLACK
        tile = grid[i : i + EDGE, j : j + EDGE, k : k + EDGE].copy()
        start = corner(blocks[b])
        for p in range(first[b], first[b + 1]):
            gather(x[p], v[p], C[p], F[p], tile, start, inv_dx, dt)
            speeds[b] = max(speeds[b], abs(v[p, 0]), abs(v[p, 1]), abs(v[p, 2]))
    return speeds.max()


@fast
def gather(x, v, C, F, tile, corner, inv_dx, dt):
    """v = sum w v_i, C = (4 / dx) sum w v_i (i - i_p), F + dt C F, x + dt v of one particle."""
    ix, fx, x0, x1, x2 = place(x[0], inv_dx, corner[0])
    iy, fy, y0, y1, y2 = place(x[1], inv_dx, corner[1])
    iz, fz, z0, z1, z2 = place(x[2], inv_dx, corner[2])
    for c in range(3):
        u = ux = uy = uz = f4(0)
        for k, wx in enumerate((x0, x1, x2)):
            for j, wy in enumerate((y0, y1, y2)):
                row = tile[ix + k, iy + j]
                a, b, d = z0 * row[iz, c], z1 * row[iz + 1, c], z2 * row[iz + 2, c]
                w, s = wx * wy, a + b + d
                u += w * s
                ux += f4(k) * w * s
                uy += f4(j) * w * s
                uz += w * (b + d + d)
        v[c] = u
        C[3 * c] = f4(4) * inv_dx * (ux - fx * u)
        C[3 * c + 1] = f4(4) * inv_dx * (uy - fy * u)
        C[3 * c + 2] = f4(4) * inv_dx * (uz - fz * u)
        x[c] += dt * u
    for j in range(3):
        a, b, c = F[j], F[3 + j], F[6 + j]
        for i in range(3):
            F[3 * i + j] += dt * (C[3 * i] * a + C[3 * i + 1] * b + C[3 * i + 2] * c)


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
        numba.set_num_threads(threads)
        mu, lam = lame(E, nu)
        self.dx, self.dt, mass = dx, dt, density * dx**3 / 8
        self.constants = [f4(c) for c in (dx, mass, mu, lam, dt * dx**3 / 8 * 4 / dx**2)]
        self.scatter = particles_to_grid(
            {"fixed-corotated": fixed_corotated, "neo-hookean": neo_hookean}[material]
        )
        F = np.tile(np.eye(3, dtype=f4).ravel(), (len(x), 1))
        self.state = [x.copy(), v.copy(), np.zeros((len(x), 9), f4), F]
        self.number = np.arange(len(x))  # that the particle in this place was given with
        self.grid = empty_grid(x, dx)
        self.order()

    def order(self) -> None:
        """Order the particles by blocks."""
        order, self.blocks = order_by_blocks(self.state[0].T, self.dx)
        self.state, self.number = [a[order] for a in self.state], self.number[order]
        self.travelled = 0.0

    def x(self) -> NDArray[np.float32]:
        """Positions (N, 3) [m] in the order the particles were given."""
        return np.asarray(self.state[0][np.argsort(self.number)])

    def v(self) -> NDArray[np.float32]:
        """Velocities (N, 3) [m/s] in the order the particles were given."""
        return np.asarray(self.state[1][np.argsort(self.number)])

    def step(self, n: int = 1) -> None:
        """Advance by n time steps."""
        for _ in range(n):
            where = self.blocks
            self.grid[:] = 0
            self.scatter(*self.state, self.grid, *where, *self.constants)
            update_grid(self.grid, f4(self.dt * GRAVITY[1]), BLOCK + LAST_FLOOR_NODE)
            fastest = grid_to_particles(*self.state, self.grid, *where[:2], f4(self.dx), f4(self.dt))
            self.travelled += float(fastest) * self.dt / self.dx
            if self.travelled + 2 * float(fastest) * self.dt / self.dx > SLACK:
                self.order()
