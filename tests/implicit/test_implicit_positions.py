"""Particles end where the grid velocity found there takes them. O14; mpm-core 10; J15 A.6.2."""

from __future__ import annotations

import numpy as np
import pytest
from grid_driver import GridDriver, weights
from implicit_driver import FIXED, H, ImplicitDriver, strained

from continua.materials import FixedCorotated

smooth = pytest.mark.parametrize(
    ("d", "kernel"), [(2, "quadratic"), (2, "cubic"), (3, "quadratic"), (3, "cubic")]
)
CFL = 0.6


def stirred(at: ImplicitDriver, cfl: float = CFL) -> np.ndarray:
    """Random velocities on all nodes; the fastest moves by `cfl` cells."""
    field = np.random.default_rng(8).normal(size=at.driver.nodes.shape)
    return field * cfl * H / at.dt / np.linalg.norm(field, axis=1).max()


def residual(at: ImplicitDriver, kernel: str, v: np.ndarray, x: np.ndarray, moved: np.ndarray) -> float:
    """Largest |x' - x - dt v(x')| [cells] by plain sums over all nodes."""
    there = weights(moved, at.driver.nodes, H, kernel)
    return float(np.linalg.norm(moved - x - at.dt * (there @ v), axis=1).max() / H)


def surrounded(d: int, kernel: str, n: int = 100) -> ImplicitDriver:
    """Particles to look at and, around them, enough others that all nodes they may meet exist."""
    x = strained(FIXED, d, kernel, n=n, cells=5.0).body.x
    frame = np.array(np.meshgrid(*[np.linspace(-0.55, 0.55, 4)] * d)).reshape(d, -1).T
    return ImplicitDriver(GridDriver(np.concatenate([x, frame]), H, kernel=kernel))


@smooth
def test_positions_solve_the_implicit_equation(d: int, kernel: str) -> None:
    at = surrounded(d, kernel)
    v, x = stirred(at), at.body.x.copy()
    moved, report = at.positions(v)
    inner = np.abs(x).max(axis=1) < 2.5 * H
    assert residual(at, kernel, v, x[inner], moved[inner]) < 1e-9
    assert report["unsolved"] == 0 and report["max_residual"] < 1e-9 and report["max_steps"] <= 8
    assert 1 < report["mean_steps"] < 5
    explicit = x[inner] + at.dt * weights(x[inner], at.driver.nodes, H, kernel) @ v
    assert residual(at, kernel, v, x[inner], explicit) > 1e-2


@smooth
def test_nothing_moves_where_all_nodes_rest(d: int, kernel: str) -> None:
    at = surrounded(d, kernel)
    v, x = stirred(at), at.body.x.copy()
    v[at.driver.nodes[:, 0] <= 0] = 0
    moved, _ = at.positions(v)
    reach = {"quadratic": 1.5, "cubic": 2.0}[kernel] * H
    inside = x[:, 0] < -reach
    assert inside.sum() > 10 and np.array_equal(moved[inside], x[inside])
    assert not np.array_equal(moved[~inside], x[~inside])
    assert (moved[x[:, 0] > -reach, 0] >= -reach).all()  # and nothing enters


@smooth
def test_free_flight_keeps_the_shape_of_a_body(d: int, kernel: str) -> None:
    """Nodes ahead of the front carry nothing: they must not slow it down, and would if they counted as resting."""
    cloud = strained(FIXED, d, kernel).body.x
    foremost = np.full((1, d), {"quadratic": 2.45, "cubic": 2.95}[kernel] * H)  # about to enter new cells
    at = ImplicitDriver(GridDriver(np.concatenate([cloud, foremost]), H, kernel=kernel))
    mass, _ = at.driver.scatter()
    flight = np.array([0.6, -0.4, 0.3][:d]) * H / at.dt
    v, x = np.where(mass[:, None] > 0, flight, 0.0), at.body.x.copy()
    moved, report = at.positions(v, mass)
    assert np.abs(moved - x - at.dt * flight).max() < 1e-14
    assert report["max_steps"] <= 1 and report["halvings"] == 0
    slowed, _ = at.positions(v, 1.0)
    assert np.abs(slowed - x - at.dt * flight).max() > 0.01 * H


def test_steps_too_long_are_reported() -> None:
    at = surrounded(2, "quadratic")
    v = np.full_like(at.driver.nodes, 1.5 * H / at.dt)
    _, report = at.positions(v)
    assert report["unsolved"] == at.body.count and report["max_residual"] > 0.4


def test_halvings_rescue_steep_fields() -> None:
    """Neighbouring nodes that swap places: the plain Newton step overshoots."""
    at = surrounded(2, "quadratic")
    parity = (np.round(at.driver.nodes / H).sum(axis=1) % 2)[:, None]
    v = np.where(parity > 0, 1.0, -1.0) * np.array([3.0, 2.0]) * H / at.dt
    moved, report = at.positions(v)
    assert report["halvings"] > 0 and np.isfinite(moved).all()
    assert np.abs(moved - at.body.x).max() <= (1 + 1e-12) * H


def test_periodic_axes_wrap() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 0.8, size=(300, 2))
    driver = GridDriver(x, H, kernel="quadratic", material=FixedCorotated())
    lattice = driver.field.lattice
    lattice.period[:] = 2  # 8 cells along both axes
    driver.sort()
    at = ImplicitDriver(driver)
    before = driver.body.x.copy()
    speed = np.array([0.7, -0.5]) * H / at.dt
    moved, report = at.positions(np.broadcast_to(speed, driver.nodes.shape))
    assert report["unsolved"] == 0 and moved.min() >= 0 and moved.max() < 0.8
    expected = np.mod(before + at.dt * speed, 0.8)
    assert np.abs((moved - expected + 0.4) % 0.8 - 0.4).max() < 1e-12
    # a field that varies across the seam is the same for all images
    angle = 2 * np.pi * driver.nodes / 0.8
    v = 0.5 * H / at.dt * np.stack([np.sin(angle[:, 1]), np.cos(angle[:, 0])], axis=1)
    shifted, _ = at.positions(v)
    images = np.stack(np.meshgrid([-0.8, 0, 0.8], [-0.8, 0, 0.8]), axis=-1).reshape(-1, 2)
    nodes = np.concatenate([driver.nodes + image for image in images])
    there = weights(shifted, nodes, H, "quadratic") @ np.tile(v, (9, 1))
    gap = (shifted - before - at.dt * there + 0.4) % 0.8 - 0.4
    assert np.abs(gap).max() < 1e-9 * H


def test_single_precision_positions() -> None:
    double, single = (strained(FIXED, 3, "quadratic", dtype=t) for t in (np.float64, np.float32))
    v = stirred(double)
    exact, rough = double.positions(v)[0], single.positions(v)[0]
    order = np.argsort(double.body.ids), np.argsort(single.body.ids)
    assert np.abs(exact[order[0]] - rough[order[1]]).max() < 1e-6 * H * 10
