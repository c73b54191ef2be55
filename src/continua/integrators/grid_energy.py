"""The energy of an implicit step on the grid: inertia and what every body adds to it (J15 A.6.1, section 3.3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import BodyEnergy
from continua.grid.blocks import Buffer
from continua.integrators.field import Field
from continua.optimize.krylov import dot, norm

Array = NDArray[np.float64]


class GridEnergy:
    """E(v) = sum 1/2 m |v - v_n - dt g|^2 + Phi(x + dt v) over node velocities v (N, 3) (J15 A.6.1); an `Objective`.

    Nodes without mass have zero derivatives and must be held.
    """

    def __init__(self, field: Field, mass: Array, target: Array, dt: float) -> None:
        self._shape, self._dtype, self._target = field.grid.node_shape(), field.dtype, target
        self._trial, self._direction, self._sums = Buffer(), Buffer(), Buffer()
        self.mass = mass[:, None]
        self._parts: list[BodyEnergy] = [
            part
            for body, exchanges in zip(field.bodies, field.exchanges, strict=True)
            for part in body.energies(exchanges, dt)
        ]
        stiffness = self._sum(lambda part, nodes, add: part.diagonal(nodes, add=add))
        eps = float(np.finfo(self._dtype).eps)
        self.rounding = eps * norm(stiffness) * field.lattice.dx / dt  # of the gradient [N s]
        self._inverse = 1.0 / np.where(self.mass > 0, self.mass + stiffness, 1.0)

    def _as_nodes(self, x: Array, buffer: Buffer) -> NDArray:
        """A field (N, 3) in the layout and precision of the grid."""
        nodes = buffer.get(self._shape, self._dtype)
        nodes.reshape(-1, 4)[:, :3] = x
        nodes.reshape(-1, 4)[:, 3] = 0
        return nodes

    def _sum(self, scatter: Callable[[BodyEnergy, NDArray, bool], None]) -> Array:
        """Node sums (N, 3) over all bodies."""
        nodes = self._sums.get(self._shape, self._dtype)
        if not self._parts:
            nodes[:] = 0
        for number, part in enumerate(self._parts):
            scatter(part, nodes, number > 0)
        return nodes.reshape(-1, 4)[:, :3].astype(np.float64)

    def value(self, x: Array) -> float:
        away = x - self._target
        v = self._as_nodes(x, self._trial)
        return 0.5 * dot(self.mass * away, away) + sum(part.value(v) for part in self._parts)

    def gradient(self, x: Array) -> Array:
        v = self._as_nodes(x, self._trial)
        forces = self._sum(lambda part, nodes, add: part.gradient(v, nodes, add=add))
        return self.mass * (x - self._target) + forces

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        v = self._as_nodes(x, self._trial)
        for part in self._parts:
            part.prepare(v, positive=positive)

    def product(self, dx: Array, elastic: float = 1.0) -> Array:
        """Hessian times dx; `elastic` is the part of the stiffness that counts."""
        u = self._as_nodes(dx, self._direction)
        return self.mass * dx + elastic * self._sum(lambda part, nodes, add: part.product(u, nodes, add=add))

    def precondition(self, r: Array) -> Array:
        return self._inverse * r

    def react(self, change: float = 0.0) -> None:
        """Tell bodies with scripts what these must give: by the last gradient, and `change` times the last product."""
        for part in self._parts:
            part.react(change)
