"""Rigid bodies have the mass properties of their shapes, and move as Euler's equations say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rigid_steps import run
from scipy.special import ellipk

import continua as ct
from continua.bodies.rigid_motion import RigidState, turn
from continua.errors import GeometryError, SetupError
from continua.geometry.moments import moments_of
from continua.integrators.prediction import Explicit

G = 9.81
BRICK = ct.shapes.Box((0.1, 0.2, 0.3), (0.2, 0.4, 0.7))
TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACETS = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def brick(**settings: object) -> ct.RigidBody:
    return ct.RigidBody(BRICK, density=500.0, **settings)  # type: ignore[arg-type]


# ---- mass properties -----------------------------------------------------------------------------------------


def test_box_has_its_closed_form() -> None:
    a, b, c = BRICK.size
    mass = 500 * a * b * c
    body = brick()
    assert body.motion.mass == pytest.approx(mass, rel=1e-14)
    assert body.center == pytest.approx(BRICK.center, rel=1e-14)
    expected = mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    assert np.abs(body.motion.J - expected).max() < 1e-14 * expected.max()
    assert np.abs(body.motion.J - 2 * expected).max() > 0.1 * expected.max()


def test_tetrahedron_has_its_closed_form() -> None:
    """Volume 1/6, middle at the mean of the corners, and integrals of x^2 and x y of 1/60 and 1/120 about it."""
    moments = moments_of(TETRAHEDRON, FACETS)
    assert moments.volume == pytest.approx(1 / 6, rel=1e-14)
    assert moments.center == pytest.approx([0.25] * 3, rel=1e-14)
    about_corner = np.full((3, 3), 1 / 120) + np.eye(3) / 120
    assert np.abs(moments.second - (about_corner - np.full((3, 3), 1 / 96))).max() < 1e-16


def test_moments_do_not_depend_on_the_place() -> None:
    far = moments_of(TETRAHEDRON + [1e3, -2e3, 5e2], FACETS)
    assert np.abs(far.second - moments_of(TETRAHEDRON, FACETS).second).max() < 1e-12


def test_ball_comes_near_two_fifths() -> None:
    """Facets of length h cut off a part of the order (h/r)^2 of volume and inertia."""
    errors = []
    for size in (0.25, 0.125):
        body = ct.RigidBody(ct.shapes.Sphere((0, 0, 0), 1.0), density=1.0, size=size)
        errors.append(abs(body.motion.J[0, 0] / body.motion.mass - 0.4))
    assert errors[1] < 0.4 * 0.125**2
    assert 2.5 < errors[0] / errors[1] < 6


def test_disc_and_rectangle() -> None:
    disc = ct.RigidBody(ct.shapes.Sphere((1.0, 2.0), 0.5), mass=3.0)
    assert disc.motion.mass == pytest.approx(3, rel=1e-14)
    assert disc.motion.J[2, 2] == pytest.approx(3 * 0.25 / 2, rel=5e-3)
    plate = ct.RigidBody(ct.shapes.Box((0, 0), (0.3, 0.4)), mass=12.0)
    assert plate.motion.J[2, 2] == pytest.approx(0.25, rel=1e-14)


def test_all_ways_to_give_a_solid_agree(tmp_path: Path) -> None:
    import trimesh

    path = tmp_path / "box.stl"
    trimesh.creation.box(extents=BRICK.size).apply_translation(BRICK.center).export(path)
    lower, upper = BRICK.bounds()
    for shape in (
        ct.shapes.Mesh(path),
        ct.meshes.BoxMesh(lower, upper, (2, 3, 4)),
        ct.meshes.BoxMesh(lower, upper, (2, 3, 4)).build(),
    ):
        body = ct.RigidBody(shape, density=500.0)
        assert np.abs(body.motion.J - brick().motion.J).max() < 1e-6 * brick().motion.J.max()


# ---- mistakes ------------------------------------------------------------------------------------------------


def test_mistakes_are_told() -> None:
    open_mesh = ct.shapes.Mesh(vertices=TETRAHEDRON, faces=FACETS[:3])
    with pytest.raises(GeometryError, match="not closed"):
        ct.RigidBody(open_mesh, density=1.0)
    with pytest.raises(GeometryError, match="inside"):
        ct.RigidBody(3, density=1.0)  # type: ignore[arg-type]
    for settings, text in (
        ({}, "density or a mass"),
        ({"density": 1.0, "mass": 1.0}, "one of the two"),
        ({"density": 0.0}, "density"),
        ({"mass": -1.0}, "mass"),
        ({"mass": 1.0, "restitution": 1.5}, "restitution"),
        ({"mass": 1.0, "velocity": (1.0, 2.0)}, "3 numbers"),
        ({"mass": 1.0, "spin": 2.0}, "3 numbers"),
        ({"mass": 1.0, "axle": ct.Axle((0, 0))}, "2D axle"),
        ({"mass": 1.0, "axle": ct.Axle((0, 0, 0), (0, 0, 1)), "velocity": (1, 0, 0)}, "only turns"),
        ({"mass": 1.0, "spin": (0, 0, 1), "velocity": ct.velocities.Rigid((0, 0, 0), (0, 0, 1))}, "twice"),
    ):
        with pytest.raises(SetupError, match=text):
            ct.RigidBody(BRICK, **settings)  # type: ignore[arg-type]
    with pytest.raises(SetupError, match="direction"):
        ct.Axle((0, 0, 0))
    with pytest.raises(SetupError, match="torque"):
        ct.Motor(speed=1.0, torque=-2.0)
    with pytest.raises(SetupError, match="speed, a torque or both"):
        ct.Motor()


# ---- free motion ---------------------------------------------------------------------------------------------


def top(dt: float) -> tuple[float, float, np.ndarray]:
    """A free brick that spins near its middle axis, which is not stable, for 10 s: largest relative change of its
    angular momentum and of its energy, and the range of the spin about that axis."""
    body = brick(spin=(0.02, 3.0, 0.01))
    L, energy, seen = body.state.L.copy(), body.motion.kinetic(body.state), []

    def watch(t: float) -> None:
        L_now = np.abs(body.state.L - L).max() / np.linalg.norm(L)
        along = (body.state.R.T @ body.spin)[1]
        seen.append((L_now, abs(body.motion.kinetic(body.state) / energy - 1), along))

    run(body, 10.0, dt, watch=watch)
    drift = np.array(seen)
    return drift[:, 0].max(), drift[:, 1].max(), drift[:, 2]


def test_free_top_keeps_momentum_and_energy() -> None:
    momentum, energy, along = top(0.01)
    assert momentum < 1e-12
    assert energy < 1e-5
    assert along.min() < -2.5 < 2.5 < along.max()  # it has turned over: this is the hard case


def test_a_step_with_the_first_spin_would_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    from continua.bodies import rigid_motion

    def literal(self: rigid_motion.RigidMotion, state: RigidState, dt: float) -> RigidState:
        R = rigid_motion.orthonormal(turn(dt * self.spin(state)) @ state.R)
        return RigidState(state.X + dt * state.V, R, state.V, state.L)

    monkeypatch.setattr(rigid_motion.RigidMotion, "moved", literal)
    assert top(0.01)[1] > 1e-4


def test_rotations_are_rotations() -> None:
    generator = np.random.default_rng(3)
    for size in (0.0, 1e-12, 1e-6, 1.0, 3.0):
        R = turn(size * generator.normal(size=3))
        assert np.abs(R @ R.T - np.eye(3)).max() < 1e-14 and np.linalg.det(R) > 0
    assert np.abs(turn(np.array([0, 0, np.pi / 2])) @ [1, 0, 0] - [0, 1, 0]).max() < 1e-15


def test_falls_freely_in_2d_and_3d() -> None:
    for d, shape in ((2, ct.shapes.Box((0, 0), (1, 1))), (3, ct.shapes.Box((0, 0, 0), (1, 1, 1)))):
        body = ct.RigidBody(
            shape, mass=2.0, velocity=[1.0, 2.0, 0.0][:d], spin=3.0 if d == 2 else (0, 0, 3.0)
        )
        run(body, 0.5, 0.01, gravity=[0.0, -G, 0.0][:d], dx=0.5)
        assert body.velocity == pytest.approx([1.0, 2.0 - 0.5 * G, 0.0][:d], abs=1e-13)
        assert body.spin == pytest.approx([0, 0, 3], abs=1e-13)
        angle = np.arctan2(body.rotation[1, 0], body.rotation[0, 0])
        assert angle == pytest.approx(1.5, abs=1e-12)
        assert body.v == pytest.approx(body.velocity_at(body.x))


def test_body_forces_that_are_linear_give_the_true_force() -> None:
    """A spring field a = -k x acts at the middle of mass; it does not turn a cube."""
    body = brick()
    body.ready(lambda x: x, 0.05, 0)
    body.begin(0.0)
    body.accelerate(-0.01 * body.x)
    body.predict(0.0, 0.01, np.zeros(3), Explicit())
    assert pytest.approx(-0.01 * body.center, rel=1e-12) == body._predicted.V


# ---- axles ---------------------------------------------------------------------------------------------------


def pendulum(amplitude: float, *, steiner: bool = True) -> tuple[float, float]:
    """Period [s] of a bar that hangs on an axle, from zero crossings, and the one of the closed form."""
    length, distance = 1.0, 0.4
    axle = ct.Axle((0.0, 0.0, 0.0), (0, 0, 1))
    turned = ct.shapes.Rotated(
        ct.shapes.Box((0.0, -distance, 0.0), (0.1, length, 0.1)),
        angle=float(np.degrees(amplitude)),
        axis=(0, 0, 1),
        center=(0.0, 0.0, 0.0),
    )
    body = ct.RigidBody(turned, density=1000.0, axle=axle, size=0.05)
    times: list[float] = []
    before = [0.0, amplitude]

    def watch(t: float) -> None:
        angle = float(np.arctan2(body.center[0], -body.center[1]))
        if before[1] > 0 >= angle:
            times.append(before[0] + (t - before[0]) * before[1] / (before[1] - angle))
        before[:] = [t, angle]

    run(body, 6.0, 0.002, gravity=(0, -G, 0), dx=0.5, watch=watch)
    inertia = (0.01 + length**2) / 12 + (distance**2 if steiner else 0)
    omega = np.sqrt(G * distance / inertia)
    return float(np.mean(np.diff(times))), 4 / omega * float(ellipk(np.sin(amplitude / 2) ** 2))


@pytest.mark.parametrize("amplitude", [0.05, 1.5])
def test_pendulum_has_its_period(amplitude: float) -> None:
    measured, exact = pendulum(amplitude)
    assert measured == pytest.approx(exact, rel=5e-3)
    _, wrong = pendulum(amplitude, steiner=False)
    assert measured != pytest.approx(wrong, rel=5e-3)


def test_the_bearing_takes_what_the_axle_does_not() -> None:
    """Off balance, M V changes by gravity and by the bearing alone."""
    axle = ct.Axle((0.0, 0.0, 0.0), (1, 2, -1))
    body = brick(axle=axle, spin=2.0)
    start = body.motion.mass * body.state.V
    distance = np.linalg.norm(body.center)
    run(body, 1.0, 0.002, gravity=(0, -G, 0), dx=0.5)
    change = body.motion.mass * body.state.V - start
    assert np.abs(change - body.pull - body.motion.mass * np.array([0, -G, 0])).max() < 1e-11
    assert np.linalg.norm(body.center) == pytest.approx(distance, rel=1e-13)


def test_motors_drive_and_bearings_brake() -> None:
    def wheel(**settings: object) -> ct.RigidBody:
        axle = ct.Axle((0.1, 0.2, 0.3), (0, 0, 1), **settings)  # type: ignore[arg-type]
        return brick(axle=axle)

    inertia = wheel().motion.J[2, 2]
    body = wheel(motor=ct.Motor(torque=0.5))
    run(body, 0.5, 0.01, dx=10)
    assert body.spin[2] == pytest.approx(0.25 / inertia, rel=1e-12)
    body = wheel(motor=ct.Motor(speed=4.0, torque=0.5))
    run(body, 4.0 * inertia / 0.5 / 2, 4.0 * inertia / 0.5 / 40, dx=10)
    assert body.spin[2] == pytest.approx(2.0, rel=1e-12)
    run(body, 4.0 * inertia / 0.5, 4.0 * inertia / 0.5 / 40, dx=10)
    assert body.spin[2] == pytest.approx(4.0, rel=1e-12)
    body = wheel(motor=ct.Motor(speed=4.0))
    run(body, 0.01, 0.01, dx=10)
    assert body.spin[2] == pytest.approx(4.0, rel=1e-12)
    axle = ct.Axle((0.1, 0.2, 0.3), (0, 0, 1), drag=inertia)
    body = brick(axle=axle, spin=1.0)
    run(body, 1.0, 0.001, dx=10)
    assert body.spin[2] == pytest.approx(np.exp(-1), rel=1e-3)


# ---- protocol ------------------------------------------------------------------------------------------------


def test_totals_and_snapshots() -> None:
    body = brick(velocity=(1, 2, 3), spin=(0.3, -0.2, 0.5))
    totals = body.totals()
    v = body.velocity
    assert totals.kinetic == pytest.approx(
        0.5 * body.motion.mass * v @ v + 0.5 * body.spin @ body.motion.J @ body.spin, rel=1e-14
    )
    assert totals.angular == pytest.approx(
        np.cross(body.center, body.motion.mass * v) + body.motion.J @ body.spin, rel=1e-14
    )
    run(body, 0.3, 0.01, gravity=(0, -G, 0), dx=0.5)
    other = brick()
    other.restore(body.snapshot())
    run(body, 0.3, 0.01, gravity=(0, -G, 0), dx=0.5)
    run(other, 0.3, 0.01, gravity=(0, -G, 0), dx=0.5)
    assert all((body.snapshot()[key] == other.snapshot()[key]).all() for key in body.snapshot())
