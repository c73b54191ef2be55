"""Points cannot pass each other on a grid that moves both: how near they come, at which steps, on which grids."""

from __future__ import annotations

import numpy as np
import pytest
from solid_worlds import jelly
from surface_points import SurfacePoints

import continua as ct
from continua.bodies import body as protocol
from continua.contact.collision_particles import CollisionParticles
from continua.errors import ContinuaError

DX = 0.1
OFFSETS = np.arange(20) / 20 * DX
NEAR, FAR = np.array([0.0, 0.0]), np.array([2.63 * DX, 0.0])
INWARDS = np.array([1.0, 0.0])
SPREAD = CollisionParticles.spread


def smallest_gap(cfl: float, offset: float, e: float, monkeypatch: pytest.MonkeyPatch | None = None) -> float:
    """Of two points of the same mass that meet at 1 m/s each, in cells, while a step moves each by cfl cells."""
    sim = ct.Simulation(DX, (0.0, 0.0), dt=cfl * DX, force_dt=True)
    if monkeypatch is not None:  # steps are never refused
        monkeypatch.setattr("surface_points.too_fast", lambda *args: "")
    shift = np.array([offset, 0.3 * DX])
    a = sim.add(SurfacePoints([NEAR + shift], INWARDS, INWARDS, restitution=e))
    b = sim.add(SurfacePoints([FAR + shift], -INWARDS, -INWARDS, restitution=e))
    gap = np.inf
    for _ in range(int(6 / cfl)):
        sim.step()
        gap = min(gap, float(b.x[0, 0] - a.x[0, 0]) / DX)
    return gap


@pytest.mark.parametrize("e", [0.0, 1.0])
@pytest.mark.parametrize("cfl", [0.1, 0.3, 0.6, 0.8])
def test_two_points_do_not_cross_in_steps_below_a_cell(cfl: float, e: float) -> None:
    """Gap above 0.05 dx for 20 places relative to the nodes; larger steps than a cell do cross."""
    gaps = [smallest_gap(cfl, offset, e) for offset in OFFSETS]
    assert min(gaps) > 0.05
    assert max(gaps) < 2.63  # they have met


@pytest.mark.parametrize("e", [0.0, 1.0])
def test_they_cross_in_steps_beyond_a_cell(e: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 1.2 cells per step and more: what the limit of a step is for."""
    gaps = [smallest_gap(cfl, offset, e, monkeypatch) for cfl in (1.2, 1.5) for offset in OFFSETS]
    assert min(gaps) < 0


def test_a_step_in_which_a_point_would_cross_a_cell_is_shortened_and_the_body_named() -> None:
    """Unless the user insists on dt: 0.9 cells is the most."""
    push = 200.0  # after v dt = 0.01 cells, gravity alone would carry it over several cells
    sim = ct.Simulation(DX, (push, 0.0), cfl=0.95)
    body = sim.add(SurfacePoints([NEAR], (0.0, 0.0), INWARDS))
    sim.step()
    assert sim.bound.body == "" and f'points of "{body.name}" that cross a cell' in (sim.bound.name,)
    assert float(np.linalg.norm(body.v)) * sim.dt <= protocol.MOST_CROSSED * DX
    free = ct.Simulation(DX, (push, 0.0), cfl=0.3)
    free.add(SurfacePoints([NEAR], (0.0, 0.0), INWARDS))
    free.step()
    assert free.bound.name == "gravity"


def test_rows_of_points_keep_a_distance_of_about_a_cell_but_pass_on_a_fine_grid() -> None:
    """W20 figure 4.7: no constitutive model, points h apart. Gap 1 to 1.6 dx where dx / h is 8 or 1; through at 1/8."""
    gaps = {ratio: rows_meet(ratio) for ratio in (8.0, 1.0, 1 / 8)}
    assert 0.9 < gaps[8.0] < 1.7 and 0.9 < gaps[1.0] < 1.7
    assert gaps[1 / 8] < -1


def rows_meet(ratio: float) -> float:
    """Last distance [cells] of two rows that fall on each other at cfl 0.02."""
    h, v = 0.05, 0.1
    dx = ratio * h
    y = h * np.arange(24)
    sim = ct.Simulation(dx, (0.0, 0.0), dt=0.02 * dx / v)
    left = np.stack([0 * y, y], axis=1)
    right = left + (3.2 * dx, 0.4 * h)
    a = sim.add(SurfacePoints(left, (v, 0.0), (1.0, 0.0)))
    b = sim.add(SurfacePoints(right, (-v, 0.0), (-1.0, 0.0)))
    for _ in range(200):
        sim.step()
    return float((b.x[:, 0].min() - a.x[:, 0].max()) / dx)


@pytest.mark.parametrize("dx", [0.02, 0.01])
def test_particles_at_most_two_cells_apart_hold_a_block_and_sparse_ones_do_not(
    dx: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W20 figure 4.8: a small block falls on one long held face: held up to a spacing of 2 dx, let through at 8."""
    places = (0.0, 0.25, 0.5, 0.75)  # of the block, in spacings: some are far from all particles
    for spacing in (0.5, 1.0, 2.0):
        assert min(lowest(dx, spacing, place, monkeypatch) for place in places) > 0
    assert min(lowest(dx, 8.0, place / 8, monkeypatch) for place in range(8)) < -1


def lowest(dx: float, spacing: float, place: float, monkeypatch: pytest.MonkeyPatch) -> float:
    """Least height [cells] of the block over the face, whose collision particles are so many cells apart."""
    monkeypatch.setattr(CollisionParticles, "spread", lambda x, f, _, m: SPREAD(x, f, spacing * dx, m))
    soft = jelly(E=1e3)
    sim = ct.Simulation(dx, (0.0, 0.0), dt=0.2 * dx)
    long = ct.meshes.box_mesh((-32 * dx, -8 * dx), (32 * dx, 0.0), (1, 1))
    everything = ct.Scripted(np.arange(4))
    sim.add(ct.SolidBody(long, soft, contact=ct.GridContact(), scripted=everything))
    left = np.array([place * spacing * dx, 3.2 * dx])
    small = ct.meshes.box_mesh(left, left + dx, (1, 1))
    body = sim.add(ct.SolidBody(small, soft, contact=ct.GridContact(), velocity=(0.0, -0.5)))
    least = np.inf
    for _ in range(50):
        sim.step()
        least = min(least, float(body.x[:, 1].min()) / dx)
    return least


def test_a_body_that_runs_away_is_an_error() -> None:
    """Where no step is short enough, the error says which body it was."""
    sim = ct.Simulation(DX, (0.0, 0.0))
    body = sim.add(SurfacePoints([NEAR], (1.0, 0.0), INWARDS))
    fast = np.full((1, 2), 1e9)
    body.respond = lambda exchanges, nodes, dt: protocol.too_fast(body, fast, dt, DX)  # type: ignore[method-assign]
    with pytest.raises(ContinuaError, match="points1"):
        sim.step()
