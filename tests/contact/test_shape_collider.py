"""Obstacles of any shape: exact where the core has a formula, else close to it, and obstacles like all others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import continua as ct
from continua.contact.colliders import Collider
from continua.errors import SetupError

both = pytest.mark.parametrize("d", [2, 3])
JELLY = ct.materials.FixedCorotated(1e4, 0.3, 1000.0)
RADIUS = 0.3


def around(low: float, high: float, d: int, count: int = 4000) -> NDArray:
    return np.random.default_rng(0).uniform(low, high, (count, d))


def test_shapes_with_a_formula_are_exact() -> None:
    for d in (2, 3):
        low, high = (0.1, 0.2, 0.3)[:d], (0.5, 0.4, 0.7)[:d]
        for shape, same in (
            (ct.shapes.Box(low, high), ct.colliders.Box(low, high, friction=0.3)),
            (ct.shapes.Sphere(low, 0.3), ct.colliders.Sphere(low, 0.3, friction=0.3)),
            (ct.shapes.Capsule(low, high, 0.3), ct.colliders.Capsule(low, high, 0.3, friction=0.3)),
        ):
            collider = ct.colliders.Shape(shape, friction=0.3)
            assert np.array_equal(collider.row(0.0), same.row(0.0))
            assert collider.samples is None and collider.thickness() == same.thickness()


@pytest.mark.parametrize("resolution", [32, 64])
def test_torus(resolution: int) -> None:
    """Linear interpolation in a cell of size h misses up to d h^2 / (8 R) where the smaller radius of bend is R."""
    shape = ct.shapes.Torus((0.1, 0.2, 0.0), 1.0, 0.4, (0.0, 1.0, 1.0))
    collider = ct.colliders.Shape(shape, resolution=resolution)
    h = collider.distance.spacing
    x = around(-1.5, 1.7, 3)
    phi, normal = collider.signed_distance(x)
    true = shape.signed_distance(x)
    near = np.abs(true) < 0.1
    assert near.sum() > 200
    assert np.abs(phi - true)[near].max() < 3 * h**2 / (8 * 0.3)
    slope = [shape.signed_distance(x + e) - shape.signed_distance(x - e) for e in 1e-6 * np.eye(3)]
    assert np.abs(normal - np.stack(slope, axis=1) / 2e-6)[near].max() < 2 * h / 0.3
    assert np.array_equal(phi < 0, true < 0) or np.abs(true[(phi < 0) != (true < 0)]).max() < h**2
    assert collider.thickness() == pytest.approx(0.8, rel=0.02)


@both
def test_turned_boxes(d: int) -> None:
    """Away from edges, where the distance is linear, nothing is lost."""
    axis = None if d == 2 else (1.0, 2.0, 3.0)
    shape = ct.shapes.Rotated(ct.shapes.Box((0.0,) * d, (1.0, 0.6, 0.8)[:d]), 30.0, axis)
    collider = ct.colliders.Shape(shape)
    x = around(-0.7, 0.7, d)
    x = x[shape.signed_distance(x) < collider.distance.spacing]
    phi, _ = collider.signed_distance(x)
    true = shape.signed_distance(x)
    assert len(x) > 500 and np.abs(phi - true).max() < 0.5 * collider.distance.spacing  # at edges
    assert np.median(np.abs(phi - true)) < 1e-12
    assert collider.thickness() == pytest.approx(0.6, rel=0.05)


@both
def test_union_difference_and_intersection(d: int) -> None:
    ball, cube = ct.shapes.Sphere((0.0,) * d, 0.5), ct.shapes.Box((0.4, 0.1, 0.0)[:d], (0.6, 0.5, 0.4)[:d])
    x = around(-0.8, 1.0, d)
    for shape in (ball | cube, ball - cube, ball & cube):
        collider = ct.colliders.Shape(shape)
        phi, _ = collider.signed_distance(x)
        bound = shape.signed_distance(x)
        clear = np.abs(bound) > collider.distance.spacing
        assert np.array_equal(phi[clear] < 0, bound[clear] < 0)
        assert (np.abs(phi) > np.abs(bound) - 0.5 * collider.distance.spacing).all()


def test_inverted_shapes_are_containers() -> None:
    shape = ct.shapes.Ellipsoid((0, 0), (1.0, 0.5))
    inside, outside = ct.colliders.Shape(shape, inverted=True), ct.colliders.Shape(shape)
    x = around(-1.2, 1.2, 2)
    (phi, normal), (other, opposite) = inside.signed_distance(x), outside.signed_distance(x)
    assert np.array_equal(phi, -other) and np.array_equal(normal, -opposite)
    assert inside.thickness() == np.inf and not inside.bounded and outside.bounded


def test_a_torus_that_turns() -> None:
    torus = ct.shapes.Torus((1.0, 0.0, 0.0), 0.5, 0.2, (0, 1, 0))
    spin = ct.motions.Spin(2.0, (0.0, 0.0, 0.0), (0, 0, 1))
    collider = ct.colliders.Shape(torus, motion=spin)
    t = 0.4
    turned = ct.shapes.Rotated(torus, np.degrees(2.0 * t), (0, 0, 1), (0, 0, 0))
    x = around(-1.0, 1.5, 3)
    assert (
        np.abs(collider.signed_distance(x, t)[0] - turned.signed_distance(x))[
            np.abs(turned.signed_distance(x)) < 0.1
        ].max()
        < 2e-3
    )


# ---- what it does to material -------------------------------------------------------------------------------------


def balls(d: int, **options: object) -> list[Collider]:
    """A ball that turns under a load: by its formula, and sampled as an ellipsoid."""
    center = (0.0,) * d
    spin = ct.motions.Spin(2.0, center, None if d == 2 else (0.0, 0.0, 1.0))
    options = {"friction": 0.3, "motion": spin, **options}
    round_one = ct.shapes.Ellipsoid(center, (RADIUS,) * d)
    return [ct.colliders.Sphere(center, RADIUS, **options), ct.colliders.Shape(round_one, **options)]


def after(sim: ct.Simulation, duration: float = 0.1, longest: float = np.inf) -> NDArray:
    while sim.time < duration - 1e-12:
        sim.step(min(longest, duration - sim.time))
    return sim.impulses.copy()


@both
@pytest.mark.parametrize("integrator", ["symplectic", "semi-implicit", "optimization"])
@pytest.mark.parametrize("mode", ["separate", "sticky"])
def test_particles_meet_a_sampled_ball_as_an_exact_one(d: int, integrator: str, mode: str) -> None:
    """The same steps for both, short enough that none is tried twice."""
    found = []
    for collider in balls(d, mode=mode):
        sim = ct.Simulation(0.05, (0, -9.81, 0)[:d], integrator=integrator)
        block = ct.shapes.Box((0.02, 0.42, 0)[:d], (0.3, 0.2, 0.2)[:d])
        body = sim.add(block, JELLY, velocity=(0, -1, 0)[:d])
        sim.add(collider)
        found.append((after(sim, longest=0.01), body.fields()["x"]))
    (exact, x), (sampled, y) = found
    assert np.linalg.norm(exact) > 1.0  # it was hit
    assert np.abs(sampled - exact).max() < 0.01 * np.linalg.norm(exact)
    apart = (
        np.abs(x - y).max(axis=1) / 0.05
    )  # [cells]; a corner of the block that slides on the ball may be off more
    assert np.quantile(apart, 0.98) < 0.05 and apart.max() < 0.1


@pytest.mark.parametrize(("d", "on_grid"), [(2, True), (3, True), (3, False)])
def test_meshes_meet_a_sampled_ball_as_an_exact_one(d: int, on_grid: bool) -> None:
    found = []
    for collider in balls(d):
        sim = ct.Simulation(0.05, (0, -9.81, 0)[:d], integrator="optimization")
        mesh = ct.meshes.BoxMesh((-0.13, 0.32, -0.1)[:d], (0.17, 0.52, 0.1)[:d], (6, 4, 4)[:d])
        body = sim.add(ct.SolidBody(mesh, JELLY, on_grid=on_grid, velocity=(0, -1, 0)[:d]))
        sim.add(collider)
        found.append((after(sim), body.x.copy()))
    (exact, x), (sampled, y) = found
    assert np.linalg.norm(exact) > 1.0
    # Off the grid the sampled one is a penalty, into which points sink.
    share, depth = (0.01, 0.05) if on_grid else (0.05, 0.15)
    assert np.abs(sampled - exact).max() < share * np.linalg.norm(exact)
    assert np.abs(x - y).max() < depth * 0.05


@both
def test_water_meets_a_sampled_ball_as_an_exact_one(d: int) -> None:
    found = []
    for collider in balls(d, friction=0.0):
        sim = ct.Simulation(0.05, (0, -9.81, 0)[:d], integrator="incompressible")
        block = ct.shapes.Box((0, 0.45, 0)[:d], (0.4, 0.25, 0.4)[:d])
        body = sim.add(block, ct.materials.IncompressibleFluid(1000.0), sampling="jittered")
        sim.add(collider)
        sim.add(ct.colliders.Box((0, 0.5, 0)[:d], (1, 2, 0.4)[:d], inverted=True))
        found.append((after(sim), body.fields()["x"]))
    (exact, x), (sampled, y) = found
    assert np.linalg.norm(exact[0]) > 1.0
    assert np.abs(sampled[0] - exact[0]).max() < 0.01 * np.linalg.norm(exact[0])
    assert np.abs(x - y).max() < 0.01 * 0.05


def test_a_ball_falls_through_the_hole_of_a_torus_and_stays_on_a_disc() -> None:
    """The hole is a hole: what is narrower passes."""
    torus = ct.shapes.Torus((0, 0, 0), 0.3, 0.1)
    heights = []
    for shape in (torus, torus | ct.shapes.Cylinder((0, -0.1, 0), (0, 0.1, 0), 0.3)):
        sim = ct.Simulation(0.05, (0, -9.81, 0))
        ball = sim.add(ct.shapes.Sphere((0, 0.25, 0), 0.08), JELLY, velocity=(0, -2, 0))
        sim.add(ct.colliders.Shape(shape, resolution=32))
        after(sim, 0.25)
        heights.append((float(ball.x[:, 1].min()), float(ball.x[:, 1].max())))
    assert heights[0][1] < -0.1 and heights[1][0] > 0.08


# ---- mistakes -----------------------------------------------------------------------------------------------------


def test_mistakes_give_one_sentence() -> None:
    sim = ct.Simulation(0.05, (0, -9.81))
    with pytest.raises(SetupError, match="2D"):
        sim.add(ct.colliders.Shape(ct.shapes.Torus((0, 0, 0), 1.0, 0.2)))
    with pytest.raises(SetupError, match="points have no inside"):
        ct.colliders.Shape(ct.shapes.Points([(0.0, 0.0)]))
    disc = ct.shapes.Sphere((0, 0), 1.0)
    with pytest.raises(SetupError, match="anything is left"):
        sim.add(ct.colliders.Shape(disc - ct.shapes.Sphere((0, 0), 2.0)))
    with pytest.raises(SetupError, match="resolution"):
        ct.colliders.Shape(disc, resolution=3)
    sim = ct.Simulation(0.05, (0, -9.81))
    with pytest.warns(UserWarning, match='collider "shape1" is'):
        sim.add(ct.colliders.Shape(ct.shapes.Ellipsoid((0, 0), (1.0, 0.02)), resolution=128))
