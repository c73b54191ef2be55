"""A surface that is known inside cells: waves lower than a cell, and drops that fall as drops do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import curve_fit

from continua.contact.colliders import Box as Container
from continua.geometry.shapes import Box, Sphere
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_most, near, reported

WIDTH, DEPTH, GRAVITY = 1.0, 0.5, 9.81  # [m], [m], [m/s^2]
WATER = IncompressibleFluid(1000.0)

# ---- a small standing wave --------------------------------------------------------------------------------------

WAVE = np.pi / WIDTH  # half a wave over the tank [1/m]
OMEGA = float(np.sqrt(GRAVITY * WAVE * np.tanh(WAVE * DEPTH)))  # of small waves [1/s]


def swing(
    cells: int, height: float, *, gravity: float = GRAVITY, transfer: str = "apic"
) -> tuple[float, float]:
    """Frequency over OMEGA and damping [1/s] of a standing wave, `height` cells high, over six periods."""
    dx = WIDTH / cells
    sim = Simulation(dx, (0.0, -gravity), integrator="incompressible", transfer=transfer)
    water = sim.add(Box((WIDTH / 2, DEPTH / 2), (WIDTH, DEPTH)), WATER)
    water.x[:, 1] *= 1 + height * dx / DEPTH * np.cos(WAVE * water.x[:, 0])
    sim.add(Container((WIDTH / 2, WIDTH), (WIDTH, 2 * WIDTH), inverted=True))
    end, rows = 6 * 2 * np.pi / OMEGA, []
    while sim.time < end - 1e-9:
        sim.step(end - sim.time)
        rows.append((sim.time, float((water.x[:, 1] * np.cos(WAVE * water.x[:, 0])).mean())))
    time, elevation = np.array(rows).T
    return fitted(time, elevation / np.abs(elevation).max())


def fitted(time: NDArray[np.float64], elevation: NDArray[np.float64]) -> tuple[float, float]:
    """Frequency over OMEGA and rate of decay [1/s] of a swinging elevation (N,)."""

    def decaying(t: NDArray, size: float, omega: float, rate: float, phase: float, mean: float) -> NDArray:
        return size * np.exp(-rate * t) * np.cos(omega * t + phase) + mean

    (_, omega, rate, _, _), _ = curve_fit(decaying, time, elevation, (1.0, OMEGA, 0.01, 0.0, 0.0))
    return float(omega / OMEGA), float(rate)


def measure_wave(quick: bool, wrong: bool) -> list[Measurement]:
    options = {"gravity": 1.1 * GRAVITY, "transfer": "pic"} if wrong else {}
    found = []
    for height in (0.2,) if quick else (0.2, 0.5, 2.0):
        omega, rate = swing(16 if quick else 32, height, **options)  # type: ignore[arg-type]
        found += [
            near(f"frequency over that of small waves, {height:g} cells high", omega, 1.0, 0.015),
            at_most(f"|damping| [1/s], {height:g} cells high", abs(rate), 0.02),
        ]
    return found


STANDING_WAVE = Case(
    name="standing-wave",
    title="A standing wave lower than a cell",
    source="linear waves on water: omega^2 = g k tanh(k H)",
    kind="closed form",
    cost="5 s",
    control="10 % more gravity and PIC",
    measure=measure_wave,
)

# ---- free drops above a pool ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flight:
    """Of two drops, the worse: momentum that gravity does not explain over what the particles have, and change of the
    angular momentum about the centre of mass, over its first value."""

    momentum: float
    turning: float


def whirl(strain: float, spin: float, fall: float):  # type: ignore[no-untyped-def]
    """A velocity that stretches and turns a drop about its middle [1/s] while it falls [m/s]."""

    def velocity(x: NDArray[np.float64]) -> NDArray[np.float64]:
        r, v = x - x.mean(axis=0), np.zeros_like(x)
        v[:, 0] = strain * r[:, 0] - spin * r[:, 1]
        v[:, 1] = spin * r[:, 0] - strain * r[:, 1] + fall
        return v

    return velocity


def fall(
    dimension: int, *, volume_control: float, viscosity: float = 0.0, time: float = 0.2, shove: float = 0.0
) -> Flight:
    """A round drop and a box fall above a pool; `shove` [m/s] pushes and turns them at the end."""
    dx, d, water = 0.025, dimension, IncompressibleFluid(1000.0, viscosity)
    flow = Incompressible(volume_control=volume_control)
    sim = Simulation(dx, (0.0, -GRAVITY, 0.0)[:d], integrator=flow, kernel="quadratic")
    sim.add(Container((0.5, 1.0, 0.125)[:d], (1.0, 2.0, 0.25)[:d], inverted=True))
    sim.add(Box((0.5, 0.1, 0.125)[:d], (1.0, 0.2, 0.25)[:d]), water, sampling="jittered")
    shapes = (Sphere((0.3, 0.9, 0.125)[:d], 0.09), Box((0.7, 0.8, 0.125)[:d], (0.2, 0.14, 0.1)[:d]))
    whirls = (whirl(3.0, 4.0, -0.5), whirl(-2.0, 6.0, 0.0))
    drops = [sim.add(s, water, velocity=v, sampling="jittered") for s, v in zip(shapes, whirls, strict=True)]

    def momenta(drop) -> tuple[NDArray[np.float64], float]:  # type: ignore[no-untyped-def]
        r = drop.x - np.average(drop.x, axis=0, weights=drop.mass)
        affine = dx**2 / 4 * (drop.C[:, 1, 0] - drop.C[:, 0, 1])  # what quadratic splines carry in C
        return drop.mass @ drop.v, float(
            drop.mass @ (r[:, 0] * drop.v[:, 1] - r[:, 1] * drop.v[:, 0] + affine)
        )

    sim.step(1e-6)  # before it C is not set
    start, begin = [momenta(drop) for drop in drops], sim.time
    size = [float(drop.mass @ np.linalg.norm(drop.v, axis=1)) for drop in drops]
    while sim.time < begin + time - 1e-9:
        sim.step(begin + time - sim.time)
    worst = [0.0, 0.0]
    for drop, (p, turning), scale in zip(drops, start, size, strict=True):
        drop.v[:, 0] += shove * (1 - (drop.x[:, 1] - drop.x[:, 1].mean()) / dx)
        now, turned = momenta(drop)
        lost = np.abs(now - p - drop.mass.sum() * sim.gravity * (sim.time - begin)).max() / scale
        worst = [max(worst[0], float(lost)), max(worst[1], abs(turned / turning - 1))]
    return Flight(*worst)


def measure_drops(quick: bool, wrong: bool) -> list[Measurement]:
    shove = 1e-3 if wrong else 0.0
    found = []
    for d in (2,) if quick else (2, 3):
        plain = fall(d, volume_control=0.0, shove=shove, time=0.1)
        honey = fall(d, volume_control=0.0, viscosity=5.0, shove=shove, time=0.1)
        spread = fall(d, volume_control=Incompressible().volume_control, shove=shove, time=0.1)
        found += [
            at_most(f"{d}D: momentum that gravity does not explain", spread.momentum, 1e-12),
            at_most(f"{d}D: change of the angular momentum, no control of volume", plain.turning, 1e-12),
            at_most(f"{d}D, honey: momentum that gravity does not explain", honey.momentum, 1e-12),
            at_most(f"{d}D, honey: change of the angular momentum", honey.turning, 1e-12),
            reported(f"{d}D: change of the angular momentum by the control of volume", spread.turning),
        ]
    return found


FREE_DROPS = Case(
    name="free-drops",
    title="Drops that stretch and spin fall above a pool",
    source="conservation of momentum and angular momentum",
    kind="closed form",
    cost="10 s",
    control="drops pushed and turned by a millimetre per second at the end",
    measure=measure_drops,
)
