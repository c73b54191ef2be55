"""How velocities advance in time."""

from continua.integrators.implicit import ImplicitGrid
from continua.integrators.incompressible import IncompressibleFlow
from continua.integrators.mesh_step import MeshResult, MeshStepper
from continua.integrators.schemes import (
    AnyIntegrator,
    Incompressible,
    Integrator,
    Optimization,
    SemiImplicit,
    Symplectic,
    as_integrator,
)
from continua.integrators.stepper import BadParticle, Stepper, StepResult
from continua.integrators.symplectic import SymplecticEuler

__all__ = [
    "AnyIntegrator",
    "BadParticle",
    "ImplicitGrid",
    "Incompressible",
    "IncompressibleFlow",
    "Integrator",
    "MeshResult",
    "MeshStepper",
    "Optimization",
    "SemiImplicit",
    "StepResult",
    "Stepper",
    "Symplectic",
    "SymplecticEuler",
    "as_integrator",
]
