"""Draw the front of the dam break beside the experiment and under refinement, docs/images/dam-break-front.png.

Prints the table of docs/validation.md. Two minutes on one core.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from continua.validation.dam_break import (
    EXPERIMENT,
    HONEY,
    Curve,
    at_times,
    best_delay,
    largest_difference,
    run_out,
    speed,
)

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "dam-break-front.png"
CELLS = (10, 20, 40, 80)
SHOWN = 40  # cells over the width of the curves
Study = dict[int, Curve]


def draw_fronts(axes: Axes, weakly: Curve, incompressible: Curve, honey: Curve) -> None:
    """Z over T beside the experiment."""
    delay = best_delay(weakly)
    axes.plot(*EXPERIMENT.T, "ko", label="Martin and Moyce 1952")
    axes.plot(*weakly, color="tab:blue", label="weakly compressible")
    axes.plot(*incompressible, "--", color="tab:green", label="incompressible")
    axes.plot(
        weakly[0] + delay, weakly[1], ":", color="tab:blue", label=f"gate opens {delay:.2f} later (fitted)"
    )
    axes.plot(*honey, color="tab:orange", label="control: honey on a floor that holds it")
    axes.set(
        xlim=(0.6, 3.2),
        ylim=(0.9, 4.6),
        xlabel=r"$T = t\,\sqrt{2g/a}$",
        ylabel="Z = front / a",
        title=f"Dam break, {SHOWN} cells over the width",
    )
    axes.legend(frameon=False, fontsize=8)


def draw_refinement(axes: Axes, studies: dict[str, Study]) -> None:
    """The front at the last time over the number of cells."""
    styles = {"weakly compressible": "o-", "incompressible": "s--", "floor that holds the water": "^:"}
    colors = {
        "weakly compressible": "tab:blue",
        "incompressible": "tab:green",
        "floor that holds the water": "0.5",
    }
    for name, study in studies.items():
        fronts = [at_times(curve)[-1] for curve in study.values()]
        axes.plot(list(study), fronts, styles[name], color=colors[name], label=name)
    axes.set(
        xscale="log",
        ylim=(3.3, 4.4),
        xlabel="cells over the width",
        ylabel="Z at T = 3.11",
        title="The same under refinement",
    )
    axes.set_xticks(CELLS, [str(n) for n in CELLS])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)


def print_table(weakly: Study, incompressible: Study, held: Study) -> None:
    """Rows of the table in docs/validation.md."""
    for coarser, n in zip((None, *CELLS), CELLS):
        changes = [
            f"{100 * largest_difference(study[coarser], study[n]):.1f} %" if coarser else ""
            for study in (weakly, incompressible, held)
        ]
        print(
            f"| {n} | {at_times(weakly[n])[-1]:.3f} | {at_times(incompressible[n])[-1]:.3f} "
            f"| {100 * largest_difference(weakly[n], incompressible[n]):.1f} % | {changes[0]} | {changes[1]} "
            f"| {speed(weakly[n]).value:.3f} | {speed(incompressible[n]).value:.3f} | {changes[2]} |"
        )


def main() -> None:
    weakly: Study = {n: run_out("weakly compressible", n) for n in CELLS}
    incompressible: Study = {n: run_out("incompressible", n) for n in CELLS}
    held: Study = {n: run_out("weakly compressible", n, floor="sticky") for n in CELLS}
    honey = run_out("weakly compressible", SHOWN, viscosity=HONEY, floor="sticky")
    print_table(weakly, incompressible, held)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0), dpi=110, layout="constrained")
    draw_fronts(left, weakly[SHOWN], incompressible[SHOWN], honey)
    studies = {
        "weakly compressible": weakly,
        "incompressible": incompressible,
        "floor that holds the water": held,
    }
    draw_refinement(right, studies)
    figure.savefig(TARGET)


if __name__ == "__main__":
    main()
