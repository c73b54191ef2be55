"""Linear solves of incompressible flow that miss their tolerance: steps are repeated, or the run ends in a sentence."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from water import WATER, G, box, dam, room, world

import continua as ct
from continua.errors import InstabilityError, SetupError
from continua.flow.pressure import PoissonSystem
from continua.integrators import IncompressibleFlow
from continua.materials import IncompressibleFluid


def tar(viscosity: float = 1e6, **options) -> ct.Simulation:
    """A block slumps on a sticky floor."""
    sim = world(2, **options)
    sim.add(ct.colliders.Plane((0, 1), mode="sticky"))
    sim.add(box((0, 0), (0.6, 0.8)), IncompressibleFluid(1000.0, viscosity), sampling="jittered")
    return sim


def failure(sim: ct.Simulation) -> str:
    with pytest.raises(InstabilityError) as caught:
        sim.step()
    assert sim.steps == 0 and sim.time == 0.0
    return str(caught.value)


def test_a_pressure_without_iterations_left_is_a_sentence() -> None:
    said = failure(dam(settings={"max_iterations": 1, "tolerance": 1e-12})[0])
    assert "the pressure of step 1 from t = 0 s did not converge" in said
    assert "1 of 1 iterations left an outflow from a cell of 0." in said
    assert "raise max_iterations, or raise tolerance" in said
    assert "(now max_iterations = 1, tolerance = 1e-12)" in said


@pytest.mark.parametrize(("precision", "tolerance"), [("double", 1e-17), ("single", 1e-8)])
def test_a_tolerance_below_rounding_does_not_pass_for_a_solution(precision: str, tolerance: float) -> None:
    """The solve runs in double precision and stops by itself; the flow that comes out of it is what counts."""
    said = failure(dam(precision=precision, settings={"tolerance": tolerance})[0])
    assert "rounding allows no less: raise tolerance" in said and "of 200 iterations" in said


def test_iterations_that_just_suffice_are_enough() -> None:
    """The residual decides, not the count."""
    sim, _ = dam()
    sim.step()
    needed = int(sim.steppers["main"].report["pressure_iterations"])
    exact, _ = dam(settings={"max_iterations": needed})
    exact.step()
    assert exact.steppers["main"].report["pressure_iterations"] == needed and exact.dt == sim.dt


def test_a_viscous_solve_without_iterations_left_is_a_sentence() -> None:
    said = failure(tar(settings={"max_iterations": 1, "tolerance": 0.9}))
    assert "the viscosity of step 1" in said and "10 of 10 iterations left a residual of 0.0" in said
    assert "raise max_iterations, or raise viscous_tolerance" in said
    assert "rounding allows no less: raise viscous_tolerance" in failure(
        tar(settings={"viscous_tolerance": 1e-18})
    )
    patient = tar()
    patient.step()
    assert 0 < patient.steppers["main"].report["viscous_residual"] <= 1e-6


def test_a_shorter_step_helps_where_viscosity_takes_too_many_iterations() -> None:
    sim = tar(1e4, settings={"max_iterations": 3})
    sim.step()
    assert sim.bound.name == "solver: viscous" and sim.steppers["main"].report["viscous_residual"] <= 1e-6
    patient = tar(1e4)
    patient.step()
    assert sim.dt <= 0.5 * patient.dt


def test_what_walls_press_out_of_enclosed_water_is_no_failed_solve() -> None:
    """A full room that shrinks: no flow without divergence exists, and it is reported."""
    sim = world(2, gravity=(0, 0))
    sim.add(room((0, 0), (1, 1)))
    sim.add(ct.colliders.Plane((1, 0), motion=ct.motions.Linear((0.1, 0.0))))
    sim.add(box((0, 0), (1, 1)), WATER)
    sim.step(0.01)
    report = sim.steppers["main"].report
    assert report["divergence"] > 0.05 and report["pressure_residual"] <= 1e-5 and not report["unconverged"]


def stalling(monkeypatch: pytest.MonkeyPatch, part: float) -> None:
    """Solves of the volume control, which are those with a loose tolerance, end with this part of their source."""
    solve, spread = PoissonSystem.solve, IncompressibleFlow._spread

    def stalled(self, rhs, phi, **options):
        found = solve(self, rhs, phi, **options)
        return dataclasses.replace(found, residual=part * float(np.abs(rhs).max()))

    def stall(self, system, *rest):
        system.solve = stalled.__get__(system)
        return spread(self, system, *rest)

    monkeypatch.setattr(IncompressibleFlow, "_spread", stall)


def test_volume_control_that_stalls_is_used_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, water = dam()
    usual.step()
    stalling(monkeypatch, 0.5)
    sim, same = dam()
    sim.step()
    assert sim.steppers["main"].report["volume_residual"] == pytest.approx(0.5)
    assert np.array_equal(same.x, water.x)


def test_volume_control_that_makes_it_worse_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    stalling(monkeypatch, 1.5)
    said = failure(dam()[0])
    assert (
        "the volume control of step 1" in said and "a part of the crowding of 1.5 of the largest one" in said
    )
    assert "set volume_control to 0" in said and "volume_control = 0.5" in said


def test_a_body_of_another_fluid_is_named() -> None:
    """The world refuses it at once; a material that is exchanged later is refused by the next step."""
    sim = world(2)
    sim.add(box((0, 0), (1, 1)), WATER, name="water")
    oil = sim.add(box((1, 0), (2, 1)), WATER, name="oil")
    sim.step()
    oil.material = IncompressibleFluid(900.0)
    with pytest.raises(SetupError, match='body "oil" has another density or viscosity than body "water"'):
        sim.step()


def test_walls_feel_the_density_of_the_fluid() -> None:
    pushes = []
    for density in (1000.0, 2000.0):
        sim = world(2)
        sim.add(room((0, 0), (1, 1)))
        sim.add(box((0, 0), (1, 0.5)), IncompressibleFluid(density))
        sim.step(0.01)
        pushes.append(sim.impulses[0, 1] / (0.01 * G * 0.5 * density))
    assert pushes == pytest.approx([1.0, 1.0], rel=0.02)
