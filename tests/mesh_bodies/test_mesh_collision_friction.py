"""Friction between mesh bodies, inside the solve (O12)."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import FRAME, Array, jelly, world

import continua as ct
from continua.errors import InstabilityError
from continua.integrators import mesh_problem
from continua.optimize import StepEnergy

TILT = np.radians(30)
DOWN, INTO = 9.81 * np.sin(TILT), 9.81 * np.cos(TILT)  # gravity along and into a slope [m/s^2]


def slab_and_block(
    sim: ct.Simulation, contact: ct.PenaltyContact, **of_slab: object
) -> tuple[ct.SolidBody, ct.SolidBody]:
    """A long slab with its top at y = 0, and a block on it."""
    d = sim.dimension
    slab = ct.meshes.box_mesh((-1.0, -0.5, -1.0)[:d], (3.0, 0.0, 1.5)[:d], (8, 1, 5)[:d])
    block = ct.meshes.box_mesh((0.03, 0.0, 0.11)[:d], (0.53, 0.5, 0.61)[:d], (4, 4, 4)[:d])
    bodies = [
        ct.SolidBody(mesh, jelly(1e6), contact=contact, **options)
        for mesh, options in ((slab, of_slab), (block, {}))
    ]
    return sim.add(bodies[0]), sim.add(bodies[1])


def mean_velocity(body: ct.SolidBody) -> Array:
    return body.mass @ body.v / body.mass.sum()


def on_slope(friction: float, dt: float, d: int) -> tuple[float, float]:
    """A block on a slope that is a mesh body itself, in half a second after it has settled: the mean acceleration
    [m/s^2] and the drift of its base [m]."""
    sim = world((DOWN, -INTO, 0.0)[:d], dt)
    contact = ct.PenaltyContact(friction=friction)
    _, block = slab_and_block(sim, contact, scripted=ct.Scripted(lambda x: x[:, 0] < 9))
    base = block.rest[:, 1] == 0
    while sim.time < 0.5 - 1e-9:
        sim.step()
    before, x = mean_velocity(block)[0], block.x[base, 0].copy()
    while sim.time < 1.0 - 1e-9:
        sim.step()
    return float(mean_velocity(block)[0] - before) / 0.5, float(np.abs(block.x[base, 0] - x).max())


@pytest.mark.parametrize(("friction", "d"), [(0.1, 2), (0.3, 2), (0.5, 2), (0.3, 3)])
def test_o12_a_block_slides_on_a_slab_as_coulomb_says_at_a_step_per_frame(friction: float, d: int) -> None:
    coulomb = pytest.approx(DOWN - friction * INTO, rel=0.02)
    found, _ = on_slope(friction, FRAME, d)
    assert found == coulomb
    if d == 2:
        assert on_slope(friction, FRAME / 2, d)[0] == pytest.approx(found, rel=0.02)
        assert on_slope(0.0, FRAME, d)[0] == pytest.approx(DOWN, rel=1e-3) != coulomb


def test_every_solve_of_a_step_sees_the_collisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Friction changes from solve to solve, and with it how high the energy may be where collisions are left out."""

    def slides() -> None:
        sim = world((DOWN, -INTO), FRAME)
        contact = ct.PenaltyContact(friction=0.3)
        slab = ct.meshes.box_mesh((-1.0, -0.5), (6.0, 0.0), (8, 1))
        block = ct.meshes.box_mesh((0.03, 0.0), (0.53, 0.5), (4, 4))
        sim.add(ct.SolidBody(slab, jelly(1e6), contact=contact, scripted=ct.Scripted(lambda x: x[:, 0] < 9)))
        sim.add(ct.SolidBody(block, jelly(1e6), contact=contact))
        while sim.time < 0.5:
            sim.step()

    slides()
    monkeypatch.setattr(StepEnergy, "forget", lambda self: None)
    monkeypatch.setattr(StepEnergy, "_ceiling", float("inf"), raising=False)
    monkeypatch.setattr(StepEnergy, "_known", (np.zeros((0, 2)), float("nan")), raising=False)
    with pytest.raises(InstabilityError, match="did not converge"):
        slides()


@pytest.mark.parametrize("d", [2, 3])
def test_o12_a_block_sticks_to_a_slab_at_a_step_per_frame(d: int) -> None:
    assert on_slope(1.0, FRAME, d)[1] < 5e-4  # in half a second


def test_o12_friction_between_bodies_keeps_momentum_and_takes_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = world((0.0, 0.0), 1 / 96, tolerance=1e-9)
    slab, block = slab_and_block(sim, ct.PenaltyContact(friction=0.4), velocity=(2.0, 1.0))
    block.v -= [1.0, 2.0]
    seen = []
    result = mesh_problem.MeshProblem.result

    def watched(self, x, report):  # type: ignore[no-untyped-def]
        rubbing, v = self.rubbing, self.step.velocity(x)
        force = -rubbing.gradient(x)
        limit = sum(
            (group.limits - np.linalg.norm(group.forces(x), axis=1)).min(initial=0.0)
            for group in rubbing.groups
        )
        seen.append((np.einsum("na,na->", force, v), np.abs(force.sum(axis=0)).max(), limit))
        return result(self, x, report)

    monkeypatch.setattr(mesh_problem.MeshProblem, "result", watched)

    def momentum() -> Array:
        return slab.mass @ slab.v + block.mass @ block.v

    before = momentum()
    for _ in range(20):
        sim.step()
    power, gained, margin = np.array(seen).T
    assert power.max() <= 0 and power.min() < -100
    assert gained.max() < 1e-12 * 1000 and margin.min() >= -1e-9
    np.testing.assert_allclose(momentum(), before, atol=1e-6 * np.abs(before).max())
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
