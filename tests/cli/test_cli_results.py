"""`render`, `mesh` and `export`: every file they promise is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cli_process import COMMAND, TINY, Call, environment

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished 2D run of two frames, made once."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.toml").write_text(TINY)
    words = [*COMMAND, "run", "tiny.toml", "-q", "--frames", "2", "-o", "run"]
    subprocess.run(words, cwd=folder, env=environment(), check=True, timeout=120)
    return folder / "run"


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def test_render_draws_still_film_and_plots(cli: Call, run: Path) -> None:
    done = cli("render", "run", "--size", "160x120")
    assert done.returncode == 0, done.stderr
    assert (run / "render/still.png").read_bytes().startswith(PNG)
    assert (run / "render/film.mp4").read_bytes()[4:8] == b"ftyp"
    assert (run / "render/energy.png").exists()
    assert "wrote run/render/film.mp4" in done.stdout


def test_render_draws_only_what_is_asked_for(cli: Call, run: Path, tmp_path: Path) -> None:
    arguments = ["--still", "--frame", 0, "--size", "160x120", "--color-by", "body", "-o", "pictures", "-q"]
    done = cli("render", "run", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["still.png"]


def test_run_with_film(cli: Call, tiny: Path, tmp_path: Path) -> None:
    done = cli("run", "tiny.toml", "--frames", 1, "--film", "--set", "render.size=[160,120]")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/tiny/render/film.mp4").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--size", "big"], 2, "--size"),
        (["--still", "--frame", "77"], 1, "no frame 77"),
        (["--still", "--color-by", "flavour"], 1, "flavour"),
    ],
)
def test_render_mistakes(arguments: list[str], code: int, expected: str, cli: Call, run: Path) -> None:
    done = cli("render", "run", *arguments)
    assert done.returncode == code
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert expected in done.stderr


@pytest.mark.parametrize(
    ("to", "first"), [("vtk", "run.pvd"), ("ply", "disc_00000.ply"), ("usd", "run.usdc")]
)
def test_export(to: str, first: str, cli: Call, run: Path) -> None:
    done = cli("export", "run", "--to", to)
    assert done.returncode == 0, done.stderr
    assert (run / "export" / to / first).exists()
    assert first in done.stdout


def test_export_of_chosen_frames(cli: Call, run: Path) -> None:
    assert cli("export", "run", "--to", "ply", "--frames", "1-2", "-o", run / "some", "-q").returncode == 0
    assert sorted(path.name[-9:-4] for path in (run / "some").glob("disc*")) == ["00001", "00002"]
    done = cli("export", "run", "--to", "ply", "--frames", "9")
    assert done.returncode == 1 and "no frame" in done.stderr


def test_flat_runs_have_no_surface(cli: Call, run: Path) -> None:
    done = cli("mesh", "run")
    assert done.returncode == 1 and "2D" in done.stderr


def test_mesh_of_a_ball(cli: Call, tmp_path: Path) -> None:
    (tmp_path / "ball.toml").write_text(
        "[simulation]\ndx = 0.1\n[[body]]\nname = 'ball'\nmaterial = { type = 'snow' }\n"
        "shape = { type = 'sphere', center = [0, 1, 0], radius = 0.3 }\n"
    )
    assert cli("run", "ball.toml", "-q", "--frames", 1).returncode == 0
    done = cli("mesh", "out/ball", "--frames", "0")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/ball/mesh/ball_00000.ply").exists()
    assert cli("mesh", "out/ball", "--radius", "-1").returncode == 2
