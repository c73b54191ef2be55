"""The library computes the same motion as the 100 lines of NumPy in the documentation."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import continua as ct

FILE = Path(__file__).resolve().parents[1] / "docs" / "mpm_in_100_lines.py"
MATERIAL = ct.materials.FixedCorotated(E=1e5, nu=0.3, density=1000.0)


@pytest.fixture(scope="module")
def plain() -> dict:
    return runpy.run_path(str(FILE))


def test_it_fits_into_100_lines() -> None:
    assert len(FILE.read_text().splitlines()) <= 100


@pytest.mark.parametrize(("gravity", "steps"), [((0.0, -9.81), 80), ((0.0, -9.81, 0.0), 30)])
def test_library_agrees(plain: dict, gravity: tuple[float, ...], steps: int) -> None:
    """A box that is stretched, sheared, spinning and hits the ground; positions, velocities, C and F agree."""
    d, dx, dt = len(gravity), 0.05, 5e-4
    lower, upper = np.full(d, 0.011), np.full(d, 0.211)  # no plane of particles lies on a plane of nodes
    shear = np.array([[0.0, -6.0, 1.0], [8.0, 0.0, 0.0], [0.0, 2.0, -3.0]])[:d, :d]
    linear = np.array([0.3, -2.0, 0.1])[:d]
    stretch = np.eye(d) + 0.1 * np.array([[1.0, 0.5, 0.0], [0.0, -1.0, 0.2], [0.3, 0.0, 0.4]])[:d, :d]

    p = plain["box"](lower, upper, dx, MATERIAL.density)
    p.v = linear + (p.x - p.x.mean(axis=0)) @ shear.T
    p.C[:], p.F[:] = shear, stretch

    sim = ct.Simulation(dx, gravity, dt=dt, push_out=None)
    body = sim.add(
        ct.shapes.Box((lower + upper) / 2, upper - lower),
        MATERIAL,
        velocity=ct.velocities.Affine(linear, shear),
    )
    body.F = stretch
    sim.add(ct.boundaries.FixedVelocity((-9,) * d, (9, 0, 9)[:d], (None, 0.0, None)[:d]))
    assert np.allclose(body.fields()["x"], p.x, rtol=0, atol=1e-14)

    mu, lam = (MATERIAL.parameters()[name] for name in ("mu", "lam"))
    for _ in range(steps):
        plain["step"](p, dx, dt, gravity, mu, lam)
        sim.step()

    order = np.argsort(body.ids)
    assert (p.x[:, 1] < 0.02).any(), "the box should touch the ground"
    assert np.abs(body.x[order] - p.x).max() < 1e-12
    assert np.abs(body.v[order] - p.v).max() < 1e-10
    assert np.abs(body.F[order] - p.F).max() < 1e-10
    assert np.abs(body.C[order] - p.C).max() < 1e-10 * np.abs(p.C).max()
