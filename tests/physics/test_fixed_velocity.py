"""Regions of prescribed grid velocity."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct

H = 0.05
JELLY = ct.materials.FixedCorotated(1e5, 0.0, 1000.0)


@pytest.mark.parametrize("d", [2, 3])
def test_free_components_stay_free(d: int) -> None:
    """x is prescribed everywhere, y (and z) fall freely."""
    g = np.array([0.0, -9.81, 1.0])[:d]
    sim = ct.Simulation(H, g, dt=1e-3)
    body = sim.add(ct.shapes.Box((0.0,) * d, (0.2,) * d), JELLY)
    start = body.x.copy()
    sim.add(ct.boundaries.FixedVelocity((-9.0,) * d, (9.0,) * d, (0.7, None, None)[:d]))
    for _ in range(50):
        sim.step()
    fall = g * 1e-6 * 50 * 51 / 2
    fall[0] = 0.7 * sim.time
    assert np.abs(body.fields()["x"] - start - fall).max() <= 1e-12
    assert np.abs(body.v[:, 0] - 0.7).max() <= 1e-12
    assert np.abs(body.v[:, 1] - 0.7).max() > 0.1


def test_only_nodes_inside_are_held() -> None:
    sim = ct.Simulation(H, (0, 0), transfer="pic", dt=1e-3)
    body = sim.add(ct.shapes.Box((0, 0), (1.0, 0.2)), JELLY, velocity=(0.1, 0))
    sim.add(ct.boundaries.FixedVelocity((0.0, -1), (9, 1), (0.0, 0.0)))
    sim.step()
    held, free = body.x[:, 0] > 1.5 * H, body.x[:, 0] < -1.5 * H
    assert np.abs(body.v[held]).max() <= 1e-15
    assert np.abs(body.v[free] - (0.1, 0)).max() <= 1e-12


@pytest.mark.parametrize("scheme", ["symplectic", "optimization"])
@pytest.mark.parametrize("plane", [0, 3, 7, 12])
def test_nodes_on_the_surface_of_a_region_belong_to_it(plane: int, scheme: str) -> None:
    """Users put grips on node planes; rounding of 7 * 0.1 must not decide whether a row is held."""

    def places(hair: float) -> np.ndarray:
        sim = ct.Simulation(0.1, (0, -1.0), integrator=scheme, dt=2e-3, force_dt=True)
        body = sim.add(ct.shapes.Box((plane * 0.1 + 0.3, 0.2), (0.6, 0.4)), JELLY)
        sim.add(ct.boundaries.FixedVelocity((-9, -9), (plane * 0.1 + hair * 0.1, 9), (0, 0)))
        for _ in range(5):
            sim.step()
        return body.x.copy()

    np.testing.assert_allclose(places(0.0), places(1e-6), rtol=0, atol=1e-12)
    assert np.abs(places(0.0) - places(-1e-6)).max() > 1e-6


def test_grips_stretch_a_bar_uniformly_and_feel_its_force() -> None:
    """Two grips part slowly: strain 2 v t / L between them, force E A strain (nu = 0)."""
    sim = ct.Simulation(H, (0, 0), transfer="pic")
    length, height, speed = 1.0, 0.4, 0.05
    body = sim.add(ct.shapes.Box((0, 0), (length + 4 * H, height)), JELLY)
    sim.add(ct.boundaries.FixedVelocity((length / 2, -1), (2, 1), (speed, 0)))
    sim.add(ct.boundaries.FixedVelocity((-2, -1), (-length / 2, 1), (-speed, 0)))
    start = body.mass @ body.v
    while sim.time < 0.2:
        sim.step(0.2 - sim.time)
    before, t = sim.impulses.copy(), sim.time
    while sim.time < 0.3:
        sim.step(0.3 - sim.time)
    middle = np.abs(body.x[:, 0]) < 0.25
    strain = 2 * speed * sim.time / length
    assert body.F[middle, 0, 0] - 1 == pytest.approx(strain, rel=0.05)
    assert body.F[middle, 0, 0] - 1 != pytest.approx(strain / 2, rel=0.05)
    pull = (sim.impulses - before)[:, 0] / (sim.time - t)
    mean_force = JELLY.E * height * 2 * speed * (t + sim.time) / 2 / length
    assert pull[0] == pytest.approx(mean_force, rel=0.05) and pull[1] == pytest.approx(-mean_force, rel=0.05)
    change = body.mass @ body.v - start
    assert np.abs(change - sim.impulses.sum(axis=0)[:2]).max() <= 1e-10 * np.abs(sim.impulses).max()
