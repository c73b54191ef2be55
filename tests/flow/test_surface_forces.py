"""Forces of water at rest on its walls, with the surface and the walls anywhere in a cell."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from water import WATER, G, box, room, world

import continua as ct
from continua.integrators import IncompressibleFlow

DEPTHS = [0.0, 0.25, 0.5, 0.75]


def basin(
    d: int, cells: int, depth: float, dx: float = 0.1, sampling: str = "regular", wide: int = 6, **options
) -> tuple[ct.Simulation, ct.Body, float]:
    """Water `cells` + `depth` cells deep between planes: floor, left, right (and front, back); its depth [m].

    Particles lie closer or wider along y than 2 per cell so that they fit.
    """
    sim = world(d, dx, **options)
    width = wide * dx
    normals = [np.eye(d)[1]] + [s * np.eye(d)[a] for a in (0, 2)[: d - 1] for s in (1, -1)]
    for normal in normals:
        sim.add(ct.colliders.Plane(tuple(normal), tuple(np.where(normal < 0, width, 0.0))))
    water = sim.add(box((0.0,) * d, (width, cells * dx, width)[:d]), WATER, sampling=sampling)
    stretch = (cells + depth) / cells
    water.x[:, 1] *= stretch
    water.mass[:] *= stretch
    return sim, water, (cells + depth) * dx


def push(sim: ct.Simulation, end: float = 0.2, start: float = 0.0) -> NDArray:
    """Mean forces of the walls on the water between two times (obstacles, 3) [N]."""
    while sim.time < start - 1e-12:
        sim.step(0.01)
    before, t = sim.impulses.copy(), sim.time
    while sim.time < end - 1e-12:
        sim.step(0.01)
    return (sim.impulses - before) / (sim.time - t)


def errors(d: int, cells: int, depth: float, **options) -> tuple[float, float, float]:
    """Of the forces on the floor, the left and the right wall, relative."""
    sim, water, deep = basin(d, cells, depth, **options)
    force = push(sim)
    side = 0.5 * 1000 * G * deep**2 * 0.6 ** (d - 2)
    weight = G * water.mass.sum()
    return force[0, 1] / weight - 1, force[1, 0] / side - 1, -force[2, 0] / side - 1


@pytest.mark.parametrize("depth", DEPTHS)
def test_walls_feel_the_head_of_the_water_ten_cells_deep(depth: float) -> None:
    """Side: rho g H^2 / 2 to 1 %; floor: the weight to 0.5 %; on both sides alike."""
    floor, left, right = errors(2, 10, depth)
    assert abs(floor) <= 0.005
    assert max(abs(left), abs(right)) <= 0.01 and left == pytest.approx(right, abs=1e-3)


@pytest.mark.parametrize("depth", DEPTHS)
def test_disordered_water_pushes_alike(depth: float) -> None:
    sim, water, deep = basin(2, 10, depth, sampling="jittered")
    force = push(sim, 1.0, 0.5)
    side = 0.5 * 1000 * G * deep**2
    assert force[0, 1] == pytest.approx(G * water.mass.sum(), rel=0.01)
    assert force[1, 0] == pytest.approx(side, rel=0.02) and -force[2, 0] == pytest.approx(side, rel=0.02)


@pytest.mark.parametrize("depth", [0.0, 0.5, 0.75])
def test_walls_feel_the_head_in_three_dimensions(depth: float) -> None:
    """Eight cells deep: the gates of ten, in proportion."""
    floor, left, right = errors(3, 8, depth)
    assert abs(floor) <= 0.00625 and max(abs(left), abs(right)) <= 0.0125


def test_single_precision_feels_the_same_head() -> None:
    floor, left, right = errors(2, 10, 0.5, precision="single")
    assert abs(floor) <= 0.005 and max(abs(left), abs(right)) <= 0.01


def test_a_surface_in_the_middle_of_air_cells_is_too_high(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without distances the head is up to a cell too high: a tenth and more of the side force here."""
    surface = IncompressibleFlow._surface

    def flat(self, *arguments):
        found = surface(self, *arguments)
        found.distance[:] = np.where(found.fluid > 0, -1.0, 1e-9)
        return found

    monkeypatch.setattr(IncompressibleFlow, "_surface", flat)
    assert max(abs(errors(2, 10, depth)[1]) for depth in DEPTHS) > 0.05


@pytest.mark.parametrize("off", [0.25, 0.5, 0.75])
def test_a_floor_off_the_grid_carries_the_weight(off: float) -> None:
    """Endless, with a lattice that fits: the gate of floors on the grid."""
    sim, low = world(2), 0.1 * off
    sim.add(ct.boundaries.Periodic(0, 0.0, 0.8))
    sim.add(ct.colliders.Plane((0, 1), (0, low)))
    water = sim.add(box((0, low), (0.8, 1 + low)), WATER)
    assert push(sim)[0, 1] == pytest.approx(G * water.mass.sum(), rel=0.005)


@pytest.mark.parametrize("off", [0.25, 0.5, 0.75])
def test_walls_that_meet_off_the_grid_each_feel_their_head(off: float) -> None:
    """All planes moved by a part of a cell: the gates of walls on the grid."""
    sim, deep, width = world(2), 1.0, 0.6
    move = 0.1 * off
    for normal, point in (((0, 1), (0, move)), ((1, 0), (move, 0)), ((-1, 0), (width + move, 0))):
        sim.add(ct.colliders.Plane(normal, point))
    water = sim.add(box((move, move), (width + move, deep + move)), WATER)
    force, side = push(sim), 0.5 * 1000 * G * deep**2
    assert force[0, 1] == pytest.approx(G * water.mass.sum(), rel=0.005)
    assert force[1, 0] == pytest.approx(side, rel=0.01) and -force[2, 0] == pytest.approx(side, rel=0.01)


@pytest.mark.parametrize("centre", [(0.513, 0.47), (0.5, 0.5), (0.487, 0.431)])
def test_a_ball_of_eight_cells_is_lifted_to_one_percent(centre: tuple[float, float]) -> None:
    sim, radius = world(2, 0.05), 0.2
    sim.add(room((0, 0), (1, 1)))
    sim.add(ct.colliders.Sphere(centre, radius))
    sim.add(box((0, 0), (1, 0.9)) - ct.shapes.Sphere(centre, radius), WATER)
    lift = -push(sim, 0.1)[1]
    assert lift[1] == pytest.approx(1000 * G * np.pi * radius**2, rel=0.01)
    assert abs(lift[0]) <= 0.01 * lift[1]
