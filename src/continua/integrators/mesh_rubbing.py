"""Friction of mesh bodies inside the solve: which points rub on what, with the normal forces found so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.mesh_body import MeshBody
from continua.contact.colliders import Collider
from continua.contact.mesh_contact import ContactSurface
from continua.contact.mesh_friction import FrictionEnergy, SlidingContacts
from continua.mesh import CollisionPairs
from continua.optimize import ImplicitStep
from continua.optimize.krylov import norm

Array = NDArray[np.float64]
Reaction = tuple[
    ContactSurface, NDArray[np.intp], Array
]  # the points (n,) on a surface, its forces (n, d) [N]
CREEP = 1e-3  # slip speed of what sticks, over the speed that normal forces would give its body in a step


@dataclass(frozen=True)
class Friction:
    """Coefficients between mesh bodies, and between an obstacle and a mesh body."""

    bodies: Callable[[MeshBody, MeshBody], float]
    obstacle: Callable[[Collider, MeshBody], float]


class Rubbing(FrictionEnergy):
    """Coulomb friction of mesh bodies with each other and with obstacles, as a term of one step.

    Normal forces are those of the solve before (lagged), so that every solve minimises an energy that is convex in
    what slides. rows: the points of every body among those of all.
    """

    def __init__(
        self,
        bodies: Sequence[MeshBody],
        colliders: Sequence[Collider],
        rows: Sequence[slice],
        step: ImplicitStep,
        dt: float,
        friction: Friction,
    ) -> None:
        super().__init__([])
        self._step, self._part = step, 1 / (step.rate * dt)
        self._between = np.array([[friction.bodies(a, b) for b in bodies] for a in bodies])
        self._obstacle = np.array([[friction.obstacle(c, b) for b in bodies] for c in colliders])
        self._body = np.repeat(np.arange(len(bodies)), [some.stop - some.start for some in rows])
        self._mass = np.array([body.mass.sum() for body in bodies])

    @property
    def between_bodies(self) -> bool:
        """Whether any bodies rub on each other."""
        return bool(self._between.any())

    @property
    def acts(self) -> bool:
        """Whether there is any friction at all."""
        return bool(self._between.any() or self._obstacle.any())

    def of(self, reactions: Sequence[Reaction], pairs: CollisionPairs | None) -> list[SlidingContacts]:
        """What rubs, with the normal forces of obstacles and between bodies."""
        touching = [self._on_obstacle(*reaction) for reaction in reactions]
        touching += [] if pairs is None else [self._on_bodies(pairs)]
        reaches = self._reaches(touching)
        return [
            SlidingContacts(
                nodes=t.nodes,
                weights=t.weights,
                normals=t.normals,
                limits=t.friction * t.push,
                bases=t.bases,
                reaches=reaches[t.bodies].min(axis=1),
                obstacle=t.obstacle,
            )
            for t in touching
        ]

    def change(self, groups: list[SlidingContacts], x: Array) -> float:
        """How much friction at x (N, d) [m] differs from what it would be with others, relative to them."""
        now, then = self.gradient(x), FrictionEnergy(groups).gradient(x)
        size = norm(then)
        return norm(now - then) / size if size > 0 else float(norm(now) > 0)

    def _on_obstacle(self, surface: ContactSurface, some: NDArray[np.intp], force: Array) -> _Touching:
        push = np.linalg.norm(force, axis=1)
        some, force, push = some[push > 0], force[push > 0], push[push > 0]
        x, body = self._step.start[some], self._body[some]
        ride = self._part * (surface.carries(x) - x)  # what sticks goes along with it
        return _Touching(
            some[:, None],
            np.ones((len(some), 1)),
            force / push[:, None],
            push,
            self._obstacle[surface.owner][body],
            self._step.base_position[some] + ride,
            body[:, None],
            surface.owner,
        )

    def _on_bodies(self, pairs: CollisionPairs) -> _Touching:
        some = np.flatnonzero(pairs.forces > 0)
        nodes, weights = pairs.nodes[some].astype(np.intp), pairs.weights[some]
        bodies = self._body[nodes[:, :2]]
        return _Touching(
            nodes,
            weights,
            pairs.ways[some] / pairs.depths[some, None],
            pairs.forces[some],
            self._between[bodies[:, 0], bodies[:, 1]],
            np.einsum("km,kma->ka", weights, self._step.base_position[nodes]),
            bodies,
        )

    def _reaches(self, touching: Sequence[_Touching]) -> Array:
        """How far what sticks may creep in the step, for every body [m]."""
        push = np.zeros(len(self._mass))
        for t in touching:
            np.add.at(push, t.bodies, t.push[:, None])
        reaches: Array = CREEP * push / self._mass / self._step.rate**2
        return reaches


@dataclass(frozen=True)
class _Touching:
    """Contacts of one kind, see `SlidingContacts`, with their normal forces and the bodies they join."""

    nodes: NDArray[np.intp]  # (K, m)
    weights: Array  # (K, m)
    normals: Array  # (K, d)
    push: Array  # (K,) [N], positive
    friction: Array  # (K,)
    bases: Array  # (K, d) [m]
    bodies: NDArray[np.intp]  # (K, 1) or (K, 2)
    obstacle: int | None = None
