"""What does not fit together is an error of one sentence that says what to change; an overlap is a warning."""

from __future__ import annotations

import re
import warnings

import meeting_scenes as ms
import numpy as np
import pytest

import continua as ct
from continua.errors import SetupError
from continua.validation.continua_scenes import JELLY, H


class OwnLaw(ct.materials.PythonMaterial):
    """Dust: no stress at all."""

    E, nu, density = 1e5, 0.3, 1000.0

    def energy(self, F, state):
        return np.zeros(len(F))

    def stress(self, F, state):
        return np.zeros_like(F)


def two(gap=0.1, **options):
    sim = ct.Simulation(H, (0.0, -9.81), **options)
    sim.add(ms.box((0, 0), (4, 4)), JELLY, name="low", continuum="a")
    sim.add(ms.box((0, 4 + gap), (4, 8 + gap)), JELLY, name="high", continuum="b")
    return sim


def says(*words):
    """One sentence with all of these words."""
    return pytest.raises(SetupError, match=re.compile(".*".join(map(re.escape, words)), re.S))


def test_names_are_checked_once_continua_are_declared():
    sim = ct.Simulation(H, (0.0, -9.81))
    sim.add(ms.box((0, 0), (4, 4)), JELLY, continuum="anything")
    sim.add(ct.Continuum("rock"))
    sim.add(ms.box((9, 0), (13, 4)), JELLY, continuum="rock")
    sim.add(ms.box((18, 0), (22, 4)), JELLY)
    with says('no continuum "rocks"', "rock", 'ct.Continuum("rocks")'):
        sim.add(ms.box((27, 0), (31, 4)), JELLY, continuum="rocks")
    sim.step()
    assert set(sim.steppers) == {"anything", "rock", "main"}
    with says('"late"', "before the first step"):
        sim.add(ct.Continuum("late"))


def test_a_continuum_is_declared_once():
    sim = two()
    with says('"a"', "already", "once"):
        sim.add(ct.Continuum("a"))


def test_contacts_are_between_two_different_things():
    with says('"a" and itself', "another continuum"):
        ct.Contact("a", "a")
    sim = two()
    sim.add(ms.box((9, 0), (13, 4)), JELLY, name="third", continuum="b")
    sim.add(ct.Contact("high", "third"))
    with says('"high" shares the continuum "b"'):
        sim.step()


def test_contacts_name_what_there_is():
    sim = two()
    sim.add(ct.Contact("a", "sand"))
    with says('names "sand"', "no such", "low"):
        sim.step()


def test_contacts_are_given_once():
    sim = two()
    sim.add(ct.Contact("a", "b", friction=0.1))
    with says('"b" and "a" already'):
        sim.add(ct.Contact("b", "a", friction=0.2))


@pytest.mark.parametrize("wrong", [{"friction": -0.1}, {"slack": -1.0}, {"friction": np.nan}])
def test_numbers_of_contacts_are_checked(wrong):
    with pytest.raises(SetupError, match=f"Contact: {next(iter(wrong))}"):
        ct.Contact("a", "b", **wrong)


@pytest.mark.parametrize("name", ["b", "elsewhere"])
def test_a_body_cannot_change_its_continuum_during_a_run(name):
    sim = two()
    sim.step()
    sim.bodies[0].continuum = name
    with says('the body "low"', f'"{name}"'):
        sim.step()
    sim.bodies[0].continuum = "a"
    sim.step()


def test_a_body_can_change_its_continuum_before_the_first_step():
    sim = two()
    sim.bodies[0].continuum = "b"
    sim.step()
    other = two()
    other.bodies[0].continuum = "elsewhere"
    with says('the body "low"', '"elsewhere"', "there are: a, b"):
        other.step()


def test_python_materials_need_an_explicit_continuum():
    sim = ct.Simulation(H, (0.0, -9.81))
    sim.add(ct.Continuum("stiff", integrator="optimization"))
    with says("Python material", "another continuum"):
        sim.add(ms.box((0, 0), (4, 4)), OwnLaw(), continuum="stiff")
    sim.add(ms.box((0, 0), (4, 4)), OwnLaw())


@pytest.mark.parametrize("first", [True, False])
def test_incompressible_flow_meets_no_other_continuum(first):
    sim = ct.Simulation(H, (0.0, -9.81), kernel="linear")
    water, rock = ct.Continuum("water", integrator="incompressible"), ct.Continuum("rock")
    sim.add(water if first else rock)
    with says("incompressible", "one continuum"):
        sim.add(rock if first else water)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_bodies_that_overlap_at_the_start_are_reported(precision):
    sim = two(-1.5, precision=precision)
    with pytest.warns(
        UserWarning, match='continua "a" and "b" overlap at the start.*never pushes them apart'
    ):
        sim.step()
    assert len(sim.world.warnings) == 1
    sim.step()
    assert len(sim.world.warnings) == 1


def test_one_body_inside_another_is_reported():
    """There is no normal where both have the same shape: the contact would never act."""
    sim = two(-4.0)
    with pytest.warns(UserWarning, match="overlap"):
        sim.step()


@pytest.mark.parametrize("gap", [0.0, 0.3, -0.3])
def test_bodies_that_touch_are_not_reported(gap):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = two(gap)
        sim.step()
    assert not sim.world.warnings
