"""Friction between mesh bodies, after the solve (O12)."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import Array, jelly, world

import continua as ct
from continua.integrators import mesh_step

TILT = np.radians(30)
DOWN, INTO = 9.81 * np.sin(TILT), 9.81 * np.cos(TILT)  # gravity along and into a slope [m/s^2]


def slab_and_block(
    sim: ct.Simulation, contact: ct.PenaltyContact, **of_slab: object
) -> tuple[ct.SolidBody, ct.SolidBody]:
    """A long slab with its top at y = 0, and a block on it."""
    slab = ct.SolidBody(
        ct.meshes.BoxMesh((-1.0, -0.5), (2.0, 0.0), (6, 1)), jelly(1e6), contact=contact, **of_slab
    )
    block = ct.SolidBody(ct.meshes.BoxMesh((0.03, 0.0), (0.53, 0.5), (4, 4)), jelly(1e6), contact=contact)
    return sim.add(slab), sim.add(block)


def mean_velocity(body: ct.SolidBody) -> Array:
    return body.mass @ body.v / body.mass.sum()


def sliding(friction: float, dt: float) -> float:
    """Acceleration down a slope that is a mesh body itself [m/s^2]."""
    sim = world((DOWN, -INTO), dt)
    contact = ct.PenaltyContact(friction=friction)
    _, block = slab_and_block(sim, contact, scripted=ct.Scripted(lambda x: x[:, 0] < 9))
    speeds = []
    for _ in range(round(0.3 / dt)):
        sim.step()
        speeds.append(mean_velocity(block)[0])
    late = len(speeds) // 3
    return float(np.polyfit(dt * np.arange(late, len(speeds)), speeds[late:], 1)[0])


@pytest.mark.parametrize("dt", [1 / 96, 1 / 240])
def test_o12_a_block_slides_on_a_slab_as_coulomb_says(dt: float) -> None:
    coulomb = pytest.approx(DOWN - 0.3 * INTO, rel=0.05)
    assert sliding(0.3, dt) == coulomb
    assert sliding(0.0, dt) == pytest.approx(DOWN, rel=1e-3) != coulomb


def test_o12_friction_between_bodies_keeps_momentum_and_takes_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = world((0.0, 0.0), 1 / 96)
    slab, block = slab_and_block(sim, ct.PenaltyContact(friction=0.4), velocity=(2.0, 1.0))
    block.v -= [1.0, 2.0]
    seen = []

    def watched(v, x, mass, *others):  # type: ignore[no-untyped-def]
        before = v.copy()
        given = rub(v, x, mass, *others)
        lost = mass @ (before**2 - v**2).sum(axis=1) / 2
        seen.append(
            (lost, np.abs(mass @ (v - before)).max(), np.abs(mass[:, None] * (v - before) - given).max())
        )
        return given

    rub = mesh_step.rub_bodies
    monkeypatch.setattr(mesh_step, "rub_bodies", watched)
    for _ in range(20):
        sim.step()
    lost, gained, unaccounted = np.array(seen).T
    assert lost.min() >= 0 and lost.max() > 1
    assert gained.max() < 1e-13 * 1000 and unaccounted.max() < 1e-12
    assert mean_velocity(block)[0] > -0.5  # dragged along


def test_what_rubs_on_stuck_points_is_felt_by_what_they_stick_to() -> None:
    """A beam between two sticky walls, all but its middle stuck to them, and a block that slides on it."""
    sim = world((0.0, -9.81), 1 / 96, tolerance=1e-9)
    rough = ct.PenaltyContact(friction=0.5)
    beam = sim.add(
        ct.SolidBody(ct.meshes.BoxMesh((-1.0, -0.5), (1.0, 0.0), (2, 1)), jelly(1e6), contact=rough)
    )
    mesh = ct.meshes.BoxMesh((-0.9, 0.0), (-0.4, 0.5), (4, 4))
    block = sim.add(ct.SolidBody(mesh, jelly(1e6), velocity=(1.0, 0.0), contact=rough))
    for side in (-1.0, 1.0):
        sim.add(ct.colliders.Plane((-side, 0.0), point=(side, 0.0), mode="sticky"))

    def momentum() -> Array:
        return beam.mass @ beam.v + block.mass @ block.v

    before = momentum()
    for _ in range(10):
        sim.step()
    weight = (beam.mass.sum() + block.mass.sum()) * sim.gravity
    given = sim.impulses.sum(axis=0)[:2]
    np.testing.assert_allclose(momentum() - before, given + weight * sim.time, atol=1e-5)
    assert given[0] < -10.0
