"""Settings that would be accepted and then ignored: each is refused with a sentence that says what to change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from continua.contact.boundaries import FixedVelocity
from continua.continuum.exact import of_exact_contact
from continua.continuum.refusal import Refusal
from continua.errors import SetupError
from continua.integrators.schemes import Incompressible, Integrator, Optimization, SemiImplicit
from continua.transfers import APIC

if TYPE_CHECKING:
    from continua.world import World


DEFAULT_ELASTIC_CFL, DEFAULT_PUSH_OUT = 0.4, 0.5  # those of World


def _is_explicit(integrator: Integrator) -> bool:
    return not integrator.implicit and not integrator.incompressible


def refusals(world: World) -> Iterator[Refusal]:
    """Everything that is set in a world and would not act."""
    integrators = [world.integrator_of(name) for name in world.continua]
    yield from _of_integrators(world, integrators)
    yield from _of_meshes(world)
    yield from _of_self_moving(world)
    yield from of_exact_contact(world)
    if any(isinstance(integrator, Incompressible) for integrator in integrators):
        yield from _of_flow(world)


def _of_integrators(world: World, integrators: list[Integrator]) -> Iterator[Refusal]:
    explicit = [i for i in integrators if _is_explicit(i)]
    gridded = [name for name in world.continua if not world.moves_itself(name)]
    stressed = [name for name in gridded if _is_explicit(world.integrator_of(name))]
    if world.stress_transfer != "gradient" and not stressed:
        yield Refusal("stress_transfer", "acts in explicit steps only: leave it out, or use symplectic")
    if world.deformation != "safe" and not stressed:
        yield Refusal("deformation", "acts in explicit steps only: leave it out, or use symplectic")
    if world.transfer != APIC() and not gridded:
        yield Refusal(
            "transfer", "does not act on bodies that move on their own, and there are no others: leave it out"
        )
    if world.elastic_cfl != DEFAULT_ELASTIC_CFL and not explicit:
        yield Refusal(
            "elastic_cfl", "limits explicit steps only: leave it out and use cfl or dt, or use symplectic"
        )
    linear = [
        i for i in integrators if isinstance(i, (SemiImplicit, Optimization)) and i.positions == "implicit"
    ]
    if linear and world.degree == 1 and world.grid_bodies:
        yield Refusal(
            "integrator.positions",
            'is implicit, which needs smooth B-splines: use kernel quadratic or cubic, or positions="explicit"',
        )
    for integrator in integrators:
        if (
            isinstance(integrator, Optimization)
            and integrator.scheme != "backward-euler"
            and not world.free_meshes
        ):
            yield Refusal(
                "integrator.scheme",
                f'is "{integrator.scheme}", which moves only meshes that are neither on the grid nor meet '
                'others there: use backward-euler, or contact = { type = "penalty" } with on_grid = false',
            )


def _of_meshes(world: World) -> Iterator[Refusal]:
    if world.free_meshes and world.boundaries:
        name = world.free_meshes[0].name
        yield Refusal(
            "boundary",
            f'does not act on the mesh body "{name}", which moves on its own: set its on_grid to true, or script its '
            "vertices",
        )
    for body in world.mesh_bodies:
        if body.set is not None and body.contact != type(body.contact)():
            yield Refusal(
                f'contact of the mesh body "{body.name}"',
                "is for bodies that move on their own, but this one is on the grid, where continua meet: leave it out "
                "and use a Contact between continua, or set on_grid to false",
            )


def _of_self_moving(world: World) -> Iterator[Refusal]:
    """Bodies that move on their own take from the grid only what contact does."""
    if world.bodies and not any(body.walls for body in world.bodies):
        for boundary in world.boundaries:
            if isinstance(boundary, FixedVelocity):
                yield Refusal(
                    "boundary",
                    'of type "fixed-velocity" acts on nodes, but the bodies here meet obstacles at points of their '
                    "surface: leave it out, or use a collider with a motion",
                )
    own = [name for name in world.continua if world.moves_itself(name)]
    for name in own:
        if world.continua[name].transfer is not None:
            yield Refusal(
                f'transfer of the continuum "{name}"',
                "does not act on bodies that move on their own: leave it out",
            )
    if not own or len(own) < sum(bool(world.bodies_of(name)) for name in world.continua):
        return
    if world.push_out not in (None, DEFAULT_PUSH_OUT):
        yield Refusal(
            "push_out", "does not act on bodies that move on their own, and there are no others: leave it out"
        )


def _of_flow(world: World) -> Iterator[Refusal]:
    if world.push_out not in (None, DEFAULT_PUSH_OUT):
        yield Refusal(
            "push_out", "is a depth, but a flow sets particles back to the surface of walls: leave it out"
        )
    for collider in world.colliders:
        if collider.friction > 0:
            yield Refusal(
                f'friction of the collider "{collider.name}"',
                "does not act on an incompressible flow, which slips along walls or sticks to them: leave it out, or "
                'use mode "sticky" with a viscosity',
            )


def check_settings(world: World) -> None:
    """Raise for the first setting that would be ignored; warn of what is not stable."""
    for refusal in refusals(world):
        raise SetupError(str(refusal))
    if world.degree == 1 and any(_is_explicit(world.integrator_of(name)) for name in world.continua):
        _warn_of_linear_splines(world)


def _warn_of_linear_splines(world: World) -> None:
    """A node that only particles of weight e see vibrates at c / (dx sqrt(e)), so that dt < 2 sqrt(e) dx / c."""
    text = (
        "linear splines have no explicit step that is stable everywhere: noise grows where the outermost particles lie "
        f"less than (elastic_cfl / 2)^2 = {(world.elastic_cfl / 2) ** 2:.2g} cells beyond a row of nodes; use kernel "
        "quadratic"
    )
    if text not in world.warnings:
        world.warn(text)
