"""Rigid bodies meet colliders at points of their surface by the laws of Signorini and Coulomb."""

from __future__ import annotations

import numpy as np
import pytest
from rigid_steps import run

import continua as ct
from continua import _core

G, DX, DT = 9.81, 0.05, 0.005
FLOOR = ct.colliders.Plane


def tilted(angle: float, d: int = 3) -> np.ndarray:
    """Gravity as seen from a plane at y = 0 with that slope, downhill along x."""
    return G * np.array([np.sin(angle), -np.cos(angle), 0.0])[:d]


def ball(d: int, **settings: object) -> ct.RigidBody:
    center = (0.0, 0.2, 0.0)[:d]
    return ct.RigidBody(ct.shapes.Sphere(center, 0.2), density=1000.0, **settings)  # type: ignore[arg-type]


def block(d: int, **settings: object) -> ct.RigidBody:
    center, size = (0.0, 0.1, 0.0)[:d], (0.6, 0.2, 0.4)[:d]
    return ct.RigidBody(ct.shapes.Box(center, size), density=1000.0, **settings)  # type: ignore[arg-type]


def floor(d: int, friction: float, **settings: object) -> ct.colliders.Plane:
    return FLOOR((0.0, 1.0, 0.0)[:d], friction=friction, **settings)  # type: ignore[arg-type]


# ---- inclines ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3])
def test_ball_rolls_down_an_incline(d: int) -> None:
    """a = g sin / (1 + k), k = 2/5 for a ball and 1/2 for a disc, where friction lets it roll."""
    angle, k = np.radians(25.0), 0.4 if d == 3 else 0.5
    body = ball(d)
    run(body, 0.5, DT, gravity=tilted(angle, d), obstacles=[floor(d, 0.5)])
    measured = body.velocity[0] / 0.5
    assert measured == pytest.approx(G * np.sin(angle) / (1 + k), rel=0.01)
    assert measured != pytest.approx(G * np.sin(angle), rel=0.01)  # what slides without friction
    assert -0.2 * body.spin[2] == pytest.approx(body.velocity[0], rel=1e-4)


@pytest.mark.parametrize("d", [2, 3])
def test_ball_slides_where_friction_is_small(d: int) -> None:
    angle, mu = np.radians(25.0), 0.05
    body = ball(d)
    run(body, 0.5, DT, gravity=tilted(angle, d), obstacles=[floor(d, mu)])
    measured = body.velocity[0] / 0.5
    assert measured == pytest.approx(G * (np.sin(angle) - mu * np.cos(angle)), rel=0.01)
    assert measured != pytest.approx(G * np.sin(angle) / (1.4 if d == 3 else 1.5), rel=0.01)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(("degrees", "mu"), [(30.0, 0.2), (30.0, 0.4), (20.0, 0.1)])
def test_block_slides(d: int, degrees: float, mu: float) -> None:
    angle = np.radians(degrees)
    body = block(d)
    given = run(body, 0.5, DT, gravity=tilted(angle, d), obstacles=[floor(d, mu)])
    measured = body.velocity[0] / 0.5
    assert measured == pytest.approx(G * (np.sin(angle) - mu * np.cos(angle)), rel=0.02)
    assert measured != pytest.approx(G * np.sin(angle), rel=0.02)
    assert -given[0, 0] / given[0, 1] == pytest.approx(mu, rel=1e-9)  # Coulomb, where it slides


@pytest.mark.parametrize("d", [2, 3])
def test_block_sticks_and_does_not_creep(d: int) -> None:
    angle, mu = np.radians(20.0), 1.05 * np.tan(np.radians(20.0))
    body = block(d)
    start = body.center
    run(body, 1.0, DT, gravity=tilted(angle, d), obstacles=[floor(d, mu)])
    assert np.abs(body.center - start).max() < 1e-6 * DX
    assert np.abs(body.rotation - np.eye(d)).max() < 1e-6
    slips = block(d)
    run(slips, 1.0, DT, gravity=tilted(angle, d), obstacles=[floor(d, 0.95 * np.tan(angle))])
    assert slips.center[0] > 1e-2 * DX


@pytest.mark.parametrize("d", [2, 3])
def test_resting_block_carries_its_weight(d: int) -> None:
    body = block(d)
    given = run(body, 0.5, DT, gravity=tilted(0.0, d), obstacles=[floor(d, 0.3)])
    assert given[0, 1] == pytest.approx(0.5 * G * body.motion.mass, rel=1e-9)
    assert np.abs(body.v).max() < 1e-12


# ---- impacts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_ball_bounces_with_its_restitution(restitution: float) -> None:
    body = ct.RigidBody(
        ct.shapes.Sphere((0, 0.5, 0), 0.2), density=1000.0, velocity=(0, -2.0, 0), restitution=restitution
    )
    run(body, 0.4, DT, obstacles=[floor(3, 0.0)])
    assert body.velocity[1] == pytest.approx(2.0 * restitution, abs=1e-9)


@pytest.mark.parametrize("restitution", [0.0, 0.7, 1.0])
def test_impacts_add_no_energy(restitution: float) -> None:
    """Bricks thrown at a floor and a wall, with friction, spinning: the total energy never rises."""
    generator = np.random.default_rng(7)
    walls = [floor(3, 0.6), FLOOR((1.0, 0.0, 0.0), (-0.5, 0, 0), friction=0.3)]
    for _ in range(4):
        body = ct.RigidBody(
            ct.shapes.Box((0, 0.4, 0), (0.3, 0.2, 0.1)),
            density=800.0,
            velocity=generator.normal(size=3) * 1.5,
            spin=generator.normal(size=3) * 8,
            restitution=restitution,
        )
        energies = []

        def watch(t: float, body: ct.RigidBody = body, energies: list[float] = energies) -> None:
            # symplectic Euler in free fall keeps E - m g v dt / 2
            drift = -0.5 * DT * G * body.velocity[1]
            energies.append(body.motion.kinetic(body.state) + body.motion.mass * (G * body.center[1] + drift))

        start = body.motion.kinetic(body.state) + body.motion.mass * G * (
            body.center[1] - 0.5 * DT * body.velocity[1]
        )
        run(body, 0.6, DT / 2, gravity=(0, -G, 0), obstacles=walls, watch=watch)
        assert np.diff([start, *energies]).max() < 2e-3 * start
        lowest = min(body.x[:, 1].min(), (body.x[:, 0] + 0.5).min())
        assert lowest > -1e-3 * DX


def test_thrown_block_comes_to_rest() -> None:
    body = ct.RigidBody(
        ct.shapes.Box((0, 0.5, 0), (0.3, 0.2, 0.2)), density=500.0, velocity=(0.5, 0, 0), spin=(1.0, 2.0, 3.0)
    )
    run(body, 3.0, DT, gravity=(0, -G, 0), obstacles=[floor(3, 0.5)])
    assert np.abs(body.v).max() < 1e-9
    assert body.x[:, 1].min() == pytest.approx(0.0, abs=1e-6)


# ---- obstacles of all kinds ----------------------------------------------------------------------------------


def test_ball_in_a_box_and_on_a_ball() -> None:
    room = ct.colliders.Box((0, 0, 0), (2, 2, 2), inverted=True)
    body = ct.RigidBody(ct.shapes.Sphere((0, 0, 0), 0.2), density=1.0, velocity=(1.0, 0.3, 0.0))
    run(body, 2.0, DT, gravity=(0, -G, 0), obstacles=[room])
    assert np.abs(body.center[:2]) == pytest.approx([0.8, 0.8], abs=1e-5)
    balanced = ct.RigidBody(ct.shapes.Sphere((0, 0.7, 0), 0.2), density=1.0)
    run(balanced, 0.3, DT, gravity=(0, -G, 0), obstacles=[ct.colliders.Sphere((0, 0, 0), 0.5, friction=1.0)])
    assert balanced.center[1] == pytest.approx(0.7, abs=1e-4)


def test_moving_colliders_carry_and_push() -> None:
    motion = ct.motions.Linear((0.5, 0.0, 0.0))
    body = block(3)
    run(body, 0.5, DT, gravity=(0, -G, 0), obstacles=[floor(3, 0.5, motion=motion)])
    assert body.velocity[0] == pytest.approx(0.5, rel=1e-9)
    wall = ct.colliders.Plane((1.0, 0, 0), (-0.4, 0, 0), motion=motion)
    pushed = block(3)
    given = run(pushed, 0.4, DT, obstacles=[wall])
    assert pushed.velocity[0] == pytest.approx(0.5, rel=1e-9)
    assert given[0, 0] == pytest.approx(0.5 * pushed.motion.mass, rel=1e-9)


def test_sticky_holds_and_slip_lets_slide() -> None:
    up = (0.0, 2.0, 0.0)
    held, sliding = block(3, velocity=(1.0, 0, 0)), block(3, velocity=(1.0, 0, 0))
    run(held, 0.2, DT, gravity=up, obstacles=[floor(3, 0.0, mode="sticky")])
    assert np.abs(held.v).max() < 1e-9
    run(sliding, 0.2, DT, gravity=up, obstacles=[floor(3, 0.0, mode="slip")])
    assert sliding.velocity == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
    free = block(3, velocity=(1.0, 0, 0))
    run(free, 0.2, DT, gravity=up, obstacles=[floor(3, 0.0)])
    assert free.velocity[1] == pytest.approx(0.4, rel=1e-9)


def test_axle_and_stop() -> None:
    """A bar on an axle falls onto a peg: it comes to rest on it, and the bearing and the peg share its weight."""
    axle = ct.Axle((0.0, 0.0), motor=None)
    body = ct.RigidBody(ct.shapes.Box((0.5, 0.0), (1.0, 0.1)), mass=3.0, axle=axle)
    peg = ct.colliders.Sphere((0.8, -0.1), 0.05, friction=0.5)
    given = run(body, 1.0, DT, gravity=(0, -G), obstacles=[peg], dx=0.1)
    assert np.abs(body.v).max() < 1e-9
    assert given[0, 1] + body.pull[1] == pytest.approx(3.0 * G, rel=1e-9)
    assert given[0, 1] == pytest.approx(3.0 * G * 0.5 / 0.8, rel=0.02)


def test_overlap_at_the_start_is_undone_without_energy() -> None:
    body = ct.RigidBody(ct.shapes.Box((0, 0.08, 0), (0.4, 0.2, 0.4)), density=1000.0)
    seen = []
    run(
        body, 0.5, DT, obstacles=[floor(3, 0.0)], watch=lambda t: seen.append(body.motion.kinetic(body.state))
    )
    assert body.x[:, 1].min() == pytest.approx(0.0, abs=1e-6)
    assert max(seen) < 1e-20


# ---- the solve -----------------------------------------------------------------------------------------------


def solve(
    W: np.ndarray, twist: np.ndarray, arms: np.ndarray, normals: np.ndarray, mu: float
) -> tuple[np.ndarray, np.ndarray]:
    n, after, impulses = len(arms), twist.copy(), np.zeros((len(arms), 3))
    _core.rigid_impulses(
        W,
        after,
        arms,
        normals,
        np.zeros((n, 3)),
        np.zeros(n),
        np.full(n, mu),
        np.zeros(n, bool),
        impulses,
        1e-13,
        5000,
    )
    return after, impulses


def bricks(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mobility of a brick, arms to some of its corners, and normals there."""
    half = generator.uniform(0.2, 1.0, size=3)
    Q = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    W = np.eye(6)
    W[3:, 3:] = np.linalg.inv(Q @ np.diag((half**2).sum() - half**2) @ Q.T / 3)
    count = int(generator.integers(1, 6))
    arms = generator.choice([-1, 1], size=(count, 3)) * half @ Q.T
    normals = generator.normal(size=(count, 3)) * 0.2 + [0, 1, 0]
    return W, arms, normals / np.linalg.norm(normals, axis=1, keepdims=True)


def violations(after: np.ndarray, J: np.ndarray, arms: np.ndarray, normals: np.ndarray, mu: float) -> float:
    """By how much velocities and impulses break the conditions of Signorini and Coulomb, all of them about one."""
    v = after[:3] + np.cross(after[3:], arms)
    vn, jn = (v * normals).sum(axis=1), (J * normals).sum(axis=1)
    vt, jt = v - vn[:, None] * normals, J - jn[:, None] * normals
    slide, rub = np.linalg.norm(vt, axis=1), np.linalg.norm(jt, axis=1)
    against = np.abs(
        (vt * jt).sum(axis=1) + slide * mu * jn
    )  # zero where friction is full and against the slide
    return float(max((-vn).max(), (-jn).max(), np.abs(vn * jn).max(), (rub - mu * jn).max(), against.max()))


def test_impulses_keep_the_conditions_of_contact() -> None:
    """At every point, and energy never rises; impulses for another friction coefficient do not keep them."""
    generator = np.random.default_rng(1)
    wrong = []
    for _ in range(100):
        W, arms, normals = bricks(generator)
        twist, mu = generator.normal(size=6), float(generator.uniform(0.1, 0.6))
        after, J = solve(W, twist, arms, normals, mu)
        assert violations(after, J, arms, normals, mu) < 1e-6
        M = np.linalg.inv(W)
        assert after @ M @ after <= twist @ M @ twist * (1 + 1e-12)
        wrong.append(violations(*solve(W, twist, arms, normals, 1.5 * mu), arms, normals, mu))
    assert np.median([one for one in wrong if one > 1e-12]) > 1e-3


@pytest.mark.parametrize(
    ("shape", "k"),
    [
        (ct.shapes.Cylinder((0, 0.2, -0.3), (0, 0.2, 0.3), 0.2), 0.5),
        (ct.shapes.Torus((0, 0.3, 0), 0.2, 0.1, axis=(0, 0, 1)), (0.2**2 + 0.75 * 0.1**2) / 0.3**2),
    ],
)
def test_round_shapes_roll_without_corners(shape: ct.shapes.Shape, k: float) -> None:
    """A roller and an upright ring, in long steps: facets that hit the ground would take a large part."""
    body = ct.RigidBody(shape, density=1000.0)
    run(body, 0.5, 0.01, gravity=tilted(np.radians(10.0)), obstacles=[floor(3, 0.5)])
    exact = G * np.sin(np.radians(10.0)) / (1 + k)
    assert body.velocity[0] / 0.5 == pytest.approx(exact, rel=0.02)
    faceted = ct.RigidBody(
        ct.shapes.Mesh(vertices=body.boundary.points, faces=body.boundary.facets), density=1000.0
    )
    run(faceted, 0.5, 0.01, gravity=tilted(np.radians(10.0)), obstacles=[floor(3, 0.5)])
    assert faceted.velocity[0] / 0.5 != pytest.approx(exact, rel=0.02)
