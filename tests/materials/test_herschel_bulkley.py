"""Yield-stress fluids: the implicit flow rule, and the law tau = yield + K rate^n in steady shear."""

from __future__ import annotations

import numpy as np
import pytest
from material_samples import both, core_call, norm, with_stretches

from continua.materials import HerschelBulkley, VonMises

EXPONENTS = [0.3, 0.5, 1.0, 1.7, 3.0]
exponents = pytest.mark.parametrize("exponent", EXPONENTS)


def fluid(exponent: float = 0.5, **changes) -> HerschelBulkley:
    return HerschelBulkley(**({"yield_stress": 30.0, "consistency": 10.0, "exponent": exponent} | changes))


def trials(d: int, n: int = 101, size: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(1)
    e = rng.uniform(-size, size, size=(n, d)) * 10 ** rng.uniform(-2, 0, size=(n, 1))
    return with_stretches(rng, np.exp(e))


def shear_stress(material: HerschelBulkley, F: np.ndarray) -> np.ndarray:
    """|dev tau|/sqrt(2), the shear stress of simple shear (n,)."""
    tau = material.kirchhoff(F)
    d = F.shape[1]
    return norm(tau - np.trace(tau, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)) / np.sqrt(2)


def remaining_stress(material: HerschelBulkley, trial: np.ndarray, dt: float) -> np.ndarray:
    """Shear stress after implicit flow: the overstress x solves x + mu dt (x/K)^(1/n) = x_trial. By bisection."""
    over, stiff = np.maximum(trial - material.yield_stress, 0), material.parameters()["mu"] * dt
    low, high = np.zeros_like(over), over.copy()
    for _ in range(200):
        x = (low + high) / 2
        above = x + stiff * (x / material.consistency) ** (1 / material.exponent) > over
        low, high = np.where(above, low, x), np.where(above, x, high)
    return np.where(trial > material.yield_stress, material.yield_stress + low, trial)


@both
@exponents
@pytest.mark.parametrize("dt", [1e-6, 1e-3, 1.0])
def test_overstress_solves_the_implicit_equation(exponent: float, d: int, dt: float) -> None:
    material, F = fluid(exponent), trials(d)
    new, state = material.project(F, dt=dt)
    trial, left = shear_stress(material, F), shear_stress(material, new)
    exact = remaining_stress(material, trial, dt)
    np.testing.assert_allclose(left, exact, rtol=1e-12, atol=1e-14 * material.modulus())
    explicit = trial - np.minimum(  # the same law taken at the beginning of the step
        material.parameters()["mu"] * dt * (np.maximum(trial - 30, 0) / 10) ** (1 / exponent), trial
    )
    assert np.abs(explicit - exact).max() > 1e-11 * material.modulus()
    np.testing.assert_allclose(np.linalg.det(new), np.linalg.det(F), rtol=1e-13)
    strain = np.linalg.norm(np.log(np.linalg.svd(F)[1]) - np.log(np.linalg.svd(new)[1]), axis=1)
    np.testing.assert_allclose(state["plastic_strain"], strain, atol=1e-13)


def test_strongly_thinning_fluids_solve_the_implicit_equation_too() -> None:
    material, F = fluid(0.1, consistency=0.5), trials(3)
    left = shear_stress(material, material.project(F, dt=0.1)[0])
    exact = remaining_stress(material, shear_stress(material, F), 0.1)
    np.testing.assert_allclose(left, exact, rtol=1e-12, atol=1e-14 * material.modulus())


@both
@exponents
def test_nothing_flows_below_yield_or_without_time(exponent: float, d: int) -> None:
    material, F = fluid(exponent), trials(d)
    new, state = material.project(F, dt=0.0)
    assert np.array_equal(new, F) and np.all(state["plastic_strain"] == 0)
    new, _ = material.project(F, dt=0.1)
    elastic = shear_stress(material, F) < 30 - 1e-9
    assert elastic.any() and not elastic.all()
    assert np.array_equal(new[elastic], F[elastic])  # to the last bit
    assert np.all(shear_stress(material, new)[~elastic] < shear_stress(material, F)[~elastic])


@both
@pytest.mark.parametrize("exponent", [0.1, 0.3, 0.5, 1, 3])
def test_without_consistency_it_is_perfectly_plastic(exponent: float, d: int) -> None:
    F = trials(d)
    material = fluid(exponent, consistency=0.0)
    new, _ = material.project(F, dt=1e-4)
    limit = VonMises(E=material.E, nu=material.nu, yield_stress=30 * np.sqrt(2)).project(F)[0]
    np.testing.assert_allclose(new, limit, rtol=0, atol=1e-12)
    assert np.abs(fluid(exponent).project(F, dt=1e-4)[0] - limit).max() > 1e-4


@both
def test_the_slower_the_flow_the_closer_to_yield(d: int) -> None:
    """Long steps leave no overstress; it falls from step to step and never below yield."""
    material, F = fluid(0.5), trials(d)
    stress = [shear_stress(material, material.project(F, dt=dt)[0]) for dt in (0, 1e-4, 1e-2, 1.0, 1e8)]
    above = stress[0] > 30
    for longer, shorter in zip(stress[1:], stress):
        assert np.all(longer[above] <= shorter[above] + 1e-9) and np.all(longer[above] >= 30 - 1e-9)
    assert stress[-1][above].max() - 30 < 1e-2 < stress[1][above].max() - 30


def steady_shear(material: HerschelBulkley, rate: float, d: int) -> float:
    """Shear stress tau_12 of simple shear with a constant rate [1/s], followed until it is steady."""
    n, mu = material.exponent, material.parameters()["mu"]
    strain_at_flow = (material.yield_stress + material.consistency * rate**n) / mu
    dt = 0.05 * max(1, n) * strain_at_flow / rate  # twenty steps per relaxation time
    step = np.eye(d)
    step[0, 1] = rate * dt
    F, state = np.eye(d)[None], None
    for _ in range(600):
        F, state = material.project(step @ F, state, dt=dt)
    return float(material.kirchhoff(F)[0, 0, 1])


@both
@exponents
@pytest.mark.parametrize("rate", [0.1, 1.0, 10.0])
def test_steady_simple_shear_follows_the_flow_law(exponent: float, d: int, rate: float) -> None:
    """tau = yield + K rate^n, up to the square of the elastic strain, which is below 1 % here."""
    material = HerschelBulkley(E=1e6, nu=0.4, yield_stress=30.0, consistency=10.0, exponent=exponent)
    law = 30 + 10 * rate**exponent
    error = 5 * (law / material.parameters()["mu"]) ** 2 + 1e-4
    measured = steady_shear(material, rate, d)
    assert measured == pytest.approx(law, rel=error)
    assert measured != pytest.approx(
        30 + 10 * (1.02 * rate) ** exponent + 0.05, rel=error
    )  # 2 % in the rate shows


def test_thinning_and_thickening() -> None:
    """Apparent viscosity tau/rate falls with the rate for n < 1 and rises for n > 1 (no yield stress)."""

    def viscosity(exponent: float, rate: float) -> float:
        material = HerschelBulkley(E=1e6, nu=0.4, yield_stress=0.0, consistency=10.0, exponent=exponent)
        return steady_shear(material, rate, 2) / rate

    ratio = {n: viscosity(n, 10.0) / viscosity(n, 1.0) for n in (0.5, 1.0, 2.0)}
    assert ratio == pytest.approx({0.5: 10**-0.5, 1.0: 1.0, 2.0: 10.0}, rel=2e-3)


@both
@exponents
def test_single_precision_and_ragged_batches(exponent: float, d: int) -> None:
    material, F = fluid(exponent), trials(d, 64)
    new, state = material.project(F, dt=0.05)
    for n in (1, 2, 3, 5):
        np.testing.assert_allclose(material.project(F[:n], dt=0.05)[0], new[:n], rtol=0, atol=1e-14)
    single, z = core_call("flow", material, F, np.float32)
    np.testing.assert_allclose(single, new, rtol=0, atol=1e-5)
    np.testing.assert_allclose(z[0], state["plastic_strain"], rtol=0, atol=1e-5)
    assert np.abs(single - new).max() > 1e-11
