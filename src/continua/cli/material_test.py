"""`continua material-test`: one material point through a deformation history."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

import numpy as np

from continua.cli import named_material, text
from continua.errors import MaterialError
from continua.pointtest import PATHS, History, Path, default_path, drive, read_path
from continua.render.material_test import AXES, STRESSES, draw
from continua.scene.messages import suggestion

ROWS = 11  # of the printed table


@dataclass(frozen=True)
class Options:
    """How to drive; None means what suits the materials."""

    amount: float | None = None
    rate: float | None = None
    pressure: float | None = None
    steps: int = 400
    dimension: int | None = None


def material_test(
    names: Sequence[str],
    path_name: str,
    options: Options,
    *,
    settings: Sequence[str],
    plot: FilePath | None,
    as_json: bool,
) -> int:
    """Drive, then print a table or JSON, and draw if asked to."""
    found = [named_material.find(name) for name in names]
    materials = named_material.changed(found, names, settings)
    path = find_path(path_name, materials, options)
    labels = unique(names)
    histories = [
        replace(drive(material, path), material=label)
        for material, label in zip(materials, labels, strict=True)
    ]
    if plot is not None:
        draw(histories, plot)
    if as_json:
        print(json.dumps(as_data(histories, materials), allow_nan=False))
        return 0
    print(
        f"{path.name}, {path.dimension}D, {text.plural(path.steps, 'step')} of {path.time[-1] / path.steps:.3g} s"
    )
    for history in histories:
        print(f"\n{history.material}")
        for line in table(history):
            print(f"  {line}")
        print(f"\n{sentences(history)}")
    if plot is not None:
        print(f"\nwrote {plot}")
    return 0


def find_path(name: str, materials: Sequence[named_material.AnyDriven], options: Options) -> Path:
    """Path of a name, or of a CSV file."""
    if name in PATHS:
        return default_path(
            name,
            materials,
            amount=options.amount,
            rate=options.rate,
            pressure=options.pressure,
            steps=options.steps,
            dimension=options.dimension or 3,
        )
    if not name.lower().endswith(".csv"):
        hint = suggestion(name, PATHS)
        raise MaterialError(f'there is no path "{name}"{hint} (known: {", ".join(PATHS)}; or a .csv file)')
    unused = [key for key in ("amount", "rate", "pressure") if getattr(options, key) is not None]
    if unused:
        raise MaterialError(f"--{unused[0]} does not go with a CSV file, which says it all; leave it out")
    path = read_path(name, steps=options.steps)
    if options.dimension not in (None, path.dimension):
        raise MaterialError(f"{name} is {path.dimension}D; leave out --dimension {options.dimension}")
    return path


def unique(names: Sequence[str]) -> list[str]:
    """Names that tell materials apart: the second `snow` becomes `snow (1)`, as --set counts them."""
    return [f"{name} ({index})" if list(names).count(name) > 1 else name for index, name in enumerate(names)]


def table(history: History) -> list[str]:
    """Lines of numbers at evenly spaced rows."""
    rows = np.unique(np.linspace(0, len(history.time) - 1, ROWS).round().astype(int))
    columns = {} if history.path.against_time else {"time [s]": history.time}
    columns |= {
        AXES[history.path.name if history.path.name in AXES else "other"]: history.strain,
        f"{STRESSES[history.path.measure]} [Pa]": history.stress,
        "volume ratio": history.volume,
        "energy [Pa]": history.energy,
        "work [Pa]": history.work,
        "plastic work [Pa]": history.plastic_work,
        "dissipation [Pa]": history.dissipation,
    }
    noise = 1e-14 * max(float(np.abs(history.work).max()), float(np.abs(history.tau).max()))
    cells = [[cell(float(values[row]), noise) for values in columns.values()] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(list(columns), *cells, strict=True)]
    return [
        "  ".join(word.rjust(width) for word, width in zip(line, widths, strict=True))
        for line in [list(columns), *cells]
    ]


def cell(value: float, noise: float = 0.0) -> str:
    """Four digits; rounding errors are zeros."""
    return "0" if abs(value) <= noise else f"{value:.4g}"


def sentences(history: History) -> str:
    """The summary in words."""
    s, kind = history.summary(), STRESSES[history.path.measure]
    noise = 1e-10 * float(max(np.abs(history.work).max(), np.abs(history.energy).max()))
    place = "t = {:.4g} s" if history.path.against_time else "strain {:.4g}"
    flow = (
        "There was no plastic flow"
        if s.yield_strain is None
        else f"It first flowed at {place.format(s.yield_strain)}"
    )
    work, stored, lost, plastic, viscous = (
        f"{cell(value, noise)} Pa"
        for value in (s.work, s.stored, s.dissipation, s.plastic_work, s.viscous_work)
    )
    hardening = f", less {cell(s.hardening)} Pa that went into hardening" if abs(s.hardening) > noise else ""
    parts = [
        f"{flow}; the {kind} had its peak of {cell(s.peak_stress)} Pa at {place.format(s.peak_strain)} "
        f"and ended at {cell(s.final_stress, 1e-12 * abs(s.peak_stress))} Pa.",
        f"Of the work of {work} (J/m^3), {stored} is stored and {lost} is dissipated: "
        f"{plastic} by flow and {viscous} by viscosity{hardening}.",
        f"The energy balance closes within {100 * s.balance_error:.2g} % (more steps: better); "
        f"the least dissipation of a step was {s.least_dissipation:.2g} Pa.",
    ]
    if abs(s.work) <= 1e-6 * s.plastic_work:
        parts.append(
            "It carried no stress: loose grains need confinement, try --pressure or --path triaxial."
        )
    return " ".join(parts)


def as_data(histories: Sequence[History], materials: Sequence[named_material.AnyDriven]) -> dict[str, object]:
    """Everything for --json."""
    path = histories[0].path
    return {
        "path": path.name,
        "dimension": path.dimension,
        "steps": path.steps,
        "stress": STRESSES[path.measure],
        "materials": [
            {**history.as_dict(), "parameters": finite(named_material.parameters(material))}
            for history, material in zip(histories, materials, strict=True)
        ],
    }


def finite(values: dict[str, object]) -> dict[str, object]:
    """JSON has no infinity: an endless relaxation time becomes the text "inf"."""
    return {
        name: str(value) if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in values.items()
    }
