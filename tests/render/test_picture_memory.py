"""Pictures and films that do not fit into memory are refused before they are drawn, by an estimate that is close."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import continua as ct
from continua.errors import OutputError
from continua.io import BodyFrame, Frame, Recorder, machine
from continua.render import film, still
from continua.render.camera import Camera
from continua.render.memory import picture_memory
from continua.render.view import view_of_frames

MEASURE = """
import gc, json, sys
import numpy as np
from continua.io import BodyFrame, Frame
from continua.render import still
from continua.render.memory import picture_memory
from continua.render.view import view_of_frames

size, count, d, colliders = json.loads(sys.argv[1])
strands = d == "strands"
d = 3 if strands else d
x = np.random.default_rng(0).random((count, d)).astype(np.float32)
arrays = {"x": x, "v": 0.1 * x, "id": np.arange(count), "volume": np.full(count, 1 / count)}
body = BodyFrame("b", "points", "snow", arrays)
if strands:  # of 50 points, 0.2 m long
    from continua.geometry.curves import Curves
    first = np.repeat(x[::50], 50, axis=0)
    arrays["x"] = first + np.tile(np.linspace(0, 0.2, 50), count // 50)[:, None] * np.roll(first, 1, axis=1)
    arrays["radius"] = np.full(count, 2e-4)
    curves = Curves(arrays["x"].astype(float), np.full(count // 50, 50))
    body = BodyFrame("b", "strands", "rod", arrays, curves.segments)
frame = Frame(0, 0.0, [body])
options = {"colliders": colliders, "dx": 0.05}

def status(name):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))

some = {name: array[:50] for name, array in arrays.items()}
few = BodyFrame("b", body.kind, "snow", some, body.cells[:49]) if strands else body
still(Frame(0, 0.0, [few]), sys.argv[2], size=(64, 48), **options)
gc.collect()
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before = status("VmRSS")
still(frame, sys.argv[2], size=size, **options)
estimate = picture_memory(view_of_frames([frame], size=size, **options), frame)
print(json.dumps([status("VmHWM") - before, estimate]))
"""

PLANE = {"type": "plane", "normal": [0, 1, 0], "point": [0, 0, 0]}
SLAB = {"type": "box", "center": [0.5, -0.2, 0.5], "size": [3, 0.4, 3]}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("size", "count", "d", "colliders"),
    [
        ((1280, 720), 20_000, 3, [PLANE]),
        ((1280, 720), 300_000, 3, [PLANE]),
        ((1280, 720), 20_000, 3, [SLAB]),
        ((2000, 2000), 5_000, 3, [PLANE]),
        ((2000, 2000), 5_000, 2, []),
        ((1280, 720), 300_000, "strands", [PLANE]),
    ],
)
def test_the_estimate_is_within_20_percent_of_the_peak(
    size: tuple[int, int], count: int, d: int | str, colliders: list[dict[str, object]], tmp_path: Path
) -> None:
    wish = json.dumps([size, count, d, colliders])
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, wish, str(tmp_path / "a.png")],
        capture_output=True,
        text=True,
        check=True,
    )
    measured, estimate = json.loads(done.stdout)
    assert estimate == pytest.approx(measured, rel=0.2)


def a_frame(d: int) -> Frame:
    x = np.random.default_rng(0).random((50, d)).astype(np.float32)
    return Frame(0, 0.0, [BodyFrame("b", "points", "snow", {"x": x, "v": x, "id": np.arange(50)})])


def test_a_mesh_body_counts_where_it_is_seen() -> None:
    """Pixels with triangles take more: a body that fills the picture needs more than a small one in its middle."""
    sim = ct.Simulation(0.1, (0.0, -9.81, 0.0), integrator="optimization")
    sim.add(ct.SolidBody(ct.meshes.box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4)), ct.materials.FixedCorotated()))
    (body,) = sim.bodies
    frame = Frame(0, 0.0, [BodyFrame("b", "solid", "jelly", body.fields(), *body.topology())])

    def needed(distance: float) -> float:
        camera = Camera((0.5, 0.5, distance), (0.5, 0.5, 0.5))
        return picture_memory(view_of_frames([frame], size=(640, 480), camera=camera, dx=0.1), frame)

    assert needed(60.0) < 0.7 * needed(2.0)


@pytest.mark.parametrize("d", [2, 3])
def test_a_picture_that_does_not_fit_is_refused(
    d: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("continua.render.memory.available_memory", lambda: int(1e9))
    with pytest.raises(
        OutputError, match=r"a picture of 16384x16384 pixels needs about \d\.\d+ GB .* 1 GB are free"
    ):
        still(a_frame(d), tmp_path / "a.png", size=(16384, 16384))
    still(a_frame(d), tmp_path / "a.png", size=(320, 240))


def test_a_film_that_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = ct.Simulation(0.2, (0, -9.81))
    sim.add(ct.shapes.Sphere((0, 0), 0.4), ct.materials.Snow())
    sim.run(frames=2, fps=1000, output=tmp_path / "run")
    monkeypatch.setattr("continua.render.memory.available_memory", lambda: int(2e8))
    with pytest.raises(OutputError, match="a film of 4096x4096 pixels needs about"):
        film(tmp_path / "run", tmp_path / "a.mp4", size=(4096, 4096))
    assert not (tmp_path / "a.mp4").exists()


def test_a_machine_has_memory() -> None:
    assert machine()["memory"] > 0


def test_the_largest_frame_of_a_film_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drains may have removed most of it before the last one."""
    seen: list[int] = []

    def memory(view: object, frame: Frame) -> float:
        seen.append(frame.index)
        return 1e18

    monkeypatch.setattr("continua.render.memory.picture_memory", memory)
    with Recorder(tmp_path / "run", description={"dimension": 2, "dx": 0.1}) as recorder:
        for index, count in enumerate((50, 5000, 20)):
            x = np.random.default_rng(0).random((count, 2))
            arrays = {"x": x, "v": x, "id": np.arange(count)}
            recorder.frame(Frame(index, float(index), [BodyFrame("b", "points", "snow", arrays)]))
    with pytest.raises(OutputError, match="a film of"):
        film(tmp_path / "run", tmp_path / "a.mp4", size=(64, 64))
    assert seen == [1]
