"""Implicit steps on the grid: one Newton step (semi-implicit), or the minimum of an energy (J15 section 2.2, A.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.contact.fields import obstacle_contacts
from continua.errors import SetupError
from continua.integrators.field import Field
from continua.integrators.grid_contact import NodeContact
from continua.integrators.grid_energy import GridEnergy
from continua.integrators.grid_friction import Expanded, Rubbed, Rubbing, Scaled
from continua.integrators.schemes import Optimization, SemiImplicit
from continua.integrators.stepper import NodeStepper, StepResult, StepSetting
from continua.optimize import Options, Stopping, minimise
from continua.optimize.krylov import SOLVERS, norm

Array = NDArray[np.float64]
WORK = ("newton_iterations", "krylov_iterations", "line_search_evaluations")
CONTACT_ROUNDS = 5  # most solves of a semi-implicit step, each with other nodes held by obstacles
FRICTION_ROUNDS = 12  # most solves of a step, each with the normal impulses of the one before
SETTLED = 1e-2  # relative change of these at which friction is known; it falls five to ten times per solve
EXACT = 0.03  # relative residual of the linear solves in a semi-implicit step with friction
NEGLIGIBLE = 1e-20  # mass of a node over the largest: particles that touch it by rounding only do not feel it
FAR = 1e300  # nodes with hardly any mass take steps of any length without doing anything; the energy decides
UNTOUCHED = 16  # rounding errors that particles in free fall have gathered, in units of that of a gradient
NOISE = 50  # relative error of the energy of a step, in units of the rounding error of particle data


class ImplicitGrid(NodeStepper):
    """Elastic forces at the end of the step, so that stiffness does not limit it; plastic flow is explicit."""

    PHASES: ClassVar[tuple[str, ...]] = ("sort", "p2g", "solve", "contact", "g2p", "positions", "push_out")

    def __init__(
        self,
        field: Field,
        settings: SemiImplicit | Optimization,
        *,
        push_out: float | None = 0.5,
        name: str = "main",
    ) -> None:
        super().__init__(field, push_out=push_out, name=name)
        self.settings = settings
        if settings.positions == "implicit" and field.degree == 1:
            raise SetupError(
                "implicit positions need smooth B-splines: use kernel quadratic or cubic, or an integrator with "
                'positions="explicit"'
            )
        if field.rule.mls or field.rule.exponential:
            raise SetupError(
                "implicit integrators minimise an energy of I + dt grad v with the gradients of the B-splines: leave "
                'stress_transfer at "gradient" and deformation at "safe"'
            )
        self.report = dict.fromkeys(
            (*WORK, *(f"total_{name}" for name in WORK), "unconverged", "friction_change"), 0.0
        )

    def to_grid(self, step: StepSetting, result: StepResult) -> None:
        self.report.update(dict.fromkeys((*WORK, "unconverged", "friction_change"), 0.0))
        with self._phase("p2g"):
            self.old = self._node_array(self._old)
            self.field.scatter(self.old, step.dt, momentum=True, stress=False)
            d = self.field.dimension
            _core.momentum_to_velocity(self.old, d, [0.0] * d)
        with self._phase("solve"):
            self._solve(self.old, step, result)

    def _settle(self, step: StepSetting, result: StepResult) -> None:
        """x' = x + dt v(x'), so that no particle passes into a region at rest (J15 A.6.2)."""
        with self._phase("positions"):
            if self.settings.positions == "explicit":
                return
            for body, exchanges in zip(self.field.bodies, self.field.exchanges, strict=True):
                for exchange in exchanges if body.settles() else ():
                    if exchange.settle(self.nodes, step.dt)["unsolved"] and result.bad is None:
                        self._failed("positions", result)

    def _failed(self, status: str, result: StepResult) -> None:
        """A solve ended without reaching its tolerance, so that the step does not count."""
        self.report["unconverged"] = 1.0
        result.unconverged = result.unconverged or status

    # ---- the solve -------------------------------------------------------------------------------------------

    def _solve(self, old: NDArray, step: StepSetting, result: StepResult) -> None:
        """New node velocities and mass. Unknowns are the velocities of nodes with mass; all others are at rest."""
        flat = old.reshape(-1, 4)
        at = np.flatnonzero(flat[:, 3] > NEGLIGIBLE * flat[:, 3].max())
        mass = flat[at, 3].astype(np.float64)
        push = np.zeros(3)
        push[: self.field.dimension] = step.dt * step.gravity
        target = flat[at, :3] + push
        table = step.obstacles
        contact = self._obstacles(old, step, at)
        energy = GridEnergy(self.field, at, mass, target, step.dt)
        self.rubbing = Rubbing(contact)
        if isinstance(self.settings, SemiImplicit):
            v, reaction = self._one_newton_step(energy, contact, target, push, result)
        else:
            v, reaction = self._minimum(energy, contact, mass, target, push, step.dt, result)
        impulse = contact.impulses(reaction, self.rubbing.impulses(v, reaction))
        result.impulses += table.per_obstacle(_per_row(impulse, contact.owner, len(table)))
        self.nodes = self._node_array(self._nodes)
        self.nodes[..., :3], self.nodes[..., 3] = 0.0, old[..., 3]
        self.nodes.reshape(-1, 4)[at, :3] = v

    def _obstacles(self, old: NDArray, step: StepSetting, at: NDArray[np.int64]) -> NodeContact:
        """The conditions that obstacles put on the nodes numbered `at`."""
        table, field = step.obstacles_of(self.name), self.field
        touching = None
        if len(table):
            one = self.contact_field(old)
            touching = obstacle_contacts(one, table, field.lattice, field.degree)
        return NodeContact.of(touching, table, self._node_points()[at], at, step.dt, field.lattice.dx)

    def _node_points(self) -> Array:
        grid = self.field.grid
        points = np.zeros((grid.blocks * grid.node_shape()[1], 3))
        points[:, : grid.dimension] = grid.node_positions().reshape(-1, grid.dimension)
        return points

    def _one_newton_step(
        self, energy: GridEnergy, contact: NodeContact, target: Array, push: Array, result: StepResult
    ) -> tuple[Array, Array]:
        """(M + beta dt^2 H) v = M target + dt f, with f and H at the old positions (J15 section 2.2 step 7).

        Returns v and what the obstacles must add to the right-hand side [N s].
        """
        settings = self.settings
        assert isinstance(settings, SemiImplicit)
        still = np.zeros_like(target)
        energy.hold(contact.fixed)
        energy.prepare(still, positive=settings.positive)
        impulse = -energy.gradient(still)

        def gradient(v: Array) -> Array:
            return energy.product(v, settings.implicitness) - impulse

        acting = self._acting(energy.mass, gradient, contact, target, push)
        stopping = Stopping(0.0, max(settings.tolerance * acting, energy.rounding), settings.max_iterations)
        v, iterations = contact.project(target), 0
        contact.register_active(v, gradient(v))
        for _ in range(CONTACT_ROUNDS):
            found = SOLVERS[settings.krylov](
                lambda u: contact.reduce_product(energy.product(u, settings.implicitness), u),
                -contact.reduce_gradient(gradient(v)),
                lambda r: contact.reduce(energy.precondition(r)),
                stopping,
            )
            v += found.x
            iterations += found.iterations
            if found.status != "tol" or not contact.exchange(v, gradient(v)):
                break
        else:
            self._failed("contact", result)
        if found.status != "tol":
            self._failed(found.status, result)
        self._count(newton_iterations=1, krylov_iterations=iterations)
        v = contact.project(v)
        if contact.friction.any() and found.status == "tol":
            expanded = Expanded(energy, lambda u: energy.product(u, settings.implicitness), impulse)
            options = Options(
                tolerance=stopping.absolute,
                krylov=settings.krylov,
                krylov_tolerance=EXACT,
                max_krylov_iterations=settings.max_iterations,
                noise=NOISE * float(np.finfo(self.field.dtype).eps),
                max_step=FAR,
            )
            v = self._rubbed(expanded, [v], v, options, result)
        reaction = gradient(v)
        energy.react(settings.implicitness)
        return v, reaction

    def _minimum(
        self,
        energy: GridEnergy,
        contact: NodeContact,
        mass: Array,
        target: Array,
        push: Array,
        dt: float,
        result: StepResult,
    ) -> tuple[Array, Array]:
        """Where the energy is lowest, and its gradient there: the impulse of the obstacles [N s]. push (3,) [m/s]: what
        gravity has added to the target."""
        settings = self.settings
        assert isinstance(settings, Optimization)
        energy.hold(contact.fixed)
        # The gradient is that of the elastic energy alone, for there is no inertia at the target.
        explicit = target - energy.gradient(target) / energy.mass
        crossing = self.field.lattice.dx / dt  # speed of a cell per step
        given = settings.absolute_tolerance
        options = Options(
            tolerance=max(
                settings.tolerance * self._acting(energy.mass, energy.gradient, contact, target, push),
                energy.rounding if given is None else given * dt,
            ),
            start_tolerance=UNTOUCHED * energy.rounding if given is None else None,
            forcing=float(np.sqrt(len(mass)) * mass.mean() * crossing) ** -0.5,
            krylov=settings.krylov,
            positive=settings.positive,
            max_iterations=settings.max_iterations,
            noise=NOISE * float(np.finfo(self.field.dtype).eps),
            max_step=FAR,
        )
        still = np.zeros_like(target)
        v = self._rubbed(energy, [still, target, explicit], still, options, result)
        reaction = energy.gradient(v)
        energy.react()
        return v, reaction

    def _rubbed(
        self,
        objective: Scaled,
        starts: Sequence[Array],
        pressed: Array,
        options: Options,
        result: StepResult,
    ) -> Array:
        """The minimum of an objective with the friction of obstacles: it needs normal impulses, which need friction, so
        that solves are repeated. At first they are those that stop nodes which move as `pressed` (N, 3) [m/s]."""
        rubbing = self.rubbing
        acts = bool(rubbing.contact.friction.any())
        rubbed, constraint = (Rubbed(objective, rubbing), rubbing) if acts else (objective, rubbing.contact)
        limits = rubbing.pressed(objective.gradient(rubbing.project(pressed))) if acts else rubbing.limits
        for _ in range(FRICTION_ROUNDS):
            rubbing.limits = limits
            v, report = minimise(rubbed, starts, options, constraint)
            self._count(
                newton_iterations=report.iterations,
                krylov_iterations=report.krylov_iterations,
                line_search_evaluations=report.line_search_evaluations,
            )
            if not (acts and report.converged):
                break
            limits, starts = rubbing.pressed(objective.gradient(v)), [v]
            self.report["friction_change"] = rubbing.change(limits)
            if self.report["friction_change"] <= SETTLED:
                break
        else:
            self.report["unconverged"] = 1.0
        self.last_solve = report
        if not report.converged:
            self._failed(report.status, result)
        return v

    @staticmethod
    def _acting(
        mass: Array, gradient: Callable[[Array], Array], contact: NodeContact, target: Array, push: Array
    ) -> float:
        """Size of the impulses that act in the step [N s]: gravity, elastic forces, and what stops nodes at obstacles.

        How fast all of it flies does not matter.
        """
        stopped = contact.project(target)
        inertia = mass * (stopped - target)
        elastic = contact.freed(gradient(stopped) - inertia)
        return max(norm(mass * push), norm(contact.freed(inertia)), norm(elastic))

    def _count(self, **work: float) -> None:
        """Work of the running step, and of all so far (repeated steps included)."""
        for name in WORK:
            self.report[name] += work.get(name, 0.0)
            self.report[f"total_{name}"] += work.get(name, 0.0)


def _per_row(impulse: Array, owner: NDArray[np.intp], rows: int) -> Array:
    total = np.zeros((rows, 3))
    some = owner >= 0
    np.add.at(total, owner[some], impulse[some])
    return total
