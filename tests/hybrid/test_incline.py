"""A block on a slope: it slides with g (sin a - mu cos a) or sticks, explicit and implicit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from solid_worlds import block, center, jelly, momentum

import continua as ct

DX, G = 0.05, 9.81
CASES = [(30.0, 0.2), (30.0, 0.4), (20.0, 0.1), (45.0, 0.5)]
INTEGRATORS = {"symplectic": None, "optimization": 1e-3}


def slope(
    angle: float,
    mu: float,
    integrator: str = "symplectic",
    *,
    d: int = 2,
    dt: float | None = None,
    **options: Any,
) -> tuple[ct.Simulation, ct.SolidBody]:
    """A block of 8 by 4 cells on a floor; gravity is inclined by the angle, and damping lets the block come to rest."""
    a = np.deg2rad(angle)
    gravity = G * np.array([np.sin(a), -np.cos(a), 0.0])[:d]
    sim = ct.Simulation(
        DX, gravity.tolist(), integrator=integrator, dt=dt or INTEGRATORS[integrator], **options
    )
    floor = np.eye(d)[1]
    sim.add(ct.colliders.Plane(floor.tolist(), (0.0,) * d, friction=mu))
    body = block(
        sim, 0.3 * DX * floor, (0.4, 0.2, 0.2)[:d], 1, material=jelly(1e5), contact=ct.GridContact(friction=mu),
        damping=1e-3,
    )  # fmt: skip
    return sim, body


def slide(
    sim: ct.Simulation, body: ct.SolidBody, begin: float = 0.3, end: float = 0.8
) -> tuple[float, float]:
    """Mean acceleration along the slope, and the ratio of tangential to normal impulse, between two times."""
    seen = []
    for t in (begin, end):
        while sim.time < t - 1e-12:
            sim.step(t - sim.time)
        seen.append((sim.time, momentum(body)[0] / body.mass.sum(), sim.impulses[0].copy()))
    (t0, v0, j0), (t1, v1, j1) = seen
    push = j1 - j0
    return float((v1 - v0) / (t1 - t0)), float(-push[0] / push[1])


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(("angle", "mu"), CASES)
def test_it_slides_as_coulomb_says(angle: float, mu: float, integrator: str) -> None:
    """Acceleration within 2 %, tangential over normal impulse mu within 1e-3; not those of another mu."""
    a = np.deg2rad(angle)
    found, ratio = slide(*slope(angle, mu, integrator))
    expected = G * (np.sin(a) - mu * np.cos(a))
    assert found == pytest.approx(expected, rel=0.02)
    assert ratio == pytest.approx(mu, abs=1e-3)
    assert G * (np.sin(a) - 1.1 * mu * np.cos(a)) != pytest.approx(found, rel=0.02)


def test_it_slides_in_3d() -> None:
    found, ratio = slide(*slope(30.0, 0.2, d=3), 0.2, 0.5)
    a = np.deg2rad(30.0)
    assert found == pytest.approx(G * (np.sin(a) - 0.2 * np.cos(a)), rel=0.02)
    assert ratio == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_it_sticks_where_friction_is_enough(integrator: str) -> None:
    """mu > tan a: in a second it drifts less than half a cell, less in shorter steps; what holds it is tan a."""
    drifts = []
    for dt in (2e-3, 1e-3) if integrator == "optimization" else (1.6e-3, 8e-4):
        sim, body = slope(20.0, 0.5, integrator, dt=dt)
        sim.run(0.7, fps=1)  # it lands and sways
        start, before = center(body)[0], sim.impulses[0].copy()
        sim.run(1.0, fps=1)
        drifts.append(abs(center(body)[0] - start) / DX)
        push = sim.impulses[0] - before
        assert -push[0] / push[1] == pytest.approx(np.tan(np.deg2rad(20.0)), rel=0.01)
    assert drifts[0] < 0.5 and drifts[1] <= drifts[0]
    free, moved = slope(20.0, 0.3, integrator)
    free.run(1.0, fps=1)
    assert (center(moved)[0] - 0.2) / DX > 0.5  # less friction than tan a does not hold it


def test_it_rests_on_the_floor_and_is_not_thrown_up() -> None:
    """Level: after a second it is within a cell over the floor and at rest, and the impulse is its weight."""
    sim, body = slope(0.0, 0.0)
    sim.run(1.0, fps=1)
    before = sim.impulses[0, 1]
    sim.run(0.5, fps=2)
    assert (sim.impulses[0, 1] - before) / 0.5 == pytest.approx(body.mass.sum() * G, rel=0.02)
    assert -0.1 * DX < body.x[:, 1].min() < DX
    assert abs(momentum(body)[1]) < 0.02 * body.mass.sum() * np.sqrt(G * DX)
