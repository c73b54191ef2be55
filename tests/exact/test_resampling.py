"""Points on elements of a surface and their masses (M23 section 6.1): mass, centre of mass, momenta, spacing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from boundary_samples import circle, closed, edge, icosphere, motion, together
from scipy.spatial import cKDTree

from continua.contact.exact.angular import cross, momentum
from continua.contact.exact.augury import Augury
from continua.contact.exact.resampling import Boundary, Resampling, max_entropy
from continua.errors import GeometryError, SetupError

Array = np.ndarray
dimensions = pytest.mark.parametrize("d", [2, 3])
cases = [(d, ratio, s) for d in (2, 3) for ratio in (0.5, 1.0, 2.0, 4.0, 6.0) for s in (0.1, 0.5)]


def sums(plan: Resampling, values: Array, some: Array) -> Array:
    """Sums by element of values (Nh, ...) of points `some`."""
    out = np.zeros((len(plan.share), *values.shape[1:]))
    np.add.at(out, plan.element[some], values[some])
    return out


def test_shares_add_up_to_vertices() -> None:
    """M2: the corners' masses of all elements around a vertex are its mass."""
    for d in (2, 3):
        _, boundary = closed(d)
        back = np.bincount(boundary.elements.ravel(), boundary.shares.ravel())
        assert np.abs(back - boundary.mass).max() < 1e-14
        # With all corners' masses of the ring, not only the vertex's own, a vertex would weigh d times as much.
        ring = np.bincount(boundary.elements.ravel(), np.repeat(boundary.element_mass, d))
        assert ring.sum() > (d - 0.5) * boundary.mass.sum()


@pytest.mark.parametrize("d, ratio, share", cases)
def test_masses_of_points(d: int, ratio: float, share: float) -> None:
    """R1 to R3: positive weights of sum 1 with the centre as their mean; mass and centre of each element are kept."""
    x, boundary = closed(d, seed=3)
    dx = edge(x, boundary) / ratio
    plan = Resampling.spread(x, boundary, dx / 4, share)
    assert (plan.mass > 0).all() and np.abs(plan.barycentric.sum(axis=1) - 1).max() < 1e-14
    fine = plan.share < 1  # these have extra points
    assert np.array_equal(fine, plan.rows > 1) and fine.any() and (ratio < 1 or fine.all())
    rest = np.where(fine, (1 - share) * boundary.element_mass, 1.0)
    weight = np.where(plan.extra, plan.mass / rest[plan.element], 0.0)
    assert np.abs(sums(plan, weight, plan.extra)[fine] - 1).max() < 1e-14
    mean = sums(plan, weight[:, None] * plan.barycentric, plan.extra)
    assert np.abs(mean - boundary.center)[fine].max() < 1e-13
    every = np.ones(len(weight), bool)
    assert np.abs(sums(plan, plan.mass, every) - boundary.element_mass).max() < 1e-14
    for where in (
        x,
        x @ np.array([[1.0, 0.4, 0.1], [0.0, 0.7, 0.2], [0.3, 0.0, 1.5]])[:d, :d],
    ):  # any configuration
        centre = np.einsum("ek,eka->ea", boundary.center, where[boundary.elements])
        shifted = plan.points(where) - centre[plan.element]
        off = sums(plan, plan.mass[:, None] * shifted, every) / boundary.element_mass[:, None]
        assert np.abs(off).max() < 1e-14 * np.abs(where).max()
    # Even masses, which ignore the centre, miss it.
    even = plan.extra / np.maximum(1, sums(plan, plan.extra.astype(float), plan.extra))[plan.element]
    assert (
        np.abs(sums(plan, even[:, None] * plan.barycentric, plan.extra) - boundary.center)[fine].max() > 1e-3
    )


@pytest.mark.parametrize("beta", [0.0, 1.0, 20.0])
def test_locality_does_not_move_the_centre(beta: float) -> None:
    """R1, R2 with weights that fall off from the centre: the same laws, less even."""
    x, boundary = closed(3, seed=4)
    length = edge(x, boundary)
    plan = Resampling.spread(x, boundary, length / 16, 0.1, beta / length**2)
    rest = (0.9 * boundary.element_mass)[plan.element]
    weight = np.where(plan.extra, plan.mass / rest, 0.0)
    assert np.abs(sums(plan, weight[:, None] * plan.barycentric, plan.extra) - boundary.center).max() < 1e-13
    some = weight[plan.extra]
    away = np.abs(plan.barycentric - boundary.center[plan.element])[plan.extra].max(axis=1)
    spread = some.max() / some.min()
    assert spread < 1e3 if beta < 20 else spread > 1e3 and away[some.argmax()] < away[some.argmin()]


@dimensions
@pytest.mark.parametrize("ratio", [1.0, 2.3, 4.0])
def test_spacing(d: int, ratio: float) -> None:
    """R4: on a regular surface nearest neighbours are at most dx/4 apart in the mean, and none below 0.4 of it."""
    points, elements = circle(40) if d == 2 else icosphere(1)
    x, boundary = together((points, elements))
    dx = edge(x, boundary) / ratio
    plan = Resampling.spread(x, boundary, dx / 4)
    places = plan.points(x)[plan.extra]
    near = cKDTree(places).query(places, k=2)[0][:, 1]
    assert near.mean() <= dx / 4 * (1 + 1e-9)
    assert near.min() >= 0.4 * near.mean()
    random = Resampling.spread(
        x, boundary, dx / 4
    )  # the same number of points anywhere: some nearly coincide
    rng = np.random.default_rng(0)
    anywhere = rng.dirichlet(np.ones(d), len(places))
    where = np.einsum("nk,nka->na", anywhere, x[boundary.elements[random.element[random.extra]]])
    wrong = cKDTree(where).query(where, k=2)[0][:, 1]
    assert wrong.min() < 0.4 * wrong.mean()


@dimensions
def test_elements_smaller_than_the_spacing_have_no_points(d: int) -> None:
    x, boundary = closed(d)
    plan = Resampling.spread(x, boundary, 100.0, 0.1)
    assert not plan.extra.any() and (plan.share == 1).all() and (plan.rows == 1).all()
    assert np.abs(plan.mass - boundary.shares.ravel()).max() == 0
    assert plan.fits(x, 100.0)


@dimensions
def test_every_element_has_its_centre(d: int) -> None:
    """One of the points is the centre of mass: so it is inside the hull of the points, whatever the masses."""
    x, boundary = closed(d, seed=9)
    plan = Resampling.spread(x, boundary, edge(x, boundary) / 8)
    lam, e = plan.barycentric[plan.extra], plan.element[plan.extra]
    at = np.abs(lam - boundary.center[e]).max(axis=1) < 1e-14
    assert (np.bincount(e[at], minlength=len(plan.share)) == 1).all()


def test_centre_outside_of_the_points_raises() -> None:
    """R5: weights with a mean outside of the hull of the points, or on its rim, do not exist."""
    lam = np.array([[[0.6, 0.2, 0.2], [0.5, 0.3, 0.2], [0.5, 0.2, 0.3]]])
    inside = lam.mean(axis=1)
    assert np.abs(max_entropy(lam, inside) - 1 / 3).max() < 1e-13
    for outside in ([0.2, 0.4, 0.4], [0.6, 0.2, 0.2]):
        with pytest.raises(GeometryError, match="inside the hull"):
            max_entropy(lam, np.array([outside]))
    with pytest.raises(GeometryError, match="single"):  # a lone midpoint of an edge whose ends differ
        max_entropy(np.array([[[0.5, 0.5]]]), np.array([[0.3, 0.7]]))


@dimensions
@pytest.mark.parametrize("heavy", [1e3, 1e5, 1e12])
def test_held_vertices(d: int, heavy: float) -> None:
    """Held vertices are heavy: the centre of elements with others is nearly at them, and is still met."""
    x, boundary = closed(d, seed=2)
    mass = np.where(x[:, 0] > x[:, 0].mean(), heavy, 1.0)
    boundary = replace(boundary, mass=mass)
    plan = Resampling.spread(x, boundary, edge(x, boundary) / 8, 0.5)
    every = np.ones(len(plan.mass), bool)
    kept = sums(plan, plan.mass, every) / boundary.element_mass
    mean = sums(plan, plan.mass[:, None] * plan.barycentric, every) / boundary.element_mass[:, None]
    assert np.abs(kept - 1).max() < 1e-13 and np.abs(mean - boundary.center).max() < 1e-13


@dimensions
@pytest.mark.parametrize("ratio", [0.5, 2.0, 6.0])
def test_momenta_of_elements(d: int, ratio: float) -> None:
    """V1, V2: P and L of every element with its points are those of its corners; without the spin L is not."""
    x, boundary = closed(d, seed=5)
    x -= x.mean(axis=0)
    dx = edge(x, boundary) / ratio
    plan = Resampling.spread(x, boundary, dx / 4, 0.3)
    augury = Augury(plan, x, dx, origin=np.zeros(d))
    v, A = motion(x, 1)
    before = v.copy(), A.copy()
    vh, Ah = augury.at_points(v, A)
    assert np.array_equal(v, before[0]) and np.array_equal(A, before[1])
    interpolated = np.einsum("nk,nkab->nab", plan.barycentric, A[boundary.elements[plan.element]])[plan.extra]
    worst = {"P": 0.0, "L": 0.0, "without spin": 0.0}
    scale = float((boundary.mass * np.linalg.norm(v, axis=1)).sum())
    for e in range(len(plan.share)):
        corners, some = boundary.elements[e], plan.element[plan.extra] == e
        mass, kept = plan.mass[plan.extra][some], plan.share[e] * boundary.shares[e]
        y = plan.points(x)[plan.extra][some]
        P, L = momentum(v[corners], A[corners], x[corners], boundary.shares[e], dx)
        P1, L1 = momentum(v[corners], A[corners], x[corners], kept, dx)
        P2, L2 = momentum(vh[some], Ah[some], y, mass, dx)
        L3 = momentum(vh[some], interpolated[some], y, mass, dx)[1]
        worst["P"] = max(worst["P"], np.abs(P1 + P2 - P).max())
        worst["L"] = max(worst["L"], np.abs(L1 + L2 - L).max())
        worst["without spin"] = max(worst["without spin"], np.abs(L1 + L3 - L).max())
    assert worst["P"] < 1e-14 * scale and worst["L"] < 1e-14 * scale
    assert worst["without spin"] > 1e-4 * scale
    total = momentum(v, A, x, boundary.mass, dx)
    p = augury.to_grid(v, A)
    assert np.abs(p.sum(axis=0) - total[0]).max() < 1e-14 * scale
    nodes = augury.nodes + augury.anchor
    assert np.abs(cross(nodes, p).sum(axis=0) - total[1]).max() < 1e-14 * scale


@dimensions
def test_constant_velocity_needs_no_spin(d: int) -> None:
    """V3: a constant field stays constant on all points, and they do not spin."""
    x, boundary = closed(d, seed=6)
    dx = edge(x, boundary) / 2
    augury = Augury(Resampling.spread(x, boundary, dx / 4), x, dx)
    v = np.broadcast_to(np.arange(1.0, d + 1), x.shape)
    vh, Ah = augury.at_points(v, np.zeros((*x.shape, d)))
    assert np.abs(vh - v[0]).max() < 1e-14 and np.abs(Ah).max() < 1e-11


def test_elements_outgrow_their_points() -> None:
    x, boundary = closed(3)
    spacing = edge(x, boundary) / 8
    plan = Resampling.spread(x, boundary, spacing)
    assert plan.fits(x, spacing) and plan.fits(1.2 * x, spacing)
    assert not plan.fits(3 * x, spacing) and not plan.fits(x, spacing / 3)


def test_mistakes_are_named() -> None:
    x, elements = icosphere(0)
    boundary = Boundary(elements, np.ones(len(x)))
    for share in (0.0, 1.5):
        with pytest.raises(SetupError, match="share"):
            Resampling.spread(x, boundary, 0.1, share)
    with pytest.raises(SetupError, match="spacing"):
        Resampling.spread(x, boundary, -1.0)
    with pytest.raises(SetupError, match="positive mass"):
        Boundary(elements, np.zeros(len(x)))
    with pytest.raises(SetupError, match="one of its elements"):
        Boundary(elements, np.ones(len(x) + 1))
    with pytest.raises(SetupError, match="do not exist"):
        Boundary(elements, np.ones(len(x) - 1))
