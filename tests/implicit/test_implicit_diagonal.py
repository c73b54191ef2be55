"""The preconditioner is the diagonal of the second derivative at rest. O14; J15 A.6.1."""

from __future__ import annotations

import numpy as np
import pytest
from grid_driver import GridDriver, weight_gradients
from implicit_driver import CASES, DT, FIXED, Case, H, ImplicitDriver, shapes, strained

from continua.materials.base import lame
from continua.optimize.krylov import Stopping, cg

# at F = I these are at rest, whatever their history
RESTING = [case for case in CASES if not case.name.startswith("oldroyd")]


@shapes
def test_diagonal_is_the_formula_of_linear_elasticity(d: int, kernel: str) -> None:
    at = strained(FIXED, d, kernel, amount=0.5)  # the strain of the particles does not matter
    mu, lam = lame(FIXED.material.E, FIXED.material.nu)
    gradient = weight_gradients(at.body.x, at.driver.nodes, H, kernel)
    square = (gradient**2).sum(axis=2, keepdims=True)

    def formula(mu: float) -> np.ndarray:
        entries = (lam + mu) * gradient**2 + mu * square
        return DT**2 * np.einsum("p,pni->ni", at.body.volume, entries)

    found = at.diagonal()
    assert np.abs(found - formula(mu)).max() < 1e-12 * found.max()
    assert np.abs(found - formula(1.01 * mu)).max() > 1e-4 * found.max()


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("case", RESTING, ids=lambda case: case.name)
def test_diagonal_is_that_of_the_products_at_rest(case: Case, d: int) -> None:
    at = strained(case, d, "quadratic", n=120, cells=2.0)  # blocks of several batches
    at.body.F = np.eye(d)
    diagonal, nodes = at.diagonal(), at.driver.nodes
    tangents = at.prepare(np.zeros_like(nodes))
    for node in np.argsort(-diagonal[:, 0])[:40:3]:
        for axis in range(d):
            unit = np.zeros_like(nodes)
            unit[node, axis] = 1
            entry = at.product(tangents, unit)[node, axis]
            assert abs(diagonal[node, axis] - entry) < 1e-12 * diagonal.max()


def iterations(at: ImplicitDriver, mass: np.ndarray, tangents: np.ndarray, diagonal: np.ndarray) -> int:
    """CG steps to 1e-8 for (M + H) u = M b on the nodes with mass, with that preconditioner (nodes, d)."""
    active = (mass > 1e-10 * at.body.mass.mean())[:, None]
    right = mass[:, None] * np.random.default_rng(0).normal(size=diagonal.shape)
    solution = cg(
        lambda u: active * (mass[:, None] * u + at.product(tangents, u)),
        active * right,
        lambda r: active * r / np.where(active, diagonal, 1.0),
        Stopping(relative=1e-8, max_iterations=5000),
    )
    assert solution.status == "tol"
    return solution.iterations


@pytest.mark.parametrize(("courant", "least"), [(1.0, 6.0), (5.0, 5.0)])
def test_preconditioned_iterations(courant: float, least: float) -> None:
    """dt = courant dx/c on 144 particles: several times fewer iterations than without, no more than with masses."""
    grid = (np.stack(np.meshgrid(*[np.arange(12.0)] * 2), axis=-1).reshape(-1, 2) + 0.5) * H / 2
    x = grid + 0.01 * np.random.default_rng(5).uniform(-1, 1, grid.shape)
    driver = GridDriver(x, H, material=FIXED.material, volume=np.full(144, H**2 / 4))
    driver.body.F = np.eye(2) + 0.02 * np.random.default_rng(6).normal(size=(144, 2, 2))
    at = ImplicitDriver(driver, dt=courant * H / FIXED.material.wave_speed())
    mass, _ = driver.scatter()
    tangents = at.prepare(np.zeros_like(driver.nodes), positive=True)
    full = mass[:, None] + at.diagonal()
    plain, by_mass, both = (
        iterations(at, mass, tangents, p)
        for p in (np.ones_like(full), np.broadcast_to(mass[:, None], full.shape), full)
    )
    assert plain > least * both and both <= by_mass + 2
