"""Motions of colliders: poses, and velocities that are the time derivatives of the poses."""

import math

import numpy as np
import pytest
from pydantic import TypeAdapter

from continua.contact import motions
from continua.contact.motions import Fixed, Keyframes, Linear, Spin, as_motion
from continua.errors import SetupError


def wobble(t: float):
    c, s = math.cos(0.7 * t * t), math.sin(0.7 * t * t)
    return (math.sin(t), t**3, -t), ((c, -s, 0), (s, c, 0), (0, 0, 1))


MOTIONS = {
    "fixed": Fixed(),
    "linear": Linear((1, -2, 0.5), 0.1),
    "linear2d": Linear((1, -2), 0.1, 5.0),
    "spin": Spin(3.0, (0.4, 0.2, -0.1), (1, 2, 2)),
    "spin2d": Spin(-3.0, (0.4, 0.2)),
    "keyframes": Keyframes(
        [0, 1, 3], [(0, 0, 0), (1, 0, 0), (1, 2, 1)], [0, 90, 30], (0, 1, 1), (0.2, 0.1, 0)
    ),
    "keyframes2d": Keyframes([0, 1, 3], [(0, 0), (1, 0), (1, 2)], [0, 90, 30], center=(0.5, 0)),
    "smooth": Keyframes([0, 1, 3], [(0, 0), (1, 0), (1, 2)], [0, 90, 30], interpolation="smooth"),
    "shift": Keyframes([0, 1, 3], [(0, 0, 0), (1, 0, 0), (1, 2, 1)], interpolation="smooth"),
    "function": as_motion(wobble),
}


def place(motion: motions.Motion, t: float, x: np.ndarray) -> np.ndarray:
    pose = motion.pose(t)
    return pose.position + x @ pose.rotation.T


@pytest.mark.parametrize("name", MOTIONS)
def test_velocity_is_the_derivative_of_the_position(name):
    motion = MOTIONS[name]
    x = np.random.default_rng(3).normal(size=(5, len(motion.pose(0).position)))
    h = 1e-5
    for t in (0.37, 1.63, 2.9):
        velocity = motion.pose(t).velocity_at(place(motion, t, x))
        differences = (place(motion, t + h, x) - place(motion, t - h, x)) / (2 * h)
        assert velocity == pytest.approx(differences, abs=1e-7)


@pytest.mark.parametrize("name", MOTIONS)
def test_rotations_are_rotations(name):
    for t in (0.0, 0.4, 7.0):
        R = MOTIONS[name].pose(t).rotation
        assert pytest.approx(np.eye(len(R)), abs=1e-12) == R @ R.T
        assert np.linalg.det(R) == pytest.approx(1)


@pytest.mark.parametrize("name", [n for n in MOTIONS if n != "function"])
def test_everything_starts_where_it_was_defined(name):
    pose = MOTIONS[name].pose(0)
    assert pose.position == pytest.approx(np.zeros_like(pose.position), abs=1e-15)
    assert pose.rotation == pytest.approx(np.eye(len(pose.rotation)))
    assert pose.angular.shape == (3,)


def test_linear_waits_goes_and_stops():
    motion = Linear((2, 0), start=1, stop=3)
    for t, x, v in ((0, 0, 0), (1, 0, 2), (2, 2, 2), (3, 4, 0), (9, 4, 0)):
        pose = motion.pose(t)
        assert (pose.position[0], pose.velocity[0]) == (x, v)


def test_spin_turns_counter_clockwise_about_its_center():
    pose = Spin(math.pi / 2, (1, 0)).pose(1)
    assert pose.position + pose.rotation @ [2, 0] == pytest.approx([1, 1])
    assert pose.position + pose.rotation @ [1, 0] == pytest.approx([1, 0])
    assert pose.velocity_at(np.array([[1, 1], [1, 0]])) == pytest.approx(
        np.array([[-math.pi / 2, 0], [0, 0]])
    )
    assert pose.angular == pytest.approx([0, 0, math.pi / 2])
    assert Spin(2, (0, 0, 0), (0, 3, 0)).pose(1).angular == pytest.approx([0, 2, 0])


@pytest.mark.parametrize("interpolation", ["linear", "smooth"])
def test_keyframes_are_met_and_held(interpolation):
    motion = Keyframes([1, 2, 4], [(0, 0), (1, 3), (1, -1)], [0, 90, -90], interpolation=interpolation)
    for t, x, angle in (
        (0, (0, 0), 0),
        (1, (0, 0), 0),
        (2, (1, 3), 90),
        (4, (1, -1), -90),
        (6, (1, -1), -90),
    ):
        pose = motion.pose(t)
        assert pose.position == pytest.approx(x)
        assert math.degrees(math.atan2(pose.rotation[1, 0], pose.rotation[0, 0])) == pytest.approx(angle)
    for t in (0.5, 5):
        assert not motion.pose(t).velocity.any() and not motion.pose(t).angular.any()


def test_smooth_keyframes_have_continuous_velocity_and_no_overshoot():
    motion = Keyframes(
        [0, 1, 1.5, 3], [(0, 0), (1, 0), (1, 0), (4, 1)], [0, 10, 20, 20], interpolation="smooth"
    )
    for t in (0, 1, 1.5, 3):
        before, after = motion.pose(t - 1e-9), motion.pose(t + 1e-9)
        assert before.velocity == pytest.approx(after.velocity, abs=1e-6)
        assert before.angular == pytest.approx(after.angular, abs=1e-6)
    path = np.array([motion.pose(t).position for t in np.linspace(0, 3, 301)])
    assert (np.diff(path[:, 0]) >= -1e-12).all()
    assert np.ptp(path[100:151, 0]) < 1e-12


def test_function_velocity_is_accurate_also_at_the_start():
    motion = as_motion(wobble)
    for t in (0.0, 5e-6, 1.2):
        pose = motion.pose(t)
        assert pose.velocity == pytest.approx([math.cos(t), 3 * t * t, -1], abs=1e-8)
        assert pose.angular == pytest.approx([0, 0, 1.4 * t], abs=1e-8)


def test_function_is_never_called_before_time_zero():
    def rising(t):
        assert t >= 0
        return (math.sqrt(1 + t), 0), np.eye(2)

    assert as_motion(rising).pose(0).velocity == pytest.approx([0.5, 0], abs=1e-8)


def test_fixed_takes_the_dimension_it_is_asked_for():
    assert Fixed().pose(1.0, 2).rotation.shape == (2, 2)
    assert Fixed().pose(1.0).rotation.shape == (3, 3)
    assert as_motion(None) == Fixed()


@pytest.mark.parametrize("motion", [Linear((1, 0)), as_motion(lambda t: (np.zeros(2), np.eye(2)))])
def test_dimension_mismatch_is_refused(motion):
    assert motion.pose(0, 2).position.shape == (2,)
    with pytest.raises(SetupError, match="a 2D .* motion cannot move a 3D collider"):
        motion.pose(0, 3)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: 3, "must return a position .d,. and a rotation .d, d."),
        (lambda t: (1, 2, 3), "must return a position"),
        (lambda t: ((0, 0), "?"), "must return a position"),
        (lambda t: ((0, 0), np.eye(3)), r"not arrays of shape \(2,\) and \(3, 3\)"),
        (lambda t: ((0, math.nan), np.eye(2)), "not finite at t = 0.5 s"),
        (lambda t: ((0, 0), 2 * np.eye(2)), "not a rotation at t = 0.5 s"),
        (lambda t: ((0, 0), np.diag([1, -1])), "not a rotation at t = 0.5 s"),
        (lambda t: ((0, 0), np.eye(2) * math.nan), "not a rotation at t = 0.5 s"),
    ],
)
def test_bad_functions(function, message):
    def good_at_first(t):
        return function(t) if t > 0 else ((0, 0), np.eye(2))

    with pytest.raises(SetupError, match=message):
        as_motion(good_at_first).pose(0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Linear((1, 0), 2, 1), "stop must not be before start"),
        (lambda: Spin(1, (0, 0, 0)), "axis is needed in 3D"),
        (lambda: Spin(1, (0, 0), (0, 0, 1)), "axis has no meaning in 2D"),
        (lambda: Spin(1, (0, 0, 0), (0, 0, 0)), "axis must not be zero"),
        (lambda: Spin(math.inf, (0, 0)), "Spin: rate: input should be a finite number"),
        (lambda: Keyframes([0], [(0, 0)]), "Keyframes: times: .*at least 2"),
        (lambda: Keyframes([0, 0], [(0, 0), (1, 1)]), "times must increase"),
        (lambda: Keyframes([0, 1], [(0, 0)]), "2 times need as many positions, not 1"),
        (lambda: Keyframes([0, 1], [(0, 0), (0, 0, 0)]), "same number of coordinates"),
        (lambda: Keyframes([0, 1], [(0, 0), (0, 0)], [1]), "2 times need as many angles, not 1"),
        (lambda: Keyframes([0, 1], [(0, 0, 0), (0, 0, 0)], [0, 1]), "axis is needed in 3D"),
        (
            lambda: Keyframes([0, 1], [(0, 0, 0), (0, 0, 0)], axis=(0, 0, 1)),
            "axis has no meaning without angles",
        ),
        (lambda: as_motion("fast"), "not str"),
    ],
)
def test_mistakes_get_one_sentence(make, message):
    with pytest.raises(SetupError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_motions_come_from_data_and_go_back():
    adapter = TypeAdapter(motions.AnyMotion)
    for motion in (m for name, m in MOTIONS.items() if name != "function"):
        motion.pose(0.5)  # fills caches, which must not leak into the data
        assert adapter.validate_json(adapter.dump_json(motion)) == motion
    arrays = Keyframes(np.array([0.0, 1.0]), np.zeros((2, 2)), np.zeros(2))
    assert arrays == Keyframes([0, 1], [(0, 0), (0, 0)], [0, 0])


def test_fields_for_colliders_also_take_functions():
    adapter = TypeAdapter(motions.MotionLike | None)
    assert adapter.validate_python(wobble) is wobble
    assert isinstance(adapter.validate_python({"type": "spin", "rate": 1, "center": [0, 0]}), Spin)
    assert adapter.validate_python(as_motion(wobble)).function is wobble
    assert "function" not in str(adapter.json_schema()).lower()
    assert adapter.dump_python(wobble, mode="json") == "<python function wobble>"
