"""Run a gallery scene, watch it on the way and measure it: the one way for tests and for tables of all scenes.

A scene file has `check(run)`, which returns numbers with gates. What must hold during the whole run, and not only at
its end, is watched: `watch(sim)`, if the file has one, returns numbers by name, is called at the start and after every
step, and `check` finds all of them in `run.seen`.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from continua.errors import InstabilityError, SceneError
from continua.scene import catalogue
from continua.scene.load import load_scene, locate
from continua.scene.models import Scene
from continua.simulation import Simulation
from continua.validation.case import Measurement

Watch = Callable[[Simulation], dict[str, float]]


@dataclass
class SceneRun:
    """A simulation at the end of its run, and what was seen on the way."""

    sim: Simulation
    start: dict[str, float]  # its diagnostics at the start
    seen: dict[
        str, NDArray[np.float64]
    ]  # what `watch` returned at the start and after every step, and "time" [s]

    def most(self, name: str) -> float:
        """Largest value of a watched number during the run; nan if it ever was."""
        return float(self.seen[name].max())

    def least(self, name: str) -> float:
        """Smallest value of a watched number during the run; nan if it ever was."""
        return float(self.seen[name].min())

    def growth(self, name: str) -> float:
        """By which part of its first value a watched number ever was above it."""
        return self.most(name) / float(self.seen[name][0]) - 1


@dataclass
class SceneReport:
    """What running a scene gave."""

    name: str
    small: bool  # the version that tests run
    measurements: list[Measurement] = field(default_factory=list)  # quantity, value, gate, passed
    failure: str = ""  # why the simulation could not finish; there are no measurements then
    seconds: float = 0.0  # that run and check took
    run: SceneRun | None = None  # for those who want to look further

    @property
    def passed(self) -> bool:
        """The run came to its end and every number is inside its gate."""
        return not self.failure and bool(self.measurements) and all(m.passed for m in self.measurements)

    @property
    def failed(self) -> list[str]:
        """Quantities outside of their gates."""
        return [m.quantity for m in self.measurements if not m.passed]

    def __getitem__(self, quantity: str) -> float:
        """Value of a measured quantity."""
        return next(m.value for m in self.measurements if m.quantity == quantity)


def module_of(name: str) -> ModuleType:
    """The file of a gallery scene as a module: `scene`, `SMALL`, `WRONG`, `check`, perhaps `watch`."""
    path = locate(name)[1]
    if path != catalogue.path(name):
        raise SceneError(f"{name} is not a gallery scene: give one of the names that continua gallery lists")
    return importlib.import_module(f"continua.gallery.{path.stem}")


def watched_run(scene: Scene, watch: Watch | None = None) -> SceneRun:
    """Simulate a scene to its end with the loop of `continua run`, watching it."""
    sim = scene.build()
    start = sim.diagnostics()
    moments: list[dict[str, float]] = []

    def look(sim: Simulation) -> None:
        moments.append({"time": sim.time} | (watch(sim) if watch else {}))

    look(sim)
    sim.run(scene.run.duration, fps=scene.run.fps, after_step=look)
    return SceneRun(sim, start, {key: np.array([now[key] for now in moments]) for key in moments[0]})


def run_scene(name: str, *, small: bool = False, overrides: Sequence[str] = ()) -> SceneReport:
    """Run a gallery scene, with `key.path=value` overrides after those of its small version, and check it."""
    module, report, begin = module_of(name), SceneReport(name, small), time.perf_counter()
    scene = load_scene(name, [*(module.SMALL if small else ()), *overrides])
    try:
        report.run = watched_run(scene, getattr(module, "watch", None))
        report.measurements = module.check(report.run)
    except InstabilityError as error:
        report.failure = str(error)
    report.seconds = time.perf_counter() - begin
    return report
