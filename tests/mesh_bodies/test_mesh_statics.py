"""Meshes on the grid at rest: the springs of a hanging chain carry what is below them."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct

COUNT, STIFFNESS, MASS, G = 9, 2000.0, 0.25, 9.81


def hanging(stiffness: float = STIFFNESS) -> tuple[ct.Simulation, ct.SpringBody]:
    """A chain that hangs from its first point, long after it has come to rest."""
    points = [(0.043, -0.1 * k) for k in range(COUNT)]
    sim = ct.Simulation(0.1, (0.0, -G), integrator=ct.integrators.Optimization(tolerance=1e-8))
    chain = ct.meshes.Chain(points, stiffness=stiffness)
    pin = ct.Scripted(np.array([0]))
    body = sim.add(ct.SpringBody(chain, mass=np.full(COUNT, MASS), scripted=pin, drag=8.0, on_grid=True))
    sim.run(3.0)
    return sim, body


def test_a_hanging_chain_is_stretched_by_the_weight_below() -> None:
    sim, body = hanging()
    stretch = np.linalg.norm(np.diff(body.x, axis=0), axis=1) - 0.1
    expected = MASS * G * np.arange(COUNT - 1, 0, -1) / STIFFNESS
    assert expected.max() < 0.1 * 0.1  # strains below 10 %
    assert stretch == pytest.approx(expected, rel=0.05)
    before, begin = body.pull.copy(), sim.time
    sim.run(frames=2)
    held = (body.pull - before)[1] / (sim.time - begin)
    assert held == pytest.approx(COUNT * MASS * G, rel=1e-3)


def test_a_softer_chain_is_noticed() -> None:
    _, body = hanging(STIFFNESS / 1.2)
    stretch = np.linalg.norm(np.diff(body.x, axis=0), axis=1) - 0.1
    assert stretch.sum() > 1.1 * MASS * G * np.arange(COUNT).sum() / STIFFNESS
