"""A surface that passes through itself is found, one that does not is left in peace."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import continua as ct
from continua.errors import GeometryError
from continua.geometry.crossing_facets import crossing

BALL = trimesh.creation.icosphere(subdivisions=2)


def balls(*shifts: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    points = [BALL.vertices + np.array(shift) for shift in shifts]
    facets = [BALL.faces + k * len(BALL.vertices) for k in range(len(shifts))]
    return np.concatenate(points), np.concatenate(facets)


@pytest.mark.parametrize(("apart", "crosses"), [(2.1, False), (1.9, True), (0.3, True), (20.0, False)])
def test_two_balls(apart: float, crosses: bool) -> None:
    assert (crossing(*balls((0, 0, 0), (apart, 0.01, 0.02))) is not None) == crosses


def test_facets_of_very_different_size() -> None:
    """A needle through a large facet, far from its middle and edges."""
    large = np.array([[0.0, 0, 0], [100, 0, 0], [0, 100, 0]])
    needle = np.array([[20.0, 10, -0.1], [20, 10, 0.1], [20.01, 10, 0.1]])
    points, facets = np.concatenate([large, needle]), np.arange(6).reshape(2, 3)
    assert crossing(points, facets) == 0
    points[3:, 2] += 1
    assert crossing(points, facets) is None


def test_outline_in_2d() -> None:
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    loop = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    assert crossing(square, loop) is None
    assert crossing(square[[0, 2, 1, 3]], loop) is not None


def test_rigid_bodies_say_where() -> None:
    vertices, faces = balls((0, 0, 0), (1.2, 0.01, 0.02))
    with pytest.raises(GeometryError, match="passes through itself near"):
        ct.RigidBody(ct.shapes.Mesh(vertices=vertices, faces=faces), density=1.0)
