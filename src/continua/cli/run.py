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


def resume(folder: Path, options: Options) -> int:
    """Continue a run from its last checkpoint, or from the start if it has none."""
    check_length(options)
    set_threads(options.threads)
    from continua.io import RunFolder
    from continua.scene.build import rebuild

    record = RunFolder(folder)
    loaded = rebuild(record.description, f"{folder}/run.json")
    options.output = folder
    if options.frames is None and options.duration is None:
        options.frames = record.description.get("frames")
    done = record.frame_indices()
    if record.status == "finished" and done and done[-1] >= planned_frames(loaded, options):
        already_finished(folder, done[-1], options)
        return 0
    return simulate(loaded, options)


def already_finished(folder: Path, frames: int, options: Options) -> None:
    """Nothing is left to do; say how to go on all the same."""
    if options.json:
        print(json.dumps({"status": "finished", "output": str(folder), "frames": frames}))
    elif not options.quiet:
        more = f"continua resume {shlex.quote(str(folder))} --frames {2 * frames}"
        print(f"{folder} is finished ({text.plural(frames, 'frame')}); to go on beyond its end: {more}")


def check_length(options: Options) -> None:
    """--frames and --duration say the same thing in two ways."""
    if options.frames is not None and options.duration is not None:
        raise SceneError("give either --frames or --duration, not both")
    if options.duration is not None and not 0 < options.duration < float("inf"):
        raise SceneError(f"--duration is {options.duration:g}, must be a number of seconds > 0")


def planned_frames(loaded: LoadedScene, options: Options) -> int:
    """Frames after the initial one: from the command line, or else from the scene."""
    if options.frames is not None:
        return options.frames
    if options.duration is not None:
        return max(1, round(options.duration * loaded.scene.run.fps))
    return loaded.scene.run.frames


def set_threads(threads: int | None) -> None:
    """Number of threads of the core; all cores unless told otherwise."""
    if threads is not None:
        from continua._core import set_threads

        set_threads(threads)


def simulate(loaded: LoadedScene, options: Options) -> int:
    """Build, summarise, run, report."""
    from continua.cli.summary import describe
    from continua.scene.build import describe as record

    scene = loaded.scene
    frames = planned_frames(loaded, options)
    scene.run.duration = frames / scene.run.fps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are part of the summary
        simulation = scene.build()
    if not options.quiet:
        print(describe(loaded, simulation, frames, options.output), file=options.stream, flush=True)
    progress = display(options.stream, quiet=options.quiet)
    try:
        with progress, terminated_as_interrupted():
            simulation.run(
                frames=frames,
                fps=scene.run.fps,
                output=options.output,
                overwrite=options.overwrite,
                resume=options.resume,
                checkpoint_interval=scene.run.checkpoint_interval,
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
def terminated_as_interrupted() -> Iterator[None]:
    """Job schedulers ask with SIGTERM before they kill: stop as for Ctrl-C, with a checkpoint."""
    previous = signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def interrupted(loaded: LoadedScene, simulation: Simulation, progress: Silent, options: Options) -> int:
    """Say how to go on."""
    if options.json:
        print_json("interrupted", loaded, simulation, progress, options)
    command = f"continua resume {shlex.quote(str(options.output))}"
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
        "vertices": sum(map(len, simulation.world.mesh_bodies)),
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
