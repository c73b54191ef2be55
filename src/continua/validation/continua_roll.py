"""A disc of one continuum on a slope of another: it rolls with 2/3 g sin, less what the steps of its rim take."""

from __future__ import annotations

from dataclasses import replace

from continua.validation.case import Case, Measurement, at_least
from continua.validation.continua_scenes import OFFSETS, Slab, roll_ratio

GATES = {4: 0.82, 8: 0.93, 16: 0.97}  # of the rigid acceleration, by radius [cells]


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    found = []  # large discs swing up and down longer before they roll evenly
    for radius in (4,) if quick else GATES:
        duration = 0.5 * radius**0.5 / 2
        slab = Slab(
            length=10 + 22 * duration**2 + 2 * radius,
            behind=radius + 2,
            slope=20,
            friction=0.5,
            separate=not wrong,
        )
        places = OFFSETS[:2] if quick or radius > 4 else OFFSETS
        ratio = min(roll_ratio(replace(slab, offset=o), radius, duration) for o in places)
        found.append(
            at_least(f"radius of {radius} cells: acceleration over a rigid disc's", ratio, GATES[radius], 1.0)
        )
    return found


CASE = Case(
    name="continua-roll",
    title="Disc of one continuum that rolls on another",
    source="rigid disc, closed form",
    kind="closed form",
    cost="5 s",
    control="one continuum for both",
    measure=measure,
)
