"""Which collision particles have others to meet: the same as asking every pair."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua import _core
from continua.grid.blocks import SIDE, Lattice

DX, FACING = 0.1, -0.3


def cloud(
    rng: np.random.Generator, count: int, d: int, bodies: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = rng.uniform(-1.0, 1.0, (count, d))
    normals = rng.standard_normal((count, d)) * 0.2 + np.sign(x[:, :1]) * np.eye(d)[0]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals[:3] = 0.0  # degenerate facets have none
    return x, normals, rng.integers(0, bodies, count).astype(np.int32)


def brute(x, normals, bodies, lattice, degree, reach=None) -> np.ndarray:  # type: ignore[no-untyped-def]
    base = np.floor((x - lattice.origin) / lattice.dx - 0.5 * (degree - 1)).astype(int)
    apart = np.abs(base[:, None] - base[None])
    length = SIDE * lattice.period
    apart = np.where(
        length > 0, np.minimum(apart % np.maximum(length, 1), -apart % np.maximum(length, 1)), apart
    )
    near = (apart <= (degree if reach is None else reach)).all(axis=2)
    meets = (bodies[:, None] != bodies[None]) | (normals @ normals.T < FACING)
    return (near & meets).any(axis=1)


def found(x, normals, bodies, lattice, degree) -> np.ndarray:  # type: ignore[no-untyped-def]
    out = np.zeros(len(x), np.uint8)
    _core.collision_company(x, normals, bodies, lattice, degree, FACING, out)
    return out.astype(bool)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("bodies", [1, 3])
@pytest.mark.parametrize("period", [0, 5])
def test_as_asking_every_pair(d: int, degree: int, bodies: int, period: int) -> None:
    rng = np.random.default_rng(d + 10 * degree)
    x, normals, numbers = cloud(rng, 60 if d == 2 else 300, d, bodies)
    lattice = Lattice(DX, np.full(d, 0.03), np.array([period] + [0] * (d - 1), np.int32))
    same = found(x, normals, numbers, lattice, degree)
    np.testing.assert_array_equal(same, brute(x, normals, numbers, lattice, degree))
    assert same.any() and not same.all()
    assert (
        same != brute(x, normals, numbers, lattice, degree, reach=degree - 1)
    ).any()  # one cell less is too few


def test_the_same_for_any_number_of_threads() -> None:
    x, normals, numbers = cloud(np.random.default_rng(1), 5000, 3, 2)
    lattice, threads, results = Lattice(0.03, np.zeros(3), np.zeros(3, np.int32)), ct.threads(), []
    for count in (1, 2, 3):
        ct.set_threads(count)
        results.append(found(x, normals, numbers, lattice, 2))
    ct.set_threads(threads)
    assert (results[0] == results[1]).all() and (results[0] == results[2]).all()


def test_bad_arguments_are_named() -> None:
    lattice = Lattice(DX, np.zeros(2), np.zeros(2, np.int32))
    x, normals, numbers, out = (
        np.zeros((4, 2)),
        np.zeros((4, 2)),
        np.zeros(4, np.int32),
        np.zeros(4, np.uint8),
    )
    for wrong, name in (
        ((x[:, :1].copy(), normals, numbers, lattice, 2, FACING, out), "x"),
        ((np.full((4, 2), np.nan), normals, numbers, lattice, 2, FACING, out), "x"),
        ((x, normals[:2], numbers, lattice, 2, FACING, out), "normals"),
        ((x, normals, numbers.astype(np.int64), lattice, 2, FACING, out), "bodies"),
        ((x, normals, numbers, lattice, 4, FACING, out), "degree"),
        ((x, normals, numbers, lattice, 2, 2.0, out), "facing"),
        ((x, normals, numbers, lattice, 2, FACING, out[:3]), "out"),
    ):
        with pytest.raises(ValueError, match=name):
            _core.collision_company(*wrong)
