"""Where a body that moves on its own would be at the end of a step without contact (W20 (4.14))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import Predicted
from continua.bodies.force import BodyForce
from continua.contact.exact.zones import rigid_velocities
from continua.errors import InstabilityError
from continua.integrators.mesh_problem import MeshProblem
from continua.integrators.mesh_rubbing import Friction
from continua.integrators.schemes import Integrator, Optimization
from continua.optimize import Report

if TYPE_CHECKING:
    from continua.bodies.mesh_body import MeshBody

Array = NDArray[np.float64]
NO_FRICTION = Friction(lambda a, b: 0.0, lambda collider, body: 0.0)


class Explicit:
    """Forces of the present state (symplectic Euler)."""

    implicit = False
    last_solve: Report | None = None

    def __call__(self, body: MeshBody, t: float, dt: float, acceleration: Array) -> Predicted | str:
        """From t to t + dt [s] under an acceleration (N, d) [m/s^2] beside its own forces."""
        v = body.v + body.own_impulse(dt) / body.mass[:, None] + dt * acceleration
        free, held = v[body.held], body.held
        v[held] = (body.places - body.x[held]) / dt
        pull = body.reaction + body.mass[held] @ (v[held] - free)
        return Predicted(body.x + dt * v, v, pull)

    def around(
        self,
        body: MeshBody,
        t: float,
        dt: float,
        acceleration: Array,
        free: Predicted,
        points: NDArray[np.intp],
        v: Array,
        *,
        recoil: bool,
    ) -> Predicted | str:
        """Forces are those of the start: others do not notice, and nothing recoils."""
        found = Predicted(free.x.copy(), free.v.copy(), free.pull)
        found.x[points], found.v[points] = body.x[points] + dt * v, v
        return found


@dataclass
class Minimised:
    """Forces of the end of the step: the minimum of its energy."""

    settings: Optimization
    implicit = True
    last_solve: Report | None = None

    def __call__(self, body: MeshBody, t: float, dt: float, acceleration: Array) -> Predicted | str:
        """As for `Explicit`."""
        problem = self._problem(body, t, dt, acceleration)
        x = self._solved(problem)
        return x if isinstance(x, str) else self._end(problem, x)

    def around(
        self,
        body: MeshBody,
        t: float,
        dt: float,
        acceleration: Array,
        free: Predicted,
        points: NDArray[np.intp],
        v: Array,
        *,
        recoil: bool,
    ) -> Predicted | str:
        """As for `Explicit`: the minimum with these points held where they go (M23 section 4).

        Contact gave them impulses J while they felt the forces f of the free step. What holds them where they go is
        H = J + dt (f - f'), with the forces f' there: r = J - H is what they do not feel, and momentum leaks by it.
        """
        problem = self._problem(body, t, dt, acceleration, (points, body.x[points] + dt * v))
        start = free.x.copy()
        start[points] = body.x[points] + dt * v
        problem.starts = [start, *problem.starts]
        x = self._solved(problem)
        if isinstance(x, str):
            return x
        found = self._end(problem, x)
        found.v[points] = v
        if recoil:
            given = body.mass[points, None] * (v - free.v[points]) - dt * problem.energy.gradient(x)[points]
            found.v[:] += _recoil(body, x, points, given)
        return found

    def _problem(
        self,
        body: MeshBody,
        t: float,
        dt: float,
        acceleration: Array,
        known: tuple[NDArray[np.intp], Array] | None = None,
    ) -> MeshProblem:
        push = BodyForce(lambda body, t: acceleration)
        nothing = np.zeros(body.dimension)
        return MeshProblem([body], [], [push], dt, t, nothing, self.settings, None, NO_FRICTION, known)

    def _solved(self, problem: MeshProblem) -> Array | str:
        try:
            x, self.last_solve = problem.solve()
        except InstabilityError:
            return "solver: stuck"
        return x

    def _end(self, problem: MeshProblem, x: Array) -> Predicted:
        assert self.last_solve is not None
        result = problem.result(x, self.last_solve)
        return Predicted(*result.moved[0], result.pulls[0, : x.shape[1]])


def prediction_of(integrator: Integrator) -> Explicit | Minimised:
    """How bodies of a continuum with this integrator move on their own."""
    if isinstance(integrator, Optimization):
        return Minimised(integrator)
    return Minimised(Optimization()) if integrator.implicit else Explicit()


def _recoil(body: MeshBody, x: Array, points: NDArray[np.intp], impulses: Array) -> Array:
    """Change of the velocities (N, d) [m/s] by impulses (n, d) [N s] on points (n,) of a body at x (N, d) [m]: each of
    its pieces takes them as a rigid body.

    So momentum and angular momentum are right. Taken point by point, dv = r / m, they would be an explicit step of all
    that contact has deformed: unstable where waves cross stiff elements in a step, and never at rest under a load.
    """
    mass = body.mass.copy()
    mass[body.held] = 0.0
    r = np.zeros_like(x)
    r[points] = impulses
    change = np.zeros_like(x)
    for piece in range(int(body.pieces.max()) + 1):
        some = np.flatnonzero((body.pieces == piece) & (mass > 0))
        if r[some].any():
            change[some] = rigid_velocities(x[some], r[some] / mass[some, None], mass[some])
    return change
