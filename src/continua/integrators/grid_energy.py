"""The energy of an implicit step on the grid: what every body adds to it (J15 A.6.1, section 3.3)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.points import Body, Parameters
from continua.bodies.vertices import Vertices
from continua.materials.fluid import OldroydB
from continua.optimize.krylov import dot, norm

if TYPE_CHECKING:
    from continua.integrators.implicit import ImplicitGrid

Array = NDArray[np.float64]
KERNELS: Any = _core  # argument lists are put together below


class BodyEnergy(Protocol):
    """Potential energy of one body as a function of node velocities v. Nodes and tiles have the grid's layout."""

    def value(self, v: NDArray) -> float:
        """Phi(x + dt v) [J], +inf where it is not defined."""

    def gradient(self, v: NDArray, tiles: NDArray) -> None:
        """By v [N s]."""

    def prepare(self, v: NDArray, positive: bool) -> None:
        """Make ready for `product` at v; `positive` leaves out negative stiffness."""

    def product(self, u: NDArray, tiles: NDArray) -> None:
        """Second derivative times u."""

    def diagonal(self, tiles: NDArray) -> None:
        """Diagonal of the second derivative at rest, or one like it [kg]."""


class ParticleEnergy:
    """Elastic energy of particles, deformed by the gradient of the node velocities."""

    def __init__(self, grid: ImplicitGrid, number: int, body: Body, dt: float) -> None:
        self._dt, self._particles = dt, body.arrays
        self._place = grid.lattice, grid.order(number)
        self._reach = grid.grid.reach[number]
        self._rule = grid.dimension, grid.degree
        self._of = body.arrays, _parameters(body, dt), body.material.model, *self._place
        rows = _core.tangent_rows(body.material.model, grid.dimension)
        self._tangents = grid.workspace.get(
            f"tangents {number}", (rows, body.arrays.capacity), body.arrays.x.dtype
        )

    def value(self, v: NDArray) -> float:
        return float(KERNELS.implicit_energy(*self._of, self._reach, v, *self._rule, self._dt))

    def gradient(self, v: NDArray, tiles: NDArray) -> None:
        KERNELS.implicit_forces(*self._of, self._reach, v, *self._rule, self._dt, tiles)

    def prepare(self, v: NDArray, positive: bool) -> None:
        KERNELS.implicit_prepare(*self._of, self._reach, v, *self._rule, self._dt, positive, self._tangents)

    def product(self, u: NDArray, tiles: NDArray) -> None:
        KERNELS.implicit_product(
            self._particles, *self._place, self._reach, u, *self._rule, self._tangents, tiles
        )

    def diagonal(self, tiles: NDArray) -> None:
        KERNELS.implicit_diagonal(*self._of, *self._rule, self._dt, tiles)


class MeshEnergy:
    """Energies of a mesh whose vertices go with the grid, x = x_n + dt W v (J15 section 3.3)."""

    def __init__(self, grid: ImplicitGrid, number: int, body: Vertices, dt: float) -> None:
        self._grid, self._number, self._body, self._dt = grid, number, body, dt
        self._terms = body.terms(dt)
        self._held_impulse = self._held_change = np.zeros(grid.dimension)

    def _positions(self, v: NDArray) -> Array:
        x = self._body.mesh.x + self._dt * self._grid.to_vertices(self._number, self._body, v)
        x[self._body.held] = self._body.places
        return x

    def _scatter(self, forces: Array, tiles: NDArray, *, squared: bool = False) -> None:
        self._grid.scatter_values(self._number, self._body, forces, tiles, squared=squared)

    def value(self, v: NDArray) -> float:
        x = self._positions(v)
        return sum(term.value(x) for term in self._terms)

    def gradient(self, v: NDArray, tiles: NDArray) -> None:
        x = self._positions(v)
        impulse = self._dt * _sum(term.gradient(x) for term in self._terms)
        self._held_impulse = self._body.let_go(impulse)
        self._scatter(impulse, tiles)

    def prepare(self, v: NDArray, positive: bool) -> None:
        x = self._positions(v)
        for term in self._terms:
            term.prepare(x, positive=positive)

    def product(self, u: NDArray, tiles: NDArray) -> None:
        dx = self._grid.to_vertices(self._number, self._body, u)
        dx[self._body.held] = 0.0
        change = self._dt**2 * _sum(term.product(dx) for term in self._terms)
        self._held_change = self._body.let_go(change)
        self._scatter(change, tiles)

    def react(self, change: float) -> None:
        """Impulse of scripts against the forces of the last gradient and `change` times those of the last product."""
        self._body.reaction = self._held_impulse + change * self._held_change

    def diagonal(self, tiles: NDArray) -> None:
        """As if the motion of a vertex did not pull its neighbours along: more than the diagonal, in the same ratios
        between nodes deep in the mesh, and much less than the mass at its rim."""
        for term in self._terms:
            term.prepare(self._body.mesh.x, positive=True)
        stiffness = _sum(np.maximum(term.diagonal(), 0.0) for term in self._terms)
        self._body.let_go(stiffness)
        self._scatter(self._dt**2 * stiffness, tiles, squared=True)


class GridEnergy:
    """E(v) = sum 1/2 m |v - v_n - dt g|^2 + Phi(x + dt v) over node velocities v (N, 3) (J15 A.6.1); an `Objective`.

    Nodes without mass have zero derivatives and must be held.
    """

    def __init__(
        self,
        grid: ImplicitGrid,
        bodies: Sequence[Body],
        mass: Array,
        target: Array,
        dt: float,
    ) -> None:
        self._grid, self._target = grid, target
        self.mass = mass[:, None]
        self._parts: list[BodyEnergy] = [
            MeshEnergy(grid, k, body, dt) if isinstance(body, Vertices) else ParticleEnergy(grid, k, body, dt)
            for k, body in enumerate(bodies)
        ]
        stiffness = self._sum(lambda part, tiles: part.diagonal(tiles))
        eps = float(np.finfo(bodies[0].arrays.x.dtype).eps)
        self.rounding = eps * norm(stiffness) * grid.lattice.dx / dt  # of the gradient [N s]
        self._inverse = 1.0 / np.where(self.mass > 0, self.mass + stiffness, 1.0)

    def _sum(self, fill: Callable[[BodyEnergy, NDArray], None]) -> Array:
        return self._grid.sum_tiles(lambda k, tiles: fill(self._parts[k], tiles))

    def value(self, x: Array) -> float:
        away = x - self._target
        v = self._grid.as_nodes(x, "trial")
        return 0.5 * dot(self.mass * away, away) + sum(part.value(v) for part in self._parts)

    def gradient(self, x: Array) -> Array:
        v = self._grid.as_nodes(x, "trial")
        return self.mass * (x - self._target) + self._sum(lambda part, tiles: part.gradient(v, tiles))

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        v = self._grid.as_nodes(x, "trial")
        for part in self._parts:
            part.prepare(v, positive)

    def product(self, dx: Array, elastic: float = 1.0) -> Array:
        """Hessian times dx; `elastic` is the part of the stiffness that counts."""
        u = self._grid.as_nodes(dx, "direction")
        return self.mass * dx + elastic * self._sum(lambda part, tiles: part.product(u, tiles))

    def precondition(self, r: Array) -> Array:
        return self._inverse * r

    def react(self, change: float = 0.0) -> None:
        """Tell meshes with scripts what these must give: by the last gradient, and `change` times the last product."""
        for part in self._parts:
            if isinstance(part, MeshEnergy):
                part.react(change)


def _sum(arrays: Iterable[Array]) -> Array:
    return functools.reduce(np.add, arrays)


def _parameters(body: Body, dt: float) -> Parameters:
    """Material parameters for a step of dt [s]: relaxing materials count what they lose during it."""
    if isinstance(body.material, OldroydB):
        values = body.material.parameters_over(dt).ravel().astype(body.parameters.values.dtype)
        return Parameters(values, body.parameters.rows)
    return body.parameters
