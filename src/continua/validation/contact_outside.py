"""Semi-implicit steps that leave obstacles out of the linear solve, as printed in J15 section 2.2; for comparison only.

Nodes in obstacles are stopped before the solve, which knows nothing of the obstacle and sets them in motion again.
Stopping them after it as well is no published scheme that we know of.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.integrators import ImplicitGrid, SemiImplicit, StepResult
from continua.integrators.grid_contact import NodeContact
from continua.integrators.grid_energy import GridEnergy
from continua.optimize.krylov import Stopping, cg
from continua.simulation import Simulation

Array = NDArray[np.float64]


class ContactOutside(ImplicitGrid):
    """J15 section 2.2 steps 6 and 7, without a collision of particles."""

    after = False  # whether nodes are stopped after the solve, too

    def _one_newton_step(
        self, energy: GridEnergy, contact: NodeContact, target: Array, push: Array, result: StepResult
    ) -> tuple[Array, Array]:
        assert isinstance(self.settings, SemiImplicit)
        part, mass = self.settings.implicitness, energy.mass
        still = np.zeros_like(target)
        energy.prepare(still, positive=self.settings.positive)
        forced = np.divide(-energy.gradient(still), mass, out=np.zeros_like(target), where=mass > 0)
        stopped = contact.project(forced)

        def product(u: Array) -> Array:
            return np.where(mass > 0, energy.product(u, part), 0.0)

        right_side = mass * stopped - product(stopped)
        found = cg(product, right_side, energy.precondition, Stopping(self.settings.tolerance))
        self._count(newton_iterations=1, krylov_iterations=found.iterations)
        v = stopped + found.x
        return contact.project(v) if self.after else v, np.zeros_like(target)


class OutsideSimulation(Simulation):
    """A simulation whose semi-implicit steps are those of `ContactOutside`."""

    stops_after = False

    def _make_stepper(self, continuum: str) -> ContactOutside:
        made = super()._make_stepper(continuum)
        assert isinstance(made, ImplicitGrid)
        stepper = ContactOutside(made.field, made.settings, push_out=made.push_out, name=made.name)
        stepper.after = self.stops_after
        return stepper


class AroundSimulation(OutsideSimulation):
    """Nodes are stopped before and after the solve."""

    stops_after = True
