"""Solid mesh bodies that meet each other or themselves: one energy over the points of all of them (J15 A.5.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from continua.bodies.kinds import solid_bodies
from continua.bodies.mesh_body import MeshBody
from continua.mesh import SelfCollision
from continua.mesh.collision import EPSILON

PENALTY = 10.0  # default stiffness of contact energies over that of the bodies


def penalty_stiffness(bodies: Sequence[MeshBody]) -> float:
    """Of contact energies [N/m^2], so that points sink in by a small part of an edge where bodies are much deformed."""
    return PENALTY * max(body.stiffness / body.edge_length for body in bodies)


def collision_of(bodies: Sequence[MeshBody]) -> SelfCollision | None:
    """The energy over the points of all bodies, one body after the other; None where nothing can meet.

    It knows the undeformed meshes only, and serves all steps. Springs have no inside and take no part.
    """
    starts = dict(zip(map(id, bodies), np.cumsum([0] + [len(body) for body in bodies])))
    solids = [(body, starts[id(body)]) for body in solid_bodies(bodies) if body.penalty.collisions != "off"]
    own_body = any(body.penalty.collisions == "all" for body, _ in solids)
    parts = sum(int(body.mesh.components.max()) + 1 for body, _ in solids)
    if not solids or parts < (1 if own_body else 2):
        return None
    given = [body.penalty.stiffness for body, _ in solids if body.penalty.stiffness]
    smallest = min(float(np.ptp(body.rest, axis=0).max()) for body, _ in solids)
    only_others = np.concatenate([np.full(len(body), body.penalty.collisions != "all") for body in bodies])
    return SelfCollision(
        np.concatenate([body.rest for body in bodies]),
        np.concatenate([body.cells + start for body, start in solids]),
        np.concatenate([body.surface + start for body, start in solids]),
        stiffness=max(given) if given else penalty_stiffness([body for body, _ in solids]),
        epsilon=EPSILON * smallest**2,
        own_body=own_body,
        only_others=only_others if own_body and only_others.any() else None,
    )
