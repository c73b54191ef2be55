"""Exports are read back by the programs' own libraries."""

from __future__ import annotations

import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from continua.errors import MissingExtraError, OutputError
from continua.io import BodyFrame, Frame, Recorder, RunFolder, export, mesh
from continua.io.export import FileNames, safe_name


def cloud(name: str, count: int, dimension: int, time: float) -> BodyFrame:
    generator = np.random.default_rng(count)
    x = generator.random((count, dimension)) + time
    fields = {
        "x": x,
        "v": 2 * x,
        "id": np.arange(count) + 2**33,
        "J": x[:, 0],
        "F": np.tile(np.eye(dimension), (count, 1, 1)),
        "broken": x[:, 0] > 0.5,
    }
    return BodyFrame(name, "points", "snow", fields)


def make_run(folder: Path, dimension: int = 3, frames: int = 3) -> RunFolder:
    """Two bodies with awkward names; the second appears at frame 1 and is empty at frame 2."""
    description = {"dimension": dimension, "dx": 0.1, "fps": 30.0}
    with Recorder(folder, description=description) as recorder:
        for index in range(frames):
            bodies = [cloud('a <b> & "c"/d', 40, dimension, index / 30)]
            if index >= 1:
                bodies.append(cloud("a (b) & 'c'/d", 10 if index == 1 else 0, dimension, index / 30))
            recorder.frame(Frame(index, index / 30, bodies))
    return RunFolder(folder)


@pytest.mark.parametrize("dimension", [2, 3])
def test_paraview_reads_every_body_and_time(tmp_path: Path, dimension: int) -> None:
    pyvista = pytest.importorskip("pyvista")
    run = make_run(tmp_path / "run", dimension)
    calls: list[tuple[int, int]] = []
    paths = export(run.path, "vtk", progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 3), (2, 3), (3, 3)]
    reader = pyvista.get_reader(str(paths[0]))
    assert reader.time_values == pytest.approx([0, 1 / 30, 2 / 30])
    reader.set_active_time_value(reader.time_values[1])
    blocks = reader.read()
    assert len(blocks) == 2
    for body, block in zip(run.read_frame(1).bodies, blocks, strict=True):
        np.testing.assert_array_equal(block.points[:, :dimension], body.x)
        np.testing.assert_array_equal(block["v"][:, :dimension], body.v)
        assert (block.points[:, dimension:] == 0).all()
        assert block["v"].shape == (len(body), 3)
        np.testing.assert_array_equal(block["id"], body.arrays["id"])
        np.testing.assert_array_equal(block["J"], body.arrays["J"])
        np.testing.assert_array_equal(block["F"], body.arrays["F"].reshape(len(body), -1))
        assert block.n_verts == len(body)
    assert pyvista.read(paths[-1]).n_points == 0


def test_the_collection_names_the_bodies(tmp_path: Path) -> None:
    paths = export(make_run(tmp_path / "run").path, "vtk", tmp_path / "out")
    sets = ElementTree.parse(paths[0]).getroot().findall("Collection/DataSet")
    assert [one.get("name") for one in sets][:2] == ['a <b> & "c"/d'] * 2
    assert {str(one.get("file")) for one in sets} == {path.name for path in paths[1:]}
    assert all(path.exists() for path in paths)


def read_ply(path: Path) -> np.ndarray:
    """Vertices of a binary PLY file as a structured array, by an independent little parser."""
    head, _, data = path.read_bytes().partition(b"end_header\n")
    types = {"float": "<f4", "double": "<f8", "int": "<i4", "uint": "<u4", "uchar": "u1"}
    lines = [line.split() for line in head.decode().splitlines()]
    count = next(int(line[2]) for line in lines if line[:2] == ["element", "vertex"])
    dtype = [(line[2], types[line[1]]) for line in lines if line[0] == "property" and line[1] != "list"]
    return np.frombuffer(data, dtype, count)


@pytest.mark.parametrize("dimension", [2, 3])
def test_ply_holds_positions_velocities_and_fields(tmp_path: Path, dimension: int) -> None:
    run = make_run(tmp_path / "run", dimension)
    paths = export(run.path, "ply", tmp_path / "out", frames=[1])
    assert len(paths) == 2
    body = run.read_frame(1).bodies[0]
    table = read_ply(paths[0])
    for axis in range(dimension):
        np.testing.assert_array_equal(table["xyz"[axis]], body.x[:, axis])
        np.testing.assert_array_equal(table["v" + "xyz"[axis]], body.v[:, axis])
    if dimension == 2:
        assert (table["z"] == 0).all()
    np.testing.assert_array_equal(table["id"], body.arrays["id"])
    np.testing.assert_array_equal(table["F_0"], 1)
    np.testing.assert_array_equal(table["broken"], body.arrays["broken"])


def test_trimesh_reads_the_ply(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    run = make_run(tmp_path / "run")
    path = export(run.path, "ply", tmp_path / "out", frames=[0])[0]
    np.testing.assert_array_equal(trimesh.load(path).vertices, run.read_frame(0).bodies[0].x)


@pytest.mark.parametrize("dimension", [2, 3])
def test_usd_has_a_sample_per_frame_in_metres_and_y_up(tmp_path: Path, dimension: int) -> None:
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom

    run = make_run(tmp_path / "my run", dimension)
    (path,) = export(run.path, "usd")
    assert path.name == "my-run.usdc"
    assert os.listdir(path.parent) == [path.name]
    stage = Usd.Stage.Open(str(path))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()) == (0, 2, 30)
    prims = [UsdGeom.Points(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Points)]
    assert [prim.GetPrim().GetDisplayName() for prim in prims] == ['a <b> & "c"/d', "a (b) & 'c'/d"]
    for index in range(3):
        body = run.read_frame(index).bodies[0]
        points = np.array(prims[0].GetPointsAttr().Get(index))
        np.testing.assert_array_equal(points[:, :dimension], body.x)
        assert (points[:, dimension:] == 0).all()
        np.testing.assert_array_equal(
            np.array(prims[0].GetVelocitiesAttr().Get(index))[:, :dimension], body.v
        )
    assert [len(prims[1].GetPointsAttr().Get(index)) for index in range(3)] == [0, 10, 0]
    assert prims[0].GetWidthsAttr().Get()[0] == pytest.approx(0.05)
    assert len(prims[0].GetDisplayColorAttr().Get()) == 1
    np.testing.assert_array_equal(
        UsdGeom.PrimvarsAPI(prims[0]).GetPrimvar("J").Get(1), run.read_frame(1).bodies[0].arrays["J"]
    )


def test_wishes_that_cannot_be_met_are_one_sentence(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    with pytest.raises(OutputError, match="choose one of vtk, ply, usd"):
        export(run.path, "fbx")
    with pytest.raises(OutputError, match="no frame 9; choose from 0 to 2"):
        export(run.path, "ply", frames=[1, 9])
    Recorder(tmp_path / "empty", description={}).finish()
    with pytest.raises(OutputError, match="no frames yet"):
        export(tmp_path / "empty", "vtk")
    with pytest.raises(OutputError, match="holds no run|not a folder"):
        export(tmp_path / "nowhere", "vtk")


def test_a_missing_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "pxr.Usd", None)
    with pytest.raises(MissingExtraError, match=r"usd-core .*continua\[usd\]"):
        export(run.path, "usd")
    monkeypatch.setitem(sys.modules, "pysplashsurf", None)
    with pytest.raises(MissingExtraError, match=r"pysplashsurf .*continua\[mesh\]"):
        mesh(run.path)


def test_file_names_are_safe_and_unique() -> None:
    empty = {"x": np.zeros((0, 3)), "v": np.zeros((0, 3)), "id": np.zeros(0)}
    names = ["../a", "a", "A", "a-2", "a", "雪", ""]
    frame = Frame(0, 0.0, [BodyFrame(name, "points", "", empty) for name in names])
    files = FileNames()
    found = files.of(frame)
    assert found == files.of(frame)
    assert len({name.lower() for name in found}) == len(names)
    assert all(safe_name(name) == name for name in found)
