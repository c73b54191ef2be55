"""A validation case: numbers measured in a small simulation, beside references this project did not produce.

Every number has a gate, and every case a negative control: the same measurement with one thing wrong on purpose,
which must fall outside all of its gates.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from continua.errors import InstabilityError


@dataclass(frozen=True)
class Measurement:
    """One number and the interval [lower, upper] it must lie in."""

    quantity: str  # what it is, with its unit
    value: float
    reference: float  # nan where the reference is the whole interval
    lower: float
    upper: float
    scale: float = 1.0  # size that counts as an error of 1
    relative: bool = False  # whether the error is a fraction of a size
    gate: str = ""  # the interval in words

    @property
    def error(self) -> float:
        """Difference from the reference, over the scale."""
        return (self.value - self.reference) / self.scale

    @property
    def gated(self) -> bool:
        """Whether there is an interval at all."""
        return math.isfinite(self.lower) or math.isfinite(self.upper)

    @property
    def passed(self) -> bool:
        """Whether the value lies in the interval; nan never does."""
        return bool(self.lower <= self.value <= self.upper)


def near(
    quantity: str, value: float, reference: float, gate: float, scale: float | None = None
) -> Measurement:
    """Within `gate` times `scale` of the reference; the scale is the reference itself if left out."""
    scale = abs(reference) if scale is None else scale
    band = gate * scale
    return Measurement(
        quantity, value, reference, reference - band, reference + band, scale, True, f"+-{100 * gate:g} %"
    )


def at_most(quantity: str, value: float, gate: float, reference: float = 0.0) -> Measurement:
    """No greater than the gate; for errors, whose reference is zero."""
    return Measurement(quantity, value, reference, -math.inf, gate, gate=f"<= {gate:g}")


def at_least(quantity: str, value: float, gate: float, reference: float = math.nan) -> Measurement:
    """No smaller than the gate; for orders of convergence."""
    return Measurement(quantity, value, reference, gate, math.inf, gate=f">= {gate:g}")


def between(quantity: str, value: float, lower: float, upper: float) -> Measurement:
    """In a published range."""
    return Measurement(quantity, value, math.nan, lower, upper, gate=f"{lower:g} to {upper:g}")


def reported(quantity: str, value: float, reference: float = math.nan) -> Measurement:
    """Printed only, without a gate."""
    scale = abs(reference) if reference else 1.0
    return Measurement(quantity, value, reference, -math.inf, math.inf, scale, True, "none")


Measure = Callable[[bool, bool], list[Measurement]]


@dataclass(frozen=True)
class Case:
    """What is simulated, where the reference comes from, and how to measure.

    `measure(quick, wrong)` returns the measurements: `quick` asks for the coarse version that tests run, `wrong` for
    the negative control.
    """

    name: str
    title: str
    source: str
    cost: str  # of the full version
    control: str  # what is wrong in the negative control
    measure: Measure


@dataclass
class Outcome:
    """What running a case gave."""

    case: Case
    measurements: list[Measurement] = field(default_factory=list)
    control: list[Measurement] = field(default_factory=list)
    seconds: float = 0.0
    failure: str = ""  # why the simulation could not finish
    control_failure: str = ""

    @property
    def inside(self) -> bool:
        """Every number lies inside its gate."""
        return not self.failure and bool(self.measurements) and all(m.passed for m in self.measurements)

    @property
    def control_outside(self) -> bool:
        """The negative control lies outside every gate it was held to, or broke down."""
        gated = [m for m in self.control if m.gated]
        return bool(self.control_failure) or (bool(gated) and not any(m.passed for m in gated))

    @property
    def passed(self) -> bool:
        """The numbers are right and the gates can tell right from wrong."""
        return self.inside and self.control_outside

    def record(self) -> dict[str, Any]:
        """Plain data for machines; infinite bounds and missing references are None."""
        return {
            "name": self.case.name,
            "title": self.case.title,
            "source": self.case.source,
            "passed": self.passed,
            "seconds": self.seconds,
            "failure": self.failure or None,
            "measurements": [_record(m) for m in self.measurements],
            "control": {
                "wrong": self.case.control,
                "fails": self.control_outside,
                "failure": self.control_failure or None,
                "measurements": [_record(m) for m in self.control],
            },
        }


def _record(m: Measurement) -> dict[str, Any]:
    numbers = {
        "value": m.value,
        "reference": m.reference,
        "error": m.error,
        "lower": m.lower,
        "upper": m.upper,
    }
    finite = {name: float(value) if math.isfinite(value) else None for name, value in numbers.items()}
    return {"quantity": m.quantity, **finite, "gate": m.gate, "passed": m.passed}


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
