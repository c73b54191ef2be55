"""Opening someone's results executes nothing: everything but `resume` works from data, and `resume` asks first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_process import Call

from continua.io import RunFolder

SCENE = """
import pathlib
pathlib.Path(__file__).with_name("executed").touch()
from continua.scene import load_scene
scene = load_scene(__file__[:-2] + "toml")
scene.title = "Python discs"
scene.body[1].velocity = lambda x: -x
scene.render.color_by = "body"
scene.render.size = (320, 240)
"""


@pytest.fixture
def run(cli: Call, tiny: Path, tmp_path: Path) -> Path:
    """A finished run of a Python scene with a function, whose code leaves a trace when it is executed."""
    (tmp_path / "tiny.py").write_text(SCENE)
    assert cli("run", "tiny.py", "-q", "-o", "run", "--frames", "2").returncode == 0
    assert json.loads((tmp_path / "run/run.json").read_text())["scene"] is None
    (tmp_path / "executed").unlink()
    return tmp_path / "run"


def test_looking_at_a_run_executes_nothing(run: Path, cli: Call, tmp_path: Path) -> None:
    info = cli("info", "run").stdout
    assert "Python discs" in info
    done = cli("render", "run", "--still", "--frame", "1")
    assert done.returncode == 0, done.stderr
    header = (run / "render/still.png").read_bytes()[16:24]  # size as the scene has it
    assert (int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")) == (320, 240)
    assert cli("export", "run", "--to", "vtk", "-q").returncode == 0
    assert not (tmp_path / "executed").exists()


def test_resume_executes_code_only_if_told_to(run: Path, cli: Call, tmp_path: Path) -> None:
    refused = cli("resume", "run", "--frames", "3")
    assert refused.returncode == 2
    assert "is Python code, which going on would execute" in refused.stderr
    assert "--scene tiny.py" in refused.stderr and "--trust" in refused.stderr
    assert not (tmp_path / "executed").exists()
    assert cli("resume", "run", "--frames", "3", "--scene", "tiny.py", "-q").returncode == 0
    assert RunFolder(run).frame_indices() == [0, 1, 2, 3]
    (tmp_path / "tiny.py").write_text(SCENE + "\n# edited\n")
    changed = cli("resume", "run", "--frames", "4", "--scene", "tiny.py")
    assert changed.returncode == 1
    assert "the scene file has changed" in changed.stderr and "--accept-changes" in changed.stderr
    trusted = cli("resume", "run", "--frames", "4", "--trust")
    assert trusted.returncode == 0, trusted.stderr
    assert "tiny.py has changed since the run began" in trusted.stderr
    accepted = cli("resume", "run", "--frames", "5", "--scene", "tiny.py", "--accept-changes")
    assert accepted.returncode == 0, accepted.stderr
    assert "note: the run goes on although the scene file has changed\n" in accepted.stderr
    assert "the scene file has changed" in cli("info", "run").stdout


def test_a_scene_that_is_data_goes_on_without_its_file(cli: Call, tiny: Path, tmp_path: Path) -> None:
    assert cli("run", "tiny.toml", "-q", "-o", "run", "--frames", "1").returncode == 0
    tiny.write_text(tiny.read_text().replace("friction = 0.5", "friction = 0.9"))
    done = cli("resume", "run", "--frames", "2")
    assert done.returncode == 0, done.stderr
    assert (
        "tiny.toml has changed since the run began, which goes on with the scene it began with" in done.stderr
    )
    assert RunFolder(tmp_path / "run").description["colliders"][0]["friction"] == 0.5
