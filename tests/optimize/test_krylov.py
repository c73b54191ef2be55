"""The three Krylov solvers solve the same systems, and say how they ended."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse.linalg
from numpy.typing import NDArray

import continua as ct
from continua.optimize.krylov import SOLVERS, Stopping, cg, cr, dot, minres

TIGHT = Stopping(relative=1e-10, max_iterations=2000)
EARLY = Stopping(relative=1e-10, max_iterations=2000, stop_at_negative_curvature=True)


class Product:
    """Matrix times arrays of any shape, always through the same buffer; counts the products."""

    def __init__(self, matrix: NDArray) -> None:
        self.matrix = matrix
        self.count = 0

    def __call__(self, x: NDArray) -> NDArray:
        self.count += 1
        if self.count == 1:
            self.buffer = np.empty_like(x)
        self.buffer[...] = (self.matrix @ x.ravel()).reshape(x.shape)
        return self.buffer


def symmetric(eigenvalues: NDArray, seed: int = 0) -> NDArray:
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(eigenvalues),) * 2))
    return (q * eigenvalues) @ q.T


def definite(scales: bool) -> tuple[NDArray, NDArray]:
    """A positive definite matrix of 60 rows, and a right-hand side (20, 3); badly scaled rows on request."""
    a = symmetric(np.geomspace(1, 200, 60))
    s = np.geomspace(1, 1e3, 60) if scales else np.ones(60)
    return s[:, None] * a * s, np.random.default_rng(1).standard_normal((20, 3))


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("jacobi", [False, True])
def test_solvers_agree_with_a_direct_solve(name: str, jacobi: bool) -> None:
    a, b = definite(scales=jacobi)
    inverse = Product(np.diag(1 / np.diag(a)))
    operator = Product(a)
    solution = SOLVERS[name](operator, b, inverse if jacobi else lambda r: r, TIGHT)
    direct = np.linalg.solve(a, b.ravel()).reshape(b.shape)
    assert np.abs(solution.x - direct).max() < 1e-5 * np.abs(direct).max()
    assert solution.status == "tol" and not solution.negative_curvature
    assert solution.iterations == operator.count < 150
    true = np.linalg.norm(b - (a @ solution.x.ravel()).reshape(b.shape))
    assert solution.residual == pytest.approx(true, rel=0.05) and true <= 1.05e-10 * np.linalg.norm(b)


@pytest.mark.parametrize("name", SOLVERS)
def test_diagonal_scaling_makes_badly_scaled_systems_cheap(name: str) -> None:
    a, b = definite(scales=True)
    stopping = Stopping(relative=1e-6, max_iterations=5000)
    plain = SOLVERS[name](Product(a), b, stopping=stopping)
    scaled = SOLVERS[name](Product(a), b, Product(np.diag(1 / np.diag(a))), stopping)
    assert scaled.iterations * 5 < plain.iterations


@pytest.mark.parametrize("jacobi", [False, True])
def test_minres_solves_indefinite_systems_like_scipy(jacobi: bool) -> None:
    a = symmetric(np.concatenate([-np.geomspace(0.5, 30, 25), np.geomspace(0.5, 30, 35)]))
    b = np.random.default_rng(2).standard_normal(60)
    inverse = np.diag(1 / (1 + np.arange(60) % 7)) if jacobi else np.eye(60)
    ours = minres(Product(a), b, Product(inverse), TIGHT)
    scipys, info = scipy.sparse.linalg.minres(a, b, M=inverse, rtol=1e-13, maxiter=2000)
    assert info == 0 and ours.status == "tol" and ours.negative_curvature
    assert np.abs(ours.x - scipys).max() < 1e-7 * np.abs(scipys).max()
    assert ours.residual == pytest.approx(np.linalg.norm(b - a @ ours.x), rel=1e-3)


def test_minres_finds_negative_curvature_when_the_residual_does() -> None:
    """MINRES sees it in scalars only: it must agree with r.A r of the iterate before."""
    a = symmetric(np.concatenate([[-0.3, -0.1], np.geomspace(0.5, 30, 38)]), seed=3)
    b = np.random.default_rng(4).standard_normal(40)
    signs = []
    for k in range(25):
        x = minres(Product(a), b, stopping=Stopping(relative=0, max_iterations=k)).x
        r = b - a @ x
        signs.append(r @ a @ r > 0)
    first = signs.index(False)
    stopped = minres(Product(a), b, stopping=EARLY)
    assert 2 < first < 25 and stopped.iterations == first + 1 and stopped.status == "negative-curvature"


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("seed", range(5))
def test_early_exit_gives_a_descent_direction(name: str, seed: int) -> None:
    """b is minus a gradient: the result must point downhill, and must not be the one of a solve that goes on."""
    a = symmetric(np.concatenate([-np.geomspace(0.1, 30, 5), np.geomspace(0.5, 30, 35)]), seed)
    b = np.random.default_rng(seed + 10).standard_normal((8, 5))
    early = SOLVERS[name](Product(a), b, stopping=EARLY)
    assert early.status == "negative-curvature" and early.negative_curvature
    assert dot(early.x, b) > 0
    assert not np.allclose(early.x, SOLVERS[name](Product(a), b, stopping=TIGHT).x)


@pytest.mark.parametrize("name", SOLVERS)
def test_early_exit_at_once_gives_the_preconditioned_right_hand_side(name: str) -> None:
    b = np.array([1.0, -2.0, 3.0])
    early = SOLVERS[name](lambda x: -x, b, lambda r: r / 4, EARLY)
    assert early.iterations == 1 and np.allclose(early.x, b / 4, rtol=1e-15)


def test_conjugate_gradients_go_uphill_without_the_early_exit() -> None:
    """Why there is one."""
    b = np.array([1.0, 0.2])
    through = cg(lambda x: np.array([-1.0, 1.0]) * x, b, stopping=TIGHT)
    assert through.status == "tol" and through.negative_curvature and dot(through.x, b) < 0


@pytest.mark.parametrize("name", SOLVERS)
def test_limits(name: str) -> None:
    a, b = definite(scales=False)
    few = SOLVERS[name](Product(a), b, stopping=Stopping(relative=1e-10, max_iterations=3))
    assert few.status == "max_iter" and few.iterations == 3
    loose = SOLVERS[name](Product(a), b, stopping=Stopping(relative=0, absolute=0.1))
    assert loose.status == "tol" and 0.01 < loose.residual <= 0.1
    nothing = SOLVERS[name](Product(a), 0 * b)
    assert nothing.status == "tol" and nothing.iterations == 0 and not nothing.x.any()


@pytest.mark.parametrize("name", SOLVERS)
def test_breakdowns_end_with_a_finite_result(name: str) -> None:
    broken = SOLVERS[name](lambda x: np.full_like(x, np.nan), np.ones(3))
    assert broken.status == "breakdown" and not broken.x.any()
    singular = SOLVERS[name](lambda x: 0 * x, np.ones(3))
    assert singular.status == "breakdown" and np.isfinite(singular.x).all()


def test_a_preconditioner_that_is_not_positive_is_refused() -> None:
    for solver in (cg, cr, minres):
        with pytest.raises(ct.ContinuaError, match="positive definite"):
            solver(lambda x: x, np.ones(3), lambda r: -r)


def test_dot_is_the_sum_of_all_products() -> None:
    for shape in [(0,), (3,), (4096,), (2048, 3), (5, 7, 300)]:
        rng = np.random.default_rng(len(shape))
        a, b = rng.standard_normal(shape), rng.standard_normal(shape)
        assert dot(a, b) == pytest.approx(float((a * b).sum()), rel=1e-12, abs=1e-12)


def test_same_bits_for_any_number_of_threads() -> None:
    """BLAS dot products do not give that."""
    program = (
        "import numpy as np; from continua.optimize.krylov import cg;"
        "b = np.sin(np.arange(40000.0)); d = 2 + np.cos(np.arange(40000.0));"
        "print(cg(lambda x: d * x - 0.3 * np.roll(x, 1) - 0.3 * np.roll(x, -1), b).x.tobytes().hex()[:200000:7])"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert outputs[0] == outputs[1] and len(outputs[0]) > 1000
