"""One step of all continua: each to its grid, contact where they meet, each back to its bodies."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from continua.contact.fields import FieldContact, PairRule
from continua.integrators import NodeStepper, Stepper, StepResult, StepSetting

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two continua that may meet, a before b by name."""

    a: str
    b: str
    friction: float = 0.0
    slack: float = 0.25  # [cells]
    passable: bool = True  # without slack: whether they could pass each other in a long step

    @property
    def label(self) -> str:
        """Name of the pair in diagnostics."""
        return f"{self.a}_{self.b}"


@dataclass
class MeetingResult:
    """What a step of all continua found out; nothing is in force until the bodies accept it."""

    results: dict[str, StepResult]  # by continuum
    impulses: Array  # that obstacles gave, (obstacles, 3) [N s]
    met: dict[str, Array] = field(
        default_factory=dict
    )  # pair -> impulse (3,) [N s] that its first continuum got

    @property
    def max_strain(self) -> float:
        """Largest |dt grad v|."""
        return max(result.max_strain for result in self.results.values())


def advance(steppers: Mapping[str, Stepper], pairs: Sequence[Pair], step: StepSetting) -> MeetingResult:
    """One step of the sorted fields of all continua."""
    results = {name: StepResult.of(step) for name in steppers}
    result = MeetingResult(results, np.zeros((step.obstacles.count, 3)))
    for name, stepper in steppers.items():
        stepper.to_grid(step, result.results[name])
    _meet(steppers, pairs, step, result)
    for name, stepper in steppers.items():
        stepper.to_bodies(step, result.results[name])
        result.impulses += result.results[name].impulses
    return result


def _meet(
    steppers: Mapping[str, Stepper], pairs: Sequence[Pair], step: StepSetting, result: MeetingResult
) -> None:
    """Contact of continua with each other and with obstacles, on their velocities after forces and solves.

    Where a solve has dealt with obstacles they act again only on a continuum that meets another one.
    """
    every = [stepper for stepper in steppers.values() if isinstance(stepper, NodeStepper)]
    names = [stepper.name for stepper in every]
    some = [pair for pair in pairs if pair.a in names and pair.b in names]
    solved = all(stepper.solves_obstacles for stepper in every)
    if not some and (solved or not len(step.obstacles)):
        return
    start = time.perf_counter()
    fields = [stepper.contact_field(stepper.nodes, step.wall_friction(stepper.name)) for stepper in every]
    rules = [PairRule(names.index(p.a), names.index(p.b), p.friction, p.slack) for p in some]
    contact, field = FieldContact(), every[0].field
    impulses = contact.resolve(fields, rules, field.lattice, field.degree, step.dt, step.obstacles)
    result.met = {pair.label: impulse for pair, impulse in zip(some, impulses, strict=True)}
    result.impulses += step.obstacles.per_obstacle(contact.wall_impulses)
    every[0].seconds["contact"] += time.perf_counter() - start
