"""Draw the front of the dam break beside the experiment: docs/images/dam-break-front.png."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from continua.validation.dam_break import EXPERIMENT, best_delay, fronts, run_out

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "dam-break-front.png"

figure, axes = plt.subplots(figsize=(6.0, 4.0), dpi=120, layout="constrained")
T, Z = EXPERIMENT.T
axes.fill_between(T, 0.9 * Z, 1.1 * Z, color="0.92", label="gate, 10 %")
axes.plot(T, Z, "ko", label="Martin and Moyce 1952")
axes.plot(T, fronts(20), color="tab:blue", label="weakly compressible, floor holds the water")
axes.plot(
    T, fronts(20, floor="separate"), "--", color="tab:blue", label="weakly compressible, slippery floor"
)
time, front = run_out(40, viscosity=0.0)
delay = best_delay(time, front)
axes.plot(time, front, "--", color="tab:green", label="incompressible, slippery floor")
axes.plot(time + delay, front, color="tab:green", label=f"incompressible, gate opens {delay:.2f} later")
axes.plot(T, fronts(20, viscosity=10.0), color="tab:orange", label="control: viscosity of honey")
axes.set(
    xlim=(0.6, 3.2),
    ylim=(0.9, 4.6),
    xlabel=r"$T = t\,\sqrt{2g/a}$",
    ylabel="front / a",
    title="Dam break, water twice as high as wide",
)
axes.legend(frameon=False)
figure.savefig(TARGET)
