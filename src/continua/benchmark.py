"""Speed of this machine: nanoseconds per particle and step, phase by phase."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from continua import _core
from continua.contact.colliders import Plane
from continua.geometry.shapes import Box
from continua.integrators import SymplecticEuler
from continua.materials import FixedCorotated, NativeMaterial, NeoHookean, Snow
from continua.simulation import Simulation
from continua.transfers import Transfer

DX = 0.01  # [m]
WARM_UP = 3


def cube(
    particles: int,
    material: NativeMaterial,
    *,
    precision: str,
    stress_transfer: str = "gradient",
    transfer: str | Transfer = "apic",
) -> Simulation:
    """A jittered cube of about that many particles, 8 per cell, shaking gently above a slippery floor."""
    cells = max(2, round((particles / 8) ** (1 / 3)))
    side = cells * DX
    dt = 0.3 * DX / material.wave_speed()
    sim = Simulation(
        DX, precision=precision, transfer=transfer, stress_transfer=stress_transfer, dt=dt, force_dt=True
    )

    def shaking(x: np.ndarray) -> np.ndarray:
        return 0.5 * np.sin(x[:, [1, 2, 0]] * (2 * np.pi / side))

    sim.add(Box((0, side / 2 + DX, 0), (side, side, side)), material, velocity=shaking, sampling="jittered")
    sim.add(Plane((0, 1, 0), mode="slip"))
    return sim


def measure(sim: Simulation, seconds: float) -> dict[str, Any]:
    """Nanoseconds per particle and step for every phase, over about that many seconds."""
    for _ in range(WARM_UP):
        sim.step()
    phases = sim.steppers["main"].seconds
    before = dict(phases)
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds or steps < 3:
        sim.step()
        steps += 1
    total = time.perf_counter() - start
    work = steps * sim.particles
    row: dict[str, Any] = {
        f"{name} ns": (phases[name] - before[name]) / work * 1e9 for name in SymplecticEuler.PHASES
    }
    row["total ns"] = total / work * 1e9
    row["million/s"] = work / total / 1e6
    return row


def run(
    particles: int = 100_000, precision: str = "double", seconds: float = 2.0
) -> Iterator[dict[str, Any]]:
    """One row per material and form: wall time per particle and step with the threads that are set."""
    materials: list[tuple[str, NativeMaterial]] = [
        ("fixed-corotated", FixedCorotated()),
        ("neo-hookean", NeoHookean()),
        ("snow", Snow()),
    ]
    for name, material in materials:
        for form in ("gradient", "mls"):
            sim = cube(particles, material, precision=precision, stress_transfer=form)
            head = {"material": name, "form": form, "precision": precision, "threads": _core.threads()}
            yield head | {"particles": sim.particles} | measure(sim, seconds)
