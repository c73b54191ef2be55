"""The tolerance of implicit steps on the grid: by the forces that act, in any units and any moving frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import continua as ct
from continua.integrators import Optimization


def pushed_block(
    *, metre: float = 1.0, kilogram: float = 1.0, second: float = 1.0, speed: float = 0.0, **settings: Any
) -> tuple[list[int], np.ndarray]:
    """A soft block that a tiny force per mass stretches, in given units: iterations per step, and displacements
    beside the flight."""
    sim = ct.Simulation(
        0.1 * metre,
        (0.0, 0.0),
        dt=0.02 * second,
        force_dt=True,
        integrator=Optimization(positions="explicit", **settings),
    )
    material = ct.materials.FixedCorotated(
        E=1e3 * kilogram / metre / second**2, density=1e3 * kilogram / metre**3
    )
    box = ct.shapes.Box((0.5 * metre, 0.5 * metre), (0.6 * metre, 0.6 * metre))
    body = sim.add(box, material, velocity=(speed * metre / second, 0.0))
    pull = 1e-6 * metre / second**2 * np.sign(body.x - 0.5 * metre)[np.argsort(body.ids)]
    sim.add(ct.BodyForce(lambda of, t: pull[of.ids]))
    iterations, start = [], body.x[np.argsort(body.ids)].copy()
    for _ in range(10):
        sim.step()
        iterations.append(sim.solves[-1].iterations)
    moved = (body.x[np.argsort(body.ids)] - start) / metre
    return iterations, moved - [speed * sim.time / second, 0.0]


def test_units_do_not_matter() -> None:
    iterations, x = pushed_block()
    for metre, kilogram, second in ((1e3, 1e3, 1e3), (1e-3, 1e-3, 1 / 3600)):
        others, y = pushed_block(metre=metre, kilogram=kilogram, second=second)
        assert others == iterations
        np.testing.assert_allclose(y, x, atol=1e-9 * np.abs(x).max())


def test_how_fast_a_body_flies_does_not_matter() -> None:
    """By a cell per step, so that it meets the grid alike; it is stretched by 1e-8 m."""
    (_, at_rest), (_, flying) = pushed_block(), pushed_block(speed=5.0)
    stretch = np.abs(at_rest).max()
    assert stretch > 1e-9
    np.testing.assert_allclose(flying, at_rest, atol=1e-3 * stretch)


def test_forces_left_over_may_be_given_in_newtons() -> None:
    assert max(pushed_block(absolute_tolerance=1e9)[0]) == 0
    assert min(pushed_block(absolute_tolerance=1e-12)[0]) >= 1
    with pytest.raises(ct.ContinuaError):
        pushed_block(absolute_tolerance=-1.0)
