"""Blocks on an incline: a = g (sin theta - mu cos theta), or rest."""

from __future__ import annotations

import numpy as np
import pytest

from continua.validation.incline import G, exact, level, tilted


@pytest.mark.parametrize("friction", [0.0, 0.2, 0.3])
def test_sliding(friction: float) -> None:
    """Reference at 30 degrees: 4.9000, 3.2033, 2.3534 m/s^2."""
    assert abs(level(30, friction).acceleration(1.0) - exact(30, friction)) <= 0.003 * G
    assert abs(tilted(30, friction).acceleration(0.5) - exact(30, friction)) <= 0.003 * G
    more = level(30, friction + 0.02).acceleration(1.0)  # a little more friction is noticed
    assert abs(more - exact(30, friction)) > 0.003 * G


@pytest.mark.parametrize(("theta", "friction"), [(30, 0.7), (20, 0.5)])
def test_sticking(theta: float, friction: float) -> None:
    assert abs(level(theta, friction).acceleration(1.0)) <= 0.01 * G
    assert level(theta, np.tan(np.radians(theta)) - 0.05).acceleration(1.0) > 0.01 * G


def test_sliding_in_3d_in_an_oblique_direction() -> None:
    assert abs(level(30, 0.2, d=3).acceleration(1.0) - exact(30, 0.2)) <= 0.003 * G
    assert abs(tilted(30, 0.2, d=3).acceleration(0.5) - exact(30, 0.2)) <= 0.003 * G


@pytest.mark.parametrize("offset", [0.0, 1e-6, 0.3, 0.99])
def test_the_way_does_not_depend_on_where_the_floor_lies(offset: float) -> None:
    """The first contact costs and gives no momentum: the way is that of the acceleration, from the start on."""
    seconds, way = 3.0, exact(30, 0.2) * 4.5
    assert abs(level(30, 0.2, offset=offset).distance(seconds) - way) <= 0.003 * way


def test_sticky_floors_hold_and_slippery_ones_do_not() -> None:
    assert abs(level(30, 0.0, mode="sticky").acceleration(0.5)) <= 0.05 * G
    slippery = level(30, 0.0, mode="slip").acceleration(0.5)
    assert slippery == pytest.approx(exact(30, 0.0), abs=0.003 * G)
