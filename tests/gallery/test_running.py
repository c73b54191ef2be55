"""A scene is watched at every step, its numbers have gates, and a run that breaks down is a report, not a crash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from continua import Simulation
from continua.errors import SceneError
from continua.gallery import run_scene
from continua.gallery._measure import depth, energy
from continua.gallery._running import SceneReport, module_of, watched_run
from continua.scene import load_scene
from continua.validation.case import at_least, at_most, reported

QUICK = ["duration=0.1", "dx=0.1"]


def test_the_worst_moment_counts_and_not_the_last() -> None:
    """A block that lands sinks in by more than it does in the end, and jumps higher than it lies."""
    scene = load_scene("jello-drop", ["dx=0.065", "duration=0.5", "elastic_cfl=0.5"])
    run = watched_run(scene, lambda sim: {"depth": depth(sim), "energy": energy(sim)})
    assert len(run.seen["time"]) == run.sim.steps + 1
    assert run.seen["depth"][0] < run.seen["depth"][-1] < run.most("depth")
    assert run.seen["energy"][-1] == run.sim.diagnostics()["total"] > run.least("energy")
    assert run.growth("energy") == 0 and run.growth("depth") != 0


def test_a_number_that_was_ever_nan_stays_nan() -> None:
    run = watched_run(
        load_scene("bar", ["dx=0.1", "duration=0.01"]), lambda sim: {"a": np.nan if sim.steps == 1 else 1.0}
    )
    assert np.isnan(run.most("a")) and not at_most("a", run.most("a"), 1e9).passed
    assert np.isnan(run.least("a")) and not at_least("a", run.least("a"), -1e9).passed


def test_a_scene_without_a_watch_is_run_all_the_same() -> None:
    run = watched_run(load_scene("bar", ["dx=0.1", "duration=0.01"]))
    assert set(run.seen) == {"time"} and run.seen["time"][-1] == run.sim.time


def test_a_report_passes_only_with_numbers_that_all_do() -> None:
    assert not SceneReport("a", True).passed
    assert SceneReport("a", True, [at_most("x", 1.0, 2.0), reported("y", 3.0)]).passed
    report = SceneReport("a", True, [at_most("x", 1.0, 2.0), at_most("y", 3.0, 2.0)])
    assert report.failed == ["y"] and report["y"] == 3.0 and not report.passed
    assert not SceneReport("a", True, [at_most("x", 1.0, 2.0)], failure="it broke").passed


def test_a_run_that_breaks_down_is_said_in_the_report() -> None:
    report = run_scene("bar", small=True, overrides=["dt=0.02", "force_dt=true"])
    assert report.failure and not report.measurements and not report.passed


def test_overrides_come_after_those_of_the_small_version() -> None:
    report = run_scene("bar", small=True, overrides=["dx=0.1"])
    assert report.run is not None and report.run.sim.dx == 0.1
    assert isinstance(report.run.sim, Simulation) and module_of("bar").SMALL == ["dx=0.05"]


def test_only_gallery_scenes_have_a_check(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match='no gallery scene "snowbal"'):
        run_scene("snowbal")
    (tmp_path / "mine.py").write_text("")
    with pytest.raises(SceneError, match="is not a gallery scene"):
        run_scene(str(tmp_path / "mine.py"))
