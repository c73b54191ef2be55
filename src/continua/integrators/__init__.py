"""How velocities advance in time."""

from continua.integrators.symplectic import StepResult, SymplecticEuler

__all__ = ["StepResult", "SymplecticEuler"]
