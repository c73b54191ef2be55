"""What solids with `ExactContact` cannot do, or would ignore."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from continua.contact.boundaries import Periodic
from continua.contact.penalty import ExactContact
from continua.contact.strand_contact import StrandContact
from continua.continuum.refusal import Refusal

if TYPE_CHECKING:
    from continua.world import World


def of_exact_contact(world: World) -> Iterator[Refusal]:
    """Surfaces pass through nothing only where all of them are looked at together, and in one way."""
    exact = [body for body in world.mesh_bodies if isinstance(body.contact, ExactContact)]
    if not exact:
        return
    first = exact[0]
    for body in exact[1:]:
        a, b = (world.continuum_of(one) for one in (first, body))
        if a != b:
            yield Refusal(
                f'continuum of the body "{body.name}"',
                f'is "{b}", but that of "{first.name}" is "{a}": solids with an ExactContact meet in one continuum '
                "only; leave it out",
            )
        mine, others = (one.contact for one in (body, first))
        assert isinstance(mine, ExactContact) and isinstance(others, ExactContact)
        if replace(mine, friction=others.friction) != others:
            yield Refusal(
                f'contact of the body "{body.name}"',
                f'differs from that of "{first.name}" in more than its friction, but all solids with an ExactContact '
                "meet in one way: give them the same settings",
            )
    for body in world.mesh_bodies:
        if body.set is None and not isinstance(body.contact, (ExactContact, StrandContact)):
            yield Refusal(
                f'contact of the body "{body.name}"',
                f'is a {type(body.contact).__name__}, but that of "{first.name}" an ExactContact, which holds between '
                "solids of its kind only: give both the same kind, or let one of them move on the grid (on_grid)",
            )
    for boundary in world.boundaries:
        if isinstance(boundary, Periodic):
            yield Refusal(
                "boundary",
                f'of type "periodic" has no images of the body "{first.name}" with an ExactContact: leave it out, or '
                "use a GridContact",
            )
    for collider in world.colliders:
        if collider.mode != "separate":
            yield Refusal(
                f'mode of the collider "{collider.name}"',
                f'is "{collider.mode}", but the body "{first.name}" with an ExactContact may always leave: use '
                '"separate" with a friction, or script vertices of the body',
            )
