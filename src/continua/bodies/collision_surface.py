"""The surface of a solid among others on a grid: what it gives and what is given back (W20 4.4.1 to 4.4.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import GridMotion, MeetingSurface, Predicted
from continua.bodies.free_mesh import FreeMesh
from continua.bodies.particles import ParticleSet
from continua.contact.collision_particles import CollisionParticles, coulomb_impulses
from continua.contact.penalty import GridContact
from continua.transfers.exchange import Exchange

if TYPE_CHECKING:
    from continua.bodies.mesh_body import MeshBody

Array = NDArray[np.float64]


class CollisionSurface(FreeMesh):
    """Collision particles of a solid as a particle set, on a grid of spacing dx [m]."""

    def __init__(
        self, body: MeshBody, contact: GridContact, dtype: type[np.floating], dx: float, *, explicit: bool
    ) -> None:
        super().__init__(body, explicit=explicit)
        spacing = contact.spacing * dx
        self.points = CollisionParticles.spread(body.rest, body.surface, spacing, body.mass)
        self.contact = contact
        count, d = self.points.weights.shape
        self.set = ParticleSet(str(body.name), d, dtype)
        self._given = np.zeros((count, d))
        self.set.append(self.points.at(body.x), self._given, np.zeros((count, d, d)), self.points.mass)

    def place(self, wrap: Callable[[NDArray], NDArray]) -> None:
        self.set.x[:] = self.points.at(self.body.x)[self.set.ids]
        wrap(self.set.x)

    def give(self, predicted: Predicted) -> None:
        self._given = self.points.at(predicted.v)
        self.set.v[:] = self._given[self.set.ids]
        if self.contact.affine:
            gradients = self.body.surface_gradients(predicted.v)
            self.set.C = gradients[self.points.facet][self.set.ids]

    def surface(self) -> MeetingSurface:
        return MeetingSurface(True, self.points.areas(self.body.x))

    def change(
        self, exchange: Exchange, nodes: GridMotion, predicted: Predicted, dt: float
    ) -> tuple[Array, Array]:
        impulse = self._impulses(exchange, nodes)
        held = -self.body.let_go(impulse)
        mass = self.body.mass if self.contact.scatter == "exact" else self._shares()
        return impulse / np.where(mass > 0, mass, 1.0)[:, None], held

    def _impulses(self, exchange: Exchange, nodes: GridMotion) -> Array:
        """What the grid gives to the vertices (N, d) [N s].

        Solids of the same continuum push by how the common velocity differs from their own, which Coulomb's law cuts.
        What other continua and obstacles did at nodes is taken as it is: they got the opposite.
        """
        points = self.points
        common = exchange.values_at(nodes.forced)
        change = common - self._given
        if self.contact.gate:
            change[~nodes.company(exchange)] = 0.0
            turned = self.body.reversed_facets()  # what they would take for a push holds elements inside out
            change[turned[points.facet]] = 0.0
        friction, restitution = self.contact.friction, self.contact.restitution
        normals = points.normals(self.body.x)
        impulses = coulomb_impulses(change, normals, points.mass, friction=friction, restitution=restitution)
        if nodes.met is not nodes.forced:
            impulses += points.mass[:, None] * (exchange.values_at(nodes.met) - common)
        return points.collected(impulses, len(self.body))

    def _shares(self) -> Array:
        """Mass of collision particles at every vertex (N,) [kg], by their weights."""
        shares = self.points.weights * self.points.mass[:, None]
        return np.bincount(self.points.corners.ravel(), shares.ravel(), len(self.body)).astype(np.float64)
