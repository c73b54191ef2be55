"""The energies of a mesh whose points go with the grid, x = x_n + dt W v (J15 section 3.3)."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.mesh.energy import Array
from continua.mesh.on_grid import PointsOnGrid
from continua.transfers.weights import node_weights

if TYPE_CHECKING:
    from continua.bodies.mesh_body import MeshBody
    from continua.transfers.exchange import Exchange


class MeshEnergy:
    """Elastic energy, damping and drag of a mesh over node velocities; a `BodyEnergy`."""

    def __init__(self, exchange: Exchange, body: MeshBody, dt: float) -> None:
        self._exchange, self._body, self._dt = exchange, body, dt
        self._terms = body.terms(dt)
        self._held_impulse = self._held_change = np.zeros(body.dimension)

    def _positions(self, v: NDArray) -> Array:
        x = self._body.x + self._dt * self._exchange.values_at(v)
        x[self._body.held] = self._body.places
        return x

    def value(self, v: NDArray) -> float:
        x = self._positions(v)
        return sum(term.value(x) for term in self._terms)

    def gradient(self, v: NDArray, nodes: NDArray, *, add: bool) -> None:
        x = self._positions(v)
        impulse = self._dt * _sum(term.gradient(x) for term in self._terms)
        self._held_impulse = self._body.let_go(impulse)
        self._exchange.scatter_values(impulse, nodes, add=add)

    def prepare(self, v: NDArray, *, positive: bool) -> None:
        x = self._positions(v)
        for term in self._terms:
            term.prepare(x, positive=positive)

    def product(self, u: NDArray, nodes: NDArray, *, add: bool) -> None:
        dx = self._exchange.values_at(u)
        dx[self._body.held] = 0.0
        change = self._dt**2 * _sum(term.product(dx) for term in self._terms)
        self._held_change = self._body.let_go(change)
        self._exchange.scatter_values(change, nodes, add=add)

    def react(self, change: float) -> None:
        """Impulse of scripts against the forces of the last gradient and `change` times those of the last product."""
        self._body.reaction = self._held_impulse + change * self._held_change

    def diagonal(self, nodes: NDArray, *, add: bool) -> None:
        """As if the motion of a vertex did not pull its neighbours along: more than the diagonal, in the same ratios
        between nodes deep in the mesh, and much less than the mass at its rim."""
        for term in self._terms:
            term.prepare(self._body.x, positive=True)
        stiffness = _sum(np.maximum(term.diagonal(), 0.0) for term in self._terms)
        self._body.let_go(stiffness)
        self._exchange.scatter_values(self._dt**2 * stiffness, nodes, squared=True, add=add)

    def points(self) -> PointsOnGrid:
        """With the stiffness at the beginning of the step, without what is negative of it."""
        body, dt, d = self._body, self._dt, self._body.dimension
        hessian = body.energy.hessian(body.x, positive=True)
        first, column = hessian.pattern()
        values = dt * dt * hessian.blocks()
        if body.damping:
            values += dt * body.damping * body.energy.damping(body.x, into=hessian).blocks()
        row = np.repeat(np.arange(len(body)), np.diff(first))
        values[row == column] += dt * body.drag * body.mass[:, None, None] * np.eye(d)
        held = np.zeros(len(body), bool)
        held[body.held] = True
        values[held[row] | held[column]] = 0.0
        exchange = self._exchange
        x = exchange.particles.by_id(exchange.particles.arrays.x)
        at, weight = node_weights(x, exchange.grid, exchange.rule.degree)
        return PointsOnGrid(x, body.mass, at, weight, first, column, values)


def _sum(arrays: Iterable[Array]) -> Array:
    return functools.reduce(np.add, arrays)
