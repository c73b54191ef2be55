"""Draw the deposit of the sand column under refinement, docs/images/sand-column-refinement.png, and print the table of
docs/validation.md.

Numbers of cells over the width may be given; 10 20 40 80 take three minutes on one core, 160 half an hour more.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from continua.bodies.points import ParticleBody
from continua.validation.sand import WIDTH, collapse, run_out_of
from continua.validation.spread import layer_front

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "sand-column-refinement.png"
EDGES = np.linspace(0.0, 4.5, 46) * WIDTH  # of the bins of the profile [m]


def profile(sand: ParticleBody) -> NDArray[np.float64]:
    """Thickness of the deposit over the width (45,)."""
    return np.histogram(sand.x[:, 0], EDGES, weights=sand.volume)[0] / np.diff(EDGES) / WIDTH


def main(cells: list[int]) -> None:
    heaps = {n: collapse(n) for n in cells}
    run_outs = {n: run_out_of(sand) for n, sand in heaps.items()}
    before = float("nan")
    for n, sand in heaps.items():
        now, top = run_outs[n], float(sand.x[:, 1].max()) / WIDTH
        thick = layer_front(sand.x[:, 0], sand.volume, thickness=WIDTH / 10, window=WIDTH / 10) / WIDTH - 1
        change = f"{100 * abs(now - before) / now:.1f} %" if np.isfinite(before) else ""
        print(f"| {1000 * WIDTH / n:g} mm | {n} | {now:.2f} | {change} | {thick:.2f} | {top:.2f} |")
        before = now
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0), dpi=110, layout="constrained")
    for shade, (n, sand) in zip(np.linspace(0.75, 0.0, len(heaps)), heaps.items()):
        left.stairs(profile(sand), EDGES / WIDTH, color=str(shade), label=f"{n} cells over L0")
    left.axhline(0.02, color="tab:red", linewidth=1, label="L0/50")
    left.set(
        yscale="log",
        ylim=(0.005, 2.0),
        xlabel="place / L0",
        ylabel="thickness / L0",
        title="Deposit of the sand column",
    )
    left.legend(frameon=False, fontsize=8)
    right.axhspan(2.4, 3.6, color="0.92", label="experiments")
    right.plot(
        list(run_outs), list(run_outs.values()), "o-", color="tab:red", label="where it is L0/50 thick"
    )
    right.set(xscale="log", ylim=(1.0, 4.0), xlabel="cells over L0", ylabel="run-out / L0", title="Run-out")
    right.set_xticks(cells, [str(n) for n in cells])
    right.minorticks_off()
    right.legend(frameon=False, fontsize=8)
    figure.savefig(TARGET)


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [10, 20, 40, 80])
