"""Initial velocities and the gradients that start the affine state."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from continua.bodies.velocity import Affine, AnyVelocity, Rigid, VelocityLike, evaluate
from continua.errors import SetupError

random = np.random.default_rng(5)
X2, X3 = random.normal(size=(30, 2)), random.normal(size=(30, 3))

FIELDS = [
    ((1, 2), X2),
    (np.array([1.0, 2.0, 3.0]), X3),
    (Rigid((1, 2), 3.0, (0.1, 0.2)), X2),
    (Rigid((1, 2, 0), (3.0, -1.0, 0.5), (0.1, 0.2, 0.3)), X3),
    (Affine((1, 2), ((1, 2), (3, 4)), (0.1, 0.2)), X2),
    (Affine((0, 0, 0), random.normal(size=(3, 3)), (0.0, 0.0, 0.0)), X3),
    (None, X3),
]


@pytest.mark.parametrize(("velocity", "x"), FIELDS)
def test_gradient_is_the_derivative(velocity, x):
    v, gradient = evaluate(velocity, x)
    assert v.shape == x.shape and gradient.shape == (*x.shape, x.shape[1])
    for b, e in enumerate(np.eye(x.shape[1])):
        ahead, behind = evaluate(velocity, x + 1e-3 * e)[0], evaluate(velocity, x - 1e-3 * e)[0]
        assert gradient[:, :, b] == pytest.approx((ahead - behind) / 2e-3, abs=1e-9)


def test_rigid_motion_is_linear_plus_cross_product():
    v, _ = evaluate(Rigid((1, 2, 0), (3.0, -1.0, 0.5), (0.1, 0.2, 0.3)), X3)
    assert v == pytest.approx([1, 2, 0] + np.cross([3.0, -1.0, 0.5], X3 - [0.1, 0.2, 0.3]))
    v, _ = evaluate(Rigid((0, 0), 2.0, (0, 0)), np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert v == pytest.approx(np.array([[0, 2], [-2, 0]]))


@pytest.mark.parametrize("velocity", [Rigid((1, 2), 3.0), Affine((1, 2), ((1, 2), (3, 4)))])
def test_left_out_center_is_the_mean(velocity):
    v, _ = evaluate(velocity, X2)
    assert v.mean(axis=0) == pytest.approx([1, 2])


def test_functions_give_velocities_and_no_gradient():
    v, gradient = evaluate(lambda x: -2 * x, X2)
    assert np.array_equal(v, -2 * X2) and not gradient.any()


def test_functions_cannot_move_the_points():
    before = X2.copy()

    def careless(x):
        x *= 0
        return x

    evaluate(careless, X2)
    assert np.array_equal(before, X2)


@pytest.mark.parametrize(
    ("velocity", "message"),
    [
        ((1, 2, 3), r"a velocity must give an array of shape \(2,\), not \(3,\)"),
        ((1, np.nan), "a velocity must give finite numbers"),
        ("fast", "a velocity must give numbers"),
        (Rigid((0, 0, 0), (0, 0, 0)), "a 3D velocity cannot move a 2D body"),
        (lambda x: x[:, 0], r"a velocity function must give an array of shape \(30, 2\), not \(30,\)"),
        (lambda x: x * np.inf, "a velocity function must give finite numbers"),
        (lambda x: "fast", "a velocity function must give numbers"),
    ],
)
def test_bad_velocities(velocity, message):
    with pytest.raises(SetupError, match=message):
        evaluate(velocity, X2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rigid((0, 0), (0, 0, 1)), "angular must be one number in 2D"),
        (lambda: Rigid((0, 0, 0), 1.0), "angular must be a vector of 3 numbers in 3D"),
        (lambda: Rigid((0, 0), 1.0, (0, 0, 0)), "center needs 2 coordinates"),
        (lambda: Affine((0, 0), ((1, 0, 0), (0, 1, 0))), "gradient must be a 2 x 2 matrix"),
    ],
)
def test_mistakes_get_one_sentence(make, message):
    with pytest.raises(SetupError, match=message):
        make()


def test_velocities_come_from_data():
    adapter = TypeAdapter(AnyVelocity)
    assert adapter.validate_python([1, 2]) == (1, 2)
    rigid = adapter.validate_python({"type": "rigid", "linear": [0, 0], "angular": 3.0, "center": [0.0, 0.4]})
    assert rigid == Rigid((0, 0), 3.0, (0, 0.4))
    affine = Affine((0, 0), np.eye(2))
    assert adapter.validate_json(adapter.dump_json(affine)) == affine


def test_fields_for_bodies_also_take_functions():
    adapter = TypeAdapter(VelocityLike)

    def swirl(x):
        return -x

    assert adapter.validate_python(swirl) is swirl
    assert adapter.dump_python(swirl, mode="json") == "<python function swirl>"
    assert "function" not in str(adapter.json_schema()).lower()
