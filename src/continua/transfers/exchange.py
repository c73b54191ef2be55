"""One particle set on one grid for one step: its methods are the sums over particles and over nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.grid.blocks import BlockGrid, Buffer, Lattice
from continua.transfers.plan import Plan

if TYPE_CHECKING:
    from continua.bodies.law import Parameters
    from continua.bodies.particles import ParticleSet


@dataclass(frozen=True)
class Rule:
    """How particles and nodes of a grid exchange: splines, velocity modes, and the form of gradients."""

    degree: int
    plan: Plan
    mls: bool = False  # forces and velocity gradients by the affine modes alone
    exponential: bool = False  # F by exp(dt grad v)


@dataclass(frozen=True)
class _NoLaw:
    """Particles without stress of their own."""

    values: NDArray
    rows: NDArray[np.int32]


class Exchange:
    """Sums between a particle set and the nodes of a grid. Node arrays are (blocks, nodes, 4).

    It is sorted once per step and then joined to the grid that covers it; particles keep their places until the next
    sort.
    """

    def __init__(
        self, particles: ParticleSet, lattice: Lattice, rule: Rule, *, staggered: bool = False
    ) -> None:
        self.particles = particles
        self.lattice, self.rule = lattice, rule
        self.order = _core.Order()
        # On faces stencils of cell centres start before those of all faces.
        half = 0.5 * lattice.dx if staggered else 0.0
        self._sort_lattice = Lattice(lattice.dx, lattice.origin + half, lattice.period)
        self._tangents, self._values = Buffer(), Buffer()

    # ---- where particles are ---------------------------------------------------------------------------------

    def sort(self) -> int:
        """Sort the particles into blocks; the number of the first one that lies nowhere, or -1."""
        a = self.particles.arrays
        self.order.sort(a.x, a.count, self._sort_lattice, self.dimension, self.rule.degree)
        return self.order.bad

    def join(self, grid: BlockGrid, number: int) -> None:
        """The grid covers this set as the number-th of its sets."""
        self.grid, self.links = grid, grid.links[number]

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.lattice.dimension

    @property
    def dtype(self) -> np.dtype:
        """Number type of particles and nodes."""
        return self.particles.arrays.x.dtype

    @property
    def nbytes(self) -> int:
        """Memory held beside the particles [bytes]."""
        return self._tangents.nbytes + self._values.nbytes

    @property
    def _on_grid(self) -> dict[str, Any]:
        """What every kernel wants to know."""
        return {
            "particles": self.particles.arrays,
            "lattice": self.lattice,
            "order": self.order,
            "dimension": self.dimension,
            "degree": self.rule.degree,
        }

    def _law(self, parameters: Parameters | None = None) -> dict[str, Any]:
        law = self.particles.law
        if law is None:
            return {"material": "", "parameters": _NoLaw(np.empty(0, self.dtype), np.empty(0, np.int32))}
        return {"material": law.model, "parameters": parameters or law.parameters}

    # ---- particles to nodes ----------------------------------------------------------------------------------

    def scatter(
        self,
        nodes: NDArray,
        *,
        dt: float = 0.0,
        momentum: bool = True,
        stress: bool = False,
        add: bool = False,
    ) -> None:
        """Momentum and mass, and the impulse of stress during dt [s]: sum w (m v, m) - dt V tau grad w."""
        _core.scatter(
            **self._on_grid,
            **self._law(),
            plan=self.rule.plan,
            links=self.links,
            gradient=not self.rule.mls,
            dt=dt,
            momentum=momentum,
            stress=stress and self.particles.law is not None,
            add=add,
            nodes=nodes,
        )

    def scatter_values(
        self, values: NDArray, nodes: NDArray, *, squared: bool = False, add: bool = False
    ) -> None:
        """Sums of vectors (N, d), in order of creation, with the weights of the nodes or their squares."""
        rows = self.particles.to_rows(values)
        _core.scatter_values(
            **self._on_grid, links=self.links, values=rows, squared=squared, add=add, nodes=nodes
        )

    def scatter_matrices(self, matrices: NDArray, nodes: NDArray, *, add: bool = False) -> None:
        """Sums of matrices T (N, d, d), in order of creation, times the gradients of the weights, T grad w."""
        d = self.dimension
        rows = self.particles.to_rows(matrices.reshape(len(matrices), d * d))
        _core.scatter_matrices(**self._on_grid, links=self.links, values=rows, add=add, nodes=nodes)

    # ---- nodes to particles ----------------------------------------------------------------------------------

    def values_at(self, nodes: NDArray) -> NDArray[np.float64]:
        """A node field at the particles (N, d), in order of creation."""
        values = self._values.get(self.particles.arrays.x.shape, self.dtype)
        _core.gather_values(**self._on_grid, links=self.links, nodes=nodes, values=values)
        return self.particles.by_id(values)

    def gradients_at(self, nodes: NDArray) -> NDArray[np.float64]:
        """Gradients of a node field at the particles, d v_a / d x_b (N, d, d), in order of creation."""
        d = self.dimension
        values = np.zeros((d * d, self.particles.arrays.capacity), self.dtype)
        _core.gather_gradients(**self._on_grid, links=self.links, nodes=nodes, values=values)
        return self.particles.by_id(values).reshape(-1, d, d)

    def advance(self, nodes: NDArray, change: NDArray | None, dt: float) -> dict[str, float]:
        """Velocities, C, F, plastic flow and positions at the end of a step, written to the next arrays.

        nodes: velocities and mass; change: of the velocity during the step, for FLIP.
        """
        self.particles.next_arrays.count = self.particles.count
        return _core.gather(
            **self._on_grid,
            **self._law(),
            out=self.particles.next_arrays,
            plan=self.rule.plan,
            links=self.links,
            velocity=nodes,
            change=change,
            mls=self.rule.mls,
            dt=dt,
            exponential=self.rule.exponential,
        )

    def settle(self, nodes: NDArray, dt: float) -> dict[str, float]:
        """Next positions with the velocity where particles arrive, x' = x + dt v(x') (J15 A.6.2)."""
        return _core.implicit_positions(
            **self._on_grid, out=self.particles.next_arrays, keys=self.grid.keys, velocity=nodes, dt=dt
        )

    # ---- faces -----------------------------------------------------------------------------------------------

    def scatter_faces(self, momentum: NDArray, mass: NDArray, *, add: bool = False) -> None:
        """Momentum on faces with the mass of cells, and mass on faces with the number of particles in cells."""
        _core.scatter_faces(
            **self._on_grid, plan=self.rule.plan, links=self.links, add=add, momentum=momentum, mass=mass
        )

    def advance_on_faces(
        self,
        velocity: NDArray,
        change: NDArray | None,
        shift: NDArray | None,
        dt: float,
        *,
        crowded: float,
        seed: int,
    ) -> dict[str, float]:
        """As `advance`, for particles that do not deform; shift: displacements on faces [m] besides the velocity.

        Particles in cells that hold more than `crowded` [kg] are shaken apart, if it is positive.
        """
        self.particles.next_arrays.count = self.particles.count
        return _core.gather_faces(
            **self._on_grid,
            out=self.particles.next_arrays,
            plan=self.rule.plan,
            links=self.links,
            velocity=velocity,
            change=change,
            shift=shift,
            dt=dt,
            crowded=crowded,
            seed=seed,
        )

    # ---- the elastic energy of a step ------------------------------------------------------------------------

    def energy(self, v: NDArray, dt: float, parameters: Parameters) -> float:
        """Of the particles after a step dt [s] with node velocities v [J], +inf where it is not defined."""
        return _core.implicit_energy(
            **self._on_grid, **self._law(parameters), links=self.links, velocity=v, dt=dt
        )

    def scatter_energy_gradient(
        self, v: NDArray, dt: float, parameters: Parameters, nodes: NDArray, *, add: bool
    ) -> None:
        """Gradient of `energy` by the node velocities [N s]."""
        _core.implicit_forces(
            **self._on_grid,
            **self._law(parameters),
            links=self.links,
            velocity=v,
            dt=dt,
            add=add,
            nodes=nodes,
        )

    def tangents(self, v: NDArray, dt: float, parameters: Parameters, *, positive: bool) -> NDArray:
        """What `scatter_tangent_product` needs at v; `positive` leaves out negative stiffness of particles."""
        law = self._law(parameters)
        rows = _core.tangent_rows(law["material"], self.dimension)
        tangents = self._tangents.get((rows, self.particles.arrays.capacity), self.dtype)
        _core.implicit_prepare(
            **self._on_grid, **law, links=self.links, velocity=v, dt=dt, positive=positive, tangents=tangents
        )
        return tangents

    def scatter_tangent_product(self, u: NDArray, tangents: NDArray, nodes: NDArray, *, add: bool) -> None:
        """Second derivative of `energy` times a node field."""
        _core.implicit_product(
            **self._on_grid, links=self.links, direction=u, tangents=tangents, add=add, nodes=nodes
        )

    def scatter_tangent_diagonal(
        self, dt: float, parameters: Parameters, nodes: NDArray, *, add: bool
    ) -> None:
        """Diagonal of the second derivative for undeformed particles [kg]."""
        _core.implicit_diagonal(
            **self._on_grid, **self._law(parameters), links=self.links, dt=dt, add=add, nodes=nodes
        )
