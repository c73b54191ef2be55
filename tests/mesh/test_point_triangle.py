"""A point and a facet: closest primitive in every region, energy and its derivatives, degenerate facets (O1, O11)."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from mesh_samples import total_torque

from continua import _core
from continua.errors import GeometryError
from continua.mesh.collision import EPSILON, CollisionPairs

K = 300.0
TRIANGLE = np.array([[0.1, 0.0, 0.2], [1.3, 0.2, 0.0], [0.4, 1.1, 0.1]])
# Barycentric coordinates of the foot in the plane, corners of the closest primitive: all 7 regions, and the 3 in 2D.
REGIONS = {
    "face": ((0.3, 0.3, 0.4), (0, 1, 2)),
    "edge 01": ((0.5, 0.7, -0.2), (0, 1)),
    "edge 12": ((-0.3, 0.6, 0.7), (1, 2)),
    "edge 02": ((0.5, -0.2, 0.7), (0, 2)),
    "corner 0": ((1.8, -0.4, -0.4), (0,)),
    "corner 1": ((-0.4, 1.8, -0.4), (1,)),
    "corner 2": ((-0.4, -0.4, 1.8), (2,)),
}
REGIONS_2D = {
    "edge": ((0.3, 0.7), (0, 1)),
    "corner 0": ((1.4, -0.4), (0,)),
    "corner 1": ((-0.4, 1.4), (1,)),
}
CASES = [pytest.param(3, *case, id=f"3D {name}") for name, case in REGIONS.items()]
CASES += [pytest.param(2, *case, id=f"2D {name}") for name, case in REGIONS_2D.items()]
every_region = pytest.mark.parametrize(("d", "foot", "corners"), CASES)


def sample(d: int, foot: tuple[float, ...], height: float = 0.3) -> np.ndarray:
    """Point and facet (d+1, d), the point at a height over the place with the barycentric coordinates `foot`."""
    facet = TRIANGLE[:d, :d] if d == 3 else np.array([[0.1, 0.2], [1.3, 0.4]])
    normal = np.cross(*(facet[1:] - facet[0])) if d == 3 else np.array([-1.0, 6.0])
    return np.vstack([foot @ facet + height * normal / np.linalg.norm(normal), facet])


def pair(x: np.ndarray, **options: float) -> CollisionPairs:
    """The only pair of x: node 0 and the others."""
    return CollisionPairs(x, [range(len(x))], **({"stiffness": K} | options))


def dense(pairs: CollisionPairs, x: np.ndarray) -> np.ndarray:
    """Hessian from products, column by column."""
    return np.array([pairs.product(unit).ravel() for unit in np.eye(x.size).reshape(-1, *x.shape)]).T


def slope(f, x: np.ndarray, dx: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """Derivative of f along dx, of fourth order."""
    return (8 * (f(x + h * dx) - f(x - h * dx)) - (f(x + 2 * h * dx) - f(x - 2 * h * dx))) / (12 * h)


def written_out(x: np.ndarray, corners: tuple[int, ...], rotation_of_edges: float = 1.0) -> np.ndarray:
    """The Hessian of spec 2.5 as blocks in plain NumPy; rotation_of_edges = 0 leaves out how weights change."""
    d = x.shape[1]
    primitive = [c + 1 for c in corners]
    A = (x[primitive[1:]] - x[primitive[0]]).T
    t = np.linalg.lstsq(A, x[0] - x[primitive[0]], rcond=None)[0] if len(corners) > 1 else np.zeros(0)
    w = np.zeros(d + 1)
    w[0], w[primitive[0]], w[primitive[1:]] = -1, 1 - t.sum(), t
    gamma = np.zeros((d + 1, len(t)))
    gamma[primitive[0]], gamma[primitive[1:]] = -1, np.eye(len(t))
    r = w @ x
    s = r @ r
    root = np.sqrt(s + EPSILON)
    first = K * (root + s / (2 * root))
    second = K * (3 * s + 4 * EPSILON) / (4 * root**3)
    k = w[:, None, None] * A + rotation_of_edges * np.einsum("a,ik->iak", r, gamma)
    inner = np.einsum("iak,kl,jbl->iajb", k, np.linalg.inv(A.T @ A), k)
    blocks = 2 * (np.einsum("i,j,ab->iajb", w, w, np.eye(d)) - inner)
    gradient = 2 * np.einsum("i,a->ia", w, r)
    return (first * blocks + second * np.multiply.outer(gradient, gradient)).reshape(x.size, x.size)


@every_region
def test_closest_primitive(d: int, foot, corners) -> None:
    x = sample(d, foot)
    pairs = pair(x)
    weights = pairs.weights[0]
    assert tuple(np.flatnonzero(weights[1:])) == corners
    assert weights[0] == -1 and weights[1:].sum() == pytest.approx(1, rel=1e-14) and (weights[1:] >= 0).all()
    np.testing.assert_allclose(pairs.ways[0], weights @ x, atol=1e-15)
    others = np.random.default_rng(0).dirichlet(np.full(d, 0.5), 20000) @ x[1:]
    distance = np.linalg.norm(others - x[0], axis=1).min()
    assert pairs.depths[0] <= distance <= pairs.depths[0] * 1.01
    if len(corners) == d:
        assert pairs.depths[0] == pytest.approx(0.3, rel=1e-13)
    s = pairs.depths[0] ** 2
    assert pairs.value() == pytest.approx(K * s * np.sqrt(s + EPSILON), rel=1e-13)


@every_region
def test_derivatives(d: int, foot, corners) -> None:
    x = sample(d, foot)
    pairs = pair(x)
    gradient, rng = pairs.gradient(), np.random.default_rng(1)
    for _ in range(4):
        dx = rng.normal(size=x.shape)
        change = pairs.product(dx)
        error = abs(slope(lambda y: pair(y).value(), x, dx) - np.vdot(gradient, dx))
        assert error < 1e-9 * np.linalg.norm(gradient)
        error = np.linalg.norm(slope(lambda y: pair(y).gradient(), x, dx) - change)
        assert error < 1e-9 * np.linalg.norm(change)


@every_region
def test_hessian_is_that_of_the_formula(d: int, foot, corners) -> None:
    x = sample(d, foot)
    pairs = pair(x)
    H, expected = dense(pairs, x), written_out(x, corners)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(H, expected, atol=1e-13 * scale)
    np.testing.assert_allclose(H, H.T, atol=1e-14 * scale)
    np.testing.assert_allclose(pairs.diagonal().ravel(), np.diag(H), atol=1e-14 * scale)
    if len(corners) > 1:  # weights that do not change are a wrong Hessian, and this test sees it
        assert np.abs(H - written_out(x, corners, rotation_of_edges=0.0)).max() > 1e-2 * scale


@every_region
def test_forces_and_torques_balance_and_turn_with_the_pair(d: int, foot, corners) -> None:
    x = sample(d, foot) + 2.0
    pairs = pair(x)
    force = pairs.gradient()
    size = np.abs(force).sum()
    assert np.abs(force.sum(axis=0)).max() <= 1e-14 * size
    assert np.abs(total_torque(x, force)).max() <= 1e-13 * size
    turn = np.random.default_rng(2).normal(size=(d, d))
    turn -= turn.T
    np.testing.assert_allclose(pairs.product(x @ turn.T), force @ turn.T, atol=1e-12 * size)
    assert np.abs(pairs.product(np.ones_like(x))).max() <= 1e-12 * np.abs(pairs.diagonal()).max()


@every_region
def test_the_force_drives_the_point_to_the_facet(d: int, foot, corners) -> None:
    pairs = pair(sample(d, foot))
    force = -pairs.gradient()
    depth = pairs.depths[0]
    np.testing.assert_allclose(force[0], 3 * K * depth * pairs.ways[0], rtol=1e-12)  # of k depth^3


def largest_jumps(d: int, *, nearest_corner: bool = False) -> tuple[float, float]:
    """Of energy and forces between neighbouring points on a line over the facet and beyond: 200 and 2000 points."""
    facet = sample(d, (1 / d,) * d)[1:]
    start, end = facet.mean(axis=0) + [[-3.0] * d, [2.0] + [3.5] * (d - 1)]

    def at(point: np.ndarray) -> CollisionPairs:
        corner = facet[np.linalg.norm(facet - point, axis=1).argmin()]
        return pair(np.vstack([point, np.tile(corner, (d, 1)) if nearest_corner else facet]))

    def jump(samples: int) -> float:
        line = [at(point) for point in np.linspace(start, end, samples)]
        assert nearest_corner or len({tuple(pairs.weights[0, 1:] > 0) for pairs in line}) >= 3
        return float(
            max(abs(np.diff([np.append(p.gradient()[0], p.value()) for p in line], axis=0)).max(axis=0))
        )

    return jump(200), jump(2000)


@pytest.mark.parametrize("d", [2, 3])
def test_energy_and_force_are_continuous_across_regions(d: int) -> None:
    coarse, fine = largest_jumps(d)
    assert fine < 0.12 * coarse
    coarse, fine = largest_jumps(
        d, nearest_corner=True
    )  # corners alone: the force jumps from one to the next
    assert fine > 0.5 * coarse


def test_slope_of_the_energy_at_the_surface() -> None:
    """Phi' = k sqrt(eps) where the distance vanishes, with the gradient 2 Phi' w r."""
    for epsilon in (1e-15, 1e-6):
        x = sample(3, (0.3, 0.3, 0.4), height=1e-4 * np.sqrt(epsilon))
        pairs = pair(x, epsilon=epsilon)
        np.testing.assert_allclose(
            pairs.gradient()[0], -2 * K * np.sqrt(epsilon) * pairs.ways[0], rtol=1e-6, atol=0
        )
    on_it = sample(3, (0.3, 0.3, 0.4), height=0.0)
    assert pair(on_it).value() < 1e-30 and np.isfinite(dense(pair(on_it), on_it)).all()
    assert np.linalg.eigvalsh(dense(pair(on_it), on_it)).min() > -1e-12


@pytest.mark.parametrize(
    ("facet", "closest"),
    [
        ([[0, 0, 0], [2, 0, 0], [1, 0, 0]], [0.5, 0, 0]),
        ([[0, 0, 0], [0, 0, 0], [2, 0, 0]], [0.5, 0, 0]),
        ([[1, 0, 0], [1, 0, 0], [1, 0, 0]], [1, 0, 0]),
        ([[0, 0], [0, 0]], [0, 0]),
    ],
)
def test_facets_without_area_count_as_their_sides(facet, closest) -> None:
    d = len(facet[0])
    x = np.array([[0.5, 0.7, 0.0][:d], *facet], dtype=float)
    pairs = pair(x)
    np.testing.assert_allclose(x[0] + pairs.ways[0], closest, atol=1e-15)
    assert np.isfinite(pairs.gradient()).all() and np.isfinite(dense(pairs, x)).all()


def test_sums_over_many_pairs() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 3))
    nodes = np.array([rng.choice(50, 4, replace=False) for _ in range(700)])
    dx = rng.normal(size=x.shape)
    together = CollisionPairs(x, nodes, stiffness=K)
    alone = [CollisionPairs(x, [row], stiffness=K) for row in nodes]
    close = partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-9)
    close(together.value(), sum(p.value() for p in alone))
    close(together.gradient(), sum(p.gradient() for p in alone))
    close(together.product(dx), sum(p.product(dx) for p in alone))
    close(together.diagonal(), sum(p.diagonal() for p in alone))


def test_same_bits_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(4)
    x, dx = rng.normal(size=(2, 200, 3))
    nodes = np.array([rng.choice(200, 4, replace=False) for _ in range(3000)])
    results, before = set(), _core.threads()
    try:
        for threads in (1, 2, 3):
            _core.set_threads(threads)
            pairs = CollisionPairs(x, nodes, stiffness=K)
            parts = (pairs.weights, pairs.gradient(), pairs.product(dx), pairs.diagonal())
            results.add((pairs.value(), *(part.tobytes() for part in parts)))
    finally:
        _core.set_threads(before)
    assert len(results) == 1


def test_no_pairs() -> None:
    pairs = CollisionPairs(np.zeros((5, 3)), np.empty((0, 4), int), stiffness=K)
    assert len(pairs) == 0 and pairs.value() == 0.0
    assert not pairs.gradient().any() and not pairs.product(np.ones((5, 3))).any()


@pytest.mark.parametrize(
    ("x", "nodes", "options", "message"),
    [
        (np.zeros((4, 4)), [[0, 1, 2, 3]], {}, "x: expected positions"),
        (np.zeros((4, 3)), [[0, 1, 2]], {}, r"pairs: .* \(any, 4\)"),
        (np.zeros((4, 3)), [[0, 1, 2, 4]], {}, "row 0 names point 4"),
        (np.zeros((4, 3)), [[0, 1, 2, -1]], {}, "pairs: vertex numbers"),
        (np.zeros((4, 3)), [[0, 1, 2, 3]], {"stiffness": -1.0}, "stiffness"),
        (np.zeros((4, 3)), [[0, 1, 2, 3]], {"epsilon": 0.0}, "epsilon"),
    ],
)
def test_wrong_pairs_are_refused_with_a_reason(x, nodes, options, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        CollisionPairs(x, nodes, **({"stiffness": K} | options))
