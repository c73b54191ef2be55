"""The surface of a solid among others on a grid: what it gives and what is given back (W20 4.4.1 to 4.4.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import GridMotion, Predicted
from continua.bodies.surface_on_grid import SurfaceOnGrid
from continua.contact.collision_particles import coulomb_impulses
from continua.contact.penalty import GridContact
from continua.transfers.exchange import Exchange

if TYPE_CHECKING:
    from continua.bodies.mesh_body import MeshBody

Array = NDArray[np.float64]


class CollisionSurface(SurfaceOnGrid):
    """Collision particles of a solid, to which the grid gives back what others and other parts of the surface do."""

    def __init__(
        self, body: MeshBody, contact: GridContact, dtype: type[np.floating], dx: float, *, explicit: bool
    ) -> None:
        super().__init__(body, contact.spacing * dx, dtype, explicit=explicit)
        self.contact = contact

    def give(self, predicted: Predicted) -> None:
        super().give(predicted)
        if self.contact.affine:
            gradients = self.body.surface_gradients(predicted.v)
            self.set.C = gradients[self.points.facet][self.set.ids]

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
