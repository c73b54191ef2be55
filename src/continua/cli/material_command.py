"""Options of `continua material-test`; the work is done in `continua.cli.material_test`, imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def material_test(
    materials: Annotated[
        list[str],
        typer.Argument(
            metavar="MATERIAL",
            help="Name as in scene files (snow), a preset (snow.dry-sand) or FILE.py:ClassName; "
            "several are compared.",
        ),
    ],
    path: Annotated[
        str,
        typer.Option(
            metavar="PATH",
            help="shear, uniaxial, biaxial, triaxial, compress, relax, or a CSV file with the columns t and "
            "F00,F01,... (or L00,L01,...).",
        ),
    ] = "shear",
    compare: Annotated[
        list[str] | None,
        typer.Option(metavar="MATERIAL", help="One more material. May be repeated.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a parameter of every material that has it, as --set E=2e5, or of one, as "
            "--set snow.E=2e5 or --set 0.E=2e5 (the first). May be repeated.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the curves (PNG, SVG or PDF by the ending).")
    ] = None,
    amount: Annotated[
        float | None,
        typer.Option(help="Shear, or logarithmic strain; well beyond yield if left out.", show_default=False),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            help="Strain rate [1/s]; 1, or one per relaxation time, if left out.", show_default=False
        ),
    ] = None,
    pressure: Annotated[
        float | None,
        typer.Option(
            help="Confine by this pressure [Pa] first; modulus/100 if left out of triaxial, else none.",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=2, max=1_000_000, help="Number of steps.")] = 400,
    dimension: Annotated[
        int | None,
        typer.Option(min=2, max=3, help="2 is plane strain; 3, or that of the CSV file, if left out."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all arrays.")] = False,
) -> int:
    """Drive one material point through a deformation and show stress, strain and energies.

    It prints a table and a summary; with --json all arrays. Stresses are Kirchhoff stresses, energies are per
    undeformed volume.
    """
    from continua.cli import material_test as command

    return command.material_test(
        [*materials, *(compare or [])],
        path,
        command.Options(amount=amount, rate=rate, pressure=pressure, steps=steps, dimension=dimension),
        settings=list(settings or []),
        plot=plot,
        as_json=json,
    )
