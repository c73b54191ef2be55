"""Elasticity and masses under exact contact (M23 sections 3.1, 3.2 and 8), element by element: E2 to E6, M1 to M3.

That stress and tangent are slopes (E1, E2) is tested for every material in tests/materials, and for meshes in
tests/mesh. Here elements are simplices with unit edges that share no vertex: their gradient is P, their Hessian dP/dF.
"""

from __future__ import annotations

import numpy as np
import pytest
from boundary_samples import circle, icosphere
from numpy.typing import NDArray

import continua as ct
from continua.contact.exact.resampling import Boundary
from continua.errors import GeometryError, SetupError
from continua.geometry.simplex_mesh import SimplexMesh
from continua.materials.base import lame
from continua.mesh import Elements

Array = NDArray[np.float64]
E, NU = 5e4, 0.3  # [Pa], M23 table 2
MU, LAM = lame(E, NU)
SOLID = ct.materials.FixedCorotated(E=E, nu=NU, density=1000.0)
both = pytest.mark.parametrize("d", [2, 3])


def simplices(d: int, n: int, material: ct.materials.NativeMaterial = SOLID) -> Elements:
    """n elements with the unit vectors as edges."""
    corners = np.concatenate([np.zeros((1, d)), np.eye(d)])
    return Elements(np.tile(corners, (n, 1)), np.arange(n * (d + 1)).reshape(n, d + 1), material)


def placed(F: Array) -> Array:
    """Positions (n (d + 1), d) of their vertices with deformation gradients F (n, d, d)."""
    n, d, _ = F.shape
    return np.concatenate([np.zeros((n, 1, d)), F.transpose(0, 2, 1)], axis=1).reshape(-1, d)


def of_edges(elements: Elements, forces: Array) -> Array:
    """What `placed` makes of matrices (n, d, d), undone for their forces (n (d + 1), d)."""
    n, d = len(elements), forces.shape[1]
    return forces.reshape(n, d + 1, d)[:, 1:].transpose(0, 2, 1) / elements.volumes[:, None, None]


def stress(elements: Elements, F: Array) -> Array:
    """P (n, d, d) [Pa]."""
    return of_edges(elements, elements.gradient(placed(F)))


def change(elements: Elements, F: Array, D: Array, *, positive: bool = False) -> Array:
    """dP/dF : D (n, d, d) [Pa]."""
    return of_edges(elements, elements.hessian(placed(F), positive=positive).product(placed(D)))


def tangent(elements: Elements, F: Array, *, positive: bool = False) -> Array:
    """dP/dF as matrices (n, d d, d d) [Pa]."""
    n, d, _ = F.shape
    units = np.eye(d * d).reshape(-1, 1, d, d)
    columns = [change(elements, F, np.tile(D, (n, 1, 1)), positive=positive) for D in units]
    return np.stack([column.reshape(n, -1) for column in columns], axis=2)


def rotations(rng: np.random.Generator, n: int, d: int) -> Array:
    Q: Array = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


def random_states(d: int, n: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Rotations U, V and stretches s (n, d), every third of them inside out, so that F = U diag(s) V^T.

    The smallest stretch carries the sign; no two of them nearly cancel.
    """
    rng = np.random.default_rng(seed)
    s = -np.sort(-rng.uniform(0.3, 1.8, (n, d)), axis=1)
    s[::3, -1] *= -0.7
    return rotations(rng, n, d), s, rotations(rng, n, d)


def hard_states(d: int) -> Array:
    """F (n, d, d) where rotations are not unique or stretches cancel: flat, in a point, mirrored, far inside out."""
    Q = rotations(np.random.default_rng(4), 2, d)
    mirror = np.diag([*[1.0] * (d - 1), -1.0])
    flat = np.diag([*[1.3] * (d - 1), 0.0])
    line = np.diag([1.2, *[0.0] * (d - 1)])
    almost = np.diag([*[1.0] * (d - 1), -1.0 + 1e-9])
    plain = [
        0 * mirror,
        mirror,
        -np.eye(d),
        flat,
        line,
        almost,
        -3 * np.eye(d),
        1e-200 * np.eye(d),
        4 * mirror,
    ]
    return np.concatenate([plain, Q[0] @ plain @ Q[1]])


# ---- elasticity --------------------------------------------------------------------------------------------------


def mode(U: Array, V: Array, i: int, j: int, sign: float) -> Array:
    """U (e_i e_j^T + sign e_j e_i^T)/sqrt(2) V^T."""
    return (U[:, :, i, None] * V[:, None, :, j] + sign * U[:, :, j, None] * V[:, None, :, i]) / np.sqrt(2)


@both
def test_e2_the_tangent_has_the_eigenvalues_of_the_formula(d: int) -> None:
    """M23 section 8: 2 mu - lam (J - 1) s_k for pairs of axes that shear, and for pairs that twist
    2 mu (1 - 2/(s_i + s_j)) + lam (J - 1) s_k, in states inside out too."""
    U, s, V = random_states(d, 200)
    F, elements = U @ (s[:, :, None] * V.transpose(0, 2, 1)), simplices(d, 200)
    J, worst, naive, lowest = s.prod(axis=1), 0.0, 0.0, 0.0
    for i in range(d):
        for j in range(i + 1, d):
            pressure = LAM * (J - 1) * np.delete(s, [i, j], axis=1).prod(axis=1)
            twist = 2 * MU * (1 - 2 / (s[:, i] + s[:, j])) + pressure
            for sign, value in ((1.0, 2 * MU - pressure), (-1.0, twist)):
                D = mode(U, V, i, j, sign)
                found = change(elements, F, D)
                error = np.abs(found - value[:, None, None] * D).max(axis=(1, 2))
                worst = max(worst, float((error / (MU + np.abs(value))).max()))
                wrong = np.abs(found - 2 * MU * D).max(axis=(1, 2))  # without what turns and what presses
                naive = max(naive, float((wrong / (MU + np.abs(value))).max()))
            lowest = min(lowest, float(twist.min()))
    assert worst < 1e-12
    assert naive > 0.1 and lowest < -MU  # these modes do turn negative


def cross_sum(x: Array, f: Array) -> Array:
    """Sum of x cross f: one number in 2D, three in 3D."""
    if x.shape[1] == 2:
        return np.array([np.sum(x[:, 0] * f[:, 1] - x[:, 1] * f[:, 0])])
    return np.asarray(np.cross(x, f).sum(axis=0))


def turned_box(d: int) -> tuple[Elements, Array, Array]:
    """A box of side 1 m about the origin, its points at rest, and turned, stretched and shaken."""
    mesh = ct.meshes.box_mesh((-0.5,) * d, (0.5,) * d, (3,) * d)
    rng = np.random.default_rng(3)
    rest = mesh.points + 0.02 * rng.standard_normal(mesh.points.shape)
    shape = rotations(rng, 1, d)[0] @ (np.eye(d) + 0.15 * rng.standard_normal((d, d)))
    return Elements(rest, mesh.cells, SOLID), rest, (rest + 0.03 * rng.standard_normal(rest.shape)) @ shape.T


@both
def test_e3_forces_have_no_sum_and_no_torque(d: int) -> None:
    elements, rest, x = turned_box(d)
    f = -elements.gradient(x)
    most = np.abs(f).max()
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * most
    assert np.abs(cross_sum(x, f)).max() < 1e-12 * most  # of a body of 1 m about its middle: N m against N
    # Without one corner there is a sum; forces that are linear in the displacement do not turn with the body.
    assert np.abs(f[1:].sum(axis=0)).max() > 1e-3 * most
    linear = -elements.hessian(rest).product(x - rest)
    assert np.abs(cross_sum(x, linear)).max() > 1e-3 * np.abs(linear).max()


@both
def test_e4_elements_without_negative_stiffness_have_none(d: int) -> None:
    """Compressed, stretched, inside out, flat; with the negative part left in, far below the gate."""
    U, s, V = random_states(d, 200, seed=1)
    F = np.concatenate([U @ (s[:, :, None] * V.transpose(0, 2, 1)), hard_states(d), 0.3 * U])
    elements = simplices(d, len(F))
    full, projected = tangent(elements, F), tangent(elements, F, positive=True)
    assert np.abs(projected - projected.transpose(0, 2, 1)).max() < 1e-10 * np.abs(projected).max()
    assert np.linalg.eigvalsh(projected).min() > -1e-10 * MU
    assert np.linalg.eigvalsh(full[:200]).min() < -0.1 * MU


@both
def test_e5_turning_costs_no_energy(d: int) -> None:
    U, s, V = random_states(d, 100, seed=2)
    F, Q = U @ (s[:, :, None] * V.transpose(0, 2, 1)), rotations(np.random.default_rng(7), 100, d)
    element = simplices(d, 1)

    def energies(states: Array) -> Array:
        return np.array([element.value(placed(state[None])) for state in states]) / element.volumes[0]

    before = energies(F)
    scale = MU + before  # where there is little of it, what rounds is the strain, mu (s - 1)^2
    assert (np.abs(energies(Q @ F) - before) / scale).max() < 1e-12

    def small(states: Array) -> Array:
        """mu e:e + lam/2 tr(e)^2 of the small strain e."""
        e = (states + states.transpose(0, 2, 1)) / 2 - np.eye(d)
        return np.asarray(MU * (e**2).sum(axis=(1, 2)) + LAM / 2 * np.trace(e, axis1=1, axis2=2) ** 2)

    assert (np.abs(small(Q @ F) - small(F)) / (MU + small(F))).max() > 0.1


@both
def test_e6_stress_and_stiffness_are_finite_in_any_state(d: int) -> None:
    """Of what is inside out, and where rotations are not unique: the sum of two stretches is kept from 0."""
    U, s, V = random_states(d, 30, seed=3)
    F = np.concatenate([hard_states(d), U @ (s[:, :, None] * V.transpose(0, 2, 1))])
    assert (np.linalg.det(F) < 0).any() and (np.linalg.det(F) == 0).any()
    elements = simplices(d, len(F))
    assert np.isfinite(elements.value(placed(F))) and np.isfinite(stress(elements, F)).all()
    for positive in (False, True):
        assert np.isfinite(tangent(elements, F, positive=positive)).all()
    # With a logarithm of the volume there is no energy.
    assert not np.isfinite(simplices(d, len(F), ct.materials.NeoHookean(E, NU)).value(placed(F)))


# ---- masses ------------------------------------------------------------------------------------------------------


def dented(d: int) -> SimplexMesh:
    """A disc or ball of cells of very different sizes: its hull and its middle."""
    hull, facets = circle(24) if d == 2 else icosphere(1)
    rng = np.random.default_rng(5)
    hull = hull * (1 + 0.2 * rng.uniform(-1, 1, (len(hull), 1)))
    cells = np.concatenate([facets, np.full((len(facets), 1), len(hull))], axis=1)
    points = np.concatenate([hull, 0.2 * rng.uniform(-1, 1, (1, d))])
    edges = points[cells[:, 1:]] - points[cells[:, :1]]
    cells[np.linalg.det(edges) < 0, :2] = cells[np.linalg.det(edges) < 0, 1::-1]
    return SimplexMesh(points, cells)


@both
def test_m1_m2_m3_masses_of_a_body_and_their_shares(d: int) -> None:
    """All of it, all positive; and the elements of the surface divide what its vertices have, M23 section 3.2."""
    body = ct.SolidBody(dented(d), SOLID, contact=ct.ExactContact())
    edges = body.rest[body.cells[:, 1:]] - body.rest[body.cells[:, :1]]
    whole = SOLID.density * np.linalg.det(edges).sum() / (2 if d == 2 else 6)
    assert abs(body.mass.sum() - whole) < 1e-13 * whole
    assert (body.mass > 0).all()
    vertices, where = np.unique(body.surface, return_inverse=True)
    boundary = Boundary(where.reshape(body.surface.shape).astype(np.int32), body.mass[vertices])
    back = np.bincount(boundary.elements.ravel(), boundary.shares.ravel())
    assert (np.abs(back - boundary.mass) / boundary.mass).max() < 1e-14
    # What an element of the surface weighs at all of its corners is not what it gives to one of them.
    printed = np.bincount(boundary.elements.ravel(), np.repeat(boundary.element_mass, d))
    assert (np.abs(printed - boundary.mass) / boundary.mass).max() > 0.5
    assert abs(boundary.mass.sum() - whole) > 0.01 * whole  # the middle has the rest


@both
def test_m3_vertices_without_mass_are_named(d: int) -> None:
    mesh = dented(d)
    with pytest.raises(GeometryError, match=f"point {len(mesh.points)} of mesh belongs to no cell"):
        loose = SimplexMesh(np.concatenate([mesh.points, np.ones((1, d))]), mesh.cells)
        ct.SolidBody(loose, SOLID, contact=ct.ExactContact())
    elements = np.asarray(mesh.surface, np.int32)
    masses = np.ones(int(elements.max()) + 1)
    assert (Boundary(elements, masses).shares > 0).all()
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(SetupError, match="positive mass"):
            Boundary(elements, np.where(np.arange(len(masses)) == 3, bad, masses))
