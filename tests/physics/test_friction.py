"""Blocks on an incline: a = g (sin theta - mu cos theta), or rest."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct

G = 9.8
JELLY = ct.materials.FixedCorotated(1e6, 0.3, 1000.0)


def slope_of(sim: ct.Simulation, body: ct.Body, along: np.ndarray, duration: float) -> float:
    """Acceleration of the centre of mass along a direction, fitted after the first 0.1 s."""
    times, speeds = [], []
    while sim.time < duration - 1e-12:
        sim.step(duration - sim.time)
        times.append(sim.time)
        speeds.append(float(body.mass @ body.v @ along / body.mass.sum()))
    t, v = np.array(times), np.array(speeds)
    return float(np.polyfit(t[t > 0.1], v[t > 0.1], 1)[0])


def level(
    theta: float, friction: float, *, d: int = 2, mode: str = "separate", duration: float = 1.0
) -> float:
    """Level floor, gravity tilted by theta [degrees]; the lowest layer of nodes touches from the start."""
    a = np.radians(theta)
    h, along = (0.05, np.array([1.0, 0.0])) if d == 2 else (0.1, np.array([0.6, 0.0, 0.8]))
    down = -np.cos(a) * np.eye(d)[1]
    sim = ct.Simulation(h, G * (np.sin(a) * along + down))
    block = ct.shapes.Box((0, 0.15, 0)[:d], (0.4, 0.3, 0.4)[:d])
    body = sim.add(block, JELLY)
    sim.add(ct.colliders.Plane(tuple(np.eye(d)[1]), tuple(1e-6 * np.eye(d)[1]), friction=friction, mode=mode))
    return slope_of(sim, body, along, duration)


def tilted(theta: float, friction: float) -> float:
    """Gravity straight down, floor and block tilted."""
    a = np.radians(theta)
    normal, along = np.array([np.sin(a), np.cos(a)]), np.array([np.cos(a), -np.sin(a)])
    sim = ct.Simulation(0.05, (0, -G))
    centre = tuple(0.15 * normal)
    body = sim.add(ct.shapes.Rotated(ct.shapes.Box(centre, (0.4, 0.3)), -theta, center=centre), JELLY)
    sim.add(ct.colliders.Plane(tuple(normal), friction=friction))
    return slope_of(sim, body, along, 0.5)


def exact(theta: float, friction: float) -> float:
    a = np.radians(theta)
    return max(0.0, float(G * (np.sin(a) - friction * np.cos(a))))


@pytest.mark.parametrize("friction", [0.0, 0.2, 0.3])
def test_sliding(friction: float) -> None:
    """Reference at 30 degrees: 4.9000, 3.2033, 2.3534 m/s^2."""
    assert abs(level(30, friction) - exact(30, friction)) <= 0.003 * G
    assert abs(tilted(30, friction) - exact(30, friction)) <= 0.003 * G
    assert (
        abs(level(30, friction + 0.02) - exact(30, friction)) > 0.003 * G
    )  # a little more friction is noticed


@pytest.mark.parametrize(("theta", "friction"), [(30, 0.7), (20, 0.5)])
def test_sticking(theta: float, friction: float) -> None:
    assert abs(level(theta, friction)) <= 0.01 * G
    assert level(theta, np.tan(np.radians(theta)) - 0.05) > 0.01 * G


def test_sliding_in_3d_in_an_oblique_direction() -> None:
    assert abs(level(30, 0.2, d=3) - exact(30, 0.2)) <= 0.003 * G


def test_sticky_floors_hold_and_slippery_ones_do_not() -> None:
    assert abs(level(30, 0.0, mode="sticky", duration=0.5)) <= 0.05 * G
    assert level(30, 0.0, mode="slip", duration=0.5) == pytest.approx(exact(30, 0.0), abs=0.003 * G)
