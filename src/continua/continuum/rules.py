"""What contacts say: which pairs of continua there are, and the friction of every pair of things that may meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from continua.bodies.body import STRANDS
from continua.bodies.mesh_body import MeshBody
from continua.contact.colliders import Collider
from continua.contact.penalty import ExactContact
from continua.continuum.meeting import Pair
from continua.continuum.settings import SLACK, Contact
from continua.errors import SetupError

if TYPE_CHECKING:
    from continua.world import World


def contact_between(world: World, a: str, b: str) -> Contact | None:
    """What was said of two things, named in any order."""
    return next((c for c in world.contacts if {c.a, c.b} == {a, b}), None)


def pairs(world: World) -> list[Pair]:
    """All pairs of continua, sorted by name, with what contacts say of them."""
    said = {frozenset(sides(world, contact)): contact for contact in world.contacts}
    names = sorted(world.continua)
    found = []
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            contact = said.get(frozenset((a, b)))
            own = world.moves_itself(a) or world.moves_itself(b)
            slack = (0.0 if own else SLACK) if contact is None or contact.slack is None else contact.slack
            passable = not (_has_inside(world, a) or _has_inside(world, b))
            found.append(Pair(a, b, 0.0 if contact is None else contact.friction, slack, passable))
    return found


def _has_inside(world: World, continuum: str) -> bool:
    """Whether its bodies are solids that move on their own, which do not let others through."""
    bodies = world.bodies_of(continuum)
    return all(body.self_moving and body.home != STRANDS for body in bodies) and bool(bodies)


def obstacle_friction(world: World, continuum: str) -> dict[int, float]:
    """Friction that contacts set between a continuum and obstacles, by number of the obstacle."""
    friction = {}
    for number, collider in enumerate(world.colliders):
        for contact in world.contacts:
            if collider.name in (contact.a, contact.b) and continuum in sides(world, contact):
                friction[number] = contact.friction
    return friction


def mesh_friction(world: World, a: MeshBody, b: MeshBody) -> float:
    """Between two mesh bodies that move on their own: of their contact, else the mean of what they say."""
    said = contact_between(world, str(a.name), str(b.name))
    return 0.5 * (a.contact.friction + b.contact.friction) if said is None else said.friction


def obstacle_mesh_friction(world: World, collider: Collider, body: MeshBody) -> float:
    """Between a collider and a mesh body that moves on its own."""
    names = (str(body.name), world.continuum_of(body))
    said = [contact_between(world, str(collider.name), name) for name in names]
    return next((contact.friction for contact in said if contact is not None), collider.friction)


def sides(world: World, contact: Contact) -> tuple[str, str]:
    """The continua, or the collider and the continuum, that a contact is about."""
    colliders = {collider.name for collider in world.colliders}
    if {contact.a, contact.b} <= colliders:
        raise SetupError(
            f'"{contact.a}" and "{contact.b}" are both colliders, which do not meet each other; a contact needs a '
            "continuum or a body"
        )
    sides = [
        name if name in colliders else _continuum_named(world, name, contact)
        for name in (contact.a, contact.b)
    ]
    if sides[0] == sides[1]:
        free = {body.name for body in world.free_meshes}
        if {contact.a, contact.b} <= free:
            return contact.a, contact.b
        how = (
            "meet as each of them says by its own contact"
            if world.moves_itself(sides[0])
            else "stick to each other"
        )
        raise SetupError(
            f'"{contact.a}" and "{contact.b}" are both in the continuum "{sides[0]}", where bodies {how}; put one of '
            "them into another continuum"
        )
    return sides[0], sides[1]


def _continuum_named(world: World, name: str, contact: Contact) -> str:
    """The continuum of that name, or of the body of that name."""
    if name in world.continua:
        return name
    body = next((body for body in world.bodies if body.name == name), None)
    if body is None:
        known = [*world.continua, *(n for n in world.names() if n)]
        raise SetupError(
            f'the contact between "{contact.a}" and "{contact.b}" names "{name}", but there is no such continuum, '
            f"body or collider (there are: {', '.join(known)})"
        )
    continuum = world.continuum_of(body)
    others = [other.name for other in world.bodies_of(continuum) if other is not body]
    if others and isinstance(getattr(body, "contact", None), ExactContact):
        raise SetupError(
            f'the body "{name}" has an ExactContact, and so has "{others[0]}": set their friction there, or name the '
            f'continuum "{continuum}" to say how all of them meet another one'
        )
    if others and body not in world.free_meshes:
        raise SetupError(
            f'the body "{name}" shares the continuum "{continuum}" with "{others[0]}", so that a contact cannot be '
            f'about it alone; name the continuum "{continuum}", or give the body one of its own'
        )
    return continuum
