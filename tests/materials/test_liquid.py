"""Liquids: equation of state, loss of contact, and Newtonian viscosity of every material that has it."""

from __future__ import annotations

import numpy as np
import pytest
from material_samples import both, core_call, directions, norm, random_F, slope

from continua.materials import Liquid, NeoHookean, OldroydB, VonMises

K = 2e6
exponents = pytest.mark.parametrize("exponent", [1.0, 2.0, 7.0])


def volumes(d: int, J: np.ndarray) -> np.ndarray:
    """F with given det F and random shape."""
    F = random_F(np.random.default_rng(1), len(J), d)
    return F * (J / np.linalg.det(F))[:, None, None] ** (1 / d)


@both
@exponents
@pytest.mark.parametrize("tension", [True, False])
def test_equation_of_state(exponent: float, d: int, tension: bool) -> None:
    """Cauchy stress -p I with p = K/n ((rho/rho0)^n - 1); none in expansion unless it bears tension."""
    material = Liquid(bulk_modulus=K, exponent=exponent, tension=tension, viscosity=0.0)
    J = np.linspace(0.6, 1.4, 81)
    F = volumes(d, J)
    sigma = material.kirchhoff(F) / J[:, None, None]
    pressure = K / exponent * (J**-exponent - 1)
    if not tension:
        pressure = np.where(J > 1 + 1e-9, 0, pressure)
    np.testing.assert_allclose(
        sigma,
        -pressure[:, None, None] * np.broadcast_to(np.eye(d), F.shape),
        rtol=0,
        atol=1e-11 * np.abs(pressure).max(),
    )
    linear = K * (1 - J)  # not the law: linear in the volume
    assert np.abs(pressure - linear).max() > 1e-2 * K


@both
@exponents
@pytest.mark.parametrize("tension", [True, False])
def test_energy_is_that_of_the_pressure_and_not_negative(exponent: float, d: int, tension: bool) -> None:
    material = Liquid(bulk_modulus=K, exponent=exponent, tension=tension)
    J = np.concatenate([np.linspace(0.5, 0.99, 50), np.linspace(1.01, 2, 50)])
    F = volumes(d, J)
    D = directions(np.random.default_rng(2), len(F), d)
    psi, P = material.energy(F), material.stress(F)
    assert psi.min() >= 0
    assert np.all(psi[J > 1] == 0) != tension
    error = np.abs(slope(material.energy, F, D, 1e-5) - (P * D).sum(axis=(1, 2)))
    assert (error / (norm(P) + 1e-3 * K)).max() <= 1e-8
    shifted = slope(lambda A: material.energy(A) * (1 + 1e-3), F, D, 1e-5) - (P * D).sum(axis=(1, 2))
    assert (np.abs(shifted) / (norm(P) + 1e-3 * K)).max() > 1e-4
    exact = K / exponent * ((J ** (1 - exponent) - 1) / (exponent - 1) if exponent > 1 else -np.log(J))
    exact = exact + K / exponent * (J - 1)
    np.testing.assert_allclose(
        psi, exact if tension else np.where(J > 1, 0, exact), rtol=0, atol=1e-11 * psi.max()
    )


def test_sound_is_as_fast_as_the_bulk_modulus_says() -> None:
    """dp/drho = K/rho0 at rest: c = sqrt(K/rho0); water() is ten times as fast as the motion."""
    material = Liquid(bulk_modulus=K, tension=True)
    J = np.array([1 - 1e-6, 1 + 1e-6])
    p = -material.kirchhoff(volumes(3, J))[:, 0, 0] / J
    assert material.density * (p[0] - p[1]) / (1 / J[0] - 1 / J[1]) / 1e3 == pytest.approx(K, rel=1e-5)
    assert material.wave_speed() == pytest.approx(np.sqrt(K / 1000))
    assert Liquid.water(3.0).wave_speed() == pytest.approx(30.0)
    assert Liquid.water(3.0).wave_speed() != pytest.approx(Liquid.water().wave_speed())


@both
def test_only_the_volume_is_remembered(d: int) -> None:
    """Flow replaces F by diag(J, 1, 1): same stress, and shear leaves no trace."""
    material, F = Liquid(tension=True), random_F(np.random.default_rng(3), 64, d)
    new, _ = material.project(F, dt=0.1)
    diagonal = np.broadcast_to(np.eye(d), F.shape).copy()
    diagonal[:, 0, 0] = np.linalg.det(F)
    np.testing.assert_allclose(new, diagonal, rtol=1e-13, atol=0)
    tau = material.kirchhoff(F)
    np.testing.assert_allclose(material.kirchhoff(new), tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    assert np.abs(NeoHookean().kirchhoff(new) - NeoHookean().kirchhoff(F)).max() > 1e3
    single, _ = core_call("flow", material, F, np.float32)
    np.testing.assert_allclose(single, new, rtol=0, atol=1e-5)
    for n in (1, 3):
        np.testing.assert_allclose(material.project(F[:n])[0], new[:n], rtol=1e-14)


# ---- viscosity: row 14 ----

VISCOUS = [Liquid(viscosity=3.0), OldroydB(viscosity=0.7), OldroydB.toothpaste()]


@both
@pytest.mark.parametrize("material", VISCOUS, ids=["liquid", "oldroyd-b", "toothpaste"])
def test_viscous_stress_is_twice_viscosity_times_strain_rate(material, d: int) -> None:
    """Cauchy stress 2 eta sym(grad v): tau grows by J times that, whatever the step."""
    rng = np.random.default_rng(4)
    F, L = random_F(rng, 65, d, 0.5, 2.0), rng.normal(size=(65, d, d))
    eta, J = material.viscosity, np.linalg.det(F)[:, None, None]
    quiet, moving = material.kirchhoff(F), material.kirchhoff(F, velocity_gradient=L)
    rate = (L + L.transpose(0, 2, 1)) / 2
    scale = np.abs(moving).max()
    np.testing.assert_allclose(moving - quiet, 2 * eta * J * rate, rtol=0, atol=1e-12 * scale)
    assert material.dynamic_viscosity() == eta
    assert material.kinematic_viscosity() == pytest.approx(eta / material.density)
    assert np.abs(moving - quiet - eta * J * rate).max() > 1e-2 * eta  # eta sym(grad v) is half of it
    spin = L - L.transpose(0, 2, 1)
    np.testing.assert_allclose(
        material.kirchhoff(F, velocity_gradient=spin), quiet, rtol=0, atol=1e-12 * scale
    )


@both
def test_solids_have_no_viscous_stress(d: int) -> None:
    rng = np.random.default_rng(5)
    F, L = random_F(rng, 33, d), rng.normal(size=(33, d, d))
    for material in (NeoHookean(), VonMises(), OldroydB(viscosity=0.0)):
        np.testing.assert_allclose(
            material.kirchhoff(F, velocity_gradient=L), material.kirchhoff(F), rtol=1e-14
        )
        assert material.dynamic_viscosity() == 0


def test_viscosity_of_the_table_of_scenes() -> None:
    """The stress printed means mu_N/2; the potential printed acts like mu_N/dt."""
    foam = (0.2, 5.0, 50.0, 1e-4, 0.5)
    assert OldroydB.from_table(*foam).viscosity == pytest.approx(5e-5)
    assert OldroydB.from_table(*foam, dt=1e-3).viscosity == pytest.approx(0.1)
    assert OldroydB.shaving_foam() == OldroydB.from_table(*foam)
