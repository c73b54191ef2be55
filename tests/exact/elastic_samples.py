"""Two elastic discs or balls that fly at each other, stepped by symplectic Euler and augury alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from boundary_samples import circle, icosphere
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from continua.contact.exact.angular import momentum
from continua.contact.exact.augury import Augury
from continua.contact.exact.resampling import Boundary, Resampling

Array = NDArray[np.float64]
YOUNG, DENSITY, POISSON = 5e4, 1000.0, 0.3  # [Pa], [kg/m^3], M23 table 2
MU, LAM = YOUNG / (2 * (1 + POISSON)), YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))


def ball(d: int, radius: float = 0.5) -> tuple[Array, Array, Array]:
    """Points of a disc with 32 or a ball with 162 boundary vertices (they come first), cells and boundary elements."""
    if d == 2:
        x, elements = circle(32)
        inside = [r * circle(n)[0] for r, n in ((0.79, 24), (0.56, 16), (0.32, 9))]
    else:
        x, elements = icosphere(2)
        inside = [0.66 * icosphere(1)[0], 0.33 * icosphere(0)[0]]
    points = np.concatenate([x, *inside, np.zeros((1, d))])
    cells = Delaunay(points).simplices
    size = np.linalg.det(points[cells[:, 1:]] - points[cells[:, :1]])
    cells[size < 0, :2] = cells[size < 0, 1::-1]
    return radius * points, cells[np.abs(size) > 1e-9], elements


@dataclass
class Pair:
    """Two equal bodies at x = -distance/2 and distance/2 that approach at `closing` [m/s] in all."""

    d: int
    distance: float = 1.1
    offset: float = 0.0  # of the second body, along y and (in 3D) z, in edges of the boundary
    closing: float = 1.0
    x: Array = field(init=False)
    v: Array = field(init=False)
    A: Array = field(init=False)

    def __post_init__(self) -> None:
        points, cells, elements = ball(self.d)
        n, b = len(points), int(elements.max()) + 1
        shift = np.zeros(self.d)
        self.edge = float(np.linalg.norm(np.diff(points[elements[:, :2]], axis=1), axis=2).mean())
        shift[0], shift[1:] = self.distance / 2, self.offset / 2 * self.edge
        self.x = np.concatenate([points - shift, points + shift])
        self.cells = np.concatenate([cells, cells + n])
        self.second = np.arange(2 * n) >= n
        self.v = np.zeros_like(self.x)
        self.v[:, 0] = np.where(self.second, -self.closing / 2, self.closing / 2)
        edges = self.x[self.cells[:, 1:]] - self.x[self.cells[:, :1]]  # rows
        self.rest = np.linalg.inv(edges)
        self.volume = np.linalg.det(edges) / (2 if self.d == 2 else 6)
        share = DENSITY * self.volume / (self.d + 1)
        self.mass = np.bincount(self.cells.ravel(), np.repeat(share, self.d + 1), minlength=2 * n)
        self.rim = np.concatenate([np.arange(b), n + np.arange(b)])
        self.boundary = Boundary(
            np.concatenate([elements, elements + b]).astype(np.int32), self.mass[self.rim]
        )
        self.A = np.zeros((2 * b, self.d, self.d))

    def force(self) -> Array:
        """Fixed corotated elasticity: f = -sum V P G."""
        edges = self.x[self.cells[:, 1:]] - self.x[self.cells[:, :1]]
        F = np.swapaxes(self.rest @ edges, 1, 2)
        U, s, Vt = np.linalg.svd(F)
        flip = np.linalg.det(U @ Vt) < 0
        U[flip, :, -1] *= -1
        s[flip, -1] *= -1
        R, J = U @ Vt, s.prod(axis=1)
        cof = np.stack([np.prod(np.delete(s, k, axis=1), axis=1) for k in range(self.d)], axis=1)
        P = 2 * MU * (F - R) + (LAM * (J - 1))[:, None, None] * ((U * cof[:, None, :]) @ Vt)
        H = -self.volume[:, None, None] * (P @ self.rest)  # columns: corners 1 to d
        f = np.zeros_like(self.x)
        parts = np.concatenate([-H.sum(axis=2)[:, None], np.swapaxes(H, 1, 2)], axis=1)
        for a in range(self.d):
            f[:, a] = np.bincount(self.cells.ravel(), parts[:, :, a].ravel(), minlength=len(f))
        return f

    def step(self, dt: float, augury: Augury, iterations: int, friction: float | None = None) -> None:
        """One step: forces, augury of the boundary's velocities at the old positions, and then positions."""
        self.v = self.v + dt * self.force() / self.mass[:, None]
        seen = augury(self.v[self.rim], self.A, iterations=iterations, friction=friction)
        self.v[self.rim], self.A = seen.v, seen.A
        self.x = self.x + dt * self.v

    def momentum(self, dx: float) -> tuple[Array, Array]:
        """Of all points, with the affine part of the boundary's."""
        A = np.zeros((*self.x.shape, self.d))
        A[self.rim] = self.A
        return momentum(self.v, A, self.x, self.mass, dx)

    def closing_speed(self) -> float:
        """Speed [m/s] at which the centres of mass approach; negative after they have rebounded."""
        vx = self.mass * self.v[:, 0]
        return float(2 * (vx[~self.second].sum() - vx[self.second].sum()) / self.mass.sum())

    def overlap(self) -> bool:
        """Whether a boundary vertex of one body is inside a cell of the other."""
        for one in (False, True):
            cells = self.cells[self.second[self.cells[:, 0]] == one]
            points = self.x[self.rim[self.second[self.rim] != one]]
            reach = self.x[cells].min(axis=1), self.x[cells].max(axis=1)
            near = points[((points > reach[0].min(axis=0)) & (points < reach[1].max(axis=0))).all(axis=1)]
            if len(near):
                inverse = np.linalg.inv(self.x[cells[:, 1:]] - self.x[cells[:, :1]])
                lam = np.einsum("nea,eab->neb", near[:, None] - self.x[cells[:, 0]], inverse)
                if ((lam > 1e-9).all(axis=2) & (lam.sum(axis=2) < 1 - 1e-9)).any():
                    return True
        return False


@dataclass(frozen=True)
class Collision:
    """How two bodies met: closing speed [m/s] at the end, steps with overlap, changes of P and L by sum m |v|."""

    speed: float
    overlaps: int
    P: float
    L: float


def collide(
    pair: Pair,
    ratio: float,
    share: float = 0.5,
    iterations: int = 5,
    *,
    beta: float = 0.0,
    steps: int = 200,
    dt: float = 0.002,
    friction: float | None = None,
    near: float = np.inf,
) -> Collision:
    """`steps` steps on a grid of spacing (mean boundary edge)/ratio. share 1: no extra points.

    near: only elements this close [m] to the plane x = 0 take part, the others are free.
    """
    dx = pair.edge / ratio
    plan = Resampling.spread(pair.x[pair.rim], pair.boundary, dx / 4, share, beta)
    start, overlaps = pair.momentum(dx), 0
    scale = float((pair.mass * np.linalg.norm(pair.v, axis=1)).sum())
    for _ in range(steps):
        rim = pair.x[pair.rim]
        active = np.abs(rim[pair.boundary.elements, 0]).min(axis=1) < near
        augury = Augury(plan, rim, dx, active=active)
        pair.step(dt, augury, iterations, friction)
        overlaps += pair.overlap()
    P, L = (float(np.abs(b - a).max()) / scale for a, b in zip(start, pair.momentum(dx), strict=True))
    return Collision(pair.closing_speed(), overlaps, P, L)
