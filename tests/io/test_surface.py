"""Surfaces around particles are closed, where the particles are, and of the right size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from continua.errors import OutputError
from continua.io import BodyFrame, Frame, Recorder, mesh

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
