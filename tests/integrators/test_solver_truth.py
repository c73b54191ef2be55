"""What decides whether an implicit step is good: the residuals of its solves, not how long they ran."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.errors import InstabilityError
from continua.integrators import Optimization, SemiImplicit

JELLY = ct.materials.FixedCorotated(E=1e5, nu=0.3, density=1000.0)


def stiff_ball(integrator: object, dt: float | None = None, **options: object) -> ct.Simulation:
    """A jelly ball squeezed along x, whose first implicit step has something to do."""
    sim = ct.Simulation(0.05, (0.0, -9.81), integrator=integrator, dt=dt, **options)  # type: ignore[arg-type]
    body = sim.add(ct.shapes.Sphere((0.0, 0.3), 0.2), JELLY)
    body.F = np.diag([0.8, 1.1])
    return sim


def test_a_semi_implicit_solve_without_iterations_left_repeats_the_step_shorter() -> None:
    enough, few = stiff_ball(SemiImplicit()), stiff_ball(SemiImplicit(max_iterations=6))
    whole, part = enough.step(), few.step()
    assert not enough.bound.name.startswith("solver")
    assert part < whole and few.bound.name == "solver: max_iter"
    assert few.steppers["main"].report["unconverged"] == 0  # the step that was taken is good


def test_a_semi_implicit_solve_that_never_converges_ends_with_the_reason() -> None:
    sim = stiff_ball(SemiImplicit(max_iterations=1, tolerance=1e-14))
    with pytest.raises(InstabilityError, match=r"max_iter.*max_iterations = 1"):
        sim.step()
    assert sim.steps == 0


def test_particles_that_did_not_arrive_repeat_the_step_shorter() -> None:
    """x' = x + dt v(x') has no solution where the velocity falls by more than a cell per step over a cell, as between
    a ball and the region below it that moves the other way."""
    sim = ct.Simulation(0.05, (0.0, -9.81), integrator=Optimization())
    sim.add(ct.shapes.Box((0.0, 0.11), (0.2, 0.2)), ct.materials.Snow(), velocity=(1.0, -2.0))
    sim.add(ct.shapes.Box((0.23, 0.1), (0.2, 0.2)), JELLY, velocity=(-2.0, -1.0))
    sim.add(ct.shapes.Sphere((0.1, 0.32), 0.2 / 3), JELLY, velocity=(0.0, -5.0))
    sim.add(ct.colliders.Plane((0.0, 1.0), mode="sticky"))
    sim.add(ct.boundaries.FixedVelocity((0.28, 0.0), (0.4, 0.2), (None, 0.5)))
    found = set()
    for _ in range(40):
        sim.step()
        found.add(sim.bound.name)
        assert sim.steppers["main"].report["unconverged"] == 0
    assert "solver: positions" in found
