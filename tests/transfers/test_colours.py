"""Sums on nodes by many threads at once, over seams: threads that work on blocks side by side share no node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest
from clouds import H, both, kernels
from grid_driver import DEGREES, spline

import continua as ct
from continua import _core
from continua.bodies.points import ParticleBody
from continua.grid.blocks import SIDE, Lattice
from continua.integrators import Field
from continua.materials import FixedCorotated, IncompressibleFluid
from continua.transfers import APIC

N = 60_000  # enough for seven threads
DT = 1e-3
THREADS = (1, 2, 3, 7)
REPEATS = 10
PERIODS = [(n, n, n) for n in range(1, 8)]  # blocks per axis; threads take pairs of them
MIXED = [(0, 0, 0), (0, 5, 6), (5, 0, 1), (6, 3, 0), (2, 6, 5)]  # 0: no seam
seams = pytest.mark.parametrize("period", PERIODS + MIXED, ids=str)


@pytest.fixture(autouse=True)
def same_threads() -> Iterator[None]:
    before = ct.threads()
    yield
    ct.set_threads(before)


def filled(d: int, period: tuple[int, ...], kernel: str, *, staggered: bool = False) -> Field:
    """Particles all over a world, in random order in memory in one half of it and in that of blocks in the other."""
    rng = np.random.default_rng(sum(period) + d)
    blocks = np.array(period[:d], np.int32)
    lattice = Lattice(H, np.full(d, 0.03), blocks)
    span = SIDE * H * np.where(blocks > 0, blocks, 7)
    below = np.where(blocks > 0, 0, 3 * SIDE * H)  # without seams on both sides of the first node
    lower = lattice.origin - below
    x = lower + span * rng.uniform(size=(N, d))
    order = _core.Order()
    order.sort(np.ascontiguousarray(x.T), N, lattice, d, DEGREES[kernel])
    x = x[order.order]
    some = np.flatnonzero(x[:, 0] < lower[0] + 0.5 * span[0])
    x[some] = x[rng.permutation(some)]
    field = Field(lattice, DEGREES[kernel], APIC(), staggered=staggered)
    material = IncompressibleFluid(1.0) if staggered else FixedCorotated(1e6, 0.3)
    body = ParticleBody("cloud", material, d, np.float64)
    body.append(x, rng.normal(size=(N, d)), rng.normal(size=(N, d, d)) / H, rng.uniform(0.5, 2, N) * H**d)
    body.mass[:] = rng.uniform(0.5, 2, N)
    if not staggered:
        body.F = np.eye(d) + 0.1 * rng.uniform(-1, 1, size=(N, d, d))
    assert field.sort([body]) is None
    return field


def same_for_all_threads(field: Field, scatter: Callable[..., None], arrays: int = 1) -> list[np.ndarray]:
    """What every number of threads finds every time, to the bit; written over whatever was there."""
    found: list[list[np.ndarray]] = []
    for threads in THREADS:
        ct.set_threads(threads)
        for _ in range(REPEATS):
            found.append([np.full(field.grid.node_shape(), np.nan) for _ in range(arrays)])
            scatter(*found[-1])
    for again in found[1:]:
        for first, other in zip(found[0], again, strict=True):
            np.testing.assert_array_equal(other.view(np.int64), first.view(np.int64))
    return found[0]


def assert_sums(nodes: np.ndarray, expected: np.ndarray) -> None:
    """Over all nodes, up to the round-off of what was added."""
    scale = np.abs(nodes).sum(axis=(0, 1)) + np.abs(expected)
    assert (np.abs(nodes.sum(axis=(0, 1)) - expected) <= 1e-13 * scale).all()


def with_last(vectors: np.ndarray, last: float) -> np.ndarray:
    """Four channels."""
    return np.append(np.pad(vectors, (0, 3 - len(vectors))), last)


@kernels
@seams
@both
def test_momentum_and_stress(d: int, period: tuple[int, ...], kernel: str) -> None:
    field = filled(d, period, kernel)
    (body,) = field.bodies
    (nodes,) = same_for_all_threads(field, lambda nodes: field.scatter(nodes, DT, momentum=True, stress=True))
    assert_sums(nodes, with_last(body.mass @ body.v, body.mass.sum()))
    without = np.empty_like(nodes)
    field.scatter(without, 0.0, momentum=True, stress=False)
    assert np.abs(nodes - without).max() > 1e-3 * np.abs(without).max()  # stress counts


@kernels
@seams
@both
def test_values(d: int, period: tuple[int, ...], kernel: str) -> None:
    """Also against the sums written out, where a tile may reach the same block from several sides."""
    field = filled(d, period, kernel)
    (body,), ((exchange,),) = field.bodies, field.exchanges
    values = np.random.default_rng(5).normal(size=(N, d))
    (nodes,) = same_for_all_threads(field, lambda nodes: exchange.scatter_values(values, nodes))
    assert_sums(nodes, with_last(values.sum(axis=0), 0.0))
    expected = written_out(field, body.x, values[body.ids], kernel)
    assert np.abs(nodes[..., :d] - expected).max() <= 1e-12 * np.abs(expected).max()


def written_out(field: Field, x: np.ndarray, values: np.ndarray, kernel: str) -> np.ndarray:
    """Sums of values (n, d) with the weights of all nodes, (blocks, nodes, d)."""
    degree, lattice, d = DEGREES[kernel], field.lattice, x.shape[1]
    at = np.asarray(_core.node_coordinates(field.grid.keys, d), np.int64).reshape(-1, d)
    lowest = np.where(lattice.period > 0, 0, at.min(axis=0))
    size = np.where(lattice.period > 0, SIDE * lattice.period, np.ptp(at, axis=0) + 1)
    q = (x - lattice.origin) / lattice.dx
    first = np.floor(q - 0.5 * (degree - 1)).astype(np.int64)
    total = np.zeros((int(size.prod()), d))
    for offset in product(range(degree + 1), repeat=d):
        node = first + offset
        w = spline(q - node, kernel).prod(axis=1)
        place = np.ravel_multi_index(tuple(((node - lowest) % size).T), tuple(size))
        for a in range(d):
            total[:, a] += np.bincount(place, w * values[:, a], minlength=len(total))
    place = np.ravel_multi_index(tuple((at - lowest).T), tuple(size))
    return total[place].reshape(*field.grid.node_shape()[:2], d)


@kernels
@seams
@both
def test_faces(d: int, period: tuple[int, ...], kernel: str) -> None:
    field = filled(d, period, kernel, staggered=True)
    (body,), ((exchange,),) = field.bodies, field.exchanges
    momentum, mass = same_for_all_threads(field, exchange.scatter_faces, arrays=2)
    total = body.mass.sum()
    assert_sums(momentum, with_last(body.mass @ body.v, total))
    assert_sums(mass, with_last(np.full(d, total), N))
