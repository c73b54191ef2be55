"""Stress kept with the particles is the stress of their state: the fused kernels against the functions on arrays."""

from __future__ import annotations

import numpy as np
import pytest
from material_samples import both

import continua as ct
from continua.materials import DruckerPrager, HerschelBulkley, Liquid, OldroydB, Rankine, VonMises
from continua.materials.base import upper_triangle

MATERIALS = [
    VonMises(hardening=1e5),
    Rankine(),
    DruckerPrager(),
    DruckerPrager(cohesion=1e3, volume_correction=False),
    HerschelBulkley(),
    OldroydB(mu=5e3, lam=5e4, density=1000.0, relaxation_time=0.01),
    OldroydB(mu=5e3, lam=5e4, density=1000.0, relaxation_time=0.01, printed=True),
    Liquid(bulk_modulus=1e5, viscosity=0.0),
    Liquid(bulk_modulus=1e5, viscosity=0.0, tension=True, exponent=1),
]


def body_after(material, d: int, precision: str, **options):
    """A block with random velocities that falls onto a plane."""
    gravity = (0, -9.81, 0)[:d]
    sim = ct.Simulation(0.1, gravity, precision=precision, dt=2e-4, **options)
    rng = np.random.default_rng(0)
    body = sim.add(
        ct.shapes.Box((0.05, 0.32, 0.02)[:d], (0.5, 0.5, 0.4)[:d]),
        material,
        velocity=lambda x: rng.uniform(-2, 2, x.shape) - [0, 3, 0][:d],
    )
    sim.add(ct.colliders.Plane((0.2, 1, 0)[:d], friction=0.3))
    for _ in range(15):
        sim.step()
    return body


def kept_and_expected(material, d: int, precision: str) -> tuple[np.ndarray, np.ndarray]:
    body = body_after(material, d, precision)
    arrays = body.set.arrays
    state = {name: arrays.state[k, : arrays.count] for k, name in enumerate(material.states)}
    F = arrays.F[:, : arrays.count].T.reshape(-1, d, d)
    return arrays.tau[:, : arrays.count], upper_triangle(material.kirchhoff(F, state))


@both
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.label)
def test_kept_stress_is_that_of_the_state(material, precision: str, d: int) -> None:
    kept, expected = kept_and_expected(material, d, precision)
    tolerance = {"double": 1e-12, "single": 3e-5}[precision] * material.modulus()
    np.testing.assert_allclose(kept, expected, rtol=0, atol=tolerance)
    assert np.abs(expected).max() > 3 * tolerance  # no stress at all would not do


@both
def test_viscous_stress_is_part_of_what_is_kept(d: int) -> None:
    """With MLS the affine velocity of a particle is the gradient that its viscous stress was computed with."""
    material = Liquid(bulk_modulus=1e5, viscosity=5.0)
    body = body_after(material, d, "double", stress_transfer="mls")
    arrays, n = body.set.arrays, body.set.arrays.count
    F, C = (getattr(arrays, name)[:, :n].T.reshape(-1, d, d) for name in ("F", "C"))
    expected = upper_triangle(material.kirchhoff(F, velocity_gradient=C))
    np.testing.assert_allclose(arrays.tau[:, :n], expected, rtol=0, atol=1e-12 * material.modulus())
    assert np.abs(expected - upper_triangle(material.kirchhoff(F))).max() > 1.0  # Pa of it are viscous
