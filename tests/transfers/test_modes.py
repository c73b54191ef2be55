"""The velocity modes of particles: which there are, that they are mass-orthogonal, and that G2P is dual to P2G."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from clouds import H, both, coefficients, kernels, lonely, modes_of, particle_sums, set_mode, stencils
from grid_driver import DEGREES, GridDriver

import continua as ct
from continua.errors import SetupError
from continua.transfers import PolyPIC, mode_order

WORDS = {  # G20 A.1.2 and A.6, as exponents
    2: "00 10 01 11 20 02 21 12 22",
    3: "000 100 010 001 110 101 011 111 200 020 002 220 202 022 222 210 201 211 120 021 121 102 012 112 221 212 122",
}


def full(d: int, kernel: str) -> PolyPIC:
    """All modes, without the guard."""
    return PolyPIC((DEGREES[kernel] + 1) ** d, light_node=0)


# ---- which modes there are ----


@both
def test_modes_are_counted_in_the_published_order(d: int) -> None:
    order = mode_order(d, 2)
    assert order == [tuple(int(k) for k in word) for word in WORDS[d].split()]
    assert order != sorted(order)
    for degree in (1, 3):
        every = mode_order(d, degree)
        assert every[: 2**d] == order[: 2**d]
        assert sorted(every) == sorted(itertools.product(range(degree + 1), repeat=d))


@kernels
@both
def test_any_count_up_to_the_full_set_is_valid(d: int, kernel: str) -> None:
    degree, most = DEGREES[kernel], (DEGREES[kernel] + 1) ** d
    counted = range(1, most + 1) if degree == 2 else [*range(1, 2**d + 1), most]
    for count in counted:
        driver = lonely(d, kernel, PolyPIC(count))
        assert modes_of(driver) == sorted(mode_order(d, degree)[:count], key=lambda e: sum(e) > 1)
    assert len(modes_of(lonely(d, kernel, "polypic"))) == 2**d


@pytest.mark.parametrize(
    ("d", "kernel", "modes", "message"),
    [
        (2, "linear", 5, "5 modes in 2D with splines of degree 1; use 1 to 4"),
        (2, "quadratic", 10, "10 modes in 2D with splines of degree 2; use 1 to 9"),
        (2, "cubic", 9, "9 modes in 2D with splines of degree 3; use 1 to 4, or all 16"),
        (3, "quadratic", 28, "28 modes in 3D with splines of degree 2; use 1 to 27"),
        (3, "cubic", 27, "27 modes in 3D with splines of degree 3; use 1 to 8, or all 64"),
        (2, "quadratic", 0, "no 0 modes"),
        (2, "quadratic", -3, "no -3 modes"),
        (2, "quadratic", [(0, 0), (3, 0)], r"\(3, 0\) does not fit: it needs 2 exponents between 0 and 2"),
        (3, "quadratic", [(0, 0), (1, 0)], r"\(0, 0\) does not fit: it needs 3 exponents"),
        (2, "quadratic", [(0, 0), (1, -1)], r"\(1, -1\) does not fit"),
        (2, "quadratic", [(0, 0), (1, 1), (1, 1)], "must differ"),
        (2, "quadratic", [(1, 0), (0, 1)], r"needs the constant mode \(0, 0\)"),
    ],
)
def test_errors_say_which_modes_are_valid(d: int, kernel: str, modes, message: str) -> None:
    with pytest.raises(SetupError, match=message):
        ct.Simulation(H, (0.0,) * d, transfer=PolyPIC(modes), kernel=kernel)


@pytest.mark.parametrize(
    "options", [{"modes": 2.5}, {"modes": "all"}, {"light_node": 1.0}, {"light_node": -0.1}]
)
def test_options_out_of_range_are_refused(options: dict) -> None:
    with pytest.raises(SetupError, match=next(iter(options))):
        PolyPIC(**options)


# ---- reference: one-dimensional modes and norms, in cells ----


def mode_1d(degree: int, k: int, r: np.ndarray, q: float) -> np.ndarray:
    """s_k at distances r from a particle at q, all in units of the grid spacing. G20 (2.14)"""
    if k < 2:
        return r**k
    if degree == 2:
        z = q - np.floor(q + 0.5)
        return r**2 - z * (1 - 4 * z**2) * r - 0.25
    f = q - np.floor(q)
    b = f * (1 - f)
    s2 = r**2 - 1 / 3
    if k == 2:
        return s2
    e4, e2, e5 = 1 / 3 - b**2, 2 / 9 - b**2, -b * (1 - 2 * f) * (2 / 3 + 2 * b)
    return r**3 - 3 * e4 * r - e5 / e2 * s2


def norm_1d(degree: int, k: int, q: float) -> float:
    """sum w s_k^2; NaN where there is no short formula."""
    f, z = q - np.floor(q), q - np.floor(q + 0.5)
    if k == 0:
        return 1.0
    if k == 1:
        return {1: f * (1 - f), 2: 1 / 4, 3: 1 / 3}[degree]
    if degree == 2:
        return (1 - 4 * z**2) ** 2 * (3 - 4 * z**2) / 16
    return 2 / 9 - (f * (1 - f)) ** 2 if k == 2 else np.nan


def scattered_modes(driver: GridDriver) -> tuple[np.ndarray, np.ndarray]:
    """w (nodes,) and w s_e (modes, nodes) of particles of unit mass, as P2G spreads them."""
    rows = []
    for e in modes_of(driver):
        set_mode(driver, e, 0)
        rows.append(driver.scatter()[1][:, 0])
    return driver.scatter()[0], np.array(rows)


@kernels
@both
def test_modes_are_the_orthogonal_polynomials(d: int, kernel: str) -> None:
    """P2G spreads w s_e; the Gram matrix is diagonal with the closed-form norms."""
    driver, degree = lonely(d, kernel, full(d, kernel)), DEGREES[kernel]
    modes, nodes = modes_of(driver), driver.nodes
    w, spread = scattered_modes(driver)
    worst = dict.fromkeys(("shape", "gram", "norm"), 0.0)
    raw = 0.0
    for x, near in zip(driver.body.x, stencils(driver), strict=True):
        near = near[w[near] > 0]
        q, r = x / H, (nodes[near] - x) / H
        expected = np.array(
            [np.prod([mode_1d(degree, e[a], r[:, a], q[a]) for a in range(d)], 0) for e in modes]
        )
        gram = spread[:, near] / w[near] @ spread[:, near].T
        norms = np.diag(gram)
        there = norms > 1e-12  # on nodes and faces some modes vanish
        unit = gram[np.ix_(there, there)] / np.sqrt(np.outer(norms[there], norms[there]))
        closed = np.array([np.prod([norm_1d(degree, e[a], q[a]) for a in range(d)]) for e in modes])
        known = np.isfinite(closed)
        worst["shape"] = max(worst["shape"], np.abs(spread[:, near] - w[near] * expected).max())
        worst["gram"] = max(worst["gram"], np.abs(unit - np.eye(len(unit))).max())
        worst["norm"] = max(worst["norm"], np.abs(norms - closed)[known].max())
        plain = np.array([np.prod(r**e, axis=1) for e in modes])  # monomials are not orthogonal
        raw = max(raw, np.abs(w[near] * plain @ plain.T - np.diag((w[near] * plain**2).sum(axis=1))).max())
    assert max(worst.values()) <= 1e-13, worst
    assert raw > 0.1 or degree == 1


@kernels
@both
def test_modes_of_a_particle_come_back_from_its_nodes(d: int, kernel: str) -> None:
    """Duals: the coefficients of s_e are one for e and zero for all others."""
    driver = lonely(d, kernel, full(d, kernel))
    modes = modes_of(driver)
    worst, other = 0.0, 0.0
    for number, e in enumerate(modes):
        set_mode(driver, e, d - 1)
        field = driver.velocities()[1]
        driver.gather(field, 0.0)
        q = driver.body.x / H
        inside = np.all(
            np.abs(q * 2 - np.round(q * 2)) > 1e-3, axis=1
        )  # on nodes and faces some modes vanish
        found = coefficients(driver)[:, inside]
        expected = np.zeros_like(found)
        expected[number, :, d - 1] = 1
        worst = max(worst, np.abs(found - expected).max())
        other = max(other, np.abs(found - np.roll(expected, 1, axis=0)).max())
    assert inside.sum() > 20
    assert worst <= 1e-12 and other > 0.9


@kernels
@both
def test_kinetic_energy_counts_every_mode_with_its_norm(d: int, kernel: str) -> None:
    driver, degree = lonely(d, kernel, full(d, kernel)), DEGREES[kernel]
    counted = 0
    for e in modes_of(driver):
        set_mode(driver, e, 1, 3.0)
        norms = [np.prod([norm_1d(degree, e[a], q[a]) for a in range(d)]) for q in driver.body.x / H]
        if np.isfinite(norms).all():
            counted += sum(e) == 0 or np.sum(norms) < 0.5 * len(driver.body)
            assert particle_sums(driver)["kinetic"] == pytest.approx(4.5 * np.sum(norms), rel=1e-12)
        # A particle alone gives the grid what it has.
        mass, velocity = driver.velocities()
        assert particle_sums(driver)["kinetic"] == pytest.approx(0.5 * mass @ velocity[:, 1] ** 2, rel=1e-12)
    assert counted >= 2**d  # no norm but the first is one


# ---- choosing modes one by one ----


@both
def test_a_list_of_modes_means_what_a_count_means(d: int) -> None:
    """The order of the list does not matter, its content does."""
    some = mode_order(d, 2)[: 2**d + d]
    lists = (len(some), some[::-1], [*some[:-1], (1, 2, 0)[:d]])
    counted, listed, other = (lonely(d, "quadratic", PolyPIC(modes, light_node=0)) for modes in lists)
    field = np.random.default_rng(3).normal(size=counted.nodes.shape)
    results = []
    for driver in (counted, listed, other):
        driver.gather(field, 0.0)
        results.append(driver.velocities()[1])
    np.testing.assert_allclose(results[1], results[0], atol=1e-12)
    assert np.abs(results[2] - results[0]).max() > 1e-3


def test_single_linear_modes() -> None:
    """Two modes in 2D: shear along x is carried, along y it is not."""
    driver = lonely(2, "quadratic", PolyPIC(2))
    assert modes_of(driver) == [(0, 0), (1, 0)]
    driver.gather(driver.nodes @ np.array([[2.0, 5.0], [3.0, 7.0]]), 0.0)
    np.testing.assert_allclose(
        driver.body.C, np.broadcast_to([[2.0, 0], [5.0, 0]], driver.body.C.shape), atol=1e-12
    )
