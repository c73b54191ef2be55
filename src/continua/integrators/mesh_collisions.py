"""Solid mesh bodies that meet each other or themselves: one energy over the points of all of them (J15 A.5.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from continua.bodies.mesh_body import MeshBody
from continua.bodies.solid_body import SolidBody
from continua.integrators.schemes import Optimization
from continua.mesh import SelfCollision
from continua.mesh.collision import EPSILON

Array = NDArray[np.float64]
PENALTY = 10.0  # default stiffness of contact energies over that of the bodies


def penalty_stiffness(bodies: Sequence[MeshBody]) -> float:
    """Of contact energies [N/m^2], so that points sink in by a small part of an edge where bodies are much deformed."""
    return PENALTY * max(body.stiffness / body.edge_length for body in bodies)


def collision_of(bodies: Sequence[MeshBody], settings: Optimization) -> SelfCollision | None:
    """The energy over the points of all bodies, one body after the other; None where nothing can meet.

    It knows the undeformed meshes only, and serves all steps. Springs have no inside and take no part.
    """
    starts = np.cumsum([0] + [len(body) for body in bodies])
    solids = [(body, start) for body, start in zip(bodies, starts) if isinstance(body, SolidBody)]
    own_body = settings.collisions == "all"
    parts = sum(int(body.mesh.components.max()) + 1 for body, _ in solids)
    if settings.collisions == "off" or parts < (1 if own_body else 2):
        return None
    stiffness = settings.collision_stiffness or penalty_stiffness([body for body, _ in solids])
    smallest = min(float(np.ptp(body.rest, axis=0).max()) for body, _ in solids)
    return SelfCollision(
        np.concatenate([body.rest for body in bodies]),
        np.concatenate([body.cells + start for body, start in solids]),
        np.concatenate([body.surface + start for body, start in solids]),
        stiffness=stiffness,
        epsilon=EPSILON * smallest**2,
        own_body=own_body,
    )


def rub_bodies(
    v: Array, x: Array, mass: Array, collision: SelfCollision, friction: float, dt: float
) -> Array:
    """Coulomb friction after the solve between bodies in contact at x (N, d) [m], over a step dt [s].

    Changes v (N, d) [m/s] and gives the impulses (N, d) [N s] on all points. mass (N,) [kg]: inf for fixed points.
    """
    pairs = collision.pairs(x)
    v[:], impulses = pairs.friction(v, mass, coefficient=friction, dt=dt)
    given = np.zeros_like(v)
    np.add.at(given, pairs.nodes, pairs.weights[:, :, None] * impulses[:, None, :])
    return given
