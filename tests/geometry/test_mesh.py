"""Triangle meshes: exact distances, robust signs, files that work and files that do not."""

import numpy as np
import pytest
import trimesh

from continua._core import mesh_signed_distance, poisson_disk
from continua.errors import GeometryError
from continua.geometry import sample, shapes
from continua.geometry.mesh import sample_distance
from continua.geometry.surface import closed_surface

random = np.random.default_rng(11)
CUBE = trimesh.creation.box((2, 2, 2))
BALL = trimesh.creation.icosphere(subdivisions=3)


def arrays(mesh: trimesh.Trimesh) -> tuple[np.ndarray, np.ndarray]:
    return np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int32)


def to_shape(mesh: trimesh.Trimesh, **options) -> shapes.Mesh:
    vertices, faces = arrays(mesh)
    return shapes.Mesh(vertices=vertices, faces=faces, **options)


def brute_force_distance(mesh: trimesh.Trimesh, x: np.ndarray) -> np.ndarray:
    """Least distance to a triangle, each minimised over its barycentric coordinates by projected search."""
    s = np.linspace(0, 1, 60)
    b, c = (grid.ravel() for grid in np.meshgrid(s, s))
    b, c = b[b + c <= 1], c[b + c <= 1]
    corners = mesh.vertices[mesh.faces]
    samples = (
        corners[:, None, 0] * (1 - b - c)[:, None]
        + corners[:, None, 1] * b[:, None]
        + corners[:, None, 2] * c[:, None]
    )
    return np.array([np.sqrt(((samples - p) ** 2).sum(axis=-1).min()) for p in x])


def test_cube_distance_is_exact_everywhere_on_a_lattice():
    # Lattice points share coordinates with the corners, so that many rays meet edges and vertices.
    axis = np.linspace(-2, 2, 17)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    distance = mesh_signed_distance(*arrays(CUBE), x)
    assert distance == pytest.approx(shapes.Box((0, 0, 0), (2, 2, 2)).signed_distance(x), abs=1e-14)


def test_ball_distance_is_that_of_the_sphere():
    x = random.uniform(-1.6, 1.6, (4000, 3))
    error = mesh_signed_distance(*arrays(BALL), x) - (np.linalg.norm(x, axis=1) - 1)
    assert error.min() > -1e-12 and error.max() < 6e-3  # the mesh lies inside the sphere


@pytest.mark.parametrize("name", ["torus", "capsule", "annulus"])
def test_distance_against_brute_force(name):
    mesh = {
        "torus": lambda: trimesh.creation.torus(1.0, 0.3, major_sections=12, minor_sections=8),
        "capsule": lambda: trimesh.creation.capsule(1.0, 0.4, count=(8, 8)),
        "annulus": lambda: trimesh.creation.annulus(0.5, 1.0, 0.5, sections=12),
    }[name]()
    x = random.uniform(-1.5, 1.5, (60, 3))
    assert np.abs(mesh_signed_distance(*arrays(mesh), x)) == pytest.approx(
        brute_force_distance(mesh, x), abs=2e-2
    )
    assert (np.abs(mesh_signed_distance(*arrays(mesh), x)) <= brute_force_distance(mesh, x) + 1e-12).all()


def test_torus_sign():
    mesh = trimesh.creation.torus(1.0, 0.3, major_sections=96, minor_sections=48)
    x = random.uniform([-1.4, -1.4, -0.4], [1.4, 1.4, 0.4], (5000, 3))
    exact = np.hypot(np.hypot(x[:, 0], x[:, 1]) - 1, x[:, 2]) - 0.3
    distance = mesh_signed_distance(*arrays(mesh), x)
    clear = np.abs(exact) > 2e-3
    assert np.array_equal(distance[clear] < 0, exact[clear] < 0)
    assert distance == pytest.approx(exact, abs=2e-3)


def test_distance_has_unit_gradient():
    x = random.uniform(-1.6, 1.6, (1000, 3))
    h = 1e-6
    mesh = arrays(CUBE)
    gradient = [
        (mesh_signed_distance(*mesh, x + h * e) - mesh_signed_distance(*mesh, x - h * e)) / (2 * h)
        for e in np.eye(3)
    ]
    assert (np.abs(np.linalg.norm(gradient, axis=0) - 1) < 1e-6).mean() > 0.99


def test_result_does_not_depend_on_the_order_of_points():
    x = random.uniform(-1.6, 1.6, (5000, 3))
    order = random.permutation(len(x))
    distance = mesh_signed_distance(*arrays(BALL), x)
    assert np.array_equal(mesh_signed_distance(*arrays(BALL), x[order]), distance[order])


def test_overlapping_pieces_and_cavities():
    right = BALL.copy().apply_translation((1, 0, 0))
    both = to_shape(trimesh.util.concatenate([BALL, right]))
    assert list(both.contains([[-0.5, 0, 0], [0.5, 0, 0], [1.5, 0, 0], [2.5, 0, 0]])) == [
        True,
        True,
        True,
        False,
    ]
    hole = BALL.copy().apply_scale(0.5)
    hole.invert()
    hollow = to_shape(trimesh.util.concatenate([BALL, hole]))
    assert list(hollow.contains([[0, 0, 0], [0.7, 0, 0], [1.2, 0, 0]])) == [False, True, False]
    assert hollow.volume() == pytest.approx(BALL.volume * 7 / 8)


def test_triangles_without_area_do_no_harm():
    vertices, faces = arrays(CUBE)
    faces = np.concatenate([faces, [[0, 0, 1], [2, 2, 2]]]).astype(np.int32)
    distance = mesh_signed_distance(vertices, faces, np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]))
    assert distance == pytest.approx([-1, 2])


def test_inside_out_and_mixed_meshes_are_turned():
    inverted = BALL.copy()
    inverted.invert()
    vertices, faces = arrays(BALL)
    mixed = faces.copy()
    mixed[::3] = mixed[::3, ::-1]
    for f in (arrays(inverted)[1], mixed):
        mesh = shapes.Mesh(vertices=vertices, faces=f)
        assert mesh.volume() == pytest.approx(BALL.volume)
        assert list(mesh.contains([[0, 0, 0], [0.9, 0, 0], [1.1, 0, 0]])) == [True, True, False]


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".stl"])
def test_files_scale_and_translate(tmp_path, suffix):
    CUBE.export(tmp_path / f"cube{suffix}")
    mesh = shapes.Mesh(tmp_path / f"cube{suffix}", scale=0.5, translate=(1, 2, 3))
    assert np.array(mesh.bounds()) == pytest.approx(np.array([[0.5, 1.5, 2.5], [1.5, 2.5, 3.5]]))
    assert mesh.volume() == pytest.approx(1) and len(mesh.surface.vertices) == 8
    assert mesh.dimension == 3
    points, volumes = sample(mesh, 0.25)
    assert len(points) == 64 and volumes.sum() == pytest.approx(1)


def write(path, content):
    path.write_text(content)
    return path


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.obj", None, "mesh file .*gone.obj does not exist"),
        ("mesh.fbx", "?", "mesh file .*mesh.fbx has an unknown format, use one of .obj, .ply, .stl"),
        ("noise.ply", "noise", "mesh file .*noise.ply cannot be read as PLY"),
        ("empty.obj", "# nothing\n", "mesh file .*empty.obj has no triangles"),
        ("empty.stl", "", "mesh file .*empty.stl"),
        ("open.obj", TRIANGLE, r"mesh file .*open.obj is not closed, fill its holes \(3 open edges\)"),
        ("flat.obj", TRIANGLE + "f 1 3 2\n", "mesh file .*flat.obj encloses no volume"),
        ("line.obj", "v 0 0 0\nv 1 0 0\nf 1 2 2\n", "mesh file .*line.obj has only triangles without area"),
        ("index.obj", "v 0 0 0\nv 1 0 0\nf 1 2 9\n", "mesh file .*index.obj"),
        ("nan.obj", TRIANGLE.replace("1", "nan", 1), "mesh file .*nan.obj"),
    ],
)
def test_bad_files_are_named(tmp_path, name, content, message):
    if content is not None:
        write(tmp_path / name, content)
    with pytest.raises(GeometryError, match=message) as error:
        shapes.Mesh(tmp_path / name).bounds()
    assert "\n" not in str(error.value)


def test_one_sided_surface_is_refused():
    # Projective plane with 6 vertices: closed, but without an inside.
    faces = [
        (0, 1, 2),
        (0, 2, 3),
        (0, 3, 4),
        (0, 4, 5),
        (0, 5, 1),
        (1, 2, 4),
        (2, 3, 5),
        (3, 4, 1),
        (4, 5, 2),
        (5, 1, 3),
    ]
    vertices = random.normal(size=(6, 3))
    with pytest.raises(GeometryError, match="mesh is one-sided"):
        closed_surface(vertices, np.array(faces))


def test_sampled_distance():
    vertices, faces = arrays(CUBE)
    vertices = vertices * [1.0, 0.5, 0.25] + [3.0, 0.0, 0.0]
    sampled = sample_distance(vertices, faces, resolution=20, padding=2)
    assert sampled.spacing == pytest.approx(0.1)
    assert sampled.values.shape == (25, 15, 10)
    assert sampled.origin == pytest.approx([1.8, -0.7, -0.45])
    index = np.indices(sampled.values.shape).reshape(3, -1).T
    exact = shapes.Box((3, 0, 0), (2, 1, 0.5)).signed_distance(sampled.origin + index * sampled.spacing)
    assert sampled.values.ravel() == pytest.approx(exact, abs=1e-12)
    with pytest.raises(GeometryError, match="smaller resolution"):
        sample_distance(vertices, faces, resolution=5000)
    with pytest.raises(GeometryError, match="resolution of at least 1"):
        sample_distance(vertices, faces, resolution=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v, f, x: (v.astype(np.float32), f, x), "vertices: expected an array of float64"),
        (lambda v, f, x: (v[:, :2].copy(), f, x), r"vertices: expected shape \(N, 3\)"),
        (lambda v, f, x: (v[::-1], f, x), "vertices: expected a C-contiguous array"),
        (lambda v, f, x: (v * np.inf, f, x), "vertices: all values must be finite"),
        (lambda v, f, x: (v, f.astype(np.int64), x), "faces: expected an array of int32"),
        (lambda v, f, x: (v, f[:0], x), "faces: at least one triangle"),
        (lambda v, f, x: (v, f - 1, x), "faces: vertex index out of range"),
        (lambda v, f, x: (v, f + 1, x), "faces: vertex index out of range"),
        (lambda v, f, x: (v, f, x[0]), "points: expected shape"),
        (lambda v, f, x: (v, f, x * np.nan), "points: all values must be finite"),
    ],
)
def test_core_checks_every_argument(change, message):
    with pytest.raises(ValueError, match=message):
        mesh_signed_distance(*change(*arrays(CUBE), np.ones((4, 3))))


def test_core_accepts_no_points_and_read_only_arrays():
    vertices, faces = arrays(CUBE)
    vertices.flags.writeable = False
    assert mesh_signed_distance(vertices, faces, np.zeros((0, 3))).shape == (0,)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (np.ones((2, 2)), "blocks: expected an array of uint8"),
        (np.ones(4, dtype=np.uint8), "blocks: expected 2 or 3 axes"),
        (np.ones((4, 4), dtype=np.uint8)[:, ::2], "blocks: expected a C-contiguous array"),
    ],
)
def test_core_checks_poisson_blocks(blocks, message):
    with pytest.raises(ValueError, match=message):
        poisson_disk(blocks, 0)


def test_poisson_disk_fills_only_the_blocks_asked_for():
    blocks = np.zeros((4, 3, 2), dtype=np.uint8)
    blocks[1, 2, 0] = blocks[3, 0, 1] = 1
    points = poisson_disk(blocks, 9)
    assert {tuple(b) for b in (points // 2).astype(int)} == {(1, 2, 0), (3, 0, 1)}
    assert poisson_disk(np.zeros((0, 5), dtype=np.uint8), 9).shape == (0, 2)
