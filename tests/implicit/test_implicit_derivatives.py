"""Energy, gradient and second derivative of an implicit step fit together for every material. O14; mpm-core 13."""

from __future__ import annotations

import numpy as np
import pytest
from grid_driver import cross, weight_gradients
from implicit_driver import (
    CASES,
    DT,
    FIXED,
    Case,
    H,
    ImplicitDriver,
    every,
    shapes,
    smooth_velocity,
    strained,
)

import continua as ct
from continua import _core
from continua.bodies.points import Parameters
from continua.materials import OldroydB
from continua.materials.base import lame

VISCOUS = [case for case in CASES if case.material.dynamic_viscosity() > 0]


def slope(f, v: np.ndarray, u: np.ndarray, h: float):
    """Derivative of f at v along u, fourth-order central differences."""
    return (8 * (f(v + h * u) - f(v - h * u)) - (f(v + 2 * h * u) - f(v - 2 * h * u))) / (12 * h)


def direction(at: ImplicitDriver, seed: int = 11) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=at.driver.nodes.shape)


def force_error(at: ImplicitDriver, v: np.ndarray, gradient: np.ndarray) -> float:
    """Slope of the energy along random u against gradient . u, relative."""
    u = direction(at)
    return float(abs(slope(at.energy, v, u, 2e-3) - np.vdot(gradient, u)) / np.abs(gradient * u).sum())


def product_error(at: ImplicitDriver, v: np.ndarray, tangents: np.ndarray) -> float:
    """Slope of the gradient along random u against the product with u, relative."""
    u = direction(at)
    expected = slope(at.forces, v, u, 2e-3)
    return float(np.abs(at.product(tangents, u) - expected).max() / np.abs(expected).max())


@shapes
@every
def test_forces_and_products_are_derivatives(case: Case, d: int, kernel: str) -> None:
    at = strained(case, d, kernel)
    v = smooth_velocity(at)
    assert np.isfinite(at.energy(v))
    assert force_error(at, v, at.forces(v)) < 1e-7
    assert product_error(at, v, at.prepare(v)) < 1e-7


@pytest.mark.parametrize("d", [2, 3])
def test_stale_forces_and_tangents_are_noticed(d: int) -> None:
    at = strained(FIXED, d, "quadratic")
    v = smooth_velocity(at)
    assert force_error(at, v, at.forces(0 * v)) > 1e-3
    assert product_error(at, v, at.prepare(0 * v)) > 1e-3
    assert product_error(at, v, at.prepare(v, positive=True)) > 1e-4


@pytest.mark.parametrize("case", VISCOUS, ids=lambda case: case.name)
def test_viscosity_is_part_of_the_potential(case: Case) -> None:
    at = strained(case, 2, "quadratic")
    v = smooth_velocity(at)
    thin = at.parameters.values.copy()
    thin[list(case.material.parameters()).index("viscosity")] = 0
    calm = ImplicitDriver(at.driver, Parameters(thin, at.parameters.rows))
    assert force_error(at, v, at.forces(v)) < 1e-7 < 1e-4 < force_error(at, v, calm.forces(v))
    L = np.einsum("ni,pnj->pij", v, weight_gradients(at.body.x, at.driver.nodes, H, "quadratic"))
    rate2 = ((0.5 * (L + L.transpose(0, 2, 1))) ** 2).sum(axis=(1, 2))
    lost = DT * case.material.dynamic_viscosity() * (at.body.volume * at.body.J * rate2).sum()
    assert at.energy(v) - calm.energy(v) == pytest.approx(lost, rel=1e-9)


@shapes
def test_energy_and_forces_against_plain_sums(d: int, kernel: str) -> None:
    at = strained(FIXED, d, kernel)
    body, v = at.body, smooth_velocity(at)
    gradient = weight_gradients(body.x, at.driver.nodes, H, kernel)
    moved = body.F + DT * np.einsum("ni,pnj,pjk->pik", v, gradient, body.F)
    energy = (body.volume * body.material.energy(moved)).sum()
    stress = body.volume[:, None, None] * (body.material.stress(moved) @ body.F.transpose(0, 2, 1))
    forces = DT * np.einsum("pij,pnj->ni", stress, gradient)
    assert at.energy(v) == pytest.approx(energy, rel=1e-12)
    assert np.abs(at.forces(v) - forces).max() < 1e-12 * np.abs(forces).max()


@shapes
def test_periodic_axes(d: int, kernel: str) -> None:
    """Particles next to a seam reach the nodes behind it: plain sums over all images of the nodes."""
    at = strained(FIXED, d, kernel, n=150, cells=8.0)
    body, period = at.body, 8 * H
    body.x = body.x + 0.5 * period
    at.field.lattice.period[:] = 2  # blocks of four cells
    at.driver.sort()
    v, images = smooth_velocity(at), period * (np.indices((3,) * d).reshape(d, -1).T - 1)
    gradient = sum(weight_gradients(body.x, at.driver.nodes + image, H, kernel) for image in images)
    moved = body.F + DT * np.einsum("ni,pnj,pjk->pik", v, gradient, body.F)
    stress = body.volume[:, None, None] * (body.material.stress(moved) @ body.F.transpose(0, 2, 1))
    forces = DT * np.einsum("pij,pnj->ni", stress, gradient)
    assert len(at.driver.nodes) == 8**d
    assert at.energy(v) == pytest.approx((body.volume * body.material.energy(moved)).sum(), rel=1e-12)
    assert np.abs(at.forces(v) - forces).max() < 1e-12 * np.abs(forces).max()
    assert product_error(at, v, at.prepare(v)) < 1e-7
    mu, lam = lame(FIXED.material.E, FIXED.material.nu)
    squares = (gradient**2).sum(axis=2, keepdims=True)
    diagonal = DT**2 * np.einsum("p,pni->ni", body.volume, mu * squares + (lam + mu) * gradient**2)
    assert np.abs(at.diagonal() - diagonal).max() < 1e-12 * diagonal.max()


def test_parameters_may_differ_between_particles() -> None:
    """mu read from a row of the state, here that of the only history variable."""
    case = Case("foam", OldroydB(mu=1.0, lam=50.0, relaxation_time=0.5), {"stretch_scale": (0.6, 1.6)})
    at = strained(case, 2, "quadratic")
    rows = at.parameters.rows.copy()
    rows[0] = 0
    varied = ImplicitDriver(at.driver, Parameters(at.parameters.values, rows))
    v, body = smooth_velocity(at), at.body
    gradient = weight_gradients(body.x, at.driver.nodes, H, "quadratic")
    moved = body.F + DT * np.einsum("ni,pnj,pjk->pik", v, gradient, body.F)
    table = np.repeat(at.parameters.values[:, None], body.count, axis=1)
    table[0] = body.state["stretch_scale"]
    energy = (body.volume * body.material.energy(moved, body.state, parameters=table)).sum()
    assert varied.energy(v) == pytest.approx(energy, rel=1e-12)
    assert at.energy(v) != pytest.approx(energy, rel=1e-3)
    assert product_error(varied, v, varied.prepare(v)) < 1e-7


@shapes
def test_forces_and_products_add_up_to_nothing(d: int, kernel: str) -> None:
    """Translation and rotation of the moved nodes cost no energy."""
    at = strained(FIXED, d, kernel)
    v, u = smooth_velocity(at), direction(at)
    forces, product = at.forces(v), at.product(at.prepare(v), u)
    for vector in (forces, product):
        assert np.abs(vector.sum(axis=0)).max() < 1e-12 * np.abs(vector).sum()
    moved = at.driver.nodes + DT * v
    scale = np.abs(cross(moved, forces)).sum()
    assert np.abs(cross(moved, forces).sum(axis=0)).max() < 1e-12 * scale
    assert np.abs(cross(at.driver.nodes, forces).sum(axis=0)).max() > 1e-6 * scale  # not about the old nodes


@shapes
@pytest.mark.parametrize("positive", [False, True])
def test_products_are_symmetric(d: int, kernel: str, positive: bool) -> None:
    at = strained(FIXED, d, kernel, amount=0.3)
    tangents = at.prepare(smooth_velocity(at), positive=positive)
    u, w = direction(at, 1), direction(at, 2)
    Hu, Hw = at.product(tangents, u), at.product(tangents, w)
    assert abs(np.vdot(w, Hu) - np.vdot(u, Hw)) < 1e-12 * np.abs(w * Hu).sum()


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("case", [FIXED, CASES[1], CASES[4]], ids=lambda case: case.name)
def test_projected_products_are_never_negative(case: Case, d: int) -> None:
    """Under strong compression the true second derivative is indefinite; without negative eigenvalues it is not."""
    at = strained(case, d, "quadratic", n=12, amount=0.05, cells=2.0)
    at.body.F = 0.4 * at.body.F
    rest = np.zeros_like(at.driver.nodes)
    lowest = {}
    for positive in (False, True):
        tangents = at.prepare(rest, positive=positive)
        values = []
        for seed in range(200):
            u = direction(at, seed)
            Hu = at.product(tangents, u)
            values.append(np.vdot(u, Hu) / np.abs(u * Hu).sum())
        lowest[positive] = min(values)
    assert lowest[True] >= -1e-10
    assert case is not FIXED or lowest[False] < -1e-2


@pytest.mark.parametrize("d", [2, 3])
def test_infeasible_states_have_infinite_energy(d: int) -> None:
    """Nodes that would turn the material inside out: the line search must see it."""
    for case, finite in ((CASES[0], True), (CASES[1], False), (CASES[4], False)):
        at = strained(case, d, "quadratic")
        v = -1.5 / DT * at.driver.nodes[:, :1] * np.eye(d)[0]
        assert np.isfinite(at.energy(v)) == finite
        assert at.energy(v) > at.energy(0 * v)
    v[0, 0] = np.nan
    assert at.energy(np.full_like(v, np.nan)) == np.inf


@shapes
@pytest.mark.parametrize("case", [FIXED, CASES[5]], ids=lambda case: case.name)
def test_single_precision_agrees(case: Case, d: int, kernel: str) -> None:
    one, two = strained(case, d, kernel), strained(case, d, kernel, dtype=np.float32)
    v, u = smooth_velocity(one), direction(one)
    assert two.energy(v) == pytest.approx(one.energy(v), rel=1e-4)
    for exact, rough in (
        (one.forces(v), two.forces(v)),
        (one.product(one.prepare(v), u), two.product(two.prepare(v), u)),
        (one.diagonal(), two.diagonal()),
    ):
        assert np.abs(rough - exact).max() < 2e-4 * np.abs(exact).max()


def test_same_bits_for_any_number_of_threads() -> None:
    at = strained(FIXED, 3, "quadratic", n=40_000, cells=16.0)
    v, u = smooth_velocity(at), direction(at)
    found, before = [], ct.threads()
    try:
        for threads in (1, 2, 3):
            ct.set_threads(threads)
            tangents = at.prepare(v)
            moved, report = at.positions(0.3 * v)
            arrays = [at.forces(v), at.product(tangents, u), at.diagonal(), moved]
            found.append((at.energy(v), report, [a.tobytes() for a in arrays]))
    finally:
        ct.set_threads(before)
    assert found[0] == found[1] == found[2]


def test_tangents_need_one_more_row_for_viscosity() -> None:
    assert [_core.tangent_rows("neo-hookean", d) for d in (2, 3)] == [13, 30]
    assert [_core.tangent_rows("liquid", d) for d in (2, 3)] == [14, 31]
