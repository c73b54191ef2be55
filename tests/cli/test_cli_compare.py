"""`continua compare`: one scene, one setting, several values."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
from cli_process import COMMAND, Call, environment

from continua.cli import main
from continua.comparing import folder_name, result_of, split_values, variants
from continua.errors import SceneError
from continua.io import RunFolder

DISC = """
[simulation]
dx = 0.05
gravity = [0.0, 0.0]
[[body]]
name = "disc"
shape = { type = "sphere", center = [0.0, 0.0], radius = 0.2 }
material = { type = "fixed-corotated", E = 1e4 }
velocity = { type = "rigid", linear = [0.5, 0.0], angular = 6.0, center = [0.0, 0.0] }
[run]
duration = 0.2
fps = 20
checkpoint_interval = 2
[render]
size = [320, 240]
"""


@pytest.fixture
def disc(tmp_path: Path) -> Path:
    """A spinning disc on which nothing acts."""
    path = tmp_path / "disc.toml"
    path.write_text(DISC)
    return path


@pytest.fixture
def compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., CompletedProcess[str]]:
    """`continua compare` within this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTINUA_THREADS", "1")

    def call(*arguments: object) -> CompletedProcess[str]:
        words = ["compare", *map(str, arguments)]
        code = main(words)
        printed = capsys.readouterr()
        return CompletedProcess(words, code, printed.out, printed.err)

    return call


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("transfer=pic, flip", ["pic", "flip"]),
        ('transfer={type="polypic",modes=6},apic', ['{type="polypic",modes=6}', "apic"]),
        ("body.velocity=[0,-3],[0,-4]", ["[0,-3]", "[0,-4]"]),
        ('title="a,b",c', ['"a,b"', "c"]),
    ],
)
def test_values_are_parted_at_commas_outside_brackets_and_quotes(text: str, values: list[str]) -> None:
    assert split_values(text) == (text.partition("=")[0], values)


@pytest.mark.parametrize("text", ["transfer", "=pic", "transfer=", "transfer=pic,,apic"])
def test_what_is_no_list_of_values(text: str) -> None:
    with pytest.raises(SceneError, match="write it as KEY=VALUE,VALUE"):
        split_values(text)


def test_folders_are_named_after_the_values() -> None:
    assert folder_name("polypic:6") == "polypic_6" and folder_name("-3") != folder_name("3")


def test_schemes_side_by_side(compare: Call, disc: Path, tmp_path: Path) -> None:
    """APIC and PolyPIC keep the angular momentum, PIC does not; every picture is written."""
    done = compare("disc.toml", "--over", "transfer=pic,apic,polypic:6", "--json", "-o", "o")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    pic, apic, poly = report["runs"]
    assert [run["label"] for run in report["runs"]] == ["pic", "apic", "polypic:6"]
    assert pic["angular_error"] > 0.1 and max(apic["angular_error"], poly["angular_error"]) < 1e-12
    assert all(run["momentum_error"] < 1e-12 and run["status"] == "finished" for run in report["runs"])
    assert pic["energy"] < 0.9 * apic["energy"] and pic["energy_change"] < -1 < apic["energy_change"]
    assert {Path(file).name for file in report["files"]} == {
        "energy.png",
        "momentum.png",
        "still.png",
        "film.mp4",
    }
    assert all((tmp_path / file).stat().st_size > 1000 for file in report["files"])
    record = RunFolder(tmp_path / "o/polypic_6").description
    assert record["scene"]["simulation"]["transfer"]["modes"] == 6


def test_momentum_error_counts_gravity_and_obstacles(tiny: Path, tmp_path: Path) -> None:
    """A disc that lands: nothing is missing, unless gravity is taken to be 1 % stronger than it was."""
    (variant,) = variants(tiny, "transfer=apic", [], tmp_path / "o")
    simulation = variant.loaded.scene.build()
    simulation.run(frames=10, fps=20, output=variant.folder)
    assert simulation.impulses[0, 1] > 0
    result = result_of(variant)
    assert (
        result.momentum_error is not None and result.momentum_error < 1e-12 and result.angular_error is None
    )
    variant.loaded.scene.simulation.gravity = (0.0, -1.01 * 9.81)
    wrong = result_of(variant).momentum_error
    assert wrong is not None and wrong > 1e-3


def test_finished_runs_are_kept_and_other_settings_refused(compare: Call, disc: Path, tmp_path: Path) -> None:
    words = ["disc.toml", "--no-film", "--over"]
    first = compare(*words, "dx=0.05,0.08")
    assert first.returncode == 0, first.stderr
    assert first.stdout.count("finished already") == 0 and "momentum error" in first.stdout
    place = tmp_path / "out/disc-dx"
    assert not (place / "film.mp4").exists()
    stamp = (place / "0.05/run.json").stat().st_mtime_ns
    again = compare(*words, "dx=0.05,0.08,0.1")
    assert again.returncode == 0 and again.stdout.count("finished already") == 2
    assert (place / "0.05/run.json").stat().st_mtime_ns == stamp
    other = compare(*words, "dx=0.05,0.08", "--set", "body.material.E=2e4")
    assert other.returncode == 1 and "other settings; use --overwrite" in other.stderr
    assert compare(*words, "dx=0.05,0.08", "--set", "body.material.E=2e4", "--overwrite").returncode == 0
    longer = compare(*words, "dx=0.05,0.08", "--set", "body.material.E=2e4", "--frames", 6)
    assert longer.returncode == 0 and RunFolder(place / "0.08").frame_indices() == list(range(7))


def test_an_interrupted_run_goes_on_with_the_same_bits(cli: Call, disc: Path, tmp_path: Path) -> None:
    words = ["compare", "disc.toml", "--over", "transfer=apic,flip", "--no-film", "--set", "dx=0.015"]
    process = subprocess.Popen(
        [*COMMAND, *words, "-o", "part"], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60
    while not (tmp_path / "part/apic/frames/frame_00001.npz").exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert "the same command goes on" in process.communicate(timeout=60)[1] and process.returncode == 130
    assert RunFolder(tmp_path / "part/apic").status == "interrupted"
    assert not (tmp_path / "part/flip").exists()
    assert cli(*words, "-o", "part").returncode == 0 and cli(*words, "-o", "whole").returncode == 0
    for name in ("apic", "flip"):
        part, whole = (RunFolder(tmp_path / folder / name) for folder in ("part", "whole"))
        assert part.status == "finished"
        np.testing.assert_array_equal(part.diagnostics()["angular_z"], whole.diagnostics()["angular_z"])


def test_a_python_scene_with_a_material_of_its_own(compare: Call) -> None:
    words = ["compressed-square", "--over", "transfer=pic,apic", "--no-film", "--json", "--frames", 2]
    report = json.loads(compare(*words).stdout)
    assert report["runs"][0]["energy"] < 0.5 * report["runs"][1]["energy"]
    assert "finished already" in compare(*words[:-3], "--frames", 2).stdout


def test_a_run_that_becomes_unstable_does_not_stop_the_others(compare: Call, disc: Path) -> None:
    limits = ["--set", "force_dt=true", "--no-film", "--json"]
    done = compare("disc.toml", "--over", "dt=0.05,1e-3", "--set", "body.material.E=1e6", *limits)
    assert done.returncode == 1 and done.stderr.count("0.05: ") == 1
    bad, good = json.loads(done.stdout)["runs"]
    assert bad["status"] == "failed" and good["status"] == "finished" and good["steps"] >= 200


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("transfer=pic,apci", 'did you mean "apic"'),
        ("transfer=pic,polypic:50", "use 1 to 9"),
        ("transfer=apic,pic:3", "pic has no number"),
        ("transfer=pic,pic", "the values must differ"),
        ("trasfer=pic,apic", 'unknown setting "trasfer"'),
        ("transfer", "write it as KEY=VALUE,VALUE"),
    ],
)
def test_mistakes_are_found_before_anything_runs(
    over: str, message: str, compare: Call, disc: Path, tmp_path: Path
) -> None:
    done = compare("disc.toml", "--over", over)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert "--set" not in done.stderr and not (tmp_path / "out").exists()
