"""Affine transfers between points and a grid (M23 section 5): what quadratic B-splines must keep, in 2D and 3D."""

from __future__ import annotations

import numpy as np
import pytest
from boundary_samples import motion

from continua.contact.exact.angular import axial, cross, momentum, turned, twist
from continua.contact.exact.splines import stencils, to_nodes, to_points
from continua.errors import SetupError

Array = np.ndarray
DX = 0.3
dimensions = pytest.mark.parametrize("d", [2, 3])


class Cloud:
    """Random points with masses, velocities and affine velocities, and the grid around them."""

    def __init__(self, d: int, count: int = 40, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.x, self.mass = rng.uniform(-1, 1, (count, d)), rng.uniform(0.5, 2, count)
        self.v, self.A = motion(self.x, seed)
        grid = stencils([self.x], DX)
        self.nodes, (self.W,) = grid.nodes, grid.weights

    def momenta(self, v: Array, A: Array) -> Array:
        m = self.mass
        return to_nodes(self.W, self.x, self.nodes, m[:, None] * v, m[:, None, None] * A)

    def both_ways(self, v: Array, A: Array) -> tuple[Array, Array]:
        mass = self.W.T @ self.mass
        return to_points(self.W, self.x, self.nodes, self.momenta(v, A) / mass[:, None], DX)


@dimensions
def test_spins_and_matrices_agree(d: int) -> None:
    """eps:w turns the other way than w, and (dx^2/4) m eps:A^T of A = -eps:w is that of a spin w."""
    rng = np.random.default_rng(0)
    w, r = rng.standard_normal((5, 1 if d == 2 else 3)), rng.standard_normal((5, d))
    assert np.allclose(np.einsum("nab,nb->na", twist(w), r), -turned(w, r), atol=1e-15)
    assert np.allclose(axial(-twist(w)), 2 * w, atol=1e-15)
    if d == 3:
        assert np.allclose(cross(w, r), np.cross(w, r), atol=1e-15)


@dimensions
def test_moments_of_weights(d: int) -> None:
    """T1: sum 1, mean x, second moment dx^2/4 in every axis; a node at multiples of dx."""
    cloud = Cloud(d)
    W, x, nodes = cloud.W, cloud.x, cloud.nodes
    assert np.abs(nodes / DX - np.round(nodes / DX)).max() < 1e-12
    assert len(np.unique(np.round(nodes / DX), axis=0)) == len(nodes)
    assert W.data.min() >= 0 and (np.diff(W.indptr) == 3**d).all()
    assert np.abs(W.sum(axis=1) - 1).max() < 1e-14
    assert np.abs(W @ nodes - x).max() < 1e-14
    second = (W @ (nodes[:, :, None] * nodes[:, None, :]).reshape(len(nodes), -1)).reshape(-1, d, d)
    second -= x[:, :, None] * x[:, None, :]
    assert np.abs(second - DX**2 / 4 * np.eye(d)).max() < 1e-14
    assert np.abs(second - DX**2 / 3 * np.eye(d)).max() > 1e-3  # of cubics: a wrong inertia would show


@dimensions
def test_momentum_survives_both_ways(d: int) -> None:
    """T2: P and L, with the affine part, of points, of nodes and of points again."""
    cloud = Cloud(d)
    scale = float((cloud.mass[:, None] * np.abs(cloud.v)).sum())
    P, L = momentum(cloud.v, cloud.A, cloud.x, cloud.mass, DX)
    p = cloud.momenta(cloud.v, cloud.A)
    assert np.abs(p.sum(axis=0) - P).max() < 1e-14 * scale
    assert np.abs(cross(cloud.nodes, p).sum(axis=0) - L).max() < 1e-14 * scale
    back = momentum(*cloud.both_ways(cloud.v, cloud.A), cloud.x, cloud.mass, DX)
    assert np.abs(back[0] - P).max() < 1e-14 * scale and np.abs(back[1] - L).max() < 1e-14 * scale
    without = momentum(cloud.v, 0 * cloud.A, cloud.x, cloud.mass, DX)[1]
    assert np.abs(without - L).max() > 1e-4 * scale  # the affine part is needed


@dimensions
def test_the_ways_are_adjoint(d: int) -> None:
    """T3: sum_i p_i.g_i = sum_p m_p (v.v' + dx^2/4 A:A') for every field g of nodes and what points take from it."""
    cloud = Cloud(d)
    g = np.random.default_rng(5).standard_normal(cloud.nodes.shape)
    v, A = to_points(cloud.W, cloud.x, cloud.nodes, g, DX)
    left = (cloud.momenta(cloud.v, cloud.A) * g).sum()

    def right(factor: float) -> float:
        return float(cloud.mass @ ((cloud.v * v).sum(axis=1) + factor * (cloud.A * A).sum(axis=(1, 2))))

    scale = np.abs(cloud.momenta(cloud.v, cloud.A) * g).sum()
    assert abs(left - right(DX**2 / 4)) < 1e-15 * scale * 10
    assert abs(left - right(DX**2 / 3)) > 1e-6 * scale


@dimensions
def test_both_ways_are_a_projection_like_filter(d: int) -> None:
    """T4: symmetric in the mass, eigenvalues in [0, 1], exactly d + d^2 of them 1: the affine fields."""
    cloud = Cloud(d, 30)
    count = len(cloud.x)
    size = count * (d + d * d)
    columns = []
    for unit in np.eye(size):
        v, A = cloud.both_ways(unit[: count * d].reshape(-1, d), unit[count * d :].reshape(-1, d, d))
        columns.append(np.concatenate([v.ravel(), A.ravel()]))
    weight = np.concatenate([np.repeat(cloud.mass, d), np.repeat(DX**2 / 4 * cloud.mass, d * d)])
    root = np.sqrt(weight)
    B = root[:, None] * np.array(columns).T / root
    assert np.abs(B - B.T).max() < 1e-14
    values = np.linalg.eigvalsh(B)
    assert values.min() > -1e-12 and values.max() < 1 + 1e-12
    assert (values > 1 - 1e-9).sum() == d + d * d


@dimensions
def test_affine_fields_survive(d: int) -> None:
    """T5: a field a + B x comes back when A is B, and only then."""
    cloud = Cloud(d)
    B = np.random.default_rng(6).standard_normal((d, d))
    v = 0.3 + cloud.x @ B.T
    back, A = cloud.both_ways(v, np.broadcast_to(B, cloud.A.shape))
    assert np.abs(back - v).max() < 1e-13 and np.abs(A - B).max() < 1e-13
    assert np.abs(cloud.both_ways(v, np.zeros_like(cloud.A))[0] - v).max() > 1e-2


def test_points_too_far_apart() -> None:
    with pytest.raises(SetupError, match="larger"):
        stencils([np.array([[0.0, 0.0, 0.0], [1e8, 1e8, 1e8]])], 1.0)
