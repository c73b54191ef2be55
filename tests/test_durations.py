"""A run lasts as long as was asked, whatever the frame rate; its last frame may be shorter than the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import continua as ct
from continua.errors import OutputError, SetupError
from continua.io import RunFolder, export
from continua.plan import RunPlan, frame_count
from continua.summary import Progress


def falling() -> ct.Simulation:
    sim = ct.Simulation(0.1, (0, -9.81))
    sim.add(ct.shapes.Sphere((0, 0.5), 0.3), ct.materials.FixedCorotated(E=1e4))
    return sim


def times(folder: Path) -> list[float]:
    return [frame.time for frame in RunFolder(folder).frames()]


@pytest.mark.parametrize(
    ("duration", "fps", "frames", "short"),
    [
        (1e-3, 24, 1, True),
        (1.0, 24, 24, False),
        (0.1, 24, 3, True),
        (0.3, 10, 3, False),  # 0.3 * 10 rounds to 3.0000000000000004
        (0.7, 1e-3, 1, True),
        (1e-12, 24, 1, True),
        (2.0, 29.97, 60, True),
        (1 / 3, 24, 8, False),
    ],
)
def test_frames_of_a_duration(duration: float, fps: float, frames: int, short: bool) -> None:
    plan = RunPlan.of(duration, None, fps, 10)
    assert plan.frames == frame_count(duration, fps) == frames
    assert plan.end(frames) == duration
    assert plan.is_short(frames) is short
    assert not any(plan.is_short(frame) for frame in range(frames))


@pytest.mark.parametrize("duration", [1e-3, 0.1, 0.25])
def test_a_run_ends_exactly_where_it_was_asked_to(duration: float, tmp_path: Path) -> None:
    sim, seen = falling(), []
    sim.run(duration, output=tmp_path / "run", progress=seen.append)
    assert sim.time == duration
    expected = [k / 24 for k in range(frame_count(duration, 24))] + [duration]
    assert times(tmp_path / "run") == expected
    run = RunFolder(tmp_path / "run")
    assert (run.description["duration"], run.description["frames"]) == (duration, len(expected) - 1)
    np.testing.assert_array_equal(run.diagnostics()["time"], expected)
    last = seen[-1]
    assert isinstance(last, Progress)
    assert (last.frame, last.frames, last.time, last.duration) == (len(expected) - 1,) * 2 + (duration,) * 2


def test_without_output_too() -> None:
    sim = falling()
    sim.run(1e-3)
    sim.run(2e-3)
    assert sim.time == 1e-3 + 2e-3
    sim.run(frames=1, fps=100)
    assert sim.time == 1e-3 + 2e-3 + 0.01


def test_a_longer_run_goes_on_at_whole_frames(tmp_path: Path) -> None:
    """From within the short frame, which gives way to the whole one."""
    falling().run(0.1, output=tmp_path)
    falling().run(0.1, output=tmp_path, resume=True)
    assert times(tmp_path) == [0, 1 / 24, 2 / 24, 0.1]
    falling().run(0.15, output=tmp_path, resume=True)
    assert times(tmp_path) == [0, 1 / 24, 2 / 24, 3 / 24, 0.15]
    np.testing.assert_array_equal(RunFolder(tmp_path).diagnostics()["frame"], np.arange(5))
    assert RunFolder(tmp_path).description["start"] == 0.0


def test_a_run_does_not_go_back(tmp_path: Path) -> None:
    falling().run(0.1, output=tmp_path)
    with pytest.raises(OutputError, match=r"has come to t = 0.1 s already, beyond the 0.05 s asked for"):
        falling().run(0.05, output=tmp_path, resume=True)
    assert RunFolder(tmp_path).status == "finished"
    assert times(tmp_path) == [0, 1 / 24, 2 / 24, 0.1]


def test_exports_have_the_times_of_the_frames(tmp_path: Path) -> None:
    falling().run(0.1, output=tmp_path / "run")
    (stage_file,) = export(tmp_path / "run", "usd", tmp_path)
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(stage_file))
    samples = UsdGeom.Points(stage.GetPrimAtPath("/World/body1")).GetPointsAttr().GetTimeSamples()
    assert samples == pytest.approx([0, 1, 2, 0.1 * 24])
    assert stage.GetEndTimeCode() == pytest.approx(0.1 * 24)
    collection = export(tmp_path / "run", "vtk", tmp_path)[0].read_text()
    assert 'timestep="0.1"' in collection


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"duration": 0},
        {"duration": -1.0},
        {"duration": float("nan")},
        {"duration": float("inf")},
        {"duration": "1"},
        {"duration": True},
        {"frames": 0},
        {"frames": 1.5},
        {"frames": True},
        {"duration": 1.0, "frames": 3},
        {"duration": 1.0, "fps": 0},
        {"duration": 1.0, "fps": "24"},
        {"duration": 1e30},
        {"duration": 1.0, "checkpoint_interval": 0},
    ],
)
def test_lengths_that_are_none_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(SetupError):
        falling().run(**options)  # type: ignore[arg-type]
