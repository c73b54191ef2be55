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


@dataclass
class Minimised:
    """Forces of the end of the step: the minimum of its energy."""

    settings: Optimization
    implicit = True
    last_solve: Report | None = None

    def __call__(self, body: MeshBody, t: float, dt: float, acceleration: Array) -> Predicted | str:
        """As for `Explicit`."""
        push = BodyForce(lambda body, t: acceleration)
        nothing = np.zeros(body.dimension)
        problem = MeshProblem([body], [], [push], dt, t, nothing, self.settings, None, NO_FRICTION)
        try:
            x, self.last_solve = problem.solve()
        except InstabilityError:
            return "solver: stuck"
        result = problem.result(x, self.last_solve)
        return Predicted(*result.moved[0], result.pulls[0, : body.dimension])


def prediction_of(integrator: Integrator) -> Explicit | Minimised:
    """How bodies of a continuum with this integrator move on their own."""
    if isinstance(integrator, Optimization):
        return Minimised(integrator)
    return Minimised(Optimization()) if integrator.implicit else Explicit()
