"""The surface of a mesh among others on a grid: what it gives, and what is given back (W20 sections 4.4.1 to 4.4.5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import GridMotion
from continua.bodies.particles import ParticleSet
from continua.contact.collision_particles import CollisionParticles, coulomb_impulses
from continua.contact.penalty import GridContact
from continua.transfers.exchange import Exchange

Array = NDArray[np.float64]


class CollisionSurface:
    """Collision particles of a mesh as a particle set; they are copies, made anew in every step."""

    def __init__(
        self, name: str, points: CollisionParticles, contact: GridContact, dtype: type[np.floating]
    ) -> None:
        d = points.weights.shape[1]
        self.points, self.contact = points, contact
        self.set = ParticleSet(name, d, dtype)
        nothing = np.zeros((len(points), d))
        self.set.append(nothing, nothing, np.zeros((len(points), d, d)), points.mass)
        self._given = nothing

    def place(self, x: Array, wrap: Callable[[NDArray], NDArray]) -> None:
        """The vertices are at x (N, d) [m]."""
        self.set.x[:] = self.points.at(x)[self.set.ids]
        wrap(self.set.x)

    def give(self, v: Array, gradients: Array | None) -> None:
        """Vertices move with v (N, d) [m/s]; gradients (F, d, d) [1/s] of the elements behind facets, if they count."""
        self._given = self.points.at(v)
        self.set.v[:] = self._given[self.set.ids]
        if gradients is not None:
            self.set.C = gradients[self.points.facet][self.set.ids]

    def impulses(
        self, x: Array, exchange: Exchange, nodes: GridMotion, reversed_facets: NDArray[np.bool_] | None
    ) -> Array:
        """What the grid gives to the vertices (N, d) [N s], which are at x (N, d) [m].

        reversed_facets (F,): those whose normals point inwards, if there may be any.

        Solids of the same continuum push by how the common velocity differs from their own, which Coulomb's law cuts.
        What other continua and obstacles did at nodes is taken as it is: they got the opposite.
        """
        points = self.points
        common = exchange.values_at(nodes.forced)
        change = common - self._given
        if self.contact.gate:
            change[~nodes.company(exchange)] = 0.0
            if reversed_facets is not None:  # what they would take for a push holds their elements inside out
                change[reversed_facets[points.facet]] = 0.0
        impulses = coulomb_impulses(
            change,
            points.normals(x),
            points.mass,
            friction=self.contact.friction,
            restitution=self.contact.restitution,
        )
        if nodes.met is not nodes.forced:
            impulses += points.mass[:, None] * (exchange.values_at(nodes.met) - common)
        return points.collected(impulses, len(x))

    def shares(self, count: int) -> Array:
        """Mass of collision particles at every vertex (count,) [kg], by their weights."""
        return np.bincount(
            self.points.corners.ravel(), (self.points.weights * self.points.mass[:, None]).ravel(), count
        ).astype(np.float64)
