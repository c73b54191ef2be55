"""Bodies by kind: the one place that asks of which class a body is."""

from __future__ import annotations

from collections.abc import Iterable

from continua.bodies.body import Body
from continua.bodies.mesh_body import MeshBody
from continua.bodies.points import ParticleBody
from continua.bodies.solid_body import SolidBody
from continua.bodies.strands import Strands


def particle_bodies(bodies: Iterable[Body]) -> list[ParticleBody]:
    """Those made of particles."""
    return [body for body in bodies if isinstance(body, ParticleBody)]


def mesh_bodies(bodies: Iterable[Body]) -> list[MeshBody]:
    """Those made of a mesh."""
    return [body for body in bodies if isinstance(body, MeshBody)]


def solid_bodies(bodies: Iterable[Body]) -> list[SolidBody]:
    """Those made of triangles or tetrahedra, which have an inside."""
    return [body for body in bodies if isinstance(body, SolidBody)]


def strand_bodies(bodies: Iterable[Body]) -> list[Strands]:
    """Those made of strands."""
    return [body for body in bodies if isinstance(body, Strands)]
