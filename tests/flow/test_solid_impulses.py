"""Impulses of the pressure on solids: weight, buoyancy, acceleration, both sides of a wall."""

from __future__ import annotations

import numpy as np
import pytest
from solid_grids import Grid, liquid

import continua as ct
from continua.contact.boundaries import FixedVelocity

DT, GRAVITY = 1e-3, (0.0, -9.81, 0.0)
G_DT = 9.81 * DT
both = pytest.mark.parametrize("d", [2, 3])


@pytest.mark.parametrize("floor", [0.0, 0.25, 0.5, 0.9])
@both
def test_the_floor_carries_the_weight_of_the_liquid(d: int, floor: float) -> None:
    """Pressures are those of the middles of cells; the floor, this part of a cell above a plane of faces, is deeper."""
    low, density, dx = -0.4 + 0.1 * floor, 1000.0, 0.1
    corner, top = np.full(d, -0.4), np.full(d, 0.4)
    corner[1] = low
    box = ct.colliders.Box(tuple(0.5 * (corner + top)), tuple(top - corner), inverted=True)
    grid = Grid(d, dx).put([box])
    fluid = np.all((grid.cells >= -4) & (grid.cells < 4), -1) & (grid.cells[..., 1] < 2)
    phi = np.where(fluid, G_DT * (1.5 - grid.cells[..., 1]), 1e9)  # nothing outside the liquid may count
    scale = density * dx**d
    options = {"gravity": GRAVITY, "dt": DT}
    impulse = grid.impulses(phi, fluid.astype(np.uint8), scale, **options)[0]
    weight = (6 - floor) * 8 ** (d - 1) * scale * G_DT
    np.testing.assert_allclose(impulse, [0, weight, 0], atol=1e-12 * weight)
    if floor != 0.5:  # where the middles of cells are at the floor
        as_in_the_middle = grid.impulses(phi, fluid.astype(np.uint8), scale)[0]
        assert as_in_the_middle[1] == pytest.approx(5.5 / (6 - floor) * weight)


@both
def test_buoyancy_of_a_sphere(d: int) -> None:
    radius = 0.75
    grid = Grid(d, low=-3, high=3).put([ct.colliders.Sphere((0.013, 0.027, 0.039)[:d], radius)])
    phi, fluid = liquid(grid, G_DT * (12.0 - grid.cells[..., 1]))
    options = {"gravity": GRAVITY, "dt": DT}
    impulse = grid.impulses(phi, fluid, grid.dx**d, **options)[0]
    volume = np.pi * radius**2 if d == 2 else 4 / 3 * np.pi * radius**3
    lift = G_DT * volume  # rho = 1; phi falls by g dt per cell
    assert impulse[1] == pytest.approx(-lift, rel=0.03)
    assert np.abs(np.delete(impulse, 1)).max() < 1e-3 * lift
    grid.open = np.ceil(grid.open)  # cut faces taken as open
    assert grid.impulses(phi, fluid, grid.dx**d, **options)[0][1] != pytest.approx(-lift, rel=0.03)


@pytest.mark.parametrize("place", [0.0, 0.3, 0.7])
@both
def test_a_wall_that_accelerates_feels_the_mass_before_it(d: int, place: float) -> None:
    """A column between a plane and a free end at x = 0.4 that all gains a dt: p = rho a (0.4 - x), without gravity."""
    gain, density = 0.37, 1000.0
    wall = ct.colliders.Plane((1, 0, 0)[:d], (-0.3 + 0.1 * place, 0, 0)[:d])
    grid = Grid(d).put([wall])
    before = grid.table.copy()
    grid.table[:, 16] = gain  # velocity now; at the beginning of the step it was 0
    inside = (grid.cells >= 0) & (grid.cells < 4)
    inside[..., 0] = grid.cells[..., 0] < 4
    fluid = (np.all(inside, -1) & (grid.open[..., 3] > 0)).astype(np.uint8)
    phi = np.where(fluid, gain * (3.5 - grid.cells[..., 0]), 1e9)
    scale = density * grid.dx**d
    mass = (7 - place) * 4 ** (d - 1) * scale
    found = grid.impulses(phi, fluid, scale, before=before)[0]
    np.testing.assert_allclose(found, [gain * mass, 0, 0], atol=1e-12 * gain * mass)
    steady = grid.impulses(phi, fluid, scale, before=grid.table)[0]
    assert abs(steady[0] / (gain * mass) - 1) >= 0.19 / 6.7


def test_a_thin_wall_feels_both_sides() -> None:
    """Prescribed faces are walls on planes of the grid: half a cell of weight towards each side."""
    grid = Grid(2).put([FixedVelocity((-0.05, -0.2), (0.05, 0.2), (0.0, None))])
    phi = np.where(grid.cells[..., 0] < 0, 5.0, 2.0)
    liquid_ = np.ones(phi.shape, np.uint8)
    impulse = grid.impulses(phi, liquid_, 0.5)
    np.testing.assert_allclose(impulse, [[0.5 * 4 * (2.0 - 5.0), 0, 0]], atol=1e-14)
    blown = grid.impulses(phi, liquid_, 0.5, gravity=(3.0, 0.0), dt=0.1)
    np.testing.assert_allclose(blown, [[0.5 * 4 * (2.0 - 5.0 - 0.3), 0, 0]], atol=1e-14)


def test_blocks_that_no_particle_reaches_keep_what_they_have_in_walls() -> None:
    grid = Grid(2).put([ct.colliders.Plane((0, 1), mode="sticky")])
    velocity = np.random.default_rng(0).normal(size=grid.open.shape)
    solid = (grid.open == 0) & (np.arange(4) < 2)
    assert np.all(grid.constrain(velocity)[solid] == 0)
    grid.reached = (np.arange(len(grid.keys)) % 2).astype(np.uint8)
    left = grid.constrain(velocity)
    away = solid & (grid.reached == 0)[:, None, None]
    np.testing.assert_array_equal(left[away], velocity[away])
    assert away.any() and np.all(left[solid & ~away] == 0) and (solid & ~away).any()
