"""Runs of solids that meet exactly: the same bits, on one thread or two, in one go or resumed, in any order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from exact_worlds import BE, Watched, balls, bits, block

import continua as ct


def world(integrator: object = "symplectic", d: int = 3) -> ct.Simulation:
    sim = ct.Simulation(0.12, (0.0, -9.81, 0.0)[:d], integrator=integrator, dt=1.5e-3)  # type: ignore[arg-type]
    balls(sim, spin=3.0, gap=0.0, offset=0.02, damping=1e-3, contact=ct.ExactContact(friction=0.3, augury=1))
    sim.add(ct.colliders.Plane((0.0, 1.0, 0.0)[:d], (0.0, -0.28, 0.0)[:d], friction=0.5))
    return sim


@pytest.mark.parametrize("integrator", ["symplectic", BE])
def test_the_same_bits_on_any_number_of_threads(integrator: object) -> None:
    before, found = ct.threads(), []
    try:
        for threads in (1, 2):
            ct.set_threads(threads)
            sim = world(integrator)
            for _ in range(15):
                sim.step()
            found.append(bits(sim))
    finally:
        ct.set_threads(before)
    assert sim.diagnostics()["exact_hits"] > 0
    assert found[0] == found[1]


@pytest.mark.parametrize("integrator", ["symplectic", BE])
def test_a_run_that_is_resumed_has_the_same_bits(integrator: object, tmp_path: Path) -> None:
    whole, parts = world(integrator), world(integrator)
    whole.run(frames=4, fps=100.0, output=tmp_path / "whole")
    parts.run(frames=2, fps=100.0, output=tmp_path / "parts")
    again = world(integrator)
    again.run(frames=4, fps=100.0, output=tmp_path / "parts", resume=True)
    assert whole.diagnostics()["exact_hits"] > 0
    assert bits(whole) == bits(again)
    assert whole.diagnostics()["exact_hits"] == again.diagnostics()["exact_hits"]


def test_the_order_of_adding_changes_rounding_only() -> None:
    """Where no two impacts are at the same time, impulses come in the order of time."""
    ends = []
    for order in (1, -1):
        sim = ct.Simulation(0.1, (0.0, 0.0), dt=1e-3)
        made = {}
        for name, low, speed in (("a", (0.0, 0.0), 1.0), ("b", (0.42, 0.013), -1.0))[::order]:
            turn = ct.velocities.Rigid((speed, 0.0), 2.0 * speed, low)
            made[name] = block(sim, low, 0.4, 3, name=name, velocity=turn)
        for _ in range(40):
            sim.step()
        ends.append(np.concatenate([made["a"].x, made["b"].x]))
    assert sim.diagnostics()["exact_hits"] > 0
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("d", [2, 3])
def test_a_pile_on_a_floor_comes_to_rest(d: int, precision: str) -> None:
    """Blocks fall on a floor and on each other; at the end they lie, and the floor carries them."""
    sim = ct.Simulation(0.12, (0.0, -9.81, 0.0)[:d], integrator="optimization", dt=4e-3, precision=precision)
    sim.add(ct.colliders.Plane((0.0, 1.0, 0.0)[:d], friction=0.5))
    low = block(sim, (0.0, 0.01, 0.0)[:d], 0.3, 2, damping=3e-2)
    high = block(sim, (0.05, 0.33, 0.05)[:d], 0.2, 2, damping=3e-2)
    watched = Watched(sim)
    watched.run(150)
    before = sim.impulses[0, 1]
    watched.run(50)
    weight = 9.81 * (low.mass.sum() + high.mass.sum())
    assert (sim.impulses[0, 1] - before) / (50 * sim.dt) == pytest.approx(weight, rel=0.05)
    assert low.x[:, 1].min() > 0 and high.x[:, 1].min() > 0.2
    assert max(np.abs(low.v).max(), np.abs(high.v).max()) < 0.1


def test_it_may_live_far_from_zero() -> None:
    """At map coordinates as at zero, up to rounding of positions."""
    ends = []
    for shift in (0.0, 1e5):
        sim = ct.Simulation(0.125, (0.0, 0.0), dt=1e-3)
        for side in (-1.0, 1.0):
            low = np.array([shift + (-0.5 if side < 0 else 0.03125), 0.0078125 * side])
            turn = ct.velocities.Rigid((-side, 0.0), 2.0 * side, tuple(low))
            block(sim, low, 0.46875, 3, velocity=turn)
        Watched(sim).run(40)
        ends.append(np.concatenate([body.x - (shift, 0.0) for body in sim.bodies]))
    assert sim.diagnostics()["exact_hits"] > 0
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


@pytest.mark.parametrize("integrator", ["symplectic", "optimization"])
def test_who_insists_on_a_step_does_not_get_surfaces_through_each_other(integrator: str) -> None:
    """A step that contact cannot end is shortened, whatever was asked for."""
    sim = ct.Simulation(0.1, (0.0, 0.0), integrator=integrator, dt=0.02, force_dt=True)
    sim.add(ct.colliders.Plane((0.0, 1.0), name="floor"))
    soft = ct.materials.FixedCorotated(E=1e4, nu=0.3, density=1000.0)
    body = block(sim, (0.0, 0.05), 0.4, 4, velocity=(0.0, -3.0), material=soft)
    steps = []
    for _ in range(6):
        sim.step()
        steps.append(sim.dt)
        assert body.x[:, 1].min() > -1e-9
    assert np.isfinite(body.x).all()
