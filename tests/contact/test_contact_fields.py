"""Contact of whole fields: who is touched, precision, threads, periodic axes, splines, many and thin bodies."""

import numpy as np
import pytest
from scenes import JELLY, A, G, H, block_on_block, face_gap, hold_bottom, run, time_step
from two_fields import Fields, ball_points, body_of, lattice_points, node_velocities

import continua
from continua.contact.fields import FieldContact, PairRule


def pressed(d=2, dtype=np.float64, degree=2, period=None, shift=0.0, gap=0.0, mu=0.3, big=1):
    """Two blocks, the upper one coming down obliquely."""
    deep = [[-2 * H * big] * (d - 2), [2 * H * big] * (d - 2)]
    lower = lattice_points([-4 * H * big, -3 * H, *deep[0]], [4 * H * big, 0, *deep[1]], A)
    upper = lattice_points([-2 * H * big, gap, *deep[0]], [2 * H * big, 3 * H + gap, *deep[1]], A)
    v = np.array([0.1, -1.0, 0.2])[:d]
    points = [p + np.eye(d)[0] * shift for p in (lower, upper)]
    if period is not None:
        for p in points:
            p[:, 0] %= 4 * H * period[0]
    bodies = [
        body_of("a", points[0], A, JELLY, dtype=dtype),
        body_of("b", points[1], A, JELLY, velocity=v, dtype=dtype),
    ]
    return Fields(bodies, H, friction=mu, degree=degree, period=period)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_momentum_is_kept_and_other_nodes_keep_their_bits(d, degree):
    world = pressed(d, degree=degree)
    fields = world.to_grid(1e-4)
    before = node_velocities(fields)
    J = world.contact.resolve(fields, world.rules, world.lattice, degree, 1e-4)[0]
    change = [((f.nodes - b)[..., :3] * b[..., 3:]).sum(axis=(0, 1)) for f, b in zip(fields, before)]
    assert np.abs(change[0] + change[1]).max() < 1e-13 * np.abs(J).max()
    assert np.abs(change[0] - J).max() < 1e-12 * np.abs(J).max() and J[1] < 0
    found = world.contacts()
    for f, b in zip(fields, before):
        moved = (f.nodes != b).any(axis=2)
        shared = np.zeros_like(moved)
        shared[np.searchsorted(f.keys, found.key), found.node] = True
        assert moved.any() and not (moved & ~shared).any()
        assert np.array_equal(f.nodes[..., 3], b[..., 3])
    assert world.contact.contacts[0] > 0


def test_bodies_apart_have_the_bits_of_being_alone():
    for gap in (2.9 * H, 20 * H):  # shared blocks without a shared node, and no shared block
        world = pressed(gap=gap)
        fields = world.to_grid(1e-4)
        before = node_velocities(fields)
        assert not world.contact.resolve(fields, world.rules, world.lattice, 2, 1e-4).any()
        assert all(np.array_equal(f.nodes, b) for f, b in zip(fields, before))
        assert world.contact.contacts[0] == 0


@pytest.mark.parametrize("d", [2, 3])
def test_single_precision_does_the_same(d):
    double, single = pressed(d), pressed(d, np.float32)
    J, K = (w.contact.resolve(w.to_grid(1e-4), w.rules, w.lattice, 2, 1e-4) for w in (double, single))
    assert np.abs(J - K).max() < 1e-5 * np.abs(J).max()
    assert double.contact.contacts == single.contact.contacts
    for f, g in zip(double.fields, single.fields):
        assert np.abs(f.nodes[..., :3] - g.nodes[..., :3]).max() < 2e-4


def test_the_number_of_threads_changes_no_bit():
    results = []
    most = continua.threads()
    for threads in (1, 2, 3):
        continua.set_threads(threads)
        try:
            world = pressed(3, big=12)
            J = world.contact.resolve(world.to_grid(1e-4), world.rules, world.lattice, 2, 1e-4)
            results.append([J, *node_velocities(world.fields)])
        finally:
            continua.set_threads(most)
    assert all(np.array_equal(x, y) for other in results[1:] for x, y in zip(results[0], other))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_periodic_axes_have_no_seam(dtype):
    period = np.array([8, 0], np.int32)
    plain = pressed(dtype=dtype, period=period, shift=16 * H)
    J = plain.contact.resolve(plain.to_grid(1e-4), plain.rules, plain.lattice, 2, 1e-4)
    across = pressed(dtype=dtype, period=period, shift=0.0)
    K = across.contact.resolve(across.to_grid(1e-4), across.rules, across.lattice, 2, 1e-4)
    tolerance = 1e-12 if dtype == np.float64 else 5e-4  # gaps are rounded, and divided by dt
    assert np.abs(J - K).max() < tolerance * np.abs(J).max()
    assert plain.contact.contacts == across.contact.contacts


def test_names_decide_nothing_but_ties():
    """Three blocks that meet at one edge, in all orders."""
    parts = {
        "floor": (lattice_points((-4 * H, -2 * H), (4 * H, 0), A), (0.0, 0.3)),
        "left": (lattice_points((-3 * H, 0), (0, 3 * H), A), (0.5, -0.2)),
        "right": (lattice_points((0, 0), (3 * H, 3 * H), A), (-0.4, -0.1)),
    }
    outcome = []
    for names in (["floor", "left", "right"], ["right", "floor", "left"], ["left", "right", "floor"]):
        bodies = [body_of(n, parts[n][0], A, JELLY, velocity=parts[n][1]) for n in names]
        world = Fields(bodies, H, friction=0.4)
        world.step(1e-4)
        outcome.append({n: b.v.copy() for n, b in zip(names, bodies)})
    for other in outcome[1:]:
        assert max(np.abs(other[n] - outcome[0][n]).max() for n in parts) < 1e-12


def test_a_stack_stands():
    bodies = [
        body_of(str(k), lattice_points((-4 * H, 4 * k * H), (4 * H, (4 * k + 4) * H), A), A, JELLY)
        for k in range(4)
    ]
    world = Fields(bodies, H, gravity=(0, -G), origin=(0.3 * H, 0.4 * H))

    def hold(fields, dt):
        fields[0].nodes[world.grids[0].node_positions()[..., 1] < 1.5 * H, :3] = 0

    world.after = hold
    run(world, 1.0, time_step())
    heights = [(b.x[:, 1].mean() - (4 * k + 2) * H) / H for k, b in enumerate(bodies)]
    assert abs(heights[2]) < 0.2 and abs(heights[3]) < 0.3


def sheets(slack):
    """Spacing [cells] of four continua of half a cell that lie on a block."""
    heights = [(-4.0, 0.0), *((0.5 * k, 0.5 * (k + 1)) for k in range(4))]
    bodies = [
        body_of(str(k), lattice_points((-4 * H, low * H), (4 * H, high * H), A), A, JELLY)
        for k, (low, high) in enumerate(heights)
    ]
    world = Fields(bodies, H, slack=slack, friction=0.3, gravity=(0, -G), origin=(0.3 * H, 0.4 * H))
    hold_bottom(world, 0, -2.5 * H)
    run(world, 0.5, time_step())
    return np.diff([b.x[:, 1].mean() for b in bodies[1:]]) / H


def test_thin_layers_keep_their_distance():
    assert np.abs(sheets(0.0) - 0.5).max() < 0.03
    assert sheets(0.25).min() > 0.2


def test_rules_are_checked():
    world = pressed()
    fields = world.to_grid(1e-4)
    for rule in (PairRule(0, 0), PairRule(0, 2), PairRule(0, 1, -1.0)):
        with pytest.raises(ValueError, match="rules"):
            FieldContact().resolve(fields, [rule], world.lattice, 2, 1e-4)
    with pytest.raises(ValueError, match="dt"):
        FieldContact().resolve(fields, world.rules, world.lattice, 2, 0.0)
    fields[0].nodes = fields[0].nodes[:-1]
    with pytest.raises(ValueError, match=r"fields\[0\]"):
        FieldContact().resolve(fields, world.rules, world.lattice, 2, 1e-4)


@pytest.mark.parametrize("h", [H])
def test_spheres_touch_on_time(h):
    """Along the diagonal of space; the first 0.1 % of the momentum."""
    r, e = 4 * h, np.ones(3) / np.sqrt(3)
    bodies = [
        body_of(n, ball_points(s * e * (r + 0.3 * h), r, A), A, JELLY, velocity=-s * e)
        for n, s in (("a", -1), ("b", 1))
    ]
    world = Fields(bodies, h)
    p0, given, approach, dt = bodies[0].mass.sum(), 0.0, 0.6 * h, time_step()
    while given < 1e-3 * p0:
        given += float(-world.step(dt)[0] @ e)
        approach -= 2 * dt
        assert approach > -h
    assert abs(approach) < 0.25 * h


def test_static_rest_in_single_precision():
    world = block_on_block((0.25, 0.4), drop=0.2)
    bodies = [body_of(b.name, b.x.copy(), A, JELLY, dtype=np.float32) for b in world.bodies]
    world.bodies[:] = bodies
    run(world, 0.5, time_step())
    assert abs(face_gap(world)) < 0.03
