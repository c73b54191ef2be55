"""Implicit steps on the grid: one Newton step (semi-implicit), or the minimum of an energy (J15 section 2.2, A.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.points import Body
from continua.bodies.vertices import Vertices
from continua.errors import SetupError
from continua.integrators.grid_contact import NodeContact
from continua.integrators.grid_energy import GridEnergy
from continua.integrators.schemes import Optimization, SemiImplicit
from continua.integrators.stepper import ObstacleTable, StepResult
from continua.integrators.symplectic import SymplecticEuler
from continua.optimize import Options, Stopping, minimise
from continua.optimize.krylov import SOLVERS, dot, norm

Array = NDArray[np.float64]
WORK = ("newton_iterations", "krylov_iterations", "line_search_evaluations")
CONTACT_ROUNDS = 5  # most solves of a semi-implicit step, each with other nodes held by obstacles
NEGLIGIBLE = 1e-20  # mass of a node over the largest: particles that touch it by rounding only do not feel it
FAR = 1e300  # nodes with hardly any mass take steps of any length without doing anything; the energy decides
NOISE = 50  # relative error of the energy of a step, in units of the rounding error of particle data


@dataclass
class ImplicitGrid(SymplecticEuler):
    """Elastic forces at the end of the step, so that stiffness does not limit it; flow and friction are explicit."""

    settings: SemiImplicit | Optimization = field(default_factory=lambda: Optimization())

    PHASES: ClassVar[tuple[str, ...]] = ("sort", "p2g", "solve", "g2p", "positions", "push_out")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.settings.positions == "implicit" and self.degree == 1:
            raise SetupError(
                "implicit positions need smooth B-splines: use kernel quadratic or cubic, or an integrator with "
                'positions="explicit"'
            )
        if self.mls or self.exponential:
            raise SetupError(
                "implicit integrators minimise an energy of I + dt grad v with the gradients of the B-splines: leave "
                'stress_transfer at "gradient" and deformation at "safe"'
            )
        self.report = dict.fromkeys((*WORK, *(f"total_{name}" for name in WORK), "unconverged"), 0.0)

    def _grid_step(
        self,
        bodies: Sequence[Body],
        table: ObstacleTable,
        dt: float,
        gravity: NDArray[np.float64],
        result: StepResult,
    ) -> tuple[NDArray, NDArray | None]:
        """New node velocities with mass and, for FLIP, by how much they changed."""
        with self._phase("p2g"):
            old = self._scatter("old nodes", bodies, dt, momentum=True, stress=False)
            _core.momentum_to_velocity(old, self.dimension, [0.0] * self.dimension)
        with self._phase("solve"):
            nodes = self._solve(bodies, table, old, dt, gravity, result)
            return nodes, self._change(nodes, old) if self.transfer.flip else None

    def _settle(self, bodies: Sequence[Body], nodes: NDArray, dt: float) -> None:
        """x' = x + dt v(x'), so that no particle passes into a region at rest (J15 A.6.2)."""
        with self._phase("positions"):
            if self.settings.positions == "explicit":
                return
            for number, body in enumerate(bodies):
                if isinstance(body, Vertices):
                    continue  # their energy was that of the explicit positions
                _core.implicit_positions(
                    body.arrays,
                    body.next_arrays,
                    self.lattice,
                    self.grid.keys,
                    self._orders[number],
                    nodes,
                    self.dimension,
                    self.degree,
                    dt,
                )

    # ---- what the energy asks of the grid --------------------------------------------------------------------

    def order(self, number: int) -> object:
        """Sorted particles of a body."""
        return self._orders[number]

    def as_nodes(self, x: Array, name: str) -> NDArray:
        """A field (N, 3) in the layout and precision of the grid."""
        nodes = self.workspace.get(name, self.grid.node_shape(), self._dtype)
        nodes.reshape(-1, 4)[:, :3] = x
        nodes.reshape(-1, 4)[:, 3] = 0
        return nodes

    def sum_tiles(self, fill: Callable[[int, NDArray], None]) -> Array:
        """Node sums (N, 3) of what fill(number, tiles) writes for every body."""
        nodes = self.workspace.get("sums", self.grid.node_shape(), self._dtype)
        for number, order in enumerate(self._orders):
            tiles = self.workspace.get("tiles", self.grid.tile_shape(order), self._dtype)
            fill(number, tiles)
            self._collect(number, tiles, nodes, add=number > 0)
        return nodes.reshape(-1, 4)[:, :3].astype(np.float64)

    def to_vertices(self, number: int, body: Vertices, nodes: NDArray) -> Array:
        """A node field at the vertices of a mesh, (N, d)."""
        values = self.workspace.get(f"values {number}", body.arrays.x.shape, self._dtype)
        _core.gather_values(
            body.arrays,
            self.lattice,
            self._orders[number],
            self.grid.reach[number],
            nodes,
            self.dimension,
            self.degree,
            values,
        )
        return body.to_vertices(values)

    # ---- the solve -------------------------------------------------------------------------------------------

    def _solve(
        self,
        bodies: Sequence[Body],
        table: ObstacleTable,
        old: NDArray,
        dt: float,
        gravity: NDArray[np.float64],
        result: StepResult,
    ) -> NDArray:
        """New node velocities and mass."""
        self._dtype = old.dtype
        flat = old.reshape(-1, 4).astype(np.float64)
        before = flat[:, :3]
        mass = np.where(flat[:, 3] > NEGLIGIBLE * flat[:, 3].max(), flat[:, 3], 0.0)
        push = np.zeros(3)
        push[: self.dimension] = dt * gravity
        target = np.where(mass[:, None] > 0, before + push, 0.0)
        contact = NodeContact.of(table, self._node_points(), mass > 0)
        energy = GridEnergy(self, bodies, mass, target, dt)
        if isinstance(self.settings, SemiImplicit):
            v, reaction = self._one_newton_step(energy, contact, target)
        else:
            v, reaction = self._minimum(energy, contact, mass, target, dt, result)
        impulse = contact.rub(v, mass, reaction)
        result.impulses = table.per_obstacle(_per_row(impulse, contact.owner, len(table)))
        nodes = self.workspace.get("nodes", old.shape, old.dtype)
        nodes[:] = old
        nodes.reshape(-1, 4)[:, :3] = v
        return nodes

    def _node_points(self) -> Array:
        points = np.zeros((self.grid.blocks * self.grid.node_shape()[1], 3))
        points[:, : self.dimension] = self.grid.node_positions().reshape(-1, self.dimension)
        return points

    def _one_newton_step(
        self, energy: GridEnergy, contact: NodeContact, target: Array
    ) -> tuple[Array, Array]:
        """(M + beta dt^2 H) v = M target + dt f, with f and H at the old positions (J15 section 2.2 step 7).

        Returns v and what the obstacles must add to the right-hand side [N s].
        """
        settings = self.settings
        assert isinstance(settings, SemiImplicit)
        still = np.zeros_like(target)
        energy.prepare(still, positive=settings.positive)
        impulse = -energy.gradient(still)
        tolerance = max(settings.tolerance * norm(impulse), energy.rounding)
        stopping = Stopping(0.0, tolerance, settings.max_iterations)

        def gradient(v: Array) -> Array:
            return energy.product(v, settings.implicitness) - impulse

        v, iterations = contact.project(target), 0
        contact.register_active(v, gradient(v))
        for _ in range(CONTACT_ROUNDS):
            found = SOLVERS[settings.krylov](
                lambda u: contact.reduce_product(energy.product(u, settings.implicitness), u),
                -contact.reduce_gradient(gradient(v)),
                energy.precondition,
                stopping,
            )
            v += found.x
            iterations += found.iterations
            if not contact.exchange(v, gradient(v)):
                break
        self._count(newton_iterations=1, krylov_iterations=iterations)
        v = contact.project(v)
        reaction = gradient(v)
        energy.react(settings.implicitness)
        return v, reaction

    def _minimum(
        self,
        energy: GridEnergy,
        contact: NodeContact,
        mass: Array,
        target: Array,
        dt: float,
        result: StepResult,
    ) -> tuple[Array, Array]:
        """Where the energy is lowest, and its gradient there: the impulse of the obstacles [N s]."""
        settings = self.settings
        assert isinstance(settings, Optimization)
        free = mass > 0
        force = -energy.gradient(target)  # of the elastic energy alone, for there is no inertia at the target
        explicit = target + np.divide(force, mass[:, None], out=np.zeros_like(force), where=free[:, None])
        crossing = self.lattice.dx / dt  # speed of a cell per step, which elastic forces are measured by
        speed = min(crossing, max(_mean_speed(v, mass) for v in (target, explicit)))
        momentum = float(np.sqrt(free.sum()) * mass[free].mean())  # of all nodes, as a norm, at 1 m/s
        options = Options(
            tolerance=max(settings.tolerance * momentum * speed, energy.rounding),
            forcing=(momentum * crossing) ** -0.5,
            krylov=settings.krylov,
            positive=settings.positive,
            max_iterations=settings.max_iterations,
            noise=NOISE * float(np.finfo(self._dtype).eps),
            max_step=FAR,
        )
        v, report = minimise(energy, [np.zeros_like(target), target, explicit], options, contact)
        self._count(
            newton_iterations=report.iterations,
            krylov_iterations=report.krylov_iterations,
            line_search_evaluations=report.line_search_evaluations,
        )
        self.report["unconverged"] = float(not report.converged)
        self.last_solve = report
        if not report.converged:
            result.unconverged = report.status
        reaction = energy.gradient(v)
        energy.react()
        return v, reaction

    def _count(self, **work: float) -> None:
        """Work of the last step, and of all so far (repeated steps included)."""
        for name in WORK:
            self.report[name] = work.get(name, 0.0)
            self.report[f"total_{name}"] += self.report[name]


def _mean_speed(v: Array, mass: Array) -> float:
    return float(np.sqrt(dot(mass[:, None] * v, v) / mass.sum()))


def _per_row(impulse: Array, owner: NDArray[np.intp], rows: int) -> Array:
    total = np.zeros((rows, 3))
    some = owner >= 0
    np.add.at(total, owner[some], impulse[some])
    return total
