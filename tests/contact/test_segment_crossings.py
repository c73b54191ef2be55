"""Segments that go through each other are counted: exactly those whose distance becomes zero on the way."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from segment_scenes import all_pairs, chains, distances, loose

from continua.contact.segments import crossed_segments
from continua.errors import GeometryError


def least_distance(x0, x1, segments, pair, samples=100):
    """Of one pair on its way: sampled in time, then refined around every low."""

    def at(t):
        return distances(x0 + t * (x1 - x0), segments, pair[None])[0]

    t = np.linspace(0, 1, samples + 1)
    seen = np.array([at(s) for s in t])
    low = [
        k
        for k in range(samples + 1)
        if seen[k] <= seen[max(k - 1, 0)] and seen[k] <= seen[min(k + 1, samples)]
    ]
    tries = [
        minimize_scalar(
            at, bounds=(t[max(k - 1, 0)], t[min(k + 1, samples)]), method="bounded", options={"xatol": 1e-13}
        ).fun
        for k in low
    ]
    return min(*tries, seen.min()) if tries else seen.min()


def moving(seed, count=40):
    rng = np.random.default_rng(seed)
    x0, segments = loose(rng, rng.uniform(0.3, 1.5, count), side=1.0)
    return x0, x0 + 0.4 * rng.normal(size=x0.shape), segments


def test_crossings_are_where_the_distance_becomes_zero():
    x0, x1, segments = moving(1, 50)
    crossed, times, *_ = crossed_segments(x0, x1, segments)
    pairs = all_pairs(segments)
    found = {tuple(pair) for pair in crossed}
    # dense samples leave little doubt for most of them; the rest is refined
    t = np.linspace(0, 1, 201)
    sampled = np.min([distances(x0 + s * (x1 - x0), segments, pairs) for s in t], axis=0)
    fastest = 2 * np.linalg.norm(x1 - x0, axis=1).max()
    doubtful = sampled < fastest / 400
    assert all(tuple(pair) not in found for pair in pairs[~doubtful])
    least = np.array([least_distance(x0, x1, segments, pair) for pair in pairs[doubtful]])
    truth = least < 1e-7
    assert np.array_equal(truth, [tuple(pair) in found for pair in pairs[doubtful]])
    assert 50 < truth.sum() == len(crossed) and (~truth).sum() > 5 and least[~truth].min() > 1e-5

    # a look at the two ends alone, by the side of the lines, would be wrong
    def side(x):
        p, q = x[segments[pairs[:, 0]]], x[segments[pairs[:, 1]]]
        return np.einsum("pa,pa->p", np.cross(p[:, 1] - p[:, 0], q[:, 1] - q[:, 0]), q[:, 0] - p[:, 0]) > 0

    changed = {tuple(pair) for pair in pairs[side(x0) != side(x1)]}
    assert len(changed ^ found) > 20
    assert (times >= 1).all()


def test_a_pair_may_cross_twice_in_a_step():
    # at y = 0 the second is at z = -(t - 1/4) (t - 3/4)
    def second(t):
        return [[0, t - 0.75 + s, s * (t - 0.25)] for s in (-2.0, 2.0)]

    first = [[-1.0, 0, 0], [1, 0, 0]]
    places = [np.array(first + second(t)) for t in (0, 0.5, 1)]
    segments = [[0, 1], [2, 3]]
    assert crossed_segments(places[0], places[2], segments)[1].tolist() == [2]
    assert crossed_segments(places[0], places[1], segments)[1].tolist() == [1]
    assert crossed_segments(places[1], places[2], segments)[1].tolist() == [1]
    assert len(crossed_segments(places[0], places[0], segments)[0]) == 0


def test_a_step_in_parts_has_the_same_crossings():
    x0, x1, segments = moving(2, 80)
    whole = crossed_segments(x0, x1, segments)
    places = [x0 + t * (x1 - x0) for t in np.linspace(0, 1, 8)]
    parts = sum(crossed_segments(a, b, segments)[1].sum() for a, b in zip(places, places[1:], strict=False))
    assert whole[1].sum() == parts > 100


def test_a_strand_through_a_joint_counts_once():
    fixed = np.array([[-1.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    other = np.array([[0.0, -1, 1], [0, 1, 1]])
    x0 = np.concatenate([fixed, other])
    x1 = np.concatenate([fixed, other - [0, 0, 2]])
    pairs, times, *_ = crossed_segments(x0, x1, [[0, 1], [1, 2], [3, 4]])
    assert pairs.tolist() == [[1, 2]] and times.tolist() == [1]


def test_moving_together_or_apart_crosses_nothing():
    x, segments = chains(np.random.default_rng(3), 50, 20, 0.05, 0.4)
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    assert len(crossed_segments(x, x + [3.0, 0.1, -2], segments)[0]) == 0
    assert len(crossed_segments(x, 2 * x, segments)[0]) == 0
    assert len(crossed_segments(x, x + 1e-3 * x @ turn @ turn.T, segments)[0]) == 0
    assert len(crossed_segments(x, x, segments)[0]) == 0
    assert len(crossed_segments(x, x[:, [1, 0, 2]], segments)[0]) > 0


def test_neighbours_and_wrong_arguments():
    x0, x1, segments = moving(5, 20)
    pairs, *_ = crossed_segments(x0, x1, segments)
    along = np.stack([10.0 * np.arange(20), 10.0 * np.arange(20) + 1], axis=1)
    left, *_ = crossed_segments(x0, x1, segments, along=along, skip=9.5)
    assert len(left) == (pairs[:, 1] - pairs[:, 0] > 1).sum() < len(pairs)
    with pytest.raises(GeometryError, match="after"):
        crossed_segments(x0, x1[1:], segments)
    with pytest.raises(GeometryError, match="after: must be finite"):
        crossed_segments(x0, x1 + np.nan, segments)
    assert crossed_segments(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 2), int))[0].shape == (0, 2)
