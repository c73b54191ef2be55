"""The run loop: frames at exact times, checkpoints, diagnostics, progress, clean stops."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from continua.counters import counters, restore_counters
from continua.describing import describe
from continua.errors import InstabilityError, SetupError
from continua.io import BodyFrame, Checkpoint, Frame, Recorder, RunFolder
from continua.memory import check_run
from continua.plan import RunPlan
from continua.resuming import begun_anew, changes, check_times, refusal
from continua.summary import Progress

if TYPE_CHECKING:
    from continua.simulation import Simulation

REPORT_EVERY = 0.2  # seconds between progress reports within a frame
CHECKPOINT_SECONDS = 120.0  # a checkpoint is also written after that much work


class _Meter:
    """Speed of the run and reports to whoever watches."""

    def __init__(
        self, sim: Simulation, plan: RunPlan, watch: Callable[[Progress], None] | None, end: float
    ) -> None:
        self.sim, self.plan, self.watch = sim, plan, watch
        self.start, self.end = sim.time, end
        self.begin = self.last = time.perf_counter()
        self.steps = self.particle_steps = self.vertex_steps = 0

    def step(self, frame: int, *, force: bool = False) -> None:
        now = time.perf_counter()
        if self.watch is None or (not force and now - self.last < REPORT_EVERY):
            return
        self.last = now
        seconds = max(now - self.begin, 1e-9)
        done = self.sim.time - self.start
        left = self.end - self.sim.time
        self.watch(
            Progress(
                frame=frame,
                frames=self.plan.frames,
                time=self.sim.time,
                duration=self.plan.duration,
                dt=self.sim.dt,
                bound=str(self.sim.bound),
                steps=self.sim.steps,
                steps_per_second=self.steps / seconds,
                particle_steps_per_second=self.particle_steps / seconds,
                vertex_steps_per_second=self.vertex_steps / seconds,
                eta=seconds / done * left if done > 0 else float("nan"),
                seconds=seconds,
            )
        )


def run(
    sim: Simulation,
    plan: RunPlan,
    output: str | PathLike[str] | None,
    *,
    resume: bool,
    overwrite: bool,
    accept_changes: bool,
    progress: Callable[[Progress], None] | None,
    after_step: Callable[[Simulation], None] | None,
    description: dict[str, Any],
) -> None:
    """See `Simulation.run`."""
    if not sim.bodies:
        raise SetupError("there is nothing to simulate; add a body or an emitter first")
    check_run(sim, plan.duration)
    recorder = None
    first, start = 0, sim.time
    if output is not None:
        recorder = _recorder(sim, plan, output, description, overwrite, resume, accept_changes)
        if recorder.resumed is not None:
            state = dict(recorder.resumed.state)
            start = float(state.pop("run_start"))
            sim.load_state(state)
            restore_counters(sim, state)
            first = recorder.resumed.frame
    try:
        with _interruptible() as stop:
            _frames(sim, plan, recorder, first, start, progress, after_step, stop)
    except KeyboardInterrupt:
        if recorder is not None:
            recorder.finish("interrupted", "stopped by the user")
        raise
    except InstabilityError as error:
        if recorder is not None:
            last = recorder.last_checkpoint_path
            recorder.finish("failed", str(error))
            raise InstabilityError(f"{error}; the last good checkpoint is {last}") from None
        raise
    except Exception as error:
        if recorder is not None:
            recorder.finish("failed", str(error))
        raise
    if recorder is not None:
        recorder.finish("finished")


def _recorder(
    sim: Simulation,
    plan: RunPlan,
    output: str | PathLike[str],
    extra: dict[str, Any],
    overwrite: bool,
    resume: bool,
    accept_changes: bool,
) -> Recorder:
    """The folder of a run, new or continued; one that is not as it was goes on only if that is accepted."""
    description = describe(sim, plan, sim.time, extra)

    def approve(run: RunFolder, checkpoint: Checkpoint | None, lost: list[str]) -> dict[str, Any]:
        if checkpoint is None:
            return begun_anew(run, lost, accept_changes)
        start = float(checkpoint.state["run_start"])
        check_times(run, checkpoint, start, plan)
        found = changes(run, checkpoint, description)
        if found and not accept_changes:
            raise refusal(run, found)
        for one in lost:
            warnings.warn(
                f"{one.partition(';')[0]}; the run goes on from t = {checkpoint.time:.6g} s", stacklevel=7
            )
        for one in found:
            warnings.warn(f"the run goes on although {one}", stacklevel=7)
        accepted = [f"from t = {checkpoint.time:.6g} s on: {one}" for one in found]
        return {"start": start, "changes": [*run.description.get("changes", []), *accepted]}

    return Recorder(output, description=description, overwrite=overwrite, resume=resume, approve=approve)


def _frames(
    sim: Simulation,
    plan: RunPlan,
    recorder: Recorder | None,
    first: int,
    start: float,
    progress: Callable[[Progress], None] | None,
    after_step: Callable[[Simulation], None] | None,
    stop: threading.Event,
) -> None:
    meter = _Meter(sim, plan, progress, start + plan.duration)
    saved = time.perf_counter()

    def save(frame: int) -> None:
        nonlocal saved
        if recorder is not None:
            state = sim.state() | counters(sim) | {"run_start": np.array(start)}
            recorder.checkpoint(state, step=sim.steps, frame=frame, time=sim.time)
        saved = time.perf_counter()

    def record(frame: int) -> None:
        if recorder is not None:
            recorder.frame(frame_of(sim, frame))
            recorder.diagnostics({"frame": frame} | sim.diagnostics())

    def complete(frame: int) -> None:
        if plan.is_short(frame):  # a run that is to last longer goes on from within this frame
            save(frame - 1)
            record(frame)
            return
        record(frame)
        due = frame % plan.checkpoint_interval == 0 or frame == plan.frames
        if due or time.perf_counter() - saved > CHECKPOINT_SECONDS:
            save(frame)

    if recorder is not None and recorder.resumed is None:
        record(0)
        save(0)
    for frame in range(first + 1, plan.frames + 1):
        end = start + plan.end(frame)
        while sim.time < end:
            remaining = end - sim.time
            dt = sim.step(remaining)
            meter.steps += 1
            meter.particle_steps += sim.particles
            meter.vertex_steps += sim.world.vertices
            if dt >= remaining:
                sim.time = end  # exactly, so that rounding does not add up
            if after_step is not None:
                after_step(sim)
            meter.step(frame - 1)
            if stop.is_set() and sim.time < end:
                save(frame - 1)
                raise KeyboardInterrupt
        complete(frame)
        meter.step(frame, force=True)
        if stop.is_set():
            save(frame - plan.is_short(frame))
            raise KeyboardInterrupt


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Turn Ctrl-C into a flag that the loop looks at between steps; a second Ctrl-C stops at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handle(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, previous)


def frame_of(sim: Simulation, index: int) -> Frame:
    """What is seen at this moment: every body in order of particle id, and where the colliders are."""
    bodies = [
        BodyFrame(
            str(b.name), b.kind, b.label, b.fields(), *b.topology(), continuum=sim.world.continuum_of(b)
        )
        for b in sim.bodies
    ]
    poses = None
    if sim.colliders:
        found = [c.movement.pose(sim.time, sim.dimension) for c in sim.colliders]
        poses = (np.array([p.position for p in found]), np.array([p.rotation for p in found]))
    return Frame(index, sim.time, bodies, poses)
