"""Friction of mesh bodies, after the solve (spec O12)."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import block, norm_m, world

import continua as ct
from continua.contact import mesh_contact

TILT = np.radians(30)
DOWN, INTO = 9.81 * np.sin(TILT), 9.81 * np.cos(TILT)  # gravity along and into a slope [m/s^2]


def sliding(friction: float, dt: float) -> float:
    """Acceleration down the slope [m/s^2]."""
    sim = world((DOWN, -INTO), dt)
    body = block(sim, cells=2, E=1e6)
    sim.add(ct.colliders.Plane((0, 1), friction=friction))
    speeds = []
    for _ in range(round(0.3 / dt)):
        sim.step()
        speeds.append(float(body.mass @ body.v[:, 0]) / 1000)
    late = len(speeds) // 3
    return float(np.polyfit(dt * np.arange(late, len(speeds)), speeds[late:], 1)[0])


@pytest.mark.parametrize("dt", [1 / 24, 1e-2])
def test_o12_a_block_slides_down_as_coulomb_says(dt: float) -> None:
    assert sliding(0.3, dt) == pytest.approx(DOWN - 0.3 * INTO, rel=0.02)
    assert sliding(0.0, dt) == pytest.approx(DOWN, rel=1e-4)


def test_o12_a_sheet_on_the_slope_stops_in_one_step_if_friction_suffices() -> None:
    """All its points touch, so that nothing behind them pushes on."""
    for friction, stops in ((0.6, True), (0.5, False)):
        sim = world((DOWN, -INTO, 0.0), 1e-3)
        cloth = ct.meshes.Cloth((3, 3), (1.0, 1.0))
        sheet = sim.add(ct.SpringBody(cloth, density=0.5))
        sim.add(ct.colliders.Plane((0, 1, 0), friction=friction))
        sim.step()
        if stops:
            np.testing.assert_allclose(sheet.v, 0, atol=1e-12)
        else:
            np.testing.assert_allclose(sheet.v[:, 0], (DOWN - 0.5 * INTO) * 1e-3, rtol=1e-3)


def creeping(dt: float) -> float:
    """Speed of the base of a block that should stick [m/s]."""
    sim = world((DOWN, -INTO), dt)
    body = block(sim, cells=2, E=1e6, damping=0.05)
    sim.add(ct.colliders.Plane((0, 1), friction=1.0))
    base = body.rest[:, 1] == 0
    for _ in range(round(0.3 / dt)):
        sim.step()
    x = body.x[base, 0].copy()
    for _ in range(round(0.1 / dt)):
        sim.step()
    return float((body.x[base, 0] - x).mean()) / 0.1


def test_o12_a_block_that_sticks_creeps_only_by_what_a_step_leaves() -> None:
    """Explicit friction stops the points it acts on, not the mass behind them: a speed of the order g dt."""
    coarse, fine = creeping(4e-3), creeping(2e-3)
    assert coarse / fine == pytest.approx(2, rel=0.1)
    assert fine < 8 * DOWN * 2e-3


def test_o12_friction_takes_energy_and_is_limited_by_the_normal_force(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sim = world((0.0, -9.81, 0.0))
    body = block(sim, height=0.05, cells=2, velocity=(3.0, -4.0, 1.0))
    sim.add(ct.colliders.Plane((0, 1, 0), friction=0.3, motion=ct.motions.Linear((0.0, 0.0, 0.5))))
    seen = []

    def watched(v, x, mass, surface, some, impulse, friction):  # type: ignore[no-untyped-def]
        slip = v - surface.velocity(x)
        before = norm_m(body, slip)
        given = original(v, x, mass, surface, some, impulse, friction)
        after = norm_m(body, v - surface.velocity(x))
        normal, tangential = (np.linalg.norm(a, axis=1) for a in (impulse, given))
        seen.append((before - after, (0.3 * normal - tangential).min() if len(some) else 0.0, len(some)))
        return given

    from continua.integrators import mesh_step

    original = mesh_contact.rub
    monkeypatch.setattr(mesh_step, "rub", watched)
    for _ in range(24):
        sim.step()
    lost, margin, touching = (np.array(column) for column in zip(*seen))
    assert touching.max() >= 9
    assert lost.max() > 1
    assert lost.min() >= -1e-12
    assert margin.min() >= -1e-9
