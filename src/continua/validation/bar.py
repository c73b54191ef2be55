"""Longitudinal vibration of a bar, fixed at one end and free at the other.

Mode n has v = v0 cos(w t) sin(k x) with k = (2 n - 1) pi / (2 L) and w = k c. The sides are periodic, so that the
bar is strained along its axis only and c is the speed of pressure waves, here 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from continua.contact.boundaries import FixedVelocity, Periodic
from continua.geometry.shapes import Box
from continua.materials import FixedCorotated
from continua.materials.base import Material, lame
from continua.simulation import Simulation
from continua.transfers import Transfer
from continua.validation.case import Case, Measurement, at_least, near

LENGTH, NU = 1.0, 0.3  # [m]
MU, LAM = lame(1.0, NU)
SPEED = 1e-3  # v0 [m/s]
MATERIAL = FixedCorotated(1 / (2 * MU + LAM), NU, 1.0)  # in which sound has 1 m/s


@dataclass
class Ringing:
    """How a mode rings."""

    period: float  # [s]
    exact: float  # [s]
    energy: float  # after one period, relative to the start

    @property
    def period_error(self) -> float:
        """Relative."""
        return self.period / self.exact - 1


def ring(
    cells: int,
    transfer: str | Transfer = "apic",
    *,
    mode: int = 1,
    stress_transfer: str = "gradient",
    material: Material = MATERIAL,
    speed: float = 1.0,
) -> Ringing:
    """Start in a mode and watch its amplitude cross zero twice; `speed` of sound [m/s] is what it should be."""
    h, k = LENGTH / cells, (2 * mode - 1) * np.pi / (2 * LENGTH)
    sim = Simulation(h, (0, 0), transfer=transfer, stress_transfer=stress_transfer, dt=0.2 * h / speed)
    sim.add(Periodic(1, 0.0, 4 * h))
    sim.add(FixedVelocity((-1, -1), (0, 1), (0, 0)))

    def shape(x: NDArray) -> NDArray:
        return np.sin(k * x[:, 0])

    bar = Box((LENGTH / 2, 2 * h), (LENGTH, 4 * h))
    body = sim.add(bar, material, velocity=lambda x: np.stack([SPEED * shape(x), 0 * x[:, 0]], axis=1))
    exact, start, energy = 2 * np.pi / (k * speed), sim.diagnostics()["total"], float("nan")
    times, amplitudes = [0.0], [float((body.mass * body.v[:, 0]) @ shape(body.x))]
    while sim.time < 1.1 * exact:
        sim.step()
        times.append(sim.time)
        amplitudes.append(float((body.mass * body.v[:, 0]) @ shape(body.x)))
        if np.isnan(energy) and sim.time >= exact - 1e-9:
            energy = sim.diagnostics()["total"] / start
    t, q = np.array(times), np.array(amplitudes)
    before = np.flatnonzero(q[:-1] * q[1:] < 0)[:2]
    crossing = t[before] - q[before] * (t[before + 1] - t[before]) / (q[before + 1] - q[before])
    return Ringing(float(2 * (crossing[1] - crossing[0])), exact, energy)


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    material = replace(MATERIAL, E=1.1 * MATERIAL.E) if wrong else MATERIAL
    coarse, fine = (ring(cells, material=material) for cells in (20, 40))
    found = [
        near("period of mode 1, 20 cells [s]", coarse.period, coarse.exact, 0.025),
        near("period of mode 1, 40 cells [s]", fine.period, fine.exact, 0.013),
        at_least("order", float(np.log2(abs(coarse.period_error / fine.period_error))), 0.9, reference=1.0),
    ]
    if not quick:
        second = ring(60, mode=2, material=material)
        found.append(near("period of mode 2, 60 cells [s]", second.period, second.exact, 0.025))
    return found


CASE = Case(
    name="bar",
    title="Elastic bar, one end fixed, one free",
    source="wave equation, closed form",
    kind="closed form",
    cost="5 s",
    control="10 % too stiff",
    measure=measure,
)
