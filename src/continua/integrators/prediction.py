"""Where a body that moves on its own would be at the end of a step without contact (W20 (4.14))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import Predicted
from continua.bodies.force import BodyForce
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
    ) -> tuple[Predicted, Array] | str:
        """Forces are those of the start: others do not notice."""
        found = Predicted(free.x.copy(), free.v.copy(), free.pull)
        found.x[points], found.v[points] = body.x[points] + dt * v, v
        return found, body.mass[points, None] * (v - free.v[points])


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
    ) -> tuple[Predicted, Array] | str:
        """As for `Explicit`: the minimum with these points held where they go (M23 section 4)."""
        problem = self._problem(body, t, dt, acceleration, (points, body.x[points] + dt * v))
        start = free.x.copy()
        start[points] = body.x[points] + dt * v
        problem.starts = [start, *problem.starts]
        x = self._solved(problem)
        if isinstance(x, str):
            return x
        found = self._end(problem, x)
        found.v[points] = v
        return found, dt * problem.energy.gradient(x)[points]

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
