"""Rayleigh damping: its matrix in both forms (M23 section 8), its energy and its work, and how fast modes decay."""

from __future__ import annotations

from itertools import product
from typing import get_args

import numpy as np
import pytest
from mesh_samples import MATERIALS, box, deformed, dense, derivative_errors, random_mesh, shaken
from scipy import linalg

from continua import _core
from continua.errors import SetupError
from continua.materials import FixedCorotated, Hencky, NativeMaterial, NeoHookean, Snow, VonMises
from continua.mesh import DampingForm, Elements, Rayleigh, Springs

Array = np.ndarray
FORMS: tuple[DampingForm, ...] = get_args(DampingForm)
SOLID = FixedCorotated(1e4, 0.3)
EXACT = 1e-12  # relative to the largest entry or eigenvalue
both = pytest.mark.parametrize("d", [2, 3])
each_form = pytest.mark.parametrize("form", FORMS)
several = pytest.mark.parametrize(
    "material",
    [SOLID, NeoHookean(1e4, 0.45), Hencky(1e4, 0.0), FixedCorotated(1e4, -0.4)],
    ids=["fixed-corotated", "neo-hookean", "hencky", "auxetic"],
)


def mesh(d: int = 2, form: DampingForm = "green", material: NativeMaterial = SOLID) -> tuple[Array, Elements]:
    points, cells = random_mesh(d, 3 - d + 1)
    return points, Elements(points, cells, material, damping_form=form)


def matrix(elements: Elements, x: Array) -> Array:
    return elements.damping(x).matrix().toarray()


def rigid_motions(x: Array) -> tuple[Array, Array]:
    """Displacements (n, N, d) of slow translations, and of rotations about the origin."""
    d = x.shape[1]
    planes = [(i, j) for i in range(d) for j in range(i + 1, d)]
    turns = np.zeros((len(planes), d, d))
    for turn, (i, j) in zip(turns, planes, strict=True):
        turn[i, j], turn[j, i] = -1.0, 1.0
    return np.stack([np.broadcast_to(e, x.shape) for e in np.eye(d)]), np.einsum("rij,nj->rni", turns, x)


def rotation(d: int, seed: int = 3) -> Array:
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    Q[:, 0] *= np.linalg.det(Q)
    return Q


def forces_on(K: Array, motions: Array) -> float:
    """Largest force of K against motions (n, N, d), relative to those on motions of the same size that deform."""
    rows = motions.reshape(len(motions), -1)
    return float(np.abs(rows @ K).max() / (np.abs(K).max() * np.abs(rows).max()))


def wild(points: Array, seed: int) -> Array:
    """Random states, many of their elements inside out."""
    return shaken(points, 1.0, seed)


# ---- the matrix --------------------------------------------------------------------------------------------------


def reference(elements: Elements, points: Array, x: Array, form: DampingForm, mu: float, lam: float) -> Array:
    """The same in NumPy, from the tensor A_ar (mu (d_rs d_pq + d_rq d_ps) + lam d_rp d_sq) A_bs of every element."""
    d, n = points.shape[1], len(points)
    edges = (points[elements.cells[:, 1:]] - points[elements.cells[:, :1]]).transpose(0, 2, 1)
    inner = np.linalg.inv(edges)
    G = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)  # (M, d + 1, d)
    volume = np.linalg.det(edges) / (2 if d == 2 else 6)
    A = np.einsum("mka,mkp->map", x[elements.cells], G)
    if form == "printed":
        U, _, Vt = np.linalg.svd(A)
        U[:, :, -1] *= np.linalg.det(U @ Vt)[:, None]
        A = U @ Vt
    one = np.eye(d)
    hooke = mu * (np.einsum("rs,pq->rpsq", one, one) + np.einsum("rq,ps->rpsq", one, one))
    hooke += lam * np.einsum("rp,sq->rpsq", one, one)
    C = np.einsum("mar,rpsq,mbs->mapbq", A, hooke, A)
    blocks = np.einsum("m,mkp,mapbq,mlq->mkalb", volume, G, C, G)
    K = np.zeros((n, d, n, d))
    for cell, block in zip(elements.cells, blocks, strict=True):
        for (a, k), (b, other) in product(enumerate(cell), enumerate(cell)):
            K[k, :, other, :] += block[a, :, b, :]
    return K.reshape(n * d, n * d)


@both
@each_form
def test_the_matrix_is_that_of_the_formula(d: int, form: DampingForm) -> None:
    points, elements = mesh(d, form)
    mu, lam = (elements.material.parameters()[name] for name in ("mu", "lam"))
    for x in (points, deformed(points), wild(points, 1)):
        expected = reference(elements, points, x, form, mu, lam)
        K = matrix(elements, x)
        np.testing.assert_allclose(K, expected, atol=EXACT * np.abs(expected).max())
        assert np.abs(K - K.T).max() < 1e-14 * np.abs(K).max()
    turned = reference(elements, points, x, form, mu, lam * 1.001)
    assert np.abs(K - turned).max() > 1e-5 * np.abs(K).max()


@both
def test_the_printed_form_is_the_tangent_of_the_material_in_the_rotation(d: int) -> None:
    """M23 section 8: C(R), the stiffness of fixed corotated elasticity with all stretches set to 1."""
    points, elements = mesh(d, "printed")
    x, dx = deformed(points), shaken(np.zeros_like(points), 1.0, 2)
    F = elements.deformation(x)
    U, _, Vt = np.linalg.svd(F)
    dF = elements.deformation(dx)  # linear in the positions
    dP = SOLID.differential(U @ Vt, dF)
    work = elements.volumes @ np.einsum("mij,mij->m", dF, dP)
    assert np.vdot(dx, elements.damping(x).product(dx)) == pytest.approx(work, rel=EXACT)
    strained = elements.volumes @ np.einsum("mij,mij->m", dF, SOLID.differential(F, dF))
    assert abs(strained / work - 1) > 1e-2


@both
@each_form
@pytest.mark.parametrize("material", MATERIALS, ids=lambda material: material.label)
def test_at_rest_damping_is_the_stiffness_of_every_material(
    d: int, form: DampingForm, material: NativeMaterial
) -> None:
    """mu and lam are those of small strains, and fit for damping: mu >= 0, lam + 2 mu / d >= 0."""
    points, elements = mesh(d, form, material)
    turned = points @ rotation(d).T
    for x in (points, turned):
        stiffness = elements.hessian(x).matrix().toarray()
        np.testing.assert_allclose(matrix(elements, x), stiffness, atol=EXACT * np.abs(stiffness).max())
    assert linalg.eigvalsh(matrix(elements, deformed(points))).min() > -EXACT * np.abs(stiffness).max()


@both
def test_moduli_belong_to_the_elements_and_their_history(d: int) -> None:
    points, cells = random_mesh(d)
    table = np.linspace(1.0, 2.0, len(cells)) * SOLID.parameter_values()[:, None]
    graded = Elements(points, cells, SOLID, parameters=table)
    stiffness = graded.hessian(points).matrix().toarray()
    uniform = Elements(points, cells, SOLID)
    for elements, same in ((graded, True), (uniform, False)):
        assert (np.abs(matrix(elements, points) - stiffness).max() < 1e-11 * np.abs(stiffness).max()) == same
    uniform.set_parameters(table)
    np.testing.assert_array_equal(matrix(uniform, points), matrix(graded, points))
    snow = Elements(points, cells, Snow())
    soft = matrix(snow, points)
    snow.restore(snow.history() | {"Jp": np.full(len(cells), 0.9)})
    np.testing.assert_allclose(matrix(snow, points), soft * np.exp(Snow().hardening * 0.1), rtol=1e-10)


@both
@each_form
def test_of_flowed_material_the_elastic_part_counts(d: int, form: DampingForm) -> None:
    """Where everything has flowed back to rest in one shape, damping is that of a mesh with this shape at rest."""
    points, elements = mesh(d, form, VonMises(3e4, 0.3, yield_stress=1.0))
    shear = np.eye(d)
    shear[0, 1] = 0.3
    x = points @ shear.T
    before = matrix(elements, x)
    elements.flow(x, np.zeros_like(x), 1.0)
    fresh = Elements(x, elements.cells, elements.material, damping_form=form)
    K, expected = matrix(elements, x), matrix(fresh, x)
    close = 1e-3 * np.abs(expected).max()  # what strains the yield stress leaves, 1e-4
    assert np.abs(K - expected).max() < close < 20 * close < np.abs(before - expected).max()


# ---- D1 to D6 ----------------------------------------------------------------------------------------------------


@both
@each_form
@several
def test_d1_no_negative_eigenvalues_in_any_state(d: int, form: DampingForm, material: NativeMaterial) -> None:
    points, cells = random_mesh(d, 1)
    elements = Elements(points, cells, material, damping_form=form)
    inverted = 0
    for seed in range(100):
        x = wild(points, seed)
        inverted += bool((np.linalg.det(elements.deformation(x)) < 0).any())
        values = linalg.eigvalsh(matrix(elements, x))
        assert values[0] > -EXACT * values[-1]
    assert inverted > 40
    raw = linalg.eigvalsh(Elements(points, cells, SOLID).hessian(0.5 * points).matrix().toarray())
    assert raw[0] < -1e-2 * raw[-1]  # stiffness itself would push
    assert linalg.eigvalsh(-matrix(elements, x))[0] < -0.9 * values[-1]  # and so would the other sign


@both
@each_form
@several
def test_d2_d3_rigid_motion_is_free_at_rest(d: int, form: DampingForm, material: NativeMaterial) -> None:
    points, elements = mesh(d, form, material)
    for x in (points, points @ rotation(d).T):
        shifts, turns = rigid_motions(x)
        assert forces_on(matrix(elements, x), np.concatenate([shifts, turns])) < EXACT
    for x in (deformed(points), wild(points, 3)):
        assert forces_on(matrix(elements, x), rigid_motions(x)[0]) < EXACT
    squeezed = np.concatenate([shifts, turns]) * np.linspace(1.0, 1.1, len(points))[:, None]
    assert forces_on(matrix(elements, x), squeezed) > 1e-3


@both
@several
def test_d4_greens_form_is_free_for_rotations_of_any_state(d: int, material: NativeMaterial) -> None:
    """d translations and as many rotations are all that is free, and no motion gets a torque. The printed form has only
    the translations, and a torque."""
    points, elements = mesh(d, "green", material)
    printed = Elements(points, elements.cells, material, damping_form="printed")
    for x in (deformed(points), wild(points, 4)):
        turns = rigid_motions(x - x.mean(axis=0))[1]
        for one, free in ((elements, True), (printed, False)):
            K = matrix(one, x)
            values = linalg.eigvalsh(K)
            assert np.sum(values < 1e-9 * values[-1]) == d + free * len(turns)
            torque = forces_on(K, turns)  # K is symmetric: of the forces -K v on any v
            assert torque < EXACT if free else torque > 1e-3


@both
@each_form
@several
def test_d5_it_turns_with_the_state(d: int, form: DampingForm, material: NativeMaterial) -> None:
    points, elements = mesh(d, form, material)
    Q, n = rotation(d, 7), len(points)
    for x in (deformed(points), wild(points, 5)):
        K = matrix(elements, x)
        turn = np.kron(np.eye(n), Q)
        there = matrix(elements, x @ Q.T + 2.0)
        assert np.abs(there - turn @ K @ turn.T).max() < EXACT * np.abs(K).max()
        assert np.abs(there - K).max() > 1e-2 * np.abs(K).max()


@both
@each_form
@several
def test_d6_it_takes_energy_away_whatever_the_motion(
    d: int, form: DampingForm, material: NativeMaterial
) -> None:
    """As much as Hooke's law says, V (2 mu |e|^2 + lam tr(e)^2) with e = sym(A^T dF)."""
    points, elements = mesh(d, form, material)
    mu, lam = (material.parameters()[name] for name in ("mu", "lam"))
    for seed in range(10):
        x, v = wild(points, seed), shaken(np.zeros_like(points), 1.0, seed + 50)
        A, dF = elements.deformation(x), elements.deformation(v)
        if form == "printed":
            U, _, Vt = np.linalg.svd(A)
            U[:, :, -1] *= np.linalg.det(U @ Vt)[:, None]
            A = U @ Vt
        e = np.einsum("mki,mkj->mij", A, dF)
        e = 0.5 * (e + e.transpose(0, 2, 1))
        loss = 2 * mu * (e**2).sum(axis=(1, 2)) + lam * np.trace(e, axis1=1, axis2=2) ** 2
        damping = Rayleigh(elements, x, coefficient=0.02, dt=0.01)
        work = -np.vdot(damping.gradient(x + 0.01 * v), 0.01 * v)
        assert work == pytest.approx(-0.02 * 0.01 * elements.volumes @ loss, rel=1e-11)
        assert work < 0
        once = loss - mu * (e**2).sum(axis=(1, 2))  # without the 2
        assert abs(work / (-0.02 * 0.01 * elements.volumes @ once) - 1) > 0.05


# ---- the energy of a step ----------------------------------------------------------------------------------------


@both
@each_form
def test_damping_energy_and_its_derivatives(d: int, form: DampingForm) -> None:
    points, elements = mesh(d, form)
    x_n, x = shaken(points, 0.05), shaken(points, 0.05, 1)
    damping = Rayleigh(elements, x_n, coefficient=0.02, dt=0.01)
    assert (derivative_errors(damping, x) < 1e-7).all()
    assert damping.value(x_n) == 0 and not damping.gradient(x_n).any()
    np.testing.assert_allclose(damping.diagonal().ravel(), np.diag(dense(damping, x)), rtol=1e-12)
    with pytest.raises(SetupError, match="time step"):
        Rayleigh(elements, x_n, coefficient=0.02, dt=0.0)


def test_springs_are_damped_by_their_stiffness_without_what_is_negative() -> None:
    points, _ = box(2, 1)
    springs = Springs(len(points), 2, [[0, 1], [1, 3], [0, 3]], [50.0] * 3, [1.0, 1.0, 1.4])
    x = shaken(0.6 * points, 0.05)
    damping = Rayleigh(springs, x, coefficient=0.02, dt=0.01)
    K = dense(springs, x, positive=True)
    np.testing.assert_allclose(dense(damping, x), 2.0 * K, rtol=1e-12)
    assert linalg.eigvalsh(dense(springs, x))[0] < -1.0  # they are pressed
    assert linalg.eigvalsh(K)[0] > -1e-10


def test_the_form_is_one_of_two() -> None:
    with pytest.raises(SetupError, match="damping_form must be .green. or .printed., not 'lagged'"):
        Elements(*box(2, 1), SOLID, damping_form="lagged")  # type: ignore[arg-type]


def test_the_border_names_what_is_wrong() -> None:
    points, elements = mesh()
    with pytest.raises(ValueError, match="x: "):
        elements.damping(points[1:])
    with pytest.raises(ValueError, match="out: "):
        elements._elements.damping(points, True, np.zeros(3))


@both
@each_form
def test_results_do_not_depend_on_the_number_of_threads(d: int, form: DampingForm) -> None:
    points, cells = box(d, 105 if d == 2 else 16)  # enough for two threads
    x = deformed(points)
    before, results = _core.threads(), []
    try:
        for threads in (1, 2):
            _core.set_threads(threads)
            K = Elements(points, cells, SOLID, damping_form=form).damping(x)
            results.append((K.values.copy(), K.product(x)))
    finally:
        _core.set_threads(before)
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


# ---- one mode (D7) -----------------------------------------------------------------------------------------------


def vibration(damped: float, form: DampingForm = "green", phase: float = 0.002) -> tuple[Array, float, float]:
    """An eigenmode of the frequency w with the coefficient damped / w, let go at 1: its amplitudes after small steps of
    backward Euler, `phase` / w each, over one period, the energy left of 1, and the time of all steps times w."""
    points, elements = mesh(form=form)
    mass = np.repeat(elements.lumped_mass(), points.shape[1])
    K = dense(elements, points)
    squares, modes = linalg.eigh(K, np.diag(mass))
    omega, shape = np.sqrt(squares[-3]), modes[:, -3]
    dt = phase / omega
    D = dense(Rayleigh(elements, points, coefficient=damped / omega, dt=dt), points)
    step = linalg.lu_factor(np.diag(mass) / dt**2 + K + D)
    count = round(2 * np.pi / (phase * np.sqrt(max(1 - (damped / 2) ** 2, 0.1))))
    x, v = shape, np.zeros_like(shape)
    amplitudes = [1.0]
    for _ in range(count):
        new = linalg.lu_solve(step, mass * (x + dt * v) / dt**2 + D @ x)
        x, v = new, (new - x) / dt
        amplitudes.append(float(shape @ (mass * x)))
    energy = (v @ (mass * v) + x @ K @ x) / omega**2
    return np.array(amplitudes), energy, phase * count


@each_form
def test_modes_decay_at_half_the_coefficient_times_frequency_squared(form: DampingForm) -> None:
    for damped, gate in ((0.2, 0.02), (0.0, None)):
        _, energy, time = vibration(damped, form)
        rate = -0.5 * np.log(energy) / time
        if gate is None:
            assert rate < 0.02 * 0.2 / 2  # what backward Euler itself takes away
        else:
            assert rate == pytest.approx(damped / 2, rel=gate)


@each_form
def test_d7_the_damping_ratio_is_half_the_coefficient_times_frequency(form: DampingForm) -> None:
    """Let go at 1, a mode of the damping ratio z = a w / 2 swings to -exp(-pi z / sqrt(1 - z^2)); from z = 1 on it does
    not swing. Twice or half of z does not fit."""
    for z in (0.1, 0.3):
        swing = vibration(2 * z, form)[0].min()
        assert swing == pytest.approx(-np.exp(-np.pi * z / np.sqrt(1 - z * z)), abs=5e-3)
        for wrong in (z / 2, 2 * z):
            assert abs(swing + np.exp(-np.pi * wrong / np.sqrt(1 - wrong**2))) > 0.1
    for z in (1.0, 2.0):
        assert vibration(2 * z, form)[0].min() >= 0
    assert vibration(2 * 0.5, form)[0].min() < -0.1
