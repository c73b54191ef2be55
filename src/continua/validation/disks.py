"""Two elastic disks meet in the middle of a unit square and part again (the first example of Su95 section 5).

Their kinetic energy is known, and so is the time at which they touch. Material points feel each other through shared
nodes, about a cell too early. Energy may only be lost, and most of it must be motion again after the parting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from continua.geometry.shapes import Sphere
from continua.materials import NeoHookean
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_least, at_most, near

RADIUS, SPEED = 0.2, 0.1  # [m], of each velocity component [m/s]
NEAR, FAR = 0.2, 0.8  # both coordinates of the centres [m]
MATERIAL = NeoHookean(E=1000.0, nu=0.3, density=1000.0)
KINETIC = 2 * MATERIAL.density * np.pi * RADIUS**2 * SPEED**2  # both disks [J/m]
TOUCH = (np.hypot(FAR - NEAR, FAR - NEAR) - 2 * RADIUS) / (2 * np.hypot(SPEED, SPEED))  # 1.58579 s
END = 3.4  # [s], well after they have parted


@dataclass
class Collision:
    """What happened."""

    kinetic: float  # at the start [J/m]
    touch: float  # when the elastic energy first exceeds a thousandth of it [s]
    growth: float  # largest total energy over the first, less 1
    recovered: float  # kinetic energy at the end over that at the start


def collide(
    cells: int, *, radius: float = RADIUS, transfer: str = "apic", courant: float | None = None
) -> Collision:
    """On a grid with that many cells per metre; sound crosses `courant` of them per step, if that is given."""
    dt = None if courant is None else courant / (cells * MATERIAL.wave_speed())
    sim = Simulation(1 / cells, (0, 0), transfer=transfer, dt=dt, force_dt=dt is not None)
    for center, sign in ((NEAR, 1), (FAR, -1)):
        sim.add(Sphere((center, center), radius), MATERIAL, velocity=(sign * SPEED, sign * SPEED))
    rows = [sim.diagnostics()]
    while sim.time < END:
        sim.step(END - sim.time)
        rows.append(sim.diagnostics())
    t, kinetic, elastic = (np.array([row[key] for row in rows]) for key in ("time", "kinetic", "elastic"))
    total = kinetic + elastic
    touch = t[np.argmax(elastic > 1e-3 * kinetic[0])]
    return Collision(kinetic[0], float(touch), total.max() / total[0] - 1, kinetic[-1] / kinetic[0])


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    cells = 40 if quick else 80
    seen = collide(cells, radius=0.22, transfer="pic") if wrong else collide(cells)
    growth = collide(40, courant=1.05).growth if wrong else seen.growth
    return [
        near("kinetic energy at the start [J/m]", seen.kinetic, KINETIC, 1e-4),
        near("time at which they touch [s]", seen.touch, TOUCH, 0.1 if quick else 0.05),
        at_most("growth of the total energy", growth, 1e-4),
        at_least("kinetic energy after parting, relative", seen.recovered, 0.8, reference=1.0),
    ]


CASE = Case(
    name="disks",
    title="Two elastic disks collide",
    source="geometry and balance of energy (problem of Sulsky et al. 1995)",
    kind="closed form",
    cost="5 s",
    control="10 % larger disks and damping by PIC; a time step beyond the stability bound",
    measure=measure,
)
