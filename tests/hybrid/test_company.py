"""Which collision particles have others to meet: the search of the core against all pairs, and what company is."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import continua as ct
from continua import _core
from continua.grid.blocks import Lattice

Array = NDArray[np.float64]
FACING, BEHIND, DX = -0.3, 0.5, 0.1
both = pytest.mark.parametrize("d", [2, 3])


def lattice(d: int, blocks: int = 0) -> Lattice:
    period = np.zeros(d, np.int32)
    period[0] = blocks
    return Lattice(DX, np.full(d, 0.013), period)


def company(
    x: Array, n: Array, bodies: NDArray[np.int32], where: Lattice, degree: int = 2
) -> NDArray[np.bool_]:
    out = np.zeros(len(x), np.uint8)
    _core.collision_company(x, n, bodies, where, degree, FACING, out)
    return out.astype(bool)


def of_all_pairs(
    x: Array, n: Array, bodies: NDArray[np.int32], where: Lattice, degree: int, facing: float = FACING
) -> NDArray[np.bool_]:
    """Stencils of degree + 1 nodes share one where their first nodes are at most the degree apart along every axis."""
    period = 4 * np.asarray(where.period)
    first = np.floor((x - where.origin) / DX - 0.5 * (degree - 1)).astype(int)
    apart, r = first[None] - first[:, None], x[None] - x[:, None]
    for axis in np.flatnonzero(period):
        apart[..., axis] -= period[axis] * np.round(apart[..., axis] / period[axis]).astype(int)
        r[..., axis] -= DX * period[axis] * np.round(r[..., axis] / (DX * period[axis]))
    share = (np.abs(apart) <= degree).all(axis=2)
    before = np.einsum("ijk,ik->ij", r, n) > -BEHIND * DX
    meet = (bodies[:, None] != bodies) | ((n @ n.T < facing) & before)
    found: NDArray[np.bool_] = (share & meet).any(axis=1)
    return found


def cloud(d: int, count: int, sides: float, bodies: int) -> tuple[Array, Array, NDArray[np.int32]]:
    rng = np.random.default_rng(d)
    n = rng.normal(size=(count, d)) + 2.0 * np.eye(d)[0]  # mostly alike
    x, of = rng.uniform(0.0, sides, (count, d)), rng.integers(0, bodies, count).astype(np.int32)
    return x, n / np.linalg.norm(n, axis=1, keepdims=True), of


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("blocks", [0, 2, 8])
@both
def test_it_finds_what_all_pairs_show(d: int, blocks: int, degree: int) -> None:
    """With one body or three, without a period, with a short and with a long one."""
    for bodies, sides in ((1, 1.6), (3, 3.0)):
        x, n, of = cloud(d, 400, sides, bodies)
        where = lattice(d, blocks)
        expected = of_all_pairs(x, n, of, where, degree)
        assert np.array_equal(company(x, n, of, where, degree), expected)
        if bodies == 1:
            assert 0.02 < expected.mean() < 1
            assert not np.array_equal(of_all_pairs(x, n, of, where, degree, facing=0.3), expected)


@both
def test_it_does_not_depend_on_threads_or_order(d: int) -> None:
    x, n, of = cloud(d, 3000, 4.0, 2)
    before, found = ct.threads(), []
    try:
        for threads in (1, 2):
            ct.set_threads(threads)
            found.append(company(x, n, of, lattice(d)))
    finally:
        ct.set_threads(before)
    assert np.array_equal(*found)
    order = np.random.default_rng(0).permutation(len(x))
    assert np.array_equal(company(x[order], n[order], of[order], lattice(d)), found[0][order])


@both
def test_surfaces_that_face_each_other_meet_and_those_back_to_back_do_not(d: int) -> None:
    up = np.eye(d)[1]
    x = np.array([0 * up, 0.12 * up]) + 0.5
    facing, backs = np.array([up, -up]), np.array([-up, up])
    same, other = np.zeros(2, np.int32), np.arange(2, dtype=np.int32)
    assert company(x, facing, same, lattice(d)).all()
    assert not company(x, backs, same, lattice(d)).any()
    assert company(x, backs, other, lattice(d)).all()  # another body is company anyway
    assert not company(
        np.array([0 * up, 0.31 * up]) + 0.5, facing, other, lattice(d)
    ).any()  # three cells apart


def test_the_core_names_the_wrong_argument() -> None:
    x, n, of = cloud(2, 10, 1.0, 1)
    out = np.zeros(10, np.uint8)
    with pytest.raises(ValueError, match="normals"):
        _core.collision_company(x, n[:5], of, lattice(2), 2, FACING, out)
    with pytest.raises(ValueError, match="facing"):
        _core.collision_company(x, n, of, lattice(2), 2, -2.0, out)
    with pytest.raises(ValueError, match="x: must be finite"):
        _core.collision_company(x * np.inf, n, of, lattice(2), 2, FACING, out)
