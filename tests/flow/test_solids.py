"""Solids on the MAC grid: open fractions and walls against geometry done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import DTypeLike
from solid_grids import NORMALS, POINT, SLIVER, Grid, below, settled

import continua as ct
from continua import _core
from continua.contact.boundaries import FixedVelocity


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("shift", [0.0, 1e-12, -1e-12, 1e-6, -1e-6, 0.009, -0.009])
def test_a_floor_on_a_plane_of_faces_closes_that_plane_and_nothing_above(
    d: int, dtype: DTypeLike, shift: float
) -> None:
    floor = ct.colliders.Plane((0, 1, 0)[:d], (0, 0.3 + 0.1 * shift, 0)[:d])
    grid = Grid(d, dtype=dtype).put([floor])
    y = grid.cells[..., 1]
    for channel in {0, 1, d - 1, 3}:
        expected = y > 3 if channel == 1 else y >= 3
        assert np.array_equal(grid.open[..., channel], expected), channel
    assert np.array_equal(grid.owner[..., :d], np.where(grid.open[..., :d] == 1, -1, 0))
    assert np.all(grid.wall == 0)


@pytest.mark.parametrize("d", [2, 3])
def test_a_tank_on_planes_of_faces_cuts_nothing(d: int) -> None:
    """Also in its edges and corners, where most corners of a cell lie on the surface."""
    grid = Grid(d).put([ct.colliders.Box((0.0,) * d, (0.8,) * d, inverted=True)])
    inside = (grid.cells >= -4) & (grid.cells < 4)
    assert np.array_equal(grid.open[..., 3], np.all(inside, -1))
    for a in range(d):
        within = (grid.cells[..., a] > -4) & (grid.cells[..., a] < 4)
        assert np.array_equal(grid.open[..., a], np.all(np.delete(inside, a, -1), -1) & within)


@pytest.mark.parametrize("d", [2, 3])
def test_a_floor_between_planes_of_faces_cuts_the_sides(d: int) -> None:
    floor = ct.colliders.Plane((0, 1, 0)[:d], (0, 0.337, 0)[:d])
    grid = Grid(d).put([floor])
    y = grid.cells[..., 1]
    np.testing.assert_allclose(grid.open[..., 0], np.where(y == 3, 0.63, y > 3), atol=1e-12)
    np.testing.assert_allclose(grid.open[..., 3], np.where(y == 3, 0.63, y > 3), atol=1e-12)
    assert np.array_equal(grid.open[..., 1], y > 3)


@pytest.mark.parametrize("off", [1e-6, 0.25, 0.5])
@pytest.mark.parametrize("d", [2, 3])
def test_a_cell_where_walls_meet_is_open_as_far_as_they_leave_it(d: int, off: float) -> None:
    """One wall of a corner is this part of a cell off the grid, the others are on it."""
    planes = [ct.colliders.Plane(tuple(n), tuple(0.1 * off * n[0] * n)) for n in np.eye(d)]
    grid = Grid(d).put(planes)
    corner = np.all(grid.cells == 0, axis=-1)
    assert grid.open[corner, 3] == pytest.approx(1 - off, abs=SLIVER)


@pytest.mark.parametrize("d", [2, 3])
def test_areas_and_volumes_cut_by_an_inclined_plane_are_exact(d: int) -> None:
    n = NORMALS[d]
    grid = Grid(d).put([ct.colliders.Plane(tuple(n), tuple(POINT[:d]))])
    offset = n @ POINT[:d] / grid.dx - grid.cells @ n  # of the plane, in each cell's own coordinates
    cut = 0
    for a in range(d):
        exact = settled(1 - below(np.delete(n, a), offset))
        solid = np.minimum(1 - below(n, offset), 1 - below(n, offset + n[a])) < SLIVER
        exact[solid] = 0  # no way into a cell without volume
        np.testing.assert_allclose(grid.open[..., a], exact, atol=1e-12)
        cut += np.count_nonzero((exact > 0) & (exact < 1))
    np.testing.assert_allclose(grid.open[..., 3], settled(1 - below(n, offset)), atol=1e-12)
    assert cut >= 20
    crude = np.clip(
        0.5 + (grid.cells + 0.5) @ n - n @ POINT[:d] / grid.dx, 0, 1
    )  # from the distance of the centre
    assert np.abs(grid.open[..., 3] - crude).max() > 0.02


@pytest.mark.parametrize("d", [2, 3])
def test_closed_parts_of_a_cell_add_up_to_its_cut(d: int) -> None:
    """Divergence theorem: the closed boundary of the solid part and the cut enclose it."""
    n = NORMALS[d]
    grid = Grid(d).put([ct.colliders.Plane(tuple(n), tuple(POINT[:d]))])
    offset = n @ POINT[:d] / grid.dx - grid.cells @ n
    # The area of the cut is the derivative of the volume below with respect to the offset.
    area = grid.dense((below(n, offset + 1e-5) - below(n, offset - 1e-5)) / 2e-5)
    open_ = grid.dense(grid.open)
    inner = (slice(0, -1),) * d
    whole = area[inner] > 1e-3
    jumps = []
    for a in range(d):
        exact = grid.dense(1 - below(np.delete(n, a), offset))
        dropped = np.abs(exact - open_[..., a]) > 1e-12  # slivers
        whole &= ~(np.roll(dropped, -1, a) | dropped)[inner]
        jumps.append((np.roll(open_[..., a], -1, a) - open_[..., a])[inner])
    for a in range(d):
        np.testing.assert_allclose(jumps[a][whole], n[a] * area[inner][whole], atol=1e-8)
        stairs = np.round(jumps[a])
        assert np.abs(stairs[whole] - n[a] * area[inner][whole]).max() > 0.1
    assert np.count_nonzero(whole) > 5


@pytest.mark.parametrize("d", [2, 3])
def test_volume_of_a_sphere(d: int) -> None:
    def error(radius: float) -> float:
        grid = Grid(d, low=-3, high=3).put([ct.colliders.Sphere((0.013, 0.027, 0.039)[:d], radius)])
        exact = np.pi * radius**2 if d == 2 else 4 / 3 * np.pi * radius**3
        return float((1 - grid.open[..., 3]).sum() * grid.dx**d / exact - 1)

    assert abs(error(0.85)) < 0.01
    assert abs(error(0.85)) < 0.6 * abs(error(0.5))  # second order would be 0.35


def test_the_union_of_near_solids_is_that_of_all_solids() -> None:
    """Skipping distant solids block by block changes nothing."""
    solids = [
        ct.colliders.Sphere((0.3, 0.2), 0.17),
        ct.colliders.Box((-0.35, -0.3), (0.33, 0.21)),
        ct.colliders.Capsule((-0.5, 0.5), (0.1, 0.65), 0.12),
        ct.colliders.Plane((0.6, 0.8), (-0.7, -0.6)),
    ]
    grid = Grid(2).put(solids)
    phi = grid.corner_distance(solids)
    phi[np.abs(phi) < 1e-9] = 0
    for a in range(2):
        p, q = (phi[:-1, :-1], phi[:-1, 1:] if a == 0 else phi[1:, :-1])
        with np.errstate(invalid="ignore", divide="ignore"):
            part = np.where(p > 0, p / (p - q), q / (q - p))
        part = np.where((p > 0) & (q > 0), 1, np.where((p <= 0) & (q <= 0), 0, part))
        volume = grid.dense(grid.open)[..., 3]
        part = np.where(np.minimum(volume, np.roll(volume, 1, a)) == 0, 0, settled(part))
        inner = np.s_[1:] if a == 0 else np.s_[:, 1:]  # below the first cells lies nothing to compare with
        np.testing.assert_allclose(grid.dense(grid.open)[..., a][inner], part[inner], atol=1e-12)
        x = grid.face_centres(a)
        distances = [s.signed_distance(x.reshape(-1, 2))[0].reshape(x.shape[:-1]) for s in solids]
        nearest = np.where(grid.open[..., a] < 1, np.argmin(distances, 0), -1)
        assert np.array_equal(grid.owner[..., a], nearest)
        assert set(np.unique(nearest)) == {-1, 0, 1, 2, 3}


def test_a_sampled_solid_near_the_edge_of_its_lattice_is_found() -> None:
    ball = ct.shapes.Sphere((0.0, 0.0, 0.0), 0.22)
    line = np.linspace(-0.25, 0.25, 21)
    points = np.stack(np.meshgrid(line, line, line, indexing="ij"), -1).reshape(-1, 3)
    phi = (np.linalg.norm(points, axis=1) - ball.radius).reshape(21, 21, 21)
    row = ct.colliders.Sphere((0.0, 0.0, 0.0), 0.22).row(0.0)
    row[0] = 4  # sampled
    grid = Grid(3, dx=0.05)
    samples = [(phi, np.full(3, -0.25), 0.025)]
    _core.solid_faces(grid.keys, grid.lattice, 3, row[None].copy(), samples, grid.open, grid.wall, grid.owner)
    exact = Grid(3, dx=0.05).put([ct.colliders.Sphere((0.0, 0.0, 0.0), 0.22)])
    assert np.abs(grid.open - exact.open).max() < 0.05
    assert np.abs((1 - grid.open[..., 3]).sum() / (1 - exact.open[..., 3]).sum() - 1) < 0.02


@pytest.mark.parametrize("d", [2, 3])
def test_walls_move_with_their_solid(d: int) -> None:
    row = ct.colliders.Sphere((0.0,) * d, 0.4).row(0.0)
    row[4 : 4 + d] = POINT[:d]  # turns about this point, and drifts
    velocity, spin = np.array([0.3, -0.2, 0.5 if d == 3 else 0.0]), np.array([0.0, 0.0, 1.7])
    if d == 3:
        spin[:2] = (0.4, -0.9)
    row[16:19], row[19:22] = velocity, spin
    grid = Grid(d)
    _core.solid_faces(grid.keys, grid.lattice, d, row[None].copy(), [None], grid.open, grid.wall, grid.owner)
    for a in range(d):
        arm = np.zeros((*grid.cells.shape[:-1], 3))
        arm[..., :d] = grid.face_centres(a) - POINT[:d]
        expected = velocity[a] + np.cross(spin, arm)[..., a]
        closed = grid.open[..., a] < 1
        np.testing.assert_allclose(grid.wall[..., a], np.where(closed, expected, 0), atol=1e-12)
        assert np.abs(expected[closed] - velocity[a]).max() > 0.1
    assert np.all(grid.wall[..., d:] == 0)


def test_regions_close_the_faces_whose_velocity_they_prescribe() -> None:
    floor = ct.colliders.Plane((0, 1), (0, 0))
    inlet = FixedVelocity((-0.3, -0.1), (0.2, 0.4), (1.5, None))
    grid, alone = Grid(2).put([floor, inlet]), Grid(2).put([floor])
    x = grid.face_centres(0)
    tiny = 1e-9
    inside = np.all((x > np.array([-0.3, -0.1]) + tiny) & (x < np.array([0.2, 0.4]) - tiny), axis=-1)
    assert np.all(grid.open[inside, 0] == 0)
    assert np.all(grid.wall[inside, 0] == 1.5)
    assert np.all(grid.owner[inside, 0] == 1)
    assert np.array_equal(grid.open[~inside, 0], alone.open[~inside, 0])
    for channel in (1, 3):  # the free component, and the volume
        assert np.array_equal(grid.open[..., channel], alone.open[..., channel])
    assert np.count_nonzero(inside) == 4 * 5
    velocity = np.random.default_rng(1).normal(size=grid.open.shape)
    assert np.all(grid.constrain(velocity)[inside, 0] == 1.5)
