"""Chains and cloth of springs."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from continua.errors import GeometryError
from continua.geometry.meshes import AnySprings, Chain, Cloth, chain, cloth_springs, spring_mesh


def test_chain_joins_neighbours_at_rest():
    springs = chain([(0, 0), (3, 4), (3, 5)], stiffness=7)
    assert springs.edges.tolist() == [[0, 1], [1, 2]]
    assert springs.rest_lengths.tolist() == [5, 1] and springs.stiffness.tolist() == [7, 7]
    assert springs.dimension == 2 and len(springs.triangles) == 0


@pytest.mark.parametrize(("shear", "bend"), [(True, True), (False, True), (True, False), (0.5, 0.1)])
def test_cloth_has_one_spring_for_every_pair(shear, bend):
    nx, ny = 5, 4
    cloth = cloth_springs(nx, ny, (2.0, 1.5), stiffness=10, shear=shear, bend=bend)
    threads = (nx - 1) * ny + nx * (ny - 1)
    across, second = 2 * (nx - 1) * (ny - 1), (nx - 2) * ny + nx * (ny - 2)
    assert len(cloth.edges) == threads + bool(shear) * across + bool(bend) * second
    assert len({tuple(sorted(edge)) for edge in cloth.edges.tolist()}) == len(cloth.edges)
    lengths = np.round(cloth.rest_lengths, 12)
    assert (lengths == 0.5).sum() == threads and (cloth.stiffness[lengths == 0.5] == 10).all()
    assert (cloth.stiffness[lengths == round(np.sqrt(0.5), 12)] == 10 * shear).all()
    assert (cloth.stiffness[lengths == 1.0] == 10 * bend).all()


def test_cloth_is_flat_centred_and_covered_by_triangles():
    cloth = cloth_springs(5, 4, (2.0, 1.5), center=(1, 2, 3))
    assert cloth.points.mean(axis=0) == pytest.approx([1, 2, 3])
    assert np.ptp(cloth.points, axis=0) == pytest.approx([2.0, 0.0, 1.5])
    a, b, c = cloth.points[cloth.triangles].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a) / 2
    assert normals.sum(axis=0) == pytest.approx([0, 3.0, 0])  # all face upwards


def test_axes_of_a_cloth_can_be_chosen():
    cloth = cloth_springs(3, 3, (1.0, 1.0), axes=((2, 0, 0), (0, 5, 0)))
    assert np.ptp(cloth.points, axis=0) == pytest.approx([1, 1, 0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: chain([(0, 0)]), "at least 2 points"),
        (lambda: cloth_springs(1, 3, (1, 1)), "at least 2 points along each side"),
        (lambda: cloth_springs(3, 3, (1, 0)), "two numbers greater than 0"),
        (lambda: cloth_springs(3, 3, (1, 1), bend=-1), "finite and not negative"),
        (lambda: cloth_springs(3, 3, (1, 1), axes=((1, 0, 0), (2, 0, 0))), "not parallel"),
        (lambda: spring_mesh([(0, 0), (1, 0)], [[0, 2]]), "points of shape .* that exist"),
        (lambda: spring_mesh([(0, 0), (1, 0)], [[1, 1]]), "spring 0 must join two different points"),
        (lambda: spring_mesh([(0, 0), (1, 0)], [[0, 1]], [1, 2]), "one stiffness and rest length"),
        (lambda: spring_mesh([(0, 0), (1, 0)], [[0, 1]], -1), "a number of at least 0"),
        (lambda: spring_mesh([(0, np.nan), (1, 0)], [[0, 1]], 1, 1), "must be finite"),
        (lambda: Chain([(0, 0), (1, 1, 1)]), "same number of coordinates"),
        (lambda: Cloth((1, 2), (1, 1)), r"Cloth: counts\[0\]"),
        (lambda: Cloth((2, 2), (1, 1), (0, 0)), "center needs 3 coordinates"),
    ],
)
def test_errors_say_what_to_change(make, message):
    with pytest.raises(GeometryError, match=message):
        make()


def test_descriptions_come_from_scene_data():
    springs = TypeAdapter(AnySprings)
    cloth = springs.validate_python({"type": "cloth", "counts": [3, 4], "size": [1, 1], "bend": 0})
    assert springs.validate_json(springs.dump_json(cloth)) == cloth and len(cloth.build().points) == 12
    line = springs.validate_python({"type": "chain", "points": [[0, 0], [1, 0]], "stiffness": 5})
    assert line.build().stiffness.tolist() == [5]
