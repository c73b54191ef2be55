"""Rigid impact zones: what impulses cannot keep apart goes on as one piece, until nothing meets.

The fail-safe of impulses (M23 section 7; zones as in Bridson et al. 2002). A zone moves with v = V + w x (x - xc) and
the momentum its vertices had. Along straight ways it goes x -> V t + (1 + t [w]) r, whose determinant 1 + t^2 |w|^2
is never zero: a zone cannot meet itself. With held vertices a zone follows the affine motion that they have, if they
have one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.contact.exact.surfaces import Array, Hits, Mask, Surfaces, find_hits

FITS = 1e-9  # of the size of a zone: how far held vertices may be from an affine motion


class RigidZones:
    """Zones of vertices that start at x (N, d) [m], for a step dt [s]."""

    def __init__(self, surfaces: Surfaces, mass: Array, held: Mask, x: Array, dt: float) -> None:
        self.surfaces, self.mass, self.held, self.x, self.dt = surfaces, mass, held, x, dt
        self._leader: NDArray[np.int64] = np.arange(surfaces.vertices)  # smallest vertex of the zone of each

    @property
    def count(self) -> int:
        """Zones of more than one vertex."""
        sizes = np.bincount(self._leader, minlength=len(self._leader))
        return int(np.count_nonzero(sizes > 1))

    def resolve(self, v: Array, impulses: Array) -> str:
        """Let zones grow until nothing meets; v and impulses (N, d) change. Why that cannot be, or nothing."""
        while True:
            hits = find_hits(self.surfaces, self.x, v, self.dt, held=self.held)
            touched = [zone for found in hits for zone in self._merge(found)]
            if not any(len(found.times) for found in hits):
                return ""
            if not touched:
                return "surfaces that are as close as rounding do not come apart even as one piece"
            for leader in sorted({int(self._leader[zone]) for zone in touched}):
                members = np.flatnonzero(self._leader == leader)
                moved = self._motion(members, v)
                if moved is None:
                    return "what lies between parts that are moved by scripts or colliders has no way out"
                self._give(members, moved, v, impulses)

    def _merge(self, hits: Hits) -> list[int]:
        """Unite the vertices of stencils that meet. Those that were not in one zone before."""
        grown = []
        for nodes in hits.stencils:
            zones = np.unique(self._leader[nodes])
            if len(zones) < 2:
                continue
            self._leader[np.isin(self._leader, zones)] = zones[0]
            grown.append(int(nodes[0]))
        return grown

    def _motion(self, members: NDArray[np.int64], v: Array) -> Array | None:
        """Velocities (n, d) of the vertices of a zone."""
        fixed = self.held[members]
        if not fixed.any():
            return rigid_velocities(self.x[members], v[members], self.mass[members])
        return affine_velocities(self.x[members], v[members], fixed, self.dt)

    def _give(self, members: NDArray[np.int64], moved: Array, v: Array, impulses: Array) -> None:
        fixed = self.held[members]
        free = members[~fixed]
        given = self.mass[free, None] * (moved[~fixed] - v[free])
        v[free] = moved[~fixed]
        impulses[free] += given
        if fixed.any():
            impulses[members[fixed]] += reactions(self.x[free], given, self.x[members[fixed]])


def rigid_velocities(x: Array, v: Array, mass: Array) -> Array:
    """The rigid motion (n, d) with the linear and angular momentum of v (n, d), for vertices at x (n, d)."""
    centre, mean = mass @ x / mass.sum(), mass @ v / mass.sum()
    r = x - centre
    turns = _turns(r)
    # I w = L, least squares where the vertices are on a line.
    inertia = np.einsum("p,pat,pas->ts", mass, turns, turns)
    momentum = np.einsum("p,pat,pa->t", mass, turns, v - mean)
    w = np.linalg.pinv(inertia, rcond=1e-12, hermitian=True) @ momentum
    return np.asarray(mean + turns @ w)


def affine_velocities(x: Array, v: Array, fixed: Mask, dt: float) -> Array | None:
    """The affine motion (n, d) of those that are fixed, for all; none if they have none that keeps volumes positive."""
    centre = x[fixed].mean(axis=0)
    mean = v[fixed].mean(axis=0)
    r = x - centre
    gradient = (np.linalg.pinv(r[fixed], rcond=1e-9) @ (v[fixed] - mean)).T
    moved = np.asarray(mean + r @ gradient.T)
    size = np.ptp(x, axis=0).max()
    if np.abs(dt * (moved[fixed] - v[fixed])).max() > FITS * size:
        return None
    # det(1 + t B) > 0 on the way: no real eigenvalue of B reaches -1.
    values = np.linalg.eigvals(dt * gradient)
    if ((np.abs(values.imag) < 1e-12) & (values.real <= -1 + 1e-6)).any():
        return None
    return moved


def reactions(x: Array, given: Array, at: Array) -> Array:
    """Impulses on the vertices `at` (m, d) that take back linear and, if they can, angular momentum of `given` at x."""
    centre = at.mean(axis=0)
    r = at - centre
    turns = _turns(r)
    torque = np.einsum("pat,pa->t", _turns(x - centre), given)
    inertia = np.einsum("pat,pas->ts", turns, turns)
    w = np.linalg.pinv(inertia, rcond=1e-12, hermitian=True) @ torque
    return np.asarray(-given.sum(axis=0) / len(at) - turns @ w)


def _turns(r: Array) -> Array:
    """Velocities (n, d, n_w) of vertices at r (n, d) for unit turns about the origin."""
    d = r.shape[1]
    turns = np.zeros((len(r), d, 1 if d == 2 else 3))
    if d == 2:
        turns[:, 0, 0], turns[:, 1, 0] = -r[:, 1], r[:, 0]
        return turns
    for t in range(3):
        i, j = (t + 1) % 3, (t + 2) % 3
        turns[:, i, t], turns[:, j, t] = -r[:, j], r[:, i]
    return turns
