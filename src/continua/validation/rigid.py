"""Rigid bodies against closed forms: a free top, a pendulum on an axle, and balls and blocks on an incline."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipk

from continua.bodies.axle import Axle
from continua.bodies.rigid_body import RigidBody
from continua.contact.colliders import Plane
from continua.geometry.shapes import Box, Rotated, Shape, Sphere
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_most, near

G, DX = 9.81, 0.05  # [m/s^2], cell [m]
SLOPE = np.radians(25.0)
CREEP = 1e-6  # cells in a second


def top(dt: float, duration: float, *, keeps_spin: bool) -> tuple[float, float]:
    """Largest relative changes of the angular momentum and the energy of a brick that turns about its middle axis."""
    sim = Simulation(0.2, (0.0, 0.0, 0.0), dt=dt)
    body = sim.add(RigidBody(Box((0, 0, 0), (0.2, 0.4, 0.7)), density=500.0, spin=(0.1, 1.0, 0.05)))
    motion, twist = body.motion, body.motion.twist(body.state)
    L, energy = body.state.L.copy(), motion.kinetic(body.state)
    lost, drift = 0.0, 0.0
    while sim.time < duration:
        sim.step(duration - sim.time)
        if keeps_spin:
            body.state = motion.with_twist(body.state, twist)
        lost = max(lost, float(np.abs(body.state.L - L).max() / np.linalg.norm(L)))
        drift = max(drift, abs(motion.kinetic(body.state) / energy - 1))
    return lost, drift


def period(amplitude: float, dt: float, swings: int, gravity: float) -> float:
    """Mean period [s] of a bar that hangs on an axle, from where it passes below it."""
    bar = Rotated(
        Box((0.0, -0.4, 0.0), (0.1, 1.0, 0.1)),
        angle=float(np.degrees(amplitude)),
        axis=(0, 0, 1),
        center=(0, 0, 0),
    )
    sim = Simulation(0.5, (0.0, -gravity, 0.0), dt=dt)
    body = sim.add(RigidBody(bar, density=1000.0, axle=Axle((0, 0, 0), (0, 0, 1)), size=0.05))
    times: list[float] = []
    before, angle = (0.0, amplitude), amplitude
    while len(times) <= swings:
        sim.step()
        angle = float(np.arctan2(body.center[0], -body.center[1]))
        if before[1] > 0 >= angle:
            times.append(before[0] + (sim.time - before[0]) * before[1] / (before[1] - angle))
        before = (sim.time, angle)
    return float(np.mean(np.diff(times)))


def measure_motion(quick: bool, wrong: bool) -> list[Measurement]:
    lost, drift = top(0.01, 10.0, keeps_spin=wrong)
    found = [
        at_most("free top, 10 s: change of the angular momentum", lost, 1e-12),
        at_most("free top, 10 s: change of the energy", drift, 1e-5),
    ]
    inertia = (0.1**2 + 1.0**2) / 12 + 0.4**2  # over the mass [m^2]
    for amplitude in (0.05, 1.5):
        exact = 4 * np.sqrt(inertia / (G * 0.4)) * float(ellipk(np.sin(amplitude / 2) ** 2))
        measured = period(amplitude, 0.004, 2 if quick else 10, G * 1.02 if wrong else G)
        found.append(near(f"pendulum, amplitude of {amplitude:g} rad: period [s]", measured, exact, 5e-3))
    return found


def on_slope(shape: Shape, friction: float, duration: float, slope: float = SLOPE) -> tuple[float, float]:
    """Acceleration along an incline [m/s^2], and the way [m], of a body that starts at rest on it."""
    d = shape.dimension
    gravity = G * np.array([np.sin(slope), -np.cos(slope), 0.0])[:d]
    sim = Simulation(DX, list(gravity))
    body = sim.add(RigidBody(shape, density=1000.0))
    sim.add(Plane((0.0, 1.0, 0.0)[:d], friction=friction))
    start = body.center
    while sim.time < duration:
        sim.step(duration - sim.time)
    return float(body.velocity[0] / duration), float(np.linalg.norm(body.center - start))


def measure_incline(quick: bool, wrong: bool) -> list[Measurement]:
    less = 0.1 if wrong else 1.0
    found = []
    for d, name, inertia in ((2, "disc", 0.5), (3, "ball", 0.4)):
        zero = (0.0,) * (d - 2)
        ball, block = Sphere((0.0, 0.2, *zero), 0.2), Box((0.0, 0.1, *zero), (0.6, 0.2, *(0.4,) * (d - 2)))
        duration = 0.3 if quick else 1.0
        rolls = on_slope(ball, 0.4 * less, duration)[0]
        found.append(near(f"{name} that rolls [m/s^2]", rolls, G * np.sin(SLOPE) / (1 + inertia), 0.01))
        for what, shape, mu, gate in ((name, ball, 0.05, 0.01), (f"{d}D block", block, 0.2, 0.02)):
            slides = on_slope(shape, mu * less, duration)[0]
            exact = G * (np.sin(SLOPE) - mu * np.cos(SLOPE))
            found.append(near(f"{what} that slides, f = {mu:g} [m/s^2]", slides, exact, gate))
        sticks = on_slope(block, 1.05 * float(np.tan(SLOPE)) * less, 1.0)[1] / DX
        found.append(at_most(f"{d}D block that sticks, f = 1.05 tan: way in 1 s [cells]", sticks, CREEP))
    return found


MOTION = Case(
    name="rigid-motion",
    title="Free top and pendulum",
    source="Euler's equations; the pendulum by the elliptic integral",
    kind="closed form",
    cost="15 s",
    control="a top that keeps its angular velocity in place of its angular momentum; 2 % more gravity",
    measure=measure_motion,
)
INCLINE = Case(
    name="rigid-incline",
    title="Rigid balls and blocks on an incline",
    source="rigid bodies with Coulomb friction, closed form",
    kind="closed form",
    cost="10 s",
    control="a tenth of the friction",
    measure=measure_incline,
)
