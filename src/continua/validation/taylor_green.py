"""Taylor-Green vortices in a periodic box: a stationary flow without viscosity, an exact decay with it.

What transfers take is largest for PIC and smallest for PolyPIC. The time step takes its share too: pressure acts at the
end of a step, which is of first order and damps, so the steps are short here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.contact.boundaries import Periodic
from continua.geometry.shapes import Box
from continua.materials import IncompressibleFluid
from continua.simulation import Simulation
from continua.transfers import APIC, FLIP, PIC, RPIC, PolyPIC, Transfer
from continua.validation.case import Case, Measurement, at_least, near, reported
from continua.validation.vortex_sheet import face_velocities

LENGTH = TURN = 2 * np.pi  # [m] wave number 1; [s] vortex cores turn once
SCHEMES: dict[str, Transfer] = {  # from the most damped one on
    "PIC": PIC(),
    "RPIC": RPIC(),
    "FLIP 0.99": FLIP(0.99),
    "APIC": APIC(),
    "PolyPIC": PolyPIC(),
}
KINEMATIC = 0.1  # viscosity [m^2/s]
RATE = 2 * KINEMATIC  # at which velocities decay [1/s]


def vortices(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Velocities (N, 2) [m/s] at the points x (N, 2) [m]."""
    return np.stack([np.sin(x[:, 0]) * np.cos(x[:, 1]), -np.cos(x[:, 0]) * np.sin(x[:, 1])], axis=1)


def energy_left(
    scheme: Transfer, time: float, *, cells: int = 32, courant: float = 0.15, viscosity: float = 0.0
) -> float:
    """Kinetic energy on the faces at the time [s], over that at the start."""
    sim = Simulation(LENGTH / cells, (0, 0), integrator="incompressible", transfer=scheme, cfl=courant)
    for axis in (0, 1):
        sim.add(Periodic(axis, 0.0, LENGTH))
    box = Box((LENGTH / 2, LENGTH / 2), (LENGTH, LENGTH))
    sim.add(box, IncompressibleFluid(1.0, viscosity), velocity=vortices, sampling="jittered")
    energies = []
    for end in (0.0, time):
        while sim.time < end - 1e-9:
            sim.step(end - sim.time)
        sim.step()  # its projection belongs to the state at this time
        energies.append(float((face_velocities(sim) ** 2).sum()))
    return energies[1] / energies[0]


def decay(courant: float, viscosity: float) -> float:
    """Rate at which velocities fade with PolyPIC [1/s]."""
    time = 0.5 / RATE
    return -np.log(energy_left(PolyPIC(), time, courant=courant, viscosity=viscosity)) / (2 * time)


def measure_ranking(quick: bool, wrong: bool) -> list[Measurement]:
    schemes = SCHEMES | ({"PolyPIC": PolyPIC(modes=1)} if wrong else {})
    courant = 0.3 if quick else 0.15
    left = {name: energy_left(scheme, TURN, courant=courant) for name, scheme in schemes.items()}
    found = [
        reported(f"{name}: kinetic energy left after a turn", left[name], 1.0)
        for name in SCHEMES
        if name != "PolyPIC"
    ]
    ranking = float(np.diff(list(left.values())).min())
    least = 0.8 if quick else 0.9
    return [
        *found,
        at_least("smallest step of the ranking, in this order", ranking, 0.005).of_kind("comparison"),
        at_least("PolyPIC: kinetic energy left after a turn", left["PolyPIC"], least, 1.0),
    ]


def measure_decay(quick: bool, wrong: bool) -> list[Measurement]:
    viscosity = KINEMATIC * (1.1 if wrong else 1.0)
    coarse, fine = decay(0.3, viscosity), decay(0.075, viscosity)
    order = np.log(abs(coarse - RATE) / abs(fine - RATE)) / np.log(4)
    return [
        reported("decay rate, at most 0.3 cells per step [1/s]", coarse, RATE),
        near("decay rate, at most 0.075 cells per step [1/s]", fine, RATE, 0.03),
        at_least("order in time", order, 0.8, 1.0),
    ]


RANKING = Case(
    name="taylor-green",
    title="Taylor-Green vortices without viscosity: energy that transfers keep",
    source="Euler equations, closed form: a stationary flow",
    kind="closed form",
    cost="10 s",
    control="PolyPIC with the constant mode only",
    measure=measure_ranking,
)

DECAY = Case(
    name="taylor-green-decay",
    title="Taylor-Green vortices with viscosity",
    source="Navier-Stokes, closed form: 2 viscosity k^2 / density",
    kind="closed form",
    cost="10 s",
    control="10 % more viscosity",
    measure=measure_decay,
)
