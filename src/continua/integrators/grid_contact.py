"""Obstacles as conditions on the unknowns of an implicit step: velocities of grid nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.contact.colliders import KINDS, MODES
from continua.integrators.obstacles import ObstacleTable

Array = NDArray[np.float64]
REGION, STICKY, SLIP = KINDS.index("region"), MODES.index("sticky"), MODES.index("slip")


@dataclass
class NodeContact:
    """Which nodes touch which obstacle row, and how; the constraint of a minimiser over velocities (N, 3) [m/s].

    Nodes in sticky obstacles move with them and prescribed components are given. Nodes in others may not approach
    them; in slip obstacles they may not leave either (J15 A.3.2 with planes: exact and without curvature).
    """

    fixed: NDArray[np.bool_]  # (N, 3) components that are not free
    values: Array  # (N, 3) their velocities [m/s]
    touching: NDArray[np.intp]  # nodes that may slide
    normal: Array  # (n, 3) of those nodes, out of the obstacle
    speed: Array  # (n, 3) velocity of the obstacle there [m/s]
    tied: NDArray[np.bool_]  # (n,) may not leave
    friction: Array  # (n,)
    owner: NDArray[np.intp]  # (N,) obstacle row, -1 without
    held: NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, bool)
    )  # (n,) in the running iteration

    @classmethod
    def of(cls, table: ObstacleTable, points: Array, active: NDArray[np.bool_]) -> NodeContact:
        """points (N, 3) [m]; inactive nodes are at rest and not free."""
        count = len(points)
        fixed = np.repeat(~active[:, None], 3, axis=1)
        values, speed, normal = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3))
        owner, depth = np.full(count, -1), np.zeros(count)
        given = np.zeros((count, 3), bool)
        phi, n = np.empty(count), np.empty((count, 3))
        for k, row in enumerate(table.rows):
            _core.collider_surface(row[None].copy(), [table.samples[k]], points, phi, n)
            inside = active & (phi < 0)
            if int(row[0]) == REGION:
                some = inside[:, None] & ~np.isnan(row[16:19])
                values, given = np.where(some, row[16:19], values), given | some
                owner[some.any(axis=1)] = k
                continue
            deeper = inside & (phi < depth) & ~given.any(axis=1)
            owner[deeper], depth[deeper], normal[deeper] = k, phi[deeper], n[deeper]
            speed[deeper] = row[16:19] + np.cross(row[19:22], points[deeper] - row[4:7])
        solid = (owner >= 0) & ~given.any(axis=1)
        modes = np.append(table.rows[:, 1], -1.0)[owner] if len(table) else np.full(count, -1.0)
        sticky = solid & (modes == STICKY)
        values = np.where(sticky[:, None], speed, values)
        touching = np.flatnonzero(solid & ~sticky)
        return cls(
            fixed | given | sticky[:, None],
            np.where(given | sticky[:, None], values, 0.0),
            touching,
            normal[touching],
            speed[touching],
            modes[touching] == SLIP,
            table.rows[owner[touching], 2] if len(table) else np.zeros(0),
            owner,
        )

    def _approach(self, x: Array) -> Array:
        """Normal speed (n,) of the touching nodes relative to their obstacles [m/s]."""
        return np.einsum("ij,ij->i", x[self.touching] - self.speed, self.normal)

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
        speed = np.abs(x[self.touching]).max(axis=1, initial=0.0)  # its own: light nodes may be very fast
        self.held = self.tied | (pushed & (np.abs(self._approach(x)) < 1e-12 * (1 + speed)))

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

    def _tangential(self, g: Array) -> Array:
        g = np.where(self.fixed, 0.0, g)
        some = self.touching[self.held]
        n = self.normal[self.held]
        g[some] -= np.einsum("ij,ij->i", g[some], n)[:, None] * n
        return g

    def reduce_gradient(self, gradient: Array) -> Array:
        return self._tangential(gradient)

    def reduce_product(self, product: Array, dx: Array) -> Array:
        return self._tangential(product)

    def path(self, x: Array, dx: Array, alpha: float) -> tuple[Array, Array]:
        """Straight, but along the surface of obstacles that would be entered."""
        y, dy = x + alpha * dx, dx.copy()
        stopped = self.held | (self._approach(y) < 0)
        self._stop(y, stopped)
        some, n = self.touching[stopped], self.normal[stopped]
        dy[some] -= np.einsum("ij,ij->i", dy[some], n)[:, None] * n
        return y, dy

    def rub(self, x: Array, mass: Array, reaction: Array) -> Array:
        """Coulomb friction after the solve: sliding nodes lose at most mu times the normal reaction (N, 3) [N s].

        Returns the impulses of all obstacles on the nodes (N, 3) [N s]; x is changed in place.
        """
        impulse = np.where(self.fixed & (self.owner >= 0)[:, None], reaction, 0.0)
        if not len(self.touching):
            return impulse
        some = self.touching
        push = np.maximum(
            np.einsum("ij,ij->i", reaction[some], self.normal), np.where(self.tied, -np.inf, 0.0)
        )
        slide = x[some] - self.speed
        slide -= np.einsum("ij,ij->i", slide, self.normal)[:, None] * self.normal
        length = np.linalg.norm(slide, axis=1)
        stop = mass[some] * length  # the impulse that would end the sliding
        taken = np.minimum(self.friction * np.maximum(push, 0.0), stop)
        loss = np.divide(taken, stop, out=np.zeros_like(stop), where=stop > 0)[:, None] * slide
        x[some] -= loss
        impulse[some] += push[:, None] * self.normal - mass[some][:, None] * loss
        return impulse
