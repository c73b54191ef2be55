"""Scenes at map coordinates are stored, drawn and exported as they are at zero."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import continua as ct
from continua.io import RunFolder, export
from continua.render import Camera, still_of_run

Image = pytest.importorskip("PIL.Image")
MAP = (500_000.0, 4_600_000.0, 100.0)
JELLY = ct.materials.FixedCorotated(E=1e6, nu=0.3, density=1000.0)


def run(folder: Path, at: tuple[float, ...]) -> Path:
    """Snow, a mesh, a ground, a ball and a torus in one frame each at t = 0 and later."""
    place = np.array(at)
    d = len(at)
    sim = ct.Simulation(1.0, (0.0, -9.81, 0.0)[:d])
    sim.add(ct.shapes.Box(tuple(place + (2.0, 3.0, 2.0)[:d]), (3.0,) * d), ct.materials.Snow(), name="snow")
    low = place + (6.0, 1.6, 0.0)[:d]
    sim.add(ct.SolidBody(ct.meshes.box_mesh(low, low + 2, (2,) * d), JELLY, name="block"))
    normal = tuple(np.eye(d)[1])
    sim.add(ct.colliders.Plane(normal, tuple(place + 0.3 * np.eye(d)[1])))
    sim.add(ct.colliders.Sphere(tuple(place + (-2.0, 1.5, 2.0)[:d]), 1.0))
    if d == 3:
        sim.add(ct.colliders.Shape(ct.shapes.Torus(tuple(place + (2.0, 6.5, 2.0)), 1.5, 1.0), resolution=16))
    sim.run(frames=1, output=folder)
    return folder


@pytest.fixture(scope="module", params=[2, 3])
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, int]:
    folder, d = tmp_path_factory.mktemp("far"), request.param
    return run(folder / "near", (0.0,) * d), run(folder / "map", MAP[:d]), d


def image(folder: Path, path: Path, **options) -> np.ndarray:
    still_of_run(folder, path, size=(320, 180), legend=False, **options)
    return np.asarray(Image.open(path).convert("RGB")).astype(float)


def test_frames_tell_cells_apart(runs: tuple[Path, Path, int]) -> None:
    near, far, d = runs
    for a, b in zip(RunFolder(near).read_frame(1).bodies, RunFolder(far).read_frame(1).bodies, strict=True):
        assert a.x.dtype == np.float32
        np.testing.assert_allclose(b.x - MAP[:d], a.x, rtol=0, atol=1e-6)


def test_pictures_are_the_same(runs: tuple[Path, Path, int], tmp_path: Path) -> None:
    """But for rounding at edges and for where the faint lines on the ground run; in 2D the axes have other numbers."""
    near, far, d = runs
    eye = (9.0, 8.0, 14.0), (3.0, 2.0, 1.0)
    cameras = [None, (Camera(*eye), Camera(*(tuple(np.add(MAP, x)) for x in eye)))] if d == 3 else [None]
    for pair in cameras:
        options = [{}, {}] if pair is None else [{"camera": camera} for camera in pair]
        pictures = [image(f, tmp_path / "a.png", **o) for f, o in zip((near, far), options, strict=True)]
        if d == 2:
            pictures = [p[20:155, 60:240] for p in pictures]
        difference = np.abs(pictures[0] - pictures[1]).max(axis=2)
        assert (difference > 64).mean() < 0.01
        assert pictures[0].std() > 5


@pytest.mark.parametrize("to", ["vtk", "ply", "usd"])
def test_exports_tell_cells_apart(runs: tuple[Path, Path, int], tmp_path: Path, to: str) -> None:
    near, far, d = runs
    frame = RunFolder(near).read_frame(1)
    paths = export(far, to, tmp_path / to, frames=[1])
    if to == "usd":
        pytest.importorskip("pxr")
        from pxr import Usd, UsdGeom

        stage = Usd.Stage.Open(str(paths[0]))
        prims = [UsdGeom.PointBased(p) for p in stage.Traverse() if p.IsA(UsdGeom.PointBased)]
        found = []
        for prim in prims:
            x = np.array(prim.GetPointsAttr().Get(1), float)
            place = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(1).ExtractTranslation()
            found.append(x + np.array(place))
    elif to == "ply":
        trimesh = pytest.importorskip("trimesh")
        found = [np.asarray(trimesh.load(path, process=False).vertices) for path in paths]
    else:
        pyvista = pytest.importorskip("pyvista")
        found = [np.asarray(pyvista.read(path).points) for path in paths[1:]]
    for body, x in zip(frame.bodies, found, strict=True):
        seen = np.arange(len(body)) if to == "vtk" or body.skin() is None else body.skin()[0]
        np.testing.assert_allclose((x - (*MAP[:d], 0)[:3])[:, :d], body.x[seen], rtol=0, atol=1e-3)
