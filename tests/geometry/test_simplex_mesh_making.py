"""Meshes made of boxes and of shapes: they fill the shape, with well-shaped cells, the same way every time."""

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from continua.errors import GeometryError
from continua.geometry import shapes, stuffing
from continua.geometry.meshes import AnyMesh, BoxMesh, FileMesh, ShapeMesh, box_mesh, mesh_of

BOWL = shapes.Sphere((0, 0, 0), 1.0) - shapes.Sphere((0, 0.6, 0), 0.9)
TILTED = shapes.Rotated(shapes.Box((0.2, 0.1, 0), (1.2, 0.9, 0.8)), 33.0, (1, 2, 3))
SHAPES = [
    shapes.Sphere((0.1, 0.2), 1.0),
    shapes.Capsule((0, 0), (1, 0.5), 0.4),
    shapes.Sphere((0, 0), 1.0) - shapes.Sphere((0.1, 0), 0.5),
    shapes.Sphere((0.1, 0.2, 0.3), 1.0),
    shapes.Capsule((0, 0, 0), (1, 0.5, 0.3), 0.5),
    shapes.Torus((0, 0, 0), 1.0, 0.45, (1, 2, 0.5)),
    shapes.Ellipsoid((0, 0, 0), (1.0, 0.7, 0.5)),
    shapes.Cylinder((0, 0, 0), (1, 0.5, 0.3), 0.6),
    BOWL,
    TILTED | shapes.Sphere((0.9, 0, 0), 0.5),
]
NAMES = [f"{type(s).__name__}{s.dimension}-{n}" for n, s in enumerate(SHAPES)]
SMALLEST_ANGLE, LARGEST_ANGLE = 12.0, 160.0  # [degrees] over all shapes tried


@pytest.mark.parametrize(
    ("dimension", "pattern", "per_box", "angles"),
    [
        (2, "alternating", 2, (45, 90)),
        (2, "same", 2, (45, 90)),
        (2, "crossed", 4, (45, 90)),
        (3, "alternating", 5, (54.7356, 90)),
        (3, "same", 6, (45, 90)),
    ],
)
def test_box_is_filled_exactly(dimension, pattern, per_box, angles):
    counts = (3, 4, 5)[:dimension]
    mesh = box_mesh([0.1] * dimension, 0.1 + 0.2 * np.array(counts), counts, pattern)
    assert len(mesh) == per_box * np.prod(counts)
    assert mesh.volumes.sum() == pytest.approx(0.2**dimension * np.prod(counts), rel=1e-12)
    quality = mesh.quality()
    assert (quality.smallest_angle, quality.largest_angle) == pytest.approx(angles, abs=1e-4)
    assert mesh.components.max() == 0
    assert np.array_equal(mesh.points.max(axis=0), 0.1 + 0.2 * np.array(counts))


def test_points_of_a_box_are_numbered_along_the_last_axis_first():
    mesh = box_mesh((0, 0, 0), (2, 3, 4), (2, 3, 4))
    assert np.array_equal(mesh.points[(1 * 4 + 2) * 5 + 3], [1, 2, 3])


def test_alternating_boxes_look_the_same_from_both_sides():
    mesh = box_mesh((0, 0), (1, 1), (4, 4))
    mirrored = SimplexSet(mesh.points * [-1, 1] + [1, 0], mesh.cells)
    assert SimplexSet(mesh.points, mesh.cells) == mirrored
    same = box_mesh((0, 0), (1, 1), (4, 4), "same")
    assert SimplexSet(same.points, same.cells) != SimplexSet(same.points * [-1, 1] + [1, 0], same.cells)


class SimplexSet(frozenset):
    """Cells as sets of places, whatever their numbers."""

    def __new__(cls, points: np.ndarray, cells: np.ndarray) -> "SimplexSet":
        places = np.round(points, 9) + 0.0
        return super().__new__(cls, (frozenset(map(tuple, places[cell].tolist())) for cell in cells))


@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
def test_cells_are_well_shaped_and_end_on_the_surface(shape):
    mesh = mesh_of(shape, 0.17)
    quality = mesh.quality()
    assert quality.smallest_angle > SMALLEST_ANGLE and quality.largest_angle < LARGEST_ANGLE
    boundary = np.unique(mesh.surface)
    distance = shape.signed_distance(mesh.points)
    assert np.abs(distance[boundary]).max() < 1e-12
    assert np.delete(distance, boundary).max(initial=-1) < 1e-12
    assert mesh.components.max() == 0


def test_without_moving_points_onto_the_surface_cells_are_slivers(monkeypatch):
    monkeypatch.setattr(stuffing, "SNAP", {3: (1e-3, 1e-3)})
    assert mesh_of(shapes.Sphere((0.1, 0.2, 0.3), 1.0), 0.17).quality().smallest_angle < 1


@pytest.mark.parametrize(
    "shape", [s for s in SHAPES if s.volume()], ids=lambda s: f"{type(s).__name__}{s.dimension}"
)
def test_volume_converges_with_the_square_of_the_size(shape):
    errors = [abs(mesh_of(shape, size).volumes.sum() / shape.volume() - 1) for size in (0.2, 0.1)]
    assert errors[0] < 0.04 and errors[1] < 0.012
    if not isinstance(shape, shapes.Difference):  # where errors of opposite sign cancel
        assert errors[0] / errors[1] > 3


def test_every_cut_pattern_gives_a_sound_mesh():
    """A surface rougher than the lattice cuts cells in every possible way; cells still fit and keep angles."""
    assert mesh_of(Waves(3), 0.16).quality().smallest_angle > SMALLEST_ANGLE
    assert mesh_of(Waves(2), 0.13).quality().smallest_angle > SMALLEST_ANGLE


class Waves(shapes.Shape):
    """The parts of a box about the origin, 2 m wide, where a sum of waves of random direction is negative."""

    def __init__(self, dimension: int) -> None:
        self.count = dimension

    @property
    def dimension(self) -> int:
        return self.count

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return -np.ones(self.count), np.ones(self.count)

    def volume(self) -> None:
        return None

    def _distance(self, x: np.ndarray) -> np.ndarray:
        random = np.random.default_rng(3)
        waves, phase = 12 * random.normal(size=(6, self.count)), random.uniform(0, 6.28, 6)
        return np.maximum(0.1 * np.sin(x @ waves.T + phase).sum(axis=1), np.abs(x).max(axis=1) - 1)


def test_boxes_and_turned_boxes_are_exact():
    mesh = mesh_of(TILTED, 0.2)
    assert mesh.volumes.sum() == pytest.approx(TILTED.volume(), rel=1e-12)
    assert len(mesh) == 5 * 6 * 4 * 4  # 1.2 x 0.9 x 0.8 in cubes of about 0.2


def test_closed_triangle_mesh_is_filled():
    ball = mesh_of(shapes.Sphere((0, 0, 0), 0.5), 0.1)
    surface = shapes.Mesh(vertices=ball.points, faces=ball.surface)
    mesh = mesh_of(surface, 0.12)
    assert mesh.volumes.sum() == pytest.approx(surface.volume(), rel=0.02)
    assert mesh.quality().smallest_angle > SMALLEST_ANGLE


def test_the_same_shape_gives_the_same_bits():
    a, b = mesh_of(BOWL, 0.2), mesh_of(BOWL, 0.2)
    assert np.array_equal(a.points, b.points) and np.array_equal(a.cells, b.cells)


def test_symmetric_shapes_have_symmetric_points():
    points = mesh_of(shapes.Sphere((0, 0, 0), 1), 0.3).points
    assert {tuple(p) for p in np.round(points, 9) + 0.0} == {tuple(p) for p in np.round(-points, 9) + 0.0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mesh_of(BOWL, 0.0), "size of mesh cells must be greater than 0"),
        (lambda: mesh_of(BOWL, float("nan")), "size of mesh cells must be greater than 0"),
        (lambda: mesh_of(BOWL, 1e-5), "would need too many cells, use a larger size"),
        (lambda: mesh_of(shapes.Points([[0, 0]]), 1), "points have no inside"),
        (lambda: mesh_of(shapes.Sphere((0, 0), 1) - shapes.Sphere((0, 0), 0.99), 1.0), "use a smaller size"),
        (lambda: box_mesh((0, 0), (1, 0), (1, 1)), "greater than that of lower"),
        (lambda: box_mesh((0, 0), (1, 1), (1, 0)), "at least 1"),
        (lambda: box_mesh((0, 0), (1, 1), (1, 1, 1)), "equally many"),
        (lambda: box_mesh((0, 0), (1, 1), (10**5, 10**5)), "too large"),
        (lambda: box_mesh((0, 0), (1, 1), (1, 1), "zigzag"), "there is no pattern 'zigzag'"),
        (lambda: box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), "crossed"), "use alternating or same in 3D"),
        (lambda: BoxMesh((0, 0), (1, 1), (1, 1, 1)), "BoxMesh: lower, upper and counts"),
        (lambda: BoxMesh((0, 0), (1, -1), (1, 1)), "greater than that of lower"),
        (lambda: ShapeMesh(BOWL, -1), "ShapeMesh: size: input should be greater than 0"),
    ],
)
def test_errors_say_what_to_change(make, message):
    with pytest.raises(GeometryError, match=message):
        make()


def test_descriptions_come_from_scene_data_and_go_back():
    any_mesh = TypeAdapter(AnyMesh)
    for data in (
        {"type": "box-mesh", "lower": [0, 0], "upper": [1, 1], "counts": [2, 2], "pattern": "crossed"},
        {"type": "shape-mesh", "shape": {"type": "sphere", "center": [0, 0], "radius": 1}, "size": 0.3},
        {"type": "file-mesh", "path": "ball.msh", "scale": 0.1},
    ):
        mesh = any_mesh.validate_python(data)
        assert any_mesh.validate_json(any_mesh.dump_json(mesh)) == mesh
    assert isinstance(mesh, FileMesh)
    assert len(BoxMesh((0, 0), (1, 1), (2, 2), "crossed").build()) == 16
    assert ShapeMesh(shapes.Sphere((0, 0), 1), 0.3).build().dimension == 2
    with pytest.raises(ValidationError):
        any_mesh.validate_python({"type": "cube-mesh"})
