"""Draw a cube that recovers its shape from random points, and how long that takes: docs/images/recovery.png."""

from itertools import islice
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from continua.bodies.shape_error import shape_error
from continua.validation.recovery import CLOSE, RANDOM, ROWS, Row, frames

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "recovery.png"
SHOWN = (0, 1, 4, 16, 64)  # frames
STYLES = {"1e4": ("#0072b2", 120), "1e6": ("#e69f00", 20), "1e8": ("#009e73", 8)}  # color, frames
LIGHT = np.array([0.3, -0.5, 0.8])


def draw(axes: plt.Axes, body) -> None:
    """Its surface, shaded and seen from a corner."""
    corners = (body.x - body.x.mean(axis=0))[body.surface]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.maximum(np.linalg.norm(normals, axis=1), 1e-12)
    light = 0.55 + 0.45 * np.abs(normals @ LIGHT) / lengths
    skin = Poly3DCollection(corners, facecolors=np.outer(light, (0.35, 0.6, 0.85)), edgecolors="0.2")
    skin.set_linewidth(0.3)
    axes.add_collection3d(skin)
    axes.set(xlim=(-0.6, 0.6), ylim=(-0.6, 0.6), zlim=(-0.6, 0.6), box_aspect=(1, 1, 1))
    axes.view_init(22, -60)
    axes.set_axis_off()


figure = plt.figure(figsize=(9.0, 5.4), dpi=120, layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.4))
panels = top.subplots(1, len(SHOWN), subplot_kw={"projection": "3d"})
soft = Row("", RANDOM, 1e4, 0, 0, nodes=9)
views = dict(zip(SHOWN, panels))
draw(views[0], soft.cube())
for number, (cube, _) in enumerate(islice(frames(soft), max(SHOWN)), 1):
    if number in views:
        draw(views[number], cube)
for number, panel in views.items():
    panel.set_title("start" if number == 0 else f"frame {number}", fontsize=10, y=1.0)

axes = bottom.subplots()
for row in ROWS[:6]:
    color, count = STYLES[row.name[-6:-3]]
    errors = [shape_error(row.cube())] + [shape_error(cube) for cube, _ in islice(frames(row), count)]
    line = "-" if row.start is RANDOM else "--"
    axes.plot(range(len(errors)), errors, line, color=color, label=row.name, marker="o", markersize=2)
axes.axhline(CLOSE, color="0.5", linewidth=0.8)
axes.text(20, CLOSE * 1.15, "recovered below", color="0.4", fontsize=9, ha="center")
axes.set_xscale("symlog", linthresh=1)
axes.set(
    yscale="log",
    xlim=(0, 130),
    ylim=(1e-5, 2),
    xticks=(0, 1, 2, 5, 10, 20, 50, 100),
    xticklabels=(0, 1, 2, 5, 10, 20, 50, 100),
    xlabel="frames, one step each",
    ylabel="largest distance from the cube [m]",
)
axes.legend(frameon=False, ncols=2, loc="lower left", fontsize=9)
figure.savefig(TARGET)
