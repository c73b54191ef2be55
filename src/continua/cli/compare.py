"""`continua compare`: one scene, one setting, several values."""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from continua.cli import text
from continua.cli.failures import FAILED, INTERRUPTED
from continua.cli.progress import display
from continua.cli.results import Drawing, look, reporter
from continua.cli.run import finite, planned_duration, set_threads, terminated_as_interrupted
from continua.comparing import Result, Variant, earlier_run, result_of, variants
from continua.errors import InstabilityError
from continua.io import RunFolder
from continua.scene.build import describe

HEADINGS = ["energy [J]", "change", "momentum error", "angular error", "steps", "seconds", ""]


@dataclass
class Options:
    """What the runs have in common."""

    frames: int | None = None
    threads: int | None = None
    film: bool = True
    overwrite: bool = False
    json: bool = False
    quiet: bool = False

    @property
    def stream(self) -> IO[str]:
        """Where text for people goes: stdout belongs to the JSON object if one was asked for."""
        return sys.stderr if self.json else sys.stdout


def compare(scene: str, over: str, output: Path | None, options: Options, *, overrides: list[str]) -> int:
    """Run all variants, draw them together and print what they came to."""
    set_threads(options.threads)
    chosen = variants(scene, over, overrides, output)
    for variant in chosen:
        plan_length(variant, options)
    try:
        for number, variant in enumerate(chosen, 1):
            complete(variant, f"{number}/{len(chosen)} {variant.label}", options)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return INTERRUPTED
    results = [result_of(variant) for variant in chosen]
    files = draw(chosen, options)
    report(over.partition("=")[0].strip(), results, files, options)
    return 0 if all(result.status == "finished" for result in results) else FAILED


def plan_length(variant: Variant, options: Options) -> None:
    """Apply --frames."""
    if options.frames is not None:
        variant.loaded.scene.run.duration = options.frames / variant.loaded.scene.run.fps


def complete(variant: Variant, heading: str, options: Options) -> None:
    """Run a variant, or what is left of it; one that becomes unstable is a result like any other."""
    run = variant.loaded.scene.run
    done = None if options.overwrite else earlier_run(variant)
    if done is not None and done.status == "finished" and planned_duration(done) >= run.duration:
        say(f"{heading}: finished already", options)
        return
    say(heading, options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulation = variant.loaded.scene.build()
    progress = display(options.stream, quiet=options.quiet)
    try:
        with progress, terminated_as_interrupted():
            simulation.run(
                run.duration,
                fps=run.fps,
                output=variant.folder,
                overwrite=options.overwrite,
                resume=not options.overwrite,
                checkpoint_interval=run.checkpoint_interval,
                progress=progress,
                description=describe(variant.loaded),
            )
    except InstabilityError as error:
        print(f"{variant.label}: {error}", file=sys.stderr)


def draw(chosen: list[Variant], options: Options) -> list[Path]:
    """Still, film and plots next to the folders of the runs."""
    from continua.render.comparison import SideBySide, energy_plot, momentum_plot

    target = chosen[0].folder.parent
    runs = {variant.label: variant.folder for variant in chosen}
    tables = {label: RunFolder(folder).diagnostics() for label, folder in runs.items()}
    depth = "" if chosen[0].loaded.scene.dimension == 3 else "/m"
    files = [
        energy_plot(tables, target / "energy.png", depth=depth),
        momentum_plot(tables, target / "momentum.png", depth=depth),
    ]
    tiles = SideBySide(runs, **look(RunFolder(chosen[0].folder), Drawing()))
    try:
        files.append(tiles.still(target / "still.png"))
        if options.film:
            progress = reporter("drew", options.quiet, options.stream)
            files.append(tiles.film(target / "film.mp4", progress))
    finally:
        tiles.close()
    return files


def report(key: str, results: list[Result], files: list[Path], options: Options) -> None:
    """The table, and what to open."""
    if options.json:
        rows = [finite({**asdict(result), "folder": str(result.folder)}) for result in results]
        print(json.dumps({"over": key, "runs": rows, "files": [str(file) for file in files]}))
        return
    for line in text.columns([[key, *HEADINGS], *map(row, results)]):
        print(line)
    for file in files:
        say(f"wrote {file}", options)


def row(result: Result) -> list[str]:
    """Cells of one run."""
    failed = "" if result.status == "finished" else f"{result.status} at t = {result.time:.4g} s"
    errors = [
        "-" if error is None else f"{error:.1e}" for error in (result.momentum_error, result.angular_error)
    ]
    energies = [f"{result.energy:.4g}", f"{result.energy_change:+.4g}"]
    return [result.label, *energies, *errors, str(result.steps), f"{result.seconds:.1f}", failed]


def say(words: str, options: Options) -> None:
    """Print unless quiet."""
    if not options.quiet:
        print(words, file=options.stream, flush=True)
