"""Collision particles: points on the facets of a mesh that stand for its surface on a grid (W20 section 4.4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int32]
PLASTIC = (
    0.7548776662466927,
    0.5698402909980532,
)  # steps of a sequence that fills a square evenly (Roberts 2018)

FACING = -0.3  # cosine of the angle between normals of surfaces that may touch
ROUNDING = 1e-9  # relative: the number of particles must not depend on where in space a mesh is


@dataclass(frozen=True)
class CollisionParticles:
    """Points at fixed places of facets: x_q = sum_k b_k x_k over the corners of its facet (W20 (4.15)).

    facets (F, d): corners of the facets; facet (Q,): the one of every particle; weights (Q, d): b, not negative, with
    sum 1; mass (Q,) [kg].
    """

    facets: Indices
    facet: Indices
    weights: Array
    mass: Array

    @classmethod
    def spread(
        cls, points: Array, facets: Indices, spacing: float, vertex_mass: Array, seed: int = 0
    ) -> CollisionParticles:
        """About one particle per spacing [m], in 3D per its square, at least one per facet, evenly over each.

        The mass of a facet is the sum of those shares of its vertices; so the particles together have the mass of all
        vertices of the surface.
        """
        ratio = facet_sizes(points, facets) / spacing ** (points.shape[1] - 1)
        counts = np.maximum(1, np.ceil(ratio * (1 - ROUNDING))).astype(int)
        facet = np.repeat(np.arange(len(facets), dtype=np.int32), counts)
        first = np.cumsum(counts) - counts
        weights = _strata(np.arange(len(facet)) - first[facet], counts[facet], facet, facets.shape[1], seed)
        shares = vertex_mass / np.maximum(np.bincount(facets.ravel(), minlength=len(points)), 1)
        mass = shares[facets].sum(axis=1) / counts
        return cls(facets, facet, weights, mass[facet])

    def __len__(self) -> int:
        return len(self.facet)

    def some(self, chosen: NDArray[np.bool_]) -> CollisionParticles:
        """Those of a mask (Q,)."""
        return replace(self, facet=self.facet[chosen], weights=self.weights[chosen], mass=self.mass[chosen])

    @cached_property
    def corners(self) -> Indices:
        """Vertices of the facet of every particle (Q, d)."""
        return self.facets[self.facet]

    @cached_property
    def _counts(self) -> NDArray[np.intp]:
        """Number of particles of every facet (F,)."""
        return np.bincount(self.facet, minlength=len(self.facets))

    def at(self, values: Array) -> Array:
        """Values of vertices (N, ...) at the particles (Q, ...)."""
        found: Array = np.einsum("qk,qk...->q...", self.weights, values[self.corners])
        return found

    def normals(self, points: Array) -> Array:
        """Outward normals of unit length (Q, d) where the vertices are at points (N, d) [m]."""
        normals = facet_normals(points, self.facets)
        size = np.linalg.norm(normals, axis=1, keepdims=True)
        return (normals / np.where(size > 0, size, 1.0))[self.facet]

    def areas(self, points: Array) -> Array:
        """Outward normals times the part of the facet's area that is the particle's (Q, d) [m^(d-1)]."""
        return (facet_normals(points, self.facets) / self._counts[:, None])[self.facet]

    def collected(self, values: Array, count: int) -> Array:
        """Sums over the particles (Q, d), by their weights, at the vertices (count, d)."""
        parts = self.weights[:, :, None] * values[:, None, :]
        at = self.corners.ravel()
        columns = [np.bincount(at, parts[:, :, a].ravel(), count) for a in range(values.shape[1])]
        return np.stack(columns, axis=1)


def facet_normals(points: Array, facets: Indices) -> Array:
    """Outward normals of facets times their areas, in 2D lengths, (F, d)."""
    corners = points[facets]
    if points.shape[1] == 2:
        along = corners[:, 1] - corners[:, 0]
        return np.stack([along[:, 1], -along[:, 0]], axis=1)
    (ux, uy, uz), (vx, vy, vz) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    return 0.5 * np.stack(
        [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx], axis=1
    )  # faster than np.cross


def facet_sizes(points: Array, facets: Indices) -> Array:
    """Areas, in 2D lengths, of facets (F,)."""
    sizes: Array = np.linalg.norm(facet_normals(points, facets), axis=1)
    return sizes


def _strata(
    number: NDArray[np.intp], count: NDArray[np.intp], facet: Indices, corners: int, seed: int
) -> Array:
    """Weights (Q, corners) of the number-th of `count` points spread evenly over each facet, the first at random."""
    rng = np.random.default_rng(seed)
    start = rng.random((int(facet[-1]) + 1 if len(facet) else 0, 2))[facet]
    if corners == 2:
        along = (number + start[:, 0]) / count
        return np.stack([1 - along, along], axis=1)
    u, v = ((start[:, k] + step * number) % 1.0 for k, step in enumerate(PLASTIC))
    beyond = u + v > 1  # the other half of the square, folded over
    u, v = np.where(beyond, 1 - u, u), np.where(beyond, 1 - v, v)
    return np.stack([1 - u - v, u, v], axis=1)


def coulomb_impulses(
    change: Array, normals: Array, mass: Array, *, friction: float, restitution: float
) -> Array:
    """Impulses (Q, d) [N s] of collision particles, given by how the grid changed their velocity (Q, d) [m/s].

    W20 (4.20)-(4.23) with a factor 1 + e in place of 2: a change along the outward normal is separation or cohesion and
    is not taken; friction is at most the friction coefficient times the push, and what the grid says.
    """
    along = np.einsum("qa,qa->q", change, normals)
    push = np.where(along < 0, (1 + restitution) * along, 0.0)
    slide = change - along[:, None] * normals
    speed = np.linalg.norm(slide, axis=1)
    rub = np.minimum(speed, -friction * push) / np.where(speed > 0, speed, 1.0)
    impulses: Array = mass[:, None] * (push[:, None] * normals + rub[:, None] * slide)
    return impulses
