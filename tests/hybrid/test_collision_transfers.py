"""What collision particles give to the grid and read back: sums are kept; a rigid or affine motion meets nothing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from solid_worlds import block, jelly

import continua as ct
from continua import _core
from continua.bodies.body import Predicted
from continua.bodies.collision_surface import CollisionSurface
from continua.contact.collision_particles import CollisionParticles
from continua.contact.penalty import GridContact

Array = NDArray[np.float64]
both = pytest.mark.parametrize("d", [2, 3])


class Surface:
    """A block shaken out of shape, with its collision particles sorted on a grid."""

    def __init__(self, d: int) -> None:
        sim = ct.Simulation(0.1, (0.0,) * d)
        self.body = block(sim, np.full(d, 0.013), 0.7, 3, material=jelly())
        rng = np.random.default_rng(d)
        self.body.x = self.body.x + rng.uniform(-0.03, 0.03, self.body.x.shape)
        self.field = sim.steppers["solids"].field
        self.body.ready(sim.world.wrap, sim.dx, 0)
        assert self.field.sort([self.body]) is None
        self.exchange = self.field.exchanges[0][0]

    def nodes(self, v: Array, gradients: Array | None = None) -> Array:
        """Momenta and masses of nodes where vertices move with v."""
        free = self.body.free
        assert isinstance(free, CollisionSurface)
        free.contact = GridContact(affine=gradients is not None)
        if gradients is not None:
            self.body.surface_gradients = lambda v: gradients  # type: ignore[method-assign]
        free.give(Predicted(self.body.x, v, np.zeros(self.field.dimension)))
        nodes = np.zeros(self.field.grid.node_shape())
        self.field.scatter(nodes, 0.0, momentum=True, stress=False)
        return nodes

    def change(self, v: Array, gradients: Array | None = None) -> Array:
        """v_r = v_q** - v_q*."""
        nodes = self.nodes(v, gradients)
        _core.momentum_to_velocity(nodes, self.field.dimension, [0.0] * self.field.dimension)
        return self.exchange.values_at(nodes) - self.points.at(v)

    @property
    def points(self) -> CollisionParticles:
        assert isinstance(self.body.free, CollisionSurface)
        return self.body.free.points


@both
def test_mass_and_momentum_are_kept_and_the_change_sums_to_nothing(d: int) -> None:
    """sum m_i = sum m_q, sum m_i v_i = sum m_q v_q, and sum m_q v_r = 0, which is why pairs of bodies keep momentum."""
    one = Surface(d)
    v = np.random.default_rng(1).normal(size=one.body.x.shape)
    given = (one.points.mass[:, None] * one.points.at(v)).sum(axis=0)
    nodes = one.nodes(v).reshape(-1, 4)
    scale = float(one.points.mass.sum())
    assert abs(nodes[:, 3].sum() - scale) <= 1e-13 * scale
    assert np.abs(nodes[:, :d].sum(axis=0) - given).max() <= 1e-13 * scale
    change = one.change(v)
    assert np.abs((one.points.mass[:, None] * change).sum(axis=0)).max() <= 1e-13 * scale
    assert np.abs(change.mean(axis=0)).max() > 1e-6 and np.abs(change).max() > 0.1  # the masses matter


@both
def test_a_moving_body_reads_back_its_own_translation(d: int) -> None:
    one = Surface(d)
    v = np.tile(np.arange(1.0, d + 1), (len(one.body), 1))
    assert np.abs(one.change(v)).max() <= 1e-13 * d
    v[:, 0] += 0.1 * one.body.x[:, 1]  # a turn or a shear is smoothed
    assert np.abs(one.change(v)).max() > 1e-4


@both
def test_with_gradients_any_affine_motion_is_read_back(d: int) -> None:
    """v + C (x_i - x_q), C the gradient in the element behind the facet: v_r = 0 for v = A x + b."""
    one = Surface(d)
    one.body.contact = ct.GridContact(affine=True)
    A = np.random.default_rng(5).normal(size=(d, d))
    v = one.body.x @ A.T + 1.0
    gradients = one.body.surface_gradients(v)
    assert gradients is not None and np.abs(gradients - A).max() <= 1e-12
    assert np.abs(one.change(v, gradients)).max() <= 1e-12
    assert np.abs(one.change(v, gradients.transpose(0, 2, 1))).max() > 1e-3
    assert np.abs(one.change(v, 0 * gradients)).max() > 1e-3
