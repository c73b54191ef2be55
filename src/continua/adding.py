"""How things come into a world: what is checked, which name they get, and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua._validation import known_keywords, shown, whole_number
from continua.bodies.body import Body
from continua.bodies.drain import Drain
from continua.bodies.emitter import Emitter
from continua.bodies.fields import Fields
from continua.bodies.force import BodyForce
from continua.bodies.kinds import mesh_bodies
from continua.bodies.points import ParticleBody
from continua.bodies.variation import Regions, Variation, Vary, checked_variation
from continua.bodies.velocity import GivenVelocity, evaluate
from continua.contact.boundaries import FixedVelocity, Periodic, blocks_of_period
from continua.contact.colliders import Collider
from continua.continuum.rules import sides
from continua.continuum.settings import Contact
from continua.errors import SetupError
from continua.geometry.base import Shape
from continua.geometry.points import Points
from continua.geometry.sampling import TooManyPoints, sample
from continua.grid.reach import check_resolution as resolution_warning
from continua.integrators.schemes import Optimization
from continua.materials.base import Material, NativeMaterial
from continua.materials.incompressible import IncompressibleFluid
from continua.memory import most_particles, too_many

if TYPE_CHECKING:
    from continua.world import World


@known_keywords("add() of a body", SetupError)
def add_body(
    world: World,
    shape: Shape,
    material: Material,
    *,
    velocity: GivenVelocity = None,
    name: str | None = None,
    particles_per_cell: int | None = None,
    sampling: str = "regular",
    vary: Vary | None = None,
    regions: Regions | None = None,
    fields: Fields | None = None,
    continuum: str | None = None,
) -> ParticleBody:
    _check_dimension(world, "the shape", shape.dimension)
    continuum = world.continuum_for(continuum)
    _check_material(world, material, continuum)
    name = _new_name(world, name, "body")
    check_resolution(world, f'body "{name}"', *shape.bounds())
    seed = world.seed + len(world.particle_bodies)
    vary, regions = checked_variation(vary, regions)
    variation = Variation(material, vary, regions) if vary or regions else None
    body = ParticleBody(
        name, material, world.dimension, world.dtype, variation, world.modes(continuum), fields
    )
    body.continuum = continuum
    points, volumes = _sample(world, body, shape, _spacing(world, particles_per_cell), sampling, seed)
    v, gradient = evaluate(velocity, points)
    for number in variation.unused_regions(points) if variation else ():
        world.warn(
            f'regions[{number}] of body "{name}" holds no particle; move it, enlarge it or leave it out'
        )
    body.append(points, v, gradient if world.transfer_of(continuum).affine else 0 * gradient, volumes)
    check_company(world, body, continuum)
    world.take(body)
    return body


def _sample(
    world: World, body: ParticleBody, shape: Shape, spacing: float, sampling: str, seed: int
) -> tuple[NDArray, NDArray]:
    """Points (N, d) [m] that fill a shape and their volumes (N,); refused before they exist if they do not fit."""
    most = most_particles(world, body)
    volume = None if isinstance(shape, Points) else shape.volume()
    expected = 0.0 if volume is None else volume / spacing**world.dimension
    if expected > most:
        raise too_many(world, body, expected, most)
    try:
        return sample(shape, spacing, sampling, seed, most)  # type: ignore[arg-type]
    except TooManyPoints as error:
        raise too_many(world, body, error.count, most) from None


def add_made_body(world: World, body: Body) -> Body:
    """A mesh body, or one of any other kind that follows the protocol."""
    _check_dimension(world, f"the {body.stem}", body.dimension)
    if body in world.bodies:
        raise SetupError(f'the body "{body.name}" has been added already; make another one')
    for other in body.follows():
        if other not in world.bodies:
            called = f'"{other.name}" ' if other.name else ""
            raise SetupError(
                f"the {body.stem} grow on a body {called}({other.label}) that is not in this simulation; add that first"
            )
    body.continuum = world.continuum_for(body.continuum or body.home)
    check_company(world, body, body.continuum)
    integrator = world.integrator_of(body.continuum)
    if integrator.incompressible:
        raise SetupError(
            'mesh bodies do not live in integrator="incompressible"; use "symplectic" or "optimization"'
        )
    off_grid = any(mesh.on_grid is False and not mesh.self_moving for mesh in mesh_bodies([body]))
    if off_grid and not isinstance(integrator, Optimization):
        raise SetupError(
            f'a mesh body off the grid needs integrator="optimization", not {type(integrator).__name__}; '
            "leave on_grid out"
        )
    body.name = _new_name(world, body.name, body.stem)
    world.take(body)
    return body


def check_company(world: World, body: Body, continuum: str) -> None:
    """Bodies that move on their own share a velocity field with others like them only."""
    for other in world.bodies_of(continuum):
        if other.self_moving != body.self_moving:
            raise SetupError(
                f'the bodies "{body.name or body.label}" and "{other.name}" cannot share the continuum "{continuum}": '
                "one moves with the velocity of the grid, the other on its own; give one of them another continuum, "
                "where they meet by contact"
            )


def add_emitter(world: World, emitter: Emitter) -> ParticleBody:
    _check_dimension(world, "the emitter", emitter.dimension)
    continuum = world.continuum_for(emitter.continuum)
    _check_material(world, emitter.material, continuum)
    name = _new_name(world, emitter.name, "emitter")
    check_resolution(world, f'emitter "{name}"', *emitter.shape.bounds())
    modes = world.modes(continuum)
    body = ParticleBody(
        name, emitter.material, world.dimension, world.dtype, modes=modes, fields=emitter.fields
    )
    body.continuum = continuum
    spacing = _spacing(world, emitter.particles_per_cell)
    layer = spacing / float(np.linalg.norm(emitter.velocity))
    first = emitter.released(emitter.start, emitter.start + layer, spacing)
    if len(first):  # a function that does not fit fails here rather than in the middle of a step
        body.passive.at(first)
    world.take(body)
    world.emitters.append((emitter, body, spacing))
    return body


def add_collider(world: World, collider: Collider) -> Collider:
    _check_dimension(world, f"the {collider.kind} collider", collider.dimension)
    collider.name = _new_name(world, collider.name, collider.kind)
    world.colliders.append(collider)
    if collider.thickness() < 2 * world.dx:
        world.warn(
            f'collider "{collider.name}" is {collider.thickness():.3g} m thick, less than 2 dx = '
            f"{2 * world.dx:.3g} m, so material may pass through it; make it thicker or dx smaller"
        )
    return collider


def add_boundary(world: World, boundary: FixedVelocity | Periodic) -> FixedVelocity | Periodic:
    if world.started:
        raise SetupError("boundaries must be added before the first step")
    if isinstance(boundary, FixedVelocity):
        _check_dimension(world, "the fixed-velocity region", boundary.dimension)
    else:
        if boundary.axis >= world.dimension:
            raise SetupError(f"a {world.dimension}D world has no axis {boundary.axis}")
        if any(isinstance(b, Periodic) and b.axis == boundary.axis for b in world.boundaries):
            raise SetupError(f"axis {boundary.axis} is already periodic")
        blocks_of_period(boundary, world.dx)
    world.boundaries.append(boundary)
    return boundary


def add_drain(world: World, drain: Drain) -> Drain:
    _check_dimension(world, "the drain", drain.dimension)
    known = [body.name for body in world.particle_bodies]
    if drain.body is not None and drain.body not in known:
        raise SetupError(
            f'there is no body "{drain.body}" for the drain (there are: {", ".join(known) or "none yet"}); '
            "correct the name, or add the body before the drain"
        )
    drain.name = _new_name(world, drain.name, "drain")
    world.drains.append(drain)
    return drain


def add_contact(world: World, contact: Contact) -> Contact:
    if any({contact.a, contact.b} == {other.a, other.b} for other in world.contacts):
        raise SetupError(f'there is a contact between "{contact.a}" and "{contact.b}" already')
    world.contacts.append(contact)
    if world.started:
        sides(world, contact)
    return contact


def add_force(world: World, force: BodyForce) -> BodyForce:
    world.forces.append(force)
    return force


def _check_dimension(world: World, what: str, dimension: int) -> None:
    if dimension != world.dimension:
        raise SetupError(f"{what} is {dimension}D but gravity makes the world {world.dimension}D")


def check_resolution(world: World, what: str, lower: NDArray, upper: NDArray) -> None:
    """Positions between lower and upper (d,) [m] must be told apart by the numbers that particles have."""
    if not np.isfinite([lower, upper]).all():
        return  # sampling says that it cannot be filled
    if text := resolution_warning(what, lower, upper, world.dx, world.dtype):
        world.warn(text)


def _check_material(world: World, material: Material, continuum: str) -> None:
    """Materials must fit the integrator of their continuum, and incompressible fluids each other."""
    integrator = world.integrator_of(continuum)
    fluid = isinstance(material, IncompressibleFluid)
    if fluid != integrator.incompressible:
        raise SetupError(
            'an incompressible fluid needs integrator="incompressible", or use the material Liquid instead'
            if fluid
            else f'integrator="incompressible" is for IncompressibleFluid, not for {material.label}; '
            'use integrator="symplectic", or a simulation of its own'
        )
    if integrator.implicit and not isinstance(material, NativeMaterial):
        raise SetupError(
            f"implicit integrators need second derivatives, which the Python material {material.label} does not "
            'give; use integrator="symplectic", or another continuum for this body'
        )
    if fluid and any(body.material != material for body in world.particle_bodies):
        raise SetupError("incompressible fluids in one simulation must have the same density and viscosity")


def _new_name(world: World, name: str | None, stem: str) -> str:
    taken = world.names()
    if name is None:
        number = 1
        while f"{stem}{number}" in taken:
            number += 1
        return f"{stem}{number}"
    if not isinstance(name, str) or not name:
        raise SetupError(f"name must be a text, not {shown(name)}")
    if name in taken:
        raise SetupError(
            f'the name "{name}" is already used; give every body, collider and drain its own name'
        )
    return name


def _spacing(world: World, particles_per_cell: int | None) -> float:
    count = 2**world.dimension
    if particles_per_cell is not None:
        count = whole_number("particles_per_cell", particles_per_cell, SetupError, least=1)
    return float(world.dx / count ** (1 / world.dimension))
