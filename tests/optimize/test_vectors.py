"""What Krylov solvers do with vectors, in the core."""

from __future__ import annotations

import math

import numpy as np
import pytest

import continua as ct
from continua import _core
from continua.optimize.krylov import dot


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 4095, 4096, 4097, 300_001])
def test_sums_are_right_and_the_same_for_any_number_of_threads(n: int) -> None:
    a, b = np.random.default_rng(n).standard_normal((2, n))
    before, found = ct.threads(), []
    try:
        for threads in (1, 2, 3):
            ct.set_threads(threads)
            found.append(dot(a, b))
    finally:
        ct.set_threads(before)
    assert found[0] == found[1] == found[2]
    assert abs(found[0] - math.fsum(a * b)) <= 1e-15 * max(np.abs(a * b).sum(), 1e-300)


def test_arrays_need_not_be_contiguous_or_writable() -> None:
    a = np.arange(12.0).reshape(3, 4)
    fixed = a.copy()
    fixed.setflags(write=False)
    assert dot(a.T, fixed.T) == dot(a, fixed) == float((a**2).sum())
    assert dot(a[:, ::2], a[:, ::2]) == float((a[:, ::2] ** 2).sum())


def test_multiples_are_added_in_place() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 50, 3))
    z = y.copy()
    _core.add_multiple(z, 0.5, x)
    assert np.array_equal(z, y + 0.5 * x) or np.abs(z - y - 0.5 * x).max() < 1e-15
    z = y.copy()
    _core.scale_and_add(z, 0.25, x)
    assert np.abs(z - 0.25 * y - x).max() < 1e-15
    with pytest.raises(ValueError, match="length"):
        _core.add_multiple(z[:-1], 1.0, x)
    with pytest.raises(ValueError, match="one length"):
        _core.dot(x, y[:-1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors_at_some_nodes(dtype: type) -> None:
    nodes = np.full((2, 16, 4), 7, dtype)
    at, x = np.array([30, 3, 9]), np.arange(9.0).reshape(3, 3)
    _core.to_nodes(x, at, nodes)
    flat, out = nodes.reshape(-1, 4), np.empty((3, 3))
    assert np.array_equal(flat[at, :3], x) and (flat[:, 3] == 7).all()
    assert (np.delete(flat, at, axis=0) == 7).all()
    mass = np.array([[1.0], [2.0], [4.0]])
    _core.from_nodes(nodes, at, 0.5, mass, x, out)
    assert np.array_equal(out, mass * x + 0.5 * x)
    with pytest.raises(ValueError, match="no such node"):
        _core.to_nodes(x, np.array([0, 1, 32]), nodes)
