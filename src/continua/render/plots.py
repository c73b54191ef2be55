"""Plots of the diagnostics of a run: energies, momenta, time step, time spent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from continua.errors import OutputError
from continua.io.atomic import atomic_path, make_folder
from continua.io.folder import RunFolder
from continua.io.optional import require
from continua.render.colors import PALETTE

Columns = Mapping[str, np.ndarray]


def plots(folder: str | Path, directory: str | Path | None = None) -> list[Path]:
    """Write PNG plots of a run's diagnostics to `directory` (by default DIR/plots) and return their paths.

    energy.png, momentum.png, angular_momentum.png, time_step.png and seconds.png, as far as the run recorded
    the numbers.
    """
    run = RunFolder(folder)
    columns = run.diagnostics()
    if "time" not in columns or not len(columns["time"]):
        raise OutputError(f"{run.path} has no diagnostics yet; run the simulation first")
    require("matplotlib", "matplotlib", "render")
    target = make_folder(Path(directory) if directory is not None else run.path / "plots")
    depth = "" if run.dimension == 3 else "/m"  # a 2D run is a slice one metre thick
    energies = ["kinetic", "elastic", "potential", "total"]
    momenta = [f"momentum_{axis}" for axis in "xyz"]
    angular = [f"angular_{axis}" for axis in "xyz"]
    drawn = [
        _lines(columns, energies, "Energy", f"energy [J{depth}]", target / "energy.png"),
        _lines(columns, momenta, "Momentum", f"momentum [kg m/s{depth}]", target / "momentum.png"),
        _lines(
            columns,
            angular,
            "Angular momentum",
            f"angular momentum [kg m²/s{depth}]",
            target / "angular_momentum.png",
        ),
        _lines(columns, ["dt"], "Time step", "time step [s]", target / "time_step.png"),
        _phases(columns, target / "seconds.png"),
    ]
    return [path for path in drawn if path is not None]


def _lines(columns: Columns, names: list[str], title: str, label: str, path: Path) -> Path | None:
    """Curves over time; None if the run has none of the columns."""
    names = [name for name in names if name in columns and np.isfinite(columns[name]).any()]
    if not names:
        return None
    figure, axes = new_figure(title)
    for name, color in zip(names, PALETTE, strict=False):
        text = name.rpartition("_")[2] if "_" in name else name
        style = (
            {"linewidth": 2.2, "color": "#30353d"} if name == "total" else {"linewidth": 1.6, "color": color}
        )
        axes.plot(columns["time"], columns[name], label=text, **style)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(label)
    axes.ticklabel_format(axis="y", scilimits=(-3, 4), useMathText=True)
    axes.margins(x=0.01)
    if len(names) > 1:
        axes.legend(frameon=False, ncols=len(names), loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return save_figure(figure, path)


def _phases(columns: Columns, path: Path) -> Path | None:
    """Bars of the seconds spent per phase of the step."""
    spent = {}
    for name, values in columns.items():
        values = values[np.isfinite(values)]
        if name.startswith("seconds_") and len(values):
            growing = len(values) > 1 and bool((np.diff(values) >= 0).all())  # a running total already
            spent[name.removeprefix("seconds_").replace("_", " ")] = float(
                values[-1] if growing else values.sum()
            )
    if not spent:
        return None
    figure, axes = new_figure("Time spent")
    names = sorted(spent, key=lambda name: spent[name])
    bars = axes.barh(names, [spent[name] for name in names], color=[PALETTE[0]], height=0.65)
    total = sum(spent.values()) or 1.0
    labels = [f" {spent[name]:.3g} s ({100 * spent[name] / total:.0f} %)" for name in names]
    axes.bar_label(bars, labels, fontsize=9, color="#3a404a")
    axes.set_xlabel("seconds")
    axes.margins(x=0.18)
    axes.grid(axis="y", visible=False)
    return save_figure(figure, path)


def new_figure(title: str, panels: int = 1) -> tuple[Any, Any]:
    """A figure in the style of all plots, and its axes: one, or a list of panels side by side."""
    figure = require("matplotlib.figure", "matplotlib", "render").Figure(
        (8 if panels == 1 else 11, 4.5), dpi=130, layout="constrained"
    )
    every = [figure.add_subplot(1, panels, number + 1) for number in range(panels)]
    every[0].set_title(title, loc="left", fontsize=12, color="#30353d")
    for axes in every:
        axes.grid(color="#e3e6ea", linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure, every[0] if panels == 1 else every


def save_figure(figure: Any, path: Path) -> Path:
    """Write it as the ending of `path` says."""
    with atomic_path(path) as temporary:
        figure.savefig(temporary)
    return path
