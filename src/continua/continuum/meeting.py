"""One step of all continua: each to its grid, contact where they meet, each back to its bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.integrators import NodeStepper, Stepper, StepResult, StepSetting

Array = NDArray[np.float64]


@dataclass
class MeetingResult:
    """What a step of all continua found out; nothing is in force until the bodies accept it."""

    results: dict[str, StepResult]  # by continuum
    contact_impulses: Array  # (pairs, 3) [N s] that the first continuum of every pair got

    @property
    def impulses(self) -> Array:
        """That obstacles gave, (obstacles, 3) [N s]."""
        found = [result.impulses for result in self.results.values()]
        return found[0] if len(found) == 1 else np.sum(found, axis=0)

    @property
    def max_strain(self) -> float:
        """Largest |dt grad v|."""
        return max(result.max_strain for result in self.results.values())


def advance(steppers: Mapping[str, Stepper], step: StepSetting) -> MeetingResult:
    """One step of the sorted fields of all continua."""
    results = {name: StepResult(impulses=np.zeros((step.obstacles.count, 3))) for name in steppers}
    for name, stepper in steppers.items():
        stepper.to_grid(step, results[name])
    for name, stepper in steppers.items():
        stepper.meet_obstacles(step, results[name])
    for name, stepper in steppers.items():
        stepper.to_bodies(step, results[name])
    return MeetingResult(results, np.zeros((0, 3)))
