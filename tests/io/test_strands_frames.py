"""Strands in frames, and their exports read back by the programs' own libraries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from continua.geometry.curves import Curves
from continua.geometry.meshes import read_curves
from continua.geometry.tubes import SIDES, tubes
from continua.io import BodyFrame, Frame, Recorder, RunFolder, export, mesh
from continua.io.frames import read_frame, write_frame

CURVES = Curves(np.random.default_rng(1).random((9, 3)), [2, 4, 3])


def body_at(index: int) -> BodyFrame:
    """Three strands of 2, 4 and 3 points."""
    x = CURVES.points + index
    arrays = {
        "x": x,
        "v": 2 * x,
        "id": np.arange(9, dtype=np.int32),
        "radius": np.linspace(0.01, 0.05, 9),
        "strand": CURVES.curve_of,
    }
    return BodyFrame("hair", "strands", "rod", arrays, CURVES.segments, np.zeros((0, 3), np.int32))


def make_run(folder: Path) -> RunFolder:
    """Two frames; the second has moved by 1."""
    with Recorder(folder, description={"dimension": 3, "dx": 0.1, "fps": 24.0}) as recorder:
        for index in range(2):
            recorder.frame(Frame(index, index / 24, [body_at(index)]))
    return RunFolder(folder)


def test_strands_survive_the_file(tmp_path: Path) -> None:
    write_frame(tmp_path / "f.npz", Frame(0, 0.0, [body_at(0)]), precision="double")
    again = read_frame(tmp_path / "f.npz").bodies[0]
    assert again.kind == "strands" and np.array_equal(again.strands(), CURVES.offsets)
    for name, array in body_at(0).arrays.items():
        np.testing.assert_array_equal(again.arrays[name], array)
    assert again.skin() is None


def test_other_bodies_are_no_strands() -> None:
    body = replace(body_at(0), kind="springs")
    assert body.strands() is None and body_at(0).strands() is not None


@pytest.mark.parametrize("wrong", ["cells", "backwards", "radius", "flat"])
def test_strands_that_no_reader_could_show_are_refused(tmp_path: Path, wrong: str) -> None:
    body = body_at(0)
    if wrong == "cells":
        body.cells = None
    elif wrong == "backwards":
        body.cells = CURVES.segments[:, ::-1]
    elif wrong == "radius":
        del body.arrays["radius"]
    else:
        body.arrays["x"] = body.x[:, :2]
    with pytest.raises(ValueError, match="strands 'hair' need"):
        write_frame(tmp_path / "f.npz", Frame(0, 0.0, [body]))


def test_paraview_has_one_polyline_for_every_strand(tmp_path: Path) -> None:
    pyvista = pytest.importorskip("pyvista")
    run = make_run(tmp_path / "run")
    collection, first, second = export(run.path, "vtk")
    assert first.suffix == ".vtp" and second.name in collection.read_text()
    data = pyvista.read(second)
    assert data.n_lines == 3 and data.n_cells == 3
    assert data.lines.tolist() == [2, 0, 1, 4, 2, 3, 4, 5, 3, 6, 7, 8]
    body = run.read_frame(1).bodies[0]
    np.testing.assert_array_equal(data.points, body.x)
    np.testing.assert_array_equal(data["radius"], body.arrays["radius"])
    np.testing.assert_array_equal(data["strand"], CURVES.curve_of)


def test_ply_has_vertices_and_edges(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    path = export(run.path, "ply")[1]
    head = path.read_bytes().partition(b"end_header")[0].decode()
    assert "element vertex 9" in head and "element edge 6" in head and "property float radius" in head
    again = read_curves(path)  # what is written can be read as curves
    np.testing.assert_array_equal(again.points.astype(np.float32), run.read_frame(1).bodies[0].x)
    np.testing.assert_array_equal(again.offsets, CURVES.offsets)


def test_usd_has_curves_with_a_sample_per_frame(tmp_path: Path) -> None:
    usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
    (path,) = export(make_run(tmp_path / "run").path, "usd")
    stage = usd.Stage.Open(str(path))
    hair = geom.BasisCurves(stage.GetPrimAtPath("/World/hair"))
    assert hair and hair.GetTypeAttr().Get() == "linear" and hair.GetWrapAttr().Get() == "nonperiodic"
    assert hair.GetPointsAttr().GetTimeSamples() == [0.0, 1.0]
    for index in range(2):
        assert list(hair.GetCurveVertexCountsAttr().Get(index)) == [2, 4, 3]
        np.testing.assert_allclose(hair.GetPointsAttr().Get(index), CURVES.points + index, rtol=1e-6)
        widths = np.array(hair.GetWidthsAttr().Get(index))
        np.testing.assert_allclose(widths, 2 * np.linspace(0.01, 0.05, 9), rtol=1e-6)
    assert hair.GetWidthsInterpolation() == "vertex"
    low, high = np.array(hair.GetExtentAttr().Get(1))
    assert (low <= CURVES.points.min(axis=0) + 1 - 0.01).all() and (
        high >= CURVES.points.max(axis=0) + 1.01
    ).all()


def test_info_knows_strands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from continua.cli import main

    run = make_run(tmp_path / "run")
    assert main(["info", str(run.path)]) == 0
    assert "frames      2" in capsys.readouterr().out


def test_tubes_are_closed_and_have_the_volume_of_prisms() -> None:
    """A polygon of n sides has the area n/2 sin(2 pi/n) r^2; a straight tube the volume of its prism."""
    trimesh = pytest.importorskip("trimesh")
    straight = Curves([(0, 0, 0), (0, 0.5, 0), (0, 2, 0), (3, 0, 0), (3, 0, 1)], [3, 2])
    vertices, faces, normals = tubes(straight.points, straight.offsets, np.full(5, 0.1))
    surface = trimesh.Trimesh(vertices, faces, process=False)
    assert surface.is_watertight and surface.is_winding_consistent
    area = SIDES / 2 * np.sin(2 * np.pi / SIDES) * 0.1**2
    assert surface.volume == pytest.approx(area * (2 + 1), rel=1e-12)
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0, rel=1e-12)
    assert np.abs(vertices - normals * 0.1 - np.repeat(straight.points, SIDES, axis=0)).max() < 1e-15
    bent = tubes(CURVES.points, CURVES.offsets, np.full(9, 0.01))
    assert trimesh.Trimesh(bent[0], bent[1], process=False).is_watertight


def test_meshing_strands_gives_their_tubes(tmp_path: Path) -> None:
    pytest.importorskip("pysplashsurf")
    trimesh = pytest.importorskip("trimesh")
    surface = trimesh.load(mesh(make_run(tmp_path / "run").path)[1], process=False)
    assert surface.is_watertight and len(surface.vertices) == 9 * SIDES
