"""Snow: stretches stay in their range, nothing is lost, compaction hardens."""

from __future__ import annotations

import numpy as np
import pytest
from material_samples import core_call, directions, norm, random_F, rotations, slope, with_stretches

from continua.materials import FixedCorotated, Snow

SNOW = Snow()
LOW, HIGH = 1 - 2.5e-2, 1 + 7.5e-3
both = pytest.mark.parametrize("d", [2, 3])


def stretches(F: np.ndarray) -> np.ndarray:
    return np.linalg.svd(F, compute_uv=False)


def trials(d: int, n: int = 301, seed: int = 1) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    F = np.concatenate([random_F(rng, n, d), with_stretches(rng, rng.uniform(0.96, 1.02, size=(n, d)))])
    return F, {"Jp": rng.uniform(0.6, 1.3, len(F))}


@both
def test_stretches_stay_in_range_and_volume_is_handed_over(d: int) -> None:
    F, state = trials(d)
    FE, new = SNOW.project(F, state)
    s = stretches(FE)
    assert s.min() >= LOW - 1e-12 and s.max() <= HIGH + 1e-12
    assert stretches(F).max() > HIGH + 1e-2  # before the projection the gate fails
    total = np.linalg.det(FE) * new["Jp"]
    np.testing.assert_allclose(total, np.linalg.det(F) * state["Jp"], rtol=1e-12)
    lost = np.linalg.det(FE) * state["Jp"]  # forgetting the hand-over is noticed
    assert np.abs(lost / total - 1).max() > 1e-2


@both
def test_the_plastic_part_is_a_pure_stretch_along_the_same_axes(d: int) -> None:
    """FE^-1 F_trial = V diag(s_trial / s) V^T: symmetric and positive, so FE FP = F with FP updated by it."""
    F, state = trials(d)
    FE, _ = SNOW.project(F, state)
    step = np.linalg.solve(FE, F)
    assert norm(step - step.transpose(0, 2, 1)).max() <= 1e-12
    assert np.linalg.eigvalsh(step).min() > 0
    np.testing.assert_allclose(FE @ step, F, atol=1e-12)
    clipped = np.clip(F, LOW, HIGH)  # clamping entries instead of singular values is something else
    other = np.linalg.solve(clipped + 1e-3 * np.eye(d), F)
    assert norm(other - other.transpose(0, 2, 1)).max() > 1e-3


@both
def test_projection_is_idempotent_and_leaves_elastic_states_alone(d: int) -> None:
    F, state = trials(d)
    FE, new = SNOW.project(F, state)
    again, same = SNOW.project(FE, new)
    np.testing.assert_allclose(again, FE, atol=1e-12)
    np.testing.assert_allclose(same["Jp"], new["Jp"], rtol=1e-12)
    rng = np.random.default_rng(2)
    inside = with_stretches(rng, rng.uniform(LOW + 1e-6, HIGH - 1e-6, size=(201, d)))
    kept, history = SNOW.project(inside, {"Jp": np.full(201, 0.8)})
    assert np.array_equal(kept, inside) and np.all(history["Jp"] == 0.8)  # to the last bit


@both
def test_projection_turns_with_the_material(d: int) -> None:
    F, state = trials(d)
    rng = np.random.default_rng(3)
    A, B = rotations(rng, len(F), d), rotations(rng, len(F), d)
    FE, new = SNOW.project(F, state)
    turned, history = SNOW.project(A @ F @ B, state)
    assert np.abs(turned - A @ FE @ B).max() <= 1e-12
    np.testing.assert_allclose(history["Jp"], new["Jp"], rtol=1e-12)


@both
def test_plastic_flow_does_not_raise_the_energy_at_fixed_moduli(d: int) -> None:
    F, state = trials(d)
    if d == 3:  # all axes compressed, or all stretched; see below for the rest
        F = F[(stretches(F).max(axis=1) <= 1) | (stretches(F).min(axis=1) >= 1)]
        state = {"Jp": state["Jp"][: len(F)]}
    drop = SNOW.energy(F, state) - SNOW.energy(SNOW.project(F, state)[0], state)
    assert len(drop) > 30 and drop.min() >= -1e-12 * SNOW.modulus()
    beyond = SNOW.energy(F, state) - SNOW.energy(1.2 * SNOW.project(F, state)[0], state)
    assert beyond.min() < -1e-2 * SNOW.modulus()  # a projection that overshoots is noticed


def test_where_clamping_singular_values_does_raise_the_energy() -> None:
    """Not the flow of a yield surface: cutting a stretch off a compressed state costs volume energy."""
    s = np.array([1.0085, 0.975, 0.975])
    mu, lam = SNOW.parameters()["mu"], SNOW.parameters()["lam"]

    def psi(s: np.ndarray) -> float:
        return mu * ((s - 1) ** 2).sum() + lam / 2 * (s.prod() - 1) ** 2

    before, after = SNOW.energy(np.diag(s)[None])[0], SNOW.energy(SNOW.project(np.diag(s)[None])[0])[0]
    assert after - before == pytest.approx(psi(s.clip(LOW, HIGH)) - psi(s), rel=1e-9)
    assert after > before
    stiff = Snow(nu=0.4995)  # lam / mu = 999: nearly incompressible
    shear = np.diag([1.2, 1 / 1.2])[None]
    assert stiff.energy(shear)[0] / stiff.parameters()["mu"] == pytest.approx(0.068, abs=1e-3)
    assert stiff.energy(stiff.project(shear)[0])[0] / stiff.parameters()["mu"] == pytest.approx(
        0.157, abs=2e-3
    )


def test_project_leaves_its_arguments_alone() -> None:
    for n in (1, 2, 5):
        F, state = 1.3 * np.tile(np.eye(2), (n, 1, 1)), {"Jp": np.ones(n)}
        FE, new = SNOW.project(F, state)
        assert np.array_equal(F, np.tile(1.3 * np.eye(2), (n, 1, 1))) and np.all(state["Jp"] == 1)
        assert np.all(FE != F) or np.all(new["Jp"] != 1)


def test_moduli_grow_with_compaction_up_to_a_factor_of_100() -> None:
    F = 1.001 * np.eye(2)[None]
    base = SNOW.stress(F)[0, 0, 0]
    factor = [SNOW.stress(F, {"Jp": [Jp]})[0, 0, 0] / base for Jp in (0.9, 0.7, 0.58, 1.0, 1.1, 0.0, 3.0)]
    np.testing.assert_allclose(factor[:3], np.exp([1.0, 3.0, 4.2]), rtol=1e-12)
    np.testing.assert_allclose(np.round(factor[:3], 1), [2.7, 20.1, 66.7])
    np.testing.assert_allclose(factor[3:], [1, np.exp(-1), 100, 0.01], rtol=1e-12)


def test_wave_speed_of_fresh_snow() -> None:
    assert SNOW.parameters()["mu"] == pytest.approx(5.833e4, rel=1e-4)
    assert SNOW.parameters()["lam"] == pytest.approx(3.889e4, rel=1e-4)
    assert SNOW.wave_speed() == pytest.approx(19.7, abs=0.05)


@both
def test_energy_stress_and_tangent_at_fixed_history(d: int) -> None:
    F, state = trials(d, 101)
    D = directions(np.random.default_rng(4), len(F), d)
    P = SNOW.stress(F, state)
    numeric = slope(lambda A: SNOW.energy(A, state), F, D, 1e-5)
    scale = norm(P) + 1e-3 * norm(P).max()
    assert (np.abs(numeric - (P * D).sum(axis=(1, 2))) / scale).max() <= 1e-8
    dP = SNOW.differential(F, D, state)
    assert (norm(slope(lambda A: SNOW.stress(A, state), F, D, 1e-5) - dP) / norm(dP)).max() <= 1e-7
    np.testing.assert_allclose(SNOW.stress(F), FixedCorotated(SNOW.E, SNOW.nu).stress(F), rtol=1e-12)
    assert np.abs(P - SNOW.stress(F)).max() > 0.1 * np.abs(P).max()  # hardening does change the stress


@both
def test_dry_sand_has_no_elastic_stretch(d: int) -> None:
    sand = Snow.dry_sand()
    FE, _ = sand.project(trials(d)[0])
    assert stretches(FE).max() <= 1 + 1e-12
    assert stretches(SNOW.project(trials(d)[0])[0]).max() > 1 + 1e-3


@both
def test_single_precision_and_ragged_batches(d: int) -> None:
    F, state = trials(d, 11)
    FE, new = SNOW.project(F, state)
    for n in (1, 2, 3, 5):
        part, history = SNOW.project(F[:n], {"Jp": state["Jp"][:n]})
        np.testing.assert_allclose(part, FE[:n], atol=1e-14)
        np.testing.assert_allclose(history["Jp"], new["Jp"][:n], rtol=1e-14)
    single, z = core_call("flow", SNOW, F, np.float32, state)
    np.testing.assert_allclose(single, FE, atol=2e-6)
    np.testing.assert_allclose(z[0], new["Jp"], rtol=2e-6)
    assert np.abs(single - FE).max() > 1e-11  # it was single precision


@both
@pytest.mark.parametrize("dtype, over", [(np.float64, 1e-11), (np.float32, 1e-4)])
@pytest.mark.parametrize("side", ["lower", "upper", "flipped"])
def test_one_particle_beyond_a_limit_is_found_among_many_within(
    d: int, dtype: type, over: float, side: str
) -> None:
    """Batches that are known to be elastic need no decomposition: that must hold for the last one of them."""
    rng = np.random.default_rng(7)
    s = rng.uniform(LOW + over, HIGH - over, size=(64, d))
    odd = rng.integers(64, size=4)
    s[odd, d - 1] = {"lower": LOW - over, "upper": HIGH + over, "flipped": -1.0}[side]
    F = with_stretches(rng, s)
    FE, z = core_call("flow", SNOW, F, dtype, {"Jp": np.ones(64)})
    others = np.setdiff1d(np.arange(64), odd)
    assert np.array_equal(FE[others], F.astype(dtype)[others]) and np.all(z[0][others] == 1)
    moved = norm(FE[odd] - F[odd])
    assert np.all(moved > 0.3 * over)  # what is left alone fails
    slack = 2 * np.finfo(dtype).eps
    assert stretches(FE[odd].astype(float)).min() >= LOW - 4 * slack
    assert stretches(FE[odd].astype(float)).max() <= HIGH + 4 * slack


# ---- flow that keeps the volume ----


@both
def test_preserving_flow_keeps_the_volume_and_hardens_nothing(d: int) -> None:
    """FE <- Jp^(1/d) FE after the clamp: det FP = 1, and stretches differ by a common factor from clamped ones."""
    keeping = Snow(preserve_volume=True)
    F, state = trials(d)
    FE, new = keeping.project(F, state)
    np.testing.assert_allclose(np.linalg.det(FE), np.linalg.det(F), rtol=1e-12)
    assert np.array_equal(new["Jp"], state["Jp"])
    clamped, history = SNOW.project(F, state)
    factor = (history["Jp"] / state["Jp"]) ** (1 / d)
    np.testing.assert_allclose(FE, factor[:, None, None] * clamped, rtol=0, atol=1e-12)
    assert np.abs(np.linalg.det(clamped) / np.linalg.det(F) - 1).max() > 1e-2  # the plain clamp does not


def test_preserving_flow_leaves_the_range() -> None:
    """Stretches (0.9, 0.95, 1.0) become 0.941, 0.941, 0.965: below 1 - compression, as the clamp alone never is."""
    rng = np.random.default_rng(8)
    F = with_stretches(rng, np.array([[0.9, 0.95, 1.0]]))
    s = stretches(Snow(preserve_volume=True).project(F)[0])[0]
    np.testing.assert_allclose(sorted(s), [0.941, 0.941, 0.965], atol=6e-4)
    assert s.min() < LOW - 0.03
    assert stretches(SNOW.project(F)[0]).min() >= LOW - 1e-12


@both
def test_preserving_flow_turns_with_the_material(d: int) -> None:
    keeping, rng = Snow(preserve_volume=True), np.random.default_rng(9)
    F, state = trials(d)
    A, B = rotations(rng, len(F), d), rotations(rng, len(F), d)
    assert np.abs(keeping.project(A @ F @ B, state)[0] - A @ keeping.project(F, state)[0] @ B).max() <= 1e-12
    assert np.abs(keeping.project(A @ F, state)[0] - keeping.project(F, state)[0] @ A).max() > 1e-3


def test_history_may_be_followed_by_the_full_plastic_part() -> None:
    """F = FE FP with FP updated by FE^-1 F_trial stays the total deformation, and Jp = det FP."""
    rng = np.random.default_rng(10)
    FE, FP, total, state = np.eye(3)[None], np.eye(3), np.eye(3), {"Jp": np.ones(1)}
    for _ in range(50):
        step = np.eye(3) + 0.01 * rng.normal(size=(3, 3))
        total, trial = step @ total, step @ FE
        FE, state = SNOW.project(trial, state)
        FP = np.linalg.solve(FE[0], trial[0]) @ FP
    np.testing.assert_allclose(FE[0] @ FP, total, rtol=0, atol=1e-12)
    assert np.linalg.det(FP) == pytest.approx(state["Jp"][0], rel=1e-12)
    assert abs(np.linalg.det(FP) - 1) > 1e-3
