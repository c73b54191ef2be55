"""`continua run` and `continua resume`."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from continua.cli import text
from continua.cli.failures import INTERRUPTED, explain
from continua.cli.progress import Silent, display, throughput
from continua.errors import SceneError

if TYPE_CHECKING:
    from continua.io import RunFolder
    from continua.plan import RunPlan
    from continua.scene import LoadedScene
    from continua.simulation import Simulation


@dataclass
class Options:
    """What `run` and `resume` have in common."""

    output: Path = Path()
    frames: int | None = None
    duration: float | None = None
    threads: int | None = None
    json: bool = False
    quiet: bool = False
    overwrite: bool = False
    resume: bool = False
    accept_changes: bool = False

    @property
    def stream(self) -> IO[str]:
        """Where text for people goes: stdout belongs to the JSON object if one was asked for."""
        return sys.stderr if self.json else sys.stdout


def run(scene: str, output: Path | None, options: Options, *, overrides: list[str], film: bool) -> int:
    """Simulate a scene from its start."""
    check_length(options)
    set_threads(options.threads)
    from continua.scene import open_scene

    loaded = open_scene(scene, overrides)
    options.output = output or Path("out") / loaded.name
    code = simulate(loaded, options)
    if film and code == 0:
        from continua.cli.results import Drawing, render

        render(options.output, None, Drawing(), quiet=options.quiet, stream=options.stream)
    return code


def resume(folder: Path, options: Options, *, scene: Path | None = None, trust: bool = False) -> int:
    """Continue a run from its last checkpoint, or from the start if it has none.

    The scene comes from data, from the file that the user names, or from the stored code if the user trusts it.
    """
    check_length(options)
    set_threads(options.threads)
    from continua.io import RunFolder
    from continua.scene.build import changed_file, rebuild

    record = RunFolder(folder)
    loaded = rebuild(record.description, f"{folder}/run.json", file=scene, trust=trust)
    options.output = folder
    if options.frames is None and options.duration is None:
        options.duration = planned_duration(record)
    plan = plan_of(loaded, options)
    if record.status == "finished" and plan.duration <= planned_duration(record):
        already_finished(record, options)
        return 0
    changed = changed_file(record.description)
    if changed is not None and scene is None and not options.quiet:
        print(
            f"note: {changed} has changed since the run began, which goes on with the scene it began with",
            file=sys.stderr,
        )
    return simulate(loaded, options)


def planned_duration(run: RunFolder) -> float:
    """How long a run was to last [s]."""
    about = run.description
    stored = about.get("duration") or about.get("frames", 0) / (about.get("fps") or 24.0)
    return float(stored) or 1.0


def already_finished(run: RunFolder, options: Options) -> None:
    """Nothing is left to do; say how to go on all the same."""
    if options.json:
        frames = max(run.frame_indices(), default=0)
        print(json.dumps({"status": "finished", "output": str(run.path), "frames": frames}))
    elif not options.quiet:
        duration = planned_duration(run)
        more = f"continua resume {shlex.quote(str(run.path))} --duration {2 * duration:g}"
        print(f"{run.path} is finished ({duration:g} s); to go on beyond its end: {more}")


def check_length(options: Options) -> None:
    """--frames and --duration say the same thing in two ways."""
    if options.frames is not None and options.duration is not None:
        raise SceneError("give either --frames or --duration, not both")
    if options.duration is not None and not 0 < options.duration < float("inf"):
        raise SceneError(f"--duration is {options.duration:g}, must be a number of seconds > 0")


def plan_of(loaded: LoadedScene, options: Options) -> RunPlan:
    """How long to run: from the command line, or else from the scene."""
    from continua.plan import RunPlan

    run = loaded.scene.run
    duration = options.duration if options.duration is not None else run.duration
    if options.frames is not None:
        return RunPlan.of(None, options.frames, run.fps, run.checkpoint_interval)
    return RunPlan.of(duration, None, run.fps, run.checkpoint_interval)


def set_threads(threads: int | None) -> None:
    """Number of threads of the core; all cores unless told otherwise."""
    if threads is not None:
        from continua.concurrency import set_threads

        set_threads(threads)


def simulate(loaded: LoadedScene, options: Options) -> int:
    """Build, summarise, run, report."""
    from continua.cli.summary import describe
    from continua.scene.build import describe as record

    scene = loaded.scene
    plan = plan_of(loaded, options)
    scene.run.duration = plan.duration
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are part of the summary
        simulation = scene.build()
    if not options.quiet:
        print(describe(loaded, simulation, plan, options.output), file=options.stream, flush=True)
    progress = display(options.stream, quiet=options.quiet)
    try:
        with progress, terminated_as_interrupted(), warnings_as_notes(quiet=options.quiet):
            simulation.run(
                plan.duration,
                fps=plan.fps,
                output=options.output,
                overwrite=options.overwrite,
                resume=options.resume,
                accept_changes=options.accept_changes,
                checkpoint_interval=plan.checkpoint_interval,
                progress=progress,
                description=record(loaded),
            )
    except KeyboardInterrupt:
        return interrupted(loaded, simulation, progress, options)
    except Exception as error:
        if options.json:
            print_json("failed", loaded, simulation, progress, options, error=explain(error)[0])
        raise
    finished(loaded, simulation, progress, options)
    return 0


@contextmanager
def warnings_as_notes(*, quiet: bool) -> Iterator[None]:
    """Print what the library warns of as lines of text, not as code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "always", UserWarning)
        warnings.showwarning = lambda message, *where: print(f"note: {message}", file=sys.stderr)
        yield


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Job schedulers ask with SIGTERM before they kill: stop as for Ctrl-C, with a checkpoint."""
    previous = signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def interrupted(loaded: LoadedScene, simulation: Simulation, progress: Silent, options: Options) -> int:
    """Say how to go on."""
    from continua.scene.build import describe, holds_code

    if options.json:
        print_json("interrupted", loaded, simulation, progress, options)
    command = f"continua resume {shlex.quote(str(options.output))}"
    if holds_code(describe(loaded)):
        command += f" --scene {shlex.quote(str(loaded.path))}"
    print(f"interrupted at t = {simulation.time:.4g} s; continue with: {command}", file=sys.stderr)
    return INTERRUPTED


def finished(loaded: LoadedScene, simulation: Simulation, progress: Silent, options: Options) -> None:
    """Say what was done and what to do with it."""
    if options.json:
        print_json("finished", loaded, simulation, progress, options)
    elif not options.quiet:
        last, folder = progress.last, shlex.quote(str(options.output))
        if last is not None:
            print(
                f"done: frame {last.frame}, step {text.count(simulation.steps)}, "
                f"in {text.duration(last.seconds)} ({throughput(last)})"
            )
        print(f"  look at it: continua render {folder}\n  details:    continua info {folder}")


def print_json(
    status: str,
    loaded: LoadedScene,
    simulation: Simulation,
    progress: Silent,
    options: Options,
    **extra: Any,
) -> None:
    """The one object that --json prints."""
    last, steps = progress.last, simulation.steps
    report: dict[str, Any] = {
        "status": status,
        "name": loaded.name,
        "output": str(options.output),
        "frames": last.frame if last else 0,
        "time": simulation.time,
        "steps": steps,
        "particles": simulation.particles,
        "vertices": simulation.world.vertices,
        "mean_dt": simulation.time / steps if steps else None,
        "seconds": last.seconds if last else 0.0,
        "steps_per_second": last.steps_per_second if last else None,
        "particle_steps_per_second": last.particle_steps_per_second if last else None,
        "vertex_steps_per_second": last.vertex_steps_per_second if last else None,
        "diagnostics": finite(simulation.diagnostics()) if status != "failed" else {},
        **extra,
    }
    print(json.dumps(finite(report)), flush=True)


def finite(values: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN: what is not finite becomes null."""
    return {
        key: None if isinstance(value, float) and value - value != 0 else value
        for key, value in values.items()
    }
