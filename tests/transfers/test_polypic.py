"""PolyPIC: lossless with all modes, exact for its polynomials, never gaining energy at rest, guarded at light nodes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from clouds import (
    H,
    angular_error,
    both,
    cloud,
    coefficients,
    energies,
    kernels,
    modes_of,
    noise_error,
    particle_sums,
    random_field,
    round_trip,
)
from grid_driver import DEGREES, GridDriver

from continua.transfers import PolyPIC, mode_order


def counts(d: int, kernel: str) -> list[int]:
    """Numbers of modes, few to all."""
    if kernel == "quadratic":
        return {2: [1, 2, 3, 4, 6, 8, 9], 3: [1, 4, 7, 8, 11, 14, 15, 18, 24, 27]}[d]
    return [1, d + 1, *([] if kernel == "linear" else [2**d]), (DEGREES[kernel] + 1) ** d]


def polynomial(modes: int | list[tuple[int, ...]]) -> PolyPIC:
    return PolyPIC(modes, light_node=0)


# ---- all modes: nothing is lost ----


def loss(driver: GridDriver) -> float:
    """Largest error of a random field after a trip to resting particles and back, relative."""
    mass, _, field = random_field(driver)
    return float(np.abs(round_trip(driver, field) - field)[mass > 0].max() / np.abs(field).max())


@kernels
@both
def test_all_modes_lose_nothing(d: int, kernel: str) -> None:
    *fewer, full = counts(d, kernel)
    assert loss(cloud(d, kernel, polynomial(full))) <= 1e-12
    assert loss(cloud(d, kernel, polynomial(fewer[-1]))) > 1e-3  # the next smaller set does
    assert loss(cloud(d, kernel, polynomial(full), dtype=np.float32)) <= 1e-4


@pytest.mark.parametrize("gap", [1e-12, 0.0])
@kernels
@both
def test_all_modes_lose_nothing_where_weights_vanish(d: int, kernel: str, gap: float) -> None:
    """Particles at the places where they leave one node and reach the next."""
    edge = 0.5 if kernel == "quadratic" else 1.0
    cell = np.stack(np.meshgrid(*[np.arange(3.0)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    rng = np.random.default_rng(4)
    x = np.concatenate([cell + edge - gap, cell + edge - gap * (rng.random(cell.shape) < 0.5)])
    x[len(cell) :, 0] += rng.uniform(0.1, 0.9, len(cell))
    driver = GridDriver(x * H, H, kernel=kernel, transfer=polynomial(counts(d, kernel)[-1]))
    assert loss(driver) <= 1e-12


# ---- some modes: their polynomials survive ----


def monomials(driver: GridDriver, exponents: list[tuple[int, ...]]) -> np.ndarray:
    """(nodes, len(exponents)) products of powers of coordinates."""
    return np.stack([np.prod((driver.nodes / H) ** e, axis=1) for e in exponents], axis=1)


def reproduced(d: int, kernel: str, modes: int | list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Monomials with exponents up to the degree that come back from resting particles unchanged."""
    every = list(itertools.product(range(DEGREES[kernel] + 1), repeat=d))
    driver, exact = cloud(d, kernel, polynomial(modes), n=80, cells=2.0), set()
    driver.body.x[:] += 0.17 * H
    driver.sort()
    mass = driver.scatter()[0]
    for first in range(0, len(every), d):
        some = every[first : first + d]
        field = monomials(driver, (some * d)[:d]) * (mass > 0)[:, None]
        error = np.abs(round_trip(driver, field) - field).max(axis=0) / np.abs(field).max(axis=0)
        assert not np.any((error > 1e-12) & (error < 1e-6)), error
        exact |= {e for e, gap in zip(some, error, strict=False) if gap <= 1e-12}
    return exact


def contained(modes: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Those exponents for which all smaller ones are there too."""
    return {e for e in modes if all(low in modes for low in itertools.product(*(range(k + 1) for k in e)))}


@kernels
@both
def test_exactly_the_contained_polynomials_survive(d: int, kernel: str) -> None:
    most = (DEGREES[kernel] + 1) ** d
    some = range(1, most + 1) if kernel == "quadratic" else [*range(1, 2**d + 1), most]
    for count in some:
        assert reproduced(d, kernel, count) == contained(mode_order(d, DEGREES[kernel])[:count]), count


def test_products_of_squares_need_many_modes_in_3d() -> None:
    order = mode_order(3, 2)
    first = {e: next(n for n in range(1, 28) if e in contained(order[:n])) for e in order}
    assert [first[e] for e in ((2, 2, 0), (2, 0, 2), (0, 2, 2), (2, 2, 2))] == [19, 22, 23, 27]
    assert (2, 2, 0) in reproduced(3, "quadratic", 19) - reproduced(3, "quadratic", 18)


@pytest.mark.parametrize(
    ("d", "kernel", "modes"),
    [
        (2, "quadratic", [(0, 0), (0, 1), (0, 2)]),  # a profile of shear flow
        (2, "cubic", [(0, 0), (1, 0), (0, 1), (2, 0), (0, 2)]),
        (2, "cubic", [(0, 0), (1, 0), (2, 0), (3, 0)]),
        (2, "cubic", [(0, 0), (1, 0), (3, 0), (1, 1)]),  # x^3 without x^2 is not whole
        (3, "quadratic", [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1), (2, 0, 0)]),
        (3, "cubic", [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 0, 1), (0, 1, 1), (0, 2, 1)]),
    ],
)
def test_modes_may_be_chosen_one_by_one(d: int, kernel: str, modes: list[tuple[int, ...]]) -> None:
    assert reproduced(d, kernel, modes) == contained(modes)
    assert set(modes_of(cloud(d, kernel, polynomial(modes), n=5))) == set(modes)


# ---- energy and noise ----


@kernels
@both
def test_energy_never_grows_at_rest_and_more_modes_keep_more(d: int, kernel: str) -> None:
    kept = []
    for count in counts(d, kernel):
        grid, particles, back = energies(cloud(d, kernel, polynomial(count)))
        assert grid * (1 + 1e-12) >= particles and particles * (1 + 1e-12) >= back
        kept.append(particles / grid)
    assert all(b > a for a, b in itertools.pairwise(kept))
    assert kept[-1] == pytest.approx(1, abs=1e-12) and kept[-2] < 0.99
    assert back == pytest.approx(grid, rel=1e-12)


def test_moving_particles_may_gain_energy_from_squares_but_not_from_affine_modes() -> None:
    """The norm of a square depends on where the particle is in its cell; that of a linear mode does not."""
    gains = []
    for count in (3, 9):
        driver = cloud(2, "quadratic", polynomial(count))
        driver.body.x[:] = H * (np.round(driver.body.x / H) + 0.45)  # where squares hardly count
        driver.sort()
        before = particle_sums(driver)["kinetic"]
        driver.body.x[:] -= 0.4 * H
        driver.sort()
        gains.append(particle_sums(driver)["kinetic"] / before - 1)
    assert abs(gains[0]) <= 1e-12 and gains[1] > 0.01


@kernels
@both
def test_noise_the_grid_cannot_see_vanishes(d: int, kernel: str) -> None:
    for count in counts(d, kernel)[1:]:
        driver = cloud(d, kernel, polynomial(count), n=300, cells=2.0 if d == 3 else 4.0)
        assert noise_error(driver, 0.0) <= 1e-12, count
    assert np.abs(coefficients(driver)).max() <= 1e-9
    assert noise_error(cloud(d, kernel, "flip", n=300, cells=2.0 if d == 3 else 4.0), 0.0) > 0.9


# ---- the guard for light nodes ----


def near_light_nodes(driver: GridDriver, limit: float) -> np.ndarray:
    """Which particles have a stencil node (quadratic) of less than `limit` times their mass (N,)."""
    mass, nodes, body = driver.scatter()[0], driver.nodes, driver.body
    centre = np.floor(body.x / H + 0.5)
    near = np.abs(np.round(nodes / H)[None] - centre[:, None]).max(axis=2) <= 1
    return np.where(near, mass, np.inf).min(axis=1) < limit * body.mass


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@both
def test_the_guard_removes_squares_of_particles_with_a_light_node(d: int, dtype: type) -> None:
    limit = 0.05
    driver = cloud(d, "quadratic", PolyPIC(3**d, light_node=limit), dtype=dtype)
    light = near_light_nodes(driver, limit)
    assert 0.02 < light.mean() < 0.98
    flagged = dict(zip(driver.body.ids.tolist(), light, strict=True))
    mass, old, field = random_field(driver)
    driver.gather(field, 0.0, old)
    light = np.array([flagged[i] for i in driver.body.ids.tolist()])
    for e, c in zip(modes_of(driver), np.abs(coefficients(driver)).max(axis=2), strict=True):
        assert np.all(c[~light] > 0)
        assert np.all(c[light] == 0) if max(e) == 2 else np.all(c[light] > 0)


@both
def test_guarded_particles_keep_momenta_and_the_rest_stays_lossless(d: int) -> None:
    limit = 0.05
    driver = cloud(d, "quadratic", PolyPIC(3**d, light_node=limit))
    light = near_light_nodes(driver, limit)
    spoilt = np.zeros(len(driver.nodes), bool)
    for x in driver.body.x[light]:
        spoilt |= np.abs(driver.nodes - x).max(axis=1) < 1.5 * H
    mass, _, field = random_field(driver)
    error = np.abs(round_trip(driver, field) - field).max(axis=1)
    assert error[~spoilt & (mass > 0)].max() <= 1e-12 < 1e-3 < error[spoilt & (mass > 0)].max()
    assert angular_error(cloud(d, "quadratic", PolyPIC(3**d, light_node=limit))) <= 1e-13


def test_a_node_without_any_mass_counts_as_light() -> None:
    """Exactly between two nodes the third one has no weight, and so no velocity to take a difference of."""
    driver = GridDriver(np.array([[0.5, 0.5]]) * H, H, transfer=PolyPIC(9, light_node=1e-12))
    assert driver.scatter()[0].min() == 0
    driver.gather(np.ones_like(driver.nodes), 0.0)
    assert np.all(coefficients(driver)[4:] == 0)
    unguarded = GridDriver(np.array([[0.5, 0.5]]) * H, H, transfer=PolyPIC(9, light_node=0))
    mass, _ = unguarded.velocities()
    unguarded.gather(np.ones_like(unguarded.nodes) * (mass > 0)[:, None], 0.0)
    assert np.abs(coefficients(unguarded)[4:]).max() > 0.1
