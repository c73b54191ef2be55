"""Particles to grid, forces, and motions that must come out exactly."""

from __future__ import annotations

import numpy as np
import pytest
from grid_driver import GridDriver, cross, weight_gradients, weights

import continua as ct
from continua.materials import FixedCorotated, NeoHookean, Snow
from continua.materials.base import lame

H = 0.1
both = pytest.mark.parametrize("d", [2, 3])
kernels = pytest.mark.parametrize("kernel", ["linear", "quadratic", "cubic"])
SHARE = {"quadratic": 4.0, "cubic": 3.0}  # h^2 / D


def rotations(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


def strained(d: int, kernel: str, material, *, mls: bool = False, amount: float = 0.1) -> GridDriver:
    """A random cloud with random F; for snow with the F and Jp that plastic flow left."""
    rng = np.random.default_rng(0)
    n = 40
    x = rng.uniform(-2 * H, 2 * H, size=(n, d))
    driver = GridDriver(x, H, kernel=kernel, material=material, mls=mls, volume=rng.uniform(0.5, 2, n) * H**d)
    F = rotations(rng, n, d) @ (np.eye(d) + amount * rng.uniform(-1, 1, size=(n, d, d)))
    if material.states:
        F, state = material.project(F, {"Jp": rng.uniform(0.7, 1.2, n)})
        driver.body.state["Jp"][:] = state["Jp"]
    driver.body.F = F
    return driver


def force(driver: GridDriver) -> np.ndarray:
    """Node forces (n, d)."""
    return driver.scatter(1.0, momentum=False, stress=True)[1]


def gradients(driver: GridDriver, kernel: str, *, mls: bool) -> np.ndarray:
    x, nodes = driver.body.x, driver.nodes
    if not mls:
        return weight_gradients(x, nodes, H, kernel)
    return weights(x, nodes, H, kernel)[..., None] * (nodes[None] - x[:, None]) * SHARE[kernel] / H**2


def potential(driver: GridDriver, gradient: np.ndarray, u: np.ndarray) -> float:
    """Elastic energy after moving the nodes by u: sum V0 Psi((I + sum u grad w^T) F)."""
    body = driver.body
    move = np.eye(body.dimension) + np.einsum("ni,pnj->pij", u, gradient)
    return float((body.material.energy(move @ body.F, body.state) * body.volume).sum())


def force_error(driver: GridDriver, gradient: np.ndarray) -> float:
    """-f . u against the slope of the potential along random u, relative."""
    f, rng, worst = force(driver), np.random.default_rng(1), 0.0
    for _ in range(3):
        u = rng.normal(size=f.shape)
        step = 1e-4 * H
        a, b = (
            potential(driver, gradient, k * step * u) - potential(driver, gradient, -k * step * u)
            for k in (1, 2)
        )
        slope = (8 * a - b) / (12 * step)
        worst = max(worst, abs(slope + (f * u).sum()) / np.sqrt((f**2).sum()))
    return worst


@pytest.mark.parametrize("material", [FixedCorotated(1e4), NeoHookean(1e4), Snow(1e4)], ids=lambda m: m.label)
@kernels
@both
def test_force_is_minus_the_slope_of_the_energy(d: int, kernel: str, material) -> None:
    driver = strained(d, kernel, material)
    assert force_error(driver, gradients(driver, kernel, mls=False)) <= 1e-7
    f = force(driver)
    scale = np.abs(f).sum()
    assert np.abs(f.sum(axis=0)).max() <= 1e-12 * scale
    assert np.abs(cross(driver.nodes, f).sum(axis=0)).max() <= 1e-12 * scale * np.abs(driver.nodes).max()


@pytest.mark.parametrize("kernel", ["quadratic", "cubic"])
@both
def test_mls_force_belongs_to_the_mls_gradient_only(d: int, kernel: str) -> None:
    driver = strained(d, kernel, NeoHookean(1e4), mls=True)
    assert force_error(driver, gradients(driver, kernel, mls=True)) <= 1e-7
    assert force_error(driver, gradients(driver, kernel, mls=False)) > 1e-3
    f = force(driver)
    assert np.abs(f.sum(axis=0)).max() <= 1e-12 * np.abs(f).sum()
    assert (
        np.abs(cross(driver.nodes, f).sum(axis=0)).max()
        <= 1e-12 * np.abs(f).sum() * np.abs(driver.nodes).max()
    )


@both
def test_what_breaks_the_balance_of_forces(d: int) -> None:
    """Dropping light nodes, P instead of tau, or moduli of fresh snow: each fails a gate above."""
    driver = strained(d, "quadratic", NeoHookean(1e4))
    f, (mass, _) = force(driver), driver.scatter()
    heavy = mass > 1e-2 * mass.max()
    assert np.abs(f[heavy].sum(axis=0)).max() > 1e-6 * np.abs(f).sum()
    gradient = gradients(driver, "quadratic", mls=False)
    P = driver.body.material.stress(driver.body.F) * driver.body.volume[:, None, None]
    wrong = -np.einsum("pij,pnj->ni", P, gradient)
    assert np.abs(cross(driver.nodes, wrong).sum(axis=0)).max() > 1e-3 * np.abs(wrong).sum() * H
    right = -np.einsum("pij,pnj->ni", P @ driver.body.F.transpose(0, 2, 1), gradient)
    np.testing.assert_allclose(f, right, atol=1e-12 * np.abs(f).max())
    snow = strained(d, "quadratic", Snow(1e4))
    gradient = gradients(snow, "quadratic", mls=False)
    hardened = force(snow)
    snow.body.state["Jp"][:] = 1.0
    assert np.abs(force(snow) - hardened).max() > 0.1 * np.abs(hardened).max()


@kernels
@both
def test_rotated_material_at_rest_exerts_no_force(d: int, kernel: str) -> None:
    for material in (FixedCorotated(1e4), NeoHookean(1e4), Snow(1e4)):
        driver = strained(d, kernel, material, amount=0.0)
        scale = sum(lame(1e4, 0.3)) * H ** (d - 1)
        assert np.abs(force(driver)).max() <= 1e-12 * scale
        driver.body.F = 1.001 * driver.body.F
        assert np.abs(force(driver)).max() > 1e-4 * scale


@pytest.mark.parametrize("transfer", ["pic", "flip", "apic"])
@kernels
@both
def test_rigid_translation_changes_nothing(d: int, kernel: str, transfer: str) -> None:
    """F = R, constant v: v and F stay, positions advance by v t."""
    velocity = np.array([1.3, -0.7, 0.4])[:d]

    def run(stretch: float) -> tuple[float, float, float]:
        sim = ct.Simulation(H, (0.0,) * d, kernel=kernel, transfer=transfer, dt=1e-3)
        body = sim.add(ct.shapes.Box((0.0,) * d, (4 * H,) * d), NeoHookean(1e4), velocity=velocity)
        R = rotations(np.random.default_rng(2), 1, d)[0] * stretch
        body.F = R
        start = body.x[np.argsort(body.ids)].copy()
        for _ in range(50):
            sim.step()
        moved = body.fields()["x"] - start - velocity * sim.time
        return np.abs(body.v - velocity).max(), np.abs(body.F - R).max(), np.abs(moved).max()

    assert max(run(1.0)) <= 1e-12
    assert min(run(1.001)) > 1e-6


@pytest.mark.parametrize("exponential", [False, True])
@pytest.mark.parametrize("mls", [False, True])
@kernels
@both
def test_affine_patch(d: int, kernel: str, mls: bool, exponential: bool) -> None:
    """Nodes that move with v = L x give every particle L, and F = (I + dt L)^n (or exp(n dt L))."""
    rng = np.random.default_rng(3)
    L, dt, steps = rng.uniform(-1, 1, size=(d, d)), 0.01, 20
    driver = GridDriver(
        rng.uniform(-2 * H, 2 * H, size=(60, d)), H, kernel=kernel, mls=mls, exponential=exponential
    )
    x = driver.body.x.copy()
    ids = driver.body.ids.copy()
    for _ in range(steps):
        driver.gather(driver.nodes @ L.T, dt)
        assert np.abs(driver.body.C - L).max() <= 1e-12
    once = np.linalg.matrix_power(np.eye(d) + dt * L, steps)
    values, vectors = np.linalg.eig(L.astype(complex))
    smooth = (vectors * np.exp(steps * dt * values) @ np.linalg.inv(vectors)).real
    right, wrong = (smooth, once) if exponential else (once, smooth)
    assert np.abs(driver.body.F - right).max() <= 1e-12
    assert np.abs(driver.body.F - wrong).max() > 1e-5
    back = np.empty_like(x)
    back[driver.body.ids] = driver.body.x
    assert np.abs(back[ids] - x @ once.T).max() <= 1e-12  # positions follow the same map


@pytest.mark.parametrize("transfer", ["pic", "flip", "apic"])
@kernels
@both
def test_free_fall_is_the_discrete_parabola(d: int, kernel: str, transfer: str) -> None:
    """y_n = -g dt^2 n (n + 1) / 2, the parabola of symplectic Euler."""
    g = np.array([0.5, -9.81, 0.2])[:d]
    dt, n = 1e-3, 100
    sim = ct.Simulation(H, g, kernel=kernel, transfer=transfer, dt=dt)
    body = sim.add(ct.shapes.Box((0.0,) * d, (3 * H,) * d), NeoHookean(1e4))
    start = body.x.copy()
    for _ in range(n):
        sim.step()
    fallen = body.fields()["x"] - start
    assert np.abs(fallen - g * dt**2 * n * (n + 1) / 2).max() <= 1e-12
    assert np.abs(fallen - g * dt**2 * n * (n - 1) / 2).max() > 1e-4  # explicit Euler would lag behind
    assert np.abs(body.v - n * dt * g).max() <= 1e-12
    assert np.abs(body.F - np.eye(d)).max() <= 1e-12


@both
def test_apic_scatter_gives_the_grid_mass_and_both_momenta(d: int) -> None:
    rng = np.random.default_rng(4)
    n = 300
    driver = GridDriver(rng.uniform(0, 6 * H, size=(n, d)), H, mass=rng.uniform(0.5, 2, n))
    body = driver.body
    body.v[:], body.C = rng.normal(size=(n, d)), rng.normal(size=(n, d, d)) / H
    mass, velocity = driver.velocities()
    scale = (body.mass * np.linalg.norm(body.v, axis=1)).sum()
    assert abs(mass.sum() - body.mass.sum()) <= 1e-12 * body.mass.sum()
    assert np.abs(mass @ velocity - body.mass @ body.v).max() <= 1e-12 * scale
    B = body.C * H**2 / 4
    axial = np.zeros((n, 3))
    axial[:, 2] = B[:, 1, 0] - B[:, 0, 1]
    if d == 3:
        axial[:, 0], axial[:, 1] = B[:, 2, 1] - B[:, 1, 2], B[:, 0, 2] - B[:, 2, 0]
    orbit = cross(body.x, body.v)
    exact = (body.mass[:, None] * (orbit + axial)).sum(axis=0)
    assert np.abs(driver.angular(mass, velocity) - exact).max() <= 1e-12 * scale
    assert (
        np.abs(driver.angular(mass, velocity) - (body.mass[:, None] * orbit).sum(axis=0)).max() > 1e-3 * scale
    )


@both
def test_steps_too_large_for_the_first_order_map_do_not_invert_material(d: int) -> None:
    """R(M) = I + M if that keeps det > 0, else R(M / 2)^2; entries of about 1.5 need at most 3 halvings."""
    rng = np.random.default_rng(5)
    needed = 0
    for _ in range(200):
        M = rng.uniform(-1.5, 1.5, size=(d, d))
        driver = GridDriver(np.zeros((1, d)) + 0.3 * H, H)
        driver.gather((driver.nodes - driver.body.x[0]) @ M.T, 1.0)
        expected, halvings = M, 0
        while np.linalg.det(np.eye(d) + expected) <= 0:
            expected, halvings = expected / 2, halvings + 1
        safe = np.linalg.matrix_power(np.eye(d) + expected, 2**halvings)
        assert np.abs(driver.body.F[0] - safe).max() <= 1e-10 and driver.body.J[0] > 0
        assert halvings <= 3
        needed += halvings > 0
    assert 10 < needed < 190  # I + M alone would have inverted these
