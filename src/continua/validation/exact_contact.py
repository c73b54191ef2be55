"""Exact contact: a block on a slope, and what a collision of spheres keeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Literal

from continua.bodies import exact_meeting
from continua.contact.penalty import ExactContact, GridContact, PenaltyContact
from continua.validation.case import Case, Measurement, at_least, at_most, near, reported
from continua.validation.exact_worlds import (
    Collision,
    G,
    Kind,
    collide,
    slide,
    slope_acceleration,
    spheres,
)

ROUNDING = 1e-12  # of sum m |v|, over the hundreds of steps of a collision
SOLVED = 1e-7  # the same where a solver ends at forces of 1e-9 of the largest, step after step
DURATION, STEP = 0.3, 4e-3  # of a collision [s], of implicit steps [s]
GROWTH = 1e-4  # of the energy on the way, what implicit steps may gain by their tolerance
AUGURY: dict[str, int | Literal["off"]] = {"impulses": "off", "grid": 5}  # alone, and before impulses


def measure_slide(quick: bool, wrong: bool) -> list[Measurement]:
    duration, found = 0.6 if quick else 1.0, []
    kinds: tuple[Kind, ...] = ("explicit", "implicit")
    for kind in kinds:
        # As printed the inside is not felt by the surface: only implicit steps show it. Others get half the friction.
        printed = wrong and kind == "implicit"
        contact = ExactContact(final_velocity="printed") if printed else ExactContact()
        for d in (2,) if quick else (2, 3):
            mu = 0.075 if wrong and not printed else 0.15
            a = slide(contact, kind, mu, duration, d)
            found.append(
                near(f"{kind}, {d}D, f = 0.15: acceleration [m/s^2]", a, slope_acceleration(0.15), 0.01)
            )
            stuck = slide(ExactContact(), kind, 0.2 if wrong else 1.0, duration, d)
            found.append(near(f"{kind}, {d}D, f = 1: rests [m/s^2]", stuck, slope_acceleration(1.0), 0.01, G))
    return found


def explicit(contact: ExactContact | GridContact) -> Collision:
    """Spheres of radii 1 and 0.7 that spin, by explicit steps."""
    return collide(spheres(contact, "explicit", dt=1e-3, ratio=0.7, spin=3.0), DURATION)


@contextmanager
def lumped() -> Iterator[None]:
    """Points in contact weigh what they weigh, without what lies behind them."""
    known = exact_meeting.MOST_INERTIA
    exact_meeting.MOST_INERTIA = 1.0
    try:
        yield
    finally:
        exact_meeting.MOST_INERTIA = known


def measure_collision(quick: bool, wrong: bool) -> list[Measurement]:
    size = 0.14 if quick else 0.09
    final: Literal["recoil", "printed"] = "printed" if wrong else "recoil"

    def implicit(
        contact: ExactContact | PenaltyContact,
        *,
        dt: float | None = STEP,
        ratio: float = 1.0,
        spin: float = 0.0,
    ) -> Collision:
        sim = spheres(contact, "implicit", dt=dt, size=size, dx=size, ratio=ratio, spin=spin)
        return collide(sim, DURATION)

    runs: list[Collision] = []
    found: list[Measurement] = []
    if wrong:
        lossy, naive = (
            explicit(one) for one in (GridContact(friction=0.3), ExactContact(friction=0.3, impulses="naive"))
        )
    for what, augury in AUGURY.items():
        rubbing = ExactContact(friction=0.3, augury=augury)
        kept = lossy if wrong else explicit(rubbing)
        turned = naive if wrong else kept
        unequal = implicit(replace(rubbing, final_velocity=final), ratio=0.7, spin=3.0)
        equal = implicit(ExactContact(augury=augury, final_velocity=final))
        runs += [kept, turned, unequal, equal]
        found += [
            at_most(f"{what}, explicit, unequal spheres: change of the momentum", kept.lost, ROUNDING),
            at_most(f"{what}, the same: change of the angular momentum", turned.turned, ROUNDING),
            at_most(f"{what}, implicit, the same spheres: change of the momentum", unequal.lost, SOLVED),
            at_most(f"{what}, implicit, equal: sum of both velocities [m/s]", equal.together, SOLVED),
            reported(f"{what}, implicit, the same: change of the angular momentum", unequal.turned),
            reported(f"{what}, implicit, equal: rebound [m/s]", equal.rebound),
            reported(f"{what}, implicit, equal: most energy over that at first", equal.most),
            reported(
                f"{what}, the same in automatic steps", implicit(ExactContact(augury=augury), dt=None).most
            ),
        ]
        if augury == "off":
            with lumped() if wrong else nullcontext():
                growth = (implicit(ExactContact()) if wrong else equal).most - 1
            found.append(at_most("impulses, implicit: largest growth of the energy", growth, GROWTH))
    crossings = sum(run.crossings for run in runs)
    if wrong:
        crossings = implicit(PenaltyContact(collisions="off")).crossings
    return [
        at_most("steps after which surfaces pass through each other, all runs", crossings, 0),
        *found,
    ]


def measure_kinds(quick: bool, wrong: bool) -> list[Measurement]:
    size = 0.12 if quick else 0.09
    runs = {
        "penalty": collide(spheres(PenaltyContact(), "implicit", dt=5e-3, size=size), DURATION),
        "grid": collide(spheres(GridContact(), "implicit", dt=None, size=size, dx=size / 2), DURATION),
        "exact": collide(spheres(ExactContact(), "implicit", dt=5e-3, size=size, dx=size), DURATION),
    }
    # The control takes one kind of contact for another.
    said = runs["penalty"] if wrong else runs["exact"]
    lost = runs["grid"] if wrong else runs["exact"]
    other = runs["exact"] if wrong else runs["penalty"]
    found = [
        at_most("exact: steps after which surfaces pass through each other", said.crossings, 0),
        at_most("exact: change of the momentum", lost.lost, SOLVED),
        at_least("penalty: steps after which surfaces pass through each other", other.crossings, 1),
    ]
    for name, run in runs.items():
        found += [
            reported(f"{name}: steps with crossing surfaces, of all", run.crossings / run.steps),
            reported(f"{name}: change of the momentum, over sum m |v|", run.lost),
            reported(f"{name}: rebound [m/s]", run.rebound),
            reported(f"{name}: energy at the end over that at first", run.energy),
            reported(
                f"{name}: seconds of a collision over those of penalty", run.seconds / runs["penalty"].seconds
            ),
        ]
    return found


SLIDE = Case(
    name="exact-slide",
    title="Block on a slope, exact contact",
    source="Coulomb friction, closed form",
    kind="closed form",
    cost="15 s",
    control="final velocities as printed (implicit), half the friction (explicit); f = 0.2 where it rests",
    measure=measure_slide,
)
COLLISION = Case(
    name="exact-contact",
    title="Spheres that collide off centre, exact contact",
    source="conservation laws; M23 sections 4 and 9.3",
    kind="closed form",
    cost="15 s",
    control="another kind of contact (grid; none), naive impulses, final velocities as printed, points in contact "
    "without what lies behind them",
    measure=measure_collision,
)
KINDS = Case(
    name="contact-kinds",
    title="One collision with penalty, grid and exact contact",
    source="runs of our own beside each other",
    kind="comparison",
    cost="15 s",
    control="one kind of contact taken for another",
    measure=measure_kinds,
)
