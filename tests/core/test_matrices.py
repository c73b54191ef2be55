"""Small matrices in bulk: polar decompositions of every kind of matrix, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from continua import _core
from continua.materials.base import from_components, to_components

SIZES = (10_003, 1, 3, 7)  # not multiples of the vector width, so that the scalar tail runs too
TOLERANCE = {np.float64: 1e-12, np.float32: 5e-6}  # about 40 units in the last place of single precision


def rotations(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


def matrices(n: int, d: int, seed: int = 0) -> np.ndarray:
    """All sorts (n, d, d): general, tiny, huge, inverted, rank 0 to d - 1, ties, nearly singular."""
    rng = np.random.default_rng(seed)
    stretches = rng.uniform(0.2, 3.0, size=(n, d))
    kind = rng.integers(0, 12, n)
    stretches[kind == 0] *= 1e-12
    stretches[kind == 1] *= 1e12
    stretches[kind == 2, -1] *= -1
    stretches[kind == 3, 1:] = 0
    stretches[kind == 4, -1] = 0
    stretches[kind == 5] = 0
    stretches[kind == 6] = stretches[kind == 6, :1]
    stretches[kind == 7, -2:] = stretches[kind == 7, -2:-1]
    stretches[kind == 8, -1] = -stretches[kind == 8, 0]
    stretches[kind == 9, -1] *= 1e-9
    F = rotations(rng, n, d) @ (stretches[:, :, None] * rotations(rng, n, d))
    F[kind == 10] = rng.normal(size=(int((kind == 10).sum()), d, d))
    F[kind == 11] = rng.integers(-1, 2, size=(int((kind == 11).sum()), d, d))
    F[: min(n, 2)] = np.eye(d)
    return F


def polar_svd(F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    f = np.ascontiguousarray(F.reshape(len(F), -1).T)
    d = F.shape[1]
    U, V, s = np.empty_like(f), np.empty_like(f), np.empty((d, len(F)), f.dtype)
    _core.polar_svd(f, U, s, V)
    return from_components(U), s.T.copy(), from_components(V)


def rotation_of(F: np.ndarray) -> np.ndarray:
    f = np.ascontiguousarray(F.reshape(len(F), -1).T)
    R = np.empty_like(f)
    _core.rotation(f, R)
    return from_components(R)


def norm(A: np.ndarray) -> np.ndarray:
    return np.linalg.norm(A.astype(np.float64), axis=(1, 2))


def not_a_rotation(Q: np.ndarray) -> float:
    """How far Q (n, d, d) is from Q^T Q = I and det Q = 1."""
    Q = Q.astype(np.float64)
    orthogonal = norm(Q.transpose(0, 2, 1) @ Q - np.eye(Q.shape[1])).max()
    return max(orthogonal, np.abs(np.linalg.det(Q) - 1).max())


def svd_defects(F: np.ndarray, U: np.ndarray, s: np.ndarray, V: np.ndarray) -> dict[str, float]:
    """How far U diag(s) V^T is from a polar decomposition of F."""
    F, U, s, V = (a.astype(np.float64) for a in (F, U, s, V))
    size = np.maximum(norm(F), np.finfo(np.float64).tiny)
    exact = np.linalg.svd(F, compute_uv=False)
    signed = exact.copy()
    signed[:, -1] *= np.where(np.linalg.det(F / size[:, None, None]) < 0, -1, 1)
    sign_free = np.abs(signed[:, -1]) < 1e-6 * size  # sign of a vanishing singular value means nothing
    signed[sign_free, -1] = s[sign_free, -1]
    return {
        "product": (norm((U * s[:, None]) @ V.transpose(0, 2, 1) - F) / size).max(),
        "U": not_a_rotation(U),
        "V": not_a_rotation(V),
        "order": (np.abs(s[:, 1:]) - np.abs(s[:, :-1])).clip(0).max() / size.max(),
        "sign": (-s[:, :-1]).clip(0).max(),
        "pairs": ((-(s[:, -2] + s[:, -1])).clip(0) / size).max(),
        "values": (np.abs(s - signed).max(axis=1) / size).max(),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("n", SIZES)
def test_polar_svd_of_every_kind_of_matrix(d: int, n: int, dtype: type) -> None:
    F = matrices(n, d, seed=n).astype(dtype)
    defects = svd_defects(F, *polar_svd(F))
    assert max(defects.values()) <= TOLERANCE[dtype], defects


def test_a_plain_svd_does_not_pass_as_a_polar_one() -> None:
    F = matrices(1000, 3)
    U, s, Vt = np.linalg.svd(F)
    defects = svd_defects(F, U, s, Vt.transpose(0, 2, 1))
    assert defects["product"] < 1e-12
    assert defects["U"] > 1


def rotation_defects(F: np.ndarray, R: np.ndarray) -> dict[str, float]:
    """R must be the rotation that maximises tr(R^T F) = s_1 + .. + s_d; unique unless s_{d-1} + s_d = 0."""
    F, R = F.astype(np.float64), R.astype(np.float64)
    U, s, V = polar_svd(F)
    size = np.maximum(norm(F), np.finfo(np.float64).tiny)
    gap = (s[:, -2] + s[:, -1]) / size  # 1 / condition number of R
    trace = (R * F).sum(axis=(1, 2)) - s.sum(axis=1)
    return {
        "rotation": not_a_rotation(R),
        "trace": (np.abs(trace) / size).max(),
        "same": (norm(R - U @ V.transpose(0, 2, 1)) * gap).max(),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("n", SIZES)
def test_rotation_agrees_with_the_svd(d: int, n: int, dtype: type) -> None:
    F = matrices(n, d, seed=n + 1).astype(dtype)
    defects = rotation_defects(F, rotation_of(F))
    assert max(defects.values()) <= TOLERANCE[dtype], defects


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rotation_of_nearly_degenerate_matrices(dtype: type) -> None:
    """s_2 + s_3 from 1e-7 to 2: towards a double root of the quartic behind the closed form."""
    rng = np.random.default_rng(5)
    gap = 10 ** rng.uniform(-7, 0.3, 20_001)
    s = np.stack([np.ones(len(gap)), rng.uniform(0, 1, len(gap)), gap], axis=1)
    s[:, 2] = (gap - s[:, 1]).clip(-s[:, 1], s[:, 1])
    F = (rotations(rng, len(s), 3) @ (s[:, :, None] * rotations(rng, len(s), 3))).astype(dtype)
    defects = rotation_defects(F, rotation_of(F))
    assert max(defects.values()) <= TOLERANCE[dtype], defects


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 3])
def test_decompositions_do_not_depend_on_their_company(d: int, dtype: type) -> None:
    """Matrices near rotations and all others, in lanes with different neighbours: the same bits."""
    rng = np.random.default_rng(8)
    near = rotations(rng, 1024, d) + 10 ** rng.uniform(-8, 0, (1024, 1, 1)) * rng.normal(size=(1024, d, d))
    F = np.concatenate([near, matrices(1024, d, seed=9)]).astype(dtype)
    order = rng.permutation(len(F))  # a multiple of the vector width: no scalars
    for alone, mixed in zip(polar_svd(F), polar_svd(F[order]), strict=True):
        assert np.array_equal(alone[order], mixed)
    assert np.array_equal(rotation_of(F)[order], rotation_of(F[order]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 3])
def test_decompositions_at_the_ends_of_the_number_range(d: int, dtype: type) -> None:
    """A power of two changes the stretches by that factor, and U and V not beyond rounding."""
    F = matrices(2000, d, seed=10)[np.abs(matrices(2000, d, seed=10)).max(axis=(1, 2)) < 10].astype(dtype)
    for power in (-60, -100, 60, 120) if dtype == np.float32 else (-900, -1000, 500, 1000):
        U, s, V = polar_svd(np.ldexp(F, power).astype(dtype))
        s = np.ldexp(s, -power)
        kept = norm(F) > 1e-3  # zero, and what would be below the range
        defects = svd_defects(F[kept], U[kept], s[kept], V[kept])
        assert max(defects.values()) <= TOLERANCE[dtype], (power, defects)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 3])
def test_rows_and_columns_of_zeros_have_no_stretch(d: int, dtype: type) -> None:
    """Exactly 0, so that flat material is never taken for admissible."""
    rng = np.random.default_rng(11)
    for axis in range(d):
        F = rng.normal(size=(999, d, d)).astype(dtype)
        F[:500, axis] = 0
        F[500:, :, axis] = 0
        assert np.all(polar_svd(F)[1][:, -1] == 0)


def test_the_nearest_orthogonal_matrix_does_not_pass_as_rotation() -> None:
    F = matrices(1000, 3)
    U, _, Vt = np.linalg.svd(F)
    assert rotation_defects(F, U @ Vt)["rotation"] > 1


# ---- derivatives ----


def separated(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """F without ties among |s|, half of them inverted, and unit directions dF."""
    rng = np.random.default_rng(seed)
    s = np.cumsum(rng.uniform(0.3, 0.8, size=(n, d)), axis=1)[:, ::-1].copy()
    s[::2, -1] *= -1
    F = rotations(rng, n, d) @ (s[:, :, None] * rotations(rng, n, d))
    dF = rng.normal(size=(n, d, d))
    return F, dF / norm(dF)[:, None, None]


def slope(f, F: np.ndarray, dF: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """Derivative of f at F in the direction dF by fourth-order central differences."""
    return (8 * (f(F + h * dF) - f(F - h * dF)) - (f(F + 2 * h * dF) - f(F - 2 * h * dF))) / (12 * h)


def differentials(F: np.ndarray, dF: np.ndarray) -> dict[str, np.ndarray]:
    f, df = to_components(F), to_components(dF)
    d = F.shape[1]
    out = {name: np.empty_like(f) for name in ("dcof", "dR", "dU", "dV")}
    ds = np.empty((d, len(F)))
    _core.differentials(f, df, out["dcof"], out["dR"], out["dU"], ds, out["dV"])
    return {name: from_components(value) for name, value in out.items()} | {"ds": ds.T.copy()}


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def cofactor(F: np.ndarray) -> np.ndarray:
    return np.linalg.det(F)[:, None, None] * np.linalg.inv(F).transpose(0, 2, 1)


def aligned_svd(reference: tuple[np.ndarray, ...]):
    """Polar SVD whose columns have the signs of a nearby reference."""

    def factors(F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        U, s, V = polar_svd(F)
        sign = np.sign((U * reference[0]).sum(axis=1))
        return U * sign[:, None], s, V * sign[:, None]

    return factors


@pytest.mark.parametrize("d", [2, 3])
def test_determinant_and_cofactor_differentials(d: int) -> None:
    F, dF = separated(501, d, 1)
    n = len(F)
    parameters, none = np.zeros((2, n)), np.zeros((0, n))
    parameters[1] = 1  # fixed corotated without shear: Psi = (J - 1)^2 / 2, P = (J - 1) cof F
    P = np.empty((d * d, n))
    _core.material_piola("fixed-corotated", to_components(F), parameters, none, P)
    cof = from_components(P) / (np.linalg.det(F) - 1)[:, None, None]
    assert relative((cof * dF).sum(axis=(1, 2)), slope(np.linalg.det, F, dF)) <= 1e-7
    change = differentials(F, dF)["dcof"]
    assert relative(change, slope(cofactor, F, dF)) <= 1e-7
    assert relative(change.transpose(0, 2, 1), slope(cofactor, F, dF)) > 1e-2  # the transpose would not do


@pytest.mark.parametrize("d", [2, 3])
def test_cofactor_differential_of_singular_matrices(d: int) -> None:
    F, dF = separated(101, d, 2)
    F[:, 0] = 0  # rank d - 1; the differential is polynomial, so shifting F by dF has no singular limit
    G = F + 1e-3 * dF
    exact = slope(cofactor, G, dF)
    assert relative(differentials(G, dF)["dcof"], exact) <= 1e-7


@pytest.mark.parametrize("d", [2, 3])
def test_polar_differentials(d: int) -> None:
    F, dF = separated(501, d, 3)
    R = rotation_of(F)
    S = R.transpose(0, 2, 1) @ F
    dR = differentials(F, dF)["dR"]
    dS = R.transpose(0, 2, 1) @ (dF - dR @ S)
    assert relative(dR, slope(rotation_of, F, dF)) <= 1e-7
    assert relative(dS, slope(lambda A: rotation_of(A).transpose(0, 2, 1) @ A, F, dF)) <= 1e-7
    # Dividing by differences instead of sums of singular values gives the derivative of something else.
    U, s, V = polar_svd(F)
    M = U.transpose(0, 2, 1) @ dF @ V
    with np.errstate(divide="ignore", invalid="ignore"):
        W = (M - M.transpose(0, 2, 1)) / (s[:, :, None] - s[:, None, :])
    W[:, np.arange(d), np.arange(d)] = 0
    assert relative(U @ W @ V.transpose(0, 2, 1), slope(rotation_of, F, dF)) > 1e-2


@pytest.mark.parametrize("d", [2, 3])
def test_svd_differentials_away_from_ties(d: int) -> None:
    F, dF = separated(501, d, 4)
    factors = aligned_svd(polar_svd(F))
    U, s, V = factors(F)
    change = differentials(F, dF)
    for index, name in enumerate(("dU", "ds", "dV")):
        numeric = slope(lambda A, index=index: factors(A)[index], F, dF)
        assert relative(change[name], numeric) <= 1e-7, name
    # U^T dU and V^T dV exchanged: the classic slip.
    swapped = U @ (V.transpose(0, 2, 1) @ change["dV"])
    assert relative(swapped, slope(lambda A: factors(A)[0], F, dF)) > 1e-2
