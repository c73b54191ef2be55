"""Draw where plain Newton and the minimiser converge: docs/images/convergence-map.png."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import BoundaryNorm

from continua.validation.convergence_map import LOWER, STEPS, UPPER, bar, convergence_map
from continua.validation.plain_newton import Method

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "convergence-map.png"
METHODS: tuple[Method, ...] = ("plain Newton", "minimiser")
BOUNDS = (0, 3, 5, 10, 20, 50, 100, 500)  # of the colours, in iterations
STARTS = (0.3, 0.8), (1.6, -0.5), (-0.3, -0.6)  # pixels whose bars are shown

colors = plt.get_cmap("viridis_r")
norm = BoundaryNorm(BOUNDS, colors.N)
figure, rows = plt.subplots(
    2, 1 + len(STEPS), figsize=(13.0, 4.5), dpi=130, sharex=True, sharey=True, layout="constrained"
)
for axes, pixels in zip(rows[:, 0], (((1.0, 0.0),), STARTS)):
    for number, pixel in enumerate(pixels):
        body = bar(pixel)
        axes.triplot(*body.x.T, body.cells, color=f"C{number}", linewidth=0.8)
        axes.plot(*pixel, "o", color=f"C{number}", markersize=5)
rows[0, 0].set_title("the bar at rest ...", fontsize=10)
rows[1, 0].set_title("... and three of its starts", fontsize=10)

image = None
for row, method in zip(rows[:, 1:], METHODS):
    for axes, (name, dt) in zip(row, STEPS.items()):
        found = convergence_map(dt, method)
        image = axes.pcolormesh(found.x, found.y, found.iterations, cmap=colors, norm=norm)
        y, x = np.nonzero(np.isnan(found.iterations))
        axes.plot(found.x[x], found.y[y], "x", color="0.15", markersize=4.5, markeredgewidth=1.3)
        axes.plot(1, 0, "o", color="white", markeredgecolor="black", markersize=4)
        axes.set_title(f"{name}\n{method}: {100 * found.converged:.0f} %", fontsize=10)
for axes in rows.flat:
    half = (UPPER[0] - LOWER[0]) / 28  # of a pixel
    axes.set(
        aspect="equal",
        xlim=(LOWER[0] - half, UPPER[0] + half),
        ylim=(LOWER[1] - half, UPPER[1] + half),
        xticks=(0, 1, 2),
        yticks=(-1, 0, 1),
    )
figure.supxlabel("right end of the bar at the start [m]", fontsize=10)
assert image is not None
figure.colorbar(image, ax=rows, label="Newton iterations, x: not in 500", ticks=BOUNDS, shrink=0.85)
figure.get_layout_engine().set(h_pad=0.12)
figure.savefig(TARGET)
