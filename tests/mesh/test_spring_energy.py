"""Springs: derivatives, balance, the rule for springs without length, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_samples import dense, derivative_errors, total_torque

from continua.errors import GeometryError
from continua.mesh import Springs

both = pytest.mark.parametrize("d", [2, 3])


def network(d: int, n: int = 40) -> tuple[np.ndarray, Springs]:
    """Random springs, some stretched and some compressed."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, d))
    ends = np.array([rng.choice(n, 2, replace=False) for _ in range(3 * n)])
    length = np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1) * rng.uniform(0.5, 1.5, len(ends))
    return x, Springs(n, d, ends, rng.uniform(10, 100, len(ends)), length)


@both
def test_derivatives_and_balance(d: int) -> None:
    x, springs = network(d)
    assert (derivative_errors(springs, x) < 1e-7).all()
    H, force = dense(springs, x), springs.gradient(x)
    assert np.abs(H - H.T).max() <= 1e-13 * np.abs(H).max()
    assert np.abs(force.sum(axis=0)).max() <= 1e-12 * np.abs(force).sum()
    assert np.abs(total_torque(x, force)).max() <= 1e-12 * np.abs(force).sum()
    np.testing.assert_allclose(springs.hessian(x).diagonal().ravel(), np.diag(H), rtol=1e-13)


def test_finite_differences_notice_a_wrong_rest_length() -> None:
    x = np.array([[0.0, 0.0], [1.0, 0.5]])
    right, wrong = (Springs(2, 2, [[0, 1]], 10.0, length) for length in (1.0, 1.001))
    assert (derivative_errors(right, x, gradient_of=wrong) > 1e-5).all()


@both
def test_one_spring_by_hand(d: int) -> None:
    D = np.array([0.3, -0.4, 1.2])[:d]
    c, length = 7.0, 0.9
    springs = Springs(2, d, [[0, 1]], c, length)
    x = np.array([D, np.zeros(d)])
    L = np.linalg.norm(D)
    n = D / L
    np.testing.assert_allclose(springs.value(x), c / 2 * (L - length) ** 2, rtol=1e-14)
    np.testing.assert_allclose(springs.gradient(x), [c * (L - length) * n, -c * (L - length) * n], rtol=1e-13)
    block = c * (np.outer(n, n) + (1 - length / L) * (np.eye(d) - np.outer(n, n)))
    H = springs.hessian(x).matrix().toarray()
    np.testing.assert_allclose(H, np.block([[block, -block], [-block, block]]), rtol=1e-13, atol=1e-13)


@both
def test_a_spring_of_no_length_is_at_a_peak(d: int) -> None:
    springs = Springs(2, d, [[0, 1]], 5.0, 0.4)
    x = np.full((2, d), 0.7)
    assert springs.value(x) == pytest.approx(5 / 2 * 0.4**2, rel=1e-14)
    assert not springs.gradient(x).any() and not dense(springs, x).any()


@both
def test_springs_without_rest_length_are_linear_everywhere(d: int) -> None:
    springs = Springs(2, d, [[0, 1]], 5.0, 0.0)
    expected = 5 * np.kron([[1, -1], [-1, 1]], np.eye(d))
    for apart in (0.0, 1e-200, 1.0):
        x = np.array([np.zeros(d), np.full(d, apart)])
        np.testing.assert_allclose(dense(springs, x), expected, rtol=1e-13, atol=1e-13)


@both
def test_projection(d: int) -> None:
    x, springs = network(d)
    scale = np.abs(dense(springs, x)).max()
    assert np.linalg.eigvalsh(dense(springs, x)).min() < -1e-3 * scale
    assert np.linalg.eigvalsh(dense(springs, x, positive=True)).min() > -1e-13 * scale


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 2, [[0, 3]], 1.0, 1.0), "spring 0 names point 3"),
        ((3, 2, [[0, 1], [1, 1]], 1.0, 1.0), "spring 1 has the same point twice"),
        ((3, 2, [[0, 1]], -1.0, 1.0), "spring 0 .* stiffness"),
        ((3, 2, [[0, 1]], 1.0, np.nan), "spring 0 .* rest length"),
        ((3, 4, [[0, 1]], 1.0, 1.0), "dimension"),
        ((3, 2, [[0, 1, 2]], 1.0, 1.0), "ends"),
        ((3, 2, np.empty((0, 2), int), 1.0, 1.0), "no springs"),
        ((3, 2, [[0, 1]], [1.0, 2.0], 1.0), "one number per spring"),
    ],
)
def test_wrong_springs_are_refused_with_a_reason(arguments, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        Springs(*arguments)
