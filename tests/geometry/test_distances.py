"""Signed distances of all shapes: closed forms, brute force, and gradients of length one."""

import numpy as np
import pytest

from continua.errors import GeometryError
from continua.geometry import shapes

random = np.random.default_rng(7)

SHAPES = [
    shapes.Box((0.1, -0.2), (1.0, 0.6)),
    shapes.Box((0.1, -0.2, 0.3), (1.0, 0.6, 0.8)),
    shapes.Sphere((0.2, 0.1), 0.7),
    shapes.Sphere((0.2, 0.1, -0.1), 0.7),
    shapes.Cylinder((-0.3, -0.4, 0.1), (0.5, 0.3, 0.4), 0.4),
    shapes.Capsule((-0.3, -0.4), (0.5, 0.3), 0.3),
    shapes.Capsule((-0.3, -0.4, 0.1), (0.5, 0.3, 0.4), 0.3),
    shapes.Torus((0.1, 0.0, -0.2), 0.7, 0.25, (1, 2, -0.5)),
    shapes.Ellipsoid((0.1, 0.0), (0.9, 0.3)),
    shapes.Ellipsoid((0.1, 0.0, 0.05), (0.9, 0.3, 0.5)),
    shapes.Rotated(shapes.Box((0.1, -0.2), (1.0, 0.6)), 33.0),
    shapes.Rotated(shapes.Box((0.1, -0.2, 0.3), (1.0, 0.6, 0.8)), 70.0, (1, 2, -1), (0.3, 0.0, 0.1)),
]


def points_round(shape: shapes.Shape, count: int) -> np.ndarray:
    lower, upper = shape.bounds()
    return random.uniform(lower - 0.3, upper + 0.3, (count, shape.dimension))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{type(s).__name__}{s.dimension}")
def test_gradient_has_length_one(shape):
    x = points_round(shape, 2000)
    h = 1e-6
    gradient = np.stack(
        [
            (shape.signed_distance(x + h * e) - shape.signed_distance(x - h * e)) / (2 * h)
            for e in np.eye(shape.dimension)
        ],
        axis=1,
    )
    length = np.linalg.norm(gradient, axis=1)
    smooth = np.abs(length - 1) < 1e-5
    assert smooth.mean() > 0.99  # kinks of the distance have measure zero


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{type(s).__name__}{s.dimension}")
def test_steepest_descent_lands_on_the_surface(shape):
    x = points_round(shape, 500)
    h = 1e-6
    gradient = np.stack(
        [
            (shape.signed_distance(x + h * e) - shape.signed_distance(x - h * e)) / (2 * h)
            for e in np.eye(shape.dimension)
        ],
        axis=1,
    )
    smooth = np.abs(np.linalg.norm(gradient, axis=1) - 1) < 1e-6
    foot = x - shape.signed_distance(x)[:, None] * gradient
    assert np.abs(shape.signed_distance(foot[smooth])).max() < 1e-6


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{type(s).__name__}{s.dimension}")
def test_bounds_hold_the_shape_tightly(shape):
    lower, upper = shape.bounds()
    x = random.uniform(lower - 0.5, upper + 0.5, (40000, shape.dimension))
    inside = x[shape.contains(x)]
    assert (inside > lower).all() and (inside < upper).all()
    assert (np.abs(inside.max(axis=0) - upper) < 0.15).all() and (
        np.abs(inside.min(axis=0) - lower) < 0.15
    ).all()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{type(s).__name__}{s.dimension}")
def test_volume_agrees_with_counting(shape):
    lower, upper = shape.bounds()
    n = 400 if shape.dimension == 2 else 60
    axes = [lo + (np.arange(n) + 0.5) * (hi - lo) / n for lo, hi in zip(lower, upper, strict=True)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, shape.dimension)
    counted = shape.contains(x).mean() * np.prod(upper - lower)
    assert shape.volume() == pytest.approx(counted, rel=1e-2)


def test_known_distances():
    box = shapes.Box((0, 0), (2, 4))
    assert box.signed_distance([[0, 0], [0.5, 0], [4, 6], [0, 3]]) == pytest.approx([-1, -0.5, 5, 1])
    sphere = shapes.Sphere((1, 0, 0), 2)
    assert sphere.signed_distance([[1, 0, 0], [1, 3, 4]]) == pytest.approx([-2, 3])
    cylinder = shapes.Cylinder((0, 0, -1), (0, 0, 1), 1)
    assert cylinder.signed_distance([[0, 0, 0.9], [4, 0, 5], [0, 0.9, 0]]) == pytest.approx([-0.1, 5, -0.1])
    capsule = shapes.Capsule((0, 0), (2, 0), 0.5)
    assert capsule.signed_distance([[1, 0], [5, 4], [-1, 0]]) == pytest.approx([-0.5, 4.5, 0.5])
    ball = shapes.Capsule((1, 0), (1, 0), 0.5)
    assert ball.signed_distance([[1, 2]]) == pytest.approx([1.5])


@pytest.mark.parametrize(
    "radii", [(1.0, 0.1), (0.3, 0.3), (1.0, 0.4, 0.4), (0.2, 1.0, 0.6), (1.0, 1.0, 1e-3)]
)
def test_ellipsoid_distance_against_brute_force(radii):
    radii = np.array(radii)
    d = len(radii)
    # Symmetric places are the hard ones: the centre, the axes, the planes between them.
    x = np.concatenate(
        [np.zeros((1, d)), 0.5 * np.diag(radii), 1.7 * np.diag(radii), random.normal(size=(20, d))]
    )
    x[-10:, -1] = 0
    if d == 2:
        angle = np.linspace(0, 2 * np.pi, 20001)
        surface = radii * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    else:
        a, b = np.meshgrid(np.linspace(0, 2 * np.pi, 1201), np.linspace(0, np.pi, 601))
        unit = np.stack([np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.cos(b)], axis=-1)
        surface = radii * unit.reshape(-1, 3)
    distance = shapes.Ellipsoid((0,) * d, tuple(radii)).signed_distance(x)
    brute = np.array([np.sqrt(((surface - p) ** 2).sum(axis=1).min()) for p in x])
    assert (brute - np.abs(distance)).min() > -1e-9
    assert (brute**2 - distance**2).max() < 1e-4  # sample points on the surface are up to 1e-2 apart
    assert np.array_equal(distance < 0, ((x / radii) ** 2).sum(axis=1) < 1)


def test_ellipsoid_with_equal_axes_is_a_sphere():
    x = random.normal(size=(500, 3))
    sphere, ellipsoid = shapes.Sphere((0, 0, 0), 0.8), shapes.Ellipsoid((0, 0, 0), (0.8, 0.8, 0.8))
    assert ellipsoid.signed_distance(x) == pytest.approx(sphere.signed_distance(x), abs=1e-12)


def test_rotation_is_counter_clockwise_about_its_center():
    bar = shapes.Rotated(shapes.Box((1, 0), (2, 0.2)), 90, center=(0, 0))
    assert list(bar.contains([[0, 1.5], [1.5, 0], [0, -1.5]])) == [True, False, False]
    bar = shapes.Rotated(shapes.Box((1, 0, 0), (2, 0.2, 0.2)), 90, (0, 0, 3), (0, 0, 0))
    assert list(bar.contains([[0, 1.5, 0], [1.5, 0, 0]])) == [True, False]
    in_place = shapes.Rotated(shapes.Box((1, 0), (2, 0.2)), 90)
    assert list(in_place.contains([[1, 0.9], [1, -0.9], [1.9, 0]])) == [True, True, False]


def test_points_of_the_wrong_dimension_are_refused():
    with pytest.raises(GeometryError, match=r"Sphere is 2D and needs points of shape \(N, 2\), not \(1, 3\)"):
        shapes.Sphere((0, 0), 1).signed_distance([[0, 0, 0]])
