"""Velocity modes on the faces of a MAC grid: orthogonal on each face grid, dual, lossless when all are there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from clouds import (
    H,
    both,
    coefficients,
    kernels,
    modes_of,
    particle_sums,
    round_trip,
    set_mode,
)
from face_clouds import FaceDriver, face_cloud, face_field, lonely_faces
from grid_driver import DEGREES
from test_modes import full, mode_1d, norm_1d
from test_polypic import contained, counts, polynomial

from continua.transfers import mode_order


def places(driver: FaceDriver, component: int) -> np.ndarray:
    """Positions of the particles in the grid of one component (N, d), in cells."""
    d = driver.body.dimension
    return driver.body.x / H - 0.5 * (np.arange(d) != component)


@kernels
@both
def test_modes_are_the_orthogonal_polynomials_of_each_face_grid(d: int, kernel: str) -> None:
    """P2G spreads w s_e; the Gram matrix is diagonal with the closed-form norms."""
    driver, degree = lonely_faces(d, kernel, full(d, kernel)), DEGREES[kernel]
    modes, worst = modes_of(driver), dict.fromkeys(("shape", "gram", "norm"), 0.0)
    wrong_grid = 0.0
    for a in range(d):
        on_grid = driver.axis == a
        nodes, w = driver.nodes[on_grid], driver.scatter()[0][on_grid]
        rows = []
        for e in modes:
            set_mode(driver, e, a)
            rows.append(driver.scatter()[1][on_grid, a])
        spread = np.array(rows)
        for x, q in zip(driver.body.x, places(driver, a), strict=True):
            near = np.flatnonzero((np.abs(nodes - x).max(axis=1) < 2.5 * H) & (w > 0))
            r = (nodes[near] - x) / H
            shape = [np.prod([mode_1d(degree, e[b], r[:, b], q[b]) for b in range(d)], 0) for e in modes]
            gram = spread[:, near] / w[near] @ spread[:, near].T
            norms = np.diag(gram)
            there = norms > 1e-12  # on nodes and faces some modes vanish
            unit = gram[np.ix_(there, there)] / np.sqrt(np.outer(norms[there], norms[there]))
            closed, shifted = (
                np.array([np.prod([norm_1d(degree, e[b], place[b]) for b in range(d)]) for e in modes])
                for place in (q, q + 0.5)
            )
            known = np.isfinite(closed)
            worst["shape"] = max(worst["shape"], np.abs(spread[:, near] - w[near] * np.array(shape)).max())
            worst["gram"] = max(worst["gram"], np.abs(unit - np.eye(len(unit))).max())
            worst["norm"] = max(worst["norm"], np.abs(norms - closed)[known].max())
            wrong_grid = max(wrong_grid, np.abs(norms - shifted)[known].max())
    assert max(worst.values()) <= 1e-13, worst
    assert wrong_grid > 1e-2


@kernels
@both
def test_modes_of_a_particle_come_back_from_its_faces(d: int, kernel: str) -> None:
    """Duals: the coefficients of s_e are one for e and zero for all others."""
    driver = lonely_faces(d, kernel, full(d, kernel))
    worst = 0.0
    for number, e in enumerate(modes_of(driver)):
        component = number % d
        set_mode(driver, e, component)
        driver.gather(driver.velocities()[1], 0.0)
        twice = 2 * driver.body.x / H
        inside = np.all(np.abs(twice - np.round(twice)) > 1e-3, axis=1)  # elsewhere some modes vanish
        found = coefficients(driver)[:, inside]
        expected = np.zeros_like(found)
        expected[number, :, component] = 1
        worst = max(worst, np.abs(found - expected).max())
    assert inside.sum() > 20 and worst <= 1e-12
    assert np.abs(found - np.roll(expected, 1, axis=0)).max() > 0.9


def loss(driver: FaceDriver) -> float:
    """Largest error of a random field after a trip to resting particles and back, relative."""
    mass, _, field = face_field(driver)
    return float(np.abs(round_trip(driver, field) - field)[mass > 0].max() / np.abs(field).max())


@kernels
@both
def test_all_modes_lose_nothing(d: int, kernel: str) -> None:
    *fewer, most = counts(d, kernel)
    assert loss(face_cloud(d, kernel, polynomial(most))) <= 1e-12
    assert loss(face_cloud(d, kernel, polynomial(fewer[-1]))) > 1e-3  # the next smaller set does
    assert loss(face_cloud(d, kernel, polynomial(most), dtype=np.float32)) <= 1e-4


@pytest.mark.parametrize("gap", [1e-12, 0.0, -1e-12])
@kernels
@both
def test_all_modes_lose_nothing_where_weights_vanish(d: int, kernel: str, gap: float) -> None:
    """At multiples of half a cell stencils of one kind of component leave a face and reach the next."""
    cell = np.stack(np.meshgrid(*[np.arange(3.0)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    rng = np.random.default_rng(4)
    places = [cell - gap, cell + 0.5 - gap, cell + 0.5 * (rng.random(cell.shape) < 0.5) - gap]
    places[2][:, 0] += rng.uniform(0.1, 0.4, len(cell))
    driver = FaceDriver(
        np.concatenate(places) * H, H, kernel=kernel, transfer=polynomial(counts(d, kernel)[-1])
    )
    assert loss(driver) <= 1e-12


def reproduced(d: int, kernel: str, modes: int) -> set[tuple[int, ...]]:
    """Monomials with exponents up to the degree that come back from resting particles unchanged."""
    driver, exact = face_cloud(d, kernel, polynomial(modes), n=80, cells=2.0), set()
    mass = driver.scatter()[0]
    for e in itertools.product(range(DEGREES[kernel] + 1), repeat=d):
        power = np.prod((driver.nodes / H) ** e, axis=1) * (mass > 0)
        field = driver.own(np.tile(power[:, None], d))
        error = np.abs(round_trip(driver, field) - field).max() / np.abs(field).max()
        assert not 1e-12 < error < 1e-6
        exact |= {e} if error <= 1e-12 else set()
    return exact


@kernels
@both
def test_exactly_the_contained_polynomials_survive(d: int, kernel: str) -> None:
    for count in counts(d, kernel)[-3:]:
        assert reproduced(d, kernel, count) == contained(mode_order(d, DEGREES[kernel])[:count]), count


@kernels
@both
def test_kinetic_energy_counts_every_mode_with_its_norm_on_its_own_grid(d: int, kernel: str) -> None:
    driver, degree = lonely_faces(d, kernel, full(d, kernel)), DEGREES[kernel]
    for number, e in enumerate(modes_of(driver)):
        component = number % d
        set_mode(driver, e, component, 3.0)
        kinetic = particle_sums(driver)["kinetic"]
        norms = [np.prod([norm_1d(degree, e[b], q[b]) for b in range(d)]) for q in places(driver, component)]
        if np.isfinite(norms).all():
            assert kinetic == pytest.approx(4.5 * np.sum(norms), rel=1e-12)
        mass, velocity = driver.velocities()  # a particle alone gives the faces what it has
        assert kinetic == pytest.approx(0.5 * mass @ velocity[:, component] ** 2, rel=1e-12)
