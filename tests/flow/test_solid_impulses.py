"""Impulses of the pressure on solids: weight, buoyancy, both sides of a wall."""

from __future__ import annotations

import numpy as np
import pytest
from solid_grids import Grid, liquid

import continua as ct
from continua.contact.boundaries import FixedVelocity


@pytest.mark.parametrize("d", [2, 3])
def test_the_floor_carries_the_weight_of_the_liquid(d: int) -> None:
    g_dt, density = 9.81 * 1e-3, 1000.0
    box = ct.colliders.Box((0.0,) * d, (0.8,) * d, inverted=True)
    grid = Grid(d).put([box])
    fluid = np.all((grid.cells >= -4) & (grid.cells < 4), -1) & (grid.cells[..., 1] < 2)
    phi = np.where(fluid, g_dt * (2 - grid.cells[..., 1]), 1e9)  # nothing outside the liquid may count
    scale = density * grid.dx**d
    impulse = grid.impulses(phi, fluid.astype(np.uint8), scale)[0]
    weight = np.count_nonzero(fluid) * scale * g_dt
    np.testing.assert_allclose(impulse, [0, weight, 0], atol=1e-12 * weight)


@pytest.mark.parametrize("d", [2, 3])
def test_buoyancy_of_a_sphere(d: int) -> None:
    g_dt, radius = 0.01, 0.75
    grid = Grid(d, low=-3, high=3).put([ct.colliders.Sphere((0.013, 0.027, 0.039)[:d], radius)])
    phi, fluid = liquid(grid, g_dt * (12.0 - grid.cells[..., 1]))
    impulse = grid.impulses(phi, fluid, grid.dx**d)[0]
    volume = np.pi * radius**2 if d == 2 else 4 / 3 * np.pi * radius**3
    lift = g_dt / grid.dx * volume * grid.dx  # rho = 1; phi falls by g dt per cell
    assert impulse[1] == pytest.approx(-lift, rel=0.03)
    assert np.abs(np.delete(impulse, 1)).max() < 1e-12 * lift
    grid.open = np.ceil(grid.open)  # cut faces taken as open
    assert grid.impulses(phi, fluid, grid.dx**d)[0][1] != pytest.approx(-lift, rel=0.03)


def test_a_thin_wall_feels_both_sides() -> None:
    grid = Grid(2).put([FixedVelocity((-0.05, -0.2), (0.05, 0.2), (0.0, None))])
    phi = np.where(grid.cells[..., 0] < 0, 5.0, 2.0)
    impulse = grid.impulses(phi, np.ones(phi.shape, np.uint8), 0.5)
    np.testing.assert_allclose(impulse, [[0.5 * 4 * (2.0 - 5.0), 0, 0]], atol=1e-14)
