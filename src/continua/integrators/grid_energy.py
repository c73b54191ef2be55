"""The energy of an implicit step on the grid: inertia and what every body adds to it (J15 A.6.1, section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.body import BodyEnergy
from continua.integrators.field import Field
from continua.mesh.on_grid import MeshInverse, PointsOnGrid
from continua.optimize.krylov import dot, norm

Array = NDArray[np.float64]


class GridEnergy:
    """E(v) = sum 1/2 m |v - v_n - dt g|^2 + Phi(x + dt v) over velocities v (n, 3) of nodes with mass (J15 A.6.1); an
    `Objective`.

    at (n,): their numbers in the flat node array; all others are at rest. Vectors are over these nodes only, in double
    precision. Node arrays, in the precision of the particles, are made and read in passing by every product.
    """

    def __init__(self, field: Field, at: NDArray[np.int64], mass: Array, target: Array, dt: float) -> None:
        self._field, self._at, self._target = field, at, target
        self.mass = np.ascontiguousarray(mass[:, None])
        shape = field.grid.node_shape()
        self._v, self._sums = np.zeros(shape, field.dtype), np.empty(shape, field.dtype)
        self._product, self._scaled = np.empty_like(target), np.empty_like(target)
        self._parts: list[BodyEnergy] = [
            part
            for body, exchanges in zip(field.bodies, field.exchanges, strict=True)
            for part in body.energies(exchanges, dt)
        ]
        stiffness = self._diagonal(self._parts)
        eps = float(np.finfo(field.dtype).eps)
        self.rounding = eps * norm(stiffness) * field.lattice.dx / dt  # of the gradient [N s]
        self.inverse = 1.0 / (self.mass + stiffness)  # of the diagonal, at rest
        self._meshes: MeshInverse | None = None
        self._preconditioned, self._chosen = 0, False  # so many times; how is known for this solve
        self._held = np.zeros(target.shape, bool)

    def hold(self, fixed: NDArray[np.bool_]) -> None:
        """Components (n, 3) that are no unknowns of the coming solves: the preconditioner may leave them out."""
        self._held = fixed

    def _diagonal(self, parts: Sequence[BodyEnergy]) -> Array:
        return self._sum(parts, lambda part, nodes, add: part.diagonal(nodes, add=add))

    def _as_nodes(self, x: Array) -> NDArray:
        """A field (n, 3) in the layout and precision of the grid; the same buffer in every call."""
        _core.to_nodes(np.require(x, np.float64, ["C", "W"]), self._at, self._v)
        return self._v

    def _scatter(
        self, parts: Sequence[BodyEnergy], scatter: Callable[[BodyEnergy, NDArray, bool], None]
    ) -> NDArray:
        """Node sums over bodies; the same buffer in every call."""
        if not parts:
            self._sums[:] = 0
        for number, part in enumerate(parts):
            scatter(part, self._sums, number > 0)
        return self._sums

    def _sum(
        self, parts: Sequence[BodyEnergy], scatter: Callable[[BodyEnergy, NDArray, bool], None]
    ) -> Array:
        """The same at the nodes with mass (n, 3), a new array."""
        return self._scatter(parts, scatter).reshape(-1, 4)[self._at, :3].astype(np.float64)

    def value(self, x: Array) -> float:
        away = x - self._target
        v = self._as_nodes(x)
        return 0.5 * dot(self.mass * away, away) + sum(part.value(v) for part in self._parts)

    def gradient(self, x: Array) -> Array:
        v = self._as_nodes(x)
        forces = self._sum(self._parts, lambda part, nodes, add: part.gradient(v, nodes, add=add))
        return self.mass * (x - self._target) + forces

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        v = self._as_nodes(x)
        for part in self._parts:
            part.prepare(v, positive=positive)
        self._chosen = False

    def product(self, dx: Array, elastic: float = 1.0) -> Array:
        """Hessian times dx; `elastic` is the part of the stiffness that counts. The same buffer in every call."""
        u = self._as_nodes(dx)
        sums = self._scatter(self._parts, lambda part, nodes, add: part.product(u, nodes, add=add))
        _core.from_nodes(sums, self._at, elastic, self.mass, dx, self._product)
        return self._product

    def precondition(self, r: Array) -> Array:
        """By the diagonal of inertia and particles and, where that pays, all of the stiffness of meshes as it was at
        the beginning of the step. The same buffer in every call."""
        if not self._chosen:
            self._choose()
        self._preconditioned += 1
        if self._meshes is not None and self._meshes.ready:
            return self._meshes(r)
        return np.multiply(self.inverse, r, out=self._scaled)

    def _choose(self) -> None:
        """The preconditioner of a solve: it must not change within."""
        if self._preconditioned == 0:
            self._meshes = self._inverse_of_meshes()
        if self._meshes is not None:
            self._meshes.consider(self._preconditioned)
        self._chosen = True

    def _inverse_of_meshes(self) -> MeshInverse | None:
        joined = [part.points() for part in self._parts]
        points = [some for some in joined if some is not None]
        if not points:
            return None
        numbers = np.full(self._v.shape[0] * self._v.shape[1], -1)
        numbers[self._at] = np.arange(len(self._at))
        others = self._diagonal(
            [part for part, some in zip(self._parts, joined, strict=True) if some is None]
        )
        inverse = np.where(self._held, 0.0, 1.0 / (self.mass + others))
        particles = sum(len(e.particles) for exchanges in self._field.exchanges for e in exchanges)
        return MeshInverse(PointsOnGrid.joined(points).over(numbers), inverse, particles)

    def react(self, change: float = 0.0) -> None:
        """Tell bodies with scripts what these must give: by the last gradient, and `change` times the last product."""
        for part in self._parts:
            part.react(change)
