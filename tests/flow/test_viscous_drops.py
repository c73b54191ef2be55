"""Viscous liquid in free flight: threads thinner than a cell, and what a step leaves of strain and spin."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from surface_cells import cells_of
from water import DX, box, world

import continua as ct
from continua.materials import IncompressibleFluid


def shaken_thread(viscosity: float, *, with_drop: bool) -> tuple[ct.Simulation, ct.Body]:
    """A row of single particles, four to a cell, with a wave of velocities along it; if asked, a drop far away."""
    sim = world(2, gravity=(0, 0), settings={"volume_control": 0.0})
    fluid = IncompressibleFluid(1000.0, viscosity)
    x = np.stack([DX * (np.arange(64) + 0.5) / 4, np.full(64, 0.53 * DX)], axis=1)
    thread = sim.add(ct.shapes.Points(x), fluid)
    thread.v[:, 0] = np.sin(2 * np.pi * thread.x[:, 0] / (8 * DX))
    if with_drop:
        sim.add(box((0, 2), (0.6, 2.6)), fluid)
    return sim, thread


def swing(viscosity: float, *, with_drop: bool) -> float:
    sim, thread = shaken_thread(viscosity, with_drop=with_drop)
    held = cells_of(sim)
    below = held.place[:, 1] < 10
    assert (
        held.held[below].sum() == 16 and not held.liquid[below].any()
    )  # no pressure: less than half a cell is wet
    for _ in range(5):
        sim.step(1e-3)
    return float(np.ptp(thread.v[:, 0]) / 2)


def test_a_thread_thinner_than_a_cell_feels_viscosity() -> None:
    """It resists stretching: 2 nu times the wave number squared is the rate of five implicit steps of 1 ms."""
    rate = 2 * (100.0 / 1000.0) * (2 / DX * np.sin(np.pi / 8)) ** 2
    left = swing(100.0, with_drop=True) / swing(0.0, with_drop=True)
    assert left == pytest.approx((1 + 1e-3 * rate) ** -5, rel=0.02)


def test_a_thread_alone_feels_viscosity_too() -> None:
    """What happens far away does not matter."""
    assert swing(100.0, with_drop=False) == pytest.approx(swing(100.0, with_drop=True), rel=1e-6)


def left_of(rate: NDArray, viscosity: float) -> float:
    """Part of a linear flow of a drop that is left after 5 ms."""
    d = len(rate)
    sim = world(d, gravity=(0, 0, 0), settings={"volume_control": 0.0})
    drop = sim.add(
        ct.shapes.Sphere((0.0,) * d, 0.38),
        IncompressibleFluid(1000.0, viscosity),
        velocity=lambda x: x @ rate.T,
        sampling="jittered",
    )
    for _ in range(5):
        sim.step(1e-3)
    field = drop.x @ rate.T
    return float((drop.v * field).sum() / (field**2).sum())


@pytest.mark.parametrize("d", [2, 3])
def test_viscosity_takes_strain_and_leaves_spin(d: int) -> None:
    """A rigid turn has no stress: what transfers take of it, they take without viscosity as well."""
    strain, spin = np.diag([1.0, -1.0, 0.0])[:d, :d], np.array([[0, -1, 0], [1, 0, 0], [0, 0, 0]])[:d, :d]
    assert left_of(spin, 2000.0) == pytest.approx(left_of(spin, 0.0), rel=0.01)
    assert left_of(strain, 2000.0) < 0.8 * left_of(strain, 0.0)
