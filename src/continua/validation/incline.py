"""A block on an incline: it slides with the acceleration g (sin(angle) - f cos(angle)), or rests if tan(angle) <= f.

The way over seconds is that of the same acceleration from the start: the first contact costs and gives no momentum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.points import ParticleBody
from continua.contact.colliders import Mode, Plane
from continua.geometry.shapes import Box, Rotated
from continua.materials import FixedCorotated
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, near

G = 9.8  # [m/s^2]
JELLY = FixedCorotated(1e6, 0.3, 1000.0)


@dataclass
class Slide:
    """A block on a floor, and the direction (d,) in which it slides."""

    sim: Simulation
    body: ParticleBody
    along: NDArray[np.float64]

    def mean(self, values: NDArray) -> float:
        """Of positions [m] or velocities [m/s] (N, d) along the floor."""
        return float(self.body.mass @ values @ self.along / self.body.mass.sum())

    def acceleration(self, duration: float) -> float:
        """Of the centre of mass [m/s^2], fitted after the first 0.1 s."""
        times, speeds = [], []
        while self.sim.time < duration - 1e-12:
            self.sim.step(duration - self.sim.time)
            times.append(self.sim.time)
            speeds.append(self.mean(self.body.v))
        t, v = np.array(times), np.array(speeds)
        return float(np.polyfit(t[t > 0.1], v[t > 0.1], 1)[0])

    def distance(self, duration: float) -> float:
        """Way of the centre of mass [m]; what the first contact gives or takes counts here."""
        start = self.mean(self.body.x)
        while self.sim.time < duration - 1e-12:
            self.sim.step(duration - self.sim.time)
        return self.mean(self.body.x) - start


def level(
    theta: float, friction: float, *, d: int = 2, mode: Mode = "separate", offset: float = 0.0
) -> Slide:
    """Level floor `offset` cells above nodes, gravity tilted by theta [degrees]; floor and block touch at the start."""
    a = np.radians(theta)
    h, along = (0.05, np.array([1.0, 0.0])) if d == 2 else (0.1, np.array([0.6, 0.0, 0.8]))
    up = np.eye(d)[1]
    sim = Simulation(h, list(G * (np.sin(a) * along - np.cos(a) * up)))
    body = sim.add(Box((0, 0.15 + offset * h, 0)[:d], (0.4, 0.3, 0.4)[:d]), JELLY)
    sim.add(Plane(tuple(up), tuple(offset * h * up), friction=friction, mode=mode))
    return Slide(sim, body, along)


def tilted(theta: float, friction: float, *, d: int = 2) -> Slide:
    """Gravity straight down, floor and block tilted by theta [degrees]."""
    a = np.radians(theta)
    normal, along = np.array([np.sin(a), np.cos(a), 0.0]), np.array([np.cos(a), -np.sin(a), 0.0])
    sim = Simulation(0.05 if d == 2 else 0.1, (0, -G, 0)[:d])
    centre = tuple(0.15 * normal[:d])
    axis = None if d == 2 else (0.0, 0.0, 1.0)
    body = sim.add(Rotated(Box(centre, (0.4, 0.3, 0.4)[:d]), -theta, axis, centre), JELLY)
    sim.add(Plane(tuple(normal[:d]), friction=friction))
    return Slide(sim, body, along[:d])


def exact(theta: float, friction: float) -> float:
    """Acceleration of a rigid block [m/s^2]."""
    a = np.radians(theta)
    return max(0.0, float(G * (np.sin(a) - friction * np.cos(a))))


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    less = 0.0 if not wrong else 0.02  # a little less friction than is claimed
    duration = 0.5 if quick else 1.0
    found = [
        near(
            f"30 degrees, f = {f:g}: acceleration [m/s^2]",
            level(30, f - less).acceleration(duration),
            exact(30, f),
            0.003,
            G,
        )
        for f in ((0.2,) if quick else (0.1, 0.2, 0.3))
    ]
    tilt = tilted(30, 0.2 - less).acceleration(0.5)
    found.append(near("30 degrees, f = 0.2, floor across the grid [m/s^2]", tilt, exact(30, 0.2), 0.003, G))
    stuck = level(20, 0.3 if wrong else 0.5).acceleration(duration)
    found.append(near("20 degrees, f = 0.5: rests [m/s^2]", stuck, 0.0, 0.01, G))
    seconds = 3.0 if quick else 5.0
    for d in (2, 3):
        way = level(30, 0.2 - less, d=d).distance(seconds)
        reference = exact(30, 0.2) * seconds**2 / 2
        found.append(near(f"30 degrees, f = 0.2, {d}D: way in {seconds:g} s [m]", way, reference, 0.003))
    return found


CASE = Case(
    name="incline",
    title="Block on an incline",
    source="Coulomb friction, closed form",
    kind="closed form",
    cost="15 s",
    control="friction 0.02 smaller where it slides, 0.3 for 0.5 where it rests",
    measure=measure,
)
