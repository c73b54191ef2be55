"""Layers, sheets and stacks of many continua: they part without a trace and neither sink in nor float."""

from __future__ import annotations

import meeting_scenes as ms
import numpy as np
import pytest

import continua as ct
from continua.validation.continua_scenes import JELLY, OFFSETS, G, H, Slab

SAND = ct.materials.DruckerPrager(friction_angle=40)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("layer, thickness", [(JELLY, 4.0), (SAND, 2.0)])
def test_a_block_that_leaves_takes_nothing_along(offset, layer, thickness):
    assert ms.lift_ratio(Slab(offset=offset), layer, thickness) == 0


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("blocks, most", [(3, 0.1), (4, 0.3)])
def test_a_stack_stands(friction, blocks, most):
    """The lowest block is held; without friction a stack of lattices slips sideways in the end, so one second only."""
    sim = ms.layers([(4 * k, 4 * k + 4) for k in range(blocks - 1)], friction=friction)
    assert np.abs(ms.drifts(sim, 1.0)).max() < most


def test_a_stack_stands_in_space():
    """Three blocks of 6 x 4 x 6 cells; slimmer ones sink a little more (5 cells: 0.13)."""
    sim = ct.Simulation(H, (0, -G, 0), push_out=None)
    sim.add(ct.colliders.Plane((0.0, 1.0, 0.0), (0.0, 1.5 * H, 0.0), mode="sticky"))
    for k in range(3):
        sim.add(ms.box((0.3, 4 * k + 0.4, 0.2), (6.3, 4 * k + 4.4, 6.2)), JELLY, continuum=str(k))
    for a, b in ("01", "12", "02"):
        sim.add(ct.Contact(a, b, friction=0.3))
    before = [b.x[:, 1].mean() for b in sim.bodies]
    ms.run(sim, 0.6)
    assert max(abs(b.x[:, 1].mean() - y) for b, y in zip(sim.bodies, before)) < 0.1 * H


def sheet_spacing(slack):
    sim = ms.layers([(0.5 * k, 0.5 * (k + 1)) for k in range(4)], slack=slack, friction=0.3)
    ms.run(sim, 0.5)
    return np.diff([b.x[:, 1].mean() for b in sim.bodies[1:]]) / H


def test_sheets_keep_their_distance():
    """Half a cell each; with slack they may overlap by a quarter."""
    assert np.abs(sheet_spacing(0.0) - 0.5).max() < 0.02
    assert sheet_spacing(0.25).min() > 0.2


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("slack, most", [(0.25, 0.35), (0.0, 0.05)])
def test_a_layer_does_not_pass_through_a_layer(offset, slack, most):
    """Two layers of half a cell that fly at each other at 0.5 m/s."""
    sim = ct.Simulation(H, (0.0, 0.0))
    for name, low, v in (("a", 0.0, 0.25), ("b", 0.7, -0.25)):
        sim.add(ms.box((0, low), (8, low + 0.5), offset), JELLY, velocity=(0, v), name=name, continuum=name)
    sim.add(ct.Contact("a", "b", slack=slack))
    a, b = sim.bodies
    least = np.inf
    while sim.time < 0.12:
        sim.step(0.12 - sim.time)
        least = min(least, (b.x[:, 1].mean() - a.x[:, 1].mean() - ms.A) / H)
    assert least > -most
    assert sim.contact_impulses["a_b"][1] < 0 and b.x[:, 1].mean() > a.x[:, 1].mean()


def test_steps_follow_the_approach_of_fast_sheets():
    """At most a fifth of a cell per step, so that they meet before they could pass each other."""
    soft, sim = ct.materials.FixedCorotated(1e4, 0.3, 1000.0), ct.Simulation(H, (0.0, 0.0))
    for name, low, v in (("a", 0.0, 3.0), ("b", 3.0, -3.0)):
        sim.add(ms.box((0, low), (8, low + 0.5)), soft, velocity=(0, v), name=name, continuum=name)
    sim.add(ct.Contact("a", "b", slack=0.0))
    below, above = sim.bodies
    nearest = np.inf
    assert sim.step() <= 0.2 * H / 6.0 and str(sim.bound) == "contact of thin a and b"
    while sim.time < 0.1:
        sim.step(0.1 - sim.time)
        nearest = min(nearest, above.x[:, 1].mean() - below.x[:, 1].mean())
    assert (
        nearest > 0.25 * H
    )  # of 0.5 H between their middles where they touch, at a pressure of half their stiffness


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_pile_of_sand_does_not_sink_into_jelly(friction):
    slab = Slab(length=24, behind=8, friction=friction, offset=OFFSETS[1])
    sim = slab.simulation()
    sand = slab.add(sim, ms.box((0, 0.1), (6, 6.1), slab.offset), ct.materials.DruckerPrager())
    jelly = sim.bodies[0]
    top = jelly.fields()["x"][:, 1]
    row = top > top.max() - 0.5 * ms.A
    deepest = 0.0
    for k in range(700):
        sim.step()
        if k % 10 == 0:
            surface = jelly.fields()["x"][row]
            order = np.argsort(surface[:, 0])
            over = (sand.x[:, 0] > surface[:, 0].min()) & (sand.x[:, 0] < surface[:, 0].max())
            ground = np.interp(sand.x[over, 0], surface[order, 0], surface[order, 1])
            deepest = min(deepest, float((sand.x[over, 1] - ground).min() - ms.A) / H)
    assert deepest > -0.35
