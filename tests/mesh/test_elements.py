"""Finite elements: derivatives, balance, patch test, degenerate elements and determinism."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_samples import (
    MATERIALS,
    box,
    deformed,
    dense,
    derivative_errors,
    random_mesh,
    reference_gradient,
    shaken,
    total_torque,
)

from continua import _core
from continua.errors import GeometryError, MaterialError, SetupError
from continua.materials import FixedCorotated, IncompressibleFluid, Liquid, NeoHookean, Snow
from continua.materials.base import CATALOGUE, lame
from continua.mesh import Elements

both = pytest.mark.parametrize("d", [2, 3])
every = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.label)


def test_all_models_of_the_core_are_tested() -> None:
    assert {m.model for m in MATERIALS} == set(CATALOGUE)


@both
@every
def test_forces_and_stiffness_are_derivatives_of_the_energy(material, d: int) -> None:
    points, cells = random_mesh(d)
    elements = Elements(points, cells, material)
    assert (derivative_errors(elements, deformed(points)) < 1e-7).all()


def test_finite_differences_notice_a_wrong_force() -> None:
    points, cells = random_mesh(3)
    right, wrong = (Elements(points, cells, FixedCorotated(1e4, nu)) for nu in (0.3, 0.301))
    assert (derivative_errors(right, deformed(points), gradient_of=wrong) > 1e-5).all()


@both
@every
def test_internal_forces_leave_momentum_alone(material, d: int) -> None:
    points, cells = random_mesh(d)
    x = deformed(points)
    elements = Elements(points, cells, material)
    force, change = elements.gradient(x), elements.hessian(x).product(shaken(x, 1.0, 7))
    assert np.abs(force.sum(axis=0)).max() <= 1e-12 * np.abs(force).sum()
    assert np.abs(change.sum(axis=0)).max() <= 1e-12 * np.abs(change).sum()
    assert np.abs(total_torque(x, force)).max() <= 1e-12 * (np.abs(x).max() * np.abs(force).sum())


@both
@every
def test_forces_match_plain_numpy(material, d: int) -> None:
    points, cells = random_mesh(d, 3)
    x = deformed(points)
    elements = Elements(points, cells, material)
    expected = reference_gradient(elements, points, x)
    F = elements.deformation(x)
    np.testing.assert_allclose(elements.gradient(x), expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(elements.value(x), np.sum(elements.volumes * material.energy(F)), rtol=1e-13)
    dF = elements.deformation(shaken(x, 1.0, 3)) - F
    energy_change = np.sum(elements.volumes[:, None, None] * dF * material.differential(F, dF))
    dx = shaken(x, 1.0, 3) - x
    np.testing.assert_allclose(np.vdot(dx, elements.hessian(x).product(dx)), energy_change, rtol=1e-11)


@pytest.mark.parametrize(("d", "n"), [(2, 27), (3, 6)])
def test_meshes_of_several_chunks(d: int, n: int) -> None:
    """More cells than a chunk of the core takes, in random order."""
    points, cells = random_mesh(d, n)
    cells = np.random.default_rng(0).permutation(cells)[:-1]
    assert len(cells) > 1024 and len(cells) % 16
    elements = Elements(points, cells, FixedCorotated())
    x = deformed(points)
    expected = reference_gradient(elements, points, x)
    np.testing.assert_allclose(elements.gradient(x), expected, atol=1e-12 * np.abs(expected).max())
    assert (derivative_errors(elements, x) < 1e-7).all()
    H = elements.hessian(x).matrix()
    assert abs(H - H.T).max() <= 1e-13 * abs(H).max()


@both
def test_hessian_is_symmetric_and_agrees_with_its_matrix_and_diagonal(d: int) -> None:
    points, cells = random_mesh(d)
    x = deformed(points)
    elements = Elements(points, cells, NeoHookean())
    H = dense(elements, x)
    scale = np.abs(H).max()
    assert np.abs(H - H.T).max() <= 1e-12 * scale
    hessian = elements.hessian(x)
    assert np.abs(hessian.matrix().toarray() - H).max() <= 1e-14 * scale
    np.testing.assert_allclose(hessian.diagonal().ravel(), np.diag(H), rtol=1e-14)


@both
@every
def test_projection_removes_exactly_the_negative_part(material, d: int) -> None:
    points, cells = random_mesh(d)
    x = shaken(0.8 * points, 0.03)  # compressed
    elements = Elements(points, cells, material)
    H, projected = dense(elements, x), dense(elements, x, positive=True)
    scale = np.abs(projected).max()
    assert np.linalg.eigvalsh(projected).min() >= -1e-12 * scale
    assert np.linalg.eigvalsh(projected - H).min() >= -1e-12 * scale
    if material.model == "fixed-corotated":
        assert np.linalg.eigvalsh(H).min() < -1e-3 * scale
    if material.model != "liquid":  # a liquid under pressure is never free of negative eigenvalues
        stretched = 1.05 * points
        difference = dense(elements, stretched) - dense(elements, stretched, positive=True)
        assert np.abs(difference).max() <= 1e-12 * scale


def test_products_need_prepared_positions() -> None:
    with pytest.raises(SetupError, match="prepare"):
        Elements(POINTS, CELLS, FixedCorotated()).product(POINTS)


@both
@every
def test_patch_test(material, d: int) -> None:
    """An affine motion of an irregular mesh: the same stress everywhere and no force on inner nodes."""
    points, cells = random_mesh(d, 3)
    A = np.eye(d) + 0.1 * np.random.default_rng(2).normal(size=(d, d))
    elements = Elements(points, cells, material)
    inner = ((box(d, 3)[0] > 0) & (box(d, 3)[0] < 1)).all(axis=1)
    gradient = elements.gradient(points @ A.T)
    assert np.abs(elements.deformation(points @ A.T) - A).max() < 1e-13
    assert np.abs(gradient[inner]).max() <= 1e-12 * np.abs(gradient).max()
    bent = elements.gradient(points @ A.T + 0.1 * points**2)
    assert np.abs(bent[inner]).max() > 1e-4 * np.abs(bent).max()


@both
def test_elements_in_one_point_are_finite_and_turn_nowhere(d: int) -> None:
    points, cells = box(d, 2)
    material = FixedCorotated(1e4, 0.3)
    elements = Elements(points, cells, material)
    x = np.full_like(points, 0.3)
    mu, lam = lame(1e4, 0.3)
    np.testing.assert_allclose(elements.value(x), d * mu + lam / 2, rtol=1e-13)
    expected = Elements(points, cells, material).gradient(2 * points)  # P is a multiple of I in both
    scale = -2 * mu / material.stress(2 * np.eye(d)[None])[0, 0, 0]
    np.testing.assert_allclose(elements.gradient(x), scale * expected, atol=1e-11 * np.abs(expected).max())
    for positive in (False, True):
        assert np.isfinite(elements.hessian(x, positive=positive).values).all()


@both
def test_inverted_elements(d: int) -> None:
    points, cells = random_mesh(d)
    mirror = points * np.array([-1.0] + [1.0] * (d - 1)) + shaken(0 * points, 0.02)
    assert np.isfinite(Elements(points, cells, FixedCorotated()).value(mirror))
    assert (derivative_errors(Elements(points, cells, FixedCorotated()), mirror) < 1e-6).all()
    assert Elements(points, cells, NeoHookean()).value(mirror) == np.inf
    assert Elements(points, cells, NeoHookean()).value(np.full_like(points, np.nan)) == np.inf


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    points, cells = box(2, 105)  # enough for two threads
    x = deformed(points)
    elements = Elements(points, cells, FixedCorotated())
    threads = _core.threads()
    results = []
    try:
        for n in (1, 2, 3):
            _core.set_threads(n)
            hessian = elements.hessian(x)
            results.append((elements.value(x), elements.gradient(x), hessian.values, hessian.product(x)))
            assert all(np.isfinite(result).all() for result in results[-1])
    finally:
        _core.set_threads(threads)
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other))


def test_every_element_has_its_own_parameters() -> None:
    points, cells = random_mesh(2, 3)
    x = deformed(points)
    soft, stiff = FixedCorotated(1e4, 0.2), FixedCorotated(1e6, 0.4)
    half = np.arange(len(cells)) < 7
    table = np.where(half, soft.parameter_values()[:, None], stiff.parameter_values()[:, None])
    together = Elements(points, cells, soft, parameters=table)
    parts = [Elements(points, cells[half], soft), Elements(points, cells[~half], stiff)]
    np.testing.assert_allclose(together.value(x), sum(p.value(x) for p in parts), rtol=1e-13)
    apart = sum(p.gradient(x) for p in parts)
    np.testing.assert_allclose(together.gradient(x), apart, atol=1e-13 * np.abs(apart).max())
    together.set_parameters(soft.parameter_values())
    assert together.value(x) == Elements(points, cells, soft).value(x)


def test_history_variables_harden_elements() -> None:
    points, cells = random_mesh(2)
    x = 1.01 * points
    Jp = np.linspace(0.9, 1.0, len(cells))
    elements = Elements(points, cells, Snow(), state={"Jp": Jp})
    psi = Snow().energy(elements.deformation(x), {"Jp": Jp})
    np.testing.assert_allclose(elements.value(x), np.sum(elements.volumes * psi), rtol=1e-13)


@both
def test_lumped_mass(d: int) -> None:
    points, cells = random_mesh(d, 3)
    elements = Elements(points, cells, FixedCorotated(density=700.0))
    edges = points[cells[:, 1:]] - points[cells[:, :1]]
    np.testing.assert_allclose(elements.volumes, np.linalg.det(edges) / (2 if d == 2 else 6), rtol=1e-12)
    np.testing.assert_allclose(elements.lumped_mass().sum(), 700 * elements.volumes.sum(), rtol=1e-13)
    corner = elements.lumped_mass(np.where((cells == 0).any(axis=1), 2.0, 0.0))[0]
    np.testing.assert_allclose(
        corner, 2 * elements.volumes[(cells == 0).any(axis=1)].sum() / (d + 1), rtol=1e-13
    )


def test_order_of_vertices_does_not_matter() -> None:
    points, cells = random_mesh(3)
    x = deformed(points)
    turned = cells[:, [1, 2, 0, 3]]
    a, b = Elements(points, cells, Snow()), Elements(points, turned, Snow())
    np.testing.assert_allclose(a.gradient(x), b.gradient(x), rtol=1e-12, atol=1e-9)


def test_nodes_without_elements_feel_nothing() -> None:
    points, cells = random_mesh(2)
    points = np.vstack([points, [[9.0, 9.0]]])
    elements = Elements(points, cells, FixedCorotated())
    hessian = elements.hessian(points)
    assert not elements.gradient(points)[-1].any() and not hessian.diagonal()[-1].any()
    assert not hessian.product(np.ones_like(points))[-1].any()


POINTS, CELLS = box(2, 1)


@pytest.mark.parametrize(
    ("points", "cells", "message"),
    [
        (POINTS, CELLS[:, [0, 2, 1]], "cell 0 is inside out"),
        (POINTS[:, [0, 0]], CELLS, "cell 0 has no volume"),
        (np.where(POINTS == 1, np.nan, POINTS), CELLS, "finite"),
        (POINTS, [[0, 1, 1]], "cell 0 has the same point twice"),
        (POINTS, CELLS + 1, "names point 4"),
        (POINTS, CELLS - 1, "between 0"),
        (POINTS, CELLS.astype(float), "whole numbers"),
        (POINTS, CELLS[:, :2], "shape"),
        (POINTS, CELLS[:0], "no cells"),
        (POINTS[:, :1], CELLS, "2 or 3"),
    ],
)
def test_wrong_meshes_are_refused_with_a_reason(points, cells, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        Elements(points, cells, FixedCorotated())


@pytest.mark.parametrize(
    ("material", "options", "message"),
    [
        (Liquid(viscosity=1.0), {}, "viscosity"),
        (IncompressibleFluid(), {}, "built-in solid"),
        (FixedCorotated(), {"parameters": np.ones((3, 2))}, "parameters"),
        (FixedCorotated(), {"parameters": [1.0, np.nan]}, "parameters"),
        (Snow(), {"state": {"temperature": 3.0}}, "temperature"),
        (Snow(), {"state": {"Jp": np.ones(5)}}, "Jp"),
    ],
)
def test_wrong_materials_are_refused_with_a_reason(material, options, message: str) -> None:
    with pytest.raises(MaterialError, match=message):
        Elements(POINTS, CELLS, material, **options)


def test_the_core_names_the_wrong_argument() -> None:
    core = _core.MeshElements(
        POINTS, CELLS.astype(np.int32), "fixed-corotated", np.ones((2, 2)), np.empty((0, 2))
    )
    x, values = np.zeros((4, 2)), np.empty(core.hessian_size())
    with pytest.raises(ValueError, match=r"x: expected shape \(4, 2\)"):
        core.energy(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="x: wrong number type"):
        core.energy(np.zeros((4, 2), np.float32))
    with pytest.raises(ValueError, match="out"):
        core.gradient(x, np.zeros((2, 4)))
    with pytest.raises(ValueError, match="hessian"):
        core.product(values[:-1], x, x.copy())
    with pytest.raises(ValueError, match="out: must not be dx"):
        core.product(values, x, x)
    with pytest.raises(ValueError, match="dt"):
        core.flow(x, x, -1.0)
    with pytest.raises(ValueError, match="chocolate"):
        _core.MeshElements(POINTS, CELLS.astype(np.int32), "chocolate", np.ones((2, 2)), np.empty((0, 2)))
    with pytest.raises(ValueError, match="parameters"):
        core.set_parameters(np.ones((2, 3)))
