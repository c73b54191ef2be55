"""Surfaces for the tests of resampling and augury."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from continua.contact.exact.angular import momentum
from continua.contact.exact.augury import Augury
from continua.contact.exact.resampling import Boundary, Resampling

Array = NDArray[np.float64]
Indices = NDArray[np.int32]


def icosphere(halvings: int = 2) -> tuple[Array, Indices]:
    """Unit sphere: an icosahedron with every triangle halved `halvings` times (12, 42, 162, 642 vertices), outward."""
    g = (1 + 5**0.5) / 2
    x = [(a, b * g, 0.0) for a in (-1, 1) for b in (-1, 1)]
    points = np.array([np.roll(p, k) for k in range(3) for p in x], dtype=np.float64)
    near = np.linalg.norm(points[:, None] - points, axis=2) < 2.1
    faces = [
        (i, j, k)
        for i in range(12)
        for j in range(i + 1, 12)
        for k in range(j + 1, 12)
        if near[i, j] and near[j, k] and near[i, k]
    ]
    triangles = np.array(faces)
    inward = np.linalg.det(points[triangles]) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    points /= np.linalg.norm(points[0])
    for _ in range(halvings):
        points, triangles = _halved(points, triangles)
    return points, triangles.astype(np.int32)


def _halved(points: Array, triangles: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Four triangles for each, with the new vertices on the unit sphere."""
    a, b, c = triangles.T
    edges, where = np.unique(
        np.sort(np.concatenate([[a, b], [b, c], [c, a]], axis=1).T, axis=1), axis=0, return_inverse=True
    )
    middle = points[edges].mean(axis=1)
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    ab, bc, ca = len(points) + where.reshape(3, -1)
    new = np.concatenate([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]], axis=1).T
    return np.concatenate([points, middle]), new


def cube() -> tuple[Array, Indices]:
    """Surface of the cube [-1, 1]^3 in squares of side 1, each two triangles: 26 vertices, outward."""
    lattice = [p for p in product((-1, 0, 1), repeat=3) if any(p)]
    number = {p: i for i, p in enumerate(lattice)}
    triangles = []
    for axis, side, a, b in product(range(3), (-1, 1), (-1, 0), (-1, 0)):
        square = []
        for u, w in ((a, b), (a + 1, b), (a + 1, b + 1), (a, b + 1))[::side]:
            p = [0, 0, 0]
            p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3] = side, u, w
            square.append(number[tuple(p)])
        triangles += [square[:3], [square[0], *square[2:]]]
    return np.array(lattice, dtype=np.float64), np.array(triangles, dtype=np.int32)


def circle(count: int = 32) -> tuple[Array, Indices]:
    """Unit circle of `count` edges, counter-clockwise: the body is to the left."""
    angle = 2 * np.pi * np.arange(count) / count
    edges = np.stack([np.arange(count), (np.arange(count) + 1) % count], axis=1)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1), edges.astype(np.int32)


def closed(d: int, seed: int = 0, size: float = 1.0, fine: int = 1) -> tuple[Array, Boundary]:
    """A random closed surface: a circle or an icosphere, dented, stretched and turned, with random masses."""
    rng = np.random.default_rng(seed)
    x, elements = circle(18) if d == 2 else icosphere(fine)
    x = x * (1 + 0.15 * rng.standard_normal((len(x), 1))) + 0.03 * rng.standard_normal(x.shape)
    x = x @ (np.eye(d) + 0.2 * rng.standard_normal((d, d)))
    return size * x + rng.standard_normal(d), Boundary(elements, rng.uniform(0.3, 1.7, len(x)))


def together(*surfaces: tuple[Array, Indices], mass: float = 1.0) -> tuple[Array, Boundary]:
    """Several surfaces as one boundary, all vertices of the same mass [kg]."""
    before = np.cumsum([0] + [len(x) for x, _ in surfaces])
    x = np.concatenate([x for x, _ in surfaces])
    elements = np.concatenate([e + n for (_, e), n in zip(surfaces, before, strict=False)])
    return x, Boundary(elements.astype(np.int32), np.full(len(x), mass))


def motion(x: Array, seed: int = 0) -> tuple[Array, Array]:
    """Random velocities (N, d) and affine velocities (N, d, d)."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal(x.shape), rng.standard_normal((*x.shape, x.shape[1]))


def edge(x: Array, boundary: Boundary) -> float:
    """Mean length of an edge."""
    corners = x[boundary.elements]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())


class Sample:
    """A random closed surface with random velocities, resampled for a grid of spacing (mean edge)/ratio."""

    def __init__(self, d: int, ratio: float = 2.0, share: float = 0.3, seed: int = 0) -> None:
        self.x, self.boundary = closed(d, seed)
        self.d, self.dx = d, edge(self.x, self.boundary) / ratio
        self.plan = Resampling.spread(self.x, self.boundary, self.dx / 4, share)
        self.v, self.A = motion(self.x, seed)
        self.augury = Augury(self.plan, self.x, self.dx)
        self.scale = float((self.boundary.mass * np.linalg.norm(self.v, axis=1)).sum())

    def defect(self, v: Array, A: Array) -> tuple[float, float]:
        """Changes of P and of L from the random state to this one, by sum m |v|."""
        one, two = (momentum(*s, self.x, self.boundary.mass, self.dx) for s in ((self.v, self.A), (v, A)))
        return tuple(float(np.abs(b - a).max()) / self.scale for a, b in zip(one, two, strict=True))
