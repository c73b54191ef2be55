"""A block of one continuum on a slope of another: it slides with the acceleration g (sin - f cos)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from continua.validation.case import Case, Measurement, near
from continua.validation.continua_scenes import OFFSETS, G, Slab, slide_error

PLANE = Slab(length=28, slope=30)
SPACE = Slab(length=18, behind=3, d=3, slope=30)


def worst(slab: Slab, offsets: tuple[tuple[float, ...], ...], duration: float) -> float:
    """The largest error of the acceleration over all places of the grid, over g."""
    return max((slide_error(replace(slab, offset=o), duration) for o in offsets), key=abs)


def row(what: str, slab: Slab, error: float, gate: float) -> Measurement:
    """An acceleration [m/s^2] beside that of a rigid block."""
    t = np.radians(slab.slope)
    rigid = G * (np.sin(t) - slab.friction * np.cos(t))
    return near(f"{what}, f = {slab.friction:g}: acceleration [m/s^2]", rigid + G * error, rigid, gate, G)


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    offsets, found = OFFSETS[1:2] if quick else OFFSETS, []
    for friction in (0.2,) if quick else (0.0, 0.2, 0.4):
        for what, slab, duration, gate in (
            ("along the grid", PLANE, 0.4, 0.01),
            ("turned by 30 degrees", replace(PLANE, turn=30.0), 0.4, 0.01),
            ("3D", SPACE, 0.25, 0.02),
        ):
            slab = replace(slab, friction=friction, separate=not wrong)
            found.append(row(what, slab, worst(slab, offsets, duration), gate))
    return found


CASE = Case(
    name="continua-slide",
    title="Block of one continuum on a slope of another",
    source="Coulomb friction, closed form",
    kind="closed form",
    cost="20 s",
    control="one continuum for both",
    measure=measure,
)
