"""Sampled distances are true distances, also where combined shapes only know a bound."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from continua.errors import GeometryError
from continua.geometry.mesh import SampledDistance
from continua.geometry.sampled_shape import exact, sample_shape
from continua.geometry.shapes import Box, Points, Rotated, Shape, Sphere, Torus

both = pytest.mark.parametrize("d", [2, 3])
EXACT = 1e-9  # cells
CURVED = 0.02  # cells: a circular edge is made of chords, h^2 / 8 R off


def nodes(sampled: SampledDistance, d: int) -> NDArray:
    """Places (..., d) of the values."""
    index = np.stack(np.meshgrid(*map(np.arange, sampled.values.shape), indexing="ij"), axis=-1)
    return (sampled.origin + sampled.spacing * index)[..., :d]


def error(shape: Shape, truth: NDArray | Shape, resolution: int = 40) -> float:
    """Largest difference to the true distance, in cells."""
    sampled = sample_shape(shape, resolution)
    x = nodes(sampled, shape.dimension)
    if isinstance(truth, Shape):
        truth = truth.signed_distance(x.reshape(-1, shape.dimension)).reshape(x.shape[:-1])
    return float(np.abs(sampled.values - truth).max() / sampled.spacing)


def box(lower: tuple[float, ...], upper: tuple[float, ...], d: int) -> Box:
    low, high = np.array(lower[:d]), np.array(upper[:d])
    return Box(tuple((low + high) / 2), tuple(high - low))


@both
def test_boxes_that_touch_are_one_box(d: int) -> None:
    """On the face they share both have distance zero, yet it is inside."""
    shape = box((-1, -0.6, -0.4), (0, 0.6, 0.4), d) | box((0, -0.6, -0.4), (1, 0.6, 0.4), d)
    whole = box((-1, -0.6, -0.4), (1, 0.6, 0.4), d)
    assert error(shape, whole) < EXACT
    assert np.abs(shape.signed_distance(np.zeros((1, d)))).max() == 0  # the bound does not know


@both
def test_corners_of_cut_boxes(d: int) -> None:
    """The distance to an edge that two shapes make is more than that to either."""
    cut = box((-1, -1, -1), (1, 1, 1), d) - box((0.5, -1.5, -1.5), (1.5, 1.5, 1.5), d)
    common = box((-1, -1, -1), (1, 1, 1), d) & box((-2, -3, -3), (0.5, 3, 3), d)
    rest = box((-1, -1, -1), (0.5, 1, 1), d)
    assert error(cut, rest) < EXACT and error(common, rest) < EXACT
    turned = Rotated(cut, 30.0, None if d == 2 else (1.0, 2.0, 3.0), (0.0,) * d)
    assert error(turned, Rotated(rest, 30.0, None if d == 2 else (1.0, 2.0, 3.0), (0.0,) * d)) < 1e-5


@both
def test_a_cut_flush_with_a_face(d: int) -> None:
    """Nothing of the face that they share is left."""
    step = box((-1, -1, -1), (1, 1, 1), d) - box((0, 0, -1), (1, 1, 1), d)
    parts = box((-1, -1, -1), (0, 1, 1), d) | box((-1, -1, -1), (1, 0, 1), d)
    sampled = sample_shape(step, 40)
    x = nodes(sampled, d).reshape(-1, d)
    outside = sampled.values.ravel() > 0
    truth = parts.signed_distance(x)  # exact outside
    assert np.array_equal(outside, truth > 0)
    assert np.abs(sampled.values.ravel() - truth)[outside].max() < EXACT * sampled.spacing


@both
def test_shell(d: int) -> None:
    sampled = sample_shape(Sphere((0.0,) * d, 1.0) - Sphere((0.0,) * d, 0.6), 40)
    r = np.linalg.norm(nodes(sampled, d), axis=-1)
    assert np.abs(sampled.values - np.maximum(r - 1, 0.6 - r)).max() < EXACT * sampled.spacing


@both
@pytest.mark.parametrize("joined", [True, False])
def test_two_balls_that_overlap(d: int, joined: bool) -> None:
    """Inside of the union, and outside of the intersection, the circle where they meet is nearest to many points."""
    one, two = (Sphere((x, 0.0, 0.0)[:d], 1.0) for x in (-0.5, 0.5))
    shape = one | two if joined else one & two
    sampled = sample_shape(shape, 40)
    place = nodes(sampled, d)
    x, y = place[..., 0], np.linalg.norm(place[..., 1:], axis=-1)
    distances = [np.hypot(x, y - np.sqrt(0.75))]
    for center in (-0.5, 0.5):
        r = np.hypot(x - center, y)
        foot = center + (x - center) / r
        there = foot * center > 0 if joined else foot * center < 0
        distances.append(np.where(there, np.abs(r - 1), np.inf))
    side = np.where(shape.signed_distance(place.reshape(-1, d)).reshape(x.shape) < 0, -1, 1)
    wrong = np.abs(sampled.values - side * np.min(distances, axis=0))
    assert wrong.max() < CURVED * sampled.spacing
    bound = shape.signed_distance(place.reshape(-1, d)).reshape(x.shape)
    assert np.abs(bound - sampled.values).max() > 10 * CURVED * sampled.spacing  # what the shape itself says


def test_flat_shapes_are_the_same_above_and_below() -> None:
    sampled = sample_shape(Sphere((0, 0), 1.0), 20)
    assert sampled.values.shape == (27, 27, 2)
    assert sampled.origin[2] < 0 < sampled.origin[2] + sampled.spacing
    assert np.array_equal(sampled.values[..., 0], sampled.values[..., 1])


def test_which_distances_are_exact() -> None:
    torus, ball = Torus((0, 0, 0), 1.0, 0.3), Sphere((0, 0, 0), 1.0)
    assert exact(torus) and exact(Rotated(torus, 20.0, (1, 0, 0)))
    assert not any(exact(shape) for shape in (torus | ball, torus & ball, torus - ball))
    assert not exact(Rotated(torus - ball, 20.0, (1, 0, 0)))
    assert error(torus, torus) == 0


def test_mistakes_give_one_sentence() -> None:
    ball = Sphere((0, 0), 1.0)
    with pytest.raises(GeometryError, match="no inside"):
        sample_shape(Points([(0.0, 0.0)]))
    with pytest.raises(GeometryError, match="anything is left"):
        sample_shape(ball - Sphere((0.1, 0), 2.0))
    with pytest.raises(GeometryError, match="larger resolution"):
        sample_shape(ball - Sphere((0, 0), 0.999), 16)
    with pytest.raises(GeometryError, match="smaller resolution"):
        sample_shape(Sphere((0, 0, 0), 1.0), 2000)
