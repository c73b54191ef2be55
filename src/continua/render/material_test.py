"""Curves of material tests: stress, strain and energies, one colour per material."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from continua.errors import OutputError
from continua.io.atomic import atomic_path
from continua.io.optional import require
from continua.pointtest import History
from continua.pointtest.history import FLOW
from continua.pointtest.paths import Array
from continua.render.colors import PALETTE

AXES = {
    "shear": "shear strain",
    "uniaxial": "logarithmic strain",
    "biaxial": "logarithmic strain",
    "triaxial": "axial compression",
    "compress": "compression -ln J",
    "relax": "time [s]",
    "other": "time [s]",
}
STRESSES = {
    "shear": "shear stress",
    "axial": "axial stress",
    "deviator": "deviator stress",
    "pressure": "pressure",
    "equivalent": "von Mises stress",
}
INK, GRID = "#30353d", "#e3e6ea"
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"))
SUFFIXES = (".png", ".svg", ".pdf")


def draw(histories: Sequence[History], file: str | FilePath) -> FilePath:
    """Write a picture of one or more histories of the same path (PNG, SVG or PDF) and return its path.

    Left: stress, with a dot where flow begins. Middle: the size of total and elastic logarithmic strain.
    Right: energy stored, plastic work and dissipation per undeformed volume.
    """
    file = FilePath(file)
    if file.suffix.lower() not in SUFFIXES:
        raise OutputError(f"{file}: a plot is written as {', '.join(SUFFIXES)}; change the ending")
    module = require("matplotlib.figure", "matplotlib", "render")
    figure = module.Figure((12, 4.4), dpi=130, layout="constrained")
    path = histories[0].path
    for panel, fill in zip(figure.subplots(1, 3), (_stress, _strain, _energy), strict=True):
        back = fill is not _stress and bool((np.diff(path.strain) < 0).any())  # curves over themselves
        _style(panel, "time [s]" if back else AXES.get(path.name, AXES["other"]))
        fill(panel, histories, path.time if back else path.strain)
    names = ", ".join(history.material for history in histories) if len(histories) < 4 else "Materials"
    figure.suptitle(f"{names}: {path.name}", x=0.005, ha="left", fontsize=13, color=INK, weight="bold")
    with atomic_path(file) as temporary:
        figure.savefig(temporary)
    return file


def _stress(axes: Any, histories: Sequence[History], x: Array) -> None:
    for number, history in enumerate(histories):
        color = PALETTE[number % len(PALETTE)]
        axes.plot(x, history.stress, color=color, linewidth=2, label=history.material)
        flowing = np.flatnonzero(history.flow > FLOW)
        if len(flowing) and flowing[0] > 1:
            axes.plot(x[flowing[0]], history.stress[flowing[0]], "o", color=color, markersize=6, zorder=3)
    _title(axes, STRESSES[histories[0].path.measure].capitalize(), "Kirchhoff stress", "Pa")
    if len(histories) > 1:
        axes.legend(frameon=False, fontsize=9)


def _strain(axes: Any, histories: Sequence[History], x: Array) -> None:
    for number, history in enumerate(histories):
        total, elastic = (np.linalg.norm(e, axis=1) for e in (history.total_strain, history.elastic_strain))
        _curves(axes, x, {"elastic": elastic, "total": total}, number, len(histories))
    _title(axes, "Strain", "size of the logarithmic strain")


def _energy(axes: Any, histories: Sequence[History], x: Array) -> None:
    for number, history in enumerate(histories):
        curves = {
            "stored": history.energy,
            "dissipated": history.dissipation,
            "plastic work": history.plastic_work,
        }
        _curves(axes, x, curves, number, len(histories))
    _title(axes, "Energy", "energy per undeformed volume", "Pa")


def _curves(axes: Any, x: Array, curves: dict[str, Array], number: int, count: int) -> None:
    """Several quantities of one material: line styles tell them apart, colours too if there is one material."""
    for (name, y), (color, style) in zip(curves.items(), zip(PALETTE, ("-", "--", ":")), strict=False):
        shown = color if count == 1 else PALETTE[number % len(PALETTE)]
        axes.plot(x, y, color=shown, linewidth=2 if style == "-" else 1.7, linestyle=style)
        if number == 0:  # an empty line for the legend, neutral if colours stand for materials
            axes.plot([], [], color=color if count == 1 else INK, linestyle=style, label=name)
    axes.legend(frameon=False, fontsize=9)


def _style(axes: Any, label: str) -> None:
    axes.set_xlabel(label)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0.02)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _title(axes: Any, title: str, label: str, unit: str = "") -> None:
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    if unit:  # 5 kPa instead of 5000 Pa
        size = max(abs(limit) for limit in axes.get_ylim())
        scale, prefix = next((entry for entry in PREFIXES if size >= entry[0]), PREFIXES[-1])
        ticker = require("matplotlib.ticker", "matplotlib", "render")
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value / scale:g}"))
        label = f"{label} [{prefix}{unit}]"
    axes.set_ylabel(label)
