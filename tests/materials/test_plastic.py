"""Yield surfaces: the flow ends on them, at the closest point, and costs energy."""

from __future__ import annotations

import numpy as np
import pytest
from material_samples import both, core_call, directions, norm, random_F, rotations, with_stretches
from scipy.optimize import lsq_linear, minimize

from continua.materials import DruckerPrager, Rankine, VonMises

MATERIALS = [
    VonMises(),
    VonMises(hardening=3e5),
    Rankine(),
    Rankine(strength=0.0),
    DruckerPrager(),
    DruckerPrager(cohesion=1e4, friction_angle=20.0),
    DruckerPrager(volume_correction=False),
]
every = pytest.mark.parametrize("material", MATERIALS, ids=range(len(MATERIALS)))


def strains(F: np.ndarray) -> np.ndarray:
    """Principal logarithmic strains (n, d), largest first."""
    return np.log(np.linalg.svd(F, compute_uv=False))


def stiffness(material, d: int) -> np.ndarray:
    """C with tau = C e for principal values."""
    p = material.parameters()
    return 2 * p["mu"] * np.eye(d) + p["lam"] * np.ones((d, d))


def trials(d: int, n: int = 301, seed: int = 1, size: float = 0.3) -> np.ndarray:
    """F with principal strains up to `size`, a third of them small enough to be elastic."""
    rng = np.random.default_rng(seed)
    e = rng.uniform(-size, size, size=(n, d))
    e[::3] *= 0.02
    return with_stretches(rng, np.exp(e))


# ---- laws that every yield surface obeys ----


@both
@every
def test_flow_ends_on_the_yield_surface(material, d: int) -> None:
    F = trials(d)
    new, state = material.project(F)
    strength = {"von-mises": 2e4, "rankine": 2e4, "drucker-prager": material.modulus() * 1e-2}[material.label]
    assert material.yield_function(new, state).max() <= 1e-12 * strength
    assert material.yield_function(F).max() > strength  # before the flow the gate fails


@both
@every
def test_yield_function_is_that_of_the_stress(material, d: int) -> None:
    """The formulas of the yield functions, from the stress tensor instead of principal strains."""
    F = trials(d)
    tau = material.kirchhoff(F)
    trace = np.trace(tau, axis1=1, axis2=2)
    deviator = norm(tau - trace[:, None, None] / d * np.eye(d))
    p = material.parameters()
    state = {"plastic_strain": np.full(len(F), 0.1)}
    expected = {
        "von-mises": lambda: deviator - p["yield"] - 0.1 * p["hardening"],
        "rankine": lambda: np.linalg.eigvalsh(tau)[:, -1] - p["strength"],
        "drucker-prager": lambda: deviator + p["alpha"] * (trace - d * p["tip"]),
    }[material.label]()
    np.testing.assert_allclose(
        material.yield_function(F, state), expected, rtol=0, atol=1e-12 * material.modulus()
    )
    stretched = F * np.where(np.arange(d) == 0, 1.01, 1.0)
    assert np.abs(material.yield_function(stretched, state) - expected).max() > 1e-3 * material.modulus()
    mirrored = F * np.where(np.arange(d) == 0, -1, 1)
    assert np.all(material.yield_function(mirrored) == np.inf)


@both
@every
def test_flow_is_idempotent_and_leaves_elastic_states_alone(material, d: int) -> None:
    F = trials(d)
    new, state = material.project(F)
    again, history = material.project(new, state)
    np.testing.assert_allclose(again, new, rtol=0, atol=2e-15)
    for name in state:
        np.testing.assert_allclose(history[name], state[name], rtol=0, atol=1e-14)
    elastic = material.yield_function(F) < 0
    assert elastic.any() and not elastic.all()
    assert np.array_equal(new[elastic], F[elastic])  # to the last bit
    assert np.all(state["plastic_strain"][elastic] == 0)
    flowed = np.abs(new - F).max(axis=(1, 2))[~elastic]
    assert (flowed > 1e-12).mean() > 0.95


@both
@every
def test_flow_turns_with_the_material_and_keeps_the_principal_axes(material, d: int) -> None:
    F, rng = trials(d), np.random.default_rng(2)
    A, B = rotations(rng, len(F), d), rotations(rng, len(F), d)
    new, state = material.project(F)
    turned, history = material.project(A @ F @ B)
    np.testing.assert_allclose(turned, A @ new @ B, atol=1e-12)
    np.testing.assert_allclose(history["plastic_strain"], state["plastic_strain"], atol=1e-12)
    assert np.abs(turned - B @ new @ A).max() > 0.01
    step = np.linalg.solve(new, F)  # the plastic part is a pure stretch along the same axes
    assert norm(step - step.transpose(0, 2, 1)).max() <= 1e-12


@both
@every
def test_flow_costs_energy(material, d: int) -> None:
    F = trials(d)
    new, _ = material.project(F)
    e, kept = strains(F), strains(new)
    tau = kept @ stiffness(material, d)
    work = (tau * (e - kept)).sum(axis=1)
    assert work.min() >= -1e-13 * material.modulus()
    assert (material.energy(new) - material.energy(F)).max() <= 1e-13 * material.modulus()
    wrong = ((e @ stiffness(material, d)) * (kept - e)).sum(axis=1)
    assert wrong.min() < -1e-3 * material.modulus()  # flow in the other direction would gain energy


@both
@every
def test_single_precision_and_ragged_batches(material, d: int) -> None:
    F = trials(d, 64)
    new, state = material.project(F)
    for n in (1, 2, 3, 5):
        part, history = material.project(F[:n])
        np.testing.assert_allclose(part, new[:n], rtol=0, atol=2e-15)
        np.testing.assert_allclose(history["plastic_strain"], state["plastic_strain"][:n], atol=2e-15)
    single, z = core_call("flow", material, F, np.float32)
    np.testing.assert_allclose(single, new, rtol=0, atol=1e-5)
    np.testing.assert_allclose(z[0], state["plastic_strain"], rtol=0, atol=1e-5)
    assert np.abs(single - new).max() > 1e-11


# ---- closest points: row 9 ----


def closest_by_minimiser(material, e: np.ndarray) -> np.ndarray:
    """argmin (e - x)^T C (e - x) subject to f(C x) <= 0, in units of the shear modulus."""
    d, mu = len(e), material.parameters()["mu"]
    C = stiffness(material, d) / mu
    if isinstance(material, Rankine):  # bounds on the stress: a quadratic programme with box constraints
        L = np.linalg.cholesky(np.linalg.inv(C))
        limit = material.strength / mu
        result = lsq_linear(L.T, L.T @ (C @ e), bounds=(-np.inf, limit), method="bvls", tol=1e-15)
        return np.linalg.solve(C, result.x)
    limit = material.yield_stress / mu
    mean = np.ones((d, d)) / d

    def room(x: np.ndarray) -> float:  # squared, so that it is smooth at zero
        s = C @ x - mean @ C @ x
        return limit**2 - s @ s

    if room(e) >= 0:
        return e
    D = (np.eye(d) - mean) @ C
    result = minimize(
        lambda x: 0.5 * (e - x) @ C @ (e - x),
        e.mean() * np.ones(d),
        jac=lambda x: C @ (x - e),
        constraints={"type": "ineq", "fun": room, "jac": lambda x: -2 * D.T @ (D @ x)},
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 200},
    )
    return result.x


@both
@pytest.mark.parametrize("material", [Rankine(), VonMises()], ids=["rankine", "von-mises"])
def test_flow_goes_to_the_closest_point_in_the_energy_norm(material, d: int) -> None:
    F = trials(d, 300, seed=3)
    found = strains(material.project(F)[0])
    exact = np.array([closest_by_minimiser(material, e) for e in strains(F)])
    assert np.abs(found - exact).max() <= 1e-6
    assert np.abs(strains(F) - exact).max() > 1e-2
    # The closest point in the plain norm of strains is another one where the volume takes part.
    if isinstance(material, Rankine):
        plain = strains(F)
        plain[:, 0] -= np.maximum(0, material.yield_function(F)) / material.modulus()
        assert np.abs(plain - exact).max() > 1e-3


@pytest.mark.parametrize("material", [Rankine(), VonMises()], ids=["rankine", "von-mises"])
def test_tension_and_compression(material) -> None:
    """Rankine bears any compression; von Mises does not tell tension from compression."""
    axis = np.array([0.3, -0.05, -0.05])
    pulled, pressed = np.diag(np.exp(axis))[None], np.diag(np.exp(-axis))[None]
    yields = material.yield_function(pulled)[0] > 0, material.yield_function(pressed)[0] > 0
    assert yields == ((True, False) if isinstance(material, Rankine) else (True, True))
    kept = material.project(pressed)[0]
    assert np.array_equal(kept, pressed) == isinstance(material, Rankine)


@both
def test_von_mises_keeps_the_volume_and_hardens_linearly(d: int) -> None:
    soft, hard = VonMises(), VonMises(hardening=3e5)
    F = trials(d)
    new, state = hard.project(F)
    np.testing.assert_allclose(np.linalg.det(new), np.linalg.det(F), rtol=1e-13)
    flowed = state["plastic_strain"] > 0
    deviator = hard.yield_function(new) + hard.yield_stress
    np.testing.assert_allclose(
        deviator[flowed], (hard.yield_stress + 3e5 * state["plastic_strain"])[flowed], rtol=1e-11
    )
    strain = np.linalg.norm(strains(F) - strains(new), axis=1)  # plastic strain is the length of its path
    np.testing.assert_allclose(state["plastic_strain"], strain, atol=1e-13)
    assert soft.project(F)[1]["plastic_strain"].max() > 1.1 * strain.max()
    assert np.abs(np.linalg.det(Rankine().project(F)[0]) / np.linalg.det(F) - 1).max() > 1e-2


# ---- the rate form: row 10 ----


def rate_step(material, F: np.ndarray, L: np.ndarray, dt: float, factor: float = 1.0) -> np.ndarray:
    """Explicit step dF = (L - gamma n) F with gamma = alpha/beta, W20 (2.83)-(2.84); beta = 2 mu for von Mises."""
    tau, d = material.kirchhoff(F), F.shape[1]
    deviator = tau - np.trace(tau, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
    n = deviator / norm(deviator)[:, None, None]
    dF = L @ F
    change = material.differential(F, dF) @ F.transpose(0, 2, 1) + material.stress(F) @ dF.transpose(0, 2, 1)
    alpha = (n * change).sum(axis=(1, 2))
    gamma = np.maximum(0, alpha) / (factor * 2 * material.parameters()["mu"])
    return F + dt * (L - gamma[:, None, None] * n) @ F


@both
def test_rate_form_stays_on_the_yield_surface_to_second_order(d: int) -> None:
    material, rng = VonMises(), np.random.default_rng(4)
    F = material.project(trials(d, 400, size=0.5))[0]
    on = np.abs(material.yield_function(F)) < 1e-9 * material.modulus()
    F, L = F[on], directions(rng, int(on.sum()), d)
    loading = material.yield_function(F + 1e-6 * L @ F) > 0
    F, L = F[loading], L[loading]
    assert len(F) > 50

    def order(step) -> float:
        drift = [np.abs(material.yield_function(step(dt))).max() for dt in (1e-3, 5e-4)]
        return float(np.log2(drift[0] / drift[1]))

    assert order(lambda dt: rate_step(material, F, L, dt)) >= 1.9
    assert (
        order(lambda dt: rate_step(material, F, L, dt, factor=2.0)) < 1.1
    )  # beta as printed, twice too large

    def gap(dt: float) -> float:  # the return map is the same flow to first order
        returned = material.project(F + dt * L @ F)[0]
        return float(
            np.abs(material.kirchhoff(returned) - material.kirchhoff(rate_step(material, F, L, dt))).max()
        )

    assert np.log2(gap(1e-3) / gap(5e-4)) >= 1.9


# ---- friction: Drucker and Prager ----


@both
@pytest.mark.parametrize("cohesion", [0.0, 1e4])
def test_friction_keeps_the_volume_and_separation_ends_at_the_tip(d: int, cohesion: float) -> None:
    material = DruckerPrager(cohesion=cohesion)
    p = material.parameters()
    F = trials(d)
    new, state = material.project(F)
    volume, kept = strains(F).sum(axis=1), strains(new).sum(axis=1)
    bulk = d * p["lam"] + 2 * p["mu"]
    tip = d * p["tip"] / bulk
    assert tip == pytest.approx(d * cohesion / np.tan(np.radians(33)) / bulk)
    apart = volume > tip
    assert apart.any() and not apart.all()
    np.testing.assert_allclose(kept[~apart], volume[~apart], atol=1e-12)
    tau = material.kirchhoff(new[apart])
    np.testing.assert_allclose(tau, np.broadcast_to(p["tip"] * np.eye(d), tau.shape), atol=1e-12 * bulk)
    np.testing.assert_allclose(state["gained_volume"], np.maximum(volume - tip, 0), atol=1e-13)
    assert np.abs(kept[apart] - volume[apart]).max() > 1e-2


def test_cone_touches_coulombs_law_in_triaxial_compression() -> None:
    """(s1 - s3)/(s1 + s3 + 2 c cot(phi)) = sin(phi) for pressures s1 > s2 = s3."""
    for angle, cohesion in ((33.0, 0.0), (20.0, 5e3)):
        material = DruckerPrager(friction_angle=angle, cohesion=cohesion)
        tip = material.parameters()["tip"]

        def excess(ratio: float, material=material) -> float:
            e = np.linalg.solve(stiffness(material, 3), -1e4 * np.array([1.0, 1.0, ratio]))
            return float(material.yield_function(np.diag(np.exp(e))[None])[0])

        a, b = 1.0, 20.0
        for _ in range(80):
            middle = (a + b) / 2
            a, b = (a, middle) if excess(middle) > 0 else (middle, b)
        mobilised = (a - 1) * 1e4 / ((a + 1) * 1e4 + 2 * tip)
        assert np.degrees(np.arcsin(mobilised)) == pytest.approx(angle, abs=1e-6)
        assert np.degrees(np.arcsin((a - 1) / (a + 1))) == pytest.approx(angle, abs=1e-6) or cohesion > 0


@both
def test_cohesion_is_the_shear_strength_without_pressure(d: int) -> None:
    """At zero pressure |dev tau| = alpha d c cot(phi); without cohesion nothing is left."""
    e = np.zeros(d)
    e[0], e[-1] = 0.05, -0.05
    F = np.diag(np.exp(e))[None]
    for cohesion in (0.0, 1e3, 5e3):
        material = DruckerPrager(cohesion=cohesion)
        p = material.parameters()
        tau = material.kirchhoff(material.project(F)[0])[0]
        assert np.linalg.norm(tau) == pytest.approx(p["alpha"] * d * p["tip"], rel=1e-9, abs=1e-9)


@both
def test_gained_volume_is_given_back_before_there_is_pressure(d: int) -> None:
    """Open by 0.1, then close in small steps: sand must not swell."""

    def pressure_while_closing(material) -> np.ndarray:
        F, state = material.project(np.exp(0.1 / d) * np.eye(d)[None])
        step, pressures = np.exp(-0.01 / d), []
        for _ in range(20):
            F, state = material.project(step * F, state)
            pressures.append(-np.trace(material.kirchhoff(F)[0]) / d)
        return np.array(pressures)

    remembering = pressure_while_closing(DruckerPrager())
    p = DruckerPrager().parameters()
    closed = np.maximum(0, 0.01 * np.arange(1, 21) - 0.1)  # compression beyond the undeformed volume
    np.testing.assert_allclose(remembering, (p["lam"] + 2 * p["mu"] / d) * closed, atol=1e-9 * p["mu"])
    assert np.all(remembering[:9] < 1e-9 * p["mu"]) and remembering[-1] > 1e-2 * p["mu"]
    forgetting = pressure_while_closing(DruckerPrager(volume_correction=False))
    assert forgetting[0] > 1e-3 * p["mu"]  # pressure comes at once: the heap would have grown


@both
def test_hydrostatic_compression_is_elastic(d: int) -> None:
    F = 0.8 * rotations(np.random.default_rng(6), 31, d)
    assert np.array_equal(DruckerPrager().project(F)[0], F)
    assert np.array_equal(VonMises().project(F)[0], F)
    assert not np.array_equal(DruckerPrager().project(random_F(np.random.default_rng(7), 31, d))[0], F)
