"""Which cells are liquid and how crowded they are, and that crowds disperse."""

from __future__ import annotations

import numpy as np
import pytest
from surface_cells import DX, FLUID, Cells, cells_of, tank, world

import continua as ct

both = pytest.mark.parametrize("d", [2, 3])
kernels = pytest.mark.parametrize("kernel", ["linear", "quadratic", "cubic"])


# ---- crowding ----


@kernels
@both
def test_a_regular_filling_is_not_crowded_anywhere(d: int, kernel: str) -> None:
    """Exact for linear splines also in corners; at walls smoother ones see the sampling by two particles per cell.

    At the surface these are compared with what a hat leaves above it, 1/8: theirs are 1/6 and 0.2005 of a cell.
    """
    found = cells_of(tank(d, kernel))
    assert found.liquid.sum() == 6 * 10 ** (d - 1)
    surface = found.beside_air()
    assert np.abs(found.crowding[~surface]).max() <= (1e-12 if kernel == "linear" else 0.04)
    lack = {"linear": 1e-12, "quadratic": 1 / 6 - 1 / 8, "cubic": 0.2005 - 1 / 8}[kernel]
    assert -lack <= found.crowding[surface].min() and found.crowding[surface].max() <= 0
    inside = (found.place > 1).all(axis=1) & (found.place < [8, 4, 8][:d]).all(axis=1)
    assert np.abs(found.crowding[inside]).max() <= 1e-12, (
        "the shares of a spline over cells must add up to one"
    )


@pytest.mark.parametrize("factor", [0.3, 0.8, 1.2, 1.9])
@both
def test_crowding_is_the_relative_excess_of_mass_except_for_lack_at_the_surface(
    d: int, factor: float
) -> None:
    """Linear splines leave 7/8 of their mass in a cell below a surface on its upper face."""
    sim = tank(d)
    sim.bodies[0].mass[:] *= factor
    found = cells_of(sim)
    assert np.all(found.crowding[~found.liquid] == 0)
    assert found.liquid.any() == (factor > 0.5)  # a mist is air
    below, top = (found.liquid & (found.place[:, 1] < 5), found.liquid & (found.place[:, 1] == 5))
    np.testing.assert_allclose(found.crowding[below], np.clip(factor - 1, -0.5, 0.5), atol=1e-12)
    excess, at_top = np.clip(0.875 * factor - 1, -0.5, 0.5), found.crowding[top]
    if factor > 1:
        np.testing.assert_allclose(at_top, excess, atol=1e-12)
    else:
        assert np.all((excess < at_top) & (at_top <= 0))


def uneven_drop(d: int, kernel: str) -> Cells:
    sim = world(d, kernel)
    sim.add(ct.shapes.Sphere((0.0,) * d, 0.33), FLUID, sampling="jittered")
    sim.bodies[0].mass[:] *= np.random.default_rng(0).uniform(0.2, 1.6, len(sim.bodies[0]))
    return cells_of(sim)


def left_by_a_plane(kernel: str, D: float) -> float:
    """Integral of the spline over the liquid, from a plane at distance D above its middle downwards."""
    s = np.linspace(-2, 2, 400_001)
    s = 0.5 * (s[1:] + s[:-1])
    r = np.abs(s)
    value = {
        "linear": np.maximum(1 - r, 0),
        "quadratic": np.where(r < 0.5, 0.75 - r**2, 0.5 * np.maximum(1.5 - r, 0) ** 2),
        "cubic": np.where(r < 1, 2 / 3 - r**2 + r**3 / 2, np.maximum(2 - r, 0) ** 3 / 6),
    }[kernel]
    return float(np.interp(D, s + 5e-6, np.cumsum(value) * 1e-5))


def expected_crowding(cells: Cells, n: int, kernel: str) -> float:
    """Below what a plane at distance D above the middle of a cell leaves in it, it lacks something."""
    steepness = sum(1 / min(cuts) ** 2 for cuts in cells.cuts(n) if cuts)
    excess = cells.fill[n] - 1
    if steepness > 0 and excess <= 0:
        D = min(1, steepness**-0.5)
        excess = min(cells.fill[n] - left_by_a_plane(kernel, D), 0)
    return float(np.clip(excess, -0.5, 0.5))


@kernels
@both
def test_cells_at_the_surface_lack_what_a_plane_there_would_leave_them(d: int, kernel: str) -> None:
    found = uneven_drop(d, kernel)
    wet = np.flatnonzero(found.liquid)
    expected = [expected_crowding(found, n, kernel) for n in wet]
    np.testing.assert_allclose(found.crowding[wet], expected, atol=1e-9)
    surface = found.beside_air()
    lack = found.fill[surface] - 1
    assert np.all(
        found.crowding[surface] >= np.clip(lack, -0.5, 0)
    )  # never emptier than full cells would make it
    assert np.any((found.crowding[surface] == 0) & (lack < -0.1))  # a full cell is not expected there
    assert found.crowding[found.liquid & ~surface].min() < -0.1


@both
def test_a_wall_is_no_surface(d: int) -> None:
    """Cells that lack mass beside a wall are as empty as those inside."""
    sim = tank(d)
    sim.bodies[0].mass[:] *= 0.8
    found = cells_of(sim)
    beside = found.liquid & (found.place[:, 0] == 0) & (found.place[:, 1] < 5)
    np.testing.assert_allclose(found.crowding[beside], -0.2, atol=1e-12)
    assert not np.any(found.beside_air()[beside])


# ---- liquid cells ----


def test_cells_with_particles_feel_viscosity_and_lone_particles_no_pressure() -> None:
    sim = world(2)
    x = np.array([[0.05, 0.05], [0.13, 0.05], [0.13, 0.07], [0.55, 0.31]])
    sim.add(ct.shapes.Points(x), FLUID)
    found = cells_of(sim)
    assert {tuple(p) for p in found.place[found.held].tolist()} == {(0, 0), (1, 0), (5, 3)}
    assert not found.liquid.any()


def test_slivers_at_a_wall_belong_to_the_liquid_beside_them() -> None:
    """The wall leaves a tenth of the cells in column 3; those are too thin to hold particles for sure."""
    sim = world(2)
    sim.add(ct.colliders.Plane((-1, 0), (0.31, 0)))
    sim.add(ct.shapes.Box((0.15, 0.15), (0.3, 0.3)), FLUID)
    found = cells_of(sim)
    assert found.volume[found.at(3, 1)] == pytest.approx(0.1)
    for wet in (found.liquid, found.held):
        assert all(wet[found.at(3, y)] for y in range(3))
        assert not wet[found.at(4, 1)] and not wet[found.at(2, 3)]
        assert not wet[found.at(3, 3)]  # beside air


def test_slivers_above_the_surface_are_air() -> None:
    """Also where particles have entered the slivers below."""
    sim = world(2)
    sim.add(ct.colliders.Plane((-1, 0), (0.34, 0)))
    sim.add(ct.shapes.Box((0.17, 0.15), (0.34, 0.3)), FLUID)
    found = cells_of(sim)
    for wet in (found.liquid, found.held):
        assert wet[found.at(3, 2)] and not wet[found.at(3, 3)]


# ---- spreading ----


def unevenness(sim: ct.Simulation) -> float:
    found = cells_of(sim)
    inside = found.liquid & ~found.beside_air()
    return float(np.sqrt((found.crowding[inside] ** 2).mean()))


@both
def test_crowds_disperse_only_if_asked_to(d: int) -> None:
    """In a drop at rest nothing but volume control moves particles; velocities stay zero."""
    left = {}
    for control in (0.0, 0.2):
        sim = world(d, volume_control=control)
        drop = sim.add(ct.shapes.Sphere((0.0,) * d, 0.45), FLUID, sampling="jittered")
        before = unevenness(sim)
        for _ in range(20):
            sim.step(0.01)
        left[control] = unevenness(sim) / before
        assert np.abs(drop.v).max() == 0
    assert left[0.0] == 1 and left[0.2] < 0.5


def test_a_compressed_drop_regains_its_volume() -> None:
    """Particles of the mass of a drop, squeezed to 0.9 of its radius."""
    sim = world(2, volume_control=0.2)
    drop = sim.add(ct.shapes.Sphere((0.0, 0.0), 0.5), FLUID)
    drop.x[:] *= 0.9
    for _ in range(40):
        sim.step(0.01)
    radius = np.sqrt(2 * (drop.x**2).sum(axis=1).mean())  # of the disc with this moment of inertia
    assert radius == pytest.approx(0.5, rel=0.04)
    assert np.abs(drop.x.mean(axis=0)).max() <= 0.01 * DX
