"""Hyperelastic solids: energy, stress and tangent fit together and obey the rules of elasticity."""

from __future__ import annotations

import numpy as np
import pytest
from material_samples import directions, norm, random_F, rotations, slope, with_stretches

from continua import _core
from continua.errors import MaterialError
from continua.materials import FixedCorotated, NeoHookean
from continua.materials.base import CATALOGUE, lame, to_components

MATERIALS = [FixedCorotated(3e4, 0.3), NeoHookean(3e4, 0.3), NeoHookean(2e5, 0.45)]
both = pytest.mark.parametrize("d", [2, 3])
every = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: f"{m.label}-{m.nu}")


def stress_error(material, F: np.ndarray, D: np.ndarray, stress=None) -> float:
    """Slope of the energy against the stress, relative to the stress."""
    P = material.stress(F) if stress is None else stress
    return float((np.abs(slope(material.energy, F, D, 1e-5) - (P * D).sum(axis=(1, 2))) / norm(P)).max())


def tangent_error(material, F: np.ndarray, D: np.ndarray, h: float, tangent=None) -> float:
    """Slope of the stress against the differential, relative to the differential."""
    dP = material.differential(F, D) if tangent is None else tangent
    return float((norm(slope(material.stress, F, D, h) - dP) / norm(dP)).max())


@both
@every
def test_stress_is_the_slope_of_the_energy_and_tangent_the_slope_of_stress(material, d: int) -> None:
    rng = np.random.default_rng(1)
    F, D = random_F(rng, 301, d), directions(rng, 301, d)
    assert stress_error(material, F, D) <= 1e-8
    assert tangent_error(material, F, D, 1e-5) <= 1e-7
    # 1 % too much stress, or a tangent without the term of the rotating axes, must be noticed.
    assert stress_error(material, F, D, 1.01 * material.stress(F)) > 1e-3
    frozen = material.differential(F, (D + D.transpose(0, 2, 1)) / 2)
    assert tangent_error(material, F, D, 1e-5, frozen) > 1e-2


@both
def test_fixed_corotated_is_smooth_when_inverted(d: int) -> None:
    rng = np.random.default_rng(2)
    s = rng.uniform(0.6, 2.0, size=(301, d))
    s[:, -1] = -0.4 * s[:, :-1].min(axis=1)
    F, D = with_stretches(rng, s), directions(rng, 301, d)
    assert stress_error(MATERIALS[0], F, D) <= 1e-8
    assert tangent_error(MATERIALS[0], F, D, 1e-5) <= 1e-7


@pytest.mark.parametrize("equal", [2, 3])
@both
@every
def test_tangent_at_equal_singular_values(material, d: int, equal: int) -> None:
    rng = np.random.default_rng(3)
    s = rng.uniform(0.7, 1.5, size=(101, d))
    s[:, :equal] = s[:, :1]
    F, D = with_stretches(rng, s), directions(rng, 101, d)
    assert tangent_error(material, F, D, 1e-4) <= 1e-8


def tensor(material, F: np.ndarray, *, positive: bool) -> np.ndarray:
    """The tangent as a matrix (n, d*d, d*d)."""
    n, d, _ = F.shape
    columns = []
    for k in range(d * d):
        D = np.zeros((n, d * d))
        D[:, k] = 1
        columns.append(material.differential(F, D.reshape(n, d, d), positive=positive).reshape(n, -1))
    return np.stack(columns, axis=2)


@both
@every
def test_projected_tangent_is_symmetric_and_not_negative(material, d: int) -> None:
    rng = np.random.default_rng(4)
    F = np.concatenate([random_F(rng, 101, d), 0.8 * rotations(rng, 30, d), rotations(rng, 30, d)])
    if material.label == "fixed-corotated":
        inverted = random_F(rng, 50, d)
        inverted[:, 0] *= -1
        F = np.concatenate([F, inverted])
    full, projected = tensor(material, F, positive=False), tensor(material, F, positive=True)
    scale = np.abs(full).max(axis=(1, 2))
    for A in (full, projected):
        assert (np.abs(A - A.transpose(0, 2, 1)).max(axis=(1, 2)) / scale).max() <= 1e-12
    assert (np.linalg.eigvalsh(projected)[:, 0] / scale).min() >= -1e-12
    lowest = np.linalg.eigvalsh(full)[:, 0] / scale
    assert (
        lowest.min() < -1e-3
    )  # without the projection the gate fails: compression makes the tangent indefinite
    stable = lowest > 1e-9
    assert stable.any()
    assert (np.abs(projected - full).max(axis=(1, 2)) / scale)[stable].max() <= 1e-12


@both
def test_fixed_corotated_tangent_of_uniform_compression(d: int) -> None:
    """F = s I: the odd pairs have the eigenvalue 2 mu (1 - 1/s) + lam (J - 1) s^(d-2), negative for s < 1."""
    material, s = MATERIALS[0], 0.9
    mu, lam = lame(material.E, material.nu)
    skew = np.zeros((1, d, d))
    skew[0, 0, 1], skew[0, 1, 0] = 1, -1
    dP = material.differential(s * np.eye(d)[None], skew)
    expected = 2 * mu * (1 - 1 / s) + lam * (s**d - 1) * s ** (d - 2)
    assert expected < 0
    np.testing.assert_allclose(dP, expected * skew, atol=1e-12 * mu)


@both
@every
def test_rules_of_every_isotropic_material(material, d: int) -> None:
    rng = np.random.default_rng(5)
    F, D, Q = random_F(rng, 101, d), directions(rng, 101, d), rotations(rng, 101, d)
    mu, lam = lame(material.E, material.nu)
    psi, P = material.energy(F), material.stress(F)

    def close(a: np.ndarray, b: np.ndarray, scale: float) -> bool:
        return float(np.abs(a - b).max()) <= 1e-12 * scale

    assert close(material.stress(Q), 0 * Q, mu + lam)  # no stress in any rotated rest state
    assert close(material.energy(Q), np.zeros(len(Q)), mu + lam)
    assert psi.min() >= 0
    trace = np.trace(D, axis1=1, axis2=2)[:, None, None]
    rest = np.broadcast_to(np.eye(d), F.shape)
    hooke = mu * (D + D.transpose(0, 2, 1)) + lam * trace * np.eye(d)
    assert close(material.differential(rest, D), hooke, mu + lam)  # Hooke's law at rest
    assert close(material.energy(Q @ F), psi, psi.max()) and close(material.energy(F @ Q), psi, psi.max())
    assert close(material.stress(Q @ F), Q @ P, np.abs(P).max())
    assert close(material.stress(F @ Q), P @ Q, np.abs(P).max())
    assert not close(material.stress(Q @ F), P @ Q, np.abs(P).max())  # turning on the wrong side is noticed
    tau = P @ F.transpose(0, 2, 1)
    assert close(tau, tau.transpose(0, 2, 1), np.abs(tau).max())


def test_fixed_corotated_stress_of_uniform_expansion() -> None:
    """F = s I in 3D: tau = [2 mu (s - 1) s + lam (J - 1) J] I."""
    material, s = MATERIALS[0], 1.2
    mu, lam = lame(material.E, material.nu)
    tau = s * material.stress(s * np.eye(3)[None])[0]
    np.testing.assert_allclose(tau, (2 * mu * (s - 1) * s + lam * (s**3 - 1) * s**3) * np.eye(3), atol=1e-9)


@every
def test_small_uniaxial_strain_gives_back_E_and_nu(material) -> None:
    strain = 1e-5

    def side_stress(t: float) -> np.ndarray:
        return material.stress(np.diag([1 + strain, 1 + t, 1 + t])[None])[0]

    a, b = -strain, strain
    for _ in range(60):  # the contraction that leaves the sides free of stress
        t = (a + b) / 2
        a, b = (t, b) if side_stress(t)[1, 1] < 0 else (a, t)
    assert side_stress(t)[0, 0] / strain == pytest.approx(material.E, rel=1e-4)
    assert -t / strain == pytest.approx(material.nu, rel=1e-4)
    assert side_stress(0.0)[0, 0] / strain != pytest.approx(
        material.E, rel=1e-2
    )  # held sides: another modulus


@both
def test_infeasible_deformation_has_infinite_energy_never_nan(d: int) -> None:
    rng = np.random.default_rng(6)
    F = random_F(rng, 51, d)
    F[::2, 0] *= -1
    F[1::2, 0] = 0  # det F exactly 0
    F[7] = 0
    energy = NeoHookean().energy(F)
    assert np.all(energy == np.inf)
    assert np.isfinite(FixedCorotated().energy(F)).all()
    assert np.isfinite(FixedCorotated().stress(F)).all()


@both
@every
def test_ragged_batches_and_single_precision_agree(material, d: int) -> None:
    """The scalar tail of a batch, and float arrays, give the numbers of the double-precision lanes."""
    F = random_F(np.random.default_rng(7), 23, d, 0.5, 2.0)
    psi, P = material.energy(F), material.stress(F)
    for n in (1, 2, 3, 5, 9):
        np.testing.assert_allclose(material.energy(F[:n]), psi[:n], rtol=1e-13)
        np.testing.assert_allclose(material.stress(F[:n]), P[:n], rtol=0, atol=1e-13 * np.abs(P).max())
    f = to_components(F).astype(np.float32)
    names = CATALOGUE[material.model]["parameters"]
    parameters = np.array([[material.parameters()[k]] * 23 for k in names], np.float32)
    out = np.empty(23, np.float32)
    _core.material_energy(material.model, f, parameters, np.zeros((0, 23), np.float32), out)
    np.testing.assert_allclose(out, psi, rtol=0, atol=1e-5 * psi.max())


@pytest.mark.parametrize(
    ("E", "nu", "density"), [(0, 0.3, 1), (1, 0.5, 1), (1, -1, 1), (1, 0.3, 0), (np.nan, 0.3, 1)]
)
def test_impossible_parameters_are_refused(E: float, nu: float, density: float) -> None:
    with pytest.raises(MaterialError):
        NeoHookean(E, nu, density)
