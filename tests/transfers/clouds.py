"""Particles to try transfers on: random clouds, lonely particles whose stencils do not overlap, and their modes."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest
from grid_driver import GridDriver, weights

from continua import _core
from continua.transfers import FLIP, Transfer

H = 0.1
KERNELS = ["linear", "quadratic", "cubic"]
SCHEMES = {"pic": "pic", "flip": "flip", "flip95": FLIP(0.95), "apic": "apic"}

both = pytest.mark.parametrize("d", [2, 3])
kernels = pytest.mark.parametrize("kernel", KERNELS)
smooth = pytest.mark.parametrize("kernel", ["quadratic", "cubic"])
schemes = pytest.mark.parametrize("scheme", SCHEMES)

Exponents = tuple[int, ...]
Driver = TypeVar("Driver", bound=GridDriver)


def randomize(driver: Driver, seed: int = 0) -> Driver:
    """Random velocities, C and higher modes, as far as the scheme has them."""
    rng, body = np.random.default_rng(seed), driver.body
    n, d = body.x.shape
    body.v[:] = rng.normal(size=(n, d))
    if driver.affine:
        body.C = rng.normal(size=(n, d, d)) / H * driver.field.rule.plan.linear
        body.set.arrays.modes[:n, :, :d] = rng.normal(size=(n, body.set.arrays.modes.shape[1], d))
    return driver


def cloud_over(
    grid: type[Driver],
    d: int,
    kernel: str,
    scheme: str | Transfer,
    *,
    n: int = 200,
    seed: int = 0,
    cells: float = 4.0,
    dtype: type = np.float64,
) -> Driver:
    """Random particles of random mass with random velocity modes, on both sides of the origin."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.3, 0.3 + cells * H, size=(n, d)) - 0.5
    transfer = SCHEMES.get(scheme, scheme) if isinstance(scheme, str) else scheme
    mass = rng.uniform(0.5, 2.0, n)
    return randomize(grid(x, H, kernel=kernel, transfer=transfer, mass=mass, dtype=dtype), seed + 7)


def cloud(d: int, kernel: str, scheme: str | Transfer, **options: Any) -> GridDriver:
    """`cloud_over` nodes."""
    return cloud_over(GridDriver, d, kernel, scheme, **options)


def apart(d: int, side: int) -> np.ndarray:
    """Positions (side^d, d) whose stencils do not overlap; some on nodes, on centres of cells and of faces."""
    cell = np.stack(np.meshgrid(*[np.arange(side) - side // 2] * d, indexing="ij"), axis=-1).reshape(-1, d)
    offset = np.random.default_rng(2).uniform(0, 1, size=cell.shape)
    offset[:4] = [[0.0] * d, [0.5] * d, [0.25] * d, [0.5, *[0.0] * (d - 1)]]
    return H * (offset + 6.0 * cell)


def lonely(d: int, kernel: str, transfer: str | Transfer = "pic", material=None) -> GridDriver:
    """Unit masses whose stencils do not overlap."""
    x = apart(d, {2: 6, 3: 4}[d])
    one = np.ones(len(x))
    return GridDriver(x, H, kernel=kernel, transfer=transfer, material=material, mass=one, volume=one)


def stencils(driver: GridDriver) -> list[np.ndarray]:
    """The nodes around every particle, as indices."""
    return [np.flatnonzero(np.abs(driver.nodes - p).max(axis=1) < 2.5 * H) for p in driver.body.x]


def random_field(driver: GridDriver, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Node masses, velocities after P2G, and a random velocity on every node that has mass."""
    mass, old = driver.velocities()
    field = np.random.default_rng(seed).normal(size=old.shape)
    field[mass == 0] = 0
    return mass, old, field


def step_of(field: np.ndarray) -> float:
    """A dt that moves particles by at most 0.4 cells."""
    return float(0.4 * H / np.linalg.norm(field, axis=1).max())


def particle_sums(driver: GridDriver) -> dict:
    field = driver.field
    return _core.particle_sums(
        driver.body.set.arrays,
        field.lattice,
        field.rule.plan,
        driver.body.dimension,
        field.degree,
        None,
        field.staggered,
    )


def by_id(driver: GridDriver, rows: np.ndarray) -> np.ndarray:
    """Rows (N, ...) in the order in which the particles were made."""
    out = np.empty_like(rows)
    out[driver.body.ids] = rows
    return out


# ---- velocity modes, coefficients in m/s: those of r / dx ----


def modes_of(driver: GridDriver) -> list[Exponents]:
    """Exponents of all modes that the scheme carries: constant, linear, higher ones as stored."""
    plan, d = driver.field.rule.plan, driver.body.dimension
    linear = [tuple(int(a == b) for b in range(d)) for a in range(d) if driver.affine and plan.linear[a]]
    return [(0,) * d, *linear, *(tuple(int(k) for k in e[3 - d :]) for e in plan.high)]


def coefficients(driver: GridDriver) -> np.ndarray:
    """(modes, N, d) in the order of `modes_of`."""
    body, d = driver.body, driver.body.dimension
    columns = [H * body.C[:, :, a] for a in range(d) if driver.affine and driver.field.rule.plan.linear[a]]
    high = body.set.arrays.modes[: body.count, :, :d].transpose(1, 0, 2)
    return np.stack([body.v.copy(), *columns, *high])


def set_mode(
    driver: GridDriver, exponents: Exponents, component: int, value: np.ndarray | float = 1.0
) -> None:
    """Give all particles one mode of one component of velocity (N,) and no other."""
    body, d = driver.body, driver.body.dimension
    C = np.zeros((body.count, d, d))
    body.v[:], body.set.arrays.modes[:] = 0, 0
    if sum(exponents) == 0:
        body.v[:, component] = value
    elif sum(exponents) == 1:
        C[:, component, exponents.index(1)] = value / H
    else:
        high = [tuple(e[3 - d :]) for e in driver.field.rule.plan.high.tolist()]
        body.set.arrays.modes[: body.count, high.index(exponents), component] = value
    body.C = C


# ---- what the tests ask of every scheme ----


def angular_error(driver: GridDriver, *, moving: bool = True, after=None) -> float:
    """Change of angular momentum over G2P, motion and P2G, relative; `after` may tamper with the moved particles."""
    mass, old, field = random_field(driver)
    before = driver.angular(mass, field)
    scale = np.abs(driver.nodes).max() * (mass[:, None] * np.abs(field)).sum()
    start = by_id(driver, driver.body.x.copy())
    driver.gather(field, step_of(field) if moving else 0.0, old)
    if after is not None:
        after(driver, start)
    return float(np.abs(driver.angular(*driver.velocities()) - before).max() / scale)


def round_trip(driver: GridDriver, field: np.ndarray) -> np.ndarray:
    """A node field (nodes, d) taken to resting particles and back."""
    _, old = driver.velocities()
    driver.gather(field, 0.0, old)
    return driver.velocities()[1]


def energies(driver: GridDriver) -> tuple[float, float, float]:
    """Grid energy of a random field, of the particles that receive it, and of the grid after them."""
    mass, old, field = random_field(driver)
    driver.gather(field, 0.0, old)
    particles = particle_sums(driver)["kinetic"]
    again, velocity = driver.velocities()
    return 0.5 * mass @ (field**2).sum(axis=1), particles, 0.5 * again @ (velocity**2).sum(axis=1)


def null_velocities(driver: GridDriver) -> np.ndarray:
    """Particle velocities that the grid does not see: sum_p w_ip m_p v_p = 0 on every node."""
    body = driver.body
    kernel = KERNELS[driver.field.degree - 1]
    to_grid = (weights(body.x, driver.nodes, H, kernel) * body.mass[:, None]).T
    _, s, Vt = np.linalg.svd(to_grid)
    hidden = Vt[np.count_nonzero(s > 1e-10 * s[0]) :].T
    assert hidden.shape[1] > 10
    rng = np.random.default_rng(5)
    velocity = hidden @ rng.normal(size=(hidden.shape[1], body.dimension))
    return velocity / np.abs(velocity).max()


def noise_error(driver: GridDriver, kept: float) -> float:
    """Difference from `kept` times the start after one step with noise that the grid does not see."""
    body = driver.body
    noise = null_velocities(driver)
    body.C, body.set.arrays.modes[:], body.v[:] = 0.0 * body.C, 0.0, noise
    start = by_id(driver, noise)
    mass, momentum = driver.scatter()
    assert np.abs(momentum).max() <= 1e-12 * mass.max()
    _, velocity = driver.velocities()
    velocity[mass < 1e-8 * mass.max()] = 0  # round-off over hardly any mass
    driver.gather(velocity, 0.0, velocity)
    return float(np.abs(by_id(driver, body.v) - kept * start).max())
