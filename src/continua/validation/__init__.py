"""Numbers beside references: closed forms, manufactured solutions and experiments; comparisons and calibrations."""

from collections.abc import Sequence

from continua.errors import SetupError
from continua.validation import (
    axis_aligned,
    backward_euler,
    ball_models,
    bar,
    bar_models,
    cantilever,
    channel,
    column,
    continua_roll,
    continua_slide,
    continua_touch,
    convergence_map,
    dam_break,
    disks,
    exact_contact,
    free_surface,
    incline,
    plain_newton,
    recovery,
    rigid,
    rods,
    roll,
    sand,
    sand_container,
    shear,
    snowball_steps,
    step_counts,
    tank,
    taylor_green,
    vortex,
    vortex_sheet,
)
from continua.validation.case import KINDS, Case, Kind, Measurement, count_kinds
from continua.validation.outcome import Outcome, run_case

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        vortex.CASE,
        axis_aligned.CASE,
        bar.CASE,
        bar_models.CASE,
        ball_models.CASE,
        backward_euler.CASE,
        snowball_steps.CASE,
        convergence_map.CASE,
        plain_newton.CASE,
        recovery.CASE,
        column.CASE,
        disks.CASE,
        step_counts.CASE,
        cantilever.CASE,
        rods.SHAPE,
        rods.STABILITY,
        incline.CASE,
        roll.CASE,
        rigid.MOTION,
        rigid.INCLINE,
        continua_touch.CASE,
        continua_slide.CASE,
        continua_roll.CASE,
        exact_contact.SLIDE,
        exact_contact.COLLISION,
        exact_contact.KINDS,
        sand.CASE,
        sand_container.CASE,
        dam_break.CASE,
        shear.COUETTE,
        shear.SHEAR_WAVE,
        vortex_sheet.CASE,
        taylor_green.RANKING,
        taylor_green.DECAY,
        channel.CASE,
        tank.REST,
        tank.SLOSHING,
        free_surface.STANDING_WAVE,
        free_surface.FREE_DROPS,
        dam_break.INCOMPRESSIBLE,
    )
}

__all__ = ["CASES", "KINDS", "Case", "Kind", "Measurement", "Outcome", "count_kinds", "run_case", "select"]


def select(names: Sequence[str]) -> list[Case]:
    """The cases of these names, all if none is given."""
    for name in names:
        if name not in CASES:
            raise SetupError(f'there is no validation case "{name}", use one of {", ".join(CASES)}')
    return [CASES[name] for name in names] if names else list(CASES.values())
