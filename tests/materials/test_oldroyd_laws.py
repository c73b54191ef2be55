"""Oldroyd-B in homogeneous flow against exact solutions: shear, start-up, relaxation, extension, rotation.

Times are in units of the relaxation time Wi = 0.5 s, rates in 1/Wi.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from material_samples import both, random_F, rotations
from scipy.linalg import expm

from continua.materials import OldroydB

MU, LAM, WI = 5.0, 50.0, 0.5
forms = pytest.mark.parametrize("printed", [True, False], ids=["printed", "definite"])


def fluid(printed: bool = False) -> OldroydB:
    return OldroydB(MU, LAM, 1.0, WI, printed=printed)


def drive(material: OldroydB, L: np.ndarray, dt: float, steps: int, F: np.ndarray | None = None):
    """Step with the constant velocity gradient L [1/Wi] and dt [Wi]; yields F (1, d, d) and history after each step."""
    d = len(L)
    F = np.eye(d)[None] if F is None else F
    state = {"stretch_scale": np.ones(1)}
    gradient = (L / WI)[None]
    for _ in range(steps):
        F, state = material.project(F + dt * L @ F, state, dt=dt * WI, velocity_gradient=gradient)
        yield F, state


def last(steps):
    return deque(steps, maxlen=1)[0]


def conformation(F: np.ndarray, state: dict[str, np.ndarray]) -> np.ndarray:
    return (state["stretch_scale"][:, None, None] * F @ F.transpose(0, 2, 1))[0]


def shear(d: int, w: float) -> np.ndarray:
    L = np.zeros((d, d))
    L[0, 1] = w
    return L


# ---- steady shear ----


@both
@pytest.mark.parametrize("w", [0.25, 1.0, 5.0])
@pytest.mark.parametrize("dt", [0.02, 0.05])
def test_printed_steady_shear_is_exact_for_any_step(w: float, dt: float, d: int) -> None:
    """b12 = w, b11 = 1 + 2 w^2; shear stress mu w k, normal stress difference 2 mu w^2 k with k = (1 + w^2)^(-1/d)."""
    material = fluid(printed=True)
    F, state = last(drive(material, shear(d, w), dt, int(40 / dt)))
    b, tau = conformation(F, state), material.kirchhoff(F, state)[0]
    exact = np.eye(d)
    exact[:2, :2] = [[1 + 2 * w**2, w], [w, 1]]
    np.testing.assert_allclose(b, exact, rtol=0, atol=1e-10)
    thinning = (1 + w**2) ** (-1 / d)
    assert tau[0, 1] / MU == pytest.approx(w * thinning, abs=1e-10)
    assert (tau[0, 0] - tau[1, 1]) / MU == pytest.approx(2 * w**2 * thinning, abs=1e-10)
    assert tau[0, 1] / MU != pytest.approx(w, rel=1e-2)  # the classic model does not thin


def test_printed_values_of_steady_shear_in_3d() -> None:
    for w, stress, normal in ((0.25, 0.2450, 0.1225), (1.0, 0.7937, 1.5874), (5.0, 1.6878, 16.878)):
        F, state = last(drive(fluid(printed=True), shear(3, w), 0.05, 800))
        tau = fluid().kirchhoff(F, state)[0]
        assert tau[0, 1] / MU == pytest.approx(stress, abs=6e-5)
        assert (tau[0, 0] - tau[1, 1]) / MU == pytest.approx(normal, abs=6e-4)


@both
def test_definite_steady_shear_has_its_own_fixed_point_of_first_order(d: int) -> None:
    """b12 = w x/(e^x - 1), b11 = 1 + (2 w x b12 + w^2 x^2)/(e^x - 1) with x = dt/Wi: tends to the law with x."""
    w, errors = 1.0, []
    for x in (0.1, 0.05):
        b = conformation(*last(drive(fluid(), shear(d, w), x, int(40 / x))))
        b12 = w * x / np.expm1(x)
        assert b[0, 1] == pytest.approx(b12, abs=1e-10)
        assert b[0, 0] == pytest.approx(1 + (2 * w * x * b12 + (w * x) ** 2) / np.expm1(x), abs=1e-10)
        assert b[1, 1] == pytest.approx(1, abs=1e-10)
        errors.append(abs(b[0, 1] - w))
    assert 0.9 < np.log2(errors[0] / errors[1]) < 1.1


# ---- transients ----


@both
@forms
def test_start_up_of_shear_to_first_order(printed: bool, d: int) -> None:
    """b12 = w (1 - e^-t), b11 = 1 + 2 w^2 (1 - (1 + t) e^-t)."""
    w, errors = 2.0, []
    for dt in (0.02, 0.01):
        error = 0.0
        for k, (F, state) in enumerate(drive(fluid(printed), shear(d, w), dt, int(4 / dt))):
            b, t = conformation(F, state), (k + 1) * dt
            exact = [w * -np.expm1(-t), 1 + 2 * w**2 * (1 - (1 + t) * np.exp(-t))]
            error = max(error, abs(b[0, 1] - exact[0]), abs(b[0, 0] - exact[1]))
        errors.append(error)
    assert errors[0] < 0.1 and 0.9 < np.log2(errors[0] / errors[1]) < 1.1


@pytest.mark.parametrize(("d", "w", "ratio"), [(2, 2.0, 1.19), (3, 2.0, 1.05), (3, 5.0, 1.16)])
def test_stress_overshoots_when_shear_starts(d: int, w: float, ratio: float) -> None:
    dt = 0.01
    stress = [fluid().kirchhoff(F, z)[0, 0, 1] for F, z in drive(fluid(), shear(d, w), dt, int(6 / dt))]
    steady = MU * w * (1 + w**2) ** (-1 / d)
    assert max(stress) / steady == pytest.approx(ratio, abs=0.01)
    gentle = [fluid().kirchhoff(F, z)[0, 0, 1] for F, z in drive(fluid(), shear(d, 0.3), dt, int(6 / dt))]
    assert max(gentle) <= gentle[-1] * (1 + 1e-3)  # slow shear does not overshoot


@both
def test_relaxation_at_rest(d: int) -> None:
    """b - I fades as exp(-t/Wi): exactly in the definite form, -1.0 % and -0.1 % at Wi/50 and Wi/500 as printed."""
    F = random_F(np.random.default_rng(1), 1, d, 0.8, 1.2)
    start = F[0] @ F[0].T - np.eye(d)

    def kept(printed: bool, steps: int) -> float:
        b = conformation(*last(drive(fluid(printed), np.zeros((d, d)), 1 / steps, steps, F)))
        return float(((b - np.eye(d)) * start).sum() / (start * start).sum() * np.e)

    for steps in (1, 7, 50):
        assert kept(False, steps) == pytest.approx(1, abs=1e-12)
    assert kept(True, 50) - 1 == pytest.approx(-1.0e-2, rel=0.02)
    assert kept(True, 500) - 1 == pytest.approx(-1.0e-3, rel=0.02)


def extension(d: int, rate: float) -> np.ndarray:
    return rate * np.diag([1.0] + [-1 / (d - 1)] * (d - 1))


@both
def test_extension_is_steady_below_half_and_blows_up_beyond(d: int) -> None:
    """b11 = 1/(1 - 2 rate), and growth as exp((2 rate - 1) t) beyond rate 1/2: no limit of extensibility."""
    for rate in (0.1, 0.4):
        b = conformation(*last(drive(fluid(printed=True), extension(d, rate), 0.1, 1300)))
        assert b[0, 0] == pytest.approx(1 / (1 - 2 * rate), rel=1e-10)
        errors = [
            conformation(*last(drive(fluid(), extension(d, rate), dt, int(40 / dt))))[0, 0] * (1 - 2 * rate)
            - 1
            for dt in (0.08, 0.04)
        ]
        assert 0.9 < np.log2(abs(errors[0] / errors[1])) < 1.1
    early, late = (
        conformation(*last(drive(fluid(), extension(d, 0.8), 0.01, int(t / 0.01))))[0, 0] for t in (8, 10)
    )
    assert np.log(late / early) / 2 == pytest.approx(2 * 0.8 - 1, rel=0.02)


# ---- invariants ----


@both
@forms
def test_the_elastic_strain_has_the_volume_of_the_motion(printed: bool, d: int) -> None:
    """det bE = J^2, J the product of det(I + A) of all steps."""
    rng, material = np.random.default_rng(2), fluid(printed)
    F, state, J = np.eye(d)[None], {"stretch_scale": np.ones(1)}, 1.0
    for _ in range(100):
        A = 0.05 * rng.normal(size=(d, d))
        J *= np.linalg.det(np.eye(d) + A)
        F, state = material.project(F + A @ F, state, dt=0.1 * WI, velocity_gradient=A[None] / (0.1 * WI))
    assert np.linalg.det(F[0] @ F[0].T) == pytest.approx(J**2, rel=1e-12)
    assert np.linalg.det(conformation(F, state)) != pytest.approx(
        J**2, rel=1e-3
    )  # b itself has another volume
    tau = material.kirchhoff(F, state)[0]
    assert np.abs(tau - tau.T).max() <= 1e-13 * MU


@both
def test_rotation_only_rotates(d: int) -> None:
    """100 exact rotations exp(W) leave what relaxation alone would, turned by their product."""
    rng = np.random.default_rng(3)
    F = random_F(rng, 1, d, 0.7, 1.4)
    turning = {printed: (F, {"stretch_scale": np.ones(1)}) for printed in (False, True)}
    resting, Q = (F, {"stretch_scale": np.ones(1)}), np.eye(d)
    dt = 0.02 * WI
    for _ in range(100):
        W = rng.normal(size=(d, d))
        R = expm(0.3 * (W - W.T))
        Q = R @ Q
        gradient = (R - np.eye(d))[None] / dt
        for printed, (F_k, z) in turning.items():
            turning[printed] = fluid(printed).project(R @ F_k, z, dt=dt, velocity_gradient=gradient)
        resting = fluid().project(*resting, dt=dt)
    expected = Q @ conformation(*resting) @ Q.T
    assert np.abs(conformation(*turning[False]) - expected).max() <= 1e-12
    assert (
        np.abs(conformation(*turning[True]) - expected).max() > 1e-2
    )  # the printed form strains what it turns
    tau = fluid().kirchhoff(*resting)[0]
    np.testing.assert_allclose(fluid().kirchhoff(*turning[False])[0], Q @ tau @ Q.T, atol=1e-12 * LAM)


@both
@forms
def test_a_turned_observer_sees_the_same_step(printed: bool, d: int) -> None:
    rng, n = np.random.default_rng(4), 31
    F, Q = random_F(rng, n, d, 0.7, 1.4), rotations(rng, n, d)
    L, state = rng.normal(size=(n, d, d)), {"stretch_scale": rng.uniform(0.7, 1.4, n)}
    dt, back = 0.05 * WI, Q.transpose(0, 2, 1)

    def stepped(F: np.ndarray, L: np.ndarray) -> np.ndarray:
        new, z = fluid(printed).project(F + dt * L @ F, state, dt=dt, velocity_gradient=L)
        return z["stretch_scale"][:, None, None] * new @ new.transpose(0, 2, 1)

    expected = Q @ stepped(F, L) @ back
    assert np.abs(stepped(Q @ F, Q @ L @ back) - expected).max() <= 1e-12
    assert np.abs(stepped(Q @ F, L) - expected).max() > 1e-2


@both
def test_without_relaxation_it_is_an_elastic_sponge(d: int) -> None:
    """Wi = inf: b = F F^T to round-off after many steps; the printed form drifts with the step."""
    rng = np.random.default_rng(5)
    L = rng.normal(size=(d, d)) / 2
    errors = {}
    for printed in (False, True):
        material, F, state = OldroydB(MU, LAM, 1.0, np.inf, printed=printed), np.eye(d)[None], None
        total = np.eye(d)
        for _ in range(80):
            total = total + 0.5 / 80 * L @ total
            F, state = material.project(F + 0.5 / 80 * L @ F, state, dt=0.5 / 80, velocity_gradient=L[None])
        exact = total @ total.T
        errors[printed] = np.abs(conformation(F, state) - exact).max() / np.abs(exact).max()
    assert errors[False] <= 1e-14 and 1e-5 < errors[True] < 2e-2
