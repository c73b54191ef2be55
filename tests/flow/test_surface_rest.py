"""Water at rest stays at rest, and small waves have the frequency of linear theory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import curve_fit
from water import WATER, G, box, room, world

import continua as ct
from continua import _core
from continua.integrators import IncompressibleFlow

CALM = 0.35e-2  # rms speed of disordered water, over that of waves in shallow water


def unrest(sim: ct.Simulation, water: ct.Body, depth: float, start: float, end: float) -> float:
    """Rms speed of the particles between two times [s], over sqrt(g depth)."""
    squares = []
    while sim.time < end - 1e-12:
        sim.step(0.01)
        if sim.time > start:
            squares.append(float((water.v.astype(float) ** 2).sum(axis=1).mean()))
    return float(np.sqrt(np.mean(squares) / (G * depth)))


def tank(
    d: int, off: float, sampling: str, dx: float = 0.1, depth: float = 0.6, **options
) -> tuple[ct.Simulation, ct.Body, float]:
    """Side walls this part of a cell off the grid."""
    sim, side = world(d, dx, **options), off * dx
    low, high = (side, 0, side), (1 - side, 1, 1 - side)
    sim.add(room(low[:d], high[:d]))
    return sim, sim.add(box(low[:d], (high[0], depth, high[2])[:d]), WATER, sampling=sampling), depth


@pytest.mark.parametrize("off", [0.0, 0.25, 0.5, 0.7, 0.9])
def test_disordered_water_calms_down_between_walls_off_the_grid(off: float) -> None:
    assert unrest(*tank(2, off, "jittered", dx=0.05), 2.0, 4.0) <= CALM


@pytest.mark.parametrize("depth", [0.6125, 0.625, 0.6375])
def test_disordered_water_calms_down_wherever_its_surface_lies_in_a_cell(depth: float) -> None:
    assert unrest(*tank(2, 0.0, "jittered", dx=0.05, depth=depth), 1.0, 2.0) <= CALM


def test_cells_that_are_liquid_when_they_hold_a_particle_do_not_calm_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such classes flicker while particles cross planes of the grid."""
    surface = IncompressibleFlow._surface

    def classes(self, nodes, walls, neighbours):
        found = surface(self, nodes, walls, neighbours)
        mass = self._faces("mass", self.field.dtype)
        _core.liquid_cells(mass, walls.open, neighbours, 2, found.fluid)
        found.distance[:] = np.where(found.fluid > 0, -1.0, 1e-9)
        return found

    monkeypatch.setattr(IncompressibleFlow, "_surface", classes)
    assert unrest(*tank(2, 0.0, "jittered", dx=0.05, depth=0.6125), 1.0, 2.0) > CALM


@pytest.mark.parametrize("off", [0.0, 0.5])
def test_single_precision_calms_down_too(off: float) -> None:
    sim, water, depth = tank(2, off, "jittered", dx=0.05, precision="single")
    assert water.v.dtype == np.float32 and unrest(sim, water, depth, 2.0, 4.0) <= CALM


def test_disordered_water_calms_down_in_three_dimensions() -> None:
    assert unrest(*tank(3, 0.0, "jittered", dx=0.125, depth=0.5), 1.0, 2.0) <= CALM


def fastest(sim: ct.Simulation, water: ct.Body, depth: float) -> float:
    """Between 0.45 s and 0.5 s, over sqrt(g depth)."""
    speeds = []
    while sim.time < 0.5 - 1e-12:
        sim.step(0.01)
        if sim.time > 0.45:
            speeds.append(float(np.linalg.norm(water.v, axis=1).max()))
    return max(speeds) / np.sqrt(G * depth)


def test_a_lattice_rests_in_a_tank_in_three_dimensions() -> None:
    assert fastest(*tank(3, 0.0, "regular", dx=0.125, depth=0.5)) <= 1e-3


@pytest.mark.parametrize("off", [0.25, 0.5, 0.75])
def test_a_lattice_rests_between_two_walls_off_the_grid_in_three_dimensions(off: float) -> None:
    sim, side = world(3), off * 0.1
    sim.add(ct.boundaries.Periodic(2, 0.0, 0.4))
    sim.add(room((side, 0, -1), (1 - side, 1, 2)))
    water = sim.add(box((side, 0, 0), (1 - side, 0.6, 0.4)), WATER)
    assert fastest(sim, water, 0.6) <= 1e-3


@pytest.mark.parametrize("off", [0.25, 0.5])
def test_a_lattice_rests_where_walls_off_the_grid_meet_in_edges(off: float) -> None:
    assert fastest(*tank(3, off, "regular", dx=0.125, depth=0.5)) <= 1e-3


# ---- waves ----


def wave(high: float, periods: float, cells: int = 32) -> tuple[float, float]:
    """Frequency over that of linear theory, and damping [1/s], of the first mode of a tank half as deep as wide.

    It starts from rest with crests of `high` cells; its velocity is projected on the mode of linear theory.
    """
    width, depth = 1.0, 0.5
    dx, k = width / cells, np.pi / width
    sim = world(2, dx)
    sim.add(room((0, 0), (width, 1)))
    water = sim.add(box((0, 0), (width, depth)), WATER)

    def mode(x: np.ndarray) -> np.ndarray:
        along, up = k * x[:, 0], k * x[:, 1]
        shape = np.stack([-np.sin(along) * np.cosh(up), np.cos(along) * np.sinh(up)], axis=1)
        return shape / np.sinh(k * depth)

    rest = water.x.copy()
    water.x[:] = rest + high * dx * mode(rest)
    omega = np.sqrt(G * k * np.tanh(k * depth))
    t, speed = [], []
    while sim.time < periods * 2 * np.pi / omega:
        sim.step(0.01)
        t.append(sim.time)
        speed.append(float((water.v * mode(water.x)).sum(axis=1).mean()))

    def decaying(t: np.ndarray, amplitude: float, rate: float, damping: float, phase: float) -> np.ndarray:
        return amplitude * np.exp(-damping * t) * np.sin(rate * t + phase)

    guess = (-np.max(np.abs(speed)), omega, 0.0, 0.0)
    found = curve_fit(decaying, np.array(t), np.array(speed), guess)[0]
    return float(found[1] / omega), float(found[2])


def test_a_wave_lower_than_a_cell_swings_as_in_linear_theory() -> None:
    """Crests of 0.2 cells; a surface that only knows whole cells would not move at all."""
    frequency, damping = wave(0.2, 3)
    assert frequency == pytest.approx(1, abs=0.015)
    assert abs(damping) < 0.02
