"""The schemes that snowballs are thrown with, and what counts as stable. The case itself runs with all others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import continua as ct
from continua.validation import snowball_steps as snow
from continua.validation.snowball_steps import Impact


@pytest.fixture(autouse=True)
def one_thread():
    before = ct.threads()
    ct.set_threads(1)
    yield
    ct.set_threads(before)


def test_without_obstacles_the_printed_solve_is_ours() -> None:
    """They differ in contact only; before the ball arrives, and between two balls, they agree."""

    def end(scheme: str, scene: str) -> np.ndarray:
        sim = snow.world(scheme, scene, 200)
        for _ in range(10):
            sim.step()
        return sim.bodies[0].x

    assert end(snow.PRINTED, "two balls") == pytest.approx(end(snow.INSIDE, "two balls"), abs=1e-6)
    assert end(snow.PRINTED, "wall") != pytest.approx(end(snow.INSIDE, "wall"), abs=1e-3)


def test_the_printed_method_needs_short_steps_at_a_wall() -> None:
    """The ball should stick; with long steps it is thrown back, or sinks in."""
    ours = snow.throw(snow.MINIMISER, "wall", 500)
    assert ours.bounded and ours.fastest < 1.05 * snow.SPEED and ours.deepest < 0.5
    printed = snow.throw(snow.PRINTED_HALF, "wall", 500)
    assert not printed.bounded and printed.height > 2 * ours.height
    short = snow.throw(snow.PRINTED_HALF, "wall", 500, cfl=0.02, duration=0.1)
    assert short.bounded and short.agrees(snow.reference("wall", 500, 0.1))
    assert ours.mean_dt > 5 * short.mean_dt


def test_what_counts_as_stable() -> None:
    explicit = Impact(0.6, steps=[1.0], height=0.65)
    run = Impact(0.6, steps=[1.0, 2.0, 0.5, 0.5], fastest=11.0, gain=0.01, deepest=0.4, height=0.67)
    assert run.agrees(explicit) and run.mean_dt == 1.0 and run.min_dt == 1.0
    wrong = ({"fastest": 21.0}, {"fastest": np.nan}, {"gain": 0.03}, {"deepest": 1.6})
    assert not any(replace(run, **change).bounded for change in wrong)
    assert not any(replace(run, height=height).agrees(explicit) for height in (0.6, 0.7, np.nan))
