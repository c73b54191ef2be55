"""Wrong commands and wrong scenes: one line on stderr, the right exit code, never a traceback."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from cli_process import Call

from continua.scene import scene_schema


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["rn"], "did you mean 'run'"),
        (["run"], "missing argument"),
        (["run", "snowbal"], 'did you mean "snowball"?'),
        (["run", "nowhere.toml"], "no scene file nowhere.toml"),
        (["run", "tiny.toml", "--threads", "0"], "--threads"),
        (["run", "tiny.toml", "--precision", "half"], "--precision"),
        (["run", "tiny.toml", "--frames", "2", "--duration", "1"], "either --frames or --duration"),
        (["run", "tiny.toml", "--duration", "-1"], "--duration is -1"),
        (["run", "tiny.toml", "--frams", "2"], "--frams"),
        (["run", "tiny.toml", "--set", "dxx=1"], 'did you mean "dx"?'),
        (["run", "tiny.toml", "--set", "dx=-1"], "tiny.toml: simulation.dx is -1, must be a number > 0"),
        (["run", "tiny.toml", "--set", "body.disc.shape.radius=thick"], "body[0].shape.radius"),
        (["export", "out", "--to", "jpeg"], "--to"),
        (["mesh", "out", "--frames", "3-x"], "neither a frame number nor a range"),
        (["new", "a:b"], "cannot name a scene"),
        (["new", "mine", "--from", "snowbal"], 'did you mean "snowball"?'),
    ],
)
def test_mistakes_of_the_user(arguments: list[str], expected: str, cli: Call, tiny: Path) -> None:
    done = cli(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert expected in done.stderr


@pytest.mark.parametrize("command", ["info", "resume", "render", "mesh"])
def test_folder_without_a_run(command: str, cli: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "missing"):
        done = cli(command, folder)
        assert done.returncode == 1
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
        assert folder in done.stderr


def test_scene_mistake_names_file_key_and_choices(cli: Call, tmp_path: Path, tiny: Path) -> None:
    tiny.write_text(tiny.read_text().replace("friction", "fricton"))
    done = cli("run", "tiny.toml")
    assert done.returncode == 2
    assert done.stderr == (
        'error: tiny.toml: unknown key collider[0].fricton; did you mean "friction"? '
        + done.stderr[done.stderr.index("(allowed") :]
    )
    assert not (tmp_path / "out").exists()


def test_unforeseen_errors_are_called_internal(cli: Call, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "import continua.scene.build, sys\n"
        "def fail(scene):\n    raise KeyError('x')\n"
        "sys.modules['continua.scene.build'].build = fail\n"
        "from continua.scene import load_scene\nscene = load_scene('snowball')\n"
    )
    done = cli("run", "bad.py")
    assert done.returncode == 70
    assert done.stderr.startswith("error: internal error (KeyError: 'x')") and done.stderr.count("\n") == 1
    assert "CONTINUA_TRACEBACK=1" in done.stderr
    loud = cli("run", "bad.py", CONTINUA_TRACEBACK="1")
    assert loud.returncode == 70 and "Traceback" in loud.stderr


def test_help_is_quick_and_complete(cli: Call) -> None:
    cli("--help")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = cli("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5  # [s] of processor time
    assert done.returncode == 0
    for command in [
        "run",
        "resume",
        "render",
        "mesh",
        "export",
        "info",
        "gallery",
        "new",
        "schema",
        "doctor",
        "bench",
        "validate",
        "material-test",
    ]:
        assert f"\n  {command} " in done.stdout
        assert cli(command, "--help").returncode == 0


def test_no_command_prints_help(cli: Call) -> None:
    done = cli()
    assert done.returncode == 2
    assert "\nCommands:\n" in done.stdout + done.stderr
    assert "error:" not in done.stderr


def test_heavy_libraries_stay_out_of_a_run(tiny: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from continua.cli import main\n"
        "assert main(['run', 'tiny.toml', '--frames', '1', '-q']) == 0\n"
        "heavy = {'pyvista', 'vtkmodules', 'matplotlib', 'trimesh', 'pxr', 'pysplashsurf'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_reader_that_goes_away_is_no_accident(tmp_path: Path) -> None:
    command = f"{sys.executable} -m continua schema | head -c 10"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == scene_text()[:10]
    assert done.stderr == ""


def scene_text() -> str:
    return json.dumps(scene_schema(), indent=2, ensure_ascii=False)


def test_schema_command(cli: Call, tmp_path: Path) -> None:
    done = cli("schema")
    assert json.loads(done.stdout) == json.loads(scene_text())
    assert cli("schema", "-o", "scene.json").returncode == 0
    assert json.loads((tmp_path / "scene.json").read_text()) == json.loads(done.stdout)
    assert cli("schema", "-o", "no/where.json").returncode == 1


def test_gallery_lists_names_and_first_lines(cli: Call) -> None:
    done = cli("gallery")
    assert done.returncode == 0
    assert any(line.startswith("snowball") and "hits the ground" in line for line in done.stdout.splitlines())


def test_new_writes_once(cli: Call, tmp_path: Path) -> None:
    done = cli("new", "first-try")
    assert done.returncode == 0 and "continua run first-try.toml" in done.stdout
    again = cli("new", "first-try")
    assert again.returncode == 1 and "exists already" in again.stderr
    copied = cli("new", "mine", "--from", "snowball")
    assert copied.returncode == 0 and "scene = Scene(" in (tmp_path / "mine.py").read_text()
