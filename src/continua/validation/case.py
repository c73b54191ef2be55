"""A validation case: numbers measured in a small simulation, beside references, with gates that can fail.

Every number says what kind of reference it has, so that nobody takes agreement with ourselves for agreement with the
world. Every gate has a negative control: the same number with one thing wrong on purpose, which must fall outside; a
number for which there is none says why.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["closed form", "manufactured", "experiment", "comparison", "calibration"]
KINDS: dict[Kind, str] = {
    "closed form": "an exact solution, or a law such as a conservation law",
    "manufactured": "a motion that was chosen, with the force that it needs",
    "experiment": "published measurements, to which nothing was fitted",
    "comparison": "another program or other runs of our own: a prototype, explicit steps, schemes beside each other",
    "calibration": "measurements or other numbers to which something of ours was fitted",
}
VALIDATION: tuple[Kind, ...] = ("closed form", "manufactured", "experiment")  # the others are none


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
    kind: Kind | None = None  # of the reference; None: that of the case
    no_control: str = ""  # why the negative control does not measure it

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

    def of_kind(self, kind: Kind) -> Measurement:
        """The same with a reference of another kind than most of its case."""
        return replace(self, kind=kind)

    def without_control(self, reason: str) -> Measurement:
        """The same, which no negative control measures, with the reason."""
        return replace(self, no_control=reason)


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
    the negative control. What has a gate in the first must have one of the same quantity in the second, outside its
    gate, unless it says why not. A control that is nan or infinite counts only where the case expects a breakdown.
    """

    name: str
    title: str
    source: str
    kind: Kind  # of the references, but where a measurement says otherwise
    cost: str  # of the full version
    control: str  # what is wrong in the negative control
    measure: Measure
    breaks_down: bool = False  # numbers of the control may be nan or infinite; `control` says why


def count_kinds(kinds: Iterable[Kind]) -> str:
    """How often each kind occurs, in words."""
    counts = Counter(kinds)
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
