"""Two discs of two continua fly at each other (Sulsky et al. 1994): they touch when their rims do."""

from __future__ import annotations

from continua.materials import FixedCorotated
from continua.validation.case import Case, Measurement, at_least, at_most, near
from continua.validation.continua_scenes import OFFSETS, discs, meet

SOFT = FixedCorotated(1000.0, 0.3, 1000.0)
START = 1.2  # [s], when they are more than two cells of the coarsest grid apart
LOSS = 0.08  # of the speed after parting that two continua may lose more than one


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
        if not wrong:
            one = meet(discs(h, SOFT, start=START, separate=False), START, 1.4).speed
            speed = min(run.speed for run in runs)
            found.append(at_least(f"cells of {h:g} m: speed after parting", speed, one - LOSS, one))
    if not wrong:
        found.append(at_most("growth of the energy", rise, 1e-12))
        found.append(at_most("momentum lost, over that of a disc", lost, 1e-12))
    return found


CASE = Case(
    name="continua-touch",
    title="Two discs of two continua meet",
    source="closed form",
    cost="5 s",
    control="one continuum for both",
    measure=measure,
)
