"""Colliders as conditions phi(x) >= 0 on the points of meshes, for the minimiser (J15 A.3.2, A.5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.contact.colliders import KINDS, MODES, Collider

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
PLANE, BOX, SPHERE, CAPSULE, SAMPLED = (KINDS.index(k) for k in ("plane", "box", "sphere", "capsule", "mesh"))
STICKY, SLIP = MODES.index("sticky"), MODES.index("slip")
TOUCHING = 1e-9  # of the size of the bodies
PASSES = 10  # over all surfaces, until a point between several of them is outside all


@dataclass(frozen=True)
class ContactSurface:
    """A collider, or one face of a hollow box, at one moment."""

    row: Array  # as for the core
    samples: tuple[Array, Array, float] | None
    owner: int  # number of the collider
    before: ContactSurface | None = None  # at the beginning of the step

    @classmethod
    def over(cls, collider: Collider, owner: int, t: float, dt: float) -> list[ContactSurface]:
        """At the end of a step from t to t + dt [s]."""
        before, after = (cls.of(collider, owner, time) for time in (t, t + dt))
        return [replace(new, before=old) for old, new in zip(before, after, strict=True)]

    @classmethod
    def of(cls, collider: Collider, owner: int, t: float) -> list[ContactSurface]:
        """At time t [s]. A hollow box becomes its faces, so that corners are the meeting of planes."""
        row = collider.row(t)
        if not (int(row[0]) == BOX and collider.inverted):
            return [cls(row, collider.samples, owner)]
        faces = []
        for axis in range(collider.dimension):
            for side in (-1.0, 1.0):
                face = row.copy()
                face[0], face[3] = PLANE, 1.0
                face[22:31] = 0.0
                face[22 + axis] = -side
                face[25] = -side * row[22 + axis] - row[25 + axis]
                faces.append(cls(face, None, owner))
        return faces

    @property
    def sampled(self) -> bool:
        """Whether it is known at lattice points only, so that projections onto it are not exact."""
        return int(self.row[0]) == SAMPLED

    @property
    def curved(self) -> bool:
        """Whether its normal turns from point to point."""
        return int(self.row[0]) in (SPHERE, CAPSULE)

    @property
    def mode(self) -> int:
        return int(self.row[1])

    def at(self, x: Array) -> tuple[Array, Array]:
        """Distance (N,) [m], negative inside, and its gradient (N, d) at points x (N, d) [m]."""
        points = np.zeros((len(x), 3))
        points[:, : x.shape[1]] = x
        phi, normal = np.empty(len(x)), np.empty((len(x), 3))
        _core.collider_surface(self.row[None].copy(), [self.samples], points, phi, normal)
        return phi, normal[:, : x.shape[1]]

    def bend(self, x: Array, phi: Array, n: Array, u: Array) -> Array:
        """Second derivatives of phi at x (N, d), with its value and gradient there, times u (N, d).

        They are (I - n n^T - a a^T) / r at the distance r from the centre of a ball, or from an axis a.
        """
        kind, sign = int(self.row[0]), float(self.row[3])
        if not self.curved:
            return np.zeros_like(u)
        flat = u - dots(n, u)[:, None] * n
        if kind == CAPSULE:
            a, between = self._axis(x)
            flat -= np.where(between, dots(flat, a[None]), 0.0)[:, None] * a
        radius = float(self.row[25] if kind == SPHERE else self.row[28])
        r = radius + sign * phi
        return flat * np.divide(sign, r, out=np.zeros_like(r), where=r > 0)[:, None]

    def _axis(self, x: Array) -> tuple[Array, Mask]:
        """Unit vector (d,) along a capsule, and which points (N,) lie beside it rather than beyond an end."""
        d = x.shape[1]
        rotation = self.row[7:16].reshape(3, 3)[:d, :d]
        start, end = self.row[22 : 22 + d], self.row[25 : 25 + d]
        axis = rotation @ (end - start)
        length2 = float(axis @ axis)
        along = (x - self.row[4 : 4 + d] - rotation @ start) @ axis
        return axis / np.sqrt(length2) if length2 > 0 else axis, (along > 0) & (along < length2)

    def carries(self, x: Array) -> Array:
        """Where points x (N, d) [m] that stick to it at the beginning of the step are at its end."""
        d = x.shape[1]
        assert self.before is not None
        (p, R), (q, S) = ((s.row[4 : 4 + d], s.row[7:16].reshape(3, 3)[:d, :d]) for s in (self.before, self))
        return q + (x - p) @ R @ S.T

    def velocity(self, x: Array) -> Array:
        """Velocities (N, d) [m/s] of the collider at points x (N, d) [m]."""
        d = x.shape[1]
        arm = np.zeros((len(x), 3))
        arm[:, :d] = x - self.row[4 : 4 + d]
        return (self.row[16:19] + np.cross(self.row[19:22], arm))[:, :d]


def dots(a: Array, b: Array) -> Array:
    """a.b of every row (N,)."""
    return np.einsum("ij,ij->i", *np.broadcast_arrays(a, b))


@dataclass
class _Held:
    """Points that slide on a surface during one iteration."""

    points: NDArray[np.intp]  # (n,)
    direction: Array  # (n, d) its normal, orthogonal to those of other surfaces that hold the same points
    bend: tuple[Array, Array, Array]  # x, phi and normal (n, ...) for the curvature
    push: Array  # (n,) [N] with which they press on it


class MeshContact:
    """Feasible positions: outside of all surfaces, and where they must be for points that are fixed.

    surfaces: analytic ones at the end of the step. fixed (N,) and values (N, d) [m]: scripted or stuck points, which
    take part in no contact. tied: for every surface, points (N,) that may not leave it. size [m]: of the bodies.
    """

    def __init__(
        self,
        surfaces: Sequence[ContactSurface],
        fixed: Mask,
        values: Array,
        tied: Sequence[Mask],
        size: float,
    ) -> None:
        self.surfaces = surfaces
        self._free, self._values, self._tied = ~fixed, values, tied
        self._touching = TOUCHING * size
        self._held: list[_Held] = []

    def project(self, x: Array) -> Array:
        """Points that are not feasible go to the nearest surface, fixed ones to their places."""
        x = np.where(self._free[:, None], x, self._values)
        return self._outside(x, np.zeros_like(x), self._tied)[0]

    def path(self, x: Array, dx: Array, alpha: float) -> tuple[Array, Array]:
        """Straight, but along surfaces that hold a point or would be entered."""
        held = [np.zeros(len(x), bool) for _ in self.surfaces]
        for mask, contact, surface in zip(held, self._held, self.surfaces):
            # On flat faces dx keeps them there, and beyond an edge they may go.
            mask[contact.points] = surface.curved
        return self._outside(x + alpha * dx, dx.copy(), held)

    def _outside(self, y: Array, dy: Array, held: Sequence[Mask]) -> tuple[Array, Array]:
        """Feasible y and the derivative of its path; both are changed in place."""
        passes = PASSES if len(self.surfaces) > 1 else 1
        for _ in range(passes):
            farthest = 0.0
            for surface, mask in zip(self.surfaces, held):
                phi, n = surface.at(y)
                some = np.flatnonzero(self._free & (mask | (phi < 0)))
                if not len(some):
                    continue
                phi, n, u = phi[some], n[some], dy[some]
                # P' = I - n n^T - phi hess(phi)
                dy[some] = u - dots(n, u)[:, None] * n - phi[:, None] * surface.bend(y[some], phi, n, u)
                y[some] -= phi[:, None] * n
                farthest = max(farthest, float(np.abs(phi).max()))
            if farthest <= 1e-6 * self._touching:
                break
        return y, dy

    def register_active(self, x: Array, gradient: Array) -> None:
        """Points that touch a surface and press on it slide on it during the coming iteration."""
        self._held = []
        for surface, tied in zip(self.surfaces, self._tied):
            phi, n = surface.at(x)
            push = dots(n, gradient)
            some = np.flatnonzero(self._free & (np.abs(phi) < self._touching) & ((push >= 0) | tied))
            held = _Held(some, self._orthogonal(some, n[some]), (x[some], phi[some], n[some]), push[some])
            self._held.append(held)

    def _orthogonal(self, some: NDArray[np.intp], n: Array) -> Array:
        """Directions n (n, d) at some points, without those in which other surfaces hold the points already."""
        direction = n.copy()
        for other in self._held:
            _, here, there = np.intersect1d(some, other.points, assume_unique=True, return_indices=True)
            q = other.direction[there]
            direction[here] -= dots(q, direction[here])[:, None] * q
        length = np.linalg.norm(direction, axis=1)[:, None]
        return np.divide(direction, length, out=np.zeros_like(direction), where=length > 1e-6)

    def reduce_gradient(self, gradient: Array) -> Array:
        """The part along which points may move."""
        g = np.where(self._free[:, None], gradient, 0.0)
        for held in self._held:
            some, q = held.points, held.direction
            g[some] -= dots(q, g[some])[:, None] * q
        return g

    def reduce_product(self, product: Array, dx: Array) -> Array:
        """Q (H' - (g.n) hess(phi)) dx: on a curved surface the normal turns along the way (J15 A.5.1)."""
        product = product.copy()
        for surface, held in zip(self.surfaces, self._held):
            some = held.points
            product[some] -= held.push[:, None] * surface.bend(*held.bend, dx[some])
        return self.reduce_gradient(product)

    def reactions(self, gradient: Array) -> list[tuple[ContactSurface, NDArray[np.intp], Array]]:
        """Of every surface: the points (n,) it holds, and its forces (n, d) [N] on them at the registered place."""
        found = []
        for surface, held in zip(self.surfaces, self._held):
            some, q = held.points, held.direction
            found.append((surface, some, dots(q, gradient[some])[:, None] * q))
        return found


def stop(v: Array, x: Array, mass: Array, surface: ContactSurface, some: NDArray[np.intp]) -> Array:
    """Points (n,) that have come to a sticky surface go with it: changes their v (N, d) [m/s] and gives
    the impulses (n, d) [N s] that this takes."""
    _, n = surface.at(x[some])
    slide = v[some] - surface.velocity(x[some])
    slide -= dots(n, slide)[:, None] * n
    v[some] -= slide
    return -mass[some][:, None] * slide
