"""The run loop: frames at exact times, checkpoints, diagnostics, progress, clean stops."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter

from continua._version import __version__
from continua.contact.colliders import AnyCollider
from continua.errors import InstabilityError, SetupError
from continua.io import BodyFrame, Frame, Recorder, machine
from continua.summary import Progress

if TYPE_CHECKING:
    from continua.simulation import Simulation

REPORT_EVERY = 0.2  # seconds between progress reports within a frame
CHECKPOINT_SECONDS = 120.0  # a checkpoint is also written after that much work


@dataclass(frozen=True)
class RunPlan:
    """How many frames, how far apart [1/s], and frames between checkpoints."""

    frames: int
    fps: float
    checkpoint_interval: int

    @classmethod
    def of(cls, duration: float | None, frames: int | None, fps: float, interval: int) -> RunPlan:
        """From a duration [s] or a number of frames."""
        if not (np.isfinite(fps) and fps > 0):
            raise SetupError(f"fps must be positive, not {fps}")
        if interval < 1:
            raise SetupError(f"checkpoint_interval must be at least 1 frame, not {interval}")
        if frames is None:
            if duration is None or not (np.isfinite(duration) and duration > 0):
                raise SetupError("a run needs a positive duration in seconds or a number of frames")
            frames = max(1, round(duration * fps))
        if frames < 1:
            raise SetupError(f"frames must be at least 1, not {frames}")
        return cls(frames, fps, interval)


class _Meter:
    """Speed of the run and reports to whoever watches."""

    def __init__(
        self, sim: Simulation, plan: RunPlan, watch: Callable[[Progress], None] | None, first: int
    ) -> None:
        self.sim, self.plan, self.watch, self.first = sim, plan, watch, first
        self.begin = self.last = time.perf_counter()
        self.steps = self.particle_steps = self.vertex_steps = 0

    def step(self, frame: int, *, force: bool = False) -> None:
        now = time.perf_counter()
        if self.watch is None or (not force and now - self.last < REPORT_EVERY):
            return
        self.last = now
        seconds = max(now - self.begin, 1e-9)
        done = max(frame - self.first, 0)
        left = self.plan.frames - frame
        self.watch(
            Progress(
                frame=frame,
                frames=self.plan.frames,
                time=self.sim.time,
                duration=self.plan.frames / self.plan.fps,
                dt=self.sim.dt,
                bound=str(self.sim.bound),
                steps=self.sim.steps,
                steps_per_second=self.steps / seconds,
                particle_steps_per_second=self.particle_steps / seconds,
                vertex_steps_per_second=self.vertex_steps / seconds,
                eta=seconds / done * left if done else float("nan"),
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
    progress: Callable[[Progress], None] | None,
    after_step: Callable[[Simulation], None] | None,
    description: dict[str, Any],
) -> None:
    """See `Simulation.run`."""
    if not sim.bodies:
        raise SetupError("there is nothing to simulate; add a body or an emitter first")
    recorder = None
    first, start = 0, sim.time
    if output is not None:
        recorder = Recorder(
            output, description=_describe(sim, plan, description), overwrite=overwrite, resume=resume
        )
        if recorder.resumed is not None:
            state = dict(recorder.resumed.state)
            start = float(state.pop("run_start"))
            sim.load_state(state)
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
    meter = _Meter(sim, plan, progress, first)
    saved = time.perf_counter()

    def save(frame: int) -> None:
        nonlocal saved
        if recorder is not None:
            state = sim.state() | {"run_start": np.array(start)}
            recorder.checkpoint(state, step=sim.steps, frame=frame, time=sim.time)
        saved = time.perf_counter()

    def record(frame: int) -> None:
        if recorder is not None:
            recorder.frame(frame_of(sim, frame))
            recorder.diagnostics({"frame": frame} | sim.diagnostics())

    if recorder is not None and recorder.resumed is None:
        record(0)
        save(0)
    for frame in range(first + 1, plan.frames + 1):
        end = start + frame / plan.fps
        while sim.time < end:
            remaining = end - sim.time
            dt = sim.step(remaining)
            meter.steps += 1
            meter.particle_steps += sim.particles
            meter.vertex_steps += sum(map(len, sim.world.mesh_bodies))
            if dt >= remaining:
                sim.time = end  # exactly, so that rounding does not add up
            if after_step is not None:
                after_step(sim)
            meter.step(frame - 1)
            if stop.is_set():
                save(frame - 1 if sim.time < end else _finish_frame(record, frame))
                raise KeyboardInterrupt
        record(frame)
        if (
            frame % plan.checkpoint_interval == 0
            or frame == plan.frames
            or time.perf_counter() - saved > CHECKPOINT_SECONDS
        ):
            save(frame)
        meter.step(frame, force=True)


def _finish_frame(record: Callable[[int], None], frame: int) -> int:
    record(frame)
    return frame


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


def _describe(sim: Simulation, plan: RunPlan, extra: dict[str, Any]) -> dict[str, Any]:
    adapter: TypeAdapter[Any] = TypeAdapter(AnyCollider)
    return {
        "version": __version__,
        "machine": machine(),
        "seed": sim.world.seed,
        "dimension": sim.dimension,
        "dx": sim.dx,
        "precision": sim.world.precision,
        "fps": plan.fps,
        "frames": plan.frames,
        "bodies": [
            {
                "name": b.name,
                "material": b.label,
                "particles": len(b),
                "continuum": sim.world.continuum_of(b),
            }
            | b.described()
            for b in sim.bodies
        ],
        "colliders": [adapter.dump_python(c, mode="json", exclude={"motion"}) for c in sim.colliders],
        "scene": None,
        "source": None,
    } | extra
