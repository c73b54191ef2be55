"""Solids on the MAC grid: open fractions, walls, constrained velocities and impulses against geometry done by hand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray

import continua as ct
from continua import _core
from continua.contact.boundaries import FixedVelocity
from continua.contact.colliders import Collider
from continua.grid.blocks import Lattice

SLIVER = 0.01
Obstacles = Sequence[Collider | FixedVelocity]


@dataclass
class Grid:
    """A box of blocks from block `low` to `high` (exclusive) on every axis, with the arrays of the solids."""

    d: int
    dx: float = 0.1
    low: int = -2
    high: int = 2
    dtype: DTypeLike = np.float64

    def __post_init__(self) -> None:
        self.lattice = Lattice(self.dx, np.zeros(self.d), np.zeros(self.d, np.int32))
        blocks = itertools.product(range(self.low, self.high), repeat=self.d)
        self.keys = np.array(sorted(_morton(block) for block in blocks), np.uint64)
        self.neighbours = _core.neighbour_blocks(self.keys, self.lattice, self.d)
        self.cells = _core.node_coordinates(self.keys, self.d)
        shape = (len(self.keys), 4**self.d, 4)
        self.open, self.wall = np.full(shape, np.nan, self.dtype), np.full(shape, np.nan, self.dtype)
        self.owner = np.full(shape, -7, np.int32)

    def put(self, obstacles: Obstacles, t: float = 0.0) -> Grid:
        self.table = np.array([o.row(t) for o in obstacles]).reshape(-1, _core.collider_columns)
        self.samples = [o.samples for o in obstacles]
        _core.solid_faces(
            self.keys, self.lattice, self.d, self.table, self.samples, self.open, self.wall, self.owner
        )
        return self

    def constrain(self, velocity: NDArray) -> NDArray:
        out = velocity.copy()
        _core.constrain_faces(
            out, self.open, self.keys, self.lattice, self.d, self.neighbours, self.table, self.samples
        )
        return out

    def impulses(self, pressure: NDArray, fluid: NDArray, scale: float) -> NDArray:
        out = np.full((len(self.table), 3), np.nan)
        _core.wall_impulses(pressure, fluid, self.open, self.owner, self.d, self.neighbours, scale, out)
        return out

    def face_centres(self, axis: int) -> NDArray:
        half = np.where(np.arange(self.d) == axis, 0.0, 0.5)
        return self.dx * (self.cells + half)

    def dense(self, values: NDArray) -> NDArray:
        """Cell values (blocks, 4^d, ...) as an array over the whole box."""
        out = np.empty((4 * (self.high - self.low),) * self.d + values.shape[2:], values.dtype)
        out[tuple(np.moveaxis(self.cells - 4 * self.low, -1, 0))] = values
        return out

    def corner_distance(self, obstacles: Sequence[Collider]) -> NDArray:
        """Signed distance of the union at all corners of the box, in cells."""
        line = np.arange(4 * self.low, 4 * self.high + 1) * self.dx
        points = np.stack(np.meshgrid(*[line] * self.d, indexing="ij"), -1)
        phi = [o.signed_distance(points.reshape(-1, self.d))[0] for o in obstacles]
        return np.min(phi, 0).reshape(points.shape[:-1]) / self.dx


def _morton(block: tuple[int, ...]) -> int:
    d = len(block)
    return sum(
        ((b + (1 << 20)) >> bit & 1) << (3 * bit + d - 1 - a)
        for a, b in enumerate(block)
        for bit in range(21)
    )


def _below(normal: NDArray, offset: NDArray) -> NDArray:
    """Part of the unit cube with normal . x < offset (inclusion and exclusion over its corners; no zero in normal)."""
    m = len(normal)
    offset = offset - np.minimum(normal, 0).sum()  # mirrored so that the normal is positive
    n = np.abs(normal)
    total = 0.0
    for corner in itertools.product((0, 1), repeat=m):
        total = total + (-1) ** sum(corner) * np.maximum(offset - n @ np.array(corner), 0) ** m
    return np.clip(total / (factorial(m) * np.prod(n)), 0, 1)


def _settled(part: NDArray) -> NDArray:
    return np.where(part < SLIVER, 0, np.where(part > 1 - SLIVER, 1, part))


NORMALS = {2: np.array([0.6, 0.8]), 3: np.array([-0.48, 0.6, 0.64])}
POINT = np.array([0.013, -0.021, 0.034])


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


@pytest.mark.parametrize("d", [2, 3])
def test_areas_and_volumes_cut_by_an_inclined_plane_are_exact(d: int) -> None:
    n = NORMALS[d]
    grid = Grid(d).put([ct.colliders.Plane(tuple(n), tuple(POINT[:d]))])
    offset = n @ POINT[:d] / grid.dx - grid.cells @ n  # of the plane, in each cell's own coordinates
    cut = 0
    for a in range(d):
        exact = _settled(1 - _below(np.delete(n, a), offset))
        solid = np.minimum(1 - _below(n, offset), 1 - _below(n, offset + n[a])) < SLIVER
        exact[solid] = 0  # no way into a cell without volume
        np.testing.assert_allclose(grid.open[..., a], exact, atol=1e-12)
        cut += np.count_nonzero((exact > 0) & (exact < 1))
    np.testing.assert_allclose(grid.open[..., 3], _settled(1 - _below(n, offset)), atol=1e-12)
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
    area = grid.dense((_below(n, offset + 1e-5) - _below(n, offset - 1e-5)) / 2e-5)
    open_ = grid.dense(grid.open)
    inner = (slice(0, -1),) * d
    whole = area[inner] > 1e-3
    jumps = []
    for a in range(d):
        exact = grid.dense(1 - _below(np.delete(n, a), offset))
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
        part = np.where(np.minimum(volume, np.roll(volume, 1, a)) == 0, 0, _settled(part))
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


def _liquid(grid: Grid, phi: NDArray) -> tuple[NDArray, NDArray]:
    fluid = (grid.open[..., 3] > 0).astype(np.uint8)
    return np.ascontiguousarray(phi), fluid


def test_the_number_of_threads_changes_no_bit() -> None:
    solids = [
        ct.colliders.Sphere((0.1, 0.0, 0.2), 0.6, mode="slip"),
        ct.colliders.Plane((0, 1, 0), (0, -0.43, 0)),
    ]
    results = []
    threads = _core.threads()
    try:
        for n in (1, 2):
            _core.set_threads(n)
            grid = Grid(3, low=-3, high=3, dtype=np.float32).put(solids)
            velocity = np.random.default_rng(2).normal(size=grid.open.shape).astype(np.float32)
            phi = np.random.default_rng(3).normal(size=grid.open.shape[:2])
            impulses = grid.impulses(*_liquid(grid, phi), 2.0)
            results.append([grid.open, grid.wall, grid.owner, grid.constrain(velocity), impulses])
    finally:
        _core.set_threads(threads)
    for one, two in zip(*results, strict=True):
        assert one.tobytes() == two.tobytes()


# ---- velocities inside solids ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 3])
def test_walls_along_the_grid_pass_on_their_speed_exactly(d: int, dtype: DTypeLike) -> None:
    tank = ct.colliders.Box(
        (0.0,) * d, (1.0,) * d, inverted=True, mode="slip", motion=ct.motions.Linear((0.3, -0.1, 0.7)[:d])
    )
    grid = Grid(d, dtype=dtype).put([tank])
    velocity = np.random.default_rng(4).normal(size=grid.open.shape).astype(dtype)
    bound = grid.constrain(velocity)
    for a in range(d):
        other = np.delete(grid.cells, a, -1)
        beside = np.all((other >= -5) & (other < 5), axis=-1)
        wall = beside & (np.abs(grid.cells[..., a]) == 5)
        assert np.count_nonzero(wall) == 2 * 10 ** (d - 1)
        assert np.all(bound[wall, a] == dtype((0.3, -0.1, 0.7)[a]))
        inside = beside & (np.abs(grid.cells[..., a]) < 5)
        assert np.array_equal(bound[inside, a], velocity[inside, a])
    assert np.array_equal(bound[..., d:], velocity[..., d:])


def _reference(grid: Grid, solid: Collider, velocity: NDArray, a: int) -> tuple[NDArray, NDArray, NDArray]:
    """Distance (cells), normal and full velocity at the centres of faces a (axis order as in dense arrays)."""
    phi, n = solid.signed_distance(grid.face_centres(a).reshape(-1, grid.d))
    field = grid.dense(velocity)
    full = np.empty((*field.shape[:-1], grid.d))
    for b in range(grid.d):
        f = field[..., b]
        full[..., b] = f if b == a else (f + np.roll(f, -1, b) + np.roll(f + np.roll(f, -1, b), 1, a)) / 4
    shape = grid.cells.shape[:-1]
    return grid.dense(phi.reshape(shape)) / grid.dx, grid.dense(n.reshape(*shape, -1)), full


@pytest.mark.parametrize("mode", ["slip", "separate", "sticky"])
@pytest.mark.parametrize("d", [2, 3])
def test_flow_in_a_sphere_keeps_what_its_surface_allows(d: int, mode: str) -> None:
    drift = np.array([0.4, 0.2, -0.3][:d])
    ball = ct.colliders.Sphere(
        (0.01, 0.02, 0.03)[:d], 0.55, mode=mode, motion=ct.motions.Linear(tuple(drift))
    )
    grid = Grid(d).put([ball])
    velocity = np.random.default_rng(5).normal(size=grid.open.shape)
    bound = grid.dense(grid.constrain(velocity))
    for a in range(d):
        phi, n, u = _reference(grid, ball, velocity, a)
        w = u - drift
        speed = np.sum(w * n, -1)
        if mode == "separate":
            speed = np.minimum(speed, 0)
        allowed = u[..., a] - speed * n[..., a]
        if mode == "sticky":
            allowed = np.full_like(allowed, drift[a])
        allowed = np.where(phi < -3, drift[a], allowed)
        closed = grid.dense(grid.open)[..., a] == 0
        np.testing.assert_allclose(bound[closed, a], allowed[closed], atol=1e-12)
        assert np.array_equal(bound[~closed, a], u[~closed, a])
        assert np.any(closed & (phi < -3)) and np.any(closed & (phi > -1))


def test_a_uniform_flow_slides_around_a_disc() -> None:
    """The constrained field has hardly a normal component left near the surface, and its full tangential one."""
    disc = ct.colliders.Sphere((0.01, 0.02), 0.6, mode="slip")
    grid = Grid(2).put([disc])
    velocity = np.zeros(grid.open.shape)
    velocity[..., 0] = 1.0
    phi, n = disc.signed_distance(grid.dx * (grid.cells.reshape(-1, 2) + 0.5))
    near = (grid.dense(phi.reshape(grid.cells.shape[:-1])) / grid.dx < -0.9) & (
        grid.dense(phi.reshape(grid.cells.shape[:-1])) / grid.dx > -2
    )
    normal = grid.dense(n.reshape(grid.cells.shape))[near]
    tangent = np.stack([-normal[:, 1], normal[:, 0]], -1)

    def parts(field: NDArray) -> tuple[float, float]:
        f = grid.dense(field)
        centre = np.stack([(f[..., b] + np.roll(f[..., b], -1, b)) / 2 for b in range(2)], -1)[near]
        along = np.sum(centre * tangent, -1) - tangent[:, 0]
        return float(np.abs(np.sum(centre * normal, -1)).max()), float(np.abs(along).max())

    through, along = parts(grid.constrain(velocity))
    assert through < 0.03
    assert along < 0.1
    assert parts(velocity)[0] > 0.9  # nothing done


# ---- impulses --------------------------------------------------------------------------------------------------


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
    phi, fluid = _liquid(grid, g_dt * (12.0 - grid.cells[..., 1]))
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


# ---- the border ------------------------------------------------------------------------------------------------


def test_no_solids_leave_everything_open() -> None:
    grid = Grid(2).put([])
    assert np.all(grid.open == 1) and np.all(grid.wall == 0) and np.all(grid.owner == -1)


def _calls(grid: Grid) -> dict[str, dict[str, object]]:
    """Valid arguments of the three functions, by name."""
    place = {"keys": grid.keys, "lattice": grid.lattice, "dimension": 2}
    solids = {"table": grid.table, "samples": grid.samples, "open": grid.open}
    cells = {"pressure": np.zeros(grid.open.shape[:2]), "fluid": np.ones(grid.open.shape[:2], np.uint8)}
    owned = {"open": grid.open, "owner": grid.owner, "dimension": 2, "neighbours": grid.neighbours}
    return {
        "solid_faces": {**place, **solids, "wall": grid.wall, "owner": grid.owner},
        "constrain_faces": {
            **place,
            **solids,
            "velocity": np.zeros_like(grid.open),
            "neighbours": grid.neighbours,
        },
        "wall_impulses": {**cells, **owned, "scale": 1.0, "impulses": np.zeros((1, 3))},
    }


def test_wrong_arguments_are_named() -> None:
    """Every array of every function: a missing block, another number type; and indices beyond the end."""
    grid = Grid(2).put([ct.colliders.Sphere((0.0, 0.0), 0.3)])
    for function, valid in _calls(grid).items():
        call = getattr(_core, function)
        call(**valid)
        wrong: list[tuple[str, object]] = [("dimension", 4), ("dimension", 3)]
        for name, value in valid.items():
            if isinstance(value, np.ndarray):
                wrong += [
                    (name, value[..., :-1].copy()),
                    (name, value.astype(np.int16)),
                    (name, value.tolist()),
                ]
            if name in ("neighbours", "owner") and function != "solid_faces":
                wrong += [(name, np.full_like(value, len(grid.keys))), (name, np.full_like(value, -2))]
        if "samples" in valid:
            wrong += [("samples", []), ("table", np.full_like(grid.table, 9.0))]
        for name, value in wrong:
            with pytest.raises(ValueError, match=None if name in ("dimension", "keys") else name):
                call(**{**valid, name: value})


def test_numbers_that_are_none_do_no_harm() -> None:
    grid = Grid(3).put([ct.colliders.Sphere((0.0, 0.0, 0.0), 0.3)])
    table = np.full_like(grid.table, np.nan)
    table[:, :4] = grid.table[:, :4]
    _core.solid_faces(grid.keys, grid.lattice, 3, table, [None], grid.open, grid.wall, grid.owner)
    assert np.all(grid.open == 1) and np.all(grid.owner == -1)
