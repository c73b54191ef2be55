"""Weights as a table are those of the transfers."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.contact.boundaries import Periodic
from continua.transfers.weights import node_weights


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "cubic"])
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("periodic", [False, True])
def test_a_node_field_at_particles_is_the_same(kernel: str, d: int, periodic: bool) -> None:
    """To rounding, at random places, also across a border behind which the world repeats."""
    rng = np.random.default_rng(3)
    sim = ct.Simulation(0.25, (0.0,) * d, kernel=kernel)
    if periodic:
        sim.add(Periodic(axis=0, lower=0.0, upper=2.0))
    points = rng.uniform(0.01, 1.99, (60, d))
    body = sim.add(ct.SpringBody(ct.meshes.Chain(points), mass=1.0, on_grid=True))
    body.ready(sim.world.wrap, sim.dx, 0)
    field = sim.steppers["main"].field
    assert field.sort(sim.world.grid_bodies) is None
    exchange = field.exchanges[0][0]
    at, weight = node_weights(body.x, field.grid, field.degree)
    assert at.shape == weight.shape == (60, (field.degree + 1) ** d)
    assert weight.sum(axis=1) == pytest.approx(1.0, abs=1e-14) and weight.min() >= 0
    nodes = np.zeros(field.grid.node_shape())
    nodes[..., :d] = rng.standard_normal(nodes[..., :d].shape)
    found = np.einsum("pn,pnc->pc", weight, nodes.reshape(-1, 4)[at, :d])
    assert np.abs(found - exchange.values_at(nodes)).max() < 1e-13
    if periodic:
        cells = (body.x[:, 0] / sim.dx).astype(int)
        assert cells.min() == 0 and cells.max() == 7  # some reach over the border
