"""Obstacles in implicit steps: sticky, slip and separating floors, friction, moving bodies, prescribed velocities."""

from __future__ import annotations

import numpy as np
import pytest
from implicit_worlds import RUBBER, H, block_above_floor

import continua as ct
from continua.integrators import Integrator, Optimization, SemiImplicit, implicit
from continua.validation.incline import JELLY, Slide, exact

G = 9.8  # [m/s^2]
schemes = pytest.mark.parametrize("scheme", ["semi-implicit", "optimization"])


def deepest(scheme: Integrator) -> float:
    """Lowest particle of a soft block thrown onto a sticky floor without push-out, in cells above the floor."""
    sim, body = block_above_floor(scheme, ct.materials.FixedCorotated(2e3, 0.2, 400.0), push_out=None)
    low = np.inf
    while sim.time < 0.15:
        sim.step(0.15 - sim.time)
        low = min(low, float(body.x[:, 1].min()))
    return low / H


def test_implicit_positions_stay_out_of_sticky_floors() -> None:
    """J15 A.6.2: where the velocity is zero nothing enters, half a cell below the first row of held nodes."""
    assert deepest(Optimization()) > -0.5
    assert deepest(Optimization(positions="explicit")) < deepest(Optimization())


@schemes
@pytest.mark.parametrize("mode", ["separate", "slip", "sticky"])
def test_a_block_comes_to_rest_and_the_floor_carries_its_weight(scheme: str, mode: str) -> None:
    sim = ct.Simulation(H, (0, -G), integrator=scheme)
    body = sim.add(ct.shapes.Box((0.0, 0.15), (0.4, 0.3)), JELLY)
    sim.add(ct.colliders.Plane((0, 1), mode=mode))
    while sim.time < 1:
        sim.step(1 - sim.time)
    before, weight = sim.impulses[0, 1], float(body.mass.sum()) * G
    height = float(body.x[:, 1].mean())
    while sim.time < 2:
        sim.step(2 - sim.time)
    assert body.max_speed < 1e-4
    assert float(body.x[:, 1].mean()) == pytest.approx(height, abs=1e-3 * H)
    assert height == pytest.approx(0.15, abs=0.1 * H)
    assert sim.impulses[0, 1] - before == pytest.approx(weight, rel=1e-3)


@schemes
def test_separating_floors_let_go_and_slip_floors_do_not(scheme: str) -> None:
    """A block on the floor is thrown upwards."""

    def height(mode: str) -> float:
        sim = ct.Simulation(H, (0, -G), integrator=scheme)
        body = sim.add(ct.shapes.Box((0.0, 0.15), (0.4, 0.3)), JELLY, velocity=(0, 2.0))
        sim.add(ct.colliders.Plane((0, 1), mode=mode))
        while sim.time < 0.1:
            sim.step(0.1 - sim.time)
        return float(body.x[:, 1].min())

    assert height("separate") > 0.12  # 0.2 m of flight less 0.05 m of fall
    assert height("slip") < 0.02


def incline(scheme: str, friction: float, dt: float, theta: float = 30.0, duration: float = 0.3) -> float:
    """Acceleration down a level floor under tilted gravity [m/s^2]."""
    a = np.radians(theta)
    sim = ct.Simulation(H, (G * np.sin(a), -G * np.cos(a)), integrator=scheme, dt=dt, force_dt=True)
    body = sim.add(ct.shapes.Box((0, 0.15), (0.4, 0.3)), JELLY)
    sim.add(ct.colliders.Plane((0, 1), friction=friction))
    return Slide(sim, body, np.array([1.0, 0.0])).acceleration(duration)


@schemes
@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_blocks_slide_down_an_incline(scheme: str, friction: float) -> None:
    """Sound crosses 1.5 cells in the small step and 7 in the large one."""
    assert incline(scheme, friction, 2e-3) == pytest.approx(exact(30, friction), abs=0.003 * G)
    assert incline(scheme, friction, 1e-2) == pytest.approx(exact(30, friction), abs=0.02 * G)
    assert abs(incline(scheme, friction + 0.05, 1e-2) - exact(30, friction)) > 0.02 * G


def test_semi_implicit_steps_must_find_out_which_nodes_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block falls on a floor: momentum, weight and the impulse of the floor balance; with one solve they do not."""

    def error() -> float:
        sim = ct.Simulation(H, (0, -G), integrator="semi-implicit", dt=1e-2, force_dt=True)
        body = sim.add(ct.shapes.Box((0, 0.25), (0.4, 0.3)), JELLY, velocity=(0.0, -1.0))
        sim.add(ct.colliders.Plane((0, 1)))
        mass = float(body.mass.sum())
        for _ in range(60):
            sim.step()
        gained = float(body.mass @ body.v[:, 1]) + mass + mass * G * sim.time
        return abs(gained - sim.impulses[0, 1]) / (mass * G * sim.time)

    assert error() < 1e-5
    monkeypatch.setattr(implicit, "CONTACT_ROUNDS", 1)
    assert error() > 0.01


@schemes
def test_blocks_stick_to_a_rough_incline(scheme: str) -> None:
    assert abs(incline(scheme, 0.5, 2e-3, theta=20)) < 0.01 * G
    assert incline(scheme, 0.3, 2e-3, theta=20) > 0.01 * G


@schemes
def test_moving_walls_and_regions_of_given_velocity_carry_material(scheme: str) -> None:
    sim = ct.Simulation(H, (0, 0), integrator=scheme)
    body = sim.add(ct.shapes.Box((0.2, 0.2), (0.4, 0.4)), RUBBER)
    sim.add(ct.boundaries.FixedVelocity((-1, -1), (2 * H, 1), (0.5, None)))
    wall = ct.motions.Linear((0.5, 0.0))
    sim.add(ct.colliders.Plane((-1, 0), (0.4 - H, 0), mode="sticky", motion=wall))
    for _ in range(100):  # until the blow of the start has died away
        sim.step(0.01)
    assert body.v[:, 0] == pytest.approx(np.full(len(body), 0.5), abs=1e-3)
    assert sim.impulses[:, 0].sum() == pytest.approx(float(body.mass @ body.v[:, 0]), rel=1e-3)


@schemes
def test_impulses_balance_the_momentum(scheme: str) -> None:
    tight = {"semi-implicit": SemiImplicit(tolerance=1e-12), "optimization": Optimization(tolerance=1e-12)}
    sim, _ = block_above_floor(tight[scheme], push_out=None)
    start = sim.diagnostics()
    while sim.time < 0.1:
        sim.step(0.1 - sim.time)
    end = sim.diagnostics()
    gained = end["momentum_y"] - start["momentum_y"]
    weight = -9.81 * end["mass"] * sim.time
    assert abs(sim.impulses[0, 1]) > 0.1 * abs(weight)
    assert gained == pytest.approx(weight + sim.impulses[0, 1], abs=1e-9 * abs(start["momentum_y"]))
