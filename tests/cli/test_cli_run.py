"""`run`, `resume`, `info`: real simulations through real processes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_process import COMMAND, Call, environment

from continua.io import RunFolder


def same_bits(first: Path, second: Path) -> None:
    """Both runs hold the same frames, the same last state and the same diagnostics apart from timings."""
    one, two = RunFolder(first), RunFolder(second)
    assert one.frame_indices() == two.frame_indices()
    for index in one.frame_indices():
        a, b = one.read_frame(index), two.read_frame(index)
        assert a.time == b.time
        for body, other in zip(a.bodies, b.bodies, strict=True):
            assert body.arrays.keys() == other.arrays.keys()
            for name in body.arrays:
                np.testing.assert_array_equal(body.arrays[name], other.arrays[name])
    last, same = one.last_checkpoint(), two.last_checkpoint()
    assert last is not None and same is not None
    assert (last.step, last.frame, last.time) == (same.step, same.frame, same.time)
    rows, others = one.diagnostics(), two.diagnostics()
    for name in rows:
        if not name.startswith("seconds"):
            np.testing.assert_array_equal(rows[name], others[name])


def test_run_writes_frames_and_says_what_it_does(cli: Call, tiny: Path, tmp_path: Path) -> None:
    done = cli("run", "tiny.toml")
    assert done.returncode == 0, done.stderr
    assert RunFolder(tmp_path / "out/tiny").frame_indices() == list(range(11))
    for part in (
        "tiny: Two discs",
        "disc",
        "fixed-corotated",
        "kg/m",
        "m/s",
        "time step",
        "memory",
        "out/tiny",
    ):
        assert part in done.stdout
    assert "frame 10/10" in done.stdout and "particle-steps/s" in done.stdout
    assert "continua render out/tiny" in done.stdout
    assert done.stderr == ""


def test_json_is_all_there_is_on_stdout(cli: Call, tiny: Path) -> None:
    done = cli("run", "tiny.toml", "--json", "--frames", 4, "-o", "here")
    report = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert report["status"] == "finished" and report["output"] == "here" and report["frames"] == 4
    assert report["time"] == pytest.approx(0.2, rel=1e-12)
    assert report["mean_dt"] == pytest.approx(report["time"] / report["steps"])
    assert report["particles"] > 100
    assert report["diagnostics"]["kinetic"] > 0
    assert "frame 4/4" in done.stderr


def test_quiet_prints_nothing(cli: Call, tiny: Path) -> None:
    done = cli("run", "tiny.toml", "--quiet", "--frames", 1)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_options_end_up_in_the_record(cli: Call, tiny: Path, tmp_path: Path) -> None:
    arguments = [
        "--duration",
        0.1,
        "--precision",
        "single",
        "--set",
        "body.disc.material.E=2e4",
        "--set",
        "seed=3",
    ]
    assert cli("run", "tiny.toml", "-q", "-o", "o", *arguments).returncode == 0
    record = RunFolder(tmp_path / "o").description
    assert record["precision"] == "single" and record["seed"] == 3 and record["frames"] == 2
    assert record["scene"]["body"][0]["material"]["E"] == 2e4
    assert record["scene"]["run"]["duration"] == pytest.approx(0.1)
    assert record["name"] == "tiny"


def test_existing_run_is_kept_unless_told_otherwise(cli: Call, tiny: Path, tmp_path: Path) -> None:
    assert cli("run", "tiny.toml", "-q", "--frames", 1).returncode == 0
    again = cli("run", "tiny.toml", "-q", "--frames", 1)
    assert again.returncode == 1 and "already holds a run" in again.stderr
    assert cli("run", "tiny.toml", "-q", "--frames", 2, "--overwrite").returncode == 0
    assert RunFolder(tmp_path / "out/tiny").frame_indices() == [0, 1, 2]


def test_new_then_run(cli: Call) -> None:
    assert cli("new", "mine").returncode == 0
    done = cli("run", "mine.toml", "--set", "dx=0.06", "--frames", 3, "--json", "-q")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["frames"] == 3


def test_info_tells_the_story(cli: Call, tiny: Path) -> None:
    assert cli("run", "tiny.toml", "-q").returncode == 0
    done = cli("info", "out/tiny")
    assert done.returncode == 0
    for part in (
        "status",
        "finished",
        "Two discs",
        "11 of 11",
        "checkpoint",
        "mean dt",
        "time spent",
        "%",
        "core",
    ):
        assert part in done.stdout, done.stdout
    facts = json.loads(cli("info", "out/tiny", "--json").stdout)
    assert facts["frames"] == 11 and facts["status"] == "finished" and not facts["resumable"]
    assert facts["mean_dt"] == pytest.approx(0.5 / facts["steps"])


def test_finished_run_can_go_on(cli: Call, tiny: Path, tmp_path: Path) -> None:
    assert cli("run", "tiny.toml", "-q", "--frames", 4, "-o", "short").returncode == 0
    done = cli("resume", "short")
    assert done.returncode == 0 and "is finished" in done.stdout
    assert cli("resume", "short", "-q", "--frames", 10).returncode == 0
    assert cli("run", "tiny.toml", "-q", "-o", "whole").returncode == 0
    same_bits(tmp_path / "short", tmp_path / "whole")


def start(tmp_path: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def wait_for(path: Path, process: subprocess.Popen[str], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None and time.monotonic() < end, process.stderr and process.stderr.read()
        time.sleep(0.01)


@pytest.mark.parametrize(("name", "message"), [("tiny.toml", signal.SIGINT), ("tiny.py", signal.SIGTERM)])
def test_interrupt_then_resume_gives_the_same_bits(
    name: str, message: signal.Signals, cli: Call, tiny: Path, tmp_path: Path
) -> None:
    if name == "tiny.py":
        (tmp_path / name).write_text(
            "from continua.scene import load_scene\nscene = load_scene(__file__[:-2] + 'toml')\n"
            "scene.body[1].velocity = lambda x: -x\n"
        )
    fine = ["--set", "dx=0.04"]
    assert cli("run", name, "-q", "-o", "whole", *fine).returncode == 0
    process = start(tmp_path, "run", name, "-o", "part", *fine)
    wait_for(tmp_path / "part/frames/frame_00004.npz", process)
    process.send_signal(message)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err and err.count("\n") == 1
    code = ["--scene", name] if name == "tiny.py" else []  # it holds a function
    assert f"continue with: {' '.join(['continua resume part', *code])}\n" in err
    run = RunFolder(tmp_path / "part")
    assert run.status == "interrupted"
    assert run.last_checkpoint() is not None
    assert "continua resume part" in cli("info", "part").stdout
    done = cli("resume", "part", "-q", *code)
    assert done.returncode == 0, done.stderr
    assert RunFolder(tmp_path / "part").status == "finished"
    same_bits(tmp_path / "part", tmp_path / "whole")


def test_live_bar_on_a_terminal(tiny: Path, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    process = start_on_terminal(tmp_path, slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    assert process.wait(timeout=60) == 0
    os.close(master)
    text = shown.decode(errors="replace")
    assert "left" in text and "/10" in text and "particle-steps/s" in text
    assert "done: frame 10" in text


def start_on_terminal(tmp_path: Path, slave: int) -> subprocess.Popen[bytes]:
    words = [*COMMAND, "run", "tiny.toml", "--set", "dx=0.04"]
    return subprocess.Popen(words, cwd=tmp_path, env=environment(TERM="xterm"), stdout=slave, stderr=slave)
