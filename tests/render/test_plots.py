"""Plots of what a run recorded, as far as it did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from continua.errors import OutputError
from continua.io import Recorder
from continua.render import plots

pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")


def test_every_kind_of_number_gets_its_plot(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run", description={"dimension": 3}) as recorder:
        for step in range(20):
            row = {
                "time": step / 10,
                "dt": 1e-3,
                "kinetic": 1.0,
                "total": 2.0,
                "momentum_x": 0.1,
                "angular_z": step,
            }
            recorder.diagnostics({**row, "seconds_gather": 0.1, "seconds_grid": 0.01 * step})
    paths = plots(tmp_path / "run")
    names = ["energy.png", "momentum.png", "angular_momentum.png", "time_step.png", "seconds.png"]
    assert [path.name for path in paths] == names
    assert all(path.parent == tmp_path / "run" / "plots" for path in paths)
    for path in paths:
        image = np.asarray(Image.open(path).convert("RGB"))
        assert image.shape[0] > 400
        assert image.std() > 3


def test_only_what_was_recorded_is_plotted(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run", description={"dimension": 2}) as recorder:
        recorder.diagnostics({"time": 0.0, "kinetic": float("nan"), "dt": 1e-3})
    assert [path.name for path in plots(tmp_path / "run", tmp_path / "out")] == ["time_step.png"]


def test_a_run_without_rows_is_one_sentence(tmp_path: Path) -> None:
    Recorder(tmp_path / "run", description={}).finish()
    with pytest.raises(OutputError, match="no diagnostics yet"):
        plots(tmp_path / "run")
