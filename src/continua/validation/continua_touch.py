"""Two discs of two continua fly at each other (Sulsky et al. 1994): they touch when their rims do."""

from __future__ import annotations

from continua.materials import FixedCorotated
from continua.validation.case import Case, Measurement, at_least, at_most, near
from continua.validation.continua_scenes import OFFSETS, discs, meet

SOFT = FixedCorotated(1000.0, 0.3, 1000.0)
START = 1.2  # [s], when they are more than two cells of the coarsest grid apart
LOSS = 0.08  # of the speed after parting that two continua may lose more than one
NO_LOSS = "no setting loses momentum; tests of contact do, with a normal of its own for each side"


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    found, rise, lost = [], 0.0, 0.0
    for h in (0.05,) if quick else (0.05, 0.025, 0.0125):
        places = OFFSETS[:2] if quick else OFFSETS
        runs = [
            meet(discs(h, SOFT, start=START, separate=not wrong, offset=o[:2]), START, 1.4) for o in places
        ]
        early = max((run.early for run in runs), key=abs)
        found.append(near(f"cells of {h:g} m: they touch so many too early", early, 0.0, 0.25, 1.0))
        rise, lost = max(rise, *(run.rise for run in runs)), max(lost, *(run.lost for run in runs))
        one = meet(discs(h, SOFT, start=START, separate=False), START, 1.4).speed
        speed = min(run.speed for run in runs)
        if wrong:
            speed = meet(discs(h, SOFT, start=START, transfer="pic"), START, 1.4).speed
        found.append(
            at_least(f"cells of {h:g} m: speed after parting", speed, one - LOSS, one).of_kind("comparison")
        )
    if wrong:
        rise = meet(discs(0.05, SOFT, start=START, dt=1.2 * 0.05 / SOFT.wave_speed()), START, 1.4).rise
    found.append(at_most("growth of the energy", rise, 1e-12))
    kept = at_most("momentum lost, over that of a disc", lost, 1e-12)
    return found if wrong else [*found, kept.without_control(NO_LOSS)]


CASE = Case(
    name="continua-touch",
    title="Two discs of two continua meet",
    source="closed form",
    kind="closed form",
    cost="5 s",
    control="one continuum for both; PIC for the speed; steps beyond the bound of stability for the energy",
    measure=measure,
)
