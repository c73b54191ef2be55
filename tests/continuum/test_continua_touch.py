"""Continua that fly: apart they do not feel each other, they touch on time, and lose neither momentum nor energy."""

from __future__ import annotations

import meeting_scenes as ms
import numpy as np
import pytest

import continua as ct
from continua.materials import FixedCorotated
from continua.validation.continua_scenes import JELLY, OFFSETS, H, Slab, discs, mean_velocity, meet

SOFT = FixedCorotated(1000.0, 0.3, 1000.0)


@pytest.mark.parametrize("gap", [0.2, 0.3, 0.5])
def test_a_disc_spins_freely_above_a_block(gap):
    slab = Slab(gravity=0.0, friction=0.5, behind=8, length=16)
    sim = slab.simulation()
    turning = ct.velocities.Rigid((0.0, 0.0), 1.0, (0.0, (4 + gap) * H))
    slab.add(sim, slab.ball(4, gap), velocity=turning)
    before = sim.diagnostics()["angular_z"]
    for _ in range(200):
        sim.step()
    assert not sim.contact_impulses["a_b"].any()
    after = sim.diagnostics()["angular_z"]
    assert after == pytest.approx(before, rel=1e-12)


def flying(names, continua=("a", "b")):
    """Two spinning blocks that shear and squeeze as they go, far from each other in x."""
    sim = ct.Simulation(H, (0.1, -0.3), dt=2e-4)
    for name, x in zip("ab", (0.0, 11.0)):
        if name in names:
            velocity = ct.velocities.Affine((0.1, 0.2), ((0.0, 1.0), (0.5, 0.0)))
            continuum = continua["ab".index(name)]
            sim.add(ms.box((x, 0), (x + 6, 4)), JELLY, velocity=velocity, name=name, continuum=continuum)
    for _ in range(150):
        sim.step()
    return {body.name: body.fields() for body in sim.bodies}


def test_continua_apart_have_the_bits_of_being_alone():
    both = flying("ab")
    for name in "ab":
        alone = flying(name)[name]
        assert all(np.array_equal(both[name][key], alone[key]) for key in alone)


@pytest.mark.parametrize("h", [0.05, 0.025])
@pytest.mark.parametrize("offset", OFFSETS)
def test_discs_touch_on_time(h, offset):
    """Sulsky et al. 1994; at 1.58579 s."""
    found = meet(discs(h, SOFT, offset=offset[:2]))
    assert abs(found.early) < 0.25
    assert found.rise < 1e-12 and found.lost < 1e-12


def test_discs_touch_on_time_in_single_precision():
    """Positions are rounded to 6e-8 and 90 steps add up: momentum and energy to 1e-5, the time as in double."""
    found = meet(discs(0.05, SOFT, precision="single"))
    assert abs(found.early) < 0.25
    assert found.rise < 1e-5 and found.lost < 1e-5


@pytest.mark.parametrize("h", [0.05, 0.025])
def test_discs_bounce_as_in_one_field(h):
    """Restitution comes from the bodies; contact on nodes takes at most 0.08 of it."""
    one = meet(discs(h, SOFT, separate=False)).speed
    assert meet(discs(h, SOFT)).speed > one - 0.08


@pytest.mark.parametrize("h, one", [(0.05, 0.90), (0.025, 0.95)])
def test_blocks_bounce_head_on(h, one):
    """Without lateral strain a wave runs through each block and back, and takes all of its momentum along.

    `one` is what is left of the speed if both share a field that tears without resistance.
    """
    stuff, sim = FixedCorotated(1e5, 0.0, 1000.0), ct.Simulation(h, (0.0, 0.0))
    for name, s in (("a", -1), ("b", 1)):
        shape = ct.shapes.Box((s * (0.2 + 0.4 * h), 0.0), (0.4, 0.4))
        sim.add(shape, stuff, velocity=(-1.0 * s, 0), name=name, continuum=name)
    ms.run(sim, 0.2)
    assert -float(mean_velocity(sim.bodies[0])[0]) > one - 0.08


RATIOS = [(100.0, 1.0), (1.0, 1000.0), (100.0, 1000.0)]


@pytest.mark.parametrize("density, stiffness", RATIOS)
def test_unequal_bodies_collide_without_gaining_energy(density, stiffness):
    hard = FixedCorotated(1e3 * stiffness, 0.3, 1000 * density)
    found = meet(discs(0.05, SOFT, hard, start=1.55), 1.55, 0.3)
    heavy = 1 + density
    assert found.rise < 1e-12
    sim = discs(0.05, SOFT, hard, start=1.55, friction=0.3)
    size = sum((b.mass[:, None] * np.abs(b.v)).sum() for b in sim.bodies)
    first = sim.diagnostics()
    ms.run(sim, 0.3)
    last = sim.diagnostics()
    assert np.abs(sim.contact_impulses["a_b"]).max() > 1e-4 * size / heavy
    assert max(abs(last[k] - first[k]) for k in ("momentum_x", "momentum_y")) < 1e-11 * size
    assert max(np.abs(b.v).max() for b in sim.bodies) < 0.5  # no blow-up


def test_a_heavy_block_rests_on_a_light_one():
    """100 times as heavy: weight presses the light one by 0.08 cells there, not into it."""
    slab = Slab(offset=OFFSETS[1])
    sim = slab.simulation()
    light = FixedCorotated(1e6, 0.3, 100.0)
    under = sim.add(ms.box((-2, 0), (10, 4), slab.offset), light, name="light", continuum="c")
    body = slab.add(sim, ms.box((0, 4), (8, 8), slab.offset), FixedCorotated(1e6, 0.3, 1e4))
    gap = ms.FaceGap(under, body)
    ms.run(sim, 0.6)
    assert abs(gap()) < 0.15
