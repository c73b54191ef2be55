"""Mesh bodies in frames, and their exports read back by the programs' own libraries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from continua.geometry import shapes
from continua.geometry.meshes import SimplexMesh, SpringMesh, box_mesh, chain, cloth_springs, mesh_of
from continua.io import BodyFrame, Frame, Recorder, RunFolder, export, mesh
from continua.io.frames import read_frame, write_frame

BALL = mesh_of(shapes.Sphere((0, 0, 0), 1.0), 0.4)
SQUARE = box_mesh((0, 0), (1, 1), (2, 2))
CLOTH = cloth_springs(4, 3, (1.0, 1.0))


def body_of(made: SimplexMesh | SpringMesh, move: float = 0.0) -> BodyFrame:
    x = made.points + move
    arrays = {"x": x, "v": 2 * x, "id": np.arange(len(x)), "u": np.full_like(x, move), "heat": x[:, 0]}
    if isinstance(made, SimplexMesh):
        return BodyFrame("body", "mesh", "jelly", arrays, made.cells, made.surface)
    return BodyFrame("body", "springs", "cloth", arrays, made.edges, made.triangles)


def make_run(folder: Path, made: SimplexMesh | SpringMesh) -> RunFolder:
    """Two frames; the second has moved by 1."""
    with Recorder(folder, description={"dimension": made.dimension, "dx": 0.1, "fps": 24.0}) as recorder:
        for index in range(2):
            recorder.frame(Frame(index, index / 24, [body_of(made, float(index))]))
    return RunFolder(folder)


@pytest.mark.parametrize("made", [BALL, SQUARE, CLOTH, chain([(0, 0), (1, 0)])])
def test_cells_and_surface_survive_the_file(tmp_path: Path, made: SimplexMesh | SpringMesh) -> None:
    body = body_of(made)
    write_frame(tmp_path / "f.npz", Frame(0, 0.0, [body]), precision="double")
    again = read_frame(tmp_path / "f.npz").bodies[0]
    assert again.kind == body.kind and again.cells is not None and again.surface is not None
    np.testing.assert_array_equal(again.cells, body.cells)
    np.testing.assert_array_equal(again.surface, body.surface)
    np.testing.assert_array_equal(again.x, body.x)


def test_fields_called_like_the_topology_do_not_collide(tmp_path: Path) -> None:
    body = body_of(SQUARE)
    body.arrays["cells"] = np.arange(len(body))
    write_frame(tmp_path / "f.npz", Frame(0, 0.0, [body]))
    again = read_frame(tmp_path / "f.npz").bodies[0]
    np.testing.assert_array_equal(again.arrays["cells"], np.arange(len(body)))
    np.testing.assert_array_equal(again.cells, SQUARE.cells)


def test_particles_have_neither_cells_nor_skin(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((5, 3))
    write_frame(
        tmp_path / "f.npz",
        Frame(0, 0.0, [BodyFrame("p", "points", "snow", {"x": x, "v": x, "id": np.arange(5)})]),
    )
    again = read_frame(tmp_path / "f.npz").bodies[0]
    assert again.cells is None and again.surface is None and again.skin() is None


def test_cells_of_missing_points_are_refused(tmp_path: Path) -> None:
    body = body_of(SQUARE)
    body.cells = SQUARE.cells + 1
    with pytest.raises(ValueError, match="has cells of points that it does not have"):
        write_frame(tmp_path / "f.npz", Frame(0, 0.0, [body]))


def test_skin_is_the_surface_in_space_and_everything_in_the_plane() -> None:
    seen, triangles = body_of(BALL).skin() or (None, None)
    np.testing.assert_array_equal(seen, np.unique(BALL.surface))
    np.testing.assert_array_equal(seen[triangles], BALL.surface)
    flat = body_of(SQUARE).skin()
    assert flat is not None and len(flat[1]) == len(SQUARE)
    assert body_of(chain([(0, 0), (1, 0)])).skin() is None


def test_spacing_of_a_mesh_is_the_length_of_its_edges() -> None:
    assert body_of(chain([(0, 0), (0.2, 0), (0.4, 0)])).spacing(5.0) == pytest.approx(0.2)


@pytest.mark.parametrize(("made", "kind"), [(BALL, 10), (SQUARE, 5), (CLOTH, 3)])
def test_paraview_reads_cells_and_fields(tmp_path: Path, made: SimplexMesh | SpringMesh, kind: int) -> None:
    pyvista = pytest.importorskip("pyvista")
    run = make_run(tmp_path / "run", made)
    collection, first, second = export(run.path, "vtk")
    assert first.suffix == second.suffix == ".vtu" and second.name in collection.read_text()
    grid = pyvista.read(second)
    cells = made.cells if isinstance(made, SimplexMesh) else made.edges
    np.testing.assert_array_equal(grid.cells_dict[kind], cells)
    np.testing.assert_array_equal(grid.points[:, : made.dimension], run.read_frame(1).bodies[0].x)
    assert grid["u"].shape == (len(made.points), 3) and (grid["u"][:, : made.dimension] == 1).all()
    if kind == 10:
        assert grid.volume == pytest.approx(BALL.volumes.sum(), rel=1e-5)


@pytest.mark.parametrize("made", [BALL, CLOTH, SQUARE])
def test_ply_holds_the_skin_alone(tmp_path: Path, made: SimplexMesh | SpringMesh) -> None:
    import trimesh

    run = make_run(tmp_path / "run", made)
    surface = trimesh.load(export(run.path, "ply")[0], process=False)
    seen, triangles = body_of(made).skin() or (None, None)
    np.testing.assert_array_equal(surface.faces, triangles)
    np.testing.assert_array_equal(surface.vertices[:, : made.dimension], made.points[seen].astype(np.float32))
    if made is BALL:
        assert surface.is_watertight and surface.volume == pytest.approx(BALL.volumes.sum(), rel=1e-5)


def test_usd_has_a_mesh_with_a_sample_per_frame(tmp_path: Path) -> None:
    usd = pytest.importorskip("pxr.Usd")
    geom = pytest.importorskip("pxr.UsdGeom")
    (path,) = export(make_run(tmp_path / "run", BALL).path, "usd")
    stage = usd.Stage.Open(str(path))
    shape = geom.Mesh(stage.GetPrimAtPath("/World/body"))
    seen, triangles = body_of(BALL).skin() or (None, None)
    assert shape and len(shape.GetPointsAttr().Get(1)) == len(seen)
    np.testing.assert_array_equal(shape.GetFaceVertexIndicesAttr().Get(1), triangles.reshape(-1))
    assert set(shape.GetFaceVertexCountsAttr().Get(0)) == {3}
    moved = np.array(shape.GetPointsAttr().Get(1)) - np.array(shape.GetPointsAttr().Get(0))
    assert moved == pytest.approx(np.ones_like(moved), abs=1e-6)
    heat = geom.PrimvarsAPI(shape).GetPrimvar("heat").Get(0)
    assert np.array(heat) == pytest.approx(BALL.points[seen, 0], abs=1e-6)


def test_meshing_a_mesh_returns_its_own_surface(tmp_path: Path) -> None:
    pytest.importorskip("pysplashsurf")
    import trimesh

    first, _ = mesh(make_run(tmp_path / "run", BALL).path, to="obj")
    surface = trimesh.load(first, process=False)
    assert len(surface.faces) == len(BALL.surface)
    outwards = np.einsum("ij,ij->i", surface.vertex_normals, surface.vertices)
    assert outwards.min() > 0.9  # a ball about the origin
