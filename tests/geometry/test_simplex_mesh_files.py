"""Meshes in the formats of other programs."""

import importlib

import numpy as np
import pytest

from continua.errors import GeometryError, MissingExtraError, OutputError
from continua.geometry import mesh_files, shapes
from continua.geometry.meshes import FileMesh, SimplexMesh, box_mesh, read_mesh, write_mesh

pytest.importorskip("meshio")
BALL = box_mesh((0, 0, 0), (1, 2, 3), (2, 2, 2))
DISC = box_mesh((0, 0), (1, 2), (3, 2), "crossed")


@pytest.mark.parametrize("suffix", mesh_files.FORMATS)
@pytest.mark.parametrize("mesh", [BALL, DISC], ids=["tetrahedra", "triangles"])
def test_what_is_written_can_be_read(tmp_path, suffix, mesh):
    write_mesh(tmp_path / f"a{suffix}", mesh)
    again = read_mesh(tmp_path / f"a{suffix}")
    assert np.array_equal(again.points, mesh.points) and np.array_equal(again.cells, mesh.cells)


@pytest.mark.parametrize("suffix", mesh_files.SURFACE_FORMATS)
def test_surface_files_enclose_the_mesh(tmp_path, suffix):
    write_mesh(tmp_path / f"a{suffix}", BALL)
    assert shapes.Mesh(tmp_path / f"a{suffix}").volume() == pytest.approx(6, rel=1e-6)
    with pytest.raises(GeometryError, match="holds a surface only, fill it with ShapeMesh"):
        read_mesh(tmp_path / f"a{suffix}")


def test_points_without_cells_and_other_cells_are_left_out(tmp_path):
    meshio = importlib.import_module("meshio")
    points = np.concatenate([[[9.0, 9.0, 9.0]], BALL.points])
    cells = [("line", [[0, 1]]), ("triangle", BALL.surface + 1), ("tetra", BALL.cells + 1)]
    meshio.Mesh(points, cells).write(tmp_path / "a.vtu")
    assert np.array_equal(read_mesh(tmp_path / "a.vtu").points, BALL.points)


def test_description_scales_then_moves(tmp_path):
    write_mesh(tmp_path / "a.vtk", DISC)
    mesh = FileMesh(tmp_path / "a.vtk", scale=0.5, translate=(1, 0)).build()
    assert np.array_equal(mesh.points.max(axis=0), [1.5, 1.0])
    with pytest.raises(GeometryError, match="translate of mesh file .* needs 2 coordinates"):
        FileMesh(tmp_path / "a.vtk", translate=(1, 0, 0)).build()


def test_files_that_hold_no_mesh(tmp_path):
    meshio = importlib.import_module("meshio")
    with pytest.raises(GeometryError, match="does not exist"):
        read_mesh(tmp_path / "none.msh")
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(GeometryError, match="unknown format, use one of .msh"):
        read_mesh(tmp_path / "a.txt")
    (tmp_path / "a.msh").write_text("this is no mesh")
    with pytest.raises(GeometryError, match="cannot be read as MSH"):
        read_mesh(tmp_path / "a.msh")
    meshio.Mesh(np.eye(3), [("line", [[0, 1]])]).write(tmp_path / "a.vtu")
    with pytest.raises(GeometryError, match=r"neither tetrahedra nor triangles \(line\)"):
        read_mesh(tmp_path / "a.vtu")
    meshio.Mesh(BALL.points, [("triangle", BALL.surface)]).write(tmp_path / "b.vtu")
    with pytest.raises(GeometryError, match="holds a surface only"):
        read_mesh(tmp_path / "b.vtu")


def test_writing_errors_say_what_to_change(tmp_path):
    with pytest.raises(OutputError, match="no known mesh format"):
        write_mesh(tmp_path / "a.xyz", BALL)
    with pytest.raises(OutputError, match="a 2D mesh has no surface"):
        write_mesh(tmp_path / "a.stl", DISC)
    with pytest.raises(OutputError, match="cannot write"):
        write_mesh(tmp_path / "nowhere" / "a.msh", BALL)


def test_without_meshio_the_extra_is_named(tmp_path, monkeypatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    (tmp_path / "a.msh").write_text("")
    monkeypatch.setattr(mesh_files.importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r'pip install "continua\[mesh\]"'):
        read_mesh(tmp_path / "a.msh")
    with pytest.raises(MissingExtraError):
        write_mesh(tmp_path / "a.msh", SimplexMesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]))
