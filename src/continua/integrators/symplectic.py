"""Explicit symplectic Euler: forces at the old positions, positions moved with the new velocities (J15 section 2.2)."""

from __future__ import annotations

from typing import ClassVar

from continua import _core
from continua.integrators.stepper import NodeStepper, StepResult, StepSetting


class SymplecticEuler(NodeStepper):
    """The explicit pipeline: sort, particles to grid, forces, contact, grid to particles, push-out."""

    PHASES: ClassVar[tuple[str, ...]] = ("sort", "p2g", "grid", "contact", "g2p", "push_out")
    solves_obstacles: ClassVar[bool] = False

    def to_grid(self, step: StepSetting, result: StepResult) -> None:
        with self._phase("p2g"):
            self._bodies_to_grid(step.dt)
        with self._phase("grid"):
            d = self.field.dimension
            _core.momentum_to_velocity(self.nodes, d, list(step.dt * step.gravity))
            if self.old is not None:
                _core.momentum_to_velocity(self.old, d, [0.0] * d)

    def _bodies_to_grid(self, dt: float) -> None:
        """Node momentum and mass including the stress impulse; FLIP also needs the momentum without it."""
        self.nodes = self._node_array(self._nodes)
        if self.field.transfer.flip == 0:
            self.old = None
            self.field.scatter(self.nodes, dt, momentum=True, stress=True)
            return
        self.old = self._node_array(self._old)
        self.field.scatter(self.old, dt, momentum=True, stress=False)
        self.field.scatter(self.nodes, dt, momentum=False, stress=True)
        self.nodes += self.old
