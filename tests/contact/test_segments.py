"""Segments close to each other: none is missed, whatever their lengths; the closest points of any two of them."""

import numpy as np
import pytest
from segment_scenes import all_pairs, chains, close_pairs, distances, loose

import continua as ct
from continua.contact.segments import SegmentPairs, nearby_segments
from continua.errors import GeometryError, SetupError


def pads(x, segments, side, distance):
    """Pairs that share a cubic pad, extended towards +, in which both have an endpoint: what W20 4.5.3 describes."""
    members = {}
    for number, ends in enumerate(segments):
        for point in x[ends]:
            low, high = np.floor((point - distance) / side).astype(int), np.floor(point / side).astype(int)
            for corner in np.ndindex(*(high - low + 1)):
                members.setdefault(tuple(low + corner), set()).add(number)
    found = {(i, j) for here in members.values() for i in here for j in here if i < j}
    return np.array(sorted(found)).reshape(-1, 2)


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1, 2])  # longest segment over the side of a pad
@pytest.mark.parametrize("distance", [0.005, 0.03, 0.3])
def test_the_search_finds_what_all_pairs_have(ratio, distance):
    rng = np.random.default_rng(int(100 * ratio + 1e4 * distance))
    x, segments = loose(rng, 0.3 * ratio * rng.uniform(0.05, 1, 200))  # 19,900 pairs
    expected, margin = close_pairs(x, segments, distance)
    assert margin > 1e-12
    assert np.array_equal(nearby_segments(x, segments, distance), expected)


def test_pads_with_endpoints_alone_would_miss_pairs():
    rng = np.random.default_rng(3)
    x, segments = loose(rng, np.full(600, 0.27))
    expected, _ = close_pairs(x, segments, 0.03)
    kept = {tuple(pair) for pair in pads(x, segments, 0.3, 0.03)}
    missed = sum(tuple(pair) not in kept for pair in expected)
    assert missed > 0.005 * len(expected)  # 3.9 % of random pairs at this length
    assert np.array_equal(nearby_segments(x, segments, 0.03), expected)


@pytest.mark.parametrize("spread", [1, 3, 6])
def test_lengths_may_differ_by_any_factor(spread):
    rng = np.random.default_rng(spread)
    x, segments = loose(rng, 0.1 * np.exp(spread * rng.normal(size=500)))
    expected, _ = close_pairs(x, segments, 0.02)
    assert np.array_equal(nearby_segments(x, segments, 0.02), expected)


def test_one_long_segment_among_many_short_ones_costs_no_memory():
    rng = np.random.default_rng(1)
    length = np.full(800, 1e-3)
    length[234] = 1e6  # 1e27 cells of the others are in its box
    x, segments = loose(rng, length)
    found = nearby_segments(x, segments, 0.02)
    expected, _ = close_pairs(x, segments, 0.02)
    assert np.array_equal(found, expected)


def test_far_from_the_origin_as_well():
    rng = np.random.default_rng(2)
    x, segments = loose(rng, np.full(300, 0.3))
    x += [1e7, -2e7, 3e6]
    expected, margin = close_pairs(x, segments, 0.1)
    assert margin > 1e-7 and np.array_equal(nearby_segments(x, segments, 0.1), expected)


def test_points_lines_and_planes_of_segments():
    points = np.array([[0.0, 0, 0], [0, 0, 0], [0.01, 0, 0], [0.01, 0, 0], [5, 0, 0], [5, 0, 0]])
    two = np.arange(6).reshape(3, 2)
    assert nearby_segments(points, two, 0.02).tolist() == [[0, 1]]
    assert nearby_segments(np.zeros((6, 3)), two, 1e-3).tolist() == [[0, 1], [0, 2], [1, 2]]
    grid = np.array([[i, j, 0.0] for i in range(30) for j in range(2)])
    rows = np.arange(60).reshape(30, 2)
    assert nearby_segments(grid, rows, 1.5).tolist() == [[i, i + 1] for i in range(29)]


def test_what_comes_close_on_the_way_is_found():
    rng = np.random.default_rng(11)
    x, segments = loose(rng, rng.uniform(0.05, 0.3, 200), side=0.8)
    motion, distance = 0.1 * rng.normal(size=x.shape), 0.02
    pairs = all_pairs(segments)
    ways = motion[segments[pairs]]  # (P, 2, 2, 3)
    approach = np.linalg.norm(ways[:, 1, None] - ways[:, 0, :, None], axis=3).max(axis=(1, 2))
    places = np.stack([x[segments], (x + motion)[segments]], axis=1).reshape(-1, 4, 3)
    low, high = places.min(axis=1)[pairs] - distance / 2, places.max(axis=1)[pairs] + distance / 2
    meet = ((low[:, 0] <= high[:, 1]) & (low[:, 1] <= high[:, 0])).all(axis=1)
    expected = pairs[meet & (distances(x, segments, pairs) < distance + approach)]
    found = nearby_segments(x, segments, distance, motion=motion)
    assert np.array_equal(found, expected)
    on_the_way = (
        np.min([distances(x + t * motion, segments, pairs) for t in np.linspace(0, 1, 31)], axis=0) < distance
    )
    close = {tuple(pair) for pair in pairs[on_the_way]}
    assert len(close) > 100 and close <= {tuple(pair) for pair in found}
    # a search that only looks where they are now misses most of them
    now = {tuple(pair) for pair in nearby_segments(x, segments, distance)}
    assert len(now & close) < 0.5 * len(close)


def test_neighbours_of_a_strand_are_left_out():
    x, segments = chains(np.random.default_rng(5), 8, 30, 0.1, 1.0)
    expected, _ = close_pairs(x, segments, 0.25)
    assert np.array_equal(nearby_segments(x, segments, 0.25), expected)
    place = np.arange(30) * 0.1
    along = (10.0 * np.arange(8)[:, None] + place).ravel()[:, None] + [0, 0.1]
    strand, number = np.divmod(expected, 30)
    own = (strand[:, 0] == strand[:, 1]) & (number[:, 1] - number[:, 0] <= 3)
    assert own.sum() > 100 and (~own).sum() > 10
    assert np.array_equal(nearby_segments(x, segments, 0.25, along=along, skip=0.25), expected[~own])


def test_the_number_of_threads_changes_nothing():
    x, segments = chains(np.random.default_rng(6), 400, 20, 0.02, 0.3)
    v = np.random.default_rng(7).normal(size=x.shape)
    mass = np.random.default_rng(8).uniform(0, 2, len(x))

    def everything(threads):
        ct.set_threads(threads)
        found = nearby_segments(x, segments, 0.01)
        pairs = SegmentPairs(x, segments, found)
        pushes = pairs.resolve(v, mass, friction=0.3)
        return [found, pairs.parameters, pairs.normals, pushes.v, pushes.impulses, pushes.pressed]

    try:
        alone, many = everything(1), everything(3)
    finally:
        ct.set_threads(1)
    assert len(alone[0]) > 5000
    assert all(a.tobytes() == b.tobytes() for a, b in zip(alone, many, strict=True))


def test_closest_points_are_closest():
    x, segments = loose(np.random.default_rng(9), np.random.default_rng(10).uniform(0, 1, 120))
    pairs = SegmentPairs(x, segments, all_pairs(segments))
    expected = distances(x, segments, pairs.pairs)
    assert np.abs(pairs.distances - expected).max() < 1e-14 * 10
    p, q = x[segments[pairs.pairs[:, 0]]], x[segments[pairs.pairs[:, 1]]]
    a, b = pairs.parameters.T[:, :, None]
    way = (1 - b) * q[:, 0] + b * q[:, 1] - (1 - a) * p[:, 0] - a * p[:, 1]
    assert np.abs(way - pairs.distances[:, None] * pairs.normals).max() < 1e-14
    assert np.abs(np.linalg.norm(pairs.normals, axis=1) - 1).max() < 1e-15
    assert ((pairs.parameters >= 0) & (pairs.parameters <= 1)).all()
    # no other place is closer: the gradient of the squared distance points out of the square, or is zero
    for end, way_along, t in ((p, -1, a), (q, 1, b)):
        slope = way_along * np.einsum("pa,pa->p", way, end[:, 1] - end[:, 0])
        inner = (t[:, 0] > 0) & (t[:, 0] < 1)
        assert np.abs(slope[inner]).max() < 1e-13 and inner.sum() > 1000
        assert slope[t[:, 0] == 0].min() > -1e-14 and slope[t[:, 0] == 1].max() < 1e-14


@pytest.mark.parametrize(
    ("second", "parameters", "distance"),
    [
        (
            [[0.5, 0.3, 0], [1.5, 0.3, 0]],
            (0.75, 0.25),
            0.3,
        ),  # side by side for half of their length: its middle
        ([[0.9, 0.3, 0], [0.1, 0.3, 0]], (0.5, 0.5), 0.3),
        ([[2.0, 0, 0], [3.0, 0, 0]], (1, 0), 1.0),  # one behind the other
        ([[0.5, 0, 0], [2.0, 0, 0]], (0.75, 1 / 6), 0.0),  # one upon the other
        ([[0.25, -1, 0], [0.25, 1, 0]], (0.25, 0.5), 0.0),  # they cross
        ([[0.25, 2, 0], [0.25, 2, 0]], (0.25, 0.5), 2.0),  # a point
    ],
)
def test_closest_points_of_special_pairs(second, parameters, distance):
    x = np.concatenate([[[0.0, 0, 0], [1, 0, 0]], second])
    pair = SegmentPairs(x, [[0, 1], [2, 3]], [[0, 1]])
    assert pair.parameters[0] == pytest.approx(parameters, abs=1e-14)
    assert pair.distances[0] == pytest.approx(distance, abs=1e-15)
    assert np.linalg.norm(pair.normals[0]) == pytest.approx(1, abs=1e-15)
    if distance == 0:
        assert pair.normals[0] @ [1, 0, 0] == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9, 1e-12])
def test_nearly_parallel_segments_lose_no_digits(angle):
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, -0.3 * angle, 1e-3], [1, 0.7 * angle, 1e-3]])
    pair = SegmentPairs(x, [[0, 1], [2, 3]], [[0, 1]])
    assert pair.distances[0] == pytest.approx(1e-3, rel=1e-12)


def test_nothing_is_found_among_nothing():
    assert nearby_segments(np.zeros((0, 3)), np.zeros((0, 2), int), 1.0).shape == (0, 2)
    assert nearby_segments(np.zeros((2, 3)), [[0, 1]], 1.0).shape == (0, 2)
    nobody = SegmentPairs(np.zeros((2, 3)), [[0, 1]], np.zeros((0, 2), int))
    assert len(nobody) == 0 and nobody.resolve(np.ones((2, 3)), np.ones(2)).contacts == 0


@pytest.mark.parametrize(
    ("call", "error", "part"),
    [
        (lambda x, s: nearby_segments(x, s, 0), SetupError, "distance"),
        (lambda x, s: nearby_segments(x, s, np.nan), SetupError, "distance"),
        (lambda x, s: nearby_segments(x * np.nan, s, 1), GeometryError, "x: must be finite"),
        (lambda x, s: nearby_segments(x[:, :2], s, 1), GeometryError, "three numbers"),
        (lambda x, s: nearby_segments("words", s, 1), GeometryError, "three numbers"),
        (lambda x, s: nearby_segments(x, s + 1, 1), GeometryError, "row 1 names number 4"),
        (lambda x, s: nearby_segments(x, s - 1, 1), GeometryError, "segments"),
        (lambda x, s: nearby_segments(x, s + 0.5, 1), GeometryError, "whole numbers"),
        (lambda x, s: nearby_segments(x, s, 1, along=[[0, 1]]), GeometryError, "along"),
        (lambda x, s: nearby_segments(x, s, 1, along=[[0, 1], [5, 6]], skip=-1), GeometryError, "skip"),
        (lambda x, s: SegmentPairs(x, s, [[0, 2]]), GeometryError, "pairs"),
        (lambda x, s: SegmentPairs(x, s, [[0, 1]]).resolve(x, np.ones(3)), SetupError, "inverse_mass"),
        (lambda x, s: SegmentPairs(x, s, [[0, 1]]).resolve(x, -np.ones(4)), SetupError, "inverse_mass"),
        (
            lambda x, s: SegmentPairs(x, s, [[0, 1]]).resolve(x, np.ones(4), friction=-1),
            SetupError,
            "friction",
        ),
        (lambda x, s: SegmentPairs(x, s, [[0, 1]]).resolve(x, np.ones(4), sweeps=-1), SetupError, "sweeps"),
        (lambda x, s: SegmentPairs(x, s, [[0, 1]]).resolve(x, np.ones(4), dt=0), SetupError, "time step"),
        (lambda x, s: SegmentPairs(x, s, [[0, 1]]).resolve(x, np.ones(4), radius=-1), SetupError, "radius"),
        (lambda x, s: SegmentPairs(x, s, [[0, 1]]).resolve(x + np.inf, np.ones(4)), SetupError, "finite"),
    ],
)
def test_wrong_arguments_are_named(call, error, part):
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]])
    with pytest.raises(error, match=part):
        call(x, np.array([[0, 1], [2, 3]]))
