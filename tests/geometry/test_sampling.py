"""Particles fill shapes: how many, where, with which volumes, and always the same ones."""

import hashlib

import numpy as np
import pytest
from scipy.spatial import cKDTree

from continua.errors import GeometryError
from continua.geometry import sample, sampling, shapes

METHODS = ["regular", "jittered", "poisson"]
SHAPES = [
    shapes.Box((0.5, 0.5), (1.0, 1.0)),
    shapes.Sphere((0.0, 1.0), 0.6),
    shapes.Box((0.0, 0.0, 0.0), (1.0, 0.8, 1.2)),
    shapes.Sphere((0.0, 1.0, 2.0), 0.6),
    shapes.Capsule((0.0, 0.0, 0.0), (1.0, 0.73, 0.42), 0.15),
    shapes.Rotated(shapes.Box((0.0, 0.0), (1.0, 0.5)), 30.0),
]
UNIFORM = [0.7739560485559633, 0.4388784397520523, 0.8585979199113825]  # first numbers of seed 42
POISSON = "7ac4dbff5ade0e93"  # digest of the Poisson-disk points of seed 42, to a nanometre
NAMES = [f"{type(s).__name__}{s.dimension}" for s in SHAPES]


def spacing_for(shape: shapes.Shape) -> float:
    return 0.01 if shape.dimension == 2 else 0.04


def test_regular_lattice_fills_a_box_exactly():
    lower, size, h = np.array([0.1, -0.3, 7.0]), np.array([0.5, 0.3, 0.7]), 0.1
    points, volumes = sample(shapes.Box(tuple(lower + size / 2), tuple(size)), h)
    assert len(points) == 5 * 3 * 7
    index = (points - lower) / h - 0.5
    assert index == pytest.approx(np.round(index), abs=1e-9)
    assert np.array_equal(np.round(index), np.indices((5, 3, 7)).reshape(3, -1).T)
    assert volumes == pytest.approx(np.full(105, 1e-3))


def test_regular_lattice_is_symmetric_in_any_box():
    points, volumes = sample(shapes.Box((1.0, 2.0), (1.04, 0.37)), 0.1)
    assert points.mean(axis=0) == pytest.approx([1.0, 2.0])
    assert len(points) == 10 * 4
    assert volumes.sum() == pytest.approx(1.04 * 0.37)


def test_sheet_thinner_than_the_spacing_is_one_layer():
    points, volumes = sample(shapes.Box((0, 0, 0), (1, 1, 0.01)), 0.1)
    assert len(points) == 100 and np.abs(points[:, 2]).max() < 1e-12
    assert volumes.sum() == pytest.approx(0.01)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
def test_density_and_volumes(shape, method):
    h = spacing_for(shape)
    points, volumes = sample(shape, h, method)
    assert points.dtype == volumes.dtype == np.float64
    assert points.shape == (len(volumes), shape.dimension)
    assert len(points) == pytest.approx(shape.volume() / h**shape.dimension, rel=0.03)
    assert volumes.sum() == pytest.approx(shape.volume(), rel=1e-12)
    assert (volumes == volumes[0]).all()
    reach = {"regular": 0.0, "jittered": h * np.sqrt(shape.dimension) / 2, "poisson": 0.0}[method]
    assert shape.signed_distance(points).max() <= reach + 1e-12


def test_jittered_points_stay_in_their_cells():
    shape, h = shapes.Sphere((0, 0), 1), 0.05
    regular, jittered = sample(shape, h)[0], sample(shape, h, "jittered", 5)[0]
    offset = (jittered - regular) / h
    assert len(regular) == len(jittered) and np.abs(offset).max() <= 0.5
    assert offset.std() == pytest.approx(1 / np.sqrt(12), rel=0.03)


@pytest.mark.parametrize("dimension", [2, 3])
def test_poisson_points_keep_their_distance_and_leave_no_gaps(dimension):
    h = 0.02 if dimension == 2 else 0.06
    shape = shapes.Box((0.5,) * dimension, (1.0,) * dimension)
    points, _ = sample(shape, h, "poisson", 3)
    radius = sampling.POISSON_RATIO[dimension] * h
    tree = cKDTree(points)
    assert tree.query(points, k=2)[0][:, 1].min() >= radius * (1 - 1e-9)
    inner = np.random.default_rng(0).uniform(2 * h, 1 - 2 * h, (5000, dimension))
    assert tree.query(inner)[0].max() < 1.6 * radius
    # The density near the faces is that of the middle.
    edge = ((points < h) | (points > 1 - h)).any(axis=1).mean()
    assert edge == pytest.approx(1 - (1 - 2 * h) ** dimension, rel=0.15)


def test_poisson_reaches_every_part_of_a_body_in_pieces():
    pieces = shapes.Union([shapes.Sphere((x, 0.0), 0.2) for x in (0.0, 1.0, 5.0)])
    points, volumes = sample(pieces, 0.02, "poisson")
    for x in (0.0, 1.0, 5.0):
        count = (np.abs(points[:, 0] - x) < 0.25).sum()
        assert count == pytest.approx(np.pi * 0.2**2 / 0.02**2, rel=0.1)
    assert volumes.sum() == pytest.approx(3 * np.pi * 0.2**2)


@pytest.mark.parametrize("method", METHODS)
def test_equal_seeds_give_equal_points(method):
    shape = shapes.Sphere((0, 0, 0), 0.3)
    first, again, other = (sample(shape, 0.05, method, seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert np.array_equal(first, other) == (method == "regular")


def test_random_numbers_are_the_same_on_every_machine():
    box = shapes.Box((0.5, 0.5), (1.0, 1.0))
    jittered, poisson = (sample(box, 0.125, m, 42)[0] for m in ("jittered", "poisson"))
    assert sampling.uniform(42, 3) == pytest.approx(UNIFORM, rel=1e-15)
    assert jittered[0] == pytest.approx(np.array(UNIFORM[:2]) * 0.125, abs=1e-15)
    assert hashlib.sha256(np.round(poisson * 1e9).astype("<i8").tobytes()).hexdigest()[:16] == POISSON


def test_chunks_do_not_change_the_points(monkeypatch):
    shape = shapes.Sphere((0, 0), 1) - shapes.Box((0, 0), (0.5, 0.5))
    expected = [sample(shape, 0.02, method)[0] for method in METHODS]
    monkeypatch.setattr(sampling, "CHUNK", 1000)
    for method, points in zip(METHODS, expected, strict=True):
        assert np.array_equal(sample(shape, 0.02, method)[0], points)


def test_long_thin_body_in_large_bounds():
    points, _ = sample(shapes.Capsule((0, 0, 0), (1, 1, 1), 0.004), 0.001)
    assert len(points) == pytest.approx(np.pi * 0.004**2 * (np.sqrt(3) + 0.016 / 3) / 1e-9, rel=0.03)


def test_unknown_volume_falls_back_to_the_cell():
    overlapping = shapes.Sphere((0, 0), 1) | shapes.Sphere((1, 0), 1)
    _, volumes = sample(overlapping, 0.1)
    assert volumes == pytest.approx(np.full(len(volumes), 0.01))


def test_rotated_box_is_filled_exactly():
    shape = shapes.Rotated(shapes.Box((1, 2), (1, 0.5)), 30)
    points, volumes = sample(shape, 0.1)
    assert len(points) == 50 and volumes.sum() == pytest.approx(0.5)
    assert shape.signed_distance(points).max() == pytest.approx(-0.05)


def test_points_are_taken_as_they_are():
    cloud = np.random.default_rng(1).normal(size=(20, 3))
    points, volumes = sample(shapes.Points(cloud), 0.1)
    assert np.array_equal(points, cloud) and volumes == pytest.approx(np.full(20, 1e-3))
    points, volumes = sample(shapes.Points(cloud, np.arange(1, 21)), 0.1)
    assert np.array_equal(volumes, np.arange(1, 21))
    turned, _ = sample(shapes.Rotated(shapes.Points(cloud), 180, (0, 0, 1), (0, 0, 0)), 0.1)
    assert turned == pytest.approx(cloud * [-1, -1, 1])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("shape", "spacing", "message"),
    [
        (shapes.Sphere((0, 0), 0.01), 1.0, "Sphere of size 0.02 x 0.02 m at a spacing of 1 m"),
        (
            shapes.Box((0, 0), (1, 1)) - shapes.Box((0, 0), (2, 2)),
            0.1,
            "Difference of size 1 x 1 m at a spacing of 0.1 m",
        ),
        (shapes.Sphere((0, 0), 1), 0.0, "spacing of particles must be greater than 0, not 0"),
        (shapes.Sphere((0, 0), 1), float("nan"), "spacing of particles must be greater than 0, not nan"),
        (shapes.Box((0, 0, 0), (1, 1, 1)), 1e-5, "too many particles at a spacing of 1e-05 m"),
    ],
)
def test_impossible_requests(shape, spacing, message, method):
    with pytest.raises(GeometryError, match=message):
        sample(shape, spacing, method)


def test_too_many_points_stop_before_memory_ends(monkeypatch):
    monkeypatch.setattr(sampling, "MAX_POINTS", 1000)
    monkeypatch.setattr(sampling, "MAX_POISSON_BLOCKS", 1000)
    for method in METHODS:
        with pytest.raises(GeometryError, match="too many particles"):
            sample(shapes.Box((0, 0), (1, 1)), 0.005, method)


def test_unknown_method_and_seed():
    with pytest.raises(
        GeometryError, match="no sampling method 'random', use one of regular, jittered, poisson"
    ):
        sample(shapes.Sphere((0, 0), 1), 0.1, "random")
    with pytest.raises(GeometryError, match="must not be negative"):
        sample(shapes.Sphere((0, 0), 1), 0.1, "jittered", -1)
