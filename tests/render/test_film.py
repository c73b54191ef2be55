"""Films have the right frames, size and rate; a film that cannot be finished leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from continua.errors import MissingExtraError, OutputError
from continua.io import BodyFrame, Frame, Recorder
from continua.render import film

ffmpeg = pytest.importorskip("imageio_ffmpeg")


def make_run(folder: Path, dimension: int = 3, frames: int = 5) -> Path:
    generator = np.random.default_rng(0)
    with Recorder(folder, description={"dimension": dimension, "dx": 0.2, "fps": 10}) as recorder:
        for index in range(frames):
            x = generator.random((300, dimension)) + index
            body = BodyFrame("b", "points", "snow", {"x": x, "v": x, "id": np.arange(300)})
            recorder.frame(Frame(index, index / 10, [body]))
    return folder


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_film_has_every_frame_at_the_right_rate(tmp_path: Path, dimension: int) -> None:
    run = make_run(tmp_path / "run", dimension)
    calls: list[tuple[int, int]] = []
    shown = film(run, tmp_path / "a.mp4", size=(161, 121), progress=lambda *done: calls.append(done))
    assert shown.frames == 5
    assert shown.renderer == ("numpy" if dimension == 3 else "matplotlib")
    assert calls == [(done, 5) for done in range(1, 6)]
    count, seconds = ffmpeg.count_frames_and_secs(str(tmp_path / "a.mp4"))
    assert count == 5
    assert seconds == pytest.approx(0.5, abs=0.02)
    reader = ffmpeg.read_frames(str(tmp_path / "a.mp4"))
    meta = next(reader)
    assert meta["size"] == (160, 120)
    assert meta["codec"] == "h264"
    assert meta["pix_fmt"].startswith("yuv420p")
    pictures = [np.frombuffer(data, np.uint8).astype(float) for data in reader]
    assert all(np.abs(a - b).max() > 20 for a, b in zip(pictures, pictures[1:], strict=False)), (
        "the body moves"
    )


def test_frames_and_rate_may_be_chosen(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    assert film(run, tmp_path / "a.mp4", 5, frames=range(1, 4), size=(64, 64)).frames == 3
    count, seconds = ffmpeg.count_frames_and_secs(str(tmp_path / "a.mp4"))
    assert (count, round(seconds, 1)) == (3, 0.6)


def test_wishes_that_cannot_be_met_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "run", frames=2)
    with pytest.raises(OutputError, match=r"ends in \.mp4"):
        film(run, tmp_path / "a.avi")
    with pytest.raises(OutputError, match="frames per second"):
        film(run, tmp_path / "a.mp4", fps=0)
    with pytest.raises(OutputError, match="fps must be a finite number, not 'a'"):
        film(run, tmp_path / "a.mp4", fps="a")  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="cannot color by 'taste'"):
        film(run, tmp_path / "a.mp4", color_by="taste")
    with pytest.raises(OutputError, match="ffmpeg failed|does not exist"):
        film(run, tmp_path / "missing" / "a.mp4", size=(64, 64))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"imageio-ffmpeg .*continua\[render\]"):
        film(run, tmp_path / "a.mp4")


FULL = """
import resource, sys
from continua.errors import OutputError
from continua.render import film
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    film(sys.argv[1], sys.argv[2] + "/a.mp4", size=(320, 240))
except OutputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_film_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    (tmp_path / "out").mkdir()
    source = str(Path(sys.modules["continua.io"].__file__ or "").parents[2])
    command = [sys.executable, "-c", FULL, str(run), str(tmp_path / "out")]
    result = subprocess.run(command, env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True)
    assert "ffmpeg failed" in result.stdout, result.stderr
    assert os.listdir(tmp_path / "out") == []


def test_an_interrupted_film_leaves_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    (tmp_path / "out").mkdir()

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film(run, tmp_path / "out" / "a.mp4", size=(64, 64), progress=stop)
    assert os.listdir(tmp_path / "out") == []
