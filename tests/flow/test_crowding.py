"""Which cells are liquid and how crowded they are, and that crowds disperse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import continua as ct
from continua import _core
from continua.integrators import Incompressible
from continua.integrators import ObstacleTable
from continua.materials import IncompressibleFluid

DX, DENSITY = 0.1, 1000.0
both = pytest.mark.parametrize("d", [2, 3])
kernels = pytest.mark.parametrize("kernel", ["linear", "quadratic", "cubic"])


@dataclass
class Cells:
    """All cells of a grid: integer coordinates (n, d), open volume, liquid or not, and crowding (n,)."""

    place: NDArray[np.int64]
    volume: NDArray[np.float64]
    liquid: NDArray[np.bool_]
    crowding: NDArray[np.float64]

    def at(self, *place: int) -> int:
        return int(np.flatnonzero((self.place == place).all(axis=1))[0])

    def beside_air(self) -> NDArray[np.bool_]:
        """Liquid cells with an open neighbour that is not liquid."""
        known = {
            tuple(p): (w, v) for p, w, v in zip(self.place.tolist(), self.liquid, self.volume, strict=True)
        }
        steps = [s * e for e in np.eye(self.place.shape[1], dtype=int) for s in (1, -1)]

        def is_air(place: NDArray) -> bool:
            wet, volume = known.get(tuple(place.tolist()), (False, 1.0))
            return not wet and volume > 0

        return self.liquid & np.array([any(is_air(p + s) for s in steps) for p in self.place])


def cells_of(sim: ct.Simulation) -> Cells:
    """As the integrator sees them at the beginning of a step."""
    flow = sim.steppers["main"]
    assert flow.sort(sim.bodies) is None
    nodes, mass = flow._bodies_to_faces()
    walls = flow._walls(ObstacleTable.of(sim.world.obstacles, sim.time, flow.field.lattice), nodes)
    liquid, crowding = np.zeros(nodes.shape[:2], np.uint8), np.zeros(nodes.shape[:2])
    around, d = flow._neighbours(), sim.dimension
    _core.liquid_cells(mass, walls.open, around, d, liquid)
    full = DENSITY * DX**d
    _core.overfull_cells(nodes, walls.open, liquid, around, d, flow.field.degree, full, crowding)
    place = _core.node_coordinates(flow.field.grid.keys, d).reshape(-1, d).astype(np.int64)
    return Cells(place, walls.open[..., 3].ravel(), liquid.ravel() > 0, crowding.ravel())


def world(d: int, kernel: str = "linear", **settings) -> ct.Simulation:
    return ct.Simulation(DX, (0.0,) * d, integrator=Incompressible(**settings), kernel=kernel)


def tank(d: int, kernel: str = "linear", off: float = 0.0) -> ct.Simulation:
    """A regular filling of 2^d particles per cell, six cells deep; side walls along x are `off` cells off the grid."""
    sim, side = world(d, kernel), off * DX
    low, high = np.array([side, 0, 0])[:d], np.array([1 - side, 1, 1])[:d]
    sim.add(ct.colliders.Box(tuple(0.5 * (low + high)), tuple(high - low), inverted=True))
    high[1] = 0.6
    sim.add(ct.shapes.Box(tuple(0.5 * (low + high)), tuple(high - low)), IncompressibleFluid(DENSITY))
    return sim


# ---- crowding ----


@pytest.mark.parametrize(
    "kernel",
    [
        "linear",
        "quadratic",
        "cubic",
    ],
)
@both
def test_a_regular_filling_is_not_crowded_anywhere(d: int, kernel: str) -> None:
    """Exact for linear splines also in corners; at walls smoother ones see the sampling by two particles per cell."""
    sim = tank(d, kernel)
    found = cells_of(sim)
    assert found.liquid.sum() == 6 * 10 ** (d - 1)
    assert np.abs(found.crowding).max() <= (1e-12 if kernel == "linear" else 0.04)
    inside = (found.place > 1).all(axis=1) & (found.place < [8, 4, 8][:d]).all(axis=1)
    assert np.abs(found.crowding[inside]).max() <= 1e-12, (
        "the shares of a spline over cells must add up to one"
    )


@pytest.mark.parametrize("off", [0.25, 0.5])
def test_walls_off_the_grid_look_a_little_crowded(off: float) -> None:
    """The mass expected in a cut cell leaves out where in the cell its liquid is. Measured: 0.07, in corners 0.26."""
    found = cells_of(tank(2, off=off))
    rows = (found.place[:, 1] > 0) & (found.place[:, 1] < 4)
    assert np.abs(found.crowding[rows]).max() <= 0.15
    away = rows & (found.place[:, 0] > 1) & (found.place[:, 0] < 8)
    assert np.abs(found.crowding[away]).max() <= 1e-12


@pytest.mark.parametrize("factor", [0.3, 0.8, 1.2, 1.9])
@both
def test_crowding_is_the_relative_excess_of_mass_except_for_lack_at_the_surface(
    d: int, factor: float
) -> None:
    sim = tank(d)
    sim.bodies[0].mass[:] *= factor
    found = cells_of(sim)
    top = found.place[:, 1] == 5
    excess, at_top = np.clip(factor - 1, -0.5, 0.5), found.crowding[found.liquid & top]
    np.testing.assert_allclose(found.crowding[found.liquid & ~top], excess, atol=1e-12)
    assert np.ptp(at_top) <= 1e-12 and 0 <= at_top[0] <= max(excess, 0)
    assert at_top[0] > 0.3 or factor < 1.5
    assert np.all(found.crowding[~found.liquid] == 0)


@kernels
@both
def test_cells_beside_air_are_never_too_empty(d: int, kernel: str) -> None:
    sim = world(d, kernel)
    sim.add(ct.shapes.Sphere((0.0,) * d, 0.33), IncompressibleFluid(DENSITY), sampling="jittered")
    sim.bodies[0].mass[:] *= np.random.default_rng(0).uniform(0.2, 1.2, len(sim.bodies[0]))
    found = cells_of(sim)
    surface = found.beside_air()
    assert surface.any() and (found.liquid & ~surface).any()
    assert found.crowding[surface].min() == 0 and found.crowding[found.liquid & ~surface].min() < -0.1


# ---- liquid cells ----


def test_cells_with_particles_are_liquid() -> None:
    sim = world(2)
    x = np.array([[0.05, 0.05], [0.13, 0.05], [0.13, 0.07], [0.55, 0.31]])
    sim.add(ct.shapes.Points(x), IncompressibleFluid(DENSITY))
    found = cells_of(sim)
    assert {tuple(p) for p in found.place[found.liquid].tolist()} == {(0, 0), (1, 0), (5, 3)}


def test_slivers_at_a_wall_belong_to_the_liquid_beside_them() -> None:
    """The wall leaves a tenth of the cells in column 3; those are too thin to hold particles for sure."""
    sim = world(2)
    sim.add(ct.colliders.Plane((-1, 0), (0.31, 0)))
    sim.add(ct.shapes.Box((0.15, 0.15), (0.3, 0.3)), IncompressibleFluid(DENSITY))
    found = cells_of(sim)
    assert found.volume[found.at(3, 1)] == pytest.approx(0.1)
    assert all(found.liquid[found.at(3, y)] for y in range(3))
    assert not found.liquid[found.at(4, 1)] and not found.liquid[found.at(2, 3)]
    assert not found.liquid[found.at(3, 3)]  # beside air


def test_slivers_above_the_surface_are_air() -> None:
    """Also where particles have entered the slivers below."""
    sim = world(2)
    sim.add(ct.colliders.Plane((-1, 0), (0.34, 0)))
    sim.add(ct.shapes.Box((0.17, 0.15), (0.34, 0.3)), IncompressibleFluid(DENSITY))
    found = cells_of(sim)
    assert found.liquid[found.at(3, 2)] and not found.liquid[found.at(3, 3)]


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
        drop = sim.add(ct.shapes.Sphere((0.0,) * d, 0.45), IncompressibleFluid(DENSITY), sampling="jittered")
        before = unevenness(sim)
        for _ in range(20):
            sim.step(0.01)
        left[control] = unevenness(sim) / before
        assert np.abs(drop.v).max() == 0
    assert left[0.0] == 1 and left[0.2] < 0.5


def test_a_compressed_drop_regains_its_volume() -> None:
    """Particles of the mass of a drop, squeezed to 0.9 of its radius."""
    sim = world(2, volume_control=0.2)
    drop = sim.add(ct.shapes.Sphere((0.0, 0.0), 0.5), IncompressibleFluid(DENSITY))
    drop.x[:] *= 0.9
    for _ in range(40):
        sim.step(0.01)
    radius = np.sqrt(2 * (drop.x**2).sum(axis=1).mean())  # of the disc with this moment of inertia
    assert radius == pytest.approx(0.5, rel=0.04)
    assert np.abs(drop.x.mean(axis=0)).max() <= 0.01 * DX
