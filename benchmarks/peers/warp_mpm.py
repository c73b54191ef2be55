"""The benchmark step in NVIDIA Warp on its CPU device: plain user code.

Warp runs CPU kernels on one thread whatever `threads` says, so its atomics cost nothing here.
Backward passes are switched off, kernels are built with -O3 and fast math (as Taichi's are by default),
launches are recorded once and replayed.
"""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import NDArray

from .scene import GRAVITY, LAST_FLOOR_NODE, grid_shape, lame

wp.config.log_level = wp.LOG_ERROR
wp.config.enable_backward = False
wp.config.optimization_level = 3
fast_math = "-ffast-math -Wno-nan-infinity-disabled"
wp.config.cpu_compiler_flags = f"{fast_math} {wp.config.cpu_compiler_flags or '-march=native'}"

FLOOR_NODE = wp.constant(LAST_FLOOR_NODE)


@wp.struct
class Constants:
    """Numbers that stay the same during a run, in SI units."""

    dx: float
    inv_dx: float
    dt: float
    mu: float
    lam: float
    mass: float
    stress_scale: float  # dt V 4 / dx^2
    gravity: wp.vec3


@wp.func
def fixed_corotated(F: wp.mat33, c: Constants):
    U = wp.mat33()
    sigma = wp.vec3()
    V = wp.mat33()
    wp.svd3(F, U, sigma, V)
    J = wp.determinant(F)
    identity = wp.identity(n=3, dtype=float)
    return 2.0 * c.mu * (F - U * wp.transpose(V)) * wp.transpose(F) + c.lam * (J - 1.0) * J * identity


@wp.func
def neo_hookean(F: wp.mat33, c: Constants):
    J = wp.determinant(F)
    return c.mu * F * wp.transpose(F) + (c.lam * wp.log(J) - c.mu) * wp.identity(n=3, dtype=float)


@wp.func
def spline(fx: wp.vec3):
    """Quadratic B-spline weights, one row per node of the stencil and one column per axis."""
    a = wp.vec3(1.5) - fx
    b = fx - wp.vec3(1.0)
    c = fx - wp.vec3(0.5)
    return wp.matrix_from_rows(0.5 * wp.cw_mul(a, a), wp.vec3(0.75) - wp.cw_mul(b, b), 0.5 * wp.cw_mul(c, c))


def particles_to_grid(kirchhoff: wp.Function) -> wp.Kernel:
    """Kernel that scatters mass, momentum and the stress impulse of one material."""

    @wp.kernel(module="unique")
    def scatter(
        x: wp.array[wp.vec3],
        v: wp.array[wp.vec3],
        C: wp.array[wp.mat33],
        F: wp.array[wp.mat33],
        grid: wp.array3d[wp.vec4],
        c: Constants,
    ):
        p = wp.tid()
        scaled = x[p] * c.inv_dx
        bi = int(scaled[0] - 0.5)
        bj = int(scaled[1] - 0.5)
        bk = int(scaled[2] - 0.5)
        fx = scaled - wp.vec3(float(bi), float(bj), float(bk))
        w = spline(fx)
        affine = c.mass * C[p] - c.stress_scale * kirchhoff(F[p], c)
        momentum = c.mass * v[p]
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    offset = (wp.vec3(float(i), float(j), float(k)) - fx) * c.dx
                    weight = w[i, 0] * w[j, 1] * w[k, 2]
                    moved = momentum + affine * offset
                    wp.atomic_add(
                        grid, bi + i, bj + j, bk + k, weight * wp.vec4(moved[0], moved[1], moved[2], c.mass)
                    )

    return scatter


@wp.kernel
def update_grid(grid: wp.array3d[wp.vec4], c: Constants):
    i, j, k = wp.tid()
    cell = grid[i, j, k]
    if cell[3] > 0.0:
        v = wp.vec3(cell[0], cell[1], cell[2]) / cell[3] + c.dt * c.gravity
        if j <= FLOOR_NODE:
            v = wp.vec3(v[0], 0.0, v[2])
        grid[i, j, k] = wp.vec4(v[0], v[1], v[2], cell[3])


@wp.kernel
def grid_to_particles(
    x: wp.array[wp.vec3],
    v: wp.array[wp.vec3],
    C: wp.array[wp.mat33],
    F: wp.array[wp.mat33],
    grid: wp.array3d[wp.vec4],
    c: Constants,
):
    p = wp.tid()
    scaled = x[p] * c.inv_dx
    bi = int(scaled[0] - 0.5)
    bj = int(scaled[1] - 0.5)
    bk = int(scaled[2] - 0.5)
    fx = scaled - wp.vec3(float(bi), float(bj), float(bk))
    w = spline(fx)
    new_v = wp.vec3()
    B = wp.mat33()
    for i in range(3):
        for j in range(3):
            for k in range(3):
                offset = wp.vec3(float(i), float(j), float(k)) - fx
                cell = grid[bi + i, bj + j, bk + k]
                node_v = (w[i, 0] * w[j, 1] * w[k, 2]) * wp.vec3(cell[0], cell[1], cell[2])
                new_v += node_v
                B += wp.outer(node_v, offset)
    new_C = 4.0 * c.inv_dx * B
    v[p] = new_v
    C[p] = new_C
    F[p] = F[p] + c.dt * new_C * F[p]
    x[p] = x[p] + c.dt * new_v


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
        constants = make_constants(dx, E, nu, density, dt)
        kirchhoff = {"fixed-corotated": fixed_corotated, "neo-hookean": neo_hookean}[material]
        shape = grid_shape(x, dx)
        with wp.ScopedDevice("cpu"):
            self.position = wp.array(x, dtype=wp.vec3)
            self.velocity = wp.array(v, dtype=wp.vec3)
            self.C = wp.zeros(len(x), dtype=wp.mat33)
            self.F = wp.array(np.tile(np.eye(3, dtype=np.float32), (len(x), 1, 1)), dtype=wp.mat33)
            self.grid = wp.zeros(shape, dtype=wp.vec4)
            particles = [self.position, self.velocity, self.C, self.F, self.grid, constants]
            self.launches = [
                wp.launch(particles_to_grid(kirchhoff), len(x), particles, record_cmd=True),
                wp.launch(update_grid, shape, [self.grid, constants], record_cmd=True),
                wp.launch(grid_to_particles, len(x), particles, record_cmd=True),
            ]

    def x(self) -> NDArray[np.float32]:
        """Positions (N, 3) [m]."""
        return self.position.numpy()

    def v(self) -> NDArray[np.float32]:
        """Velocities (N, 3) [m/s]."""
        return self.velocity.numpy()

    def step(self, n: int = 1) -> None:
        """Advance by n time steps and wait for them."""
        for _ in range(n):
            self.grid.zero_()
            for launch in self.launches:
                launch.launch()
        wp.synchronize_device("cpu")


def make_constants(dx: float, E: float, nu: float, density: float, dt: float) -> Constants:
    """Constants of a run from spacing [m], moduli [Pa, -], density [kg/m^3] and time step [s]."""
    c = Constants()
    c.dx, c.inv_dx, c.dt = dx, 1 / dx, dt
    c.mu, c.lam = lame(E, nu)
    c.mass = density * dx**3 / 8
    c.stress_scale = dt * dx**3 / 8 * 4 / dx**2
    c.gravity = wp.vec3(*GRAVITY)
    return c
