"""The pressure solver solves what it says, on any shape of liquid, and as fast on fine grids as on coarse ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse.linalg
from numpy.typing import DTypeLike, NDArray
from poisson_boxes import CASES, Box, closed_faces

import continua as ct
from continua.flow.pressure import PoissonReport, PoissonSystem

GROWTH = 1.3  # allowed from the coarse to the fine grid
ITERATIONS = 14  # allowed to make the largest residual a million times smaller
SHAPES = [
    ((16, 12), False),
    ((8, 8, 12), False),
    ((4, 4), True),
    ((8, 4), True),
    ((12, 20), True),
    ((4, 8, 4), True),
    ((4, 12, 4), True),
]


def random_box(
    shape: tuple[int, ...], periodic: bool, dtype: DTypeLike = np.float64, diagonal: float = 0.2
) -> Box:
    """Unknowns, couplings and a sparse diagonal at random, a third of the faces closed; around the origin."""
    rng = np.random.default_rng(len(shape) * shape[0] + shape[1])
    coupling = rng.random((len(shape), *shape)) * (rng.random((len(shape), *shape)) > 1 / 3)
    own = rng.random(shape) * (rng.random(shape) < diagonal)
    shift = 0 if periodic else -1
    return Box(rng.random(shape) < 0.75, coupling, own, periodic=periodic, shift=shift, dtype=dtype)


def solve(system: PoissonSystem, rhs: NDArray, reduction: float = 1e-6) -> tuple[PoissonReport, NDArray]:
    """Reduce the largest residual from zero by this factor."""
    phi = np.zeros_like(rhs)
    first = system.solve(rhs, phi, tolerance=0, max_iterations=0).first_residual
    return system.solve(rhs, phi, tolerance=reduction * first), phi


def rough(box: Box, seed: int = 0) -> NDArray:
    """Noise and a long wave in the unknown cells."""
    rng = np.random.default_rng(seed)
    x = np.arange(len(box.unknown)) / len(box.unknown)
    wave = 3 * np.sin(2 * np.pi * x).reshape(-1, *[1] * (box.dimension - 1))
    return box.cut((rng.standard_normal(box.unknown.shape) + wave) * box.unknown)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "periodic"), SHAPES)
def test_the_operator_is_the_matrix(shape: tuple[int, ...], periodic: bool, dtype: DTypeLike) -> None:
    box = random_box(shape, periodic, dtype)
    x = np.random.default_rng(1).standard_normal(box.unknown.shape)
    out = np.full_like(box.cut(x), np.nan)
    box.system().apply(box.cut(x), out)
    expected = (box.matrix() @ (x * box.unknown).ravel()).reshape(x.shape) * box.unknown
    np.testing.assert_allclose(out, box.cut(expected), atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "periodic"), SHAPES)
def test_the_solution_is_that_of_a_direct_solver(
    shape: tuple[int, ...], periodic: bool, dtype: DTypeLike
) -> None:
    box = random_box(shape, periodic, dtype, diagonal=1.0)
    rhs = np.random.default_rng(2).standard_normal(box.unknown.shape) * box.unknown
    chosen = np.flatnonzero(box.unknown)
    expected = np.zeros(rhs.size)
    expected[chosen] = scipy.sparse.linalg.spsolve(box.matrix()[chosen][:, chosen], rhs.ravel()[chosen])
    result, phi = solve(box.system(), box.cut(rhs), 1e-13)
    np.testing.assert_allclose(phi, box.cut(expected.reshape(rhs.shape)), atol=1e-9 * np.abs(expected).max())
    assert result.unknowns == len(chosen)
    assert result.removed == 0


def test_the_reported_residual_is_the_true_one() -> None:
    box = CASES["splashes"](32, 2)
    system, rhs = box.system(), rough(box)
    result, phi = solve(system, rhs)
    left = np.empty_like(phi)
    system.apply(phi, left)
    assert np.abs(rhs - left).max() == pytest.approx(result.residual, rel=1e-6)
    again = system.solve(rhs, phi, tolerance=1.01 * result.residual)
    assert again.iterations == 0
    assert again.first_residual == pytest.approx(result.residual, rel=1e-6)


def test_free_parts_lose_their_mean_and_nothing_else_does() -> None:
    # Two closed chambers, a basin under air, and a cell with closed faces.
    unknown = np.ones((24, 12), bool)
    unknown[16:, 6:] = False
    coupling = closed_faces(unknown.shape)
    coupling[0][[7, 16]] = 0
    coupling[:, 20, 2] = coupling[0, 21, 2] = coupling[1, 20, 3] = 0
    box = Box(unknown, coupling)
    rng = np.random.default_rng(4)
    target = rng.standard_normal(unknown.shape) * unknown
    target[20, 2] = 0
    chambers = [np.s_[:7], np.s_[7:16]]
    for chamber in chambers:
        target[chamber] -= target[chamber].mean()
    padded = np.pad(target, (0, 4))
    rhs = (box.matrix() @ padded.ravel()).reshape(padded.shape)
    rhs[chambers[0], :12] += 0.25
    rhs[chambers[1], :12] -= 2.5
    rhs[20, 2] = 1.5
    result, phi = solve(box.system(), box.cut(rhs), 1e-13)
    np.testing.assert_allclose(phi, box.cut(target), atol=1e-10)
    assert result.removed == pytest.approx(2.5)


@pytest.mark.parametrize("shape", [(4, 64), (12, 12), (20, 36), (4, 16, 16), (12, 12, 12)])
def test_odd_periods_coarsen_as_well(shape: tuple[int, ...]) -> None:
    box = Box(np.ones(shape, bool), np.ones((len(shape), *shape)), periodic=True)
    result, phi = solve(box.system(), rough(box))
    assert result.iterations <= ITERATIONS
    assert abs(phi.mean()) < 1e-12


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("case", [*CASES, "odd period"])
def test_a_cycle_is_symmetric_and_positive(case: str, dimension: int) -> None:
    if case == "odd period":
        shape = (12, 20, 4)[:dimension]
        box = Box(np.ones(shape, bool), np.ones((dimension, *shape)), periodic=True)
    else:
        box = CASES[case](16, dimension)
    system = box.system()
    r = [rough(box, seed) for seed in (1, 2)]
    if box.periodic:
        r = [a - a.mean() for a in r]
    z = [np.empty_like(a) for a in r]
    for a, b in zip(r, z):
        system.precondition(a, b)
    size = np.sqrt((r[0] * z[0]).sum() * (r[1] * z[1]).sum())
    assert abs((r[0] * z[1]).sum() - (r[1] * z[0]).sum()) < 1e-5 * size
    for a, b in zip(r, z):
        assert (a * b).sum() > 0


@pytest.mark.parametrize(("dimension", "cells"), [(2, (64, 256)), (3, (16, 48))])
@pytest.mark.parametrize("case", CASES)
def test_iterations_do_not_grow_with_the_grid(case: str, dimension: int, cells: tuple[int, int]) -> None:
    counts = []
    for n in cells:
        box = CASES[case](n, dimension)
        counts.append(solve(box.system(), rough(box))[0].iterations)
    assert counts[1] <= ITERATIONS
    assert counts[1] <= max(GROWTH * counts[0], counts[0] + 2), counts


def gradient_iterations(
    matrix: scipy.sparse.csr_matrix, rhs: NDArray, inverse: Callable[[NDArray], NDArray]
) -> int:
    """Plain preconditioned conjugate gradients; the number of steps for the same reduction."""
    r, p, before = rhs.copy(), np.zeros_like(rhs), np.inf
    for iteration in range(1, 1000):
        z = inverse(r)
        p, before = z + r @ z / before * p, r @ z
        q = matrix @ p
        r -= before / (p @ q) * q
        if np.abs(r).max() <= 1e-6 * np.abs(rhs).max():
            return iteration
    raise AssertionError("no convergence")


def test_sweeps_without_coarse_levels_fail_the_gate() -> None:
    counts: dict[str, list[int]] = {"cycle": [], "sweeps": []}
    for cells in (16, 64):
        box = CASES["box with air"](cells, 2)
        system, chosen = box.system(), box.cut(box.unknown) > 0
        number = box.cut(np.arange(box.unknown.size).reshape(box.unknown.shape))[chosen]
        matrix = box.matrix()[number][:, number].tocsr()
        rhs = rough(box)[chosen]
        lower, diagonal = scipy.sparse.tril(matrix, format="csr"), matrix.diagonal()

        def cycle(r: NDArray, system: PoissonSystem = system, chosen: NDArray = chosen) -> NDArray:
            full, z = np.zeros(chosen.shape), np.empty(chosen.shape)
            full[chosen] = r
            system.precondition(full, z)
            return z[chosen]

        def sweeps(
            r: NDArray, lower: scipy.sparse.csr_matrix = lower, diagonal: NDArray = diagonal
        ) -> NDArray:
            forward = scipy.sparse.linalg.spsolve_triangular(lower, r)
            return scipy.sparse.linalg.spsolve_triangular(lower.T.tocsr(), diagonal * forward, lower=False)

        counts["cycle"].append(gradient_iterations(matrix, rhs, cycle))
        counts["sweeps"].append(gradient_iterations(matrix, rhs, sweeps))
    assert counts["cycle"][1] <= GROWTH * counts["cycle"][0]
    assert counts["sweeps"][1] > 2 * counts["sweeps"][0]
    assert counts["sweeps"][1] > ITERATIONS


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_same_bits_for_any_number_of_threads(dimension: int) -> None:
    box = CASES["solid ball"]({2: 256, 3: 48}[dimension], dimension)
    rhs, threads = rough(box), ct.threads()
    found = []
    try:
        for n in (1, 2, 3):
            ct.set_threads(n)
            found.append(solve(box.system(), rhs))
    finally:
        ct.set_threads(threads)
    for result, phi in found[1:]:
        assert result == found[0][0]
        assert phi.tobytes() == found[0][1].tobytes()


def test_nothing_to_solve() -> None:
    box = Box(np.zeros((8, 8), bool), np.ones((2, 8, 8)))
    rhs = box.cut(np.ones((8, 8)))
    result, phi = solve(box.system(), rhs)
    assert (result.unknowns, result.iterations, result.residual) == (0, 0, 0)
    assert not phi.any()


def test_tiny_and_huge_numbers_converge_alike() -> None:
    box = CASES["solid ball"](32, 2)
    system, rhs = box.system(), rough(box)
    counts = {solve(system, scale * rhs)[0].iterations for scale in (1e-60, 1.0, 1e60)}
    assert len(counts) == 1


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda a: {"keys": a["keys"][::-1].copy()}, "keys"),
        (lambda a: {"keys": a["keys"].astype(np.int64)}, "keys"),
        (lambda a: {"fluid": a["fluid"][:-1].copy()}, "fluid"),
        (lambda a: {"fluid": a["fluid"].astype(bool)}, "fluid"),
        (lambda a: {"fluid": np.ones_like(a["fluid"])}, "keys.*missing"),
        (lambda a: {"coupling": a["coupling"][..., :3].copy()}, "coupling"),
        (lambda a: {"coupling": a["coupling"] - 2}, "coupling.*negative"),
        (lambda a: {"coupling": a["coupling"] * np.nan}, "coupling.*finite"),
        (lambda a: {"diagonal": -np.ones(a["fluid"].shape)}, "diagonal.*negative"),
        (lambda a: {"diagonal": np.ones(3)}, "diagonal"),
    ],
)
def test_wrong_systems_are_refused(change: Callable[[dict], dict], name: str) -> None:
    arguments = CASES["box with air"](8, 2).arguments()
    with pytest.raises(ValueError, match=name):
        PoissonSystem(**(arguments | change(arguments)))


def test_blocks_outside_the_period_are_refused() -> None:
    inside, outside = CASES["periodic"](8, 2).arguments(), CASES["box with air"](8, 2).arguments()
    with pytest.raises(ValueError, match="period"):
        PoissonSystem(**(outside | {"lattice": inside["lattice"]}))


@pytest.mark.parametrize("name", ["rhs", "phi"])
@pytest.mark.parametrize("wrong", ["shape", "type", "nan"])
def test_wrong_vectors_are_refused(name: str, wrong: str) -> None:
    box = CASES["box with air"](8, 2)
    vectors = {"rhs": rough(box), "phi": np.zeros_like(rough(box))}
    if wrong == "shape":
        vectors[name] = vectors[name][:-1].copy()
    elif wrong == "type":
        vectors[name] = vectors[name].astype(np.float32)
    else:
        vectors[name][0, 0] = np.nan
    with pytest.raises(ValueError, match=name):
        box.system().solve(**vectors, tolerance=1e-6)


def test_wrong_limits_are_refused() -> None:
    box = CASES["box with air"](8, 2)
    with pytest.raises(ValueError, match="tolerance"):
        box.system().solve(rough(box), rough(box), tolerance=float("nan"))
    with pytest.raises(ValueError, match="max_iterations"):
        box.system().solve(rough(box), rough(box), tolerance=0, max_iterations=-1)
