"""Draw the energy that every transfer keeps in the vortex sheet: docs/images/vortex-sheet-energy.png."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from continua.validation.vortex_sheet import PROTOTYPE, TIMES, kinetic_energies

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "vortex-sheet-energy.png"

figure, axes = plt.subplots(figsize=(6.0, 4.0), dpi=120, layout="constrained")
times = np.linspace(0.1, 2.0, 20)
for number, (name, (scheme, reference)) in enumerate(PROTOTYPE.items()):
    energies = np.append(1.0, kinetic_energies(scheme, times))
    axes.plot(np.append(0.0, times), energies, color=f"C{number}", label=name)
    axes.plot(TIMES, reference, "o", color=f"C{number}", markersize=4)
axes.set(
    xlabel="time [s]", ylabel="kinetic energy / initial", title="Vortex sheet; dots: prototype", ylim=(0, 1)
)
axes.legend(frameon=False, ncols=2, loc="center", bbox_to_anchor=(0.74, 0.35), fontsize="small")
figure.savefig(TARGET)
