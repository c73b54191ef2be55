"""Combining shapes, building them from data, and the sentences that say what is wrong."""

import json
import math

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from continua.errors import GeometryError
from continua.geometry import shapes

ANY = TypeAdapter(shapes.AnyShape)
ball = shapes.Sphere((0, 0, 0), 1)
cube = shapes.Box((0, 0, 0), (2, 2, 2))
disc = shapes.Sphere((0, 0), 1)


def test_operators_are_set_operations():
    x = np.random.default_rng(0).uniform(-2, 2, (5000, 3))
    other = shapes.Sphere((0.8, 0.1, 0), 0.9)
    a, b = cube.contains(x), other.contains(x)
    assert np.array_equal((cube | other).contains(x), a | b)
    assert np.array_equal((cube & other).contains(x), a & b)
    assert np.array_equal((cube - other).contains(x), a & ~b)


def test_chained_unions_are_one_union():
    union = ball | cube | ball
    assert isinstance(union, shapes.Union) and len(union.shapes) == 3


def test_combined_distance_is_a_bound():
    lens = shapes.Sphere((-0.5, 0), 1) & shapes.Sphere((0.5, 0), 1)
    corner = np.array([0, math.sqrt(0.75)])  # nearest point of the lens from above
    above = corner + [0, 0.7]
    assert 0 < lens.signed_distance(above[None])[0] <= 0.7


def test_volume_of_combinations():
    apart = disc | shapes.Sphere((3, 0), 1)
    assert apart.volume() == pytest.approx(2 * math.pi)
    assert (disc | shapes.Sphere((1, 0), 1)).volume() is None
    diagonal = disc | shapes.Sphere((1.5, 1.5), 1)  # bounds overlap, discs do not
    assert diagonal.volume() == pytest.approx(2 * math.pi)
    stacked = shapes.Box((0, 0), (1, 0.1)) | shapes.Box((0, 0.1), (1, 0.1))
    assert stacked.volume() == pytest.approx(0.2)
    shell = ball - shapes.Sphere((0.1, 0, 0), 0.8)
    assert shell.volume() == pytest.approx(4 / 3 * math.pi * (1 - 0.8**3))
    assert (ball - shapes.Sphere((0.5, 0, 0), 0.8)).volume() is None
    assert (ball - shapes.Sphere((5, 0, 0), 0.8)).volume() == pytest.approx(ball.volume())
    assert (ball & shapes.Sphere((0.1, 0, 0), 0.5)).volume() == pytest.approx(4 / 3 * math.pi * 0.125)
    assert (ball & cube).volume() == pytest.approx(ball.volume())
    assert shapes.Rotated(cube, 20, (1, 0, 0)).volume() == pytest.approx(8)


def test_bounds_of_combinations():
    assert np.array_equal((disc | shapes.Sphere((3, 0), 1)).bounds(), [[-1, -1], [4, 1]])
    assert np.array_equal((disc & shapes.Sphere((1, 0), 1)).bounds(), [[0, -1], [1, 1]])
    assert np.array_equal((disc - shapes.Sphere((1, 0), 1)).bounds(), [[-1, -1], [1, 1]])


SCENE_SHAPE = {
    "type": "difference",
    "shape": {"type": "rotated", "angle": 30, "shape": {"type": "box", "center": [0, 0], "size": [1, 2]}},
    "minus": [{"type": "union", "shapes": [{"type": "sphere", "center": [0, 0], "radius": 0.1}]}],
}


def test_nested_shapes_come_from_data_and_go_back():
    shape = ANY.validate_python(SCENE_SHAPE)
    assert isinstance(shape, shapes.Difference) and isinstance(shape.minus[0], shapes.Union)
    assert ANY.validate_json(ANY.dump_json(shape)) == shape


def test_arrays_come_from_data_and_go_back():
    cloud = shapes.Points(np.array([[0.0, 1.0], [2.0, 3.0]]), [1.0, 2.0])
    again = ANY.validate_json(ANY.dump_json(cloud))
    assert again == cloud and isinstance(again.points, np.ndarray)
    assert cloud != shapes.Points([[0.0, 1.0], [2.0, 4.0]], [1.0, 2.0])


def test_json_schema_lists_every_shape():
    schema = json.dumps(ANY.json_schema())
    for name in (
        "box",
        "sphere",
        "cylinder",
        "capsule",
        "torus",
        "ellipsoid",
        "mesh",
        "points",
        "rotated",
        "difference",
    ):
        assert f'"{name}"' in schema


def test_data_errors_keep_their_place():
    broken = {**SCENE_SHAPE, "minus": [{"type": "sphere", "center": [0, 0], "radius": -1}]}
    with pytest.raises(ValidationError) as report:
        ANY.validate_python(broken)
    assert report.value.errors()[0]["loc"][-1] == "radius"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: shapes.Sphere((0, 0), -1), "Sphere: radius: input should be greater than 0, got -1"),
        (lambda: shapes.Sphere((0, 0)), "Sphere: radius is missing"),
        (lambda: shapes.Sphere((0, 0), 1, color="red"), "Sphere: there is no argument called color"),
        (lambda: shapes.Sphere((0, math.nan), 1), r"Sphere: center\[1\]: input should be a finite number"),
        (lambda: shapes.Sphere((0,), 1), "Sphere: center: expected 2 or 3 numbers, got 1"),
        (lambda: shapes.Box((0, 0), (1, 1, 1)), "center and size must have the same number of coordinates"),
        (lambda: shapes.Box((0, 0), (1, 0)), "every entry of size must be greater than 0"),
        (lambda: shapes.Ellipsoid((0, 0), (1, -1)), "every entry of radii must be greater than 0"),
        (lambda: shapes.Cylinder((0, 0), (1, 0), 1), "use a box or a capsule in 2D"),
        (lambda: shapes.Torus((0, 0), 1, 0.2), "a torus needs 3 coordinates"),
        (lambda: shapes.Torus((0, 0, 0), 1, 1), "tube must be smaller than radius"),
        (lambda: shapes.Torus((0, 0, 0), 1, 0.5, (0, 0, 0)), "axis must not be zero"),
        (lambda: shapes.Cylinder((0, 0, 0), (0, 0, 0), 1), "start and end must differ"),
        (lambda: disc | ball, "2D and 3D shapes cannot be combined"),
        (lambda: cube - disc, "2D and 3D shapes cannot be combined"),
        (lambda: shapes.Union([]), "Union: shapes: .*at least 1"),
        (lambda: shapes.Difference(disc, []), "Difference: minus: .*at least 1"),
        (lambda: disc | 3, r"Union: shapes\[1\]: expected an object of this library, got 3"),
        (lambda: disc | shapes.Points([[0, 0]]), "points have no inside"),
        (lambda: disc - shapes.Rotated(shapes.Points([[0, 0]]), 1), "points have no inside"),
        (lambda: shapes.Rotated(disc, 30, (0, 0, 1)), "axis has no meaning in 2D"),
        (lambda: shapes.Rotated(ball, 30), "axis is needed in 3D"),
        (lambda: shapes.Rotated(ball, 30, (0, 0, 0)), "axis must not be zero"),
        (lambda: shapes.Rotated(disc, 30, center=(0, 0, 0)), "center needs 2 coordinates"),
        (lambda: (disc & shapes.Sphere((5, 0), 1)).bounds(), "the intersection is empty"),
        (lambda: shapes.Points([[0, 0], [1]]), "expected rows of numbers"),
        (lambda: shapes.Points([[0, math.inf]]), "all coordinates must be finite"),
        (lambda: shapes.Points(np.zeros((0, 3))), "at least one point is needed"),
        (lambda: shapes.Points([[0, 0]], [1, 2]), "1 points need as many volumes, not 2"),
        (lambda: shapes.Points([[0, 0]], [0]), "every volume must be greater than 0"),
        (lambda: shapes.Points(), "give either points or path"),
        (lambda: shapes.Mesh(), "give either path, or vertices and faces"),
        (lambda: shapes.Mesh("a.obj", vertices=[[0, 0, 0]], faces=[[0, 0, 0]]), "give either path, or"),
        (lambda: shapes.Mesh("a.obj", translate=(0, 0)), "translate needs 3 coordinates"),
    ],
)
def test_mistakes_get_one_sentence(make, message):
    with pytest.raises(GeometryError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".ply"])
def test_points_from_files(tmp_path, suffix):
    points = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.5]])
    path = tmp_path / f"cloud{suffix}"
    if suffix == ".npy":
        np.save(path, points)
    elif suffix == ".csv":
        np.savetxt(path, points, delimiter=",", header="x,y,z", comments="")
    else:
        import trimesh

        trimesh.PointCloud(points).export(path)
    cloud = shapes.Points(path=path)
    assert cloud.dimension == 3
    assert cloud.positions == pytest.approx(points)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.npy", None, "missing.npy does not exist"),
        ("cloud.txt", b"1,2", "cloud.txt has an unknown format, use one of .npy, .csv, .ply"),
        ("broken.npy", b"nonsense", "broken.npy cannot be read as NPY"),
        ("broken.csv", b"x,y\n1,zwei\n", "broken.csv cannot be read as CSV"),
        ("flat.csv", b"1\n2\n", r"flat.csv must hold an array of shape \(N, 2\) or \(N, 3\), not \(2, 1\)"),
        ("nan.csv", b"1,nan\n", "nan.csv has coordinates that are not finite"),
    ],
)
def test_bad_point_files_are_named(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(GeometryError, match=message):
        shapes.Points(path=tmp_path / name).bounds()
