"""How velocities advance in time."""

from continua.integrators.incompressible import IncompressibleFlow
from continua.integrators.schemes import (
    AnyIntegrator,
    Incompressible,
    Integrator,
    Symplectic,
    as_integrator,
)
from continua.integrators.stepper import BadParticle, Stepper, StepResult
from continua.integrators.symplectic import SymplecticEuler

__all__ = [
    "AnyIntegrator",
    "BadParticle",
    "Incompressible",
    "IncompressibleFlow",
    "Integrator",
    "StepResult",
    "Stepper",
    "Symplectic",
    "SymplecticEuler",
    "as_integrator",
]
