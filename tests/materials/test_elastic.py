"""Elastic part of every model: energy, stress and tangent fit together and obey the rules of elasticity."""

from __future__ import annotations

import numpy as np
import pytest
from material_samples import (
    CASES,
    Case,
    both,
    core_call,
    directions,
    every,
    norm,
    random_F,
    rotations,
    slope,
    with_stretches,
)

from continua.errors import MaterialError
from continua.materials import (
    DruckerPrager,
    FixedCorotated,
    Hencky,
    HerschelBulkley,
    NeoHookean,
    OldroydB,
    Rankine,
    VonMises,
)
from continua.materials.base import lame

CASE = {case.name: case for case in CASES}


def stress_error(case: Case, F: np.ndarray, D: np.ndarray, stress=None) -> float:
    """Slope of the energy against the stress, relative to the stress."""
    P = case.stress(F) if stress is None else stress
    error = np.abs(slope(case.energy, F, D, 1e-5) - (P * D).sum(axis=(1, 2)))
    return float((error / (norm(P) + 1e-3 * case.material.modulus())).max())


def tangent_error(case: Case, F: np.ndarray, D: np.ndarray, h: float, tangent=None) -> float:
    """Slope of the stress against the differential, relative to the differential."""
    dP = case.differential(F, D) if tangent is None else tangent
    return float((norm(slope(case.stress, F, D, h) - dP) / (norm(dP) + 1e-2 * case.material.modulus())).max())


@both
@every
def test_stress_is_the_slope_of_the_energy_and_tangent_the_slope_of_stress(case: Case, d: int) -> None:
    rng = np.random.default_rng(1)
    F, D = random_F(rng, 301, d), directions(rng, 301, d)
    assert stress_error(case, F, D) <= 1e-8
    assert tangent_error(case, F, D, 1e-5) <= 1e-7
    # 1 % too much stress, or a tangent without the term of the rotating axes, must be noticed.
    assert stress_error(case, F, D, 1.01 * case.stress(F)) > 1e-3
    frozen = case.differential(F, (D + D.transpose(0, 2, 1)) / 2)
    assert tangent_error(case, F, D, 1e-5, frozen) > 1e-2


@both
@every
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-13), (np.float32, 2e-5)])
def test_kirchhoff_stress_is_piola_stress_times_the_transpose(
    case: Case, d: int, dtype: type, tolerance: float
) -> None:
    """Some models have a shorter formula for tau = P F^T."""
    F = random_F(np.random.default_rng(6), 301, d)
    F[::7, 0] *= -1  # inside out
    F = F.astype(dtype).astype(float)
    state = case._given(F)["state"]
    if case.parameters is not None:
        tau = case.material.kirchhoff(F, **case._given(F))
    else:
        tau = core_call("kirchhoff", case.material, F, dtype, state)
    P = case.stress(F)
    good = np.isfinite(P).all(axis=(1, 2))
    expected = P[good] @ F[good].transpose(0, 2, 1)
    scale = (norm(P[good]) * norm(F[good]))[:, None, None]
    assert (np.abs(tau[good] - expected) / scale).max() <= tolerance
    assert np.isinf(tau[~good]).all() and good.all() == case.inverted
    assert (np.abs(tau[good] - P[good]) / scale).max() > 0.1  # the factor matters


@both
@pytest.mark.parametrize("case", [c for c in CASES if c.inverted], ids=lambda case: case.name)
def test_models_for_inverted_material_are_smooth_there(case: Case, d: int) -> None:
    rng = np.random.default_rng(2)
    s = rng.uniform(0.6, 2.0, size=(301, d))
    s[:, -1] = -0.4 * s[:, :-1].min(axis=1)
    F, D = with_stretches(rng, s), directions(rng, 301, d)
    assert stress_error(case, F, D) <= 1e-8
    assert tangent_error(case, F, D, 1e-5) <= 1e-7
    mirrored = F * np.where(np.arange(d) == 0, -1, 1)  # the stress of the mirror image is another one
    assert stress_error(case, F, D, case.stress(mirrored)) > 1e-2


@pytest.mark.parametrize("equal", [2, 3])
@both
@every
def test_tangent_at_equal_singular_values(case: Case, d: int, equal: int) -> None:
    rng = np.random.default_rng(3)
    s = rng.uniform(0.7, 1.5, size=(101, d))
    s[:, :equal] = s[:, :1]
    F, D = with_stretches(rng, s), directions(rng, 101, d)
    assert tangent_error(case, F, D, 1e-4) <= 1e-8
    nearly = case.differential(
        with_stretches(np.random.default_rng(4), s), D
    )  # the same stretches, other axes
    assert tangent_error(case, F, D, 1e-4, nearly) > 1e-2


@both
@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-13])
def test_hencky_tangent_of_nearly_equal_stretches(d: int, gap: float) -> None:
    """(ln a - ln b)/(a - b) must not lose digits: the tangent there is that of equal stretches up to the gap."""
    rng = np.random.default_rng(5)
    s = np.full((64, d), 1.3)
    D = directions(rng, 64, d)
    exact = CASE["hencky"].differential(np.broadcast_to(1.3 * np.eye(d), (64, d, d)), D)
    s[:, 0] += gap
    close = CASE["hencky"].differential(np.eye(d) * s[:, None], D)
    error = norm(close - exact).max() / norm(exact).max()
    assert error <= 5 * gap + 1e-14
    naive = (np.log(s[0, 0]) - np.log(s[0, 1])) / (s[0, 0] - s[0, 1])  # what the plain quotient would lose
    if gap <= 1e-9:
        assert abs(naive * 1.3 - 1) > 5 * gap + 1e-14


def tensor(case: Case, F: np.ndarray, *, positive: bool) -> np.ndarray:
    """The tangent as a matrix (n, d*d, d*d)."""
    n, d, _ = F.shape
    columns = []
    for k in range(d * d):
        D = np.zeros((n, d * d))
        D[:, k] = 1
        columns.append(case.differential(F, D.reshape(n, d, d), positive=positive).reshape(n, -1))
    return np.stack(columns, axis=2)


@both
@every
def test_projected_tangent_is_symmetric_and_not_negative(case: Case, d: int) -> None:
    rng = np.random.default_rng(4)
    F = np.concatenate([random_F(rng, 101, d), 0.8 * rotations(rng, 30, d), rotations(rng, 30, d)])
    if case.inverted:
        mirrored = random_F(rng, 50, d)
        mirrored[:, 0] *= -1
        F = np.concatenate([F, mirrored])
    full, projected = tensor(case, F, positive=False), tensor(case, F, positive=True)
    scale = np.abs(full).max(axis=(1, 2))
    for A in (full, projected):
        assert (np.abs(A - A.transpose(0, 2, 1)).max(axis=(1, 2)) / scale).max() <= 1e-12
    assert (np.linalg.eigvalsh(projected)[:, 0] / scale).min() >= -1e-12
    lowest = np.linalg.eigvalsh(full)[:, 0] / scale
    assert lowest.min() < -1e-3  # without the projection the gate fails: compression makes it indefinite
    stable = lowest > -1e-13
    assert stable.any()
    assert (np.abs(projected - full).max(axis=(1, 2)) / scale)[stable].max() <= 1e-12
    # Negative eigenvalues are removed, nothing is added: projecting can only stiffen.
    assert (np.linalg.eigvalsh(projected - full)[:, 0] / scale).min() >= -1e-12


@both
def test_fixed_corotated_tangent_of_uniform_compression(d: int) -> None:
    """F = s I: the odd pairs have the eigenvalue 2 mu (1 - 1/s) + lam (J - 1) s^(d-2), negative for s < 1."""
    material, s = FixedCorotated(3e4, 0.3), 0.9
    mu, lam = lame(material.E, material.nu)
    skew = np.zeros((1, d, d))
    skew[0, 0, 1], skew[0, 1, 0] = 1, -1
    dP = material.differential(s * np.eye(d)[None], skew)
    expected = 2 * mu * (1 - 1 / s) + lam * (s**d - 1) * s ** (d - 2)
    assert expected < 0
    np.testing.assert_allclose(dP, expected * skew, atol=1e-12 * mu)


def rest_moduli(case: Case, d: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """mu and lam (n,) of the case's tangent at rest."""
    values = case.material.parameters()
    if "bulk" in values:
        return np.zeros(n), np.full(n, values["bulk"])
    mu, lam = np.full(n, values["mu"]), np.full(n, values["lam"])
    if case.name == "snow":
        factor = np.exp(case.material.hardening * (1 - case._given(np.empty(n))["state"]["Jp"]))
        return mu * factor, lam * factor
    if case.parameters is not None:  # relaxation during the step softens shear, not the volume
        r = case.parameters[-1, 0]
        growth = (1 - r) * case._given(np.empty(n))["state"]["stretch_scale"]
        softer = mu * (growth / (growth + r)) ** 2
        return softer, lam + 2 / d * (mu - softer)
    return mu, lam


@both
@every
def test_rules_of_every_isotropic_material(case: Case, d: int) -> None:
    rng = np.random.default_rng(5)
    F, D, Q = random_F(rng, 101, d), directions(rng, 101, d), rotations(rng, 101, d)
    psi, P, modulus = case.energy(F), case.stress(F), case.material.modulus()

    def close(a: np.ndarray, b: np.ndarray, scale: float) -> bool:
        return float(np.abs(a - b).max()) <= 1e-12 * scale

    assert close(case.stress(Q), 0 * Q, modulus)  # no stress in any rotated rest state
    assert close(case.energy(Q), np.zeros(len(Q)), modulus)
    assert psi.min() >= 0
    trace = np.trace(D, axis1=1, axis2=2)[:, None, None]
    rest = np.broadcast_to(np.eye(d), F.shape)
    mu, lam = (value[:, None, None] for value in rest_moduli(case, d, len(F)))
    hooke = mu * (D + D.transpose(0, 2, 1)) + lam * trace * np.eye(d)
    scale = max(modulus, float(np.abs(hooke).max()))
    assert close(case.differential(rest, D), hooke, scale)  # Hooke's law at rest
    assert not close(case.differential(rest, D), hooke + 1e-3 * lam * D, scale)
    assert close(case.energy(Q @ F), psi, psi.max()) and close(case.energy(F @ Q), psi, psi.max())
    assert close(case.stress(Q @ F), Q @ P, np.abs(P).max())
    assert close(case.stress(F @ Q), P @ Q, np.abs(P).max())
    assert not close(case.stress(Q @ F), P @ Q, np.abs(P).max())  # turning on the wrong side is noticed
    tau = P @ F.transpose(0, 2, 1)
    assert close(tau, tau.transpose(0, 2, 1), np.abs(tau).max())


def test_fixed_corotated_stress_of_uniform_expansion() -> None:
    """F = s I in 3D: tau = [2 mu (s - 1) s + lam (J - 1) J] I."""
    material, s = FixedCorotated(3e4, 0.3), 1.2
    mu, lam = lame(material.E, material.nu)
    tau = s * material.stress(s * np.eye(3)[None])[0]
    np.testing.assert_allclose(tau, (2 * mu * (s - 1) * s + lam * (s**3 - 1) * s**3) * np.eye(3), atol=1e-9)


@both
def test_deviatoric_corotated_without_volume_part_has_no_pressure(d: int) -> None:
    """The stress of the shape part has no trace; the volume part is a pressure kappa (J - 1) J."""
    case, F = CASE["deviatoric-corotated"], random_F(np.random.default_rng(6), 101, d)
    mu, lam = lame(case.material.E, case.material.nu)
    tau, J = case.stress(F) @ F.transpose(0, 2, 1), np.linalg.det(F)
    pressure = np.trace(tau, axis1=1, axis2=2) / d
    np.testing.assert_allclose(pressure, (lam + 2 * mu / d) * (J - 1) * J, rtol=1e-11, atol=1e-9 * mu)
    assert np.abs(pressure - lam * (J - 1) * J).max() > 0.1 * mu  # lam alone would not be the bulk modulus


def youngs(material) -> tuple[float, float]:
    """E and nu of a material given by them or by mu and lam."""
    if isinstance(material, OldroydB):
        mu, lam = material.mu, material.lam
        return mu * (3 * lam + 2 * mu) / (lam + mu), lam / (2 * (lam + mu))
    return material.E, material.nu


SOLID = [c.material for c in CASES if "liquid" not in c.name and c.parameters is None]


@pytest.mark.parametrize("material", SOLID, ids=lambda m: f"{m.label}-{youngs(m)[1]:.2f}")
def test_small_uniaxial_strain_gives_back_E_and_nu(material) -> None:
    strain = 1e-5

    def side_stress(t: float) -> np.ndarray:
        return material.stress(np.diag([1 + strain, 1 + t, 1 + t])[None])[0]

    a, b = -strain, strain
    for _ in range(60):  # the contraction that leaves the sides free of stress
        t = (a + b) / 2
        a, b = (t, b) if side_stress(t)[1, 1] < 0 else (a, t)
    E, nu = youngs(material)
    assert side_stress(t)[0, 0] / strain == pytest.approx(E, rel=1e-4)
    assert -t / strain == pytest.approx(nu, rel=1e-4)
    assert side_stress(0.0)[0, 0] / strain != pytest.approx(E, rel=1e-2)  # held sides: another modulus


@both
@pytest.mark.parametrize("plastic", [Rankine, VonMises, DruckerPrager, HerschelBulkley])
def test_elastic_part_of_plastic_materials_is_hencky(plastic: type, d: int) -> None:
    rng = np.random.default_rng(8)
    F, D = random_F(rng, 101, d), directions(rng, 101, d)
    material, hencky = plastic(E=3e4, nu=0.3), Hencky(3e4, 0.3)
    assert np.array_equal(material.energy(F), hencky.energy(F))
    assert np.array_equal(material.stress(F), hencky.stress(F))
    for positive in (False, True):
        assert np.array_equal(
            material.differential(F, D, positive=positive), hencky.differential(F, D, positive=positive)
        )
    assert not np.array_equal(material.stress(F), NeoHookean(3e4, 0.3).stress(F))


@both
@every
def test_ragged_batches_give_the_numbers_of_lanes(case: Case, d: int) -> None:
    F = random_F(np.random.default_rng(7), 64, d, 0.5, 2.0)
    psi, P = case.material.energy(F), case.material.stress(F)
    for n in (1, 2, 3, 5, 9):  # ends of batches are computed one by one, with the logarithm of the C library
        np.testing.assert_allclose(case.material.energy(F[:n]), psi[:n], rtol=1e-13)
        np.testing.assert_allclose(case.material.stress(F[:n]), P[:n], rtol=0, atol=1e-13 * np.abs(P).max())


@both
@every
def test_single_precision_agrees_with_double(case: Case, d: int) -> None:
    rng = np.random.default_rng(9)
    F, D = random_F(rng, 101, d, 0.5, 2.0), directions(rng, 101, d)
    for function in ("energy", "piola", "kirchhoff", "differential", "positive"):
        single, double = (
            core_call(function, case.material, F, t, direction=D) for t in (np.float32, np.float64)
        )
        scale = np.abs(double).max()
        np.testing.assert_allclose(single, double, rtol=0, atol=1e-5 * scale, err_msg=function)
        assert np.abs(single - double).max() > 1e-11 * scale  # it was single precision


@pytest.mark.parametrize(
    ("E", "nu", "density"), [(0, 0.3, 1), (1, 0.5, 1), (1, -1, 1), (1, 0.3, 0), (np.nan, 0.3, 1)]
)
def test_impossible_parameters_are_refused(E: float, nu: float, density: float) -> None:
    with pytest.raises(MaterialError):
        NeoHookean(E, nu, density)
