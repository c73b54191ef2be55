"""Mesh bodies on colliders: no penetration, resting forces, curved and moving surfaces, modes (spec O10, 2.4)."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import FRAME, block, forces, jelly, world

import continua as ct
from continua.contact.mesh_contact import ContactSurface, MeshContact


@pytest.mark.parametrize("scheme", ["backward-euler", "trapezoid", "bdf2"])
def test_o10_a_cube_comes_to_rest_on_a_plane(scheme: str) -> None:
    """The floor carries the weight in the mean of two steps: under the trapezoid rule the speeds of points in contact
    change their sign in every step for ever, and the force with them, by some tens of per cent."""
    sim = world((0.0, -9.81, 0.0), scheme=scheme)
    body = block(sim, height=0.4, velocity=(0.0, -10.0, 0.0), damping=0.02, drag=2.0)
    floor = sim.add(ct.colliders.Plane((0, 1, 0)))
    iterations = []
    for _ in range(96):
        sim.step()
        assert floor.signed_distance(body.x)[0].min() >= -1e-12
        iterations.append(sim.diagnostics()["newton_iterations"])
    assert np.mean(iterations[:12]) < 12
    assert body.J.min() > 0
    np.testing.assert_allclose(forces(sim, 2)[0], [0, 9810, 0], rtol=1e-2, atol=1)


def test_o10_impulses_balance_weight_and_momentum() -> None:
    sim = world((0.0, -9.81, 0.0))
    body = block(sim, height=0.1, velocity=(1.0, -5.0, 0.0), cells=2)
    sim.add(ct.colliders.Plane((0, 1, 0), friction=0.4))
    for _ in range(12):
        sim.step()
    change = body.mass @ body.v - 1000 * np.array([1.0, -5.0, 0.0])
    np.testing.assert_allclose(sim.impulses[0] + 1000 * sim.gravity * sim.time, change, atol=1e-3 * 5000)
    assert sim.impulses[0, 0] < -100


def test_o10_a_body_that_flies_off_feels_no_force() -> None:
    sim = world()
    body = block(sim, velocity=(0.0, 3.0))
    sim.add(ct.colliders.Plane((0, 1)))
    sim.step()
    assert not sim.impulses.any()
    np.testing.assert_allclose(body.v, np.tile([0, 3 - 9.81 * FRAME], (16, 1)), atol=1e-9)


def test_o10_pushing_out_after_the_solve_inverts_elements() -> None:
    """The wrong way: solve without the floor, then move points out of it."""
    sims = world(), world()
    bodies = [block(sim, height=0.05, velocity=(0.0, -10.0), cells=4) for sim in sims]
    sims[0].add(ct.colliders.Plane((0, 1)))
    lowest = []
    for sim, body in zip(sims, bodies):
        worst = np.inf
        for _ in range(6):
            sim.step()
            if not sim.colliders:
                body.x[:, 1] = np.maximum(body.x[:, 1], 0)
            worst = min(worst, body.J.min())
        lowest.append(worst)
    assert lowest[0] > 0
    assert lowest[1] <= 0


CURVED = {
    "sphere": ct.colliders.Sphere((0.5, -0.8, 0.5), 0.8),
    "capsule": ct.colliders.Capsule((-1, -0.5, 0.5), (2, -0.5, 0.5), 0.5),
    "bowl": ct.colliders.Sphere((0.5, 1.0, 0.5), 1.2, inverted=True),
    "box": ct.colliders.Box((0.5, -0.5, 0.5), (0.7, 1.0, 0.7)),
    "room": ct.colliders.Box((0.5, 0.6, 0.5), (1.1, 1.3, 1.4), inverted=True),
}


@pytest.mark.parametrize("name", list(CURVED))
def test_o10_no_point_enters_any_analytic_collider(name: str) -> None:
    sim = world((2.0, -9.81, 0.0))
    body = block(sim, height=0.02, velocity=(1.0, -4.0, 0.3), cells=3)
    collider = sim.add(CURVED[name])
    iterations = 0.0
    for _ in range(18):
        sim.step()
        assert collider.signed_distance(body.x)[0].min() >= -1e-12
        iterations = max(iterations, sim.diagnostics()["newton_iterations"])
    assert sim.impulses.any()
    assert iterations < 60


@pytest.mark.parametrize("curvature", [True, False])
def test_newton_on_a_sphere_needs_its_curvature(curvature: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A soft body pressed hard on a small ball: near the solution the exact Hessian converges at once."""
    sim = world((0.0, -300.0, 0.0), tolerance=1e-10)
    block(sim, height=0.0, cells=3, E=1e6)
    sim.add(ct.colliders.Sphere((0.5, -0.6, 0.5), 0.6))
    if not curvature:
        monkeypatch.setattr(
            MeshContact, "reduce_product", lambda self, product, dx: self.reduce_gradient(product)
        )
    for _ in range(6):
        sim.step()
    sim.step()
    iterations = sim.diagnostics()["newton_iterations"]
    assert iterations < 8 if curvature else iterations >= 8


def test_second_derivatives_of_the_surfaces() -> None:
    """Gradient of the distance, moved along any direction."""
    rng = np.random.default_rng(0)
    motion = ct.motions.Spin(2.0, (0.2, 0.1, 0.0), (1.0, 2.0, 3.0))
    for collider in (
        ct.colliders.Sphere((0.5, -0.8, 0.5), 0.8, motion=motion),
        ct.colliders.Sphere((0.5, -0.8, 0.5), 2.8, inverted=True),
        ct.colliders.Capsule((-1, -0.5, 0.5), (1, -0.5, 0.7), 0.5, motion=motion),
    ):
        (surface,) = ContactSurface.of(collider, 0, 0.3)
        x, u = rng.uniform(-1, 2, (40, 3)), rng.standard_normal((40, 3))
        eps = 1e-6
        phi, n = surface.at(x)
        slope = (surface.at(x + eps * u)[1] - surface.at(x - eps * u)[1]) / (2 * eps)
        np.testing.assert_allclose(surface.bend(x, phi, n, u), slope, atol=1e-7)


def test_a_corner_of_a_room_holds_a_point_from_three_sides() -> None:
    sim = world((-20.0, -20.0, -20.0))
    body = block(sim, height=0.5, cells=2, drag=2.0)
    sim.add(ct.colliders.Box((1.0, 1.0, 1.0), (2.5, 2.5, 2.5), inverted=True))  # from -0.25 to 2.25
    for _ in range(96):
        sim.step()
    np.testing.assert_allclose(body.x.min(axis=0), -0.25, atol=1e-12)
    np.testing.assert_allclose(forces(sim)[0], 20_000 * np.ones(3), rtol=1e-2)


def test_a_moving_floor_lifts_a_block() -> None:
    sim = world()
    body = block(sim, cells=2, drag=1.0)
    motion = ct.motions.Linear((0.0, 0.5))
    floor = sim.add(ct.colliders.Plane((0, 1), motion=motion))
    for _ in range(24):
        sim.step()
        assert floor.signed_distance(body.x, sim.time)[0].min() >= -1e-12
    np.testing.assert_allclose(body.v[:, 1], 0.5, atol=0.02)
    assert forces(sim, 12)[0, 1] == pytest.approx(9810 + 500, rel=0.02)  # drag on 0.5 m/s


def test_modes_differ_in_whether_a_body_may_leave_or_slide() -> None:
    """Pulled up and sideways: separate lets go, slip only slides, sticky does neither."""
    moved = {}
    for mode in ("separate", "slip", "sticky"):
        sim = world((5.0, 9.81))
        body = block(sim, cells=2)
        sim.add(ct.colliders.Plane((0, 1), mode=mode))
        for _ in range(6):
            sim.step()
        base = body.rest[:, 1] == 0
        moved[mode] = np.abs((body.x - body.rest)[base]).max(axis=0)
        if mode != "separate":
            assert sim.impulses[0, 1] < 0  # it pulls
    assert (moved["separate"] > 0.1).all()
    assert moved["slip"][0] > 0.1 and moved["slip"][1] < 1e-12
    np.testing.assert_allclose(moved["sticky"], 0, atol=1e-12)


def test_sticky_points_turn_with_the_collider() -> None:
    sim = world((0.0, 0.0), dt=1e-2)
    body = block(sim, cells=2, E=1e6)
    spin = ct.motions.Spin(1.0, (0.5, 0.5))
    sim.add(ct.colliders.Sphere((0.5, 0.5), 0.1, mode="sticky", motion=spin))
    middle = np.flatnonzero((body.rest == 0.5).all(axis=1))
    assert len(middle) == 1
    sim.step()
    np.testing.assert_allclose(body.x[middle], 0.5, atol=1e-12)
    corner = ct.colliders.Sphere((0.0, 0.0), 0.1, mode="sticky", motion=spin)
    sim = world((0.0, 0.0), dt=1e-2)
    body = block(sim, cells=2, E=1e6)
    sim.add(corner)
    for _ in range(20):
        sim.step()
    c, s = np.cos(0.2), np.sin(0.2)
    np.testing.assert_allclose(body.x[0], 0.5 + np.array([-0.5 * c + 0.5 * s, -0.5 * s - 0.5 * c]), atol=1e-9)


def test_two_bodies_are_one_minimisation_but_do_not_disturb_each_other() -> None:
    both, alone = world(), world()
    for sim in (both, alone):
        sim.add(ct.colliders.Plane((0, 1)))
    first, single = (block(sim, height=0.1, velocity=(0.0, -3.0)) for sim in (both, alone))
    mesh = ct.meshes.box_mesh((3.0, 0.5), (4.0, 1.5), (2, 2))
    both.add(ct.SolidBody(mesh, jelly(1e6), name="other"))
    for _ in range(8):
        both.step()
        alone.step()
    np.testing.assert_allclose(first.x, single.x, atol=1e-5)
