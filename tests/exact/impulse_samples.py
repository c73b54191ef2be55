"""Stencils that are known to meet, and bodies that fly into each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.contact.exact.impulses import Impulses, Surfaces

Array = NDArray[np.float64]
CLASSES = ("interior", "edge", "vertex", "sliver", "flat")


def weights_inside(rng: np.random.Generator, count: int, corners: int) -> Array:
    """Barycentric coordinates (count, corners), even over the simplex."""
    return np.asarray(rng.dirichlet(np.ones(corners), count))


def meeting_points(
    kind: str, rng: np.random.Generator, count: int, d: int, edges: bool
) -> tuple[Array, Array]:
    """Weights (count, d + 1) of the way between what meets, and vertices (count, d + 1, d) at the meeting."""
    c = np.zeros((count, d + 1))
    if edges:
        a, b = rng.random((2, count))
        if kind == "edge":  # an end of the first on the inside of the second
            a = np.round(a)
        if kind == "vertex":
            a, b = np.round(a), np.round(b)
        c[:] = np.stack([a - 1, -a, 1 - b, b], axis=1)
    else:
        w = weights_inside(rng, count, d)
        if kind == "edge" and d == 3:
            w[:, 2] = 0
        if kind == "vertex" or (kind == "edge" and d == 2):
            w[:] = np.eye(d)[0]
        w /= w.sum(axis=1, keepdims=True)
        c[:, :d], c[:, d] = -w, 1
    x = rng.normal(size=(count, d + 1, d))
    if kind == "sliver" and not edges:  # a facet ten thousand times as long as it is high
        along = x[:, 1] - x[:, 0]
        x[:, d - 1] = x[:, 0] + rng.random((count, 1)) * along + 1e-4 * rng.normal(size=(count, d))
    if kind == "sliver" and edges:  # nearly parallel
        x[:, 3] = x[:, 2] + (x[:, 1] - x[:, 0]) + 1e-4 * rng.normal(size=(count, 3))
    # Moved together so that the way is none.
    way = np.einsum("pk,pka->pa", c, x)
    x[:, d if not edges else 2 :] -= way[:, None]
    return c, x


def forced_hits(
    kind: str, count: int, d: int = 3, *, edges: bool = False, seed: int = 0
) -> tuple[Array, Array, Array]:
    """Starts (count, d + 1, d), displacements, and the time (count,) at which each stencil meets for sure."""
    rng = np.random.default_rng(seed)
    c, there = meeting_points(kind, rng, count, d, edges)
    u = rng.normal(size=there.shape)
    if kind == "flat":  # everything within a millionth of a plane (of a line in 2D), on the way too
        there[..., -1] *= 1e-6
        u[..., -1] *= 1e-6
        way = np.einsum("pk,pka->pa", c, there)
        there[:, d if not edges else 2 :] -= way[:, None]
    t = rng.uniform(0.05, 0.95, count)
    return there - t[:, None, None] * u, u, t


def first_meetings(x: Array, u: Array, edges: bool = False) -> tuple[Array, Array, Array]:
    """Times (count,), weights and normals of separate stencils (count, d + 1, d) that go by u."""
    count, size, d = x.shape
    rows = np.arange(count * size, dtype=np.int32).reshape(count, size)
    flat = np.ascontiguousarray(x.reshape(-1, d)), np.ascontiguousarray(u.reshape(-1, d))
    times, weights, normals = _core.surface_meetings(*flat, 1.0, np.empty((0, d), np.int32), rows, edges)
    return np.asarray(times), np.asarray(weights), np.asarray(normals)


TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / (2 * np.sqrt(3))
TETRAHEDRON_FACETS = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
TRIANGLE = 0.5 * np.array([[1.0, 0.0], [-0.5, np.sqrt(0.75)], [-0.5, -np.sqrt(0.75)]])
TRIANGLE_FACETS = np.array([[0, 1], [1, 2], [2, 0]])


class Flung:
    """Tumbling tetrahedra (triangles in 2D) of diameter 1 with random masses, flung at their common centre so that a
    step of 1 s is longer than each of them."""

    def __init__(
        self, seed: int, d: int = 3, bodies: int = 14, friction: float = 0.3, radius: float = 0.0
    ) -> None:
        rng = np.random.default_rng(seed)
        shape, facets = (TETRAHEDRON, TETRAHEDRON_FACETS) if d == 3 else (TRIANGLE, TRIANGLE_FACETS)
        centres: list[Array] = []
        farthest = radius or (3 if d == 3 else 5)
        while len(centres) < bodies:
            place = rng.normal(size=d)
            place *= rng.uniform(1, farthest) / np.linalg.norm(place)
            if all(np.linalg.norm(place - other) > 1.05 for other in centres):
                centres.append(place)
        x, v = [], []
        for centre in centres:
            turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
            turn[:, 0] *= np.sign(np.linalg.det(turn))
            r = shape @ turn.T
            if d == 3:
                spin = np.cross(2 * rng.normal(size=3), r)
            else:
                spin = 2 * rng.normal() * np.stack([-r[:, 1], r[:, 0]], axis=1)
            x.append(centre + r)
            v.append(-centre * rng.uniform(0.8, 1.5) + spin + 0.1 * rng.normal(size=r.shape))
        self.x, self.v, self.dt = np.concatenate(x), np.concatenate(v), 1.0
        self.mass = rng.uniform(0.5, 2.0, len(self.x))
        self.facets = np.concatenate([facets + len(shape) * k for k in range(bodies)]).astype(np.int32)
        self.part = np.repeat(np.arange(bodies), len(shape)).astype(np.int32)
        self.held = np.zeros(len(self.x), bool)
        self.friction = friction

    @property
    def surfaces(self) -> Surfaces:
        parts = int(self.part.max()) + 1
        return Surfaces(self.facets, self.part, np.full((parts, parts), self.friction))

    def energy(self, v: Array) -> float:
        """Kinetic energy [J]."""
        return float(0.5 * self.mass @ (v**2).sum(axis=1))

    def impulses(self, **settings: Any) -> Impulses:
        """Without thickness and gap, if not said otherwise."""
        return Impulses(self.surfaces, self.mass, self.held, **({"thickness": 0.0, "gap": 0.0} | settings))


class Single:
    """One stencil of one facet (edge) and one point (edge) that meets for sure, in rows of its own."""

    def __init__(self, x: Array, v: Array, mass: Array, edges: bool = False) -> None:
        self.x, self.v, self.mass, self.edges = x, v, mass, edges
        self.d = x.shape[1]

    @classmethod
    def some(cls, count: int, d: int = 3, *, edges: bool = False, seed: int = 1) -> list[Single]:
        """Of random shapes, ways and masses; they meet in their insides."""
        x, v, _ = forced_hits("interior", count, d, edges=edges, seed=seed)
        mass = np.random.default_rng(seed).uniform(0.5, 2.0, (count, d + 1))
        return [cls(*one, edges) for one in zip(x, v, mass, strict=True)]

    def resolve(
        self,
        *,
        most: int = 50,
        stick_after: int = 4,
        exact: bool = True,
        gap: float = 0.0,
        friction: float = 0.0,
        held: Array | None = None,
    ) -> tuple[Array, Array, int, bool]:
        """Velocities and impulses after, the number of iterations, and whether it is clean."""
        d = self.d
        fixed = np.zeros(d + 1, bool) if held is None else held
        facets = np.empty((0, d), np.int32) if self.edges else np.arange(d, dtype=np.int32)[None]
        edges = np.array([[0, 1], [2, 3]] if self.edges else np.empty((0, 2)), np.int32)
        part = np.array([0, 0, 1, 1] if self.edges else [0] * d + [1], np.int32)
        v, given = self.v.copy(), np.zeros_like(self.v)
        _, iterations, clean = _core.collision_impulses(
            self.x,
            1.0,
            facets,
            edges,
            np.arange(d + 1, dtype=np.int32),
            fixed.astype(np.uint8),
            np.where(fixed, 0.0, 1 / self.mass),
            part,
            np.full((2, 2), friction),
            gap,
            exact,
            most,
            stick_after,
            v,
            given,
        )
        return v, given, iterations, clean

    def meeting(self) -> tuple[Array, Array]:
        """Weights and normal where it meets."""
        _, weights, normals = first_meetings(self.x[None], self.v[None], self.edges)
        return weights[0], normals[0]

    def without_rigid_part(self, q: Array) -> Array:
        """q minus m (w x r) with the torque of q about the centre of mass."""
        r = self.x - self.mass @ self.x / self.mass.sum()
        if self.d == 2:
            w = torques(r, q).sum() / (self.mass @ (r**2).sum(axis=1))
            return np.asarray(q - self.mass[:, None] * w * np.stack([-r[:, 1], r[:, 0]], axis=1))
        inertia = np.einsum("p,pk,ab->ab", self.mass, r**2, np.eye(3)) - np.einsum(
            "p,pa,pb->ab", self.mass, r, r
        )
        w = np.linalg.solve(inertia, np.cross(r, q).sum(axis=0))
        return np.asarray(q - self.mass[:, None] * np.cross(w, r))


def defects(x: Array, impulses: Array, scale: float) -> tuple[float, float]:
    """Sum of impulses (N, d) and of their torques about the origin, as parts of the momentum `scale`."""
    return (
        float(np.abs(impulses.sum(axis=0)).max() / scale),
        float(np.abs(torques(x, impulses).sum(axis=0)).max() / scale),
    )


def torques(x: Array, impulses: Array) -> Array:
    """x x j (N, n_w) about the origin."""
    if x.shape[1] == 3:
        return np.cross(x, impulses)
    return np.asarray(x[:, :1] * impulses[:, 1:] - x[:, 1:] * impulses[:, :1])


def momentum_scale(mass: Array, v: Array) -> float:
    """sum m |v|."""
    return float(mass @ np.linalg.norm(v, axis=1))
