"""Obstacles by the law of contact: bodies rest, touch, slide, roll and hang alike wherever the grid lies."""

import numpy as np
import obstacle_scenes as scenes
import pytest
from obstacle_scenes import PLACES, box, down, floor, world_of
from scenes import JELLY, A, G, H, run, time_step
from two_fields import body_of, lattice_points, node_velocities

import continua
from continua import boundaries, colliders, motions
from continua.contact.fields import FieldContact, ObstacleLaw, all_pairs, obstacle_contacts
from continua.integrators import ObstacleTable
from continua.materials import DruckerPrager, NeoHookean, Snow, VonMises

FEW = PLACES[::3]


@pytest.mark.parametrize("place", PLACES)
def test_rest_touch_and_spin(place):
    assert abs(scenes.rest(place)) < 0.03  # [-0.005, -0.001]
    assert abs(scenes.touch(place)) < 0.1  # [0.002]
    assert all(scenes.spin(gap, place) == 0 for gap in (0.2, 0.3, 0.5))


SAND = DruckerPrager(E=1e6, nu=0.3, density=1600, friction_angle=40)
SOLIDS = (
    NeoHookean(E=1e6, nu=0.3, density=1000),
    VonMises(E=1e6, nu=0.3, density=1000, yield_stress=2e4),
    Snow(E=1e6),
)


@pytest.mark.parametrize("material", SOLIDS, ids=lambda m: type(m).__name__)
def test_rest_of_other_materials(material):
    assert max(abs(scenes.rest(p, material=material)) for p in FEW) < 0.03  # [0.003; snow 0.019]


def test_rest_in_single_precision():
    assert max(abs(scenes.rest(p, dtype=np.float32)) for p in FEW) < 0.03  # [0.003]


def test_a_soft_block_and_an_overhanging_one():
    assert max(abs(scenes.soft(p)) for p in FEW) < 0.06  # [0.037]
    assert max(abs(scenes.overhang(p)) for p in PLACES) < 0.03  # [0.003]


def test_piston():
    """Both faces are where they are within 0.03 cells each."""
    assert max(abs(scenes.piston(p)) for p in PLACES) < 0.06  # [0.018]


@pytest.mark.parametrize("mu", [0.0, 0.2, 0.4])
def test_slide(mu):
    assert max(abs(scenes.slide(mu, p)) for p in FEW) < 0.003  # [0.0003]


def test_cubic_splines():
    """The same gates; the wider spline makes discs of 4 cells radius roll a little worse."""
    cubic = {"degree": 3}
    assert max(abs(scenes.rest(p, **cubic)) for p in FEW) < 0.03  # [0.005]
    assert max(abs(scenes.touch(p, **cubic)) for p in FEW) < 0.1  # [0.007]
    assert scenes.spin(0.2, 0.0, **cubic) == 0
    assert max(abs(scenes.slide(0.2, p, **cubic)) for p in FEW) < 0.003  # [0.0001]
    assert max(abs(scenes.hang(p, **cubic)) for p in FEW) < 0.05  # [0.001]
    assert max(abs(scenes.level(p, **cubic)) for p in FEW) < 0.1  # [0.056]
    assert min(scenes.plate(0.5, p, **cubic) for p in FEW) > -0.06  # [0.23]


def test_stick():
    assert max(abs(scenes.slide(0.7, p, seconds=1.2)) for p in FEW) < 1e-4  # [7e-6]


def test_roll():
    assert min(scenes.roll(4, p) for p in PLACES) > 0.80  # [0.83]
    assert min(scenes.roll(8, p) for p in FEW) > 0.90  # [0.96]


def test_hang_plate_groove_and_layer():
    assert max(abs(scenes.hang(p)) for p in PLACES) < 0.05  # [0.001]
    assert min(scenes.plate(w, p) for w in (0.5, 1) for p in FEW) > -0.06  # [0.08]
    assert max(abs(scenes.groove(p)) for p in FEW) < 0.05  # [0.008]
    assert min(scenes.layer(p) for p in FEW) > -0.3  # [-0.25]: the slack


def test_level_of_a_liquid():
    assert max(abs(scenes.level(p)) for p in FEW) < 0.1  # [0.045]
    assert max(abs(scenes.level(p, material=SAND)) for p in FEW) < 0.1  # [0.012]


def test_rebound():
    assert min(scenes.rebound(p) for p in FEW) > 0.6  # [0.655; plain nodes 0.84]


def test_wrong_variants_fail():
    assert max(scenes.rest(p, plain=True) for p in FEW) > 0.1
    assert min(scenes.roll(4, p, plain=True) for p in FEW) < 0.5
    assert min(scenes.roll(4, p, law=ObstacleLaw(correction=0.0)) for p in PLACES) < 0.75
    assert max(scenes.roll(4, p, law=ObstacleLaw(slack=0.0)) for p in FEW) < 0.75


def one_step(world, dt=1e-4):
    fields = world.to_grid(dt)
    before = node_velocities(fields)
    table = ObstacleTable.of(world.obstacles, dt, world.lattice)
    world.contact.resolve(fields, world.rules, world.lattice, world.degree, dt, table)
    return fields, before, table


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_impulses_balance(degree):
    body = box([0, 0], [8, 4], velocity=(0.3, -1.0))
    world = world_of(
        [body], [floor(friction=0.4), colliders.Sphere(center=(2 * H, -H), radius=1.5 * H)], degree=degree
    )
    (one,), (before,), _ = one_step(world)
    change = ((one.nodes - before)[..., :3] * before[..., 3:]).sum(axis=(0, 1))
    assert np.abs(change - world.contact.wall_impulses.sum(axis=0)).max() < 1e-12 * np.abs(change).max()
    assert (world.contact.wall_contacts > 0).all() and change[1] > 0


def test_bodies_far_from_obstacles_keep_their_bits():
    body = box([0, 3], [8, 7], velocity=(0.3, -1.0))
    (one,), (before,), _ = one_step(world_of([body], [floor(friction=0.4)]))
    assert np.array_equal(one.nodes, before)


def test_containers_are_their_walls():
    """In the corner of a hollow box a block stops along both walls, as between two planes."""
    results = []
    corner = [colliders.Plane(normal=(1, 0)), floor()]
    hollow = [colliders.Box(center=(10 * H, 10 * H), size=(20 * H, 20 * H), inverted=True)]
    for walls in (corner, hollow):
        body = box([0, 0], [4, 4], velocity=(-1.0, -1.0))
        (one,), _, _ = one_step(world_of([body], walls))
        results.append(one.nodes)
    assert np.array_equal(*results)


def test_a_piston_carries_what_lies_on_it():
    body = box([0, 0], [8, 4])
    world = world_of([body], [floor(motion=motions.Linear((0, 0.5)))], gravity=down(), place=0.3)
    run(world, 0.5, time_step())
    assert abs(body.v[:, 1].mean() - 0.5) < 0.02
    assert abs(body.x[:, 1].min() - A / 2 - 0.25) < 0.1 * H


def test_a_block_between_floor_and_block():
    """Nodes with a pair and an obstacle: the obstacle has the last word, and a stack stands."""
    bodies = [box([0, 0], [8, 0.5], "sheet"), box([0, 0.5], [8, 4.5], "upper")]
    world = world_of(bodies, [floor(friction=0.3)], gravity=down(), place=0.4)
    world.rules = all_pairs([b.name for b in bodies], friction=0.3, slack=0.0)  # the sheet is thin
    run(world, 0.5, time_step())
    sheet, upper = (b.x[:, 1].mean() / H for b in bodies)
    assert -0.3 < sheet - 0.25 < 0.02 and abs(upper - sheet - 2.25) < 0.06  # [-0.05, 0.016]
    dt = 1e-4
    bodies[1].v[:, 1] -= 1
    fields = world.to_grid(dt)
    table = ObstacleTable.of(world.obstacles, dt, world.lattice)
    world.contact.resolve(fields, world.rules, world.lattice, 2, dt, table)
    for one, grid in zip(fields, world.grids):
        found = obstacle_contacts(one, table, world.lattice, 2)
        near = np.isfinite(found.gap)
        vn = (one.nodes.reshape(-1, 4)[found.node[near], :3] * found.normal[near]).sum(axis=1)
        assert (vn + np.maximum(found.gap[near], 0) / dt).min() > -1e-9
        assert grid.blocks == len(one.keys)


def test_conditions_for_implicit_solves():
    body = box([0, 0], [8, 4], velocity=(0, -1.0))
    world = world_of([body], [floor(mode="sticky"), floor()], place=0.4)
    (one,) = world.to_grid(1e-4)
    table = ObstacleTable.of(world.obstacles, 0.0, world.lattice)
    found = obstacle_contacts(one, table, world.lattice, 2)
    assert set(found.row) == {0, 1} and np.allclose(found.normal, (0, 1, 0))
    y = world.grids[0].node_positions().reshape(-1, 2)[found.node, 1]
    assert np.allclose(found.distance, y) and y.max() < 0.9 * H
    assert found.held[(found.row == 0) & (y < 0)].any() and not found.held[found.row == 1].any()
    assert (np.diff(found.node) >= 0).all()


def test_regions_come_last():
    body = box([0, 0], [8, 4], velocity=(0.3, -1.0))
    regions = [boundaries.FixedVelocity((-1, -1), (2 * H, 1), v) for v in ((0.7, None), (0.9, None))]
    world = world_of([body], [regions[0], floor(friction=0.4), regions[1]])
    (one,), _, _ = one_step(world)
    x = world.grids[0].node_positions()
    inside = (x[..., 0] < 2 * H) & (one.nodes[..., 3] > 0)
    assert inside.any() and (one.nodes[inside, 0] == 0.9).all()
    low = inside & (x[..., 1] < -0.5 * H)
    assert (np.abs(one.nodes[low, 1]) < 0.05).any()  # the floor acts on the free component


@pytest.mark.parametrize("d", [2, 3])
def test_precision_and_threads(d):
    def impulse(dtype, threads):
        most = continua.threads()
        continua.set_threads(threads)
        try:
            wide = [8 * H] * (d - 2)
            points = lattice_points([0, 0, *(-w for w in wide)], [32 * H, 4 * H, *wide], A)
            body = body_of("b", points, A, JELLY, velocity=np.array([0.3, -1, 0.1])[:d], dtype=dtype)
            world = world_of([body], [floor(d, friction=0.3)], place=0.4)
            (one,), _, _ = one_step(world)
            return world.contact.wall_impulses.copy(), one.nodes
        finally:
            continua.set_threads(most)

    J, nodes = impulse(np.float64, 1)
    K, others = impulse(np.float64, 2)
    assert np.array_equal(J, K) and np.array_equal(nodes, others)
    assert np.abs(impulse(np.float32, 1)[0] - J).max() < 1e-4 * np.abs(J).max()


def test_periodic_axes_have_no_seam():
    impulses = []
    for shift in (0.0, 16 * H):
        points = lattice_points((-4 * H, 0), (4 * H, 4 * H), A) + (shift, 0)
        points[:, 0] %= 32 * H
        body = body_of("b", points, A, JELLY, velocity=(0.2, -1.0))
        ball = colliders.Sphere(center=(shift, -2 * H), radius=2.2 * H, friction=0.3)
        world = scenes.Fields([body], H, period=np.array([8, 0], np.int32), obstacles=[ball])
        one_step(world)
        impulses.append(world.contact.wall_impulses.sum(axis=0))
    assert np.abs(impulses[0] - impulses[1]).max() < 1e-11 * np.abs(impulses[0]).max() and impulses[0][1] > 0


def sampled_floor(**options):
    """A slab as a mesh, whose distance is known on a lattice only."""
    corners = np.array([(x, y, z) for x in (-1.5, 1.5) for y in (-0.8, 0.0) for z in (-1.5, 1.5)], float)
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
             (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
    return colliders.Mesh(vertices=corners, faces=np.array(faces), resolution=32, **options)


def test_space_rest_touch_and_slide():
    assert abs(scenes.rest(0.37, d=3, seconds=0.3)) < 0.03
    assert abs(scenes.touch(0.63, d=3)) < 0.1
    assert max(abs(scenes.slide(0.2, p, d=3)) for p in FEW) < 0.003  # [0.0002]


def test_space_sampled_obstacle():
    assert abs(scenes.rest(0.37, d=3, obstacle=sampled_floor(), seconds=0.3)) < 0.03


def test_space_roll():
    assert scenes.roll_in_space(4, 0.37, sphere=False) > 0.80  # [0.84]
    assert min(scenes.roll_in_space(4, p, sphere=True) for p in FEW) > 0.80
    assert scenes.roll_in_space(6, 0.37, sphere=True, seconds=0.2) > 0.90
    wrong = ObstacleLaw(cone=0.0)  # the lowest particle touches at all nodes around it
    assert scenes.roll_in_space(4, 0.37, sphere=True, law=wrong) < 0.75


def test_space_turning_obstacle():
    """A turntable drags a block on it with mu g, along its velocity there."""
    mu, omega = 0.2, 3.0
    body = box([18, 0, -2], [22, 4, 2])
    table = floor(3, friction=mu, motion=motions.Spin(omega, (0, 0, 0), (0, 1, 0)))
    world = world_of([body], [table], gravity=down(d=3), place=0.37)
    dt = time_step()
    v = run(world, 0.12, dt, lambda: body.v[:, 2].mean())
    t, skip = dt * np.arange(len(v)), len(v) // 4
    assert abs(np.polyfit(t[skip:], v[skip:], 1)[0] / G + mu) < 0.02


def test_arguments_are_checked():
    body = box([0, 0], [8, 4])
    world = world_of([body], [floor()])
    fields = world.to_grid(1e-4)
    table = ObstacleTable.of(world.obstacles, 0.0, world.lattice)
    table.rows[0, 0] = 99
    with pytest.raises(ValueError, match="table"):
        FieldContact().resolve(fields, [], world.lattice, 2, 1e-4, table)
    with pytest.raises(ValueError, match="law"):
        table.rows[0, 0] = 0
        FieldContact(ObstacleLaw(reach=-1.0)).resolve(fields, [], world.lattice, 2, 1e-4, table)
