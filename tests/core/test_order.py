"""The order of particles is a function of their positions: neither threads nor the sorts before can be seen in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import continua as ct
from continua import _core
from continua.grid.blocks import SIDE, Lattice

MANY = 7 * 8192 + 100  # particles, enough for seven threads
THREADS = (1, 2, 3, 7)
FINE = 64  # positions are multiples of dx / FINE, so that no sum is rounded
DX, WIDTH = 0.25, 5 * SIDE  # grid spacing; cells along the edge of the cube where particles are
Cloud = np.ndarray  # (d, count)


@pytest.fixture(autouse=True)
def threads_given_back() -> Iterator[None]:
    before = ct.threads()
    yield
    ct.set_threads(before)


def lattice(d: int, periodic: bool = False) -> Lattice:
    period = np.where(np.arange(d) == d - 1, 0, WIDTH // SIDE) if periodic else np.zeros(d)
    return Lattice(DX, np.full(d, 3 * DX), period.astype(np.int32))


def morton(block: np.ndarray) -> np.ndarray:
    """Keys of block coordinates (d, count): their 21 bits, interleaved three apart, first axis on top."""
    keys = np.zeros(block.shape[1], np.uint64)
    for axis, place in enumerate(block):
        biased = (place + (1 << 20)).astype(np.uint64)
        for bit in range(21):
            on = biased >> np.uint64(bit) & np.uint64(1)
            keys |= on << np.uint64(3 * bit + len(block) - 1 - axis)
    return keys


def expected(x: Cloud, at: Lattice, degree: int) -> dict[str, np.ndarray]:
    """The order by its definition: by block, then by place in memory, in blocks with mixed cells first by cell."""
    first = np.floor((x.T.astype(np.float64) - at.origin) / at.dx - 0.5 * (degree - 1)).astype(np.int64).T
    block, cell = first // SIDE, np.ravel_multi_index(tuple(first % SIDE), (SIDE,) * len(x))
    period = at.period[:, None]
    key = morton(np.where(period > 0, block % np.maximum(period, 1), block))
    order = np.argsort(key, kind="stable")
    keys, begin = np.unique(key[order], return_index=True)
    offsets = np.append(begin, len(order))
    for part in np.split(order, begin)[1:]:
        cells = cell[part]
        if 1 + np.count_nonzero(np.diff(cells)) > 2 * (len(np.unique(cells)) + 1):
            part[:] = part[np.argsort(cells, kind="stable")]
    return {"keys": keys, "offsets": offsets, "order": order}


def check(order: _core.Order, right: dict[str, np.ndarray]) -> None:
    assert (order.count, order.blocks, order.bad) == (len(right["order"]), len(right["keys"]), -1)
    for name, array in right.items():
        np.testing.assert_array_equal(getattr(order, name), array, err_msg=name)


def anywhere(rng: np.random.Generator, d: int, count: int) -> Cloud:
    return rng.integers(0, WIDTH * FINE, (d, count)) * (DX / FINE)


def moved(cells: float) -> Callable[[np.random.Generator, Cloud], Cloud]:
    far = round(cells * FINE)
    return lambda rng, x: x + rng.integers(-far, far + 1, x.shape) * (DX / FINE)


def some_elsewhere(rng: np.random.Generator, x: Cloud) -> Cloud:
    chosen = rng.random(x.shape[1]) < 0.1
    return np.where(chosen, 4 * anywhere(rng, *x.shape) - 3, x)


JOURNEYS: dict[str, Callable[[np.random.Generator, Cloud], Cloud]] = {
    "still": lambda rng, x: x,
    "slow": moved(0.02),
    "fast": moved(0.3),
    "one way": lambda rng, x: x + 0.1875 * DX,
    "across the world": lambda rng, x: x - (WIDTH + 1) * DX,
    "some elsewhere": some_elsewhere,
    "all elsewhere": lambda rng, x: anywhere(rng, *x.shape),
    "shuffled": lambda rng, x: rng.permutation(x, axis=1),
    "appended": lambda rng, x: np.append(x, anywhere(rng, len(x), x.shape[1] // 20), axis=1),
    "removed": lambda rng, x: x[:, rng.random(x.shape[1]) > 0.003],
    "cut off": lambda rng, x: x[:, : x.shape[1] // 2],
    "nobody left": lambda rng, x: x[:, :0],
    "in one block": lambda rng, x: x % DX,
}


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(("d", "dtype"), [(2, np.float32), (3, np.float64), (3, np.float32)])
@pytest.mark.parametrize("name", JOURNEYS)
def test_the_order_is_a_function_of_positions(name: str, d: int, dtype: type, periodic: bool) -> None:
    rng, at = np.random.default_rng(1), lattice(d, periodic)
    degree = 1 + (list(JOURNEYS).index(name) + d) % 3
    x = anywhere(rng, d, MANY)
    orders = {threads: _core.Order() for threads in THREADS}
    for _ in range(3):
        x = np.ascontiguousarray(x, dtype)
        right = expected(x, at, degree)
        for threads, order in orders.items():
            ct.set_threads(threads)
            order.sort(x, x.shape[1], at, d, degree)
            check(order, right)
        x = JOURNEYS[name](rng, x[:, right["order"]].astype(np.float64))


@pytest.mark.parametrize("d", [2, 3])
def test_few_particles_and_none(d: int) -> None:
    rng, order = np.random.default_rng(2), _core.Order()
    for count in (0, 1, 2, 30, 0, 3, 700, 5):
        x = np.zeros((d, 1000))
        x[:, :count] = 20 * anywhere(rng, d, count)
        for degree in (1, 2, 3, 3):
            order.sort(x, count, lattice(d), d, degree)
            check(order, expected(x[:, :count], lattice(d), degree))


@pytest.mark.parametrize("threads", THREADS)
def test_one_who_lies_nowhere_is_found_among_those_who_stayed(threads: int) -> None:
    ct.set_threads(threads)
    at, order = lattice(3, periodic=True), _core.Order()
    x = anywhere(np.random.default_rng(3), 3, MANY)
    order.sort(x, MANY, at, 3, 2)
    x = np.ascontiguousarray(x[:, order.order])
    for value in (np.nan, -np.inf, 1e12, -1e30):
        for axis, chosen in enumerate(([MANY - 1], [5, 7, MANY // 2], [0])):
            order.sort(x, MANY, at, 3, 2)
            check(order, expected(x, at, 2))
            lost = x.copy()
            lost[axis, chosen] = value
            order.sort(lost, MANY, at, 3, 2)
            assert order.bad == chosen[0]
            assert order.blocks == 0


def test_a_wrong_guess_does_no_harm() -> None:
    """Of another lattice, degree or dimension, or an order that was made by hand."""
    x = anywhere(np.random.default_rng(4), 3, 5000)
    at = lattice(3)
    found = expected(x, at, 2)
    x = np.ascontiguousarray(x[:, found["order"]])
    right = expected(x, at, 2)
    high = np.uint64(1) << np.uint64(63)
    keys, offsets, order = found["keys"], found["offsets"], found["order"].astype(np.int32)
    guesses = [
        _core.Order.of(keys + np.uint64(1), offsets, order),
        _core.Order.of(keys | high, offsets, order),
        _core.Order(),
        _core.Order(),
        _core.Order(),
    ]
    guesses[2].sort(x, 5000, lattice(3, periodic=True), 3, 1)
    guesses[3].sort(np.ascontiguousarray(x[1:]), 5000, lattice(2), 2, 2)
    guesses[4].sort(x[:, ::-1].copy(), 5000, at, 3, 2)
    for guess in guesses:
        guess.sort(x, 5000, at, 3, 2)
        check(guess, right)
    flat = np.ascontiguousarray(x[:2])
    guesses[0].sort(flat, 5000, lattice(2), 2, 2)
    check(guesses[0], expected(flat, lattice(2), 2))
