"""Poiseuille flow: gravity drives a viscous fluid along a channel between two plates."""

from __future__ import annotations

import numpy as np

from continua.contact.boundaries import Periodic
from continua.contact.colliders import Plane
from continua.geometry.shapes import Box
from continua.materials import IncompressibleFluid
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_most, near

GAP, GRAVITY, KINEMATIC = 1.0, 12.0, 1.0  # [m], along the channel [m/s^2], viscosity [m^2/s]
MEAN = GRAVITY * GAP**2 / (12 * KINEMATIC)  # exact [m/s]
GATES = ((8, 0.025, 0.08), (16, 0.01, 0.05), (32, 0.005, 0.03))  # cells, of the mean, of the profile


def steady(cells: int, viscosity: float) -> tuple[float, float]:
    """Mean velocity [m/s], and largest error of a particle over the exact velocity in the middle.

    `cells` across the gap. After GAP^2 / viscosity the flow is steady up to exp(-pi^2).
    """
    dx = GAP / cells
    sim = Simulation(dx, (GRAVITY, 0), integrator="incompressible")
    sim.add(Periodic(0, 0.0, 4 * dx))
    body = sim.add(Box((2 * dx, GAP / 2), (4 * dx, GAP)), IncompressibleFluid(1.0, viscosity))
    sim.add(Plane((0.0, 1.0), mode="sticky"))
    sim.add(Plane((0.0, -1.0), (0.0, GAP), mode="sticky"))
    end = GAP**2 / KINEMATIC
    while sim.time < end - 1e-9:
        sim.step(end - sim.time)
    y, u = body.x[:, 1], body.v[:, 0]
    exact = GRAVITY / (2 * KINEMATIC) * y * (GAP - y)
    return float(u.mean()), float(np.abs(u - exact).max()) / (1.5 * MEAN)


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    viscosity = KINEMATIC * (1.1 if wrong else 1.0)
    found = []
    for cells, gate, band in GATES[:1] if quick else GATES:
        mean, error = steady(cells, viscosity)
        found.append(near(f"mean velocity, {cells} cells [m/s]", mean, MEAN, gate))
        found.append(at_most(f"largest error of the profile, {cells} cells, relative", error, band))
    return found


CASE = Case(
    name="poiseuille",
    title="Poiseuille flow with implicit viscosity",
    source="Navier-Stokes, closed form: a parabola",
    kind="closed form",
    cost="1 s",
    control="10 % more viscosity",
    measure=measure,
)
