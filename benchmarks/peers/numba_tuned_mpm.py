"""The benchmark step in Numba, written for LLVM's vectoriser; `numba_mpm.py` is the same in plain loops.

Blocks, tiles and colours as there. LLVM vectorises what it can prove to be free of aliases. So the state is stored
component by component, and all that belongs to a chunk of particles lives in one flat array whose rows have a fixed
length: stress and update are loops over a row. The transfers are loops over 16 numbers, which are four nodes of a tile
along z (the last one with weight 0), with nine such rows written out.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .numba_blocks import EDGE, SLACK, corner, empty_grid, order_by_blocks
from .numba_mpm import cofactors
from .scene import BLOCK, GRAVITY, LAST_FLOOR_NODE, lame

f4 = np.float32
CHUNK = 16  # particles at a time, as many as numbers in the widest register
TILE = 4 * EDGE**3  # numbers of a tile: momentum or velocity, and mass, at every node
ROW, LAYER = 4 * EDGE, 4 * EDGE**2  # numbers between neighbours along y and along x
X, V, C, F, STATE = 0, 3, 6, 15, 24  # rows of the state: position, velocity, affine velocity, deformation

# The work of a chunk: rows of CHUNK numbers, then three records per particle of 4 nodes x 4 numbers, the last idle.
R, WEIGHT, OFFSET, NODE, OUT = 24 * CHUNK, 33 * CHUNK, 42 * CHUNK, 45 * CHUNK, 46 * CHUNK
RECORD = 58 * CHUNK
WORK = RECORD + 48 * CHUNK
fast = njit(fastmath=True, error_model="numpy", forceinline=True)


@fast
def polar(work, at):
    """Newton's iteration A <- (A + A^-T) / 2 from the matrices in rows `at` to their rotations; the largest change."""
    change = f4(0)
    for p in range(CHUNK):
        a, b, c = work[at + p], work[at + CHUNK + p], work[at + 2 * CHUNK + p]
        d, e, f = work[at + 3 * CHUNK + p], work[at + 4 * CHUNK + p], work[at + 5 * CHUNK + p]
        g, h, i = work[at + 6 * CHUNK + p], work[at + 7 * CHUNK + p], work[at + 8 * CHUNK + p]
        ca, cb, cc, cd, ce, cf, cg, ch, ci, J = cofactors(a, b, c, d, e, f, g, h, i)
        s = f4(0.5) / J
        ra, rb, rc = f4(0.5) * a + s * ca, f4(0.5) * b + s * cb, f4(0.5) * c + s * cc
        rd, re, rf = f4(0.5) * d + s * cd, f4(0.5) * e + s * ce, f4(0.5) * f + s * cf
        rg, rh, ri = f4(0.5) * g + s * cg, f4(0.5) * h + s * ch, f4(0.5) * i + s * ci
        work[R + p], work[R + CHUNK + p], work[R + 2 * CHUNK + p] = ra, rb, rc
        work[R + 3 * CHUNK + p], work[R + 4 * CHUNK + p], work[R + 5 * CHUNK + p] = rd, re, rf
        work[R + 6 * CHUNK + p], work[R + 7 * CHUNK + p], work[R + 8 * CHUNK + p] = rg, rh, ri
        moved = (ra - a) ** 2 + (rb - b) ** 2 + (rc - c) ** 2 + (rd - d) ** 2 + (re - e) ** 2
        moved += (rf - f) ** 2 + (rg - g) ** 2 + (rh - h) ** 2 + (ri - i) ** 2
        change = max(change, moved)
    return change


@fast
def fixed_corotated(work, mu, lam):
    """Rows R .. R + 5: tau = 2 mu (F - R) F^T + lam (J - 1) J I, by rows of its upper half."""
    change = polar(work, F * CHUNK)
    for _ in range(12):
        if change < f4(1e-7):  # the iteration converges quadratically: what is left is below rounding
            break
        change = polar(work, R)
    for p in range(CHUNK):
        a, b, c = work[F * CHUNK + p], work[(F + 1) * CHUNK + p], work[(F + 2) * CHUNK + p]
        d, e, f = work[(F + 3) * CHUNK + p], work[(F + 4) * CHUNK + p], work[(F + 5) * CHUNK + p]
        g, h, i = work[(F + 6) * CHUNK + p], work[(F + 7) * CHUNK + p], work[(F + 8) * CHUNK + p]
        ra, rb, rc = a - work[R + p], b - work[R + CHUNK + p], c - work[R + 2 * CHUNK + p]
        rd, re, rf = d - work[R + 3 * CHUNK + p], e - work[R + 4 * CHUNK + p], f - work[R + 5 * CHUNK + p]
        rg, rh, ri = g - work[R + 6 * CHUNK + p], h - work[R + 7 * CHUNK + p], i - work[R + 8 * CHUNK + p]
        J = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
        pressure, two = lam * (J - f4(1)) * J, f4(2) * mu
        work[R + p] = two * (ra * a + rb * b + rc * c) + pressure
        work[R + CHUNK + p] = two * (ra * d + rb * e + rc * f)
        work[R + 2 * CHUNK + p] = two * (ra * g + rb * h + rc * i)
        work[R + 3 * CHUNK + p] = two * (rd * d + re * e + rf * f) + pressure
        work[R + 4 * CHUNK + p] = two * (rd * g + re * h + rf * i)
        work[R + 5 * CHUNK + p] = two * (rg * g + rh * h + ri * i) + pressure


@fast
def neo_hookean(work, mu, lam):
    """Rows R .. R + 5: tau = mu (F F^T - I) + lam ln(J) I, by rows of its upper half."""
    for p in range(CHUNK):
        a, b, c = work[F * CHUNK + p], work[(F + 1) * CHUNK + p], work[(F + 2) * CHUNK + p]
        d, e, f = work[(F + 3) * CHUNK + p], work[(F + 4) * CHUNK + p], work[(F + 5) * CHUNK + p]
        g, h, i = work[(F + 6) * CHUNK + p], work[(F + 7) * CHUNK + p], work[(F + 8) * CHUNK + p]
        work[R + 6 * CHUNK + p] = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
        work[R + p] = mu * (a * a + b * b + c * c)
        work[R + CHUNK + p] = mu * (a * d + b * e + c * f)
        work[R + 2 * CHUNK + p] = mu * (a * g + b * h + c * i)
        work[R + 3 * CHUNK + p] = mu * (d * d + e * e + f * f)
        work[R + 4 * CHUNK + p] = mu * (d * g + e * h + f * i)
        work[R + 5 * CHUNK + p] = mu * (g * g + h * h + i * i)
    for p in range(CHUNK):  # alone, since a call of the logarithm is not vectorised
        work[R + 6 * CHUNK + p] = math.log(work[R + 6 * CHUNK + p])
    for p in range(CHUNK):
        pressure = lam * work[R + 6 * CHUNK + p] - mu
        work[R + p] += pressure
        work[R + 3 * CHUNK + p] += pressure
        work[R + 5 * CHUNK + p] += pressure


@fast
def load(work, state, first, count):
    """Copy the state of some particles; the last one again where the chunk is not full."""
    for r in range(STATE):
        source, to = state[r], work[r * CHUNK : (r + 1) * CHUNK]
        for p in range(count):
            to[p] = source[first + p]
        for p in range(count, CHUNK):
            to[p] = to[count - 1]


@fast
def locate(work, inv_dx, corner):
    """Quadratic weights, three per axis; place in the middle cell of the stencil; start of the stencil in the tile."""
    for axis in range(3):
        w, stride = WEIGHT + 3 * axis * CHUNK, f4(4 * EDGE ** (2 - axis))
        for p in range(CHUNK):
            q = work[axis * CHUNK + p] * inv_dx - corner[axis]
            node = f4(math.floor(q - f4(0.5)))
            g = q - node - f4(1)
            work[w + p] = f4(0.5) * (f4(0.5) - g) ** 2
            work[w + CHUNK + p] = f4(0.75) - g * g
            work[w + 2 * CHUNK + p] = f4(0.5) * (f4(0.5) + g) ** 2
            work[OFFSET + axis * CHUNK + p] = g
            work[NODE + p] = stride * node + (work[NODE + p] if axis > 0 else f4(0))


@fast
def impulses(work, dx, mass, stress_scale):
    """Rows OUT ...: momentum in the middle of the stencil, and its change per node along each axis.

    m v + A (x_i - x_p) with A = m C - dt V (4 / dx^2) tau is linear in the place of node i in the stencil.
    """
    m, s = mass * dx, stress_scale * dx
    for p in range(CHUNK):
        gx, gy, gz = work[OFFSET + p], work[OFFSET + CHUNK + p], work[OFFSET + 2 * CHUNK + p]
        t0, t1, t2 = s * work[R + p], s * work[R + CHUNK + p], s * work[R + 2 * CHUNK + p]
        t3, t4, t5 = s * work[R + 3 * CHUNK + p], s * work[R + 4 * CHUNK + p], s * work[R + 5 * CHUNK + p]
        xx = m * work[C * CHUNK + p] - t0
        xy = m * work[(C + 1) * CHUNK + p] - t1
        xz = m * work[(C + 2) * CHUNK + p] - t2
        yx = m * work[(C + 3) * CHUNK + p] - t1
        yy = m * work[(C + 4) * CHUNK + p] - t3
        yz = m * work[(C + 5) * CHUNK + p] - t4
        zx = m * work[(C + 6) * CHUNK + p] - t2
        zy = m * work[(C + 7) * CHUNK + p] - t4
        zz = m * work[(C + 8) * CHUNK + p] - t5
        work[OUT + p] = mass * work[V * CHUNK + p] - (xx * gx + xy * gy + xz * gz)
        work[OUT + CHUNK + p] = mass * work[(V + 1) * CHUNK + p] - (yx * gx + yy * gy + yz * gz)
        work[OUT + 2 * CHUNK + p] = mass * work[(V + 2) * CHUNK + p] - (zx * gx + zy * gy + zz * gz)
        work[OUT + 3 * CHUNK + p], work[OUT + 4 * CHUNK + p], work[OUT + 5 * CHUNK + p] = xx, yx, zx
        work[OUT + 6 * CHUNK + p], work[OUT + 7 * CHUNK + p], work[OUT + 8 * CHUNK + p] = xy, yy, zy
        work[OUT + 9 * CHUNK + p], work[OUT + 10 * CHUNK + p], work[OUT + 11 * CHUNK + p] = xz, yz, zz


@fast
def spread(work, mass):
    """Records of every particle: the weighted numbers of three nodes along z, and their change along x and y."""
    for p in range(CHUNK):
        w0, w1, w2 = work[WEIGHT + 6 * CHUNK + p], work[WEIGHT + 7 * CHUNK + p], work[WEIGHT + 8 * CHUNK + p]
        at = work[RECORD + 48 * p : RECORD + 48 * p + 48]
        for c in range(3):
            mid, along_z = work[OUT + c * CHUNK + p], work[OUT + (9 + c) * CHUNK + p]
            at[c], at[4 + c], at[8 + c] = w0 * (mid - along_z), w1 * mid, w2 * (mid + along_z)
            along_x, along_y = work[OUT + (3 + c) * CHUNK + p], work[OUT + (6 + c) * CHUNK + p]
            at[16 + c], at[20 + c], at[24 + c] = w0 * along_x, w1 * along_x, w2 * along_x
            at[32 + c], at[36 + c], at[40 + c] = w0 * along_y, w1 * along_y, w2 * along_y
        at[3], at[7], at[11] = w0 * mass, w1 * mass, w2 * mass


@fast
def scatter(work, tile, count):
    """Add the particles of a chunk to the tile, nine rows of four nodes each."""
    for p in range(count):
        start = int(work[NODE + p])
        t = tile[start : start + 2 * LAYER + 2 * ROW + 16]
        at = work[RECORD + 48 * p : RECORD + 48 * p + 48]
        x0, x1, x2 = work[WEIGHT + p], work[WEIGHT + CHUNK + p], work[WEIGHT + 2 * CHUNK + p]
        y0, y1, y2 = work[WEIGHT + 3 * CHUNK + p], work[WEIGHT + 4 * CHUNK + p], work[WEIGHT + 5 * CHUNK + p]
        for c in range(16):
            mid, along_x, along_y = at[c], at[16 + c], at[32 + c]
            low, high = mid - along_x, mid + along_x
            t[c] += x0 * y0 * (low - along_y)
            t[ROW + c] += x0 * y1 * low
            t[2 * ROW + c] += x0 * y2 * (low + along_y)
            t[LAYER + c] += x1 * y0 * (mid - along_y)
            t[LAYER + ROW + c] += x1 * y1 * mid
            t[LAYER + 2 * ROW + c] += x1 * y2 * (mid + along_y)
            t[2 * LAYER + c] += x2 * y0 * (high - along_y)
            t[2 * LAYER + ROW + c] += x2 * y1 * high
            t[2 * LAYER + 2 * ROW + c] += x2 * y2 * (high + along_y)


@fast
def gather(work, tile):
    """Records of every particle: sums of v, of v times the node number along x and along y, for four nodes along z."""
    for p in range(CHUNK):
        start = int(work[NODE + p])
        t = tile[start : start + 2 * LAYER + 2 * ROW + 16]
        at = work[RECORD + 48 * p : RECORD + 48 * p + 48]
        x0, x1, x2 = work[WEIGHT + p], work[WEIGHT + CHUNK + p], work[WEIGHT + 2 * CHUNK + p]
        y0, y1, y2 = work[WEIGHT + 3 * CHUNK + p], work[WEIGHT + 4 * CHUNK + p], work[WEIGHT + 5 * CHUNK + p]
        for c in range(16):
            low = y0 * t[c] + y1 * t[ROW + c] + y2 * t[2 * ROW + c]
            mid = y0 * t[LAYER + c] + y1 * t[LAYER + ROW + c] + y2 * t[LAYER + 2 * ROW + c]
            high = y0 * t[2 * LAYER + c] + y1 * t[2 * LAYER + ROW + c] + y2 * t[2 * LAYER + 2 * ROW + c]
            near = x0 * t[c] + x1 * t[LAYER + c] + x2 * t[2 * LAYER + c]
            far = x0 * t[2 * ROW + c] + x1 * t[LAYER + 2 * ROW + c] + x2 * t[2 * LAYER + 2 * ROW + c]
            at[c] = x0 * low + x1 * mid + x2 * high
            at[16 + c] = x2 * high - x0 * low
            at[32 + c] = y2 * far - y0 * near


@fast
def collect(work):
    """Rows OUT ...: velocity, and the sums of v times the node number along each axis."""
    for p in range(CHUNK):
        w0, w1, w2 = work[WEIGHT + 6 * CHUNK + p], work[WEIGHT + 7 * CHUNK + p], work[WEIGHT + 8 * CHUNK + p]
        at = work[RECORD + 48 * p : RECORD + 48 * p + 48]
        for c in range(3):
            low, high = w0 * at[c], w2 * at[8 + c]
            work[OUT + c * CHUNK + p] = low + w1 * at[4 + c] + high
            work[OUT + (3 + c) * CHUNK + p] = w0 * at[16 + c] + w1 * at[20 + c] + w2 * at[24 + c]
            work[OUT + (6 + c) * CHUNK + p] = w0 * at[32 + c] + w1 * at[36 + c] + w2 * at[40 + c]
            work[OUT + (9 + c) * CHUNK + p] = high - low


@fast
def advance(work, dt, inv_dx):
    """Rows of the state at the end of the step: v, C = (4 / dx) sum w v (i - i_p), F + dt C F, x + dt v."""
    fastest, four = f4(0), f4(4) * inv_dx
    for c in range(3):
        for p in range(CHUNK):
            v = work[OUT + c * CHUNK + p]
            x = four * (work[OUT + (3 + c) * CHUNK + p] - work[OFFSET + p] * v)
            y = four * (work[OUT + (6 + c) * CHUNK + p] - work[OFFSET + CHUNK + p] * v)
            z = four * (work[OUT + (9 + c) * CHUNK + p] - work[OFFSET + 2 * CHUNK + p] * v)
            work[c * CHUNK + p] += dt * v
            work[(V + c) * CHUNK + p] = v
            work[(C + 3 * c) * CHUNK + p], work[(C + 3 * c + 1) * CHUNK + p] = x, y
            work[(C + 3 * c + 2) * CHUNK + p] = z
            fastest = max(fastest, abs(v))
    for j in range(3):
        for p in range(CHUNK):
            a = work[(F + j) * CHUNK + p]
            b = work[(F + 3 + j) * CHUNK + p]
            c = work[(F + 6 + j) * CHUNK + p]
            for i in range(3):
                change = work[(C + 3 * i) * CHUNK + p] * a
                change += work[(C + 3 * i + 1) * CHUNK + p] * b + work[(C + 3 * i + 2) * CHUNK + p] * c
                work[(F + 3 * i + j) * CHUNK + p] += dt * change
    return fastest


def particles_to_grid(kirchhoff):
    """Kernel that scatters mass, momentum and the stress impulse of one material."""

    @njit(parallel=True, fastmath=True, error_model="numpy")
    def scatter_all(state, grid, blocks, first, colours, dx, mass, mu, lam, stress_scale):
        inv_dx = f4(1) / dx
        for colour in range(len(colours) - 1):
            for b in prange(colours[colour], colours[colour + 1]):
                work, tile = np.zeros(WORK, f4), np.zeros(TILE + 16, f4)
                start_node = corner(blocks[b])
                for start in range(first[b], first[b + 1], CHUNK):
                    count = min(CHUNK, first[b + 1] - start)
                    load(work, state, start, count)
                    locate(work, inv_dx, start_node)
                    kirchhoff(work, mu, lam)
                    impulses(work, dx, mass, stress_scale)
                    spread(work, mass)
                    scatter(work, tile, count)
                x, y, z = BLOCK * (blocks[b] + 1) - SLACK  # the grid starts one block before node 0
                for i in range(EDGE):
                    for j in range(EDGE):
                        row, part = grid[x + i, y + j, 4 * z : 4 * z + ROW], tile[i * LAYER + j * ROW :]
                        for c in range(ROW):
                            row[c] += part[c]

    return scatter_all


@njit(parallel=True, fastmath=True, error_model="numpy")
def update_grid(grid, pull, floor):
    """Velocities from momenta, gravity, and the slip floor up to this row of nodes."""
    for i in prange(grid.shape[0]):
        for j in range(grid.shape[1]):
            row = grid[i, j]
            for k in range(grid.shape[2] // 4):
                m = row[4 * k + 3]
                if m > 0:
                    row[4 * k] /= m
                    row[4 * k + 1] = row[4 * k + 1] / m + pull if j > floor else f4(0)
                    row[4 * k + 2] /= m


@njit(parallel=True, fastmath=True, error_model="numpy")
def grid_to_particles(state, grid, blocks, first, dx, dt):
    """Gather and advance every particle; the largest component of a velocity."""
    inv_dx, speeds = f4(1) / dx, np.zeros(len(blocks), f4)
    for b in prange(len(blocks)):
        work, tile = np.zeros(WORK, f4), np.zeros(TILE + 16, f4)
        start_node = corner(blocks[b])
        x, y, z = BLOCK * (blocks[b] + 1) - SLACK
        for i in range(EDGE):
            for j in range(EDGE):
                row, part = grid[x + i, y + j, 4 * z : 4 * z + ROW], tile[i * LAYER + j * ROW :]
                for c in range(ROW):
                    part[c] = row[c]
        for start in range(first[b], first[b + 1], CHUNK):
            count = min(CHUNK, first[b + 1] - start)
            load(work, state, start, count)
            locate(work, inv_dx, start_node)
            gather(work, tile)
            collect(work)
            speeds[b] = max(speeds[b], advance(work, dt, inv_dx))
            for r in range(STATE):
                to, source = state[r], work[r * CHUNK : (r + 1) * CHUNK]
                for p in range(count):
                    to[start + p] = source[p]
    return speeds.max()


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
        self.state = np.zeros((STATE, len(x)), f4)
        self.state[X:V], self.state[V:C] = x.T, v.T
        self.state[[F, F + 4, F + 8]] = 1
        self.number = np.arange(len(x))  # that the particle in this place was given with
        grid = empty_grid(x, dx)
        self.grid = grid.reshape(*grid.shape[:2], -1)  # a row of nodes along z is a row of numbers
        self.order()

    def order(self) -> None:
        """Order the particles by blocks."""
        order, self.blocks = order_by_blocks(self.state[X:V], self.dx)
        self.state, self.number = np.ascontiguousarray(self.state[:, order]), self.number[order]
        self.travelled = 0.0

    def x(self) -> NDArray[np.float32]:
        """Positions (N, 3) [m] in the order the particles were given."""
        return np.ascontiguousarray(self.state[X:V, np.argsort(self.number)].T)

    def v(self) -> NDArray[np.float32]:
        """Velocities (N, 3) [m/s] in the order the particles were given."""
        return np.ascontiguousarray(self.state[V:C, np.argsort(self.number)].T)

    def step(self, n: int = 1) -> None:
        """Advance by n time steps."""
        for _ in range(n):
            where = self.blocks
            self.grid[:] = 0
            self.scatter(self.state, self.grid, *where, *self.constants)
            update_grid(self.grid, f4(self.dt * GRAVITY[1]), BLOCK + LAST_FLOOR_NODE)
            fastest = grid_to_particles(self.state, self.grid, *where[:2], f4(self.dx), f4(self.dt))
            self.travelled += float(fastest) * self.dt / self.dx
            if self.travelled + 2 * float(fastest) * self.dt / self.dx > SLACK:
                self.order()
