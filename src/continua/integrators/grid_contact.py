"""Obstacles as conditions on the unknowns of an implicit step: velocities of grid nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.contact.colliders import KINDS, MODES
from continua.contact.fields import ObstacleContacts
from continua.integrators.obstacles import ObstacleTable

Array = NDArray[np.float64]
STILL = 1e-13  # cells per step that a node at rest may seem to move by rounding
ON_FACE = 1e-9  # cells: nodes this near to the surface of a region belong to it, as in the core
REGION, STICKY, SLIP = KINDS.index("region"), MODES.index("sticky"), MODES.index("slip")


@dataclass
class NodeContact:
    """Which nodes touch which obstacle row, and how; the constraint of a minimiser over velocities (N, 3) [m/s] of the
    nodes with mass.

    Nodes in sticky obstacles move with them and prescribed components are given. Nodes in others may not approach
    them; in slip obstacles they may not leave either (J15 A.3.2 with planes: exact and without curvature).
    """

    fixed: NDArray[np.bool_]  # (N, 3) components that are not free
    values: Array  # (N, 3) their velocities [m/s]
    touching: NDArray[np.intp]  # nodes that may slide
    normal: Array  # (n, 3) of those nodes, out of the obstacle
    speed: Array  # (n, 3) velocity of the obstacle there [m/s]
    closing: Array  # (n,) approach at which they just close the gap to it [m/s]
    tied: NDArray[np.bool_]  # (n,) may not leave
    friction: Array  # (n,)
    owner: NDArray[np.intp]  # (N,) obstacle row, -1 without
    still: float  # [m/s] slower is at rest
    held: NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, bool)
    )  # (n,) in the running iteration

    @classmethod
    def of(
        cls,
        touching: ObstacleContacts | None,
        table: ObstacleTable,
        points: Array,
        at: NDArray[np.int64],
        dt: float,
        dx: float,
    ) -> NodeContact:
        """touching: nodes that obstacles may touch in a step of dt [s]; of several at a node the nearest counts.

        points (N, 3) [m] of the nodes with mass, at (N,) their numbers among all. Regions of fixed velocity have the
        last word, the last one of them where they overlap.
        """
        fixed, values, owner = _regions(table, points, dx)
        some, which = np.zeros(0, np.intp), np.zeros(0, np.intp)
        if touching is not None:
            some, which = _nearest(touching, at, np.logical_not(fixed.any(axis=1)))
        modes = table.rows[touching.row[which], 1] if touching is not None else np.zeros(0)
        sticky = (modes == STICKY) & (touching.held[which] if touching is not None else False)
        if touching is not None:
            owner[some] = touching.row[which]
            fixed[some[sticky]], values[some[sticky]] = True, touching.velocity[which[sticky]]
        some, which, modes = some[~sticky], which[~sticky], modes[~sticky]
        if touching is None:
            empty = np.zeros((0, 3))
            return cls(fixed, values, some, empty, empty, np.zeros(0), some > 0, np.zeros(0), owner, 0.0)
        tied = touching.held[which] & (modes == SLIP)
        closing = np.where(tied, 0.0, np.maximum(touching.gap[which], 0.0) / dt)
        return cls(
            fixed,
            values,
            some,
            touching.normal[which],
            touching.velocity[which],
            closing,
            tied,
            table.rows[touching.row[which], 2],
            owner,
            STILL * dx / dt,
        )

    def _approach(self, x: Array) -> Array:
        """Normal speed (n,) of the touching nodes relative to their obstacles, and what closes the gap [m/s]."""
        return np.einsum("ij,ij->i", x[self.touching] - self.speed, self.normal) + self.closing

    def _stop(self, x: Array, some: NDArray[np.bool_]) -> None:
        approach = self._approach(x)[some]
        x[self.touching[some]] -= approach[:, None] * self.normal[some]

    def project(self, x: Array) -> Array:
        """Feasible velocities: given where fixed, and none that enters an obstacle."""
        x = np.where(self.fixed, self.values, x)
        self._stop(x, self.tied | (self._approach(x) < 0))
        return x

    def register_active(self, x: Array, gradient: Array) -> None:
        """Nodes that lie on their obstacle and would be pushed into it are held there."""
        pushed = np.einsum("ij,ij->i", gradient[self.touching], self.normal) >= 0
        self.held = self.tied | (pushed & (np.abs(self._approach(x)) <= self.rounding(x)))

    def rounding(self, x: Array) -> Array:
        """Of the velocity of touching nodes (n,) [m/s]: by their own, for light nodes may be very fast."""
        parts = (x[self.touching], self.speed, self.closing[:, None])
        size: Array = sum(np.abs(part).max(axis=1, initial=0.0) for part in parts)
        return 1e-12 * size + self.still

    def along(self, some: Array) -> Array:
        """Parts of vectors (n, 3) at touching nodes along their obstacles."""
        return some - np.einsum("ij,ij->i", some, self.normal)[:, None] * self.normal

    def exchange(self, x: Array, gradient: Array) -> bool:
        """Hold the nodes that enter their obstacle, free those that it would have to pull; whether there were any.

        Newly held nodes are stopped in x.
        """
        pushed = np.einsum("ij,ij->i", gradient[self.touching], self.normal) >= 0
        held = self.tied | np.where(self.held, pushed, self._approach(x) < 0)
        changed = bool((held != self.held).any())
        self.held = held
        self._stop(x, held)
        return changed

    def freed(self, g: Array) -> Array:
        """Without what acts on components that are not free."""
        return np.where(self.fixed, 0.0, g)

    @cached_property
    def _fixed_places(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.fixed)

    def reduce(self, g: Array) -> Array:
        """Take out of g what acts on components that are not free or into obstacles, in place."""
        g.reshape(-1)[self._fixed_places] = 0.0
        if self.held.any():
            some, n = self.touching[self.held], self.normal[self.held]
            g[some] -= np.einsum("ij,ij->i", g[some], n)[:, None] * n
        return g

    def reduce_gradient(self, gradient: Array) -> Array:
        if not len(self._fixed_places) and not self.held.any():
            return gradient
        return self.reduce(gradient.copy())

    def reduce_product(self, product: Array, dx: Array) -> Array:
        return self.reduce(product)

    def path(self, x: Array, dx: Array, alpha: float) -> tuple[Array, Array]:
        """Straight, but along the surface of obstacles that would be entered."""
        y, dy = x + alpha * dx, dx.copy()
        stopped = self.held | (self._approach(y) < 0)
        self._stop(y, stopped)
        some, n = self.touching[stopped], self.normal[stopped]
        dy[some] -= np.einsum("ij,ij->i", dy[some], n)[:, None] * n
        return y, dy

    def impulses(self, reaction: Array, friction: Array) -> Array:
        """Of all obstacles on the nodes (N, 3) [N s]: what holds them, of the reaction (N, 3), and friction (n, 3)."""
        impulse = np.where(self.fixed & (self.owner >= 0)[:, None], reaction, 0.0)
        push = np.einsum("ij,ij->i", reaction[self.touching], self.normal)
        push = np.where(self.tied, push, np.maximum(push, 0.0))
        impulse[self.touching] += push[:, None] * self.normal + friction
        return impulse


def _regions(
    table: ObstacleTable, points: Array, dx: float
) -> tuple[NDArray[np.bool_], Array, NDArray[np.intp]]:
    """Components (N, 3) that regions prescribe, their values [m/s] and the rows (N,) that do it, or -1."""
    given, values = np.zeros((len(points), 3), bool), np.zeros((len(points), 3))
    owner = np.full(len(points), -1)
    phi, n = np.empty(len(points)), np.empty((len(points), 3))
    for k, row in enumerate(table.rows):
        if int(row[0]) != REGION:
            continue
        _core.collider_surface(row[None].copy(), [table.samples[k]], points, phi, n)
        some = (phi <= ON_FACE * dx)[:, None] & ~np.isnan(row[16:19])
        values, given = np.where(some, row[16:19], values), given | some
        owner[some.any(axis=1)] = k
    return given, values, owner


def _nearest(
    touching: ObstacleContacts, at: NDArray[np.int64], free: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Free nodes (n,) among those numbered `at`, ascending, that an obstacle holds or may stop, and which contact
    counts at each: held, then nearest."""
    node = np.minimum(np.searchsorted(at, touching.node), len(at) - 1)
    counts = (at[node] == touching.node) & free[node] & (touching.held | np.isfinite(touching.gap))
    found = np.flatnonzero(counts)
    order = found[np.lexsort((touching.gap[found], ~touching.held[found], node[found]))]
    some, first = np.unique(node[order], return_index=True)
    return some, order[first]
