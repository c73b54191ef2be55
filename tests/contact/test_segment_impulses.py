"""Impulses between segments: what approaches stops, momentum is kept, energy never grows, friction obeys Coulomb."""

import numpy as np
import pytest
from segment_scenes import chains, loose

from continua.contact.segments import SegmentPairs, nearby_segments


def lonely_pairs(seed, count=2000, side=2.0):
    """Pairs that share no vertices with each other, their velocities and masses."""
    rng = np.random.default_rng(seed)
    x, segments = loose(rng, rng.uniform(0.1, 1, 2 * count), side)
    pairs = SegmentPairs(x, segments, np.arange(2 * count).reshape(-1, 2))
    return pairs, x, rng.normal(size=x.shape), 10 ** rng.uniform(-2, 2, len(x))


def of_pairs(pairs, values):
    return values[pairs.segments[pairs.pairs].reshape(-1, 4)]


def approach(pairs, v):
    return -np.einsum("pa,pa->p", pairs.relative(v), pairs.normals)


def crowd(seed=1):
    """Strands in a heap where a vertex has many pairs."""
    rng = np.random.default_rng(seed)
    x, segments = chains(rng, 60, 20, 0.05, 0.5)
    pairs = SegmentPairs(x, segments, nearby_segments(x, segments, 0.05))
    return pairs, x, rng.normal(size=x.shape), 10 ** rng.uniform(-1, 1, len(x))


def energy(mass, v):
    return 0.5 * (mass[:, None] * v**2).sum()


def reference(pairs, v, mass, *, K=None, averaged=True):
    """One sweep in NumPy: K of every pair or the exact one; pushes of a vertex averaged (W20 4.5.3) or added."""
    w, vertices = pairs.weights(), pairs.segments[pairs.pairs].reshape(-1, 4)
    closing = approach(pairs, v)
    exact = (w**2 / mass[vertices]).sum(axis=1)
    j = np.where(closing > 0, closing, 0) / (exact if K is None else K(w, mass[vertices]))
    change, count = np.zeros_like(v), np.zeros(len(v))
    for k in range(4):
        push = (w[:, k] * j / mass[vertices[:, k]])[:, None] * pairs.normals
        np.add.at(change, vertices[:, k], push)
        np.add.at(count, vertices[:, k], closing > 0)
    return v + change / np.maximum(count, 1)[:, None] if averaged else v + change


def test_a_pair_stops_approaching_and_keeps_what_it_must():
    pairs, x, v, mass = lonely_pairs(1)
    before = approach(pairs, v)
    pushes = pairs.resolve(v, 1 / mass, sweeps=1)
    m, u, after, place = (of_pairs(pairs, a) for a in (mass, v, pushes.v, x))
    apart = before <= 0
    assert 0.3 < apart.mean() < 0.7
    assert np.array_equal(after[apart], u[apart]) and not pushes.pressed[apart].any()
    closing = ~apart
    scale = np.linalg.norm(after[closing], axis=2).max(axis=1)
    assert (np.abs(approach(pairs, pushes.v)[closing]) / scale).max() < 1e-14
    change = m[:, :, None] * (after - u)
    size = np.abs(m[:, :, None] * u).sum(axis=(1, 2))
    assert (np.abs(change.sum(axis=1)).max(axis=1) / size).max() < 1e-14
    turning = np.cross(place, change).sum(axis=1)
    assert (np.abs(turning).max(axis=1) / size).max() < 1e-12
    gain = (0.5 * m[:, :, None] * (after**2 - u**2)).sum(axis=(1, 2))
    assert (gain / (m[:, :, None] * u**2).sum(axis=(1, 2))).max() < 1e-15
    assert gain[closing].max() < 0 and pushes.contacts == closing.sum()
    # on the second as much as on the first, turned round
    given = of_pairs(pairs, pushes.impulses)
    second = np.einsum("pka,pa->pk", given, pairs.normals)[:, 2:].sum(axis=1)
    assert np.abs(second - pushes.pressed).max() < 1e-13 * pushes.pressed.max()


def test_the_formula_is_that_of_four_point_masses():
    pairs, _, v, mass = lonely_pairs(2)
    expected = reference(pairs, v, mass)
    found = pairs.resolve(v, 1 / mass, sweeps=1).v
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    # of equal masses: I = m vN / 2, spread as 2 I / (a^2 + (1-a)^2 + b^2 + (1-b)^2)
    even = np.full_like(mass, 0.3)
    a, b = pairs.parameters.T
    impulse = 0.3 * np.maximum(approach(pairs, v), 0) / 2
    spread = 2 * impulse / (a**2 + (1 - a) ** 2 + b**2 + (1 - b) ** 2)
    assert np.abs(pairs.resolve(v, 1 / even, sweeps=1).pressed - spread).max() < 1e-14
    # without that spreading they would not stop: an impulse of two whole segments
    wrong = reference(pairs, v, even, K=lambda w, m: 1 / m[:, 0] + 1 / m[:, 2])
    assert np.abs(approach(pairs, wrong)[approach(pairs, v) > 0]).max() > 0.1


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_in_a_crowd_momentum_is_kept_and_energy_falls(friction):
    pairs, x, v, mass = crowd()
    per_vertex = np.bincount(pairs.segments[pairs.pairs].ravel(), minlength=len(x))
    assert per_vertex.max() > 10
    size, last = np.abs(mass[:, None] * v).sum(), energy(mass, v)
    for sweeps in range(1, 9):
        pushes = pairs.resolve(v, 1 / mass, sweeps=sweeps, friction=friction)
        change = mass[:, None] * (pushes.v - v)
        assert np.abs(change.sum(axis=0)).max() < 1e-14 * size
        assert np.abs(change - pushes.impulses).max() < 1e-14 * np.abs(mass[:, None] * v).max() * 10
        if not friction:  # friction acts at two places, a gap apart
            assert np.abs(np.cross(x, change).sum(axis=0)).max() < 1e-12 * size
        now = energy(mass, pushes.v)
        assert now < last
        last = now


def test_averaging_by_vertex_would_lose_momentum_and_adding_would_gain_energy():
    pairs, _, v, mass = crowd()
    averaged, added = reference(pairs, v, mass), reference(pairs, v, mass, averaged=False)
    drift = (mass[:, None] * (averaged - v)).sum(axis=0)
    assert np.abs(drift).max() > 1e-5 * np.abs(mass[:, None] * v).sum()
    assert energy(mass, added) > energy(mass, v)
    ours = pairs.resolve(v, 1 / mass, sweeps=1).v
    assert np.abs((mass[:, None] * (ours - v)).sum(axis=0)).max() < 1e-14 * np.abs(mass[:, None] * v).sum()


def test_sweeps_stop_a_crowd():
    pairs, _, v, mass = crowd()
    start = np.maximum(approach(pairs, v), 0)
    left = [
        np.maximum(approach(pairs, pairs.resolve(v, 1 / mass, sweeps=n).v), 0).mean() for n in (5, 50, 500)
    ]
    assert left[0] < 0.5 * start.mean() and left[1] < 0.2 * left[0] and left[2] < 0.2 * left[1]


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 100.0])
def test_friction_is_cut_by_coulomb_and_never_turns_slip_round(mu):
    pairs, _, v, mass = lonely_pairs(3)
    pushes = pairs.resolve(v, 1 / mass, sweeps=1, friction=mu)
    acted = pushes.pressed > 0
    given = of_pairs(pairs, pushes.impulses)[:, 2:].sum(axis=1)
    rub = given - np.einsum("pa,pa->p", given, pairs.normals)[:, None] * pairs.normals
    assert (np.linalg.norm(rub, axis=1) - mu * pushes.pressed)[acted].max() < 1e-14 * np.abs(given).max()
    slips = []
    for u in (v, pushes.v):
        r = pairs.relative(u)
        slips.append((r + approach(pairs, u)[:, None] * pairs.normals)[acted])
    along = np.einsum("pa,pa->p", *slips)
    size = np.linalg.norm(pairs.relative(v)[acted], axis=1) ** 2
    assert (along / size).min() > -1e-14 and (along / size).max() <= 1 + 1e-14
    if mu == 0:
        assert np.abs(slips[1] - slips[0]).max() < 1e-13
    if mu == 100:  # nearly all stick
        stuck = np.linalg.norm(slips[1], axis=1) < 1e-13 * np.sqrt(size).max()
        assert stuck.mean() > 0.95
    gain = (
        of_pairs(pairs, mass)[:, :, None] * (of_pairs(pairs, pushes.v) ** 2 - of_pairs(pairs, v) ** 2)
    ).sum(axis=(1, 2))
    assert gain[acted].max() < 0


def test_a_pair_may_come_as_close_as_its_thickness():
    pairs, _, v, mass = lonely_pairs(4, side=0.2)
    dt, radius = 0.05, 0.02
    before = approach(pairs, v)
    pushes = pairs.resolve(v, 1 / mass, sweeps=1, radius=radius, dt=dt)
    gap = pairs.distances - 2 * radius
    slow = before * dt <= np.maximum(gap, 0)
    assert np.array_equal(of_pairs(pairs, pushes.v)[slow], of_pairs(pairs, v)[slow])
    assert slow.sum() > 100 and (~slow & (gap > 0)).sum() > 100 and (gap < 0).sum() > 10
    # the closest points of the others end at the distance of touching, and those closer than that stay where they are
    end = pairs.distances - dt * approach(pairs, pushes.v)
    scale = dt * np.abs(v).max() * 100
    assert np.abs(end - np.minimum(pairs.distances, 2 * radius))[~slow].max() < 1e-14 * scale
    # a fixed limit instead of the gap would stop some that were on their way to touch
    early = pairs.resolve(v, 1 / mass, sweeps=1).v
    assert (pairs.distances - dt * approach(pairs, early) - 2 * radius)[~slow & (gap > 0)].mean() > 1e-3


def test_vertices_that_others_move_are_left_alone():
    pairs, _, v, mass = lonely_pairs(5)
    inverse = 1 / mass
    given = np.random.default_rng(6).random(len(mass)) < 0.5
    inverse[given] = 0
    pushes = pairs.resolve(v, inverse, sweeps=1)
    assert np.array_equal(pushes.v[given], v[given])
    K = (pairs.weights() ** 2 * of_pairs(pairs, inverse)).sum(axis=1)
    held = K == 0  # with the closest points on them
    lever = ~held & (K / of_pairs(pairs, inverse).max(axis=1).clip(1e-300) < 0.1)  # next to them: slowed
    assert held.sum() > 50 and not pushes.pressed[held].any()
    before, after = approach(pairs, v), approach(pairs, pushes.v)
    scale = np.linalg.norm(of_pairs(pairs, pushes.v), axis=2).max(axis=1)
    assert (np.abs(after) / scale)[(before > 0) & ~lever & ~held].max() < 1e-13
    slowed = (before > 0) & lever
    assert slowed.any() and (after < before)[slowed].all() and (after > -1e-13 * scale)[slowed].all()
    total = of_pairs(pairs, pushes.impulses).sum(axis=1)  # with what the scripts took
    assert np.abs(total).max() < 1e-14 * np.abs(pushes.impulses).max() * 4


@pytest.mark.parametrize("sign", [1, -1])
def test_pairs_that_touch_are_held_on_either_side(sign):
    x = np.array([[-1.0, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]])
    v = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1.0], [0, 0, 1]]) * sign
    pair = SegmentPairs(x, [[0, 1], [2, 3]], [[0, 1]])
    after = pair.resolve(v, np.ones(4), sweeps=1).v
    assert np.abs(pair.relative(after)).max() < 1e-15 and after[:, 2] == pytest.approx(0.5 * sign)


def test_overlaps_are_undone_by_a_part_and_momentum_kept():
    pairs, _, v, mass = lonely_pairs(7, side=0.1)
    dt, radius = 0.01, 0.05
    pushes = pairs.resolve(v, 1 / mass, sweeps=1, radius=radius, dt=dt, recovery=0.1)
    overlap = 2 * radius - pairs.distances
    deep = (overlap > 0) & (pushes.pressed > 0)
    end = overlap + dt * approach(pairs, pushes.v)
    assert deep.sum() > 100
    assert np.abs(end - 0.9 * overlap)[deep].max() < 1e-13
    total = of_pairs(pairs, mass[:, None] * (pushes.v - v)).sum(axis=1)
    assert np.abs(total).max() < 1e-14 * np.abs(mass[:, None] * v).max() * 10
    without = pairs.resolve(v, 1 / mass, sweeps=1, radius=radius, dt=dt)
    closing = deep & (approach(pairs, v) > 0)
    assert np.abs(approach(pairs, without.v)[closing]).max() < 1e-12 and energy(mass, without.v) < energy(
        mass, v
    )


def test_what_is_held_is_not_a_lever():
    """Where a segment is held at one end and touched next to it, its free end stays about where it is.

    Moving the point by moving the far end alone would throw that away, by the inverse of how near the point is.
    """
    near = 1e-6  # of the length, from the held end
    x = np.array([[0.0, 0, 0], [1, 0, 0], [near, 0.01, -1], [near, 0.01, 1]])
    segments, held = np.array([[0, 1], [2, 3]], np.int32), np.array([0.0, 1, 0, 0])
    pairs = SegmentPairs(x, segments, np.array([[0, 1]], np.int32))
    v = np.array([[0.0, 0, 0], [0, 0, 0], [0, -1, 0], [0, -1, 0]])
    pushes = pairs.resolve(v, held, sweeps=1)
    assert np.array_equal(pushes.v[[0, 2, 3]], v[[0, 2, 3]]) and pushes.pressed[0] > 0
    assert np.linalg.norm(pushes.v[1]) <= 10 * near
    assert 1 / near > 1e5  # what stopping the point would take
