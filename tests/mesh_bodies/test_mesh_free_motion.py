"""Mesh bodies without obstacles: free fall, energy, momentum, accuracy (O2, O4, O5, O15)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mesh_worlds import FRAME, block, energy_terms, norm_m, world

import continua as ct
from continua.optimize import ImplicitStep


def test_o2_free_fall_is_exact_and_takes_no_iteration() -> None:
    sim = world((0.0, -9.81, 0.0))
    body = block(sim, velocity=(1.0, 2.0, 3.0), cells=2)
    x = body.x.copy()
    for k in range(1, 4):
        assert sim.step() == FRAME
        assert sim.diagnostics()["newton_iterations"] == 0
        fallen = k * FRAME * np.array([1, 2, 3]) + k * (k + 1) / 2 * FRAME**2 * sim.gravity
        np.testing.assert_allclose(body.x, x + fallen, atol=1e-13)
    np.testing.assert_allclose(body.v[0], [1, 2 - 9.81 * 3 * FRAME, 3], rtol=1e-12)


def test_o2_without_the_guess_of_constant_forces_free_fall_needs_iterations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ImplicitStep, "starts", lambda self, acceleration: [self.target])
    sim = world((0.0, -9.81, 0.0))
    block(sim, cells=2)
    sim.step()
    assert sim.diagnostics()["newton_iterations"] > 0


def largest_gain(scheme: str) -> float:
    """Of 1/2 |v_new - v|^2 + Phi_new over 1/2 |v|^2 + Phi in ten steps, relative."""
    sim = world(scheme=scheme)
    body = block(sim, cells=3, E=1e4)
    body.x[:] += 0.3 * np.random.default_rng(0).standard_normal(body.x.shape)
    assert body.J.min() < 0
    gains = []
    for _ in range(10):
        v, before = body.v.copy(), 0.5 * norm_m(body, body.v) + energy_terms(sim, body)
        sim.step()
        after = 0.5 * norm_m(body, body.v - v) + energy_terms(sim, body)
        gains.append((after - before) / abs(before))
    return max(gains)


def test_o4_the_energy_of_a_step_is_bounded_from_inverted_starts_too() -> None:
    assert largest_gain("backward-euler") <= 1e-12
    assert largest_gain("trapezoid") > 1e-3  # is not the minimum of that energy


def spinning(dt: float, time: float = 10 / 240) -> tuple[float, float]:
    """Drift of linear momentum, and of angular momentum relative to its value."""
    sim = world((0.0, 0.0, 0.0), dt, tolerance=1e-13)
    body = block(sim, velocity=ct.velocities.Rigid((1.0, 0.5, 0.2), (0.0, 0.0, 5.0)))
    first = sim.diagnostics()
    for _ in range(round(time / dt)):
        sim.step()
    last = sim.diagnostics()
    linear = max(abs(last[f"momentum_{a}"] - first[f"momentum_{a}"]) for a in "xyz") / body.mass.sum()
    return linear, abs(last["angular_z"] / first["angular_z"] - 1)


def test_o5_momentum_is_kept_and_the_loss_of_spin_is_linear_in_dt() -> None:
    linear, coarse = spinning(1 / 240)
    _, fine = spinning(1 / 480)
    assert linear < 1e-12
    assert 1e-4 < coarse < 2e-2  # backward Euler does not keep it
    assert coarse / fine == pytest.approx(2, abs=0.2)


def test_a_step_that_does_not_converge_names_the_body_and_keeps_the_state() -> None:
    sim = world((0.0, 0.0, 0.0), max_iterations=1)
    body = block(sim, E=1e6, start=ct.Scattered((0, 0, 0), (1, 1, 1)))
    x = body.x.copy()
    with pytest.raises(ct.ContinuaError, match='mesh body "solid1" .*did not converge.*use a smaller dt'):
        sim.step()
    assert sim.time == 0 and not body.v.any() and np.array_equal(body.x, x)


def swinging(scheme: str, dt: float, **options: Any) -> np.ndarray:
    sim = world((0.0, 0.0), dt, scheme=scheme, tolerance=1e-11)
    held = ct.Scripted(lambda x: x[:, 0] == 0)
    body = block(sim, cells=2, scripted=held, **({"velocity": (0.0, -1.0)} | options))
    body.v[body.rest[:, 0] == 0] = 0
    for _ in range(round(0.08 / dt)):
        sim.step()
    return body.x


@pytest.mark.parametrize(("scheme", "order"), [("backward-euler", 1), ("trapezoid", 2), ("bdf2", 2)])
@pytest.mark.parametrize("options", [{}, {"drag": 3.0}, {"damping": 2e-3, "velocity": (0.0, -1e-3)}])
def test_o15_orders_of_the_schemes(scheme: str, order: int, options: dict[str, Any]) -> None:
    """Lagged damping is of first order where the stiffness changes, so that it is tested at small strains."""
    coarse, middle, fine = (swinging(scheme, dt, **options) for dt in (4e-3, 2e-3, 1e-3))
    found = np.log2(np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine))
    assert found == pytest.approx(order, abs=0.12)


def test_o15_bdf2_started_anew_in_every_step_is_the_trapezoid() -> None:
    """Steps that change by more than rounding have no history that fits."""
    sims = [world(scheme=scheme, tolerance=1e-11) for scheme in ("bdf2", "trapezoid")]
    bodies = [block(sim, cells=2, velocity=ct.velocities.Rigid((0.0, 0.0), 3.0)) for sim in sims]
    for sim in sims:
        for k in range(6):
            sim.step(1e-2 * (1 + k % 2))
    np.testing.assert_array_equal(bodies[0].x, bodies[1].x)
    for sim in sims:
        sim.step(2e-2)
    assert np.abs(bodies[0].x - bodies[1].x).max() > 1e-9
