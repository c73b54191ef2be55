"""Friction inside an implicit step: it needs normal forces, which need friction, so that solves are repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from continua.contact.friction import FrictionEnergy, SlidingContacts
from continua.optimize import Report

Array = NDArray[np.float64]
ROUNDS = (
    12  # most solves of a step, each with the friction that belongs to the normal forces of the one before
)
SOFTER = (100.0, 10.0)  # times the slip speed in first solves that help Newton's method to find what sticks
LOOSE = 100.0  # times the tolerance in these
SETTLED = 1e-3  # relative change of the friction at which it is known
CREEP = 1e-3  # slip speed of what sticks, over the speed that normal forces would give its body in a step


def settle(
    friction: FrictionEnergy,
    starts: Sequence[Array],
    solve: Callable[[Sequence[Array], float], tuple[Array, Report]],
    rubbing_at: Callable[[Array], list[SlidingContacts]],
    softer: Sequence[float] = (),
) -> tuple[Array, Report, float]:
    """Solve with the friction that is known, and again with what rubs at the solution, until it hardly changes.

    solve(starts, factor): to a tolerance that is so many times the usual one. softer: see `SOFTER`, which light nodes
    of a grid need.

    Returns the solution, the work of all solves, and by how much friction would change next, relative to itself. The
    friction with which the last solve was made stays.
    """
    known = friction.groups
    report, change = None, 0.0
    for soft in (*softer, *[1.0] * ROUNDS):
        friction.groups = [replace(group, reaches=soft * group.reaches) for group in known]
        x, more = solve(starts, LOOSE if soft > 1 else 1.0)
        report = more if report is None else together(report, more)
        known, starts = rubbing_at(x), [x]
        change = friction.change(known, x)
        if soft == 1.0 and change <= SETTLED:
            break
    assert report is not None
    return x, report, change


def together(first: Report, second: Report) -> Report:
    """The report of a minimisation in two parts."""
    counts = ("iterations", "krylov_iterations", "line_search_evaluations", "negative_curvature_count")
    both = {name: getattr(first, name) + getattr(second, name) for name in counts}
    return replace(second, history=first.history + second.history[1:], **both)
