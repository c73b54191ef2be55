"""Options of `continua compare`; the work is done in `continua.cli.compare`, imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            help='Name of a gallery scene (see "continua gallery"), a .toml file, or a .py file, which is executed.',
        ),
    ],
    over: Annotated[
        str,
        typer.Option(
            metavar="KEY=V1,V2,...",
            help="What differs between the runs, for example transfer=pic,flip:0.95,apic,polypic:6 or "
            "body.material.E=1e4,1e5.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Output folder; out/<scene>-<key> if left out."),
    ] = None,
    frames: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Stop after this many frames.", show_default=False)
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting in all runs. May be repeated.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            metavar="N",
            envvar="CONTINUA_THREADS",
            help="Threads to use; all cores if left out.",
        ),
    ] = None,
    film: Annotated[
        bool, typer.Option("--film/--no-film", help="Draw the film of all runs side by side.")
    ] = True,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the runs in the output folder.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object at the end, all else to stderr.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but the table and errors.")
    ] = False,
) -> int:
    """Run a scene once for each value of a setting and put the results side by side.

    Writes one run folder per value, a still, a film and plots of energy and momentum with one curve per value, and
    prints a table. Runs that are finished are kept and interrupted ones go on, so the same command may be repeated.
    """
    from continua.cli import compare as command

    options = command.Options(
        frames=frames, threads=threads, film=film, overwrite=overwrite, json=json, quiet=quiet
    )
    return command.compare(scene, over, output, options, overrides=list(overrides or []))
