"""Oldroyd-B over one step: stress and tangent of the incremental potential, and the update of the conformation."""

from __future__ import annotations

import numpy as np
import pytest
from material_samples import both, core_call, random_F, slope
from oldroyd_reference import Step, appendix_b_gradient

from continua.materials import OldroydB

MU, LAM, WI, DT = 5.0, 50.0, 0.5, 0.2
forms = pytest.mark.parametrize("definite", [False, True], ids=["printed", "definite"])
N = 41


def step(definite: bool = True, dt: float = DT) -> Step:
    return Step(MU, LAM, WI, dt, definite)


def samples(d: int, n: int = N, size: float = 0.15) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Elastic F, scale, conformation b = scale F F^T and increments A."""
    rng = np.random.default_rng(d)
    F = random_F(rng, n, d, 0.6, 1.6)
    scale = rng.uniform(0.6, 1.6, n)
    b = scale[:, None, None] * F @ F.transpose(0, 2, 1)
    return F, scale, b, size * rng.normal(size=(n, d, d))


# ---- the references agree with each other: row 11 ----


@both
@forms
def test_reference_stress_and_tangent_are_slopes_of_the_potential(definite: bool, d: int) -> None:
    law, rng = step(definite), np.random.default_rng(1)
    F, _, b, A = samples(d, size=0.05)
    for k in range(N):
        J, dA = np.linalg.det(F[k]), rng.normal(size=(d, d))
        T, dT = law.stress(A[k], b[k], J), law.stress_differential(A[k], b[k], J, dA)
        numeric = slope(lambda X, k=k, J=J: law.energy(X, b[k], J), A[k], dA, 1e-4)
        assert numeric == pytest.approx((T * dA).sum(), abs=1e-8 * np.linalg.norm(T) * np.linalg.norm(dA))
        numeric = slope(lambda X, k=k, J=J: law.stress(X, b[k], J), A[k], dA, 1e-4)
        assert np.linalg.norm(numeric - dT) <= 1e-7 * np.linalg.norm(dT)
        other = step(not definite).stress_differential(A[k], b[k], J, dA)
        assert np.linalg.norm(numeric - other) > 1e-4 * np.linalg.norm(dT)


@both
@forms
def test_hessian_is_symmetric(definite: bool, d: int) -> None:
    law = step(definite)
    F, _, b, A = samples(d, 11, 0.05)
    units = np.eye(d * d).reshape(-1, d, d)
    for k in range(11):
        J = np.linalg.det(F[k])
        H = np.array([law.stress_differential(A[k], b[k], J, U).ravel() for U in units])
        assert np.abs(H - H.T).max() <= 1e-12 * np.abs(H).max()
        wrong = np.array([(law.stress_differential(A[k], b[k], J, U) @ F[k]).ravel() for U in units])
        assert np.abs(wrong - wrong.T).max() > 1e-3 * np.abs(H).max()


@both
def test_compact_form_equals_the_node_sums_of_appendix_b(d: int) -> None:
    """V0 T dw_i against dPhi/dx_i of a stencil of 3^d nodes."""
    law, rng = step(definite=False), np.random.default_rng(2)
    F, _, b, A = samples(d, 11, 0.05)
    for k in range(11):
        dw = rng.normal(size=(3**d, d))
        T = law.stress(A[k], b[k], np.linalg.det(F[k]))
        printed = appendix_b_gradient(law, A[k], b[k], F[k], dw)
        assert np.abs(dw @ T.T - printed).max() <= 1e-12 * np.abs(printed).max()
        assert np.abs(dw @ T - printed).max() > 1e-4 * np.abs(printed).max()


@both
@forms
def test_without_motion_and_relaxation_it_is_the_kirchhoff_stress(definite: bool, d: int) -> None:
    """T = mu (bE - I) + lam (J - 1) J I, J15 (4.8)."""
    law = step(definite, dt=0.0)
    F, scale, b, _ = samples(d)
    tau = OldroydB(MU, LAM, 1.0, WI).kirchhoff(F, {"stretch_scale": scale})
    for k in range(N):
        J = np.linalg.det(F[k])
        exact = MU * (F[k] @ F[k].T - np.eye(d)) + LAM * (J - 1) * J * np.eye(d)
        T = law.stress(np.zeros((d, d)), b[k], J)
        assert np.abs(T - exact).max() <= 1e-12 * LAM and np.abs(tau[k] - exact).max() <= 1e-12 * LAM
        assert np.abs(law.stress(0.01 * np.eye(d), b[k], J) - exact).max() > 1e-3 * MU


# ---- the library agrees with the references ----


@both
@pytest.mark.parametrize("dt", [0.0, 1e-3, 0.2, 5.0])
def test_library_is_the_incremental_potential_of_the_definite_form(dt: float, d: int) -> None:
    """energy, P F_n^T = T and dP F_n^T = dT for the trial F = (I + A) F_n, with parameters_over(dt)."""
    material, law, rng = OldroydB(MU, LAM, 1.0, WI), step(dt=dt), np.random.default_rng(3)
    F, scale, b, A = samples(d)
    dA = rng.normal(size=A.shape)
    J = np.linalg.det(F)
    trial, back = F + A @ F, F.transpose(0, 2, 1)
    given = {"state": {"stretch_scale": scale}, "parameters": material.parameters_over(dt)}
    psi, T = material.energy(trial, **given), material.stress(trial, **given) @ back
    dT = material.differential(trial, dA @ F, **given) @ back
    exact = [np.array([f(A[k], b[k], J[k]) for k in range(N)]) for f in (law.energy, law.stress)]
    changes = np.array([law.stress_differential(A[k], b[k], J[k], dA[k]) for k in range(N)])
    np.testing.assert_allclose(psi, exact[0], rtol=0, atol=1e-12 * np.abs(exact[0]).max())
    np.testing.assert_allclose(T, exact[1], rtol=0, atol=1e-12 * np.abs(exact[1]).max())
    np.testing.assert_allclose(dT, changes, rtol=0, atol=1e-12 * np.abs(changes).max())
    if dt > 0:  # without counting the relaxation it would be another potential
        plain = material.stress(trial, given["state"]) @ back
        assert np.abs(plain - exact[1]).max() > 1e-4 * np.abs(exact[1]).max()


def conformation(F: np.ndarray, state: dict[str, np.ndarray]) -> np.ndarray:
    return state["stretch_scale"][:, None, None] * F @ F.transpose(0, 2, 1)


@both
@forms
@pytest.mark.parametrize("dt", [1e-3, 0.2])
def test_flow_updates_the_conformation(definite: bool, dt: float, d: int) -> None:
    material = OldroydB(MU, LAM, 1.0, WI, printed=not definite)
    F, scale, b, A = samples(d, size=0.05)
    new, state = material.project(F + A @ F, {"stretch_scale": scale}, dt=dt, velocity_gradient=A / dt)
    exact = np.array([step(definite, dt).conformation(A[k], b[k]) for k in range(N)])
    np.testing.assert_allclose(conformation(new, state), exact, rtol=0, atol=1e-13 * np.abs(exact).max())
    other = np.array([step(not definite, dt).conformation(A[k], b[k]) for k in range(N)])
    assert np.abs(other - exact).max() > 1e-4
    np.testing.assert_allclose(np.linalg.det(new), np.linalg.det(F + A @ F), rtol=1e-13)  # det bE = J^2


@both
def test_printed_update_falls_back_where_it_loses_definiteness(d: int) -> None:
    """One step turning by an angle beyond sqrt(z)/(z - 1), z the ratio of eigenvalues of b."""
    z = 25.0
    limit = np.sqrt(z) / (z - 1)
    assert limit == pytest.approx(0.21, abs=2e-3)
    F = np.eye(d)
    F[0, 0] = np.sqrt(z)
    printed, definite = (OldroydB(MU, LAM, 1.0, np.inf, printed=p) for p in (True, False))
    slow, fast = OldroydB(MU, LAM, 1.0, 1e9, printed=False), []
    for factor in (0.9, 1.1):
        A = np.zeros((d, d))
        A[0, 1], A[1, 0] = -factor * limit, factor * limit
        trial = (F + A @ F)[None]
        new, state = printed.project(trial, dt=1.0, velocity_gradient=A[None])
        spd, other = slow.project(trial, dt=1.0, velocity_gradient=A[None])
        same = np.abs(conformation(new, state) - conformation(spd, other)).max() < 1e-6
        fast.append(same)
        b = step(False, 0.0).conformation(A, F @ F.T)
        assert (np.linalg.eigvalsh(b)[0] > 0) == (factor < 1)
        if factor < 1:
            np.testing.assert_allclose(conformation(new, state)[0], b, atol=1e-12 * z)
    assert fast == [False, True]
    assert np.array_equal(definite.project(trial, dt=1.0)[0], trial)  # never relaxes: F itself remembers


@both
def test_single_precision_and_ragged_batches(d: int) -> None:
    material = OldroydB(MU, LAM, 1.0, WI)
    F, scale, _, _ = samples(d, 64)
    new, state = material.project(F, {"stretch_scale": scale}, dt=0.05)
    for n in (1, 2, 3, 5):
        part, history = material.project(F[:n], {"stretch_scale": scale[:n]}, dt=0.05)
        np.testing.assert_allclose(part, new[:n], rtol=0, atol=4e-15)
        np.testing.assert_allclose(history["stretch_scale"], state["stretch_scale"][:n], rtol=4e-15)
    single, z = core_call("flow", material, F, np.float32, {"stretch_scale": scale})
    np.testing.assert_allclose(single, new, rtol=0, atol=1e-5)
    np.testing.assert_allclose(z[0], state["stretch_scale"], rtol=1e-5)
    assert np.abs(single - new).max() > 1e-11
