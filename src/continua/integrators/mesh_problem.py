"""One step of mesh bodies as a minimisation over the points of all of them (J15 A.2 to A.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from continua.bodies.force import BodyForce
from continua.bodies.mesh_body import MeshBody
from continua.contact.colliders import Collider
from continua.contact.mesh_contact import SLIP, STICKY, TOUCHING, ContactSurface, MeshContact, stop
from continua.contact.mesh_friction import SlidingContacts
from continua.contact.mesh_penalty import LevelSetPenalty
from continua.errors import InstabilityError
from continua.integrators.mesh_collisions import penalty_stiffness
from continua.integrators.mesh_rubbing import Friction, Reaction, Rubbing
from continua.integrators.mesh_terms import BodyTerms
from continua.integrators.mesh_tolerance import LeftOver, left_over
from continua.integrators.schemes import Optimization
from continua.mesh import Rayleigh, SelfCollision
from continua.optimize import Gravity, ImplicitStep, Options, PointState, Report, StepEnergy, Term, minimise
from continua.optimize.krylov import Operator, norm

Array = NDArray[np.float64]
SAME_STEP = 1e-9  # relative difference of steps that BDF2 takes for equal
NEARLY = 10.0  # times the tolerance: a step that stops there without converging is reported but good enough
ROUNDING = 100 * float(np.finfo(np.float64).eps)
RESCUE = 4  # times as many iterations with positive elements, if the first ones did not suffice
HELD = 1e12  # times the stiffness of a point, for one that is held
LONGEST = 1e3  # Newton direction, over the size of the bodies
ROUNDS = 13  # most solves of a step, each with the friction of the normal forces of the one before
SOFTER = (1e3, 1e2, 1e1)  # times the slip speed in first solves where bodies rub: who sticks is found sooner
LOOSE = 100.0  # times the tolerance in these
SETTLED = 1e-3  # relative change of the friction at which it is known


@dataclass
class MeshResult:
    """The end of a step; nothing of it is in force until it is accepted."""

    moved: list[PointState]
    impulses: NDArray[np.float64]  # per collider (n, 3) [N s]
    pulls: NDArray[np.float64]  # of the scripts of every body (bodies, 3) [N s]
    report: Report
    friction_change: float  # by the normal forces of the last solve, relative; 0 without friction
    seconds: float = 0.0

    def accept(self, bodies: Sequence[MeshBody], dt: float) -> None:
        """Let the bodies go there."""
        for body, moved, pull in zip(bodies, self.moved, self.pulls, strict=True):
            body.move(moved, dt)
            body.pull += pull


class MeshProblem:
    """One step of all mesh bodies as a minimisation."""

    def __init__(
        self,
        bodies: Sequence[MeshBody],
        colliders: Sequence[Collider],
        forces: Sequence[BodyForce],
        dt: float,
        t: float,
        gravity: NDArray[np.float64],
        settings: Optimization,
        collision: SelfCollision | None,
        friction: Friction,
        known: tuple[NDArray[np.intp], Array] | None = None,
    ) -> None:
        """known: points (n,) that are held, and where they get (n, d) [m]."""
        self._known = known
        self.bodies, self.colliders, self.collision = bodies, colliders, collision
        self.friction_change = 0.0
        self.dt, self.t, self.settings = dt, t, settings
        ends = np.cumsum([len(body) for body in bodies])
        self.rows = [slice(end - len(body), end) for body, end in zip(bodies, ends)]
        self.now = PointState(*(np.concatenate([getattr(b, name) for b in bodies]) for name in ("x", "v")))
        self.mass = np.concatenate([body.mass for body in bodies])
        self.size = float(max(np.ptp(body.rest, axis=0).max() for body in bodies))
        push = np.concatenate([sum((f.at(b, t) for f in forces), np.zeros_like(b.x)) for b in bodies])
        self.gravity = Gravity(self.mass, push + gravity)
        self.contact, self.penalties = self._obstacles()
        acceleration = self._acceleration(push + gravity)
        self.step = self._implicit_step(acceleration)
        self.starts = self.step.starts(acceleration)
        self.elastic = self._body_terms()
        self.rubbing = Rubbing(bodies, colliders, self.rows, self.step, dt, friction)
        terms: list[Term] = [self.elastic, self.gravity, *self.penalties]
        terms += [self.rubbing] if self.rubbing.acts else []
        costly = [collision] if collision else []
        self.energy = StepEnergy(self.step, self.mass, terms, costly, self._inverses)
        self.left_over = self._left_over()
        self.options = Options(
            tolerance=1.0,  # in units of what may be left over
            start_tolerance=self.left_over.at_start,
            forcing=self.left_over.forcing,
            krylov=settings.krylov,
            positive=settings.positive,
            max_iterations=settings.max_iterations,
            max_step=LONGEST * self.size,
        )

    # ---- setting up ------------------------------------------------------------------------------------------

    def _acceleration(self, external: Array) -> Array:
        """Of every point at the beginning of the step, without drag and contact (N, d) [m/s^2]."""
        forces = np.concatenate([body.inner_forces() for body in self.bodies])
        return external + forces / self.mass[:, None]

    def _implicit_step(self, acceleration: Array) -> ImplicitStep:
        drag = np.concatenate([np.full((len(body), 1), body.drag) for body in self.bodies])
        same = all(abs(body.before_dt - self.dt) <= SAME_STEP * self.dt for body in self.bodies)
        before = None
        if self.settings.scheme == "bdf2" and same:
            past = [body.before for body in self.bodies if body.before is not None]
            before = PointState(np.concatenate([p.x for p in past]), np.concatenate([p.v for p in past]))
        self.lasting = self.settings.scheme == "backward-euler" or before is not None
        return ImplicitStep.of(
            self.settings.scheme, self.dt, self.now, acceleration, before=before, drag=drag
        )

    def _body_terms(self) -> BodyTerms:
        terms: list[tuple[slice, Term]] = []
        for body, rows in zip(self.bodies, self.rows):
            terms.append((rows, body.energy))
            if body.damping:
                center = self.step.base_position[rows]
                damping = Rayleigh(
                    body.energy, body.x, coefficient=body.damping, dt=1 / self.step.rate, center=center
                )
                terms.append((rows, damping))
        return BodyTerms(terms)

    def _inverses(self, diagonal: Array) -> Sequence[tuple[slice, Operator]]:
        """Of bodies, for the preconditioner: scripted points do not move."""
        return self.elastic.inverses(np.where(self.fixed[:, None], HELD * diagonal, diagonal))

    def _obstacles(self) -> tuple[MeshContact, list[LevelSetPenalty]]:
        """Analytic colliders as a constraint, sampled ones as energies."""
        x = self.now.x
        fixed, values = np.zeros(len(x), bool), x.copy()
        self.stuck: list[tuple[int, NDArray[np.intp]]] = []  # collider and the points that stick to it
        surfaces: list[ContactSurface] = []
        tied: list[NDArray[np.bool_]] = []
        for number, collider in enumerate(self.colliders):
            for new in ContactSurface.over(collider, number, self.t, self.dt):
                assert new.before is not None
                touching = (
                    (new.before.at(x)[0] <= TOUCHING * self.size) & ~fixed if new.mode else fixed & False
                )
                if new.mode == STICKY:
                    values[touching], fixed = new.carries(x[touching]), fixed | touching
                    self.stuck.append((number, np.flatnonzero(touching)))
                surfaces.append(new)
                tied.append(touching if new.mode == SLIP else fixed & False)
        self.scripted: list[NDArray[np.intp]] = []  # points of every body
        for body, rows in zip(self.bodies, self.rows):
            body.begin(self.t + self.dt)
            chosen = rows.start + body.held
            self.scripted.append(chosen)
            fixed[chosen], values[chosen] = True, body.places
        if self._known is not None:
            chosen, places = self._known
            fixed[chosen], values[chosen] = True, places
        self.fixed = fixed
        exact = [k for k, surface in enumerate(surfaces) if not surface.sampled]
        contact = MeshContact(
            [surfaces[k] for k in exact], fixed, values, [tied[k] for k in exact], self.size
        )
        stiffness = self._penalty_stiffness() if len(exact) < len(surfaces) else 0.0
        return contact, [LevelSetPenalty(s, ~fixed, stiffness) for s in surfaces if s.sampled]

    def _penalty_stiffness(self) -> float:
        given = [b.penalty.obstacle_stiffness for b in self.bodies if b.penalty.obstacle_stiffness]
        return max(given) if given else penalty_stiffness(self.bodies)

    def _left_over(self) -> LeftOver:
        """What may be left over of the forces that act: loads, elastic forces at the start and where points would go
        without them, and the inertia that stops points at obstacles."""
        start, there = self.contact.project(self.now.x), self.contact.project(self.step.target)
        kinds = [
            self.gravity.gradient(start),
            self.elastic.gradient(start),
            self.elastic.gradient(there),
            self.energy.inertia(there),
        ]
        return left_over(
            self.bodies,
            self.rows,
            [np.where(self.fixed[:, None], 0.0, force) for force in kinds],
            self.energy.mass_matrix,
            relative=self.settings.tolerance,
            absolute=self.settings.absolute_tolerance,
        )

    # ---- solving ---------------------------------------------------------------------------------------------

    def solve(self) -> tuple[Array, Report]:
        """New positions (N, d) [m]."""
        if not self.rubbing.acts:
            return self._solved(self.starts)
        start = self.contact.project(self.now.x)
        known = self._rubbing_at(start, self.energy.gradient(start) - self.energy.inertia(start))
        starts, report = self.starts, None
        for soft in (*(SOFTER if _between_bodies(known) else ()), *[1.0] * ROUNDS):
            self.rubbing.groups = [replace(group, reaches=soft * group.reaches) for group in known]
            x, more = self._solved(starts, LOOSE if soft > 1 else 1.0)
            report = more if report is None else _together(report, more)
            known, starts = self._rubbing_at(x, self.energy.gradient(x)), [x]
            self.friction_change = self.rubbing.change(known, x)
            if soft == 1.0 and self.friction_change <= SETTLED:
                break
        assert report is not None
        return x, report

    def _solved(self, starts: Sequence[Array], tolerance: float = 1.0) -> tuple[Array, Report]:
        """The minimum, with the friction that is known."""
        x, report = self._minimum(starts, replace(self.options, tolerance=tolerance))
        if not report.converged and not self.settings.positive:
            x, report = self._rescued(x, report)
        if not report.converged and self.collision is not None and self.collision.own_body:
            x, report = self._with_held_pairs(x, report)
        if not report.converged and not report.history[-1][0] < self._good_enough(x):
            raise self._failure(x, report)
        return x, report

    def _rubbing_at(self, x: Array, gradient: Array) -> list[SlidingContacts]:
        """Friction that belongs to the normal forces at x, where the energy has this gradient."""
        self.contact.register_active(x, gradient)
        pairs = None
        if self.collision is not None and self.rubbing.between_bodies:
            pairs = self.collision.pairs(x)
        return self.rubbing.of(self._reactions(x, gradient), pairs)

    def _reactions(self, x: Array, gradient: Array) -> list[Reaction]:
        """Normal forces of all obstacles at the registered place x."""
        return [*self.contact.reactions(gradient), *((p.surface, *p.reaction(x)) for p in self.penalties)]

    def _good_enough(self, x: Array) -> float:
        """What may be left over if a step could not reach its tolerance, in units of it: a little more, or so little
        that the energy it would still release, g^2 over stiffness and inertia, is lost in the rounding error of the
        energy."""
        elastic = self.elastic.gradient(x)
        lost = np.empty_like(x)
        for body, some in zip(self.bodies, self.rows):
            error = ROUNDING * norm(x[some]) * norm(elastic[some])
            stiffness = body.stiffness + float(self.energy.mass_matrix[some].mean())
            lost[some] = np.sqrt(stiffness * error / x[some].size)
        return max(NEARLY, self.left_over.measure(lost))

    def _free_gradient(self, x: Array) -> Array:
        gradient = self.energy.gradient(x)
        self.contact.register_active(x, gradient)
        return self.contact.reduce_gradient(gradient)

    def _minimum(self, starts: Sequence[Array], options: Options) -> tuple[Array, Report]:
        self.energy.forget()  # friction or what collides may have changed
        try:
            return minimise(self.energy, starts, options, self.contact, self.left_over.measure)
        except InstabilityError as error:
            names = ", ".join(f'"{body.name}"' for body in self.bodies)
            raise InstabilityError(f"mesh bodies {names} at t = {self.t:.6g} s: {error}") from None

    def _rescued(self, x: Array, first: Report) -> tuple[Array, Report]:
        """Go on from x without negative stiffness of elements: slower near a solution, but straight through valleys."""
        more = replace(self.options, positive=True, max_iterations=RESCUE * self.options.max_iterations)
        x, second = self._minimum([x], more)
        return x, _together(first, second)

    def _with_held_pairs(self, x: Array, first: Report) -> tuple[Array, Report]:
        """Go on from x where the energy of bodies in themselves jumps: without looking for collisions anew.

        It is not the minimum that was asked for, so that the step still counts as not converged.
        """
        assert self.collision is not None
        with self.collision.holding(x):
            x, second = self._minimum([x], self.options)
        return x, replace(_together(first, second), status=first.status)

    def _failure(self, x: Array, report: Report) -> InstabilityError:
        gradient = self._free_gradient(x)
        sizes = np.array([norm(gradient[some]) for some in self.rows])
        allowed = np.array([self.left_over.allowed[some][0, 0] for some in self.rows])
        worst = int(np.argmax(sizes / allowed))
        body = self.bodies[worst]
        return InstabilityError(
            f'the step of mesh body "{body.name}" ({body.label}) from t = {self.t:.6g} s did not converge: it ended as '
            f'"{report.status}" after {report.iterations} iterations, with forces of {sizes[worst]:.3g} N in place of '
            f"{allowed[worst]:.3g} N; use a smaller dt, or more max_iterations or a larger tolerance of the "
            "integrator, or look whether scripted vertices, colliders or other bodies crush the body"
        )

    def result(self, x: Array, report: Report) -> MeshResult:
        """Velocities and impulses that belong to the new positions."""
        v = self.step.velocity(x)
        v[self.fixed] = (x - self.now.x)[self.fixed] / self.dt
        impulses = np.zeros((len(self.colliders), 3))
        d = x.shape[1]
        # A contact force at the end of a trapezoid step acts for half of it, and is not counted in the next one.
        during = self.dt if self.lasting else 1 / self.step.rate
        gradient = self.energy.gradient(x)
        self.contact.register_active(x, gradient)
        for surface, some, force in self._reactions(x, gradient):
            impulses[surface.owner, :d] += during * force.sum(axis=0)
            if surface.mode == STICKY:
                impulses[surface.owner, :d] += stop(v, x, self.mass, surface, some).sum(axis=0)
        for group in self.rubbing.groups:
            if group.obstacle is not None:
                impulses[group.obstacle, :d] += during * group.forces(x).sum(axis=0)
        holding = during * gradient
        pulls = np.zeros((len(self.bodies), 3))
        for k, some in enumerate(self.scripted):
            pulls[k, :d] = holding[some].sum(axis=0)
            holding[some] = 0.0
        for number, some in self.stuck:
            impulses[number, :d] += holding[some].sum(axis=0)
        moved = [PointState(x[rows].copy(), v[rows].copy()) for rows in self.rows]
        return MeshResult(moved, impulses, pulls, report, self.friction_change)


def _between_bodies(groups: Sequence[SlidingContacts]) -> bool:
    return any(group.obstacle is None and len(group.nodes) for group in groups)


def _together(first: Report, second: Report) -> Report:
    """The report of a minimisation in two parts."""
    counts = ("iterations", "krylov_iterations", "line_search_evaluations", "negative_curvature_count")
    both = {name: getattr(first, name) + getattr(second, name) for name in counts}
    return replace(second, history=first.history + second.history[1:], **both)
