"""How velocities advance in time."""

from continua.integrators.field import BadParticle, Field
from continua.integrators.implicit import ImplicitGrid
from continua.integrators.incompressible import IncompressibleFlow
from continua.integrators.making import make_stepper
from continua.integrators.mesh_problem import MeshResult
from continua.integrators.mesh_rubbing import Friction
from continua.integrators.mesh_step import MeshStepper
from continua.integrators.obstacles import ObstacleTable
from continua.integrators.schemes import (
    AnyIntegrator,
    Incompressible,
    Integrator,
    Optimization,
    SemiImplicit,
    Symplectic,
    as_integrator,
)
from continua.integrators.stepper import NodeStepper, Stepper, StepResult, StepSetting
from continua.integrators.symplectic import SymplecticEuler

__all__ = [
    "AnyIntegrator",
    "BadParticle",
    "Field",
    "Friction",
    "ImplicitGrid",
    "Incompressible",
    "IncompressibleFlow",
    "Integrator",
    "MeshResult",
    "MeshStepper",
    "NodeStepper",
    "ObstacleTable",
    "Optimization",
    "SemiImplicit",
    "StepResult",
    "StepSetting",
    "Stepper",
    "Symplectic",
    "SymplecticEuler",
    "as_integrator",
    "make_stepper",
]
