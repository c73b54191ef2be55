"""The flow benchmark's step in NVIDIA Warp on its CPU device: plain user code.

The same algorithm as in `taichi_flow`. Warp runs CPU kernels on one thread whatever `threads` says, so its atomics
are plain additions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from .flow_peer import FlowPeer
from .flow_scene import TOLERANCE
from .scene import GRAVITY
from .warp_flow_pressure import AIR, LIQUID, SOLID, Pressure, each, number

NEEDED = wp.constant(9)  # layer of a face that particles read but no liquid cell owns


@wp.struct
class Constants:
    """Numbers that stay the same during a run, in SI units."""

    cells: int
    s: int  # cells along an edge with the layer of solid ones
    dx: float
    inv_dx: float
    dt: float
    gravity: wp.vec3


@wp.func
def stride(a: int, s: int):
    """Distance between the numbers of neighbouring cells along an axis."""
    return wp.where(a == 0, s * s, wp.where(a == 1, s, 1))


@wp.kernel
def find_box(x: wp.array[wp.vec3], c: Constants, lower: wp.array[wp.vec3i], upper: wp.array[wp.vec3i]):
    cell = wp.vec3i(x[wp.tid()] * c.inv_dx)
    lower[0] = wp.min(lower[0], cell)
    upper[0] = wp.max(upper[0], cell)


@wp.kernel
def clear_faces(first: wp.vec3i, s: int, u: wp.array2d[float], weight: wp.array2d[float]):
    i, j, k = wp.tid()
    n = number(first[0] + i, first[1] + j, first[2] + k, s)
    for a in range(3):
        u[a, n] = 0.0
        weight[a, n] = 0.0


@wp.kernel
def clear_cells(first: wp.vec3i, s: int, kind: wp.array[wp.uint8]):
    i, j, k = wp.tid()
    kind[number(first[0] + i, first[1] + j, first[2] + k, s)] = wp.uint8(AIR)


@wp.kernel
def mark_cells(x: wp.array[wp.vec3], c: Constants, kind: wp.array[wp.uint8]):
    cell = x[wp.tid()] * c.inv_dx
    kind[number(int(cell[0]), int(cell[1]), int(cell[2]), c.s)] = wp.uint8(LIQUID)


@wp.func
def corner_of(scaled: wp.vec3, a: int):
    """Position in the grid of the faces of an axis, in cells."""
    corner = scaled - wp.vec3(0.5)
    corner[a] = scaled[a]
    return corner


@wp.kernel
def particles_to_grid(
    x: wp.array[wp.vec3],
    v: wp.array[wp.vec3],
    C: wp.array[wp.mat33],
    c: Constants,
    u: wp.array2d[float],
    weight: wp.array2d[float],
):
    p = wp.tid()
    scaled = x[p] * c.inv_dx
    for a in range(3):
        corner = corner_of(scaled, a)
        bi = int(wp.floor(corner[0]))
        bj = int(wp.floor(corner[1]))
        bk = int(wp.floor(corner[2]))
        f = corner - wp.vec3(float(bi), float(bj), float(bk))
        slope = C[p][a] * c.dx
        value = v[p][a] - wp.dot(slope, f)
        base = number(bi, bj, bk, c.s)
        for i in range(2):
            wi = wp.where(i == 1, f[0], 1.0 - f[0])
            for j in range(2):
                wj = wi * wp.where(j == 1, f[1], 1.0 - f[1])
                for k in range(2):
                    w = wj * wp.where(k == 1, f[2], 1.0 - f[2])
                    n = base + (i * c.s + j) * c.s + k
                    moved = value + slope[0] * float(i) + slope[1] * float(j) + slope[2] * float(k)
                    u[a, n] = u[a, n] + w * moved
                    weight[a, n] = weight[a, n] + w


@wp.kernel
def update_faces(
    first: wp.vec3i,
    c: Constants,
    kind: wp.array[wp.uint8],
    u: wp.array2d[float],
    weight: wp.array2d[float],
    layer: wp.array2d[wp.uint8],
    fastest: wp.array[float],
):
    """Velocities with gravity and walls. Layer 1: the face of a liquid cell; 0: nobody needs it."""
    i, j, k = wp.tid()
    n = number(first[0] + i, first[1] + j, first[2] + k, c.s)
    for a in range(3):
        what = wp.int32(0)
        if weight[a, n] > 0.0:
            above = int(kind[n])
            below = int(kind[wp.max(n - stride(a, c.s), 0)])
            what = wp.where(above == LIQUID or below == LIQUID, 1, NEEDED)
            if what == NEEDED or (above != SOLID and below != SOLID):
                u[a, n] = u[a, n] / weight[a, n] + c.dt * c.gravity[a]
            else:
                u[a, n] = 0.0
            wp.atomic_max(fastest, 0, wp.abs(u[a, n]))
        layer[a, n] = wp.uint8(what)


@wp.kernel
def divergence(cells: wp.array[int], u: wp.array2d[float], s: int, rhs: wp.array[float]):
    n = cells[wp.tid()]
    rhs[n] = u[0, n] - u[0, n + s * s] + u[1, n] - u[1, n + s] + u[2, n] - u[2, n + 1]


@wp.kernel
def subtract_gradient(
    first: wp.vec3i,
    s: int,
    kind: wp.array[wp.uint8],
    phi: wp.array[float],
    layer: wp.array2d[wp.uint8],
    u: wp.array2d[float],
):
    i, j, k = wp.tid()
    n = number(first[0] + i, first[1] + j, first[2] + k, s)
    for a in range(3):
        if int(layer[a, n]) == 1:
            below = n - stride(a, s)
            if int(kind[n]) != SOLID and int(kind[below]) != SOLID:
                u[a, n] = u[a, n] - (phi[n] - phi[below])


@wp.kernel
def extrapolate(first: wp.vec3i, c: Constants, known: int, layer: wp.array2d[wp.uint8], u: wp.array2d[float]):
    """Needed faces take the mean of their neighbours of known layers."""
    i, j, k = wp.tid()
    cell = wp.vec3i(first[0] + i, first[1] + j, first[2] + k)
    n = number(cell[0], cell[1], cell[2], c.s)
    for a in range(3):
        if int(layer[a, n]) == NEEDED:
            total = wp.float32(0.0)
            count = wp.float32(0.0)
            for b in range(3):
                for side in range(-1, 2, 2):
                    if cell[b] + side >= -1 and cell[b] + side <= c.cells:
                        m = n + side * stride(b, c.s)
                        if int(layer[a, m]) > 0 and int(layer[a, m]) <= known:
                            total += u[a, m]
                            count += 1.0
            if count > 0.0:
                u[a, n] = total / count
                layer[a, n] = wp.uint8(known + 1)


@wp.kernel
def grid_to_particles(
    x: wp.array[wp.vec3],
    v: wp.array[wp.vec3],
    C: wp.array[wp.mat33],
    c: Constants,
    u: wp.array2d[float],
):
    p = wp.tid()
    scaled = x[p] * c.inv_dx
    new_v = wp.vec3()
    new_C = wp.mat33()
    for a in range(3):
        corner = corner_of(scaled, a)
        bi = int(wp.floor(corner[0]))
        bj = int(wp.floor(corner[1]))
        bk = int(wp.floor(corner[2]))
        f = corner - wp.vec3(float(bi), float(bj), float(bk))
        base = number(bi, bj, bk, c.s)
        value = wp.float32(0.0)
        slope = wp.vec3()
        for i in range(2):
            wi = wp.where(i == 1, f[0], 1.0 - f[0])
            for j in range(2):
                wj = wp.where(j == 1, f[1], 1.0 - f[1])
                for k in range(2):
                    wk = wp.where(k == 1, f[2], 1.0 - f[2])
                    face = u[a, base + (i * c.s + j) * c.s + k]
                    value += wi * wj * wk * face
                    si = float(2 * i - 1) * wj * wk
                    sj = float(2 * j - 1) * wi * wk
                    sk = float(2 * k - 1) * wi * wj
                    slope += face * wp.vec3(si, sj, sk)
        new_v[a] = value
        new_C[a] = slope * c.inv_dx
    v[p] = new_v
    C[p] = new_C
    edge = 1.0e-4 * c.dx
    moved = x[p] + c.dt * new_v
    x[p] = wp.min(wp.max(moved, wp.vec3(edge)), wp.vec3(float(c.cells) * c.dx - edge))


class Peer(FlowPeer):
    """The step on Warp's CPU device."""

    def __init__(
        self,
        x: NDArray[np.float32],
        v: NDArray[np.float32],
        cells: int,
        dx: float,
        dt: float,
        threads: int = 1,
    ) -> None:
        super().__init__()
        wp.set_device("cpu")
        self.constants = make_constants(cells, dx, dt)
        self.position = wp.array(x, dtype=wp.vec3)
        self.velocity = wp.array(v, dtype=wp.vec3)
        self.C = wp.zeros(len(x), dtype=wp.mat33)  # row a: gradient of component a
        self.pressure = Pressure(cells)
        faces = (3, self.pressure.fine.s**3)  # [a, n]: the lower face a of cell n
        self.u = wp.zeros(faces, dtype=float)
        self.weight = wp.zeros(faces, dtype=float)
        self.layer = wp.zeros(faces, dtype=wp.uint8)
        self.fastest = wp.zeros(1, dtype=float)
        self.lower = wp.full(
            1, wp.vec3i(cells), dtype=wp.vec3i
        )  # first cell of the box that has held all liquid
        self.upper = wp.zeros(1, dtype=wp.vec3i)  # its last cell

    def x(self) -> NDArray[np.float32]:
        """Positions (N, 3) [m]."""
        return self.position.numpy()

    def v(self) -> NDArray[np.float32]:
        """Velocities (N, 3) [m/s]."""
        return self.velocity.numpy()

    def faces(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
        """Velocities and weights of lower faces (3, s, s, s), and which cells (s, s, s) are liquid, s = cells + 2."""
        s = self.constants.s
        u, weight = (field.numpy().reshape(3, s, s, s) for field in (self.u, self.weight))
        return u, weight, self.pressure.fine.kind.numpy().reshape(s, s, s) == LIQUID

    def boxed(self, kernel: wp.Kernel, layers: int, *arguments: Any) -> None:
        """Launch a kernel over the cells of the box and some layers around it."""
        first, last = self.lower.numpy()[0] - layers, self.upper.numpy()[0] + layers
        wp.launch(kernel, tuple(last - first + 1), [wp.vec3i(*map(int, first)), *arguments])

    def to_grid(self) -> None:
        """Velocities on faces from the particles, with gravity and walls."""
        c, kind, count = self.constants, self.pressure.fine.kind, len(self.position)
        wp.launch(find_box, count, [self.position, c, self.lower, self.upper])
        self.boxed(clear_faces, 1, c.s, self.u, self.weight)
        self.boxed(clear_cells, 0, c.s, kind)
        wp.launch(mark_cells, count, [self.position, c, kind])
        particles = [self.position, self.velocity, self.C]
        wp.launch(particles_to_grid, count, [*particles, c, self.u, self.weight])
        self.fastest.zero_()
        self.boxed(update_faces, 1, c, kind, self.u, self.weight, self.layer, self.fastest)
        self.tolerance = TOLERANCE * float(self.fastest.numpy()[0])

    def project(self) -> None:
        """Make the velocities of the liquid cells free of divergence."""
        pressure = self.pressure
        pressure.build(self.lower.numpy()[0], self.upper.numpy()[0])
        each(pressure.fine, divergence, self.u, self.constants.s, pressure.fine.r)
        self.iterations.append(pressure.solve(self.tolerance)[0])
        self.boxed(
            subtract_gradient, 1, self.constants.s, pressure.fine.kind, pressure.phi, self.layer, self.u
        )

    def to_particles(self) -> None:
        """New velocities and positions of the particles."""
        for known in (1, 2):
            self.boxed(extrapolate, 1, self.constants, known, self.layer, self.u)
        particles = [self.position, self.velocity, self.C]
        wp.launch(grid_to_particles, len(self.position), [*particles, self.constants, self.u])
        wp.synchronize_device("cpu")


def make_constants(cells: int, dx: float, dt: float) -> Constants:
    """Constants of a run from cells along an edge, spacing [m] and time step [s]."""
    c = Constants()
    c.cells, c.s, c.dx, c.inv_dx, c.dt = cells, cells + 2, dx, 1 / dx, dt
    c.gravity = wp.vec3(*GRAVITY)
    return c
