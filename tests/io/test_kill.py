"""kill -9 at any moment leaves a folder that opens, resumes, and holds only whole files."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from continua.io import Recorder, RunFolder

WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
import numpy as np
from continua.io import BodyFrame, Frame, Recorder
recorder = Recorder(sys.argv[1], description={"dx": 0.1}, resume=True)
first = recorder.resumed.frame + 1 if recorder.resumed else 0
print("ready", flush=True)
for index in range(first, 100000):
    x = np.full((5000, 3), float(index))
    body = BodyFrame("b", "points", "snow", {"x": x, "v": x, "id": x[:, 0]})
    recorder.frame(Frame(index, index / 24, [body]))
    for row in range(5):
        recorder.diagnostics({"time": index + row / 5, "total": 1.0})
    if index % 3 == 0:
        recorder.checkpoint({"x": x}, step=index, frame=index, time=index / 24)
"""


def check(folder: Path) -> int:
    """Everything that is visible is whole; returns the frame of the last checkpoint."""
    run = RunFolder(folder)
    assert run.status == "interrupted"
    indices = run.frame_indices()
    assert indices == list(range(len(indices)))
    for frame in run.frames():
        assert (frame.bodies[0].x == frame.index).all()
    checkpoint = run.last_checkpoint()
    assert checkpoint is not None
    assert (checkpoint.state["x"] == checkpoint.frame).all()
    assert checkpoint.frame in indices
    newest = max(folder.glob("checkpoints/step_*.npz"))
    assert newest.name == f"step_{checkpoint.step:09d}.npz", "the newest checkpoint must be whole"
    times = run.diagnostics()["time"]
    np.testing.assert_allclose(times, np.arange(len(times)) / 5)
    assert len(times) >= 5 * (checkpoint.frame + 1)
    return checkpoint.frame


@pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")
def test_kills_at_random_moments(tmp_path: Path) -> None:
    source = str(Path(sys.modules["continua.io"].__file__ or "").parents[2])
    generator = random.Random(5)
    reached = -1
    for _ in range(5):
        command = [sys.executable, "-c", WRITER, str(tmp_path / "run"), source]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            while not list(tmp_path.glob("run/checkpoints/step_*.npz")):
                time.sleep(0.005)
            time.sleep(generator.uniform(0.0, 0.25))
            process.kill()
        frame = check(tmp_path / "run")
        assert frame >= reached
        reached = frame
    Recorder(tmp_path / "run", description={}, resume=True).finish()
    leftovers = [path for path in (tmp_path / "run").rglob(".*")]
    assert leftovers == []
    assert RunFolder(tmp_path / "run").frame_indices() == list(range(reached + 1))


FULL = """
import resource, sys
sys.path.insert(0, sys.argv[2])
import numpy as np
from continua.errors import OutputError
from continua.io import BodyFrame, Frame, Recorder
recorder = Recorder(sys.argv[1], description={})
x = np.zeros((10, 3))
recorder.frame(Frame(0, 0.0, [BodyFrame("b", "points", "snow", {"x": x, "v": x, "id": x[:, 0]})]))
recorder.checkpoint({"x": x}, step=0, frame=0, time=0.0)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
x = np.zeros((10_000, 3))
for action in (
    lambda: recorder.frame(Frame(1, 1.0, [BodyFrame("b", "points", "", {"x": x, "v": x, "id": x[:, 0]})])),
    lambda: recorder.checkpoint({"x": x}, step=1, frame=1, time=1.0),
):
    try:
        action()
    except OutputError as error:
        print(error)
recorder.finish("failed", "the disk is full")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_full_disk_leaves_the_run_as_it_was(tmp_path: Path) -> None:
    source = str(Path(sys.modules["continua.io"].__file__ or "").parents[2])
    command = [sys.executable, "-c", FULL, str(tmp_path), source]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout.count("size limit of the system; raise the limit") == 2, result.stderr
    run = RunFolder(tmp_path)
    assert (run.status, run.frame_indices()) == ("failed", [0])
    checkpoint = run.last_checkpoint()
    assert checkpoint is not None and checkpoint.step == 0
    assert not list(tmp_path.rglob(".*"))


def test_a_kill_while_starting_leaves_a_folder_that_starts(tmp_path: Path) -> None:
    """Before run.json exists, the folder holds at most temporaries, and a new run may use it."""
    (tmp_path / ".continua-1-abcd.json").write_text("half")
    Recorder(tmp_path, description={}).finish()
    assert not list(tmp_path.glob(".*"))


def test_a_kill_while_overwriting_does_not_leave_a_finished_run(tmp_path: Path) -> None:
    source = str(Path(sys.modules["continua.io"].__file__ or "").parents[2])
    with Recorder(tmp_path, description={"seed": 1}) as recorder:
        recorder.checkpoint({"x": np.zeros(1)}, step=1, frame=-1, time=0.0)
    code = """
import os, sys
sys.path.insert(0, sys.argv[2])
import continua.io.folder as folder
folder._delete = lambda path: os.kill(os.getpid(), 9)  # die at the first deletion
folder.Recorder(sys.argv[1], description={"seed": 2}, overwrite=True)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path), source], check=False)
    assert RunFolder(tmp_path).status == "interrupted"
    assert RunFolder(tmp_path).description["seed"] == 1
