"""Arguments of a world."""

from __future__ import annotations

from typing import TypedDict

from continua.integrators.schemes import Integrator
from continua.transfers import Transfer


class Options(TypedDict, total=False):
    """Keyword arguments of `World` and `Simulation`."""

    precision: str
    transfer: str | Transfer
    integrator: str | Integrator
    kernel: str | None
    stress_transfer: str
    deformation: str
    dt: float | None
    force_dt: bool
    cfl: float
    elastic_cfl: float
    push_out: float | None
    seed: int
