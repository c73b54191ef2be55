"""Plastic flow of elements: what they remember as undeformed changes, the law stays."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_samples import MATERIALS, deformed, derivative_errors, random_mesh, shaken

from continua.materials import FixedCorotated, VonMises
from continua.mesh import Elements

both = pytest.mark.parametrize("d", [2, 3])
flowing = pytest.mark.parametrize("material", [m for m in MATERIALS if m.flows], ids=lambda m: m.label)


@both
@flowing
def test_flow_projects_the_elastic_deformation(material, d: int) -> None:
    points, cells = random_mesh(d)
    dt, v = 0.01, shaken(np.zeros_like(points), 2.0, 4)
    x = points + dt * v
    elements = Elements(points, cells, material)
    F = elements.deformation(x)
    rate = (F - np.eye(d)) / dt  # the step began undeformed
    projected, state = material.project(F, dt=dt, velocity_gradient=rate)
    assert np.abs(projected - F).max() > 1e-6
    elements.flow(x, v, dt)
    np.testing.assert_allclose(elements.deformation(x), projected, atol=1e-11)
    for name, values in state.items():
        np.testing.assert_allclose(elements.history()[name], values, rtol=1e-11)


@both
def test_forces_after_flow_are_derivatives_and_follow_the_printed_formula(d: int) -> None:
    """P = (dPsi/dFE) FP^-T with FP = FE^-1 F."""
    points, cells = random_mesh(d)
    material = VonMises(1e5, 0.3, yield_stress=2e3)
    elements = Elements(points, cells, material)
    x = deformed(points)
    total = elements.deformation(x)
    elements.flow(x, np.zeros_like(x), 0.01)
    FE = elements.deformation(x)
    FP = np.linalg.inv(FE) @ total
    assert np.abs(FP - np.eye(d)).max() > 1e-3
    P = material.stress(FE) @ np.linalg.inv(FP).transpose(0, 2, 1)
    elastic = Elements(points, cells, FixedCorotated())  # for its kinematics only
    dx = shaken(np.zeros_like(x), 1.0, 8)
    dF = elastic.deformation(x + dx) - elastic.deformation(x)
    work = np.sum(elements.volumes[:, None, None] * P * dF)
    np.testing.assert_allclose(np.vdot(elements.gradient(x), dx), work, rtol=1e-9)
    assert (derivative_errors(elements, shaken(x, 0.005)) < 1e-7).all()


def test_elastic_elements_keep_their_bits_and_history_can_be_restored() -> None:
    points, cells = random_mesh(2)
    elements = Elements(points, cells, VonMises(1e5, 0.3, yield_stress=2e3))
    before = elements.history()
    elements.flow(1.001 * points, np.zeros_like(points), 0.01)
    assert np.array_equal(elements.history()["inverse_edges"], before["inverse_edges"])
    x = deformed(points)
    elements.flow(x, np.zeros_like(points), 0.01)
    assert not np.array_equal(elements.history()["inverse_edges"], before["inverse_edges"])
    yielded = elements.value(x)
    elements.restore(before)
    assert elements.value(x) > yielded
    assert np.array_equal(elements.history()["inverse_edges"], before["inverse_edges"])


def test_flat_elements_do_not_flow() -> None:
    points, cells = random_mesh(2)
    elements = Elements(points, cells, next(m for m in MATERIALS if m.label == "snow"))
    before = elements.history()
    elements.flow(np.zeros_like(points), np.zeros_like(points), 0.01)
    after = elements.history()
    assert all(np.array_equal(before[name], after[name]) for name in before)
