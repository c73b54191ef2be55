"""Elastic rods: shape under a load and under their own weight, buckling, first frequency.

All are slender, so that stretching plays no role, and their bending stiffness is EI = E pi r^4/4. A rod is clamped
where its first two points are scripted, and begins in the middle of that segment: segments are straight and all bending
is in points, each for half of the segments beside it, so that errors are of second order in their length.

References: the elastica under a dead load P at the tip with alpha = P L^2/EI; the elastica under its weight q per
length with Gamma = q L^3/EI, clamped horizontally, by the drop H of its tip over the distance W of the tip from the
wall; a catenary; a vertical rod that buckles at q L^3/EI = 7.837; and the first angular frequency
3.516 sqrt(EI/(rho A))/L^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from continua.bodies.force import BodyForce
from continua.bodies.scripted import Scripted
from continua.bodies.strands import Strands
from continua.geometry.curves import Curves
from continua.integrators.schemes import Optimization
from continua.materials.rod import Rod
from continua.mesh import Rods
from continua.simulation import Simulation
from continua.validation.cantilever import first_mode
from continua.validation.case import Case, Measurement, near

Array = NDArray[np.float64]
LENGTH, RADIUS = 1.0, 0.003  # [m]
E, DENSITY = 1e8, 1000.0  # [Pa], [kg/m^3]
ELASTICA = {1.0: 0.30172, 10.0: 0.81061}  # drop over length, by alpha
HEAVY = {1.0: 0.12456, 10.0: 1.06680, 100.0: 5.88811}  # drop over width, by Gamma
SAG = 0.292344  # of a catenary of length 1.2 between points 1 apart
BUCKLING, FREQUENCY = 7.837, 3.51602  # q L^3/EI; angular frequency over sqrt(EI/(rho A))/L^2
LONG = 10.0  # steps towards rest, in units of 1 over the first angular frequency
SETTLED = 1e-7  # of the length per step, when a rod is at rest


@dataclass
class Clamped:
    """A rod of `segments` along x; `factor` on its bending stiffness, of which references do not know."""

    segments: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        self.material = Rod(E=E, radius=RADIUS, density=DENSITY, bending=self.factor)
        self.bending = Rod(E=E, radius=RADIUS).bending_stiffness[0]  # EI [N m^2]
        self.weight = DENSITY * self.material.area  # mass per length [kg/m]
        self.edge = LENGTH / (self.segments - 0.5)
        self.points = np.zeros((self.segments + 1, 3))
        self.points[:, 0] = self.edge * (np.arange(self.segments + 1) - 0.5)
        self.frequency = FREQUENCY * np.sqrt(self.bending / self.weight) / LENGTH**2  # [1/s]

    def strands(self, velocity: Array | None = None) -> Strands:
        speeds = None if velocity is None else lambda x: velocity
        return Strands(
            Curves(self.points),
            self.material,
            scripted=Scripted(np.arange(2)),
            velocity=speeds,
            on_grid=False,
        )


def at_rest(sim: Simulation, body: Strands, dt: float, size: float) -> Array:
    """Positions in the end; long steps of backward Euler take the energy out."""
    for _ in range(500):
        before = body.x
        sim.step(dt)
        if np.abs(body.x - before).max() < SETTLED * size:
            break
    return body.x


def loaded(rod: Clamped, alpha: float) -> float:
    """Drop of the tip over the length under a dead load there."""
    sim, body = Simulation(rod.edge, (0, 0, 0), integrator=Optimization()), rod.strands()
    sim.add(body)
    push = np.zeros_like(rod.points)
    push[-1, 1] = -alpha * rod.bending / LENGTH**2 / body.mass[-1]
    sim.add(BodyForce(lambda body, t: push))
    return float(-at_rest(sim, body, LONG / rod.frequency, LENGTH)[-1, 1] / LENGTH)


def heavy(rod: Clamped, gamma: float) -> float:
    """Drop of the tip over its distance from the wall, under the weight of the rod."""
    gravity = gamma * rod.bending / (rod.weight * LENGTH**3)
    sim, body = Simulation(rod.edge, (0, -gravity, 0), integrator=Optimization()), rod.strands()
    sim.add(body)
    tip = at_rest(sim, body, LONG / rod.frequency, LENGTH)[-1]
    return float(-tip[1] / tip[0])


def hanging(segments: int, length: float) -> float:
    """Sag of a thread without bending stiffness between points that are 1 apart."""
    points = np.linspace((0, 0, 0), (length, 0, 0), segments + 1)
    thread = Rod(E=E, radius=RADIUS, density=DENSITY, bending=0.0, twisting=0.0)

    def slack(x: Array) -> Array:
        s = x[:, 0] / length
        return np.stack([s, -1.2 * s * (1 - s), 0 * s], axis=1)

    sim = Simulation(0.1, (0, -9.81, 0), integrator=Optimization())
    ends = Scripted(np.array([0, segments]), lambda t: np.array([(0, 0, 0), (1.0, 0, 0)]))
    body = sim.add(Strands(Curves(points), thread, scripted=ends, start=slack, on_grid=False, drag=5.0))
    return float(-at_rest(sim, body, 0.2, 1.0)[:, 1].min())


def buckling(rod: Clamped) -> float:
    """q L^3/EI at which a vertical rod loses its stiffness sideways."""
    rods = Rods(Curves(rod.points[:, [1, 0, 2]]), rod.material)
    load = np.append(rod.edge * np.arange(rod.segments, 0, -1) - 0.5 * rod.edge, 0.0)[
        :-1
    ]  # length above edges

    def stiffness(ratio: float) -> float:
        q = ratio * rod.bending / LENGTH**3
        x = rod.points[:, [1, 0, 2]].copy()
        x[1:, 1] = x[0, 1] + np.cumsum(rod.edge * (1 - q * load / rod.material.stretching_stiffness))
        return float(np.linalg.eigvalsh(rods.hessian(x).matrix().toarray()[6:, 6:])[0])

    return float(brentq(stiffness, 1.0, 30.0, xtol=1e-6))


def vibrating(rod: Clamped) -> float:
    """Angular frequency [1/s] from the time at which the first mode, started with a velocity, turns back."""
    mode = np.zeros_like(rod.points)
    mode[2:, 1] = first_mode(rod.points[2:])
    sim = Simulation(rod.edge, (0, 0, 0), integrator=Optimization(scheme="trapezoid", tolerance=1e-7))
    body = rod.strands(1e-3 * rod.frequency * mode)
    sim.add(body)
    amplitude = previous = float("inf")
    while amplitude > 0:
        previous = amplitude
        dt = sim.step(0.02 / rod.frequency)
        amplitude = float(body.mass @ (body.v * mode).sum(axis=1))
    return float(np.pi / (2 * (sim.time - dt * amplitude / (amplitude - previous))))


def measure_shape(quick: bool, wrong: bool) -> list[Measurement]:
    rod, found = Clamped(20 if quick else 40, factor=1.1 if wrong else 1.0), []
    for alpha, drop in ELASTICA.items():
        found.append(near(f"alpha = {alpha:g}: drop over length", loaded(rod, alpha), drop, 0.005))
    for gamma, ratio in HEAVY.items():
        fine = rod if gamma <= 10 else Clamped(80, rod.factor)  # its bend at the wall is sharp
        found.append(near(f"Gamma = {gamma:g}: drop over width", heavy(fine, gamma), ratio, 0.01))
    sag = hanging(20 if quick else 40, 1.22 if wrong else 1.2)
    return [*found, near("catenary: sag [m]", sag, SAG, 0.005)]


def measure_stability(quick: bool, wrong: bool) -> list[Measurement]:
    rod = Clamped(20 if quick else 40, factor=1.1 if wrong else 1.0)
    return [
        near("vertical rod: q L^3/EI at which it buckles", buckling(rod), BUCKLING, 0.03),
        near("first angular frequency [1/s]", vibrating(rod), rod.frequency, 0.01),
    ]


SHAPE = Case(
    name="rod-shape",
    title="Elastic rod: elastica under a load and under its own weight, catenary",
    source="Elastica and catenary, closed forms and their numerical integrals",
    kind="closed form",
    cost="1 s",
    control="a tenth stiffer; the catenary 2 cm longer",
    measure=measure_shape,
)
STABILITY = Case(
    name="rod-stability",
    title="Elastic rod: buckling under its own weight, first frequency",
    source="Greenhill's column and Euler-Bernoulli beam, closed forms",
    kind="closed form",
    cost="1 s",
    control="a tenth stiffer",
    measure=measure_stability,
)
