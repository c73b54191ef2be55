"""Wrong variants of the contact of continua, each of which fails a gate that the right one passes."""

from __future__ import annotations

import dataclasses

import meeting_scenes as ms
import numpy as np
import pytest

from continua.continuum import meeting
from continua.integrators.symplectic import SymplecticEuler
from continua.materials import DruckerPrager, FixedCorotated
from continua.validation.continua_scenes import JELLY, OFFSETS, Slab, discs, meet, roll_ratio, slide_error

SOFT = FixedCorotated(1000.0, 0.3, 1000.0)
SLOPE = Slab(length=28, slope=30, friction=0.2, offset=OFFSETS[1])
ROLL = Slab(length=22, slope=20, friction=0.5)


def spoil(monkeypatch, change=None, twist=0.0):
    """Contact in Python with changed normals and gaps (n, gap) -> (n, gap)."""
    parts = {"twist": twist} | ({"change": staticmethod(change)} if change else {})
    monkeypatch.setattr(meeting, "FieldContact", type("Spoilt", (ms.PythonContact,), parts))


def test_the_law_in_python_is_that_of_the_core(monkeypatch):
    right = meet(discs(0.05, SOFT, friction=0.3))
    spoil(monkeypatch)
    again = meet(discs(0.05, SOFT, friction=0.3))
    assert dataclasses.astuple(again)[0::3] == pytest.approx(dataclasses.astuple(right)[0::3], rel=1e-9)


# ---- one continuum -----------------------------------------------------------------------------------------------


def test_one_continuum_does_not_slide():
    assert slide_error(dataclasses.replace(SLOPE, separate=False)) < -0.1


def test_one_continuum_is_lifted():
    sand = DruckerPrager(friction_angle=40)
    assert ms.lift_ratio(Slab(separate=False), JELLY) > 0.1
    assert ms.lift_ratio(Slab(separate=False), sand, 2.0) > 0.1


# ---- criteria ----------------------------------------------------------------------------------------------------


def at_once(n, gap):
    return n, np.zeros_like(gap)


def test_by_approach_alone_discs_touch_too_early(monkeypatch):
    spoil(monkeypatch, at_once)
    assert meet(discs(0.05, SOFT, start=1.2), start=1.2).early > 1.0


def test_by_approach_alone_sliding_is_braked(monkeypatch):
    spoil(monkeypatch, at_once)
    assert slide_error(SLOPE) < -0.01  # with normals of each node alone: -0.3


def test_by_approach_alone_gliding_is_braked(monkeypatch):
    spoil(monkeypatch, at_once)
    assert ms.glide_loss(Slab(length=26, friction=0.5, gravity=0.0, turn=20), 0.5) > 0.05


def test_without_slack_the_steps_of_a_round_body_are_teeth():
    assert roll_ratio(dataclasses.replace(ROLL, slack=0.0), 4) < 0.75


def test_contact_before_forces_lets_blocks_sink(monkeypatch):
    """Forces added after the contact push the bodies into each other again in every step."""
    gap, _ = ms.static(Slab(offset=OFFSETS[1]))
    assert abs(gap) < 0.03

    def to_grid(self, step, result):
        with_forces(self, step, result)
        after, before = self.nodes, np.zeros_like(self.nodes)
        self.field.scatter(before, step.dt, momentum=True, stress=False)
        moving = before[..., 3] > 0
        before[moving, :3] /= before[moving, 3:]
        self.pushed, self.nodes = after[..., :3] - before[..., :3], before

    def meet(steppers, pairs, step, result):
        in_order(steppers, pairs, step, result)
        for stepper in steppers.values():
            stepper.nodes[..., :3] += stepper.pushed
        in_order(steppers, [], step, result)  # obstacles still come last

    with_forces, in_order = SymplecticEuler.to_grid, meeting._meet
    monkeypatch.setattr(SymplecticEuler, "to_grid", to_grid)
    monkeypatch.setattr(meeting, "_meet", meet)
    gap, _ = ms.static(Slab(offset=OFFSETS[1]))
    assert abs(gap) > 0.3


def test_mass_in_place_of_volume_makes_light_bodies_float(monkeypatch):
    """A block a hundredth as heavy as the slab under it: its fill would count for a hundredth."""
    light, slab = FixedCorotated(1e4, 0.3, 10.0), Slab(offset=OFFSETS[1])
    right, _ = ms.static(slab, light)

    def by_mass(self, nodes, friction=None):
        one = by_volume(self, nodes, friction)
        for some in one.sets:
            some.particles = dataclasses.replace(some.particles, volume=some.particles.mass / 1000)
        return one

    by_volume = SymplecticEuler.contact_field
    monkeypatch.setattr(SymplecticEuler, "contact_field", by_mass)
    wrong, _ = ms.static(slab, light)
    assert abs(right) < 0.03 and abs(wrong) > 0.1


# ---- normals -----------------------------------------------------------------------------------------------------


def test_reversed_normals_hold_what_leaves(monkeypatch):
    """The right one leaves exactly nothing."""
    spoil(monkeypatch, lambda n, gap: (-n, gap))
    assert ms.lift_ratio(Slab(), JELLY) > 0.01


def test_a_normal_for_each_side_loses_momentum(monkeypatch):
    """As when every body takes the gradient of its own volume."""
    spoil(monkeypatch, twist=np.radians(20))
    assert meet(discs(0.05, SOFT)).lost > 0.01
