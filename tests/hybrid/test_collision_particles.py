"""Collision particles stand for the surface of a mesh: its mass, its area, and impulses by Coulomb's law."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import continua as ct
from continua.contact.collision_particles import CollisionParticles, coulomb_impulses, facet_sizes

Array = NDArray[np.float64]
both = pytest.mark.parametrize("d", [2, 3])


def surface(d: int, cells: int = 3, seed: int = 0) -> tuple[Array, NDArray[np.int32], Array]:
    """Points of an irregular unit box, its facets, and masses of its vertices."""
    mesh = ct.meshes.box_mesh(np.zeros(d), np.ones(d), (cells,) * d)
    rng = np.random.default_rng(seed)
    x = mesh.points + rng.uniform(-0.05, 0.05, mesh.points.shape)
    return x, mesh.surface, rng.uniform(1.0, 3.0, len(x))


def spread(d: int, spacing: float, **options: int) -> tuple[CollisionParticles, Array, Array]:
    x, facets, mass = surface(d, **options)
    return CollisionParticles.spread(x, facets, spacing, mass), x, mass


def relative(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


# ---- where they are ----


@both
@pytest.mark.parametrize("spacing", [0.5, 0.1, 0.03])
def test_they_have_the_mass_of_the_vertices_of_the_surface(d: int, spacing: float) -> None:
    points, _, mass = spread(d, spacing)
    outer = np.unique(points.facets)
    assert len(outer) < len(mass)  # there are vertices inside, which do not count
    assert abs(points.mass.sum() / mass[outer].sum() - 1) <= 1e-12
    assert abs(points.mass.sum() / mass.sum() - 1) > 1e-2
    assert (points.weights >= 0).all() and np.abs(points.weights.sum(axis=1) - 1).max() <= 1e-14


@both
def test_their_number_goes_with_the_area_over_the_spacing_not_with_the_mesh(d: int) -> None:
    """Where facets are large against the spacing: count = area / spacing^(d-1), rounded up for every facet."""
    for spacing in (0.05, 0.025, 0.0125):
        counts = [len(spread(d, spacing, cells=cells)[0]) for cells in (2, 4)]
        sizes = [surface_area(d, cells) / spacing ** (d - 1) for cells in (2, 4)]
        for count, size, facets in zip(counts, sizes, [len(surface(d, cells)[1]) for cells in (2, 4)]):
            assert size <= count <= size + facets
    assert len(spread(d, 10.0)[0]) == len(surface(d)[1])  # at least one for each facet
    fine, coarse = (len(spread(d, s)[0]) for s in (0.0125, 0.025))
    assert fine / coarse == pytest.approx(2.0 ** (d - 1), rel=0.1)


def surface_area(d: int, cells: int) -> float:
    x, facets, _ = surface(d, cells)
    return float(facet_sizes(x, facets).sum())


@both
def test_they_are_as_far_from_each_other_as_asked(d: int) -> None:
    """Mean spacing sqrt(area / count), in 2D length / count: 0.5 dx +- 20 %. And evenly: no place of a facet is
    farther from one than the spacing, in 3D 1.5 times that."""
    dx = 0.08
    points, x, _ = spread(d, 0.5 * dx, cells=2)
    mean = (surface_area(d, 2) / len(points)) ** (1 / (d - 1))
    assert mean == pytest.approx(0.5 * dx, rel=0.2)
    assert not 0.8 < (surface_area(d, 2) / len(points.facets)) ** (1 / (d - 1)) / (0.5 * dx) < 1.2
    rng = np.random.default_rng(1)
    some = rng.dirichlet(np.ones(d), (len(points.facets), 300))
    anywhere = np.einsum("fsk,fka->fsa", some, x[points.facets]).reshape(-1, d)
    farthest = (1.0 if d == 2 else 1.5) * 0.5 * dx
    assert cKDTree(points.at(x)).query(anywhere)[0].max() <= farthest
    at_random = np.einsum("qk,qka->qa", rng.dirichlet(np.ones(d), len(points)), x[points.corners])
    assert cKDTree(at_random).query(anywhere)[0].max() > farthest  # without strata there are holes


@both
def test_normals_point_outwards_and_areas_close_the_surface(d: int) -> None:
    points, x, _ = spread(d, 0.1)
    normals, areas = points.normals(x), points.areas(x)
    assert np.abs(np.linalg.norm(normals, axis=1) - 1).max() <= 1e-14
    assert np.abs(areas.sum(axis=0)).max() <= 1e-12
    assert (np.einsum("qa,qa->q", normals, points.at(x) - 0.5) > 0).all()
    turned = CollisionParticles(points.facets[:, ::-1], points.facet, points.weights[:, ::-1], points.mass)
    assert (np.einsum("qa,qa->q", turned.normals(x), points.at(x) - 0.5) < 0).all()  # the gate sees signs


# ---- impulses ----


def random_changes(d: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(d)
    n = rng.normal(size=(5000, d))
    return (
        rng.normal(size=(5000, d)),
        n / np.linalg.norm(n, axis=1, keepdims=True),
        rng.uniform(0.1, 10, 5000),
    )


def parts(impulse: Array, n: Array) -> tuple[Array, Array]:
    along = np.einsum("qa,qa->q", impulse, n)
    return along, np.linalg.norm(impulse - along[:, None] * n, axis=1)


@both
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0])
def test_impulses_push_inwards_and_rub_at_most_mu_times_the_push(d: int, mu: float, e: float) -> None:
    change, n, m = random_changes(d)
    impulse = coulomb_impulses(change, n, m, friction=mu, restitution=e)
    vn = np.einsum("qa,qa->q", change, n)
    assert not impulse[vn >= 0].any()  # exactly: neither separation nor cohesion is taken
    normal, tangential = parts(impulse, n)
    pushed = vn < 0
    np.testing.assert_allclose(normal[pushed], (1 + e) * (m * vn)[pushed], rtol=1e-12, atol=1e-13)
    assert (tangential - mu * np.abs(normal)).max() <= 1e-14 * (m * np.abs(change).max(axis=1)).max()
    other, _ = parts(coulomb_impulses(-change, n, m, friction=mu, restitution=e), n)
    assert (other[vn < 0] == 0).all() and other[vn > 0].any()  # with the sign turned the other half is pushed


@both
def test_what_sticks_slides_no_more(d: int) -> None:
    """Within the cone the tangential part of the change is taken whole, so that nothing of it is left."""
    change, n, m = random_changes(d)
    change -= 10 * n  # strongly pushed
    impulse = coulomb_impulses(change, n, m, friction=1.0, restitution=0.0)
    np.testing.assert_allclose(impulse / m[:, None], change, atol=1e-14 * 20)
    some = coulomb_impulses(change, n, m, friction=0.05, restitution=0.0)
    assert parts(change - some / m[:, None], n)[1].max() > 0.1  # beyond it something is


# ---- to the vertices ----


@both
def test_exact_scatter_keeps_linear_and_angular_momentum(d: int) -> None:
    points, x, mass = spread(d, 0.07)
    dv = np.random.default_rng(3).normal(size=(len(points), d))
    impulse = points.mass[:, None] * dv
    given = points.collected(impulse, len(x))
    assert relative(given.sum(axis=0), impulse.sum(axis=0)) <= 1e-12
    assert relative(turning(x, given), turning(points.at(x), impulse)) <= 1e-12
    shares = np.bincount(points.corners.ravel(), (points.weights * points.mass[:, None]).ravel(), len(x))
    averaged = mass[:, None] * given / np.where(shares > 0, shares, 1)[:, None]
    assert relative(averaged.sum(axis=0), impulse.sum(axis=0)) > 1e-3  # the other way does not
    assert relative(turning(x, averaged), turning(points.at(x), impulse)) > 1e-3


@both
def test_averaged_scatter_reproduces_a_constant_change(d: int) -> None:
    """W20 (4.24): the weights of a vertex sum to 1; the exact way gives the vertices of thick parts less."""
    points, x, mass = spread(d, 0.07)
    same = np.tile(np.arange(1.0, d + 1), (len(points), 1))
    given = points.collected(points.mass[:, None] * same, len(x))
    shares = points.collected(np.repeat(points.mass[:, None], d, axis=1), len(x))
    outer = np.unique(points.facets)
    assert np.abs(given[outer] / shares[outer] - same[0]).max() <= 1e-13 * d
    assert np.abs(given[outer] / mass[outer, None] - same[0]).max() > 1e-2


def turning(x: Array, p: Array) -> Array:
    full = [np.pad(a, ((0, 0), (0, 3 - a.shape[1]))) for a in (x, p)]
    return np.cross(*full).sum(axis=0)
