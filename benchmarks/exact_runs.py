"""Steps of simulations with `ct.ExactContact`, for `exact_contact.py`: what each took, and whether surfaces cross."""

from __future__ import annotations

import cProfile
import math
import statistics
import time
from collections.abc import Sequence

import ipctk
import numpy as np
from numpy.typing import NDArray

import continua as ct
from continua.errors import ContinuaError

Array = NDArray[np.float64]
OPERATORS = {  # ours, and the columns of the diagnostics they are
    "predict": "seconds_predict",
    "grid": "exact_seconds_grid",
    "impulses": "exact_seconds_impulses",
    "follow": "exact_seconds_follow",
    "certify": "exact_seconds_certify",
}
CONTACT, ELASTIC = ("grid", "impulses", "certify"), ("predict", "follow")
COUNTS = {name: f"exact_{name}" for name in ("hits", "rounds", "repelled", "zones")}


class Run:
    """Our side: steps of a simulation, and what each took."""

    def __init__(self, sim: ct.Simulation, profiler: cProfile.Profile | None = None) -> None:
        self.sim, self.profiler = sim, profiler
        self.steps: list[dict[str, float]] = []
        self.stopped = ""  # by which step, and why
        self.moving = momentum_scale(sim)
        self.first = sim.diagnostics()
        self._last = self.first

    def step(self, *, timed: bool = True) -> None:
        """Once; after a failure, which `stopped` tells, no more."""
        if self.stopped:
            return
        if self.profiler and timed:
            self.profiler.enable()
        begin = time.perf_counter()
        try:
            self.sim.step()
        except ContinuaError as error:
            self.stopped = f"step {self.sim.steps + 1}: {error}"
            return
        finally:
            wall = time.perf_counter() - begin
            if self.profiler:
                self.profiler.disable()
        row, before = self.sim.diagnostics(), self._last
        columns = {**OPERATORS, **COUNTS}
        found = {name: row.get(key, 0.0) - before.get(key, 0.0) for name, key in columns.items()}
        found |= {"wall": wall, "other": wall - sum(found[name] for name in OPERATORS)}
        self._last = row
        if timed:
            self.steps.append(found)

    def mean(self, name: str) -> float:
        """Per step."""
        return statistics.fmean(step[name] for step in self.steps) if self.steps else math.nan

    def middle(self, names: Sequence[str]) -> float:
        """Median over the steps of the sum of some columns."""
        sums = [sum(step[name] for name in names) for step in self.steps]
        return statistics.median(sums) if sums else math.nan

    def total(self, name: str) -> float:
        """Over all steps that were timed."""
        return sum(step[name] for step in self.steps)

    @property
    def drift(self) -> float:
        """Change of momentum over the sum of those of all points at the start."""
        change = [self._last[f"momentum_{a}"] - self.first[f"momentum_{a}"] for a in "xyz"]
        return float(np.abs(change).max()) / self.moving

    @property
    def energy_left(self) -> float:
        """Over that at the start."""
        return float(self._last["total"] / self.first["total"])

    def places(self) -> Array:
        """Of all points."""
        return np.concatenate([body.x for body in self.sim.world.mesh_bodies])


def momentum_scale(sim: ct.Simulation) -> float:
    """Sum of the momenta of all points, whatever their directions [kg m/s]."""
    return float(sum((body.mass[:, None] * np.abs(body.v)).sum() for body in sim.world.mesh_bodies))


class Intersections:
    """Whether surfaces pass through each other, by `ipctk`: not by what is measured."""

    def __init__(self, sim: ct.Simulation) -> None:
        bodies = sim.world.mesh_bodies
        first = np.cumsum([0, *(len(body) for body in bodies)])
        facets = np.concatenate([body.surface + n for body, n in zip(bodies, first, strict=False)])
        faces = np.asfortranarray(facets, np.int32)
        rest = np.asfortranarray(np.concatenate([body.rest for body in bodies]))
        self._mesh = ipctk.CollisionMesh.build_from_full_mesh(rest, ipctk.edges(faces), faces)

    def at(self, x: Array) -> bool:
        """At positions of all points."""
        places = self._mesh.vertices(np.asfortranarray(x))
        return bool(ipctk.has_intersections(self._mesh, places, ipctk.LBVH()))
