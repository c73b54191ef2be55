"""Surfaces around particles are closed, where the particles are, and of the right size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from continua.errors import OutputError
from continua.geometry.meshes import BoxMesh
from continua.geometry.tidy import tidied
from continua.io import BodyFrame, Frame, Recorder, mesh
from continua.io.surface import FLAT

pytest.importorskip("pysplashsurf")
trimesh = pytest.importorskip("trimesh")

DX = 0.1


def ball(center: float, radius: float = 0.5) -> BodyFrame:
    axis = np.arange(-radius, radius, DX / 2) + DX / 4
    x = np.stack(np.meshgrid(axis, axis, axis), -1).reshape(-1, 3)
    x = x[np.linalg.norm(x, axis=1) < radius] + center
    v = np.broadcast_to([1.0, 2.0, 3.0], x.shape)
    return BodyFrame("ball", "points", "snow", {"x": x, "v": v, "id": np.arange(len(x))})


@pytest.fixture
def run(tmp_path: Path) -> Path:
    nothing = np.zeros((0, 3))
    empty = BodyFrame("spray", "points", "snow", {"x": nothing, "v": nothing, "id": np.zeros(0)})
    with Recorder(tmp_path / "run", description={"dimension": 3, "dx": DX}) as recorder:
        for index in range(2):
            recorder.frame(Frame(index, float(index), [ball(float(index)), empty]))
    return tmp_path / "run"


@pytest.mark.parametrize("to", ["ply", "obj", "vtk"])
def test_a_ball_of_particles_becomes_a_closed_ball(run: Path, to: str) -> None:
    paths = mesh(run, to=to, bodies=["ball"])
    if to == "vtk":
        pyvista = pytest.importorskip("pyvista")
        assert paths.pop(0).suffix == ".pvd"
        surface = pyvista.read(paths[1]).triangulate()
        shape = trimesh.Trimesh(surface.points, surface.faces.reshape(-1, 4)[:, 1:])
        np.testing.assert_allclose(surface["v"], np.tile([1.0, 2.0, 3.0], (surface.n_points, 1)), rtol=1e-4)
    else:
        shape = trimesh.load(paths[1], process=False)
    assert len(paths) == 2
    assert shape.is_watertight
    assert shape.volume == pytest.approx(4 / 3 * np.pi * 0.5**3, rel=0.15)
    np.testing.assert_allclose(shape.center_mass, 1.0, atol=0.01)


def test_an_empty_body_gives_an_empty_surface(run: Path) -> None:
    (path,) = mesh(run, frames=[0], bodies=["spray"])
    assert b"element face 0" in path.read_bytes()


def test_what_has_no_surface_is_one_sentence(run: Path, tmp_path: Path) -> None:
    x = np.zeros((3, 2))
    with Recorder(tmp_path / "flat", description={"dimension": 2, "dx": DX}) as recorder:
        recorder.frame(Frame(0, 0.0, [BodyFrame("b", "points", "", {"x": x, "v": x, "id": np.arange(3)})]))
    with pytest.raises(OutputError, match="2D run and has no surface"):
        mesh(tmp_path / "flat")
    with pytest.raises(OutputError, match="no body 'bell'; choose from ball, spray"):
        mesh(run, bodies=["bell"])
    with pytest.raises(OutputError, match="choose one of ply, obj, vtk"):
        mesh(run, to="stl")


# ---- scattered particles ---------------------------------------------------------------------------------------


def spray(place: float = 0.0) -> BodyFrame:
    """Snow that has come apart: single particles, pairs and small lumps."""
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 0.35, (600, 3))
    x[300:] = np.round(x[300:] / (DX / 2)) * (DX / 2)
    x = np.concatenate([x, rng.uniform(0, 1, (100, 3))])
    v = np.broadcast_to([1.0, 2.0, 3.0], x.shape)
    return BodyFrame("spray", "points", "snow", {"x": x + place, "v": v, "id": np.arange(len(x))})


def heights(corners: np.ndarray) -> np.ndarray:
    """Of triangles (F, 3, 3) above their longest edges [m]."""
    edges = np.roll(corners, -1, axis=1) - corners
    longest = np.linalg.norm(edges, axis=2).max(axis=1)
    return np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / longest


def read(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, triangles and normals as they are in a file."""
    if path.suffix == ".obj":
        lines = [line.split() for line in path.read_text().splitlines() if line[0] in "vf"]
        numbers = {key: [line[1:] for line in lines if line[0] == key] for key in ("v", "vn", "f")}
        faces = [[int(corner.split("//")[0]) - 1 for corner in face] for face in numbers["f"]]
        return np.array(numbers["v"], float), np.array(faces), np.array(numbers["vn"], float)
    if path.suffix == ".vtp":
        surface = pytest.importorskip("pyvista").read(path)
        return surface.points, surface.faces.reshape(-1, 4)[:, 1:], surface["normal"]
    loaded = trimesh.load(path, process=False)
    return np.asarray(loaded.vertices), np.asarray(loaded.faces), np.asarray(loaded.vertex_normals)


def test_meshes_far_away_keep_their_triangles(tmp_path: Path) -> None:
    """At map coordinates single precision does not tell the vertices of a small mesh apart."""
    box = BoxMesh((0, 0, 0), (0.4, 0.4, 0.4), (4, 4, 4)).build()
    x = box.points + [5e5, 4.6e6, 100]
    arrays = {"x": x, "v": np.zeros_like(x), "id": np.arange(len(x))}
    with Recorder(tmp_path / "run", description={"dimension": 3, "dx": DX}) as recorder:
        recorder.frame(Frame(0, 0.0, [BodyFrame("box", "mesh", "rubber", arrays, box.cells, box.surface)]))
    vertices, triangles, _ = read(mesh(tmp_path / "run")[0])
    np.testing.assert_allclose(heights(vertices[triangles].astype(float)), 0.1 / 2**0.5, rtol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"radius": -1.0}, "radius must be a positive number, not -1.0"),
        ({"radius": "a"}, "radius must be a finite number, not 'a'"),
        ({"radius": 1e-9}, "too large for a surface of radius 1e-09 m"),
        ({"detail": 0.0}, "detail must be a positive number, not 0.0"),
        ({"smoothing": -1}, "smoothing must be a whole number of at least 0, not -1"),
        ({"frames": 3}, "frames must be a list of frame numbers, not 3"),
    ],
)
def test_wrong_numbers_are_one_sentence(run: Path, wrong: dict[str, object], said: str) -> None:
    with pytest.raises(OutputError, match=said):
        mesh(run, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("detail", [0.75, 1.5])
@pytest.mark.parametrize("to", ["ply", "obj", "vtk"])
@pytest.mark.parametrize("place", [0.0, 1e6])
def test_scattered_particles_have_whole_triangles_and_normals(
    tmp_path: Path, to: str, detail: float, place: float
) -> None:
    """Before, smoothing left triangles without area, and drops of two triangles back to back had no normals."""
    with Recorder(tmp_path / "run", description={"dimension": 3, "dx": DX}) as recorder:
        recorder.frame(Frame(0, 0.0, [spray(place)]))
    path = mesh(tmp_path / "run", to=to, detail=detail)[-1]
    vertices, triangles, normals = read(path)
    cube = detail * DX / 4
    assert len(triangles) > 900
    assert vertices.min() > place - DX and vertices.max() < place + 1 + DX
    assert (heights(vertices[triangles].astype(float)) > 0.9 * FLAT * cube).all()
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-4)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    there, back = (np.unique(way, axis=0, return_counts=True) for way in (edges, edges[:, ::-1]))
    np.testing.assert_array_equal(there[0], back[0])  # closed
    np.testing.assert_array_equal(there[1], back[1])


def test_normals_of_ply_files_are_those_that_were_written(run: Path) -> None:
    (path,) = mesh(run, frames=[0], bodies=["ball"])
    assert b"property float nx" in path.read_bytes()


def test_two_triangles_back_to_back_are_none() -> None:
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    shell = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    left, triangles = tidied(x, np.concatenate([shell, [[1, 2, 0], [2, 1, 0]]]), 1e-3)
    np.testing.assert_array_equal(left, range(4))
    assert trimesh.Trimesh(x, triangles).is_watertight
    assert trimesh.Trimesh(x, triangles).volume == pytest.approx(1 / 6)
    assert len(triangles) == 4
    left, triangles = tidied(x, np.array([[1, 2, 0], [0, 2, 1]]), 1e-3)
    assert len(left) == len(triangles) == 0


def test_a_flat_triangle_shrinks_to_an_edge() -> None:
    """A cap: one corner lies on the opposite edge of a tetrahedron, which stays closed."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.4, 0, 1e-5]])
    faces = np.array([[0, 2, 1], [0, 1, 4], [0, 4, 3], [4, 1, 3], [1, 2, 3], [2, 0, 3]])
    left, triangles = tidied(x, faces, 1e-3)
    assert set(left) == {0, 1, 2, 3}
    assert len(triangles) == 4
    assert trimesh.Trimesh(x[left], triangles).is_watertight
