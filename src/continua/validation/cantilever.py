"""A cantilever: first frequency of small vibrations, and the shape under a load that bends it far.

The beam is a rectangle of length L and height h in 2D with Poisson's ratio 0, so that its bending stiffness is
E h^3 / 12 per metre of depth. The references are those of thin beams: Euler and Bernoulli's frequency
0.559591 sqrt(EI / (m L^4)), the drop P L^3 / (3 EI) under a small load P at the tip, and the elastica under a dead
load with alpha = P L^2 / EI.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.force import BodyForce
from continua.bodies.points import ParticleBody
from continua.contact.boundaries import FixedVelocity
from continua.geometry.shapes import Box
from continua.materials import NeoHookean
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, near

Array = NDArray[np.float64]
LENGTH, E, DENSITY = 1.0, 1e6, 1000.0  # [m], [Pa], [kg/m^3]
SMALL = 0.03  # load P L^2 / EI that bends a beam so little that its drop is linear in it
ROOT = 1.875104  # of cos(z) cosh(z) = -1


@dataclass
class Beam:
    """A beam `slenderness` times as long as high, with `cells` of the grid over its height."""

    cells: int
    slenderness: float = 10.0
    factor: float = 1.0  # on E; the references do not know it

    def __post_init__(self) -> None:
        self.height = LENGTH / self.slenderness
        self.bending = E * self.height**3 / 12  # EI per depth [N m]
        self.frequency = 0.559591 * np.sqrt(self.bending / (DENSITY * self.height * LENGTH**4))  # [Hz]

    def build(self, velocity: Callable[[Array], Array] | None = None) -> tuple[Simulation, ParticleBody]:
        """The beam along x, its left end held."""
        dx = self.height / self.cells
        sim = Simulation(dx, (0, 0))
        sim.add(FixedVelocity((-1, -1), (0, 1), (0, 0)))
        shape, material = (
            Box((LENGTH / 2, 0), (LENGTH, self.height)),
            NeoHookean(self.factor * E, 0.0, DENSITY),
        )
        return sim, sim.add(shape, material, velocity=velocity)


def first_mode(x: Array) -> Array:
    """Deflection (N,) of the first mode at the points x (N, 2)."""
    z, ratio = ROOT * x[:, 0] / LENGTH, (np.cos(ROOT) + np.cosh(ROOT)) / (np.sin(ROOT) + np.sinh(ROOT))
    return np.cosh(z) - np.cos(z) - ratio * (np.sinh(z) - np.sin(z))


def vibrate(beam: Beam) -> float:
    """Frequency [Hz] from the time at which the first mode, started with a velocity, turns back."""
    sim, body = beam.build(lambda x: np.stack([0 * x[:, 0], 0.01 * first_mode(x)], axis=1))
    weight = first_mode(body.x)
    amplitude = previous = float("inf")
    while amplitude > 0:
        previous = amplitude
        dt = sim.step()
        amplitude = float((body.mass * body.v[:, 1]) @ weight[body.ids])
    return 1 / (4 * (sim.time - dt * amplitude / (amplitude - previous)))


def bend(beam: Beam, alpha: float) -> tuple[float, float]:
    """Drop and pull-in of the loaded end over the length, at rest; a drag makes the beam creep there."""
    sim, body = beam.build()
    X = body.x.copy()
    loaded = X[:, 0] > X[:, 0].max() - 1e-9
    arm = X[loaded, 0].mean()
    load = np.zeros_like(X)
    load[loaded, 1] = -alpha * beam.bending / arm**2 / body.mass[loaded].sum()
    drag, end = 4 * np.pi * beam.frequency, 1.7 / beam.frequency

    def force(body: ParticleBody, t: float) -> Array:
        return load[body.ids] * min(1.0, 3 * t / end) - drag * body.v

    sim.add(BodyForce(force))
    while sim.time < end:
        sim.step()
    tip = body.x[loaded[body.ids]].mean(axis=0)
    return float(-tip[1] / arm), float(1 - tip[0] / arm)


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    factor = 2.0 if wrong else 1.0
    beam = Beam(3 if quick else 6, slenderness=6.0 if quick else 10.0, factor=factor)
    found = [near("first frequency [Hz]", vibrate(beam), beam.frequency, 0.1 if quick else 0.04)]
    small, exact = bend(beam, SMALL)[0], SMALL / 3  # P L^3 / (3 EI), over L
    found.append(near(f"alpha = {SMALL:g}: drop over length", small, exact, 0.15 if quick else 0.06))
    if not quick:
        for cells, alpha, references in ((6, 1.0, (0.30172, 0.05643)), (4, 10.0, (0.81061, 0.55500))):
            drop, pull = bend(Beam(cells, factor=factor), alpha)
            found.append(near(f"alpha = {alpha:g}: drop over length", drop, references[0], 0.06))
            found.append(near(f"alpha = {alpha:g}: pull-in over length", pull, references[1], 0.12))
    return found


CASE = Case(
    name="cantilever",
    title="Cantilever: vibration, small and large bending by a dead load",
    source="Euler-Bernoulli beam and elastica, closed forms",
    kind="closed form",
    cost="2 min",
    control="twice as stiff",
    measure=measure,
)
