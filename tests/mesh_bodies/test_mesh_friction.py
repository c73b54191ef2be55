"""Friction of mesh bodies with obstacles, inside the solve (O12)."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import FRAME, Array, block, jelly, norm_m, world

import continua as ct
from continua.contact import mesh_friction
from continua.errors import InstabilityError
from continua.integrators import mesh_problem, mesh_rubbing

TILT = np.radians(30)
DOWN, INTO = 9.81 * np.sin(TILT), 9.81 * np.cos(TILT)  # gravity along and into a slope [m/s^2]
SETTLED = 0.5  # [s]; until then the block still swings, because its weight came all at once


def slope(friction: float, dt: float, d: int, **options: object) -> tuple[ct.Simulation, ct.SolidBody]:
    """A block of 1 m on a slope that is the plane y = 0."""
    sim = world((DOWN, -INTO, 0.0)[:d], dt)
    body = block(sim, cells=6 if d == 2 else 4, E=1e6, **options)
    sim.add(ct.colliders.Plane((0.0, 1.0, 0.0)[:d], friction=friction))
    return sim, body


def run(sim: ct.Simulation, duration: float) -> None:
    end = sim.time + duration
    while sim.time < end - 1e-9:
        sim.step()


def speed(body: ct.SolidBody) -> float:
    """Of the centre, down the slope [m/s]."""
    return float(body.mass @ body.v[:, 0] / body.mass.sum())


def gained_speed(friction: float, dt: float, d: int) -> float:
    """In one second [m/s]."""
    sim, body = slope(friction, dt, d)
    run(sim, SETTLED)
    before = speed(body)
    run(sim, 1.0)
    return speed(body) - before


def test_the_gate_of_sliding_sees_a_tenth_of_the_friction_missing() -> None:
    assert gained_speed(0.27, FRAME, 2) != pytest.approx(DOWN - 0.3 * INTO, rel=0.02)


@pytest.mark.parametrize("friction", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("d", [2, 3])
def test_o12_a_block_slides_as_coulomb_says_at_a_step_per_frame(d: int, friction: float) -> None:
    exact = pytest.approx(DOWN - friction * INTO, rel=0.02)
    found = gained_speed(friction, FRAME, d)
    assert found == exact
    if d == 2:
        assert gained_speed(friction, FRAME / 2, d) == pytest.approx(found, rel=0.02)


def drift(friction: float, dt: float, d: int, **options: object) -> float:
    """Of the base of a block in one second [m]."""
    sim, body = slope(friction, dt, d, **options)
    base = body.rest[:, 1] == 0
    run(sim, SETTLED)
    x = body.x[base, 0].copy()
    run(sim, 1.0)
    return float(np.abs(body.x[base, 0] - x).max())


@pytest.mark.parametrize("d", [2, 3])
def test_o12_a_block_sticks_at_a_step_per_frame(d: int) -> None:
    assert drift(1.0, FRAME, d) < 1e-3
    assert drift(0.5, FRAME, d) > 0.5


def test_what_sticks_creeps_by_less_the_shorter_the_step() -> None:
    """The slip speed is a thousandth of what normal forces could give the body in a step: here 1e-3 INTO dt."""
    coarse, fine = (drift(1.0, dt, 2, damping=0.05) for dt in (FRAME, FRAME / 4))
    assert fine < coarse < 1e-3 * INTO * FRAME


def braked() -> tuple[float, float]:
    """How far a fast block slides on a level floor [m], and how fast it is after two seconds [m/s]."""
    sim = world((0.0, -9.81))
    body = block(sim, cells=4, E=1e7, velocity=(8.0, 0.0))
    sim.add(ct.colliders.Plane((0, 1), friction=0.8))
    run(sim, 2.0)
    return float((body.x - body.rest)[:, 0].mean()), speed(body)


def test_a_fast_block_is_stopped_by_friction_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """After v^2 / 2 mu g, from a speed at which it crosses a third of its length per step; backward Euler, which
    moves by the speed at the end of a step, is v dt / 2 short of it."""
    exact = 8.0**2 / (2 * 0.8 * 9.81) - 8.0 * FRAME / 2
    way, last = braked()
    assert way == pytest.approx(exact, rel=0.02)
    assert abs(last) < 1e-3
    monkeypatch.setattr(mesh_rubbing.Rubbing, "acts", False)
    assert braked()[0] > 2 * exact


@pytest.mark.parametrize("scheme", ["backward-euler", "trapezoid", "bdf2"])
def test_o12_friction_takes_energy_and_is_limited_by_the_normal_force(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = world((0.0, -9.81, 0.0), FRAME, scheme=scheme)
    body = block(sim, height=0.05, cells=2, velocity=(3.0, -4.0, 1.0))
    sim.add(ct.colliders.Plane((0, 1, 0), friction=0.3, motion=ct.motions.Linear((0.0, 0.0, 0.5))))
    seen = []
    result = mesh_problem.MeshProblem.result

    def watched(self, x, report):  # type: ignore[no-untyped-def]
        moved = result(self, x, report)
        for group in self.rubbing.groups:
            some = group.nodes[:, 0]
            force = group.forces(x)
            slip = self.step.velocity(x)[some] - [0.0, 0.0, 0.5]
            work = np.einsum("ka,ka->k", force, slip)
            margin = group.limits - np.linalg.norm(force, axis=1)
            seen.append((work.max(initial=-np.inf), work.sum(), margin.min(initial=np.inf), len(some)))
        return moved

    monkeypatch.setattr(mesh_problem.MeshProblem, "result", watched)
    before = norm_m(body, body.v)
    for _ in range(24):
        sim.step()
    most, power, margin, touching = (np.array(column) for column in zip(*seen))
    assert touching.max() >= 9 and power.min() < -100
    assert most.max() <= 1e-9 * before
    assert margin.min() >= -1e-12 * before


def test_impulses_of_friction_are_what_the_body_loses() -> None:
    sim = world((0.0, -9.81, 0.0), FRAME, tolerance=1e-10)
    body = block(sim, height=0.05, cells=2, velocity=(3.0, -4.0, 1.0))
    sim.add(ct.colliders.Plane((0, 1, 0), friction=0.3))
    before = body.mass @ body.v
    run(sim, 0.5)
    given = sim.impulses.sum(axis=0)
    weight = body.mass.sum() * sim.gravity * sim.time
    np.testing.assert_allclose(body.mass @ body.v - before, given + weight, atol=1e-6 * body.mass.sum())
    assert given[0] < -0.25 * given[1] < 0


def turntable(friction: float) -> tuple[Array, Array]:
    """Centre of a block that turns with its table by half a turn, at first and at last."""
    sim = world((0.0, -9.81, 0.0))
    mesh = ct.meshes.box_mesh((0.3, 0.0, -0.2), (0.7, 0.4, 0.2), (2, 2, 2))
    rate = np.pi / 2

    def along(x: Array) -> Array:
        return rate * np.stack([x[:, 2], 0 * x[:, 0], -x[:, 0]], axis=1)

    body = sim.add(ct.SolidBody(mesh, jelly(1e6), velocity=along))
    spin = ct.motions.Spin(rate, (0, 0, 0), (0, 1, 0))
    sim.add(ct.colliders.Plane((0, 1, 0), friction=friction, motion=spin))
    first = body.mass @ body.x / body.mass.sum()
    run(sim, 2.0)
    return first, body.mass @ body.x / body.mass.sum()


def test_a_block_rides_on_a_turning_table_if_friction_suffices() -> None:
    """w^2 r = 1.23 m/s^2 needs a coefficient of 0.126."""
    first, last = turntable(1.0)
    np.testing.assert_allclose(last[[0, 2]], -first[[0, 2]], atol=5e-3)
    _, last = turntable(0.05)
    assert np.linalg.norm(last[[0, 2]]) > 1.0


def test_a_block_sticks_to_sampled_and_round_obstacles_too() -> None:
    """A shallow dome as a ball (exact) and as a union of shapes (sampled), 11 degrees steep under the block."""

    def moved(obstacle: ct.colliders.Collider) -> float:
        sim = world((0.0, -9.81))
        top = np.array([4.0 * np.sin(0.2), 4.0 * np.cos(0.2) - 4.0])
        turn = np.array([[np.cos(0.2), np.sin(0.2)], [-np.sin(0.2), np.cos(0.2)]])
        mesh = ct.meshes.box_mesh((-0.2, 0.0), (0.2, 0.3), (4, 3))
        placed = lambda x: x @ turn.T + top  # noqa: E731
        body = sim.add(ct.SolidBody(mesh, jelly(1e6), start=placed))
        sim.add(obstacle)
        run(sim, SETTLED)
        x = body.mass @ body.x[:, 0]
        run(sim, 1.0)
        return float(abs(body.mass @ body.x[:, 0] - x) / body.mass.sum())

    ball = ct.shapes.Sphere((0.0, -4.0), 4.0)
    for friction, stays in ((0.5, True), (0.1, False)):
        exact = moved(ct.colliders.Sphere((0.0, -4.0), 4.0, friction=friction))
        sampled = moved(ct.colliders.Shape(ct.shapes.Union([ball, ball]), friction=friction))
        assert (exact < 1e-3) == (sampled < 1e-3) == stays


def first_steps_of_an_impact(count: int) -> int:
    """Newton iterations of a soft torus of 5 m/s that meets the ground with many vertices at once."""
    sim = world((0.0, -9.81, 0.0), 1 / 120)
    torus = ct.shapes.Torus((0.0, 0.75, 0.0), 0.5, 0.22, axis=(0.0, 0.12, 1.0))
    mesh = ct.meshes.ShapeMesh(torus, 0.12)
    soft = ct.materials.FixedCorotated(E=1e5, nu=0.4, density=1000.0)
    sim.add(ct.SolidBody(mesh, soft, velocity=(0.0, -5.0, 0.0), contact=ct.PenaltyContact("all")))
    sim.add(ct.colliders.Plane((0.0, 1.0, 0.0), friction=0.5))
    for _ in range(count):
        sim.step()
    return int(sim.diagnostics()["total_newton_iterations"])


def test_an_impact_with_many_sliding_points_converges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without stiffness along the way that contacts slide, the third step stops for good after 600 iterations."""
    assert first_steps_of_an_impact(3) <= 150
    monkeypatch.setattr(mesh_friction, "CAUTION", 0.0)
    with pytest.raises(InstabilityError, match="did not converge"):
        first_steps_of_an_impact(3)
