"""The run folder: what a run writes, a reader finds, and nothing else is touched."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from continua.errors import OutputError
from continua.io import BodyFrame, Frame, Recorder, RunFolder, is_run, machine
from continua.io.table import Table, read_table


def frame(index: int) -> Frame:
    x = np.full((5, 2), float(index))
    return Frame(index, index / 24, [BodyFrame("b", "points", "snow", {"x": x, "v": x, "id": np.arange(5)})])


def record(recorder: Recorder, frames: range, *, every: int = 2) -> None:
    """Frames, two rows per frame and a checkpoint every few frames, as a simulation would."""
    for index in frames:
        recorder.frame(frame(index))
        for half in (0.0, 0.5):
            recorder.diagnostics({"time": index + half, "particles": 5, "total": 1 / 3})
        if index % every == 0:
            recorder.checkpoint(
                {"x": np.array([float(index)])}, step=10 * index, frame=index, time=index / 24
            )


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_reader_finds_what_was_recorded(tmp_path: Path) -> None:
    description = {"dimension": 2, "dx": 0.1, "seed": np.int64(3), "scene": None, "machine": machine()}
    with Recorder(tmp_path / "deep" / "run", description=description) as recorder:
        assert RunFolder(recorder.path).status == "running"
        assert recorder.last_checkpoint_path is None
        record(recorder, range(5))
        assert recorder.last_checkpoint_path == recorder.path / "checkpoints" / "step_000000040.npz"
    run = RunFolder(tmp_path / "deep" / "run")
    assert run.status == "finished"
    assert run.description["seed"] == 3
    assert run.description["machine"]["cores"] >= 1
    assert (run.dimension, run.dx) == (2, 0.1)
    assert run.frame_indices() == [0, 1, 2, 3, 4]
    assert [one.time for one in run.frames()] == [index / 24 for index in range(5)]
    np.testing.assert_array_equal(run.read_frame(3).bodies[0].x, np.full((5, 2), 3.0))
    table = run.diagnostics()
    np.testing.assert_array_equal(table["time"], np.arange(10) / 2)
    assert (table["total"] == 1 / 3).all()
    checkpoint = run.last_checkpoint()
    assert checkpoint is not None
    assert (checkpoint.step, checkpoint.frame, checkpoint.state["x"][0]) == (40, 4, 4.0)
    assert files(run.path) == {
        "run.json",
        "diagnostics.csv",
        *(f"frames/frame_{index:05d}.npz" for index in range(5)),
        "checkpoints/step_000000020.npz",
        "checkpoints/step_000000040.npz",
    }


def test_how_a_run_ended_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Recorder(tmp_path / "a", description={}):
        raise ZeroDivisionError("too small")
    assert (RunFolder(tmp_path / "a").status, RunFolder(tmp_path / "a").message) == ("failed", "too small")
    with pytest.raises(KeyboardInterrupt), Recorder(tmp_path / "b", description={}):
        raise KeyboardInterrupt
    assert RunFolder(tmp_path / "b").status == "interrupted"
    recorder = Recorder(tmp_path / "c", description={})
    recorder.finish("failed", "exploded")
    assert RunFolder(tmp_path / "c").message == "exploded"
    with pytest.raises(OutputError, match="has ended"):
        recorder.frame(frame(0))


def test_a_run_is_not_replaced_by_accident(tmp_path: Path) -> None:
    with Recorder(tmp_path, description={}) as recorder:
        record(recorder, range(3))
    before = files(tmp_path)
    with pytest.raises(OutputError, match="already holds a run; resume it, overwrite it"):
        Recorder(tmp_path, description={})
    assert files(tmp_path) == before
    assert RunFolder(tmp_path).status == "finished"


def test_overwriting_deletes_the_run_and_nothing_else(tmp_path: Path) -> None:
    with Recorder(tmp_path, description={"seed": 1}) as recorder:
        record(recorder, range(3))
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "frames" / "frame_best.npz").write_text("mine")
    with Recorder(tmp_path, description={"seed": 2}, overwrite=True):
        assert files(tmp_path) == {"run.json", "notes.txt", "frames/frame_best.npz"}
    assert RunFolder(tmp_path).description["seed"] == 2
    assert RunFolder(tmp_path).diagnostics() == {}


@pytest.mark.parametrize("choice", [{}, {"overwrite": True}, {"resume": True}])
def test_a_folder_with_other_files_is_refused(tmp_path: Path, choice: dict[str, bool]) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(OutputError, match=r"not a run \(such as thesis.tex\)"):
        Recorder(tmp_path, description={}, **choice)
    assert files(tmp_path) == {"thesis.tex"}


def test_resuming_drops_what_came_after_the_checkpoint(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, description={"created": "first"})
    record(recorder, range(4))  # checkpoint at frame 2, then frame 3
    recorder.finish("interrupted")
    recorder = Recorder(tmp_path, description={}, resume=True)
    assert recorder.resumed is not None
    assert (recorder.resumed.step, recorder.resumed.frame) == (20, 2)
    assert RunFolder(tmp_path).frame_indices() == [0, 1, 2]
    np.testing.assert_array_equal(RunFolder(tmp_path).diagnostics()["time"], np.arange(6) / 2)
    record(recorder, range(3, 6))
    recorder.finish()
    run = RunFolder(tmp_path)
    assert run.frame_indices() == list(range(6))
    np.testing.assert_array_equal(run.diagnostics()["time"], np.arange(12) / 2)
    assert run.description["created"] == "first"


def test_a_damaged_checkpoint_falls_back_to_the_previous_one(tmp_path: Path) -> None:
    with Recorder(tmp_path, description={}) as recorder:
        record(recorder, range(6))  # checkpoints at frames 2 and 4
    newest = tmp_path / "checkpoints" / "step_000000040.npz"
    data = bytearray(newest.read_bytes())
    data[len(data) // 3] ^= 1
    newest.write_bytes(data)
    checkpoint = RunFolder(tmp_path).last_checkpoint()
    assert checkpoint is not None
    assert checkpoint.step == 20
    recorder = Recorder(tmp_path, description={}, resume=True)
    assert recorder.resumed is not None
    assert recorder.resumed.step == 20
    assert RunFolder(tmp_path).frame_indices() == [0, 1, 2]
    assert not newest.exists()
    assert len(RunFolder(tmp_path).diagnostics()["time"]) == 6


def test_resuming_without_a_checkpoint_starts_over(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, description={}, resume=True)
    recorder.frame(frame(0))
    recorder.finish("interrupted")
    recorder = Recorder(tmp_path, description={}, resume=True)
    assert recorder.resumed is None
    assert RunFolder(tmp_path).frame_indices() == []


def test_resuming_with_other_settings_is_refused(tmp_path: Path) -> None:
    Recorder(tmp_path, description={"dx": 0.1}).finish("interrupted")
    with pytest.raises(OutputError, match=r"dx = 0\.1, not 0\.2"):
        Recorder(tmp_path, description={"dx": 0.2}, resume=True)
    assert RunFolder(tmp_path).description["dx"] == 0.1


LIVE = """
import sys
sys.path.insert(0, sys.argv[2])
from continua.io import Recorder
recorder = Recorder(sys.argv[1], description={})
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs folder locks")
def test_a_folder_belongs_to_one_living_process(tmp_path: Path) -> None:
    source = str(Path(sys.modules["continua.io"].__file__ or "").parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", LIVE, str(tmp_path), source], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert RunFolder(tmp_path).status == "running"
        with pytest.raises(OutputError, match="in use by another process"):
            Recorder(tmp_path, description={}, overwrite=True)
        process.kill()
    assert RunFolder(tmp_path).status == "interrupted"
    Recorder(tmp_path, description={}, overwrite=True).finish()


def test_a_run_abandoned_in_a_notebook_can_be_replaced(tmp_path: Path) -> None:
    first = Recorder(tmp_path, description={})
    second = Recorder(tmp_path, description={}, overwrite=True)
    with pytest.raises(OutputError, match="taken over"):
        first.frame(frame(0))
    second.finish()


def test_what_is_not_a_run_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is not a folder"):
        RunFolder(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="holds no run"):
        RunFolder(tmp_path)
    assert not is_run(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(OutputError, match="damaged"):
        RunFolder(tmp_path)
    for told in (
        {"dx": "a"},
        {"frames": "3"},
        {"fps": [24]},
        {"duration": [1.0]},
        {"scene_file": ["a"]},
        {"bodies": [3]},
        {"bodies": [{"name": "a", "cell": {}}]},
        {"colliders": [{"type": "sphere", "center": "abc"}]},
    ):
        (tmp_path / "run.json").write_text(json.dumps({"format": 1, **told}))
        with pytest.raises(OutputError, match=rf"damaged \({next(iter(told))}.* is not"):
            RunFolder(tmp_path)
    (tmp_path / "run.json").write_text("[" * 200_000)
    with pytest.raises(OutputError, match="nested too deeply"):
        RunFolder(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(OutputError, match="newer Continua"):
        RunFolder(tmp_path)


def test_a_frame_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with Recorder(tmp_path, description={}) as recorder:
        record(recorder, range(3))
    with pytest.raises(OutputError, match="no frame 7; it has frames 0 to 2"):
        RunFolder(tmp_path).read_frame(7)


def test_columns_may_come_and_go(tmp_path: Path) -> None:
    table = Table(tmp_path / "t.csv")
    table.add({"time": 0.0, "a": 1})
    table.flush()
    table.add({"time": 1.0, "odd, name": float("nan")})
    table.add({"time": float("inf"), "a": 3})
    table.flush()
    columns = read_table(tmp_path / "t.csv")
    assert list(columns) == ["time", "a", "odd, name"]
    np.testing.assert_array_equal(columns["time"], [0, 1, np.inf])
    np.testing.assert_array_equal(columns["a"], [1, np.nan, 3])


def test_rows_are_cheap(tmp_path: Path) -> None:
    """Ten thousand rows rewrite the file a handful of times, not ten thousand times."""
    table = Table(tmp_path / "t.csv")
    for step in range(10_000):
        table.add({"time": step * 1e-4, "total": 1.0})
    table.flush()
    assert len(read_table(tmp_path / "t.csv")["time"]) == table.rows == 10_000
