"""Emitters at walls: the wall behind a stream lets it go."""

from __future__ import annotations

import numpy as np
import pytest
from water import DX, WATER, advance, both, box, world

import continua as ct
from continua.flow.inlets import Inlets, find_inlets
from continua.integrators import incompressible

SPEED = 1.0  # [m/s]


def channel(d: int, off: float = 0.0) -> tuple[ct.Simulation, ct.Body]:
    """A stream that leaves a wall, `off` cells off the grid, and fills a channel without gravity."""
    sim, start = world(d, gravity=(0, 0, 0)), off * DX
    sim.add(ct.colliders.Plane((1, 0, 0)[:d], (start, 0, 0)[:d], mode="slip"))
    for axis in range(1, d):
        sim.add(ct.boundaries.Periodic(axis, 0.0, 0.4))
    stream = ct.Emitter(
        box((start, 0, 0)[:d], (start + 0.2, 0.4, 0.4)[:d]), WATER, (SPEED, 0.0, 0.0)[:d], name="stream"
    )
    return sim, sim.add(stream)


@pytest.mark.parametrize("off", [0.0, 0.25, 0.5])
@both
def test_a_stream_leaves_the_wall_with_its_speed(d: int, off: float) -> None:
    sim, water = channel(d, off)
    advance(sim, 0.8, 0.02)
    assert np.abs(water.v[:, 0] - SPEED).max() <= 1e-6 and np.abs(water.v[:, 1:]).max() <= 1e-6
    front = water.x[:, 0].max() - off * DX
    assert front == pytest.approx(SPEED * sim.time, abs=0.5 * DX)


def test_without_an_inlet_the_wall_holds_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    none = Inlets((np.empty(0, np.intp),) * 3, np.empty(0))
    monkeypatch.setattr(incompressible, "find_inlets", lambda *_: none)
    sim, water = channel(2)
    advance(sim, 0.8, 0.02)
    assert np.abs(water.v[:, 0] - SPEED).max() > 0.1


def test_only_walls_behind_the_stream_are_open_and_only_while_it_runs() -> None:
    """Of a room around the stream: not the sides, not the far end, not what the stream never touched."""
    sim = world(2, gravity=(0, 0))
    sim.add(ct.colliders.Box((0.5, 0.2), (1.0, 0.4), inverted=True))
    emitter = ct.Emitter(box((0, 0.1), (1.0, 0.3)), WATER, (SPEED, 0.0), stop=0.1)
    sim.add(emitter)
    sim.add(box((0, 0), (1, 0.4)), WATER)
    flow = sim.steppers["main"]
    found: list[Inlets] = []

    def watched(*given) -> Inlets:
        found.append(find_inlets(*given))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incompressible, "find_inlets", watched)
        sim.step(0.01)
        block, cell, axis = found[-1].place
        place = ct._core.node_coordinates(flow.field.grid.keys, 2)[block, cell]
        assert set(axis.tolist()) == {0} and {tuple(p) for p in place.tolist()} == {(0, 1), (0, 2)}
        assert np.all(found[-1].speed == SPEED)
        advance(sim, 0.2, 0.01)
        assert len(found[-1].speed) == 0


def test_a_stream_that_runs_into_a_wall_does_not_open_it() -> None:
    sim = world(2, gravity=(0, 0))
    sim.add(ct.colliders.Plane((-1, 0), (0.4, 0)))
    water = sim.add(ct.Emitter(box((0.2, 0), (0.4, 0.4)), WATER, (SPEED, 0.0)))
    advance(sim, 0.3, 0.01)
    assert water.x[:, 0].max() <= 0.4 and sim.impulses[0, 0] < 0
