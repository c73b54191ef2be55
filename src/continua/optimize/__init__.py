"""Minimisation for everything implicit: Krylov solvers, line search, Newton's method, time steps as energies."""

from continua.optimize.constraints import Constraint, Unconstrained
from continua.optimize.krylov import SOLVERS, Solution, Stopping, cg, cr, minres
from continua.optimize.line_search import Wolfe, strong_wolfe
from continua.optimize.newton import Objective, Options, Report, minimise
from continua.optimize.steps import ImplicitStep, PointState, Scheme
from continua.optimize.terms import Gravity, StepEnergy, Term

__all__ = [
    "SOLVERS",
    "Constraint",
    "Gravity",
    "ImplicitStep",
    "PointState",
    "Objective",
    "Options",
    "Report",
    "Scheme",
    "Solution",
    "StepEnergy",
    "Stopping",
    "Term",
    "Unconstrained",
    "Wolfe",
    "cg",
    "cr",
    "minimise",
    "minres",
    "strong_wolfe",
]
