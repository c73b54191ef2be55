"""Many bodies at once: nothing meets on the way, momentum is kept, and others certify it."""

from __future__ import annotations

import ipctk
import numpy as np
import pytest
from impulse_samples import (
    TETRAHEDRON_FACETS,
    Array,
    Flung,
    defects,
    momentum_scale,
)

import continua as ct
from continua import _core
from continua.contact.exact.impulses import (
    Impulses,
    Resolved,
    Surfaces,
    find_hits,
    find_pairs,
    intersections,
)
from continua.contact.exact.zones import rigid_velocities

ROUNDING = 1e-13


def hits(scene: Flung, v: Array) -> int:
    return sum(len(found.times) for found in find_hits(scene.surfaces, scene.x, v, scene.dt, held=scene.held))


def toolkit_mesh(scene: Flung) -> ipctk.CollisionMesh:
    facets = np.asfortranarray(scene.facets)
    edges = np.asfortranarray(ipctk.edges(facets) if facets.shape[1] == 3 else facets)
    return ipctk.CollisionMesh(
        np.asfortranarray(scene.x), edges, facets if facets.shape[1] == 3 else np.empty((0, 3), np.int32)
    )


def certified(scene: Flung, v: Array) -> bool:
    """Whether inclusion functions prove that nothing meets on the way."""
    end = np.asfortranarray(scene.x + scene.dt * v)
    return bool(ipctk.is_step_collision_free(toolkit_mesh(scene), np.asfortranarray(scene.x), end))


def crossed(scene: Flung, v: Array) -> tuple[bool, bool]:
    """Whether surfaces cross at the end: as we see it, and as the toolkit does."""
    end = scene.x + scene.dt * v
    ours = len(intersections(scene.surfaces, end)) > 0
    return ours, bool(ipctk.has_intersections(toolkit_mesh(scene), np.asfortranarray(end)))


@pytest.mark.parametrize("d", [2, 3])
def test_flung_bodies_never_meet(d: int) -> None:
    """60 scenes of 14 bodies that all fly into each other, further than they are long."""
    iterations, before, naive = [], 0, 0.0
    for seed in range(60):
        scene = Flung(seed, d)
        done = scene.impulses().resolve(scene.x, scene.v, scene.dt)
        assert done.failed == ""
        assert done.zones == 0
        assert hits(scene, done.v) == 0
        assert crossed(scene, done.v) == (False, False)
        scale = momentum_scale(scene.mass, scene.v)
        assert max(defects(scene.x, done.impulses, scale)) < ROUNDING
        change = scene.mass[:, None] * (done.v - scene.v)
        assert np.abs(change - done.impulses).max() < ROUNDING * scale
        assert scene.energy(done.v) < scene.energy(scene.v)
        iterations.append(done.iterations)
        if seed < 20:
            assert certified(scene, done.v)
            assert not certified(scene, scene.v)
            wrong = scene.impulses(form="naive").resolve(scene.x, scene.v, scene.dt)
            naive = max(naive, defects(scene.x, wrong.impulses, scale)[1])
        before += crossed(scene, scene.v) == (True, True)
    assert max(iterations) <= 10
    assert naive > 1e-3
    assert before > 50  # without impulses nearly all end in each other


@pytest.mark.parametrize("d", [2, 3])
def test_a_gap_is_left_and_certified(d: int) -> None:
    for seed in range(5):
        scene = Flung(seed, d)
        done = scene.impulses(gap=1e-3, thickness=1e-2, stiffness=1.0).resolve(scene.x, scene.v, scene.dt)
        assert done.failed == ""
        assert hits(scene, done.v) == 0
        assert certified(scene, done.v)
        assert max(defects(scene.x, done.impulses, momentum_scale(scene.mass, scene.v))) < ROUNDING


@pytest.mark.parametrize("d", [2, 3])
def test_same_bits_for_any_number_of_threads(d: int) -> None:
    scene = Flung(3, d, bodies=60, radius=6.0 if d == 3 else 14.0)
    found: list[Resolved] = []
    pairs = []
    threads = ct.threads()
    try:
        for number in (1, 2):
            ct.set_threads(number)
            found.append(scene.impulses().resolve(scene.x, scene.v, scene.dt))
            pairs.append(find_pairs(scene.surfaces, scene.x, scene.v, scene.dt))
    finally:
        ct.set_threads(threads)
    assert np.array_equal(found[0].v, found[1].v)
    assert np.array_equal(found[0].impulses, found[1].impulses)
    assert all(np.array_equal(one, two) for one, two in zip(*pairs, strict=True))
    assert found[0].hits > 100
    assert not np.array_equal(found[0].v, scene.v)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("scale", [2.0**-17, 2.0**20])
def test_size_makes_no_difference(d: int, scale: float) -> None:
    """Powers of two change no digit, so that any threshold in metres would show."""
    scene = Flung(1, d)
    impulses = scene.impulses(gap=0.0)
    done = impulses.resolve(scene.x, scene.v, scene.dt)
    other = impulses.resolve(scale * scene.x, scale * scene.v, scene.dt)
    assert np.array_equal(scale * done.v, other.v)
    assert np.array_equal(scale * done.impulses, other.impulses)
    slow = impulses.resolve(scene.x, scene.v * 2.0**-10, scene.dt * 2.0**10)
    assert np.array_equal(done.v * 2.0**-10, slow.v)


@pytest.mark.parametrize("d", [2, 3])
def test_far_from_the_origin(d: int) -> None:
    """Positions have 1e-11 of a body's size left there: nothing meets, and no zone is needed."""
    for seed in range(5):
        scene = Flung(seed, d)
        scene.x += 1e5
        done = scene.impulses().resolve(scene.x, scene.v, scene.dt)
        assert (done.failed, done.zones) == ("", 0)
        assert hits(scene, done.v) == 0
        assert crossed(scene, done.v) == (False, False)
        near = defects(scene.x - 1e5, done.impulses, momentum_scale(scene.mass, scene.v))
        assert max(near) < ROUNDING


def on_a_floor(size: float, speed: float, height: float = 1.0) -> Flung:
    """A tetrahedron above two triangles of 10 m that are held."""
    scene = Flung(0, 3, bodies=1)
    floor = 5 * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) + [0.3, 0.1, 0]
    body = size * (scene.x - scene.x.mean(axis=0))
    body[:, 2] += height * size - body[:, 2].min()
    scene.x = np.concatenate([body, floor])
    scene.v = np.concatenate([np.tile([0.2 * speed, 0, -speed], (4, 1)), np.zeros((4, 3))])
    scene.mass = np.concatenate([scene.mass, np.zeros(4)])
    scene.facets = np.concatenate([TETRAHEDRON_FACETS, [[4, 5, 6], [4, 6, 7]]]).astype(np.int32)
    scene.part = np.repeat([0, 1], 4).astype(np.int32)
    scene.held = np.arange(8) > 3
    return scene


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0])
def test_a_large_held_floor_stops_small_bodies(size: float) -> None:
    scene = on_a_floor(size, 20 * size)
    done = scene.impulses(gap=1e-3 * size).resolve(scene.x, scene.v, scene.dt)
    assert done.failed == ""
    assert np.array_equal(done.v[4:], scene.v[4:])
    lowest = (scene.x + scene.dt * done.v)[:4, 2].min()
    assert 0 < lowest < 2 * size
    assert hits(scene, done.v) == 0
    assert (scene.x + scene.dt * scene.v)[:4, 2].max() < 0
    total = np.abs(done.impulses.sum(axis=0)).max()
    assert total < ROUNDING * momentum_scale(scene.mass, scene.v)
    lost = scene.mass[:4] @ (done.v - scene.v)[:4]
    assert done.impulses[4:].sum(axis=0) == pytest.approx(-lost, rel=1e-9)


def test_a_floor_that_rises_takes_bodies_along() -> None:
    scene = on_a_floor(1.0, 0.0)
    scene.v[4:, 2] = 7.0
    done = scene.impulses().resolve(scene.x, scene.v, scene.dt)
    assert done.failed == ""
    assert np.array_equal(done.v[4:], scene.v[4:])
    assert ((scene.x + done.v)[:4, 2] > 7.0).all()


def test_a_belt_takes_bodies_along_within_the_cone() -> None:
    """Friction with what is held and moves: along its motion, at most mu times the normal impulse."""
    scene = on_a_floor(1.0, 1.2, height=0.05)
    scene.v[:4, 0] = 0.0
    scene.v[4:, 0] = 5.0
    done = scene.impulses(gap=1e-4).resolve(scene.x, scene.v, scene.dt)
    assert 0 < done.iterations <= 4  # later ones stick
    push = done.impulses[:4].sum(axis=0)
    assert push[2] > 0
    assert push[0] == pytest.approx(scene.friction * push[2], rel=1e-9)
    assert abs(push[1]) < 1e-9 * push[2]
    scene.friction = 0.0
    smooth = scene.impulses(gap=1e-4).resolve(scene.x, scene.v, scene.dt)
    assert np.abs(smooth.impulses[:4].sum(axis=0)[:2]).max() < 1e-9 * push[2]


def test_friction_is_that_of_the_pair() -> None:
    """Coefficients of bodies with themselves have no part in it."""
    scene = on_a_floor(1.0, 1.2, height=0.05)
    found = []
    for friction in (np.zeros((2, 2)), np.diag([7.0, 3.0]), np.array([[0, 0.2], [0.2, 0]])):
        surfaces = Surfaces(scene.facets, scene.part, friction)
        impulses = Impulses(surfaces, scene.mass, scene.held, thickness=0, gap=1e-4)
        found.append(impulses.resolve(scene.x, scene.v, scene.dt).v)
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


@pytest.mark.parametrize(
    ("d", "gap", "friction"), [(2, 0.0, 0.3), (3, 0.0, 0.0), (2, 1e-3, 0.0), (3, 1e-3, 0.3)]
)
def test_bodies_that_fall_and_rest_never_pass(d: int, gap: float, friction: float) -> None:
    """A heap on a held floor, over many steps of contact; bodies become rigid again between steps."""
    scene = Flung(0, d, friction=friction)
    corners = [[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]] if d == 3 else [[1.0, 0], [-1, 0]]
    free = len(scene.x)
    scene.x[:, -1] += 0.05 - scene.x[:, -1].min()
    scene.x = np.concatenate([scene.x, 20 * np.array(corners)])
    scene.mass = np.concatenate([scene.mass, np.zeros(len(corners))])
    ground = np.array([[0, 1, 2], [0, 2, 3]] if d == 3 else [[0, 1]])
    scene.facets = np.concatenate([scene.facets, ground + free]).astype(np.int32)
    scene.part = np.concatenate([scene.part, np.full(len(corners), 14)]).astype(np.int32)
    scene.held = np.arange(len(scene.x)) >= free
    surfaces, impulses, x, v = scene.surfaces, scene.impulses(gap=gap), scene.x, np.zeros_like(scene.x)
    dt, hit = 0.02, 0
    for _ in range(120):
        v[:free, -1] -= 9.81 * dt
        done = impulses.resolve(x, v, dt)
        assert done.failed == ""
        hit += done.hits
        assert gap == 0 or done.zones == 0
        x = x + dt * done.v
        assert len(intersections(surfaces, x, held=scene.held)) == 0
        for body in range(14):
            own = scene.part == body
            v[own] = rigid_velocities(x[own], done.v[own], scene.mass[own])
    assert hit > 100
    assert x[:free, -1].min() > 0
    assert -0.5 * 9.81 * (120 * dt) ** 2 + scene.x[:free, -1].max() < 0  # where they would have gone


def sheets(distance: float, thickness: float, speed: float) -> Flung:
    """A thin plate shot flat at another one, twisted a little."""
    scene = Flung(0, 3, bodies=1)
    n = 5
    grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, n)], indexing="ij"), axis=-1).reshape(-1, 2)
    layer = [
        corner
        for i in range(n - 1)
        for j in range(n - 1)
        for a in [i * n + j]
        for corner in ([a, a + n, a + n + 1], [a, a + n + 1, a + 1])
    ]
    below, above = np.array(layer)[:, ::-1], np.array(layer) + n * n
    ring = [
        *range(n),
        *range(2 * n - 1, n * n, n),
        *range(n * n - 2, n * n - n - 1, -1),
        *range(n * n - 2 * n, 0, -n),
    ]
    rim = [
        corner
        for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)
        for corner in ([b, a, a + n * n], [b, a + n * n, b + n * n])
    ]
    plate = np.concatenate([below, above, rim])
    body = np.concatenate(
        [np.pad(grid, ((0, 0), (0, 1))), np.pad(grid, ((0, 0), (0, 1))) + [0, 0, thickness]]
    )
    rng = np.random.default_rng(8)
    turned = body + [0.13, -0.21, distance]
    scene.x = np.concatenate([body, turned])
    scene.v = np.concatenate([np.zeros_like(body), np.tile([0.0, 0, -speed], (len(body), 1))])
    scene.v += 0.02 * speed * thickness * rng.normal(size=scene.v.shape)
    scene.mass = rng.uniform(1, 2, len(scene.x))
    scene.facets = np.concatenate([plate, plate + len(body)]).astype(np.int32)
    scene.part = np.repeat([0, 1], len(body)).astype(np.int32)
    scene.held = np.zeros(len(scene.x), bool)
    return scene


def test_a_thin_sheet_does_not_pass() -> None:
    """100 thicknesses per step: it stays on its side, however far it would have gone."""
    thickness = 0.01
    scene = sheets(0.3, thickness, 100 * thickness)
    assert len(intersections(scene.surfaces, scene.x)) == 0
    done = scene.impulses(gap=1e-3 * thickness).resolve(scene.x, scene.v, scene.dt)
    end = scene.x + scene.dt * done.v
    half = len(end) // 2
    over = (scene.x[half:, :2] > 0).all(axis=1) & (scene.x[half:, :2] < 1).all(axis=1)
    assert done.failed == ""
    assert hits(scene, done.v) == 0
    assert crossed(scene, done.v) == (False, False)
    assert (end[half:][over, 2].mean() - end[:half, 2].mean()) > 0
    through = scene.x + scene.dt * scene.v
    assert crossed(scene, scene.v) == (False, False)  # the end alone would not tell
    assert through[half:, 2].max() < through[:half, 2].min()
    assert hits(scene, scene.v) > 0


def boxes(offset: Array) -> Flung:
    """Two unit cubes that touch exactly."""
    scene = Flung(0, 3, bodies=1)
    cube = np.array([[i, j, k] for i in (0.0, 1.0) for j in (0.0, 1.0) for k in (0.0, 1.0)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    facets = np.array([t for q in quads for t in ([q[0], q[1], q[2]], [q[0], q[2], q[3]])])
    scene.x = np.concatenate([cube, cube + offset])
    scene.v = np.zeros_like(scene.x)
    scene.mass = np.ones(16)
    scene.facets = np.concatenate([facets, facets + 8]).astype(np.int32)
    scene.part = np.repeat([0, 1], 8).astype(np.int32)
    scene.held = np.zeros(16, bool)
    return scene


@pytest.mark.parametrize("offset", [(0.0, 0, 1), (0.3, 0.2, 1), (0.25, 0.25, 1 + 1e-11)])
def test_boxes_that_touch_part_freely_and_do_not_pass(offset: tuple[float, ...]) -> None:
    """At the start nothing crosses; going apart, or on together, costs nothing; going on into each other is stopped."""
    scene = boxes(np.array(offset))
    assert len(intersections(scene.surfaces, scene.x)) == 0
    impulses = scene.impulses(gap=1e-4)
    scene.v[8:] = [0, 0, 0.3]
    assert impulses.resolve(scene.x, scene.v, 1.0).hits == 0
    scene.v[:] = [0.3, -0.2, 0.7]
    assert impulses.resolve(scene.x, scene.v, 1.0).hits == 0
    scene.v[:8] = [0, 0, 0.5]
    scene.v[8:] = [0, 0, -0.5]
    done = impulses.resolve(scene.x, scene.v, 1.0)
    assert done.failed == ""
    assert hits(scene, done.v) == 0
    assert len(intersections(scene.surfaces, scene.x + done.v)) == 0
    assert len(intersections(scene.surfaces, scene.x + 0.2 * scene.v)) > 0
    assert max(defects(scene.x, done.impulses, momentum_scale(scene.mass, scene.v))) < ROUNDING


@pytest.mark.parametrize("d", [2, 3])
def test_all_crossings_are_found(d: int) -> None:
    """As many as without a search by boxes, none of facets that share a vertex or that are both held."""
    scene = Flung(2, d)
    end = scene.x + scene.v
    found = intersections(scene.surfaces, end)
    assert len(found) > 10
    assert (found[:, 0] < found[:, 1]).all()
    assert np.array_equal(found, np.unique(found, axis=0))
    shared = [bool(set(scene.facets[i]) & set(scene.facets[j])) for i, j in found]
    assert not any(shared)
    alone = set()
    for i in range(len(scene.facets)):
        for j in range(i):
            pair = Surfaces(scene.facets[[j, i]], scene.part, scene.surfaces.friction)
            if len(intersections(pair, end)):
                alone.add((j, i))
    assert alone == {tuple(pair) for pair in found.tolist()}
    held = scene.part < 7
    free = ~held[scene.facets].all(axis=1)
    some = intersections(scene.surfaces, end, held=held)
    assert np.array_equal(some, found[free[found].any(axis=1)])
    assert 0 < len(some) < len(found)


@pytest.mark.parametrize("d", [2, 3])
def test_the_search_misses_nothing(d: int) -> None:
    """Every stencil that meets is among the pairs found, of all there are; those with every vertex held are not."""
    scene = Flung(5, d, bodies=6)
    scene.held = scene.part < 3
    parts = scene.surfaces
    points = [[*facet, p] for facet in parts.facets.tolist() for p in parts.points.tolist() if p not in facet]
    edges = [
        [*one, *two]
        for k, one in enumerate(parts.edges.tolist())
        for two in parts.edges.tolist()[k + 1 :]
        if not set(one) & set(two)
    ]
    found = find_pairs(parts, scene.x, scene.v, scene.dt, held=scene.held)
    for kind, every, near in ((False, points, found.points), (True, edges, found.edges)):
        if not every:
            continue
        rows = np.array(every, np.int32)
        times, _, _ = _core.surface_meetings(scene.x, scene.v, scene.dt, parts.facets, rows, kind)
        meets = rows[(times <= 1) & ~scene.held[rows].all(axis=1)]
        assert len(meets) > 5
        assert {tuple(row) for row in meets.tolist()} <= {tuple(row) for row in near.tolist()}
        assert not scene.held[near].all(axis=1).any()
        assert len(near) < len(rows)
