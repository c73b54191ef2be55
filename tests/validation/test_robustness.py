"""The tools of the robustness cases are right: plain Newton is Newton's method, recovery is what it claims to be.

That the minimiser converges where plain Newton does not (O7, O8, O9) is measured by the cases themselves.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import continua as ct
from continua.bodies.shape_error import shape_error
from continua.errors import InstabilityError
from continua.integrators.mesh_step import MeshStepper
from continua.validation.convergence_map import STEPS, TOLERANCE, bar, convergence_map
from continua.validation.plain_newton import (
    FRAME,
    failed_steps,
    minimised_step,
    minimising,
    plain_step,
    struck_cube,
)
from continua.validation.recovery import POINT, RANDOM, ROWS, recover, recovered, rows, stretched

EASY = (1.2, 0.3)  # a pixel from which both methods converge


def test_plain_newton_and_the_minimiser_agree_where_both_converge() -> None:
    one, other = bar(EASY), bar(EASY)
    plain = plain_step(one, FRAME, tolerance=TOLERANCE)
    ours = minimised_step(minimising(other, TOLERANCE, FRAME))
    assert plain.converged and ours.converged
    assert np.abs(one.x - other.x).max() < 1e-7 and np.abs(one.v - other.v).max() < 1e-6
    assert np.abs(one.x - bar(EASY).x).max() > 0.1


def test_plain_newton_is_quadratic_near_the_solution() -> None:
    """An iteration squares the error, so that a tolerance ten orders smaller costs at most three."""
    loose, tight = (plain_step(bar(EASY), FRAME, tolerance=tol).iterations for tol in (1e2, 1e-8))
    assert 0 < tight - loose <= 3


def test_plain_newton_reports_failure_and_leaves_something_finite() -> None:
    body = bar(EASY)
    step = plain_step(body, FRAME, tolerance=1e-30, most=7)
    assert not step.converged and step.iterations == 7 and np.isfinite(body.x).all()


def test_scripted_ends_hold_in_both_methods() -> None:
    one, other = struck_cube(), struck_cube()
    plain_step(one, FRAME, tolerance=0.1)
    minimised_step(minimising(other, 0.1, FRAME))
    held, places = one.scripted_at(FRAME)
    assert len(held) == 50 and np.abs(places - one.rest[held]).max() > 0.05
    assert np.array_equal(one.x[held], places) and np.array_equal(other.x[held], places)
    assert np.abs(one.x - other.x).max() < 1e-4


@pytest.mark.parametrize("name", ["1 step per frame", "10 steps per frame"])
def test_the_map_of_the_minimiser_has_no_holes(name: str) -> None:
    """O8, few pixels: plain Newton fails somewhere at long steps and nowhere at short ones."""
    ours, plain = (convergence_map(STEPS[name], method, pixels=6) for method in ("minimiser", "plain Newton"))
    assert ours.converged == 1
    assert (plain.converged == 1) is (name == "10 steps per frame")
    assert ours.median <= 20 and plain.median <= 20


def test_shape_error_ignores_rigid_motion_and_nothing_else() -> None:
    cube = ROWS[0].cube()
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    cube.x = cube.rest @ turn.T + [3.0, -1.0, 2.0]
    assert shape_error(cube) < 1e-14 and recovered(cube)
    cube.x = cube.rest * [1.0, 1.0, -1.0]
    assert shape_error(cube) > 0.1 and not recovered(cube), "a mirror image is no cube"
    cube.x = 1.05 * cube.rest
    assert shape_error(cube) == pytest.approx(0.05 * math.sqrt(0.75)) and not recovered(cube)


def test_starts_are_as_hopeless_as_they_claim() -> None:
    random, point, long = (replace(ROWS[2], start=start).cube() for start in (RANDOM, POINT, stretched(1e3)))
    assert 0.3 < (random.J < 0).mean() < 0.7
    assert not np.ptp(point.x, axis=0).any() and not point.J.any()
    assert np.ptp(long.x, axis=0).tolist() == [1000, 1, 1]


def test_a_minimiser_that_never_converges_for_a_whole_frame_is_caught(monkeypatch) -> None:
    """A simulation takes the frame in two steps and nobody notices; the cases must."""
    advance = MeshStepper.advance

    def only_short(stepper, bodies, colliders, forces, dt, t, gravity):
        if dt > 0.9 * FRAME:
            raise InstabilityError("the step did not converge")
        return advance(stepper, bodies, colliders, forces, dt, t, gravity)

    monkeypatch.setattr(MeshStepper, "advance", only_short)
    halving = ct.Simulation(0.1, (0, 0, 0), integrator="optimization")
    halving.add(ROWS[6].cube())
    assert halving.step(FRAME) == FRAME / 2 and not halving.diagnostics()["unconverged"]
    assert not any(m.passed for row in ROWS for m in rows(row, recover(row)))
    assert failed_steps(1, "minimiser") == 24
    assert convergence_map(FRAME, "minimiser", pixels=3).converged == 0


def test_the_control_of_one_iteration_fails_at_every_length_of_the_step() -> None:
    assert failed_steps(5, "one iteration") > 60
    assert all(convergence_map(dt, "one iteration", pixels=3).converged < 0.2 for dt in STEPS.values())


def test_a_cube_that_needs_more_steps_has_not_recovered() -> None:
    """The soft cube cannot recover in two steps."""
    slow = recover(replace(ROWS[0], steps=1))
    assert slow.steps == math.inf and slow.iterations <= 42
