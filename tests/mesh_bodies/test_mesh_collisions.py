"""Mesh bodies that meet each other or themselves (O4, O5; J15 figures A.4 and A.9)."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import FRAME, Array, jelly, norm_m, world

import continua as ct
from continua.continuum import rules
from continua.errors import InstabilityError, SetupError
from continua.integrators import Optimization, mesh_problem
from continua.integrators.mesh_collisions import collision_of
from continua.mesh import SelfCollision
from continua.optimize import StepEnergy

RADIUS = 0.5


def two_balls(
    size: float = 0.18, speed: float = 5.0, collisions: str = "others", **settings: object
) -> ct.Simulation:
    """Balls in free flight that meet a little off their middles."""
    sim = world((0.0, 0.0, 0.0), FRAME, **settings)
    for side in (-1, 1):
        ball = ct.shapes.Sphere((0.55 * side, 0.01 * side, 0.0), RADIUS)
        mesh = ct.meshes.ShapeMesh(ball, size)
        sim.add(
            ct.SolidBody(
                mesh, jelly(), velocity=(-speed * side, 0.0, 0.0), contact=ct.PenaltyContact(collisions)
            )
        )
    return sim


def box(
    sim: ct.Simulation, lower: tuple[float, ...], upper: tuple[float, ...], counts: tuple[int, ...], **options
) -> ct.SolidBody:
    E, pattern = options.pop("E", 1e5), options.pop("pattern", "alternating")
    mesh = ct.meshes.BoxMesh(lower, upper, counts, pattern)
    return sim.add(ct.SolidBody(mesh, jelly(E), **options))


def positions(sim: ct.Simulation) -> Array:
    return np.concatenate([body.x for body in sim.world.mesh_bodies])


def momentum(sim: ct.Simulation) -> Array:
    return sum((body.mass @ body.v for body in sim.world.mesh_bodies), np.zeros(sim.dimension))


def depth(sim: ct.Simulation) -> float:
    """Of the deepest point in another body [m]."""
    collision = sim.mesh_stepper.collision
    return float(collision.pairs(positions(sim)).depths.max(initial=0)) if collision else 0.0


def test_two_balls_rebound_at_a_step_per_frame() -> None:
    sim = two_balls(tolerance=1e-9)
    left, right = sim.world.mesh_bodies
    assert 250 < len(left) < 350
    start, deepest = momentum(sim), 0.0
    for _ in range(12):
        sim.step()
        deepest = max(deepest, depth(sim))
    assert np.isfinite(positions(sim)).all()
    scale = 5.0 * sum(body.mass.sum() for body in sim.world.mesh_bodies)
    np.testing.assert_allclose(momentum(sim), start, atol=1e-10 * scale)
    assert left.v[:, 0].mean() < -1 and right.v[:, 0].mean() > 1
    assert min(body.J.min() for body in sim.world.mesh_bodies) > 0
    assert 0.001 * RADIUS < deepest < 0.03 * RADIUS  # during the impact
    assert depth(sim) == 0.0


def test_without_collisions_they_pass_through_each_other() -> None:
    sim = two_balls(size=0.3, collisions="off")
    for _ in range(16):
        sim.step()
    assert sim.mesh_stepper.collision is None
    assert sim.world.mesh_bodies[0].x[:, 0].min() > sim.world.mesh_bodies[1].x[:, 0].max()


def step_bound(collisions_count: bool) -> float:
    """Largest excess over the bound of O4, relative to the energy at first, of boxes that start in each other."""
    sim = world((0.0, -9.81), FRAME)
    box(sim, (0.0, 0.0), (1.0, 1.0), (4, 4))
    box(sim, (0.1, 0.9), (1.1, 1.9), (3, 3), E=1e6)
    met = collision_of(sim.world.mesh_bodies)
    worst, scale = -np.inf, 0.0

    def potential() -> float:
        own = sum(b.energy.value(b.x) - float(b.mass @ (b.x @ sim.gravity)) for b in sim.world.mesh_bodies)
        return own + (met.value(positions(sim)) if collisions_count else 0.0)

    for _ in range(12):
        v, before = [body.v.copy() for body in sim.world.mesh_bodies], potential()
        kinetic = sum(norm_m(body, body.v) for body in sim.world.mesh_bodies) / 2
        sim.step()
        jump = sum(norm_m(body, body.v - old) for body, old in zip(sim.world.mesh_bodies, v)) / 2
        scale = scale or abs(before)
        worst = max(worst, (jump + potential() - kinetic - before) / scale)
    return worst


def test_o4_the_energy_of_collisions_is_part_of_the_step_bound() -> None:
    assert step_bound(collisions_count=True) <= 1e-12
    assert step_bound(collisions_count=False) > 1e-3


def test_the_energy_of_collisions_is_elastic_energy() -> None:
    sim = world((0.0, 0.0), FRAME)
    box(sim, (0.0, 0.0), (1.0, 1.0), (4, 4))
    box(sim, (0.1, 0.9), (1.1, 1.9), (3, 3), E=1e6)
    sim.step(1e-6)
    own = sum(body.energy.value(body.x) for body in sim.world.mesh_bodies)
    assert sim.mesh_stepper.collision is not None
    met = sim.mesh_stepper.collision.value(positions(sim))
    assert met > 0 and sim.diagnostics()["elastic"] == pytest.approx(own + met, rel=1e-12)


def tower(size: float, **settings: object) -> ct.Simulation:
    """Three boxes of unlike meshes on a floor; all speeds, stiffnesses and times scale with their size [m]."""
    sim = world((0.0, -9.81), FRAME * np.sqrt(size))
    sim.add(ct.colliders.Plane((0, 1)))
    for floor, (width, count) in enumerate(((1.0, 3), (0.8, 2), (0.6, 3))):
        lower, upper = (-width / 2 * size, 0.5 * floor * size), (width / 2 * size, 0.5 * (floor + 1) * size)
        box(
            sim,
            lower,
            upper,
            (count, 2),
            E=1e6 * size,
            pattern="crossed",
            contact=ct.PenaltyContact(**settings),
        )
    for _ in range(30):
        sim.step()
    return sim


@pytest.mark.parametrize("size", [1.0, 1e-2])
def test_a_stack_of_boxes_rests(size: float) -> None:
    """Metres or centimetres: as deep in each other as their weight says, and nowhere else than at first."""
    sim = tower(size)
    pairs = sim.mesh_stepper.collision.pairs(positions(sim))
    ends = np.cumsum([len(body) for body in sim.world.mesh_bodies])
    lift = -np.add.reduceat(pairs.gradient()[:, 1], [0, *ends[:-1]])
    weight = np.array([9.81 * body.mass.sum() for body in sim.world.mesh_bodies])
    assert lift[2] == pytest.approx(weight[2], rel=1e-3)
    assert lift[1] + lift[2] == pytest.approx(weight[1] + weight[2], rel=1e-3)
    assert pairs.depths.max() / size == pytest.approx(2.40e-3, rel=5e-3)
    assert (
        max(abs(float(body.mass @ body.x[:, 0] / body.mass.sum())) for body in sim.world.mesh_bodies)
        < 1e-6 * size
    )
    assert max(body.max_speed for body in sim.world.mesh_bodies) < 1e-5 * np.sqrt(size)


def squeezed_torus(collisions: str) -> float:
    """Deepest place of a ring in itself over the radius of its tube, while two plates close its hole."""
    tube, half, end = 0.1, 0.4, 0.14
    sim = world((0.0, 0.0, 0.0), FRAME)
    ring = ct.meshes.ShapeMesh(ct.shapes.Torus((0.0, 0.0, 0.0), 0.3, tube), 0.09)
    torus = sim.add(ct.SolidBody(ring, jelly(), contact=ct.PenaltyContact(collisions)))
    assert len(torus) <= 600
    for side in (-1.0, 1.0):
        motion = ct.motions.Linear((-side * (half - end), 0.0, 0.0))
        sim.add(ct.colliders.Plane((-side, 0.0, 0.0), point=(side * half, 0.0, 0.0), motion=motion))
    look = SelfCollision(torus.rest, torus.cells, torus.surface, stiffness=1.0)
    deepest = 0.0
    for _ in range(24):
        sim.step()
        deepest = max(deepest, float(look.pairs(torus.x).depths.max(initial=0)))
    return deepest / tube


def test_a_torus_keeps_off_itself_if_asked_to() -> None:
    assert 0.01 < squeezed_torus("all") < 0.06  # two ways to fold, 0.046 and 0.0535: rounding decides
    assert squeezed_torus("others") > 0.5


def dropped_torus() -> tuple[ct.SolidBody, float]:
    """A ring thrown on its edge so hard that it folds up, and how many steps met a jump of the energy."""
    sim = world((0.0, -9.81, 0.0), FRAME / 5)
    mesh = ct.meshes.ShapeMesh(ct.shapes.Torus((0.0, 0.45, 0.0), 0.3, 0.1, (1.0, 0.0, 0.0)), 0.09)
    contact = ct.PenaltyContact("all")
    torus = sim.add(ct.SolidBody(mesh, jelly(2e4), velocity=(0.0, -5.0, 0.0), contact=contact))
    sim.add(ct.colliders.Plane((0, 1, 0)))
    jumps = 0.0
    for _ in range(30):
        sim.step()
        jumps += sim.diagnostics()["unconverged"]
    return torus, jumps


def test_steps_go_on_where_the_energy_of_a_body_in_itself_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    torus, jumps = dropped_torus()
    assert 1 < jumps < 15
    assert np.isfinite(torus.x).all() and torus.x[:, 1].min() >= 0
    assert torus.max_speed < 5
    monkeypatch.setattr(mesh_problem.MeshProblem, "_with_held_pairs", lambda self, x, report: (x, report))
    with pytest.raises(InstabilityError, match="stuck"):
        dropped_torus()


def test_pairs_that_are_held_stay_wherever_points_go() -> None:
    sim = world((0.0, 0.0), FRAME)
    box(sim, (0.0, 0.0), (1.0, 1.0), (3, 3))
    box(sim, (0.9, 0.1), (1.9, 1.1), (3, 3))
    collision, x = collision_of(sim.world.mesh_bodies), positions(sim)
    apart = x.copy()
    apart[len(sim.world.mesh_bodies[0]) :] += 3.0
    pairs = collision.pairs(x).nodes
    with collision.holding(x):
        assert np.array_equal(collision.pairs(apart).nodes, pairs)
    assert len(collision.pairs(apart)) == 0 < len(pairs)
    assert np.array_equal(collision.pairs(x).nodes, pairs)


def test_bodies_are_searched_only_where_other_energies_leave_a_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """J15 A.3.3"""
    searched, asked = [], []
    find, value = SelfCollision.find, StepEnergy.value
    monkeypatch.setattr(SelfCollision, "find", lambda self, x: searched.append(1) or find(self, x))
    monkeypatch.setattr(StepEnergy, "value", lambda self, x: asked.append(1) or value(self, x))

    def searches_per_energy() -> float:
        searched.clear()
        asked.clear()
        sim = two_balls(size=0.3, speed=10.0, positive=False)  # whose line searches start too far more often
        for _ in range(3):
            sim.step()
        return len(searched) / len(asked)

    assert searches_per_energy() < 0.9
    everywhere = lambda step, mass, terms, costly, _: StepEnergy(step, mass, [*terms, *costly])  # noqa: E731
    monkeypatch.setattr(mesh_problem, "StepEnergy", everywhere)
    assert searches_per_energy() > 0.95


def test_one_search_structure_serves_all_steps_and_springs_take_no_part() -> None:
    def run(chain: bool) -> ct.Simulation:
        sim = world((0.0, 0.0), FRAME, tolerance=1e-8)
        box(sim, (0.0, 0.0), (1.0, 1.0), (3, 3))
        if chain:
            points = [(0.2 * k, 0.5) for k in range(6)]
            sim.add(ct.SpringBody(ct.meshes.Chain(points, stiffness=1e3), mass=1.0))
        box(sim, (1.05, 0.3), (2.05, 1.3), (3, 3), velocity=(-3.0, 0.0))
        sim.step()
        collision = sim.mesh_stepper.collision
        for _ in range(5):
            sim.step()
        assert sim.mesh_stepper.collision is collision is not None
        return sim

    alone, among = run(chain=False), run(chain=True)
    assert alone.world.mesh_bodies[0].v[:, 0].mean() < -0.5
    for one, other in zip(alone.world.mesh_bodies, (among.world.mesh_bodies[0], among.world.mesh_bodies[2])):
        np.testing.assert_allclose(one.x, other.x, atol=1e-6)
    np.testing.assert_allclose(among.world.mesh_bodies[1].x, among.world.mesh_bodies[1].rest, atol=1e-15)


def test_what_cannot_meet_has_no_collision_energy() -> None:
    for collisions, wanted in (("off", False), ("others", False), ("all", True)):
        sim = world((0.0, 0.0), FRAME)
        box(sim, (0.0, 0.0), (1.0, 1.0), (2, 2), contact=ct.PenaltyContact(collisions))
        sim.step()
        assert (sim.mesh_stepper.collision is not None) == wanted


def test_the_stiffness_decides_how_deep_bodies_sink_in() -> None:
    """By weight / (3 k depth^2): a quarter of the depth for 16 times the stiffness."""
    depths = [depth(tower(1.0, stiffness=k)) for k in (1e6, 1.6e7)]
    assert depths[0] / depths[1] == pytest.approx(4, rel=0.05)


def test_work_is_counted_per_step_and_in_total() -> None:
    sim = two_balls(size=0.3)
    done = []
    for _ in range(4):
        sim.step()
        done.append(sim.diagnostics())
    for name in ("newton_iterations", "krylov_iterations", "line_search_evaluations"):
        assert done[-1][f"total_{name}"] == sum(row[name] for row in done) > 4


def test_settings_are_checked() -> None:
    for wrong in ({"collisions": "some"}, {"stiffness": 0.0}, {"friction": -0.1}):
        with pytest.raises(SetupError, match=next(iter(wrong))):
            ct.PenaltyContact(**wrong)


def test_old_settings_of_the_integrator_name_the_new_ones() -> None:
    for old, new in (
        ("collisions", "collisions"),
        ("penalty", "obstacle_stiffness"),
        ("friction", "friction"),
    ):
        with pytest.raises(SetupError, match=rf"{old} belongs to the mesh bodies now.*{new}=.*solid.contact"):
            Optimization(**{old: 0.5})


def test_one_body_keeps_off_itself_and_another_does_not_care() -> None:
    """Where bodies ask for different things each gets what it asked for."""
    sim = world((0.0, 0.0), FRAME)
    one = box(sim, (0.0, 0.0), (1.0, 1.0), (2, 2), contact=ct.PenaltyContact("all"))
    other = box(sim, (2.0, 0.0), (3.0, 1.0), (2, 2))
    collision = collision_of([one, other])
    assert collision is not None and collision.own_body
    x = np.concatenate([one.x, other.x])
    x[len(one) :, 0] -= 1.1  # other is in one, a tenth deep
    assert len(collision.find(x)) > 0


def test_friction_of_a_pair_is_that_of_its_contact_else_the_mean() -> None:
    sim = world((0.0, 0.0), FRAME)
    a, b = (
        box(
            sim, (2.0 * k, 0.0), (2.0 * k + 1, 1.0), (2, 2), name=name, contact=ct.PenaltyContact(friction=mu)
        )
        for k, (name, mu) in enumerate((("a", 0.2), ("b", 0.4)))
    )
    assert rules.mesh_friction(sim.world, a, b) == pytest.approx(0.3)
    sim.add(ct.Contact("a", "b", friction=0.9))
    assert rules.mesh_friction(sim.world, a, b) == rules.mesh_friction(sim.world, b, a) == 0.9
