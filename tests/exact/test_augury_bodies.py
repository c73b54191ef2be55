"""Elastic bodies that collide by augury alone: rebound, cohesion, grids finer than the surface (M23 figures 9 and 10).

Discs of radius 0.5 with 32 boundary vertices, or balls with 162, E = 50 kPa, 1000 kg/m^3, nu = 0.3, come closer at
1 m/s from a gap of 0.1, 200 steps of 2 ms of symplectic Euler. References are those of a plain implementation.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from elastic_samples import Collision, Pair, collide

from continua.contact.exact.angular import cross
from continua.contact.exact.augury import Augury
from continua.contact.exact.resampling import Resampling

OFF = 0.5  # vertices of one body face the middles of the other's edges


@cache
def discs(
    ratio: float, share: float, iterations: int = 5, offset: float = 0.0, beta: float = 0.0
) -> Collision:
    """Two discs, with ratio = (mean boundary edge)/dx; beta in units of 16/dx^2."""
    pair = Pair(2, offset=offset)
    return collide(pair, ratio, share, iterations, beta=beta * 16 * (ratio / pair.edge) ** 2)


@pytest.mark.parametrize(
    "ratio, iterations, rebound",
    [(0.5, 0, 0.21), (0.5, 5, 0.48), (0.5, 20, 0.51), (1.0, 0, 0.46), (1.0, 5, 0.55), (1.0, 20, 0.57)],
)
def test_iterations_take_cohesion_away(ratio: float, iterations: int, rebound: float) -> None:
    """Figure 9: discs leave each other faster the more often what glues them is taken back, to 0.03 m/s."""
    seen = discs(ratio, 0.5, iterations)
    assert abs(-seen.speed - rebound) < 0.03
    assert seen.overlaps == 0
    assert abs(-discs(0.5, 0.5, 0).speed - 0.48) > 0.2  # one transfer alone, as PIC does, is no contact


@pytest.mark.parametrize("share, speed, overlaps", [(1.0, 0.49, 132), (0.5, -0.40, 92), (0.1, -0.59, 10)])
def test_points_let_a_fine_grid_see_edges(share: float, speed: float, overlaps: int) -> None:
    """Figure 10, dx a quarter of an edge: discs pass through each other without extra points and rebound with them,
    the better the less mass stays at vertices."""
    seen = discs(4.0, share, offset=OFF)
    assert abs(seen.speed - speed) < 0.03
    assert abs(seen.overlaps - overlaps) <= 10


def test_what_fails_on_a_fine_grid() -> None:
    """Figure 10: nearly all mass at vertices, or nearly all at the centres of edges, misses the collision."""
    for share, beta in ((0.9, 0.0), (0.1, 1.0)):
        seen = discs(4.0, share, offset=OFF, beta=beta)
        assert seen.speed > -0.2 and seen.overlaps > 90


def test_a_coarser_grid_needs_no_points() -> None:
    """Figure 10: with two cells on an edge it works either way."""
    for share in (1.0, 0.1):
        seen = discs(2.0, share, offset=OFF)
        assert seen.speed < -0.5 and seen.overlaps == 0


def test_balls_on_a_fine_grid() -> None:
    """Figure 10 in 3D: without extra points balls come through, with them they turn back and overlap for less long.

    Only elements near the contact take part, and one iteration is enough: neither changes the speeds by 0.02 m/s.
    """
    none, some = (collide(Pair(3, offset=0.33), 4.0, share, 1, near=0.06) for share in (1.0, 0.1))
    assert abs(none.speed - 0.36) < 0.1
    assert some.speed < -0.1 and some.overlaps < none.overlaps / 2
    assert max(none.P, none.L, some.P, some.L) < 1e-13


def test_momentum_of_every_collision() -> None:
    """P and L, with the affine part, at the end of 200 steps; discs that miss each other's middles exchange spin."""
    for friction in (None, 0.3):
        seen = collide(Pair(2, offset=3.0), 1.0, 0.3, 2, friction=friction)
        assert seen.speed < 0.5 and max(seen.P, seen.L) < 1e-13


def test_angular_momentum_without_the_affine_part_is_not_kept() -> None:
    pair = Pair(2, offset=3.0)
    start = cross(pair.x, pair.mass[:, None] * pair.v).sum()
    scale = float((pair.mass * np.linalg.norm(pair.v, axis=1)).sum())
    plan = Resampling.spread(pair.x[pair.rim], pair.boundary, pair.edge / 4, 0.3)
    for _ in range(100):
        pair.step(0.002, Augury(plan, pair.x[pair.rim], pair.edge), 5)
    assert abs(cross(pair.x, pair.mass[:, None] * pair.v).sum() - start) > 1e-5 * scale


def test_without_augury_bodies_pass() -> None:
    seen = collide(Pair(2), 1.0, near=0.0)
    assert seen.speed == pytest.approx(1.0, abs=1e-9) and seen.overlaps > 100
