"""Steps of mesh bodies: one minimisation over the points of all of them (J15 A.2 to A.5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from continua.bodies.force import BodyForce
from continua.bodies.mesh_body import MeshBody
from continua.contact.colliders import Collider
from continua.contact.mesh_contact import SLIP, STICKY, TOUCHING, ContactSurface, MeshContact, rub
from continua.contact.mesh_penalty import LevelSetPenalty
from continua.errors import InstabilityError
from continua.integrators.implicit import WORK
from continua.integrators.mesh_collisions import collision_of, pair_friction, penalty_stiffness, rub_bodies
from continua.integrators.schemes import Optimization
from continua.mesh import CollisionPairs, Rayleigh, SelfCollision
from continua.optimize import Gravity, ImplicitStep, Options, PointState, Report, StepEnergy, Term, minimise
from continua.optimize.krylov import norm

Array = NDArray[np.float64]
EARTH = 9.81  # [m/s^2] measures forces where there is no gravity
SAME_STEP = 1e-9  # relative difference of steps that BDF2 takes for equal
NEARLY = 1e3  # times the tolerance: a step that stops there without converging is reported but good enough
ROUNDING = 100 * float(np.finfo(np.float64).eps)
RESCUE = 4  # times as many iterations with positive elements, if the first ones did not suffice


@dataclass(frozen=True)
class Friction:
    """Coefficients between mesh bodies, and between an obstacle and a mesh body."""

    bodies: Callable[[MeshBody, MeshBody], float]
    obstacle: Callable[[Collider, MeshBody], float]


@dataclass
class MeshResult:
    """The end of a step; nothing of it is in force until it is accepted."""

    moved: list[PointState]
    impulses: NDArray[np.float64]  # per collider (n, 3) [N s]
    pulls: NDArray[np.float64]  # of the scripts of every body (bodies, 3) [N s]
    report: Report
    seconds: float

    def accept(self, bodies: Sequence[MeshBody], dt: float) -> None:
        """Let the bodies go there."""
        for body, moved, pull in zip(bodies, self.moved, self.pulls, strict=True):
            body.move(moved, dt)
            body.pull += pull


class BodyTerms:
    """The terms of every body, each over its own rows of the positions (N, d) of all."""

    def __init__(self, terms: Sequence[tuple[slice, Term]]) -> None:
        self._terms = terms

    def value(self, x: Array) -> float:
        return sum(term.value(x[rows]) for rows, term in self._terms)

    def gradient(self, x: Array) -> Array:
        total = np.zeros_like(x)
        for rows, term in self._terms:
            total[rows] += term.gradient(x[rows])
        return total

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        self._shape = x.shape
        for rows, term in self._terms:
            term.prepare(x[rows], positive=positive)

    def product(self, dx: Array) -> Array:
        total = np.zeros_like(dx)
        for rows, term in self._terms:
            total[rows] += term.product(dx[rows])
        return total

    def diagonal(self) -> Array:
        total = np.zeros(self._shape)
        for rows, term in self._terms:
            total[rows] += term.diagonal()
        return total


@dataclass
class MeshStepper:
    """Advances mesh bodies among colliders."""

    settings: Optimization
    friction: Friction
    report: dict[str, float] = field(default_factory=dict)  # columns of the diagnostics
    seconds: float = 0.0  # spent so far
    last_solve: Report | None = None  # with the energies of all iterations
    collision: SelfCollision | None = None  # energy of bodies that meet, over the points of all
    _meeting: tuple[MeshBody, ...] = ()  # the bodies it is for

    def advance(
        self,
        bodies: Sequence[MeshBody],
        colliders: Sequence[Collider],
        forces: Sequence[BodyForce],
        dt: float,
        t: float,
        gravity: NDArray[np.float64],
    ) -> MeshResult:
        """One step from t to t + dt [s], not yet accepted."""
        begin = time.perf_counter()
        if self._meeting != tuple(bodies):
            self.collision, self._meeting = collision_of(bodies), tuple(bodies)
        problem = _Problem(
            bodies, colliders, forces, dt, t, gravity, self.settings, self.collision, self.friction
        )
        x, report = problem.solve()
        result = problem.result(x, report)
        result.seconds = time.perf_counter() - begin
        self._keep(result)
        return result

    def _keep(self, result: MeshResult) -> None:
        """Count the work of the step, and of all so far."""
        report = result.report
        self.seconds += result.seconds
        work = (report.iterations, report.krylov_iterations, report.line_search_evaluations)
        for name, count in zip(WORK, work):
            self.report[name] = count
            self.report[f"total_{name}"] = self.report.get(f"total_{name}", 0.0) + count
        self.report["unconverged"] = float(not report.converged)
        self.last_solve = report


class _Problem:
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
    ) -> None:
        self.friction = friction
        self.bodies, self.colliders, self.collision = bodies, colliders, collision
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
        terms: list[Term] = [self.elastic, self.gravity, *self.penalties]
        self.energy = StepEnergy(self.step, self.mass, terms, costly=[collision] if collision else [])
        self.options = self._options(float(np.linalg.norm(gravity)) or EARTH)

    # ---- setting up ------------------------------------------------------------------------------------------

    def _acceleration(self, external: Array) -> Array:
        """Of every point at the beginning of the step, without drag and contact (N, d) [m/s^2]."""
        forces = []
        for body in self.bodies:
            force = body.forces()
            if body.damping:
                force -= body.damping * body.energy.hessian(body.x, positive=True).product(body.v)
            forces.append(force)
        return external + np.concatenate(forces) / self.mass[:, None]

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

    def _obstacles(self) -> tuple[MeshContact, list[LevelSetPenalty]]:
        """Analytic colliders as a constraint, sampled ones as energies."""
        x = self.now.x
        fixed, values = np.zeros(len(x), bool), x.copy()
        self.stuck: list[tuple[int, NDArray[np.intp]]] = []  # collider and the points that stick to it
        surfaces: list[ContactSurface] = []
        tied: list[NDArray[np.bool_]] = []
        for number, collider in enumerate(self.colliders):
            before = ContactSurface.of(collider, number, self.t)
            for old, new in zip(before, ContactSurface.of(collider, number, self.t + self.dt)):
                touching = (old.at(x)[0] <= TOUCHING * self.size) & ~fixed if new.mode else fixed & False
                if new.mode == STICKY:
                    values[touching], fixed = old.carried(x[touching], new), fixed | touching
                    self.stuck.append((number, np.flatnonzero(touching)))
                surfaces.append(new)
                tied.append(touching if new.mode == SLIP else fixed & False)
        self.scripted: list[NDArray[np.intp]] = []  # points of every body
        for body, rows in zip(self.bodies, self.rows):
            chosen, places = body.scripted_at(self.t + self.dt)
            self.scripted.append(rows.start + chosen)
            fixed[rows.start + chosen], values[rows.start + chosen] = True, places
        self.fixed = fixed
        exact = [k for k, surface in enumerate(surfaces) if not surface.sampled]
        contact = MeshContact(
            [surfaces[k] for k in exact], fixed, values, [tied[k] for k in exact], self.size
        )
        stiffness = self._penalty_stiffness() if len(exact) < len(surfaces) else 0.0
        return contact, [LevelSetPenalty(s, ~fixed, stiffness) for s in surfaces if s.sampled]

    def _penalty_stiffness(self) -> float:
        given = [b.contact.obstacle_stiffness for b in self.bodies if b.contact.obstacle_stiffness]
        return max(given) if given else penalty_stiffness(self.bodies)

    def _options(self, acceleration: float) -> Options:
        """A step is done when forces are small against the weight; Krylov solves become exact when they are small
        against what moves a point by an edge. Both as norms over all points."""
        root = float(np.sqrt(len(self.mass)))
        weight = root * float(self.mass.mean()) * acceleration
        stiff = root * max(body.stiffness * body.edge_length for body in self.bodies)
        return Options(
            tolerance=self.settings.tolerance * weight,
            forcing=max(stiff, weight) ** -0.5,
            krylov=self.settings.krylov,
            positive=self.settings.positive,
            max_iterations=self.settings.max_iterations,
        )

    # ---- solving ---------------------------------------------------------------------------------------------

    def solve(self) -> tuple[Array, Report]:
        """New positions (N, d) [m]."""
        x, report = self._minimum(self.starts, self.options)
        if not report.converged and not self.settings.positive:
            x, report = self._rescued(x, report)
        if not report.converged and self.collision is not None and self.collision.own_body:
            x, report = self._with_held_pairs(x, report)
        if not report.converged and not report.history[-1][0] < self._good_enough(x):
            raise self._failure(x, report)
        return x, report

    def _good_enough(self, x: Array) -> float:
        """Forces [N] at which a step may end although it could not reach its tolerance: small, or so small that the
        energy they would still release, g^2 / stiffness, is lost in the rounding error of the energy."""
        error = ROUNDING * norm(x) * norm(self.elastic.gradient(x))
        stiffest = max(body.stiffness for body in self.bodies)
        return max(NEARLY * self.options.tolerance, float(np.sqrt(stiffest * error)))

    def _minimum(self, starts: Sequence[Array], options: Options) -> tuple[Array, Report]:
        try:
            return minimise(self.energy, starts, options, self.contact)
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
        gradient = self.contact.reduce_gradient(self.energy.gradient(x))
        worst = int(np.argmax([norm(gradient[rows]) for rows in self.rows]))
        body, size = self.bodies[worst], report.history[-1][0]
        return InstabilityError(
            f'the step of mesh body "{body.name}" ({body.label}) from t = {self.t:.6g} s did not converge: it ended as '
            f'"{report.status}" after {report.iterations} iterations, with forces of {size:.3g} N in place of '
            f"{self.options.tolerance:.3g} N; use a smaller dt, or more max_iterations or a larger tolerance of the "
            "integrator, or look whether scripted vertices, colliders or other bodies crush the body"
        )

    def result(self, x: Array, report: Report) -> MeshResult:
        """Velocities, friction and impulses that belong to the new positions."""
        v = self.step.velocity(x)
        v[self.fixed] = (x - self.now.x)[self.fixed] / self.dt
        impulses = np.zeros((len(self.colliders), 3))
        d = x.shape[1]
        # A contact force at the end of a trapezoid step acts for half of it, and is not counted in the next one.
        during = self.dt if self.lasting else 1 / self.step.rate
        gradient = self.energy.gradient(x)
        self.contact.register_active(x, gradient)
        rubbed = self._rub_bodies(v, x, during)
        reactions = self.contact.reactions(gradient)
        reactions += [(p.surface, *p.reaction(x)) for p in self.penalties]
        for surface, some, force in reactions:
            given = during * force + rub(
                v, x, self.mass, surface, some, during * force, self._obstacle_friction(surface)[some]
            )
            impulses[surface.owner, :d] += given.sum(axis=0)
        holding = during * gradient - rubbed
        pulls = np.zeros((len(self.bodies), 3))
        for k, some in enumerate(self.scripted):
            pulls[k, :d] = holding[some].sum(axis=0)
            holding[some] = 0.0
        for number, some in self.stuck:
            impulses[number, :d] += holding[some].sum(axis=0)
        moved = [PointState(x[rows].copy(), v[rows].copy()) for rows in self.rows]
        return MeshResult(moved, impulses, pulls, report, 0.0)

    def _obstacle_friction(self, surface: ContactSurface) -> Array:
        """Of all points (N,) with an obstacle."""
        collider = self.colliders[surface.owner]
        return np.concatenate([np.full(len(b), self.friction.obstacle(collider, b)) for b in self.bodies])

    def _rub_bodies(self, v: Array, x: Array, during: float) -> Array:
        """Friction between bodies that press for a time [s] changes v (N, d) [m/s]: its impulses (N, d) [N s].

        Colliders rub after it, so that points between a body and a collider obey the collider.
        """
        between = self.friction.bodies
        if self.collision is None or not any(between(a, b) for a in self.bodies for b in self.bodies):
            return np.zeros_like(v)
        mass = np.where(self.fixed, np.inf, self.mass)

        def friction(pairs: CollisionPairs) -> Array:
            return pair_friction(self.bodies, pairs, between)

        return rub_bodies(v, x, mass, self.collision, friction, during)


def _together(first: Report, second: Report) -> Report:
    """The report of a minimisation in two parts."""
    counts = ("iterations", "krylov_iterations", "line_search_evaluations", "negative_curvature_count")
    both = {name: getattr(first, name) + getattr(second, name) for name in counts}
    return replace(second, history=first.history + second.history[1:], **both)
