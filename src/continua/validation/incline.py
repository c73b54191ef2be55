"""A block on an incline: it slides with the acceleration g (sin(angle) - f cos(angle)), or rests if tan(angle) <= f."""

from __future__ import annotations

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


def slope_of(sim: Simulation, body: ParticleBody, along: NDArray[np.float64], duration: float) -> float:
    """Acceleration of the centre of mass along a direction [m/s^2], fitted after the first 0.1 s."""
    times, speeds = [], []
    while sim.time < duration - 1e-12:
        sim.step(duration - sim.time)
        times.append(sim.time)
        speeds.append(float(body.mass @ body.v @ along / body.mass.sum()))
    t, v = np.array(times), np.array(speeds)
    return float(np.polyfit(t[t > 0.1], v[t > 0.1], 1)[0])


def level(
    theta: float, friction: float, *, d: int = 2, mode: Mode = "separate", duration: float = 1.0
) -> float:
    """Level floor, gravity tilted by theta [degrees]; the lowest layer of nodes touches from the start."""
    a = np.radians(theta)
    h, along = (0.05, np.array([1.0, 0.0])) if d == 2 else (0.1, np.array([0.6, 0.0, 0.8]))
    up = np.eye(d)[1]
    sim = Simulation(h, list(G * (np.sin(a) * along - np.cos(a) * up)))
    body = sim.add(Box((0, 0.15, 0)[:d], (0.4, 0.3, 0.4)[:d]), JELLY)
    sim.add(Plane(tuple(up), tuple(1e-6 * up), friction=friction, mode=mode))
    return slope_of(sim, body, along, duration)


def tilted(theta: float, friction: float) -> float:
    """Gravity straight down, floor and block tilted by theta [degrees]."""
    a = np.radians(theta)
    normal, along = np.array([np.sin(a), np.cos(a)]), np.array([np.cos(a), -np.sin(a)])
    sim = Simulation(0.05, (0, -G))
    centre = tuple(0.15 * normal)
    body = sim.add(Rotated(Box(centre, (0.4, 0.3)), -theta, center=centre), JELLY)
    sim.add(Plane(tuple(normal), friction=friction))
    return slope_of(sim, body, along, 0.5)


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
            level(30, f - less, duration=duration),
            exact(30, f),
            0.003,
            G,
        )
        for f in ((0.2,) if quick else (0.1, 0.2, 0.3))
    ]
    tilt = tilted(30, 0.2 - less)
    found.append(near("30 degrees, f = 0.2, floor across the grid [m/s^2]", tilt, exact(30, 0.2), 0.003, G))
    stuck = level(20, 0.3 if wrong else 0.5, duration=duration)
    found.append(near("20 degrees, f = 0.5: rests [m/s^2]", stuck, 0.0, 0.01, G))
    return found


CASE = Case(
    name="incline",
    title="Block on an incline",
    source="Coulomb friction, closed form",
    kind="closed form",
    cost="5 s",
    control="friction 0.02 smaller where it slides, 0.3 for 0.5 where it rests",
    measure=measure,
)
