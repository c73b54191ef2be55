"""Flattened, inverted, huge and tiny deformations: +inf where there is no energy, never NaN."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from material_samples import both, core_call, random_F

from continua.materials import (
    DeviatoricCorotated,
    DruckerPrager,
    FixedCorotated,
    Hencky,
    HerschelBulkley,
    Liquid,
    NeoHookean,
    OldroydB,
    QuadraticNeoHookean,
    Rankine,
    Snow,
    VonMises,
)

EVERYWHERE = [FixedCorotated(), Snow(), Snow(preserve_volume=True)]  # have an energy for every F
YIELDING = [
    Rankine(),
    Rankine(strength=0.0),
    VonMises(),
    VonMises(hardening=1e5),
    DruckerPrager(),
    HerschelBulkley(),
]
POSITIVE = [  # need det F > 0
    NeoHookean(),
    QuadraticNeoHookean(),
    DeviatoricCorotated(),
    Hencky(),
    *YIELDING,
    OldroydB(),
    Liquid(),
    Liquid(tension=True, exponent=1),
]
names = lambda m: m.label  # noqa: E731

entries = st.sampled_from([0.0, 1.0, -1.0]) | st.floats(-2, 2, allow_subnormal=False).map(
    lambda x: round(x, 6)
)


@st.composite
def deformations(draw: st.DrawFn, d: int) -> np.ndarray:
    """F (d, d): anything, of any rank, mirrored or not, with sizes from 1e-6 to 1e6."""
    F = draw(arrays(np.float64, (d, d), elements=entries))
    kind = draw(st.sampled_from(["any", "flat", "line", "mirrored", "rotation"]))
    if kind == "flat":
        F[:, -1] = F[:, 0]
    elif kind == "line":
        F = np.outer(F[0], F[-1])
    elif kind == "mirrored":
        F = np.diag([-1.0] + [1.0] * (d - 1)) @ F
    elif kind == "rotation":
        F = np.linalg.qr(F + 3 * np.eye(d))[0]
    return F * 10 ** draw(st.floats(-6, 6))


def volume(F: np.ndarray) -> float:
    """det F relative to the size of F: +1 for rotations, 0 where it is flat."""
    size = np.linalg.norm(F) / np.sqrt(len(F))
    return 0.0 if size == 0 else float(np.linalg.det(F / size))


def wrong(energy: np.ndarray, stress: np.ndarray) -> bool:
    """NaN anywhere, or energy and stress that disagree about what is admissible."""
    infinite = energy == np.inf
    flags = np.isnan(energy).any() or np.isnan(stress).any() or (energy < 0).any()
    return bool(flags or (infinite != (stress == np.inf).all(axis=(1, 2))).any())


@both
@given(data=st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_energy_and_stress_are_numbers_or_infinite_together(d: int, data: st.DataObject) -> None:
    F = data.draw(deformations(d))
    J = volume(F)
    for count in (1, 5):  # one by one, and in lanes with a ragged end
        batch = np.repeat(F[None], count, axis=0)
        for material in EVERYWHERE:
            assert np.isfinite(material.energy(batch)).all() and np.isfinite(material.stress(batch)).all()
        for material in POSITIVE:
            energy, stress = material.energy(batch), material.stress(batch)
            assert not wrong(energy, stress), material
            if J < -1e-9:
                assert np.all(energy == np.inf), material
            if J > 1e-3:
                assert np.isfinite(energy).all() and np.isfinite(stress).all(), material


def test_the_gate_notices_nan_and_disagreement() -> None:
    P = np.zeros((1, 2, 2))
    assert wrong(np.array([np.nan]), P) and wrong(np.array([np.inf]), P) and wrong(np.array([-1.0]), P)
    assert wrong(np.zeros(1), P + np.inf) and wrong(np.zeros(1), P + np.nan)
    assert not wrong(np.zeros(1), P) and not wrong(np.array([np.inf]), P + np.inf)


@both
@given(data=st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_flow_brings_yielding_material_back_to_where_it_can_be(d: int, data: st.DataObject) -> None:
    F = data.draw(deformations(d))
    for count in (1, 5):
        batch = np.repeat(F[None], count, axis=0)
        for material in (*YIELDING, *EVERYWHERE[1:]):
            new, state = material.project(batch, dt=0.1)
            assert np.isfinite(new).all() and np.all(np.linalg.det(new) > 0), material
            assert all(np.isfinite(value).all() for value in state.values()), material
            assert np.isfinite(material.energy(new, state)).all(), material


def infeasible(d: int) -> np.ndarray:
    """Inverted, flattened and vanished F (51, d, d)."""
    F = random_F(np.random.default_rng(6), 51, d)
    F[::2, 0] *= -1
    F[1::2, 0] = 0  # det F exactly 0
    F[7] = 0
    F[9] = np.diag([-1.0] + [1.0] * (d - 1))
    return F


@both
@pytest.mark.parametrize("material", POSITIVE, ids=names)
def test_infeasible_deformation_has_infinite_energy_and_stress(material, d: int) -> None:
    F = infeasible(d)
    assert np.all(material.energy(F) == np.inf) and np.all(material.stress(F) == np.inf)
    F[:, 0] *= -1
    assert np.isfinite(material.energy(F[::2])).sum() > 20  # mirrored back they are admissible
    for dtype in (np.float32, np.float64):
        assert np.all(core_call("energy", material, infeasible(d), dtype) == np.inf)
        assert np.all(core_call("piola", material, infeasible(d), dtype) == np.inf)


@both
@pytest.mark.parametrize("material", POSITIVE, ids=names)
def test_infeasible_deformation_has_infinite_kirchhoff_stress(material, d: int) -> None:
    F = infeasible(d)
    L = np.random.default_rng(7).normal(size=F.shape)
    assert np.all(material.kirchhoff(F) == np.inf)
    assert np.all(material.kirchhoff(F, velocity_gradient=L) == np.inf)


@both
@pytest.mark.parametrize("material", EVERYWHERE, ids=names)
def test_kirchhoff_stress_of_materials_for_every_deformation(material, d: int) -> None:
    assert np.isfinite(material.kirchhoff(infeasible(d))).all()


@both
@pytest.mark.parametrize(
    "material",
    [
        OldroydB(),
        OldroydB(printed=True),
        *POSITIVE[:4],
        *POSITIVE[-2:],
    ],
    ids=names,
)
def test_flow_of_infeasible_deformation_is_never_nan(material, d: int) -> None:
    F = infeasible(d)
    new, state = material.project(F, dt=0.1, velocity_gradient=np.zeros_like(F))
    assert np.isfinite(new).all()
    assert all(np.isfinite(value).all() for value in state.values())


@both
def test_oldroyd_b_when_nearly_flat(d: int) -> None:
    F = np.eye(d)[None] * np.array([1e-200] + [1.0] * (d - 1))
    assert not wrong(OldroydB().energy(F), OldroydB().stress(F))


@both
def test_snow_turned_inside_out_keeps_a_finite_history(d: int) -> None:
    """Inverted snow comes out clamped; its moduli stay within a factor of 100."""
    F = infeasible(d)
    new, state = Snow().project(F)
    s = np.linalg.svd(new, compute_uv=False)
    assert s.min() >= 0.975 - 1e-12 and s.max() <= 1.0075 + 1e-12 and np.all(np.linalg.det(new) > 0)
    stiff = Snow().stress(new, state) / np.maximum(np.abs(Snow().stress(new)), 1e-9)
    assert np.abs(stiff).max() <= 100 * (1 + 1e-9)
    assert np.linalg.svd(F, compute_uv=False).min() < 0.9
