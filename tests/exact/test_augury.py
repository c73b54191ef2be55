"""Augury on a grid (M23 section 5): what keeps momentum, what is let go, what is held."""

from __future__ import annotations

import numpy as np
import pytest
from boundary_samples import Sample, circle, cube, edge, icosphere, motion, together

from continua.contact.exact.angular import momentum
from continua.contact.exact.augury import Augury, Foreseen, refused, vertex_normals
from continua.contact.exact.resampling import Boundary, Resampling
from continua.errors import SetupError

Array = np.ndarray
dimensions = pytest.mark.parametrize("d", [2, 3])


# ---- the operator ------------------------------------------------------------------------------------------------


@dimensions
@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_momentum_of_a_random_state(d: int, ratio: float, share: float) -> None:
    """A1: P and L across L^RSA and L^A, whatever is accepted, with all elements and with some."""
    s = Sample(d, ratio, share)
    some = np.arange(len(s.boundary.elements)) % 5 < 2
    grip = np.random.default_rng(4).uniform(0, 1, len(s.x))
    for augury in (s.augury, Augury(s.plan, s.x, s.dx, active=some)):
        assert max(s.defect(*augury.once(s.v, s.A))) < 1e-14
        for friction in (None, 0.0, 0.4, grip):
            seen = augury(s.v, s.A, friction=friction)
            assert max(s.defect(seen.v, seen.A)) < 1e-14
    # With an affine part of its own in the increment, as printed, angular momentum is lost.
    v1, A1 = s.augury.once(s.v, s.A)
    smooth, spin = s.augury.once(v1 - s.v, A1 - s.A)
    P, L = s.defect(v1 + smooth - (v1 - s.v), A1 + spin)
    assert P < 1e-14 and L > 1e-5


def spectrum(augury: Augury, count: int, d: int) -> Array:
    """Sizes of the eigenvalues of L^RSA, descending."""
    n, columns = count * d, []
    for unit in np.eye(count * (d + d * d)):
        v, A = augury.once(unit[:n].reshape(-1, d), unit[n:].reshape(-1, d, d))
        columns.append(np.concatenate([v.ravel(), A.ravel()]))
    return np.sort(np.abs(np.linalg.eigvals(np.array(columns).T)))[::-1]


@pytest.mark.parametrize("ratio, next_one", [(0.5, 0.29), (1.0, 0.57), (2.0, 0.84), (4.0, 0.93)])
def test_spectrum_of_a_cube(ratio: float, next_one: float) -> None:
    """A2: nothing grows; the fields that stay are as many as there are momenta; the next eigenvalue is that of a plain
    reference implementation, to what another cube may differ."""
    x, elements = cube()
    boundary = Boundary(elements, np.ones(len(x)))
    dx = edge(x, boundary) / ratio
    values = spectrum(Augury(Resampling.spread(x, boundary, dx / 4, 0.5), x, dx), len(x), 3)
    assert values[0] < 1 + 1e-10 and (values > 1 - 1e-8).sum() == 6
    assert abs(values[6] - next_one) < 0.06


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_spectrum_of_a_random_curve(share: float) -> None:
    """A2 in 2D: three momenta, and what else a long curve keeps for long still decays."""
    s = Sample(2, ratio=1.0, share=share)
    values = spectrum(s.augury, len(s.x), 2)
    assert values[0] < 1 + 1e-10 and (values > 1 - 1e-8).sum() == 3 and values[3] < 1 - 1e-3


@dimensions
def test_self_adjoint_without_extra_points(d: int) -> None:
    s, t = Sample(d, share=1.0), np.random.default_rng(8)
    v, A = t.standard_normal(s.v.shape), t.standard_normal(s.A.shape)

    def product(a: tuple[Array, Array], b: tuple[Array, Array]) -> float:
        affine = s.dx**2 / 4 * (a[1] * b[1]).sum(axis=(1, 2))
        return float(s.boundary.mass @ ((a[0] * b[0]).sum(axis=1) + affine))

    one = product(s.augury.once(s.v, s.A), (v, A))
    assert abs(one - product((s.v, s.A), s.augury.once(v, A))) < 1e-13 * s.scale
    assert abs(one - product((s.v, s.A), (v, A))) > 1e-3 * s.scale


@dimensions
def test_constant_velocity(d: int) -> None:
    """A5: bodies that fly together are left alone."""
    s = Sample(d)
    v = np.broadcast_to(np.arange(1.0, d + 1), s.x.shape)
    seen = s.augury(v, np.zeros_like(s.A))
    assert np.abs(seen.v - v).max() < 1e-14 * d and np.abs(seen.A).max() < 1e-13 / s.dx
    assert np.abs(s.augury.once(s.v, s.A)[0] - s.v).max() > 0.1


@dimensions
def test_turns_and_shifts(d: int) -> None:
    """A6: quarter turns and shifts by whole cells commute with L^A; a shift by part of a cell changes the result."""
    s = Sample(d)
    fixed = Augury(s.plan, s.x, s.dx, origin=np.zeros(d))
    seen = fixed(s.v, s.A, friction=0.2)
    Q = np.eye(d)[[1, 0] if d == 2 else [1, 2, 0]]
    if d == 2:
        Q = Q * np.array([[1.0], [-1.0]])
    for origin in (None, np.zeros(d)):
        base = Augury(s.plan, s.x, s.dx, origin=origin)(s.v, s.A, friction=0.2)
        shift = s.dx * np.array([3.0, -14.0, 101.0])[:d]
        moved = Augury(s.plan, s.x + shift, s.dx, origin=origin)(s.v, s.A, friction=0.2)
        assert np.abs(moved.v - base.v).max() < 1e-12 and np.abs(moved.A - base.A).max() < 1e-11
        turn = Augury(s.plan, s.x @ Q.T, s.dx, origin=origin)(s.v @ Q.T, Q @ s.A @ Q.T, friction=0.2)
        assert np.abs(turn.v - base.v @ Q.T).max() < 1e-12
        assert np.abs(turn.A - Q @ base.A @ Q.T).max() < 1e-11
    part = Augury(s.plan, s.x + 0.3 * s.dx, s.dx, origin=np.zeros(d))(s.v, s.A, friction=0.2)
    assert 1e-4 < np.abs(part.v - seen.v).max() < 2


@dimensions
def test_far_from_the_origin(d: int) -> None:
    """Momentum is as exact a million cells away: coordinates are taken from a node in the middle."""
    s = Sample(d)
    far = s.x + 2.0**20 * s.dx
    near = far - 2.0**20 * s.dx  # the positions that are left after rounding
    seen = Augury(s.plan, far, s.dx)(s.v, s.A)
    one, two = (momentum(*f, near, s.boundary.mass, s.dx) for f in ((s.v, s.A), (seen.v, seen.A)))
    assert max(np.abs(b - a).max() for a, b in zip(one, two, strict=True)) < 1e-13 * s.scale


# ---- what is accepted ----------------------------------------------------------------------------------------------


@dimensions
def test_normals_point_outward(d: int) -> None:
    x, elements = circle(16) if d == 2 else icosphere(1)
    normals = vertex_normals(x, elements)
    assert np.abs(normals - x).max() < 0.05
    both = np.concatenate([elements, elements[:, ::-1]])
    assert np.array_equal(vertex_normals(x, both), np.zeros_like(x))


def test_what_is_refused() -> None:
    """Inward changes are accepted, of their tangential part what friction holds; outward ones are refused whole."""
    n = np.array([[0.0, 1.0]] * 4 + [[0.0, 0.0]])
    change = np.array([[3.0, -1.0], [0.5, -1.0], [3.0, 1.0], [0.0, 0.0], [3.0, -1.0]])
    nothing = np.zeros(2)
    assert np.array_equal(refused(change, n, None), [nothing, nothing, change[2], nothing, change[4]])
    assert np.array_equal(refused(change, n, 0.0), [[3, 0], [0.5, 0], change[2], nothing, change[4]])
    assert np.allclose(refused(change, n, 1.0), [[2, 0], nothing, change[2], nothing, change[4]], atol=1e-15)
    each = np.array([1.0, 0.2, 5.0, 0.0, 9.0])
    assert np.allclose(
        refused(change, n, each), [[2, 0], [0.3, 0], change[2], nothing, change[4]], atol=1e-15
    )


class Spheres:
    """Two spheres of radius 0.5 with 162 vertices and a gap of 0.02 along x, dx a mean edge, share 0.5."""

    def __init__(self, gap: float = 0.02) -> None:
        x, elements = icosphere(2)
        move = np.array([0.5 + gap / 2, 0.0, 0.0])
        self.x, self.boundary = together((0.5 * x - move, elements), (0.5 * x + move, elements))
        self.dx = edge(self.x, self.boundary)
        self.first = np.arange(len(self.x)) < len(x)
        self.augury = Augury(Resampling.spread(self.x, self.boundary, self.dx / 4, 0.5), self.x, self.dx)
        self.tips = int(x[:, 0].argmax()), len(x) + int(x[:, 0].argmin())

    def see(self, way: tuple[float, float, float], **options: object) -> tuple[float, Foreseen]:
        """Unit speeds, the first body along `way`, the second against it: relative speed of the tips along it."""
        v = np.where(self.first[:, None], 1.0, -1.0) * np.array(way)
        seen = self.augury(v, np.zeros((*self.x.shape, 3)), **options)
        return float((seen.v[self.tips[0]] - seen.v[self.tips[1]]) @ np.array(way)), seen


TABLE = [  # motion, friction, iterations, relative speed of a plain reference implementation (before: 2)
    ("approach", None, 0, 0.04),
    ("approach", None, 5, 0.04),
    ("separate", None, 0, 0.04),
    ("separate", None, 1, 1.98),
    ("separate", None, 5, 2.07),
    ("separate", None, 20, 2.07),
    ("slide", 0.0, 0, 0.08),
    ("slide", 0.0, 1, 1.97),
    ("slide", 0.0, 5, 2.00),
]
WAYS = {"approach": (1.0, 0.0, 0.0), "separate": (-1.0, 0.0, 0.0), "slide": (0.0, 1.0, 0.0)}


@pytest.fixture(scope="module")
def spheres() -> Spheres:
    return Spheres()


@pytest.mark.parametrize("way, friction, iterations, reference", TABLE)
def test_tips_of_two_spheres(
    spheres: Spheres, way: str, friction: float | None, iterations: int, reference: float
) -> None:
    """A3: approach is stopped, separation and frictionless sliding are let go after the first iteration; 5 % of 2."""
    speed, _ = spheres.see(WAYS[way], friction=friction, iterations=iterations)
    assert abs(speed - reference) < 0.05 * 2
    if way != "approach" and iterations == 0:  # without augury's iterations bodies stick together
        later, _ = spheres.see(WAYS[way], friction=friction, iterations=1)
        assert abs(later - reference) > 0.05 * 2


def test_sliding_with_all_that_is_tangential(spheres: Spheres) -> None:
    """A3: what pushes in keeps its tangential part: spheres that slide lose some speed by numerical friction.

    Where nothing pushes, at the tips of two symmetric spheres, rounding decides: means over caps do not depend on it.
    """
    way = np.array(WAYS["slide"])
    cap = [spheres.first & (spheres.x[:, 0] > -0.06), ~spheres.first & (spheres.x[:, 0] < 0.06)]

    def sliding(friction: float | None) -> float:
        v = spheres.see(WAYS["slide"], friction=friction)[1].v @ way
        return float(v[cap[0]].mean() - v[cap[1]].mean())

    free, rough, full = sliding(0.0), sliding(0.3), sliding(None)
    assert full < free - 0.1 and full > 0.1
    assert full - 1e-3 < rough <= free + 1e-3


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_separating_bodies_are_let_go(share: float) -> None:
    """A4: changes that glue decay, never to grow again, below 1e-3 by iteration 30."""
    x, boundary = together(icosphere(1))
    dx = edge(x, boundary)
    augury = Augury(Resampling.spread(x, boundary, dx / 4, share), x, dx)
    v, A = motion(x)
    left, sizes = augury.once(v, 0 * A)[0] - v, []
    for _ in range(31):
        sizes.append(float(np.abs(left).max()))
        left = augury.once(left, 0 * A)[0]
    assert sizes[0] > 1 and sizes[30] < 1e-3
    assert all(b < a for a, b in zip(sizes, sizes[1:], strict=False))
    assert np.abs(augury.once(v, 0 * A)[0]).max() > 1e-2  # what has momentum stays


def test_tolerance_ends_the_iteration(spheres: Spheres) -> None:
    speed, loose = spheres.see(WAYS["separate"], iterations=50, tolerance=0.05)
    assert 0 < loose.iterations < 50 and loose.residual <= 0.05 and abs(speed - 2) < 0.1
    _, strict = spheres.see(WAYS["separate"], iterations=50, tolerance=0.05, speed=0.01)
    assert strict.iterations > loose.iterations


# ---- who takes part ------------------------------------------------------------------------------------------------


@dimensions
def test_bodies_apart_are_decoupled(d: int) -> None:
    """A7: more than 3 dx apart, one body does not feel what the other does, not by a bit; closer, it does."""
    x, elements = circle(24) if d == 2 else icosphere(1)
    for gap, apart in ((3.01, True), (0.5, False)):
        dx = 0.3
        shift = np.zeros(d)
        shift[0] = 2 + gap * dx
        both, boundary = together((x, elements), (x + shift, elements))
        augury = Augury(Resampling.spread(both, boundary, dx / 4, 0.3), both, dx)
        v, A = motion(both)
        other = v.copy()
        other[len(x) :] *= -2
        same = np.array_equal(augury(v, A).v[: len(x)], augury(other, A).v[: len(x)])
        assert same == apart


@dimensions
def test_some_elements(d: int) -> None:
    """Vertices without active elements stay bit for bit; nothing active is nothing done; all active is all."""
    s = Sample(d)
    count = len(s.boundary.elements)
    some = np.arange(count) < count // 3
    out = np.setdiff1d(np.arange(len(s.x)), s.boundary.elements[some])
    seen = Augury(s.plan, s.x, s.dx, active=some)(s.v, s.A)
    assert len(out) and np.array_equal(seen.v[out], s.v[out]) and np.array_equal(seen.A[out], s.A[out])
    assert np.abs(seen.v - s.v).max() > 1e-2
    none = Augury(s.plan, s.x, s.dx, active=np.zeros(count, bool))
    assert np.array_equal(none(s.v, s.A).v, s.v) and np.array_equal(none.once(s.v, s.A)[1], s.A)
    every = Augury(s.plan, s.x, s.dx, active=np.ones(count, bool))(s.v, s.A)
    assert np.array_equal(every.v, s.augury(s.v, s.A).v)
    # Without the blend by mass, the vertices on the rim would take momentum from nowhere.
    part = Augury(s.plan, s.x, s.dx, active=some)
    new, affine = part._applied(s.v[part._nodes], s.A[part._nodes])
    v, A = s.v.copy(), s.A.copy()
    v[part._nodes], A[part._nodes] = new, affine
    assert max(s.defect(v, A)) > 1e-4


def test_states_are_not_touched_and_bits_repeat() -> None:
    s = Sample(3)
    v, A = s.v.copy(), s.A.copy()
    one, two = s.augury(s.v, s.A), Augury(s.plan, s.x, s.dx)(s.v, s.A)
    assert np.array_equal(s.v, v) and np.array_equal(s.A, A)
    assert np.array_equal(one.v, two.v) and np.array_equal(one.A, two.A)


def test_mistakes_are_named() -> None:
    s = Sample(2)
    with pytest.raises(SetupError, match="positive length"):
        Augury(s.plan, s.x, 0.0)
