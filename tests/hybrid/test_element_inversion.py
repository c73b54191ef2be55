"""A solid finds back from inside out, whatever the grid: its energy is smooth through flat elements (W20 4.3.1)."""

from __future__ import annotations

import numpy as np
import pytest
from solid_worlds import block, jelly

import continua as ct
from continua.mesh import Elements

both = pytest.mark.parametrize("d", [2, 3])


@both
def test_an_inverted_element_recovers_its_volume(d: int) -> None:
    """One element turned inside out through a corner moves with damping until det F = 1, to 1e-6."""
    points = np.vstack([np.zeros(d), np.eye(d)])
    cells = np.arange(d + 1, dtype=np.int32)[None]
    elements = Elements(points, cells, jelly(E=1e3))
    x = points.copy()
    x[1, 0] = -0.8
    assert np.linalg.det(elements.deformation(x))[0] == pytest.approx(-0.8, rel=1e-12)
    v, mass, dt = np.zeros_like(x), elements.lumped_mass(), 0.01
    for _ in range(6000):
        v = (v - dt * elements.gradient(x) / mass[:, None]) / (1 + dt * 2.0)
        x = x + dt * v
    assert np.linalg.det(elements.deformation(x))[0] == pytest.approx(1, abs=1e-6)
    assert elements.value(x) < 1e-12
    # P of a polar decomposition that hides the reflection in U or V has the mirror image at rest, where it stays.
    mirrored = points * np.where(np.arange(d) == 0, -1, 1)
    assert np.abs(elements.gradient(mirrored)).max() > 100
    assert elements.value(mirrored) > 100


# In 2D a folded corner may be at rest, without any contact too: starts are such that elasticity alone recovers.
CUBES = [(2, 12, 0.5), (2, 12, 1.0), (2, 16, 4.0), (3, 4, 0.5), (3, 4, 1.0)]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("d", "n", "ratio"), CUBES)
def test_random_vertices_recover_for_every_spacing_of_the_grid(
    d: int, n: int, ratio: float, seed: int
) -> None:
    """W20 figure 4.10, dx / h in {1/2, 1, 4}: contact among its own parts must not hold it tangled.

    Largest distance of a vertex from rest, up to a rigid motion, below 1e-3 after damping, and det F > 0 everywhere.
    """
    body = tangled(d, n, ratio, seed)
    assert (body.J > 0).all()
    assert misfit(body) < 1e-3
    assert misfit(body, body.rest * 1.01) > 1e-3  # a percent of stretch is noticed


def tangled(d: int, n: int, ratio: float, seed: int, contact: ct.GridContact | None = None) -> ct.SolidBody:
    """A unit cube of n cells, its vertices anywhere in it at first, after 8 s with drag."""
    sim = ct.Simulation(ratio / n, (0.0,) * d)
    body = block(sim, np.zeros(d), 1.0, n, material=jelly(1e4), drag=8.0, contact=contact)
    body.x = np.random.default_rng(seed).uniform(0.0, 1.0, body.rest.shape)
    assert (body.J < 0).any()
    sim.run(8.0, fps=1)
    return body


@pytest.mark.parametrize("seed", [1, 2])
def test_with_the_literal_scheme_it_stays_tangled(seed: int) -> None:
    """The control: all of the surface feels all of it, elements that are inside out as well."""
    literal = ct.GridContact(gate=False, scatter="averaged", restitution=1.0)
    assert misfit(tangled(3, 4, 1.0, seed, literal)) > 0.01


def misfit(body: ct.SolidBody, x: np.ndarray | None = None) -> float:
    """Largest distance from the rest shape, best placed by a rotation and a shift (Kabsch 1976)."""
    x = body.x if x is None else x
    a, b = body.rest - body.rest.mean(axis=0), x - x.mean(axis=0)
    u, _, vt = np.linalg.svd(b.T @ a)
    sign = np.ones(len(u))
    sign[-1] = np.sign(np.linalg.det(u @ vt))
    return float(np.linalg.norm(b - a @ (u * sign @ vt).T, axis=1).max())
