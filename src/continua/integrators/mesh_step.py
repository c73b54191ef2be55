"""Steps of mesh bodies that move on their own, and what they cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from continua.bodies.force import BodyForce
from continua.bodies.mesh_body import MeshBody
from continua.contact.colliders import Collider
from continua.integrators.implicit import WORK
from continua.integrators.mesh_collisions import collision_of
from continua.integrators.mesh_problem import SETTLED, MeshProblem, MeshResult
from continua.integrators.mesh_rubbing import Friction
from continua.integrators.schemes import Optimization
from continua.mesh import SelfCollision
from continua.optimize import Report


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
        problem = MeshProblem(
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
        self.report["unconverged"] = float(not report.converged or result.friction_change > SETTLED)
        self.report["friction_change"] = result.friction_change
        self.last_solve = report
