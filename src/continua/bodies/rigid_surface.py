"""The surface of a rigid body among others on a grid: what it gives and what is given back (W20 section 4.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import GridMotion
from continua.bodies.particles import ParticleSet
from continua.contact.collision_particles import CollisionParticles, coulomb_impulses
from continua.contact.contact_potential import gradients, returned
from continua.transfers.exchange import Exchange

Array = NDArray[np.float64]
SPACING = 0.5  # of collision particles [cells]
REST, IMPACT = 256.0, 64.0  # of c^2, over g dx and the square of the speed of the body


class RigidSurface:
    """Collision particles of a rigid body, of equal mass, on a grid of spacing dx [m].

    They carry the fibres of a contact potential, which pushes bodies of the same continuum apart.
    """

    def __init__(
        self,
        name: str,
        x: Array,
        facets: NDArray[np.int32],
        *,
        mass: float,
        friction: float,
        dx: float,
        dtype: type[np.floating],
    ) -> None:
        spread = CollisionParticles.spread(x, facets, SPACING * dx, np.ones(len(x)))
        count, d = spread.weights.shape
        self._count = len(x)
        self.points = CollisionParticles(
            spread.facets, spread.facet, spread.weights, np.full(count, mass / count)
        )
        self.mass, self.friction, self.dx = mass, friction, dx
        self._first_areas = self.points.areas(x)  # in the first orientation
        self._first_normals = self.points.normals(x)
        self.areas, self.normals = self._first_areas, self._first_normals
        self._sizes = np.linalg.norm(self.areas, axis=1)
        self.fibres = self.normals
        self.wave = 0.0  # speed of waves in the contact [m/s], which limits the steps while there is any
        self._trial = self._given = np.zeros((count, d))
        self._stiffness = 0.0
        self._company = np.zeros(count, bool)
        self.next_fibres = self.fibres
        self.set = ParticleSet(name, d, dtype)
        self.set.append(self.points.at(x), self._given, np.zeros((count, d, d)), self.points.mass)

    def place(self, x: Array, rotation: Array, wrap: Callable[[NDArray], NDArray]) -> None:
        """The points of the body are at x (N, d) [m], turned by a rotation (d, d)."""
        self.areas, self.normals = self._first_areas @ rotation.T, self._first_normals @ rotation.T
        self.set.x[:] = self.points.at(x)[self.set.ids]
        wrap(self.set.x)

    def give(self, v: Array) -> None:
        """They would move with v (N, d) [m/s]."""
        self._given = self.points.at(v)
        self.set.v[:] = self._given[self.set.ids]

    def press(self, exchange: Exchange, nodes: GridMotion, dt: float, g: float) -> None:
        """Add the impulses of the potential to the momentum of nodes, by their velocities without it.

        The stiffness is what stops the body within about a cell, whatever the area that touches: with waves of speed
        c, c^2 = REST g dx + IMPACT v^2, in a layer of a cell that carries its mass.
        """
        self._company = nodes.others(exchange)
        area = float(self._sizes[self._company].sum())
        speed = float(np.sqrt((self._given**2).sum(axis=1).max()))
        self.wave = float(np.sqrt(REST * g * self.dx + IMPACT * speed**2)) if area else 0.0
        self._trial = self.normals.copy()
        if not area:
            return
        self._stiffness = self.mass * self.wave**2 / (area * self.dx)
        fibres = self.fibres
        slopes = exchange.gradients_at(nodes.given)
        trial = fibres + dt * np.einsum("qab,qb->qa", slopes, fibres)
        self._trial[self._company] = trial[self._company]
        stress = gradients(self._trial, self.normals, self._stiffness, self._stiffness)
        volumes = 0.5 * self.dx * self._sizes
        pull = -dt * volumes[:, None, None] * stress[:, :, None] * fibres[:, None, :]
        pull[~self._company] = 0.0
        exchange.scatter_matrices(pull, nodes.forced, add=True)

    def impulses(self, exchange: Exchange, nodes: GridMotion) -> Array:
        """What the grid gives to the points of the body (N, d) [N s].

        Bodies of the same continuum push by how the common velocity differs from their own, which Coulomb's law cuts.
        What other continua did at nodes is taken as it is: they got the opposite.
        """
        points = self.points
        common = exchange.values_at(nodes.forced)
        change = common - self._given
        change[~self._company] = 0.0
        impulses = coulomb_impulses(
            change, self.normals, points.mass, friction=self.friction, restitution=0.0
        )
        if nodes.met is not nodes.forced:
            impulses += points.mass[:, None] * (exchange.values_at(nodes.met) - common)
        return points.collected(impulses, self._count)

    def follow(self, rotation: Array) -> None:
        """The fibres at the end of the step, when the body is turned by a rotation (d, d)."""
        normals = self._first_normals @ rotation.T
        kept = returned(self._trial, normals, self._stiffness, self._stiffness, self.friction)
        self.next_fibres = np.where(self._company[:, None], kept, normals)

    def accept(self) -> None:
        """The step counts."""
        self.fibres = self.next_fibres

    def snapshot(self) -> dict[str, NDArray]:
        """What the next step depends on beside the body."""
        return {"fibres": self.fibres.copy(), "wave": np.array(self.wave)}

    def restore(self, data: Mapping[str, NDArray]) -> None:
        """Inverse of `snapshot`."""
        self.fibres, self.wave = np.array(data["fibres"]), float(data["wave"])
