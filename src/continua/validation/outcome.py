"""Running a case: its numbers, its negative control, and whether the control covers every gate."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

from continua.errors import InstabilityError
from continua.validation.case import Case, Kind, Measurement


@dataclass
class Outcome:
    """What running a case gave."""

    case: Case
    measurements: list[Measurement] = field(default_factory=list)
    control: list[Measurement] = field(default_factory=list)
    seconds: float = 0.0
    failure: str = ""  # why the simulation could not finish
    control_failure: str = ""  # why that of the control could not, which is no proof of anything

    @property
    def gated(self) -> list[Measurement]:
        """The numbers that have a gate."""
        return [m for m in self.measurements if m.gated]

    @property
    def inside(self) -> bool:
        """Every number lies inside its gate."""
        return not self.failure and bool(self.gated) and all(m.passed for m in self.measurements)

    def control_of(self, m: Measurement) -> Measurement | None:
        """The same quantity in the negative control."""
        return next((wrong for wrong in self.control if wrong.quantity == m.quantity and wrong.gated), None)

    @property
    def complaints(self) -> list[str]:
        """What keeps the negative control from proving that every gate can fail, a sentence each."""
        if self.control_failure:
            return [f"the control broke down: {self.control_failure}"]
        found = []
        for m in self.gated:
            wrong = self.control_of(m)
            if wrong is None and not m.no_control:
                found.append(f"no control of {m.quantity}")
            elif wrong is not None and m.no_control:
                found.append(f"a control of {m.quantity}, which is said to have none")
            elif wrong is not None and not (math.isfinite(wrong.value) or self.case.breaks_down):
                found.append(f"the control of {m.quantity} is {wrong.value:g}, and the case expects a number")
            elif wrong is not None and wrong.passed:
                found.append(f"the control PASSES the gate of {m.quantity}: it cannot tell right from wrong")
        known = {m.quantity for m in self.gated}
        found += [
            f"the control measures {m.quantity}, the case does not"
            for m in self.control
            if m.gated and m.quantity not in known
        ]
        return found

    @property
    def passed(self) -> bool:
        """The numbers are right and the gates can tell right from wrong."""
        return self.inside and not self.complaints

    @property
    def kinds(self) -> list[Kind]:
        """Of the references of all numbers with a gate."""
        return [m.kind or self.case.kind for m in self.gated]

    def record(self) -> dict[str, Any]:
        """Plain data for machines; infinite bounds and missing references are None."""
        return {
            "name": self.case.name,
            "title": self.case.title,
            "source": self.case.source,
            "kind": self.case.kind,
            "passed": self.passed,
            "seconds": self.seconds,
            "failure": self.failure or None,
            "measurements": [self._row(m) for m in self.measurements],
            "control": {
                "wrong": self.case.control,
                "fails": not self.complaints,
                "failure": self.control_failure or None,
                "breaks_down": self.case.breaks_down,
                "complaints": self.complaints,
            },
        }

    def _row(self, m: Measurement) -> dict[str, Any]:
        wrong = self.control_of(m)
        numbers = {
            "value": m.value,
            "reference": m.reference,
            "error": m.error,
            "lower": m.lower,
            "upper": m.upper,
            "control": wrong.value if wrong else math.nan,
        }
        finite = {name: float(value) if math.isfinite(value) else None for name, value in numbers.items()}
        return {
            "quantity": m.quantity,
            "kind": m.kind or self.case.kind,
            **finite,
            "gate": m.gate,
            "gated": m.gated,
            "passed": m.passed,
            "controlled": wrong is not None and not wrong.passed,
            "no_control": m.no_control or None,
        }


def run_case(case: Case, *, quick: bool = False) -> Outcome:
    """Measure, then measure the negative control."""
    outcome, start = Outcome(case), time.perf_counter()
    try:
        outcome.measurements = case.measure(quick, False)
    except InstabilityError as error:
        outcome.failure = str(error)
    try:
        outcome.control = case.measure(quick, True)
    except InstabilityError as error:
        outcome.control_failure = str(error)
    outcome.seconds = time.perf_counter() - start
    return outcome
