"""What a step or a run is asked for must make sense; nothing has happened when it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import continua as ct
from continua.errors import SetupError, TimeStepError

NONSENSE = [-1, 0, 0.0, -1e-9, np.nan, -np.inf, "0.1", None, True, [0.1], 1j, np.array([0.1, 0.2])]


def world() -> ct.Simulation:
    sim = ct.Simulation(0.1, (0.0, -9.81))
    sim.add(ct.shapes.Box((0.0, 0.0), (0.4, 0.4)), ct.materials.Snow())
    return sim


@pytest.mark.parametrize("remaining", NONSENSE, ids=repr)
def test_a_step_takes_a_positive_time(remaining: Any) -> None:
    sim = world()
    with pytest.raises(SetupError, match="the time left for a step .* must be a (finite|positive) number"):
        sim.step(remaining)
    assert sim.time == sim.steps == 0


@pytest.mark.parametrize("remaining", [1e-3, np.float32(1e-3), 1, np.inf])
def test_what_is_one_is_taken(remaining: Any) -> None:
    sim = world()
    assert 0 < sim.step(remaining) <= remaining


def arguments(name: str, value: Any) -> dict[str, Any]:
    """Of a run that is good but for one of them."""
    return {name: value} if name == "frames" else {"duration": 0.01, name: value}


@pytest.mark.parametrize("value", [*NONSENSE, np.inf], ids=repr)
@pytest.mark.parametrize("name", ["duration", "fps", "frames", "checkpoint_interval"])
def test_a_run_takes_positive_numbers(name: str, value: Any) -> None:
    if value is None and name in ("duration", "frames"):
        return  # left out
    sim = world()
    with pytest.raises(SetupError, match=rf"{name}.* must be a (finite|positive|whole) number"):
        sim.run(**arguments(name, value))
    assert sim.time == sim.steps == 0


@pytest.mark.parametrize("name", ["frames", "checkpoint_interval"])
def test_frames_are_counted_in_whole_numbers(name: str) -> None:
    with pytest.raises(SetupError, match=f"{name} must be a whole number of at least 1, not 1.5"):
        world().run(**arguments(name, 1.5))


@pytest.mark.parametrize("what", ["speed", "wave_speed", "viscosity"])
def test_no_bound_is_lost_because_it_is_not_a_number(what: str) -> None:
    sim = world()
    sim.start()
    particles = sim.bodies[0].particle_sets()[0]
    particles.limits = replace(particles.limits, **{what: np.nan})
    with pytest.raises(TimeStepError, match=f'{what.replace("_", " ")} of body "body1" .* is not a number'):
        sim.choose_dt()
