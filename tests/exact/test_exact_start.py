"""Surfaces that pass through each other at the start are named, or moved apart if asked."""

from __future__ import annotations

import numpy as np
import pytest
from exact_worlds import Watched, block, momenta

import continua as ct
from continua.errors import SetupError


@pytest.mark.parametrize(("d", "kind"), [(2, "edges"), (3, "triangles")])
def test_bodies_and_facets_are_named(d: int, kind: str) -> None:
    sim = ct.Simulation(0.1, (0.0,) * d)
    block(sim, (0.0,) * d, 0.4, name="left")
    block(sim, (0.3,) * d, 0.4, name="right")
    with pytest.raises(
        SetupError, match=f'"left" and "right" pass through each other near.*their {kind} .*push_apart'
    ):
        sim.step()
    assert sim.steps == 0


def test_a_body_that_passes_through_itself_is_named() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    bar = block(sim, (0.0, 0.0), (4.0, 0.3), (16, 1), name="bar")
    angle = bar.rest[:, 0] / 4.0 * 2.2 * np.pi
    radius = 0.6 + bar.rest[:, 1]
    bar.x = np.stack([radius * np.sin(angle), -radius * np.cos(angle)], axis=1)
    with pytest.raises(SetupError, match='surface of "bar" passes through itself near'):
        sim.step()


@pytest.mark.parametrize("depth", [0.1, 5.0])
@pytest.mark.parametrize("late", [False, True])
def test_a_body_in_an_obstacle_is_named(depth: float, late: bool) -> None:
    """Also one that is added to a run."""
    sim = ct.Simulation(0.1, (0.0, 0.0))
    block(sim, (0.0, -depth), 0.4, name="low")
    if late:
        sim.step()
    sim.add(ct.colliders.Plane((0.0, 1.0), name="floor"))
    text = (
        '"low" starts inside of the collider "floor"'
        if depth > 0.4
        else '"low" and "floor" pass through each other'
    )
    with pytest.raises(SetupError, match=text):
        sim.step()


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("gravity", [0.0, -9.81])
def test_what_touches_at_the_start_may_stay(d: int, gravity: float) -> None:
    """A block exactly on a floor and another exactly on it: nobody should have to leave a gap."""
    sim = ct.Simulation(0.1, (0.0, gravity, 0.0)[:d], integrator="optimization", dt=2e-3)
    sim.add(ct.colliders.Plane((0.0, 1.0, 0.0)[:d]))
    low = block(sim, (0.0,) * d, 0.4, damping=1e-2)
    high = block(sim, (0.0, 0.4, 0.0)[:d], 0.4, damping=1e-2)
    for _ in range(20):
        sim.step()
    assert low.x[:, 1].min() > -1e-9
    assert abs((high.x - high.rest).max()) < 5e-3


def test_bodies_are_moved_apart_if_asked() -> None:
    """The lighter one further, and no more than they must; momentum is as it was."""
    sim = ct.Simulation(0.1, (0.0, 0.0, 0.0), dt=1e-3)
    contact = ct.ExactContact(push_apart=True)
    big = block(sim, (0.0, 0.0, 0.0), 0.6, 3, contact=contact, velocity=(1.0, 0.0, 0.0))
    small = block(sim, (0.5, 0.1, 0.1), 0.3, 2, contact=contact)
    before = [body.x.mean(axis=0) for body in (big, small)]
    start = momenta(sim)[0]
    Watched(sim).run(2)
    way = [np.linalg.norm(body.x.mean(axis=0) - old) for body, old in zip((big, small), before)]
    assert way[0] < 0.3 * way[1] < 0.1
    assert np.abs(momenta(sim)[0] - start).max() < 1e-9 * np.abs(start).max()


def test_bodies_that_scripts_hold_stay_where_they_are() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    contact = ct.ExactContact(push_apart=True)
    held = ct.Scripted(ct.shapes.Box((0.2, 0.2), (1.0, 1.0)))
    for low in (0.0, 0.3):
        block(sim, (low, low), 0.4, contact=contact, scripted=held)
    with pytest.raises(SetupError, match="cannot be moved apart"):
        sim.step()


def test_positions_that_are_set_later_are_looked_at_again() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    a = block(sim, (0.0, 0.0), 0.4, name="left")
    block(sim, (0.6, 0.0), 0.4, name="right")
    sim.step()
    a.x = a.x + (0.37, 0.13)
    with pytest.raises(SetupError, match='"left" and "right" pass through each other'):
        sim.step()
