"""Walls that accelerate: what they feel is the mass of the water they move, and no water is lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from water import DX, WATER, G, box, world

import continua as ct
from continua.integrators import ObstacleTable

ACCELERATION, DT = 2.0, 0.005
both = pytest.mark.parametrize("d", [2, 3])
Motion = Callable[[float], tuple[np.ndarray, np.ndarray]]


def speeding(d: int, axis: int, start: float = 0.0, acceleration: float = ACCELERATION) -> Motion:
    """From rest at `start` along an axis [m]."""
    return lambda t: ((start + 0.5 * acceleration * t**2) * np.eye(d)[axis], np.eye(d))


def channel(
    d: int, off: float, precision: str = "double", *, closed: bool = False
) -> tuple[ct.Simulation, ct.Body]:
    """A column 8 cells long and 4 wide, a piston at x = off cells, and nothing at its far end.

    Endless across, or between slippery walls if `closed`.
    """
    sim = world(d, gravity=(0, 0, 0), precision=precision)
    sim.add(ct.colliders.Plane((1, 0, 0)[:d], motion=speeding(d, 0, off * DX), mode="slip"))
    aside(sim, tuple(range(1, d)), 0.4, closed)
    low, high = np.array([off * DX, 0, 0])[:d], np.array([off * DX + 0.8, 0.4, 0.4])[:d]
    return sim, sim.add(box(low, high), WATER)


def aside(sim: ct.Simulation, axes: tuple[int, ...], width: float, closed: bool) -> None:
    """What ends these axes at 0 and at a width: walls, or the same again."""
    unit = np.eye(sim.dimension)
    for a in axes:
        if not closed:
            sim.add(ct.boundaries.Periodic(a, 0.0, width))
            continue
        for side, at in ((1.0, 0.0), (-1.0, width)):
            sim.add(ct.colliders.Plane(tuple(side * unit[a]), tuple(at * unit[a]), mode="slip"))


def force_on_piston(sim: ct.Simulation, water: ct.Body, steps: int = 40) -> float:
    """Mean of all steps, over mass times acceleration."""
    for _ in range(steps):
        sim.step(DT)
    return float(sim.impulses[0, 0] / (sim.time * ACCELERATION * water.mass.sum()))


@pytest.mark.parametrize("off", [0.0, 0.3, 0.5, 0.8])
@both
def test_a_piston_feels_the_mass_it_accelerates(d: int, off: float) -> None:
    """Column, piston and free end move alike: p = rho a (L - x), while the piston crosses 0.4 cells."""
    sim, water = channel(d, off)
    assert force_on_piston(sim, water) == pytest.approx(1, abs=0.01)
    speed = ACCELERATION * sim.time
    assert np.abs(water.v[:, 0] - speed).max() <= 0.01 * speed
    assert np.abs(water.v[:, 1:]).max() <= 0.01 * speed
    assert sim.steppers["main"].report["volume"] == pytest.approx(0.8 * 0.4 ** (d - 1), rel=0.01)


@both
def test_a_piston_between_walls_feels_the_same_and_they_feel_nothing(d: int) -> None:
    sim, water = channel(d, 0.0, closed=True)
    assert force_on_piston(sim, water) == pytest.approx(1, abs=0.01)
    assert np.abs(sim.impulses[1:].sum(axis=0)).max() <= 1e-3 * sim.impulses[0, 0]
    assert np.abs(water.v[:, 0] / (ACCELERATION * sim.time) - 1).max() <= 0.01


def test_without_the_acceleration_of_the_wall_half_a_cell_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ObstacleTable, "at", lambda self, t: self)
    assert force_on_piston(*channel(2, 0.0), steps=2) == pytest.approx(7.5 / 8, abs=0.01)


def test_a_piston_in_single_precision() -> None:
    assert force_on_piston(*channel(2, 0.3, "single")) == pytest.approx(1, abs=0.01)


def lift(d: int, off: float, closed: bool) -> tuple[float, ct.Simulation, ct.Body]:
    """What a floor at y = off cells carries that speeds up with water six cells deep, over its mass [m/s^2]."""
    sim, start = world(d), off * DX
    sim.add(ct.colliders.Plane((0, 1, 0)[:d], motion=speeding(d, 1, start), mode="slip"))
    aside(sim, (0, 2)[: d - 1], 0.4, closed)
    water = sim.add(box((0, start, 0)[:d], (0.4, 0.6 + start, 0.4)[:d]), WATER)
    for _ in range(40):
        sim.step(DT)
    return float(sim.impulses[0, 1] / sim.time / water.mass.sum()), sim, water


@pytest.mark.parametrize("off", [0.0, 0.25, 0.5])
@both
def test_a_floor_that_speeds_up_carries_mass_times_gravity_and_acceleration(d: int, off: float) -> None:
    carried, sim, water = lift(d, off, closed=False)
    assert carried == pytest.approx(G + ACCELERATION, rel=0.01)
    assert carried != pytest.approx(G, rel=0.1)
    speed = ACCELERATION * sim.time
    assert np.abs(water.v[:, 1] - speed).max() <= 0.02 * speed
    assert sim.steppers["main"].report["volume"] == pytest.approx(0.6 * 0.4 ** (d - 1), rel=0.01)


@both
def test_a_floor_between_walls_carries_the_same(d: int) -> None:
    assert lift(d, 0.0, closed=True)[0] == pytest.approx(G + ACCELERATION, rel=0.01)


def test_a_tank_that_falls_freely_feels_nothing() -> None:
    """Water and walls fall alike: no pressure, no forces."""
    sim = world(2)
    fall = speeding(2, 1, 0.0, -G)
    sim.add(ct.colliders.Box((0.3, 0.4), (0.6, 0.8), inverted=True, motion=fall))
    water = sim.add(box((0, 0), (0.6, 0.4)), WATER)
    for _ in range(20):
        sim.step(DT)
    assert np.abs(sim.impulses).max() <= 0.01 * G * water.mass.sum() * sim.time
