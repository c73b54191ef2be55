"""From settings to a stepper."""

from __future__ import annotations

from continua.grid.blocks import Lattice
from continua.integrators.field import Field
from continua.integrators.hybrid import HybridStepper
from continua.integrators.implicit import ImplicitGrid
from continua.integrators.incompressible import IncompressibleFlow
from continua.integrators.prediction import prediction_of
from continua.integrators.schemes import Incompressible, Integrator, Optimization, SemiImplicit
from continua.integrators.stepper import Stepper
from continua.integrators.symplectic import SymplecticEuler
from continua.transfers import APIC, Transfer


def make_stepper(
    integrator: Integrator,
    transfer: Transfer,
    lattice: Lattice,
    degree: int,
    *,
    mls: bool = False,
    exponential: bool = False,
    push_out: float | None = 0.5,
    name: str = "main",
    self_moving: bool = False,
) -> Stepper:
    """What advances a continuum with these settings, or one of bodies that move on their own."""
    if self_moving:
        field = Field(lattice, degree, APIC(), mls=mls, exponential=exponential)
        return HybridStepper(field, prediction_of(integrator), name=name)
    field = Field(
        lattice,
        degree,
        transfer,
        mls=mls,
        exponential=exponential,
        staggered=isinstance(integrator, Incompressible),
    )
    if isinstance(integrator, Incompressible):
        return IncompressibleFlow(field, integrator, push_out=push_out, name=name)
    if isinstance(integrator, (SemiImplicit, Optimization)):
        return ImplicitGrid(field, integrator, push_out=push_out, name=name)
    return SymplecticEuler(field, push_out=push_out, name=name)
