"""A solid finds back from inside out, whatever the grid: its energy is smooth through flat elements (W20 4.3.1)."""

from __future__ import annotations

import numpy as np
import pytest
from solid_worlds import block, center, jelly, momentum, spin

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


@pytest.mark.parametrize("cells_per_dx", [0.5, 1.0, 4.0])
@both
def test_random_vertices_recover_for_every_spacing_of_the_grid(d: int, cells_per_dx: float) -> None:
    """W20 figure 4.10: dx / h in {1/2, 1, 4}; contact among its own parts is on, and must not hold it tangled.

    Largest distance of a vertex from rest, up to a rigid motion, below 1e-3 after damping, and det F > 0 everywhere.
    """
    n = 4 if d == 2 else 2
    h = 1.0 / n
    sim = ct.Simulation(cells_per_dx * h, (0.0,) * d)
    body = block(sim, np.zeros(d), 1.0, n, material=jelly(1e4), drag=8.0)
    body.x = np.random.default_rng(3).uniform(-0.2, 1.2, body.rest.shape)
    assert (body.J < 0).any()
    sim.run(2.0, fps=1)
    assert (body.J > 0).all()
    assert misfit(body) < 1e-3
    assert misfit(body, body.rest * 1.01) > 1e-3  # a percent of stretch is noticed


def misfit(body: ct.SolidBody, x: np.ndarray | None = None) -> float:
    """Largest distance from the rest shape, best placed by a rotation and a shift (Kabsch 1976)."""
    x = body.x if x is None else x
    a, b = body.rest - body.rest.mean(axis=0), x - x.mean(axis=0)
    u, _, vt = np.linalg.svd(b.T @ a)
    sign = np.ones(len(u))
    sign[-1] = np.sign(np.linalg.det(u @ vt))
    return float(np.linalg.norm(b - a @ (u * sign @ vt).T, axis=1).max())


@both
def test_self_contact_of_a_tangle_gives_no_momentum(d: int) -> None:
    """Impulses among its own parts come from the grid, in pairs up to how Coulomb's law cuts them: it does not fly off."""
    sim = ct.Simulation(0.25, (0.0,) * d)
    body = block(sim, np.zeros(d), 1.0, 4 if d == 2 else 2, material=jelly(1e4))
    body.x = np.random.default_rng(3).uniform(-0.2, 1.2, body.rest.shape)
    start, scale = center(body), float(np.sqrt(2 * body.energy.value(body.x) * body.mass.sum()))
    sim.run(0.2, fps=5)
    assert np.linalg.norm(momentum(body)) < 0.05 * scale
    assert np.linalg.norm(center(body) - start) < 0.5
    assert np.isfinite(spin(body)).all()
