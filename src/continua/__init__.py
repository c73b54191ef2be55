"""Continua: continua that meet. Snow, jelly and other materials on one background grid."""

import importlib
import os
from typing import TYPE_CHECKING, Any

from continua._version import __version__

# Threads of the core wait briefly, then sleep: on a busy machine a spinning thread would keep the other from its work.
os.environ.setdefault("GOMP_SPINCOUNT", "20000")

if TYPE_CHECKING:
    from continua import gallery, integrators, io, materials, pointtest, render, scene, testing, transfers
    from continua.bodies import velocity as velocities
    from continua.bodies.axle import Axle, Motor
    from continua.bodies.body import Body
    from continua.bodies.drain import Drain
    from continua.bodies.emitter import Emitter
    from continua.bodies.force import BodyForce
    from continua.bodies.points import ParticleBody
    from continua.bodies.rigid_body import RigidBody
    from continua.bodies.scripted import Scripted
    from continua.bodies.solid_body import SolidBody
    from continua.bodies.spring_body import SpringBody
    from continua.bodies.start import Placed, Scattered
    from continua.bodies.strands import Strands
    from continua.bodies.variation import Gradient
    from continua.concurrency import set_threads, threads
    from continua.contact import boundaries, colliders, motions
    from continua.contact.penalty import ExactContact, GridContact, PenaltyContact
    from continua.contact.strand_contact import StrandContact
    from continua.continuum.settings import Contact, Continuum
    from continua.errors import ContinuaError
    from continua.geometry import meshes, shapes
    from continua.simulation import Simulation

# Where each public name lives; modules are loaded when first used, so that the command line starts at once.
_HOMES = {
    "Axle": "continua.bodies.axle",
    "Body": "continua.bodies.body",
    "BodyForce": "continua.bodies.force",
    "Contact": "continua.continuum.settings",
    "ContinuaError": "continua.errors",
    "Continuum": "continua.continuum.settings",
    "Drain": "continua.bodies.drain",
    "Emitter": "continua.bodies.emitter",
    "ExactContact": "continua.contact.penalty",
    "Gradient": "continua.bodies.variation",
    "Motor": "continua.bodies.axle",
    "ParticleBody": "continua.bodies.points",
    "GridContact": "continua.contact.penalty",
    "PenaltyContact": "continua.contact.penalty",
    "Placed": "continua.bodies.start",
    "RigidBody": "continua.bodies.rigid_body",
    "Scattered": "continua.bodies.start",
    "Scripted": "continua.bodies.scripted",
    "Simulation": "continua.simulation",
    "SolidBody": "continua.bodies.solid_body",
    "SpringBody": "continua.bodies.spring_body",
    "StrandContact": "continua.contact.strand_contact",
    "Strands": "continua.bodies.strands",
    "set_threads": "continua.concurrency",
    "threads": "continua.concurrency",
}
_MODULES = {
    "boundaries": "continua.contact.boundaries",
    "colliders": "continua.contact.colliders",
    "gallery": "continua.gallery",
    "integrators": "continua.integrators",
    "io": "continua.io",
    "materials": "continua.materials",
    "meshes": "continua.geometry.meshes",
    "motions": "continua.contact.motions",
    "pointtest": "continua.pointtest",
    "render": "continua.render",
    "scene": "continua.scene",
    "shapes": "continua.geometry.shapes",
    "testing": "continua.testing",
    "transfers": "continua.transfers",
    "velocities": "continua.bodies.velocity",
}

__all__ = [
    "Axle",
    "Body",
    "BodyForce",
    "Contact",
    "ContinuaError",
    "Continuum",
    "Drain",
    "Emitter",
    "ExactContact",
    "Gradient",
    "GridContact",
    "Motor",
    "ParticleBody",
    "PenaltyContact",
    "Placed",
    "RigidBody",
    "Scattered",
    "Scripted",
    "Simulation",
    "SolidBody",
    "SpringBody",
    "StrandContact",
    "Strands",
    "__version__",
    "boundaries",
    "colliders",
    "gallery",
    "integrators",
    "io",
    "materials",
    "meshes",
    "motions",
    "pointtest",
    "render",
    "scene",
    "set_threads",
    "shapes",
    "testing",
    "threads",
    "transfers",
    "velocities",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(_MODULES[name])
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'continua' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
