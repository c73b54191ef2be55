"""Wrong arguments never reach the kernels: they raise ValueError and name the argument."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import continua as ct
from continua import _core


def ready() -> tuple[ct.Simulation, dict[str, object]]:
    sim = ct.Simulation(0.1, gravity=(0, 0))
    body = sim.add(ct.shapes.Box((0, 0), (0.5, 0.5)), ct.materials.NeoHookean())
    field = sim.steppers["main"].field
    field.sort([body])
    exchange = field.exchanges[0][0]
    arguments = {
        "particles": body.set.arrays,
        "parameters": body.parameters,
        "material": "neo-hookean",
        "lattice": field.lattice,
        "order": exchange.order,
        "plan": field.rule.plan,
        "links": exchange.links,
        "dimension": 2,
        "degree": 2,
        "gradient": True,
        "dt": 1e-4,
        "momentum": True,
        "stress": True,
        "add": False,
        "nodes": np.empty(field.grid.node_shape()),
    }
    _core.scatter(**arguments)
    return sim, arguments


def changed(thing: object, **values: object) -> SimpleNamespace:
    names = [n for n in dir(thing) if not n.startswith("_")]
    return SimpleNamespace(**({n: getattr(thing, n) for n in names} | values))


def sorted_again(a: dict, x: np.ndarray, count: int) -> _core.Order:
    order = _core.Order()
    order.sort(x, count, a["lattice"], 2, 2)
    return order


def fewer(a: dict) -> _core.Order:
    """Of one particle less."""
    return sorted_again(a, a["particles"].x, a["particles"].count - 1)


def lost(a: dict) -> _core.Order:
    """Of particles one of which lies nowhere."""
    x = a["particles"].x.copy()
    x[0, 3] = np.nan
    return sorted_again(a, x, a["particles"].count)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda a: {"degree": 4}, "degree"),
        (lambda a: {"dimension": 3}, "dimension|shape|lattice|nodes|particles"),
        (lambda a: {"material": "chocolate"}, "material"),
        (lambda a: {"material": ""}, "tau"),
        (lambda a: {"nodes": a["nodes"][:, :-1].copy()}, "nodes"),
        (lambda a: {"nodes": a["nodes"][:-1].copy()}, "links: .* nodes"),
        (lambda a: {"nodes": a["nodes"].astype(np.float32)}, "nodes|type"),
        (lambda a: {"nodes": np.asfortranarray(a["nodes"])}, "nodes"),
        (lambda a: {"particles": changed(a["particles"], v=np.zeros((2, 4)))}, r"particles\.v"),
        (lambda a: {"particles": changed(a["particles"], count=10**6)}, r"particles\.count"),
        (
            lambda a: {
                "parameters": changed(a["parameters"], values=np.zeros(1), rows=np.zeros(1, np.int32))
            },
            "param",
        ),
        (
            lambda a: {"parameters": changed(a["parameters"], rows=np.array([3, 0], np.int32))},
            r"parameters\.rows",
        ),
        (lambda a: {"lattice": changed(a["lattice"], dx=-1.0)}, r"lattice\.dx"),
        (lambda a: {"order": fewer(a)}, "order: does not belong"),
        (lambda a: {"order": lost(a)}, "order: does not belong"),
        (lambda a: {"order": _core.Order()}, "order: does not belong"),
        (lambda a: {"order": changed(a["order"])}, "order"),
    ],
)
def test_scatter_names_the_wrong_argument(change: object, name: str) -> None:
    _, arguments = ready()
    with pytest.raises((ValueError, TypeError), match=name):
        _core.scatter(**(arguments | change(arguments)))  # type: ignore[operator]


SHARED = (
    "particles",
    "parameters",
    "material",
    "lattice",
    "order",
    "plan",
    "links",
    "dimension",
    "degree",
    "dt",
)


def gathering() -> tuple[ct.Simulation, dict]:
    """Arguments that gather accepts."""
    sim, a = ready()
    field, particles = sim.steppers["main"].field, sim.bodies[0].particle_sets()[0]
    particles.next_arrays.count = particles.count
    return sim, {name: a[name] for name in SHARED} | {
        "out": particles.next_arrays,
        "velocity": np.zeros(field.grid.node_shape()),
        "change": None,
        "mls": False,
        "exponential": False,
    }


def test_gather_refuses_to_write_over_its_input() -> None:
    _, a = gathering()
    _core.gather(**a)
    with pytest.raises(ValueError, match="out"):
        _core.gather(**(a | {"out": a["particles"]}))


def test_links_belong_to_their_particles_and_nodes() -> None:
    """Those of other particles, of another grid, of a grid with a hole, or of another dimension are refused."""
    sim, a = gathering()
    up = ready()[1]
    field, order, d = sim.steppers["main"].field, a["order"], 2
    keys, lattice = field.grid.keys, field.lattice
    one_block = _core.Order.of(order.keys[:1], np.array([0, order.count]), order.order)
    flat = {"origin": np.zeros(3), "period": np.zeros(3, np.int32)}
    wrong = [
        _core.link_blocks(one_block, keys, lattice, d),
        _core.link_blocks(order, keys[:-1], lattice, d),
        _core.link_blocks(order, np.append(keys[:-1], keys[-1] + np.uint64(99)), lattice, d),
        _core.link_blocks(order, keys, changed(lattice, **flat), 3),
    ]
    for call, given in ((_core.gather, a), (_core.scatter, up)):
        call(**(given | {"links": a["links"]}))
        for links in wrong:
            with pytest.raises(ValueError, match="links"):
                call(**(given | {"links": links}))
        with pytest.raises(TypeError, match="links"):
            call(**(given | {"links": a["links"].reach}))


def order_arrays() -> dict[str, np.ndarray]:
    order = ready()[1]["order"]
    assert isinstance(order, _core.Order)
    return {name: getattr(order, name) for name in ("keys", "offsets", "order")}


def test_an_order_made_of_its_arrays_is_the_same() -> None:
    _, a = ready()
    given = order_arrays()
    made = _core.Order.of(**given)
    assert (made.count, made.blocks, made.bad) == (a["particles"].count, len(given["keys"]), -1)
    for name, array in given.items():
        np.testing.assert_array_equal(getattr(made, name), array)
    before = a["nodes"].copy()
    a["nodes"][:] = np.nan
    _core.scatter(**(a | {"order": made}))
    np.testing.assert_array_equal(a["nodes"], before)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda a: {"offsets": a["offsets"][::-1].copy()}, "offsets"),
        (lambda a: {"offsets": a["offsets"][:-1].copy()}, "offsets"),
        (lambda a: {"offsets": a["offsets"] + 1}, "offsets"),
        (lambda a: {"offsets": np.append(a["offsets"][:-1], a["offsets"][-1] + 1)}, "offsets"),
        (lambda a: {"offsets": np.where(np.arange(len(a["offsets"])) == 1, 10**6, a["offsets"])}, "offsets"),
        (lambda a: {"offsets": a["offsets"].astype(np.int32)}, "offsets"),
        (lambda a: {"order": a["order"] + 1}, "order"),
        (lambda a: {"order": a["order"] - 1}, "order"),
        (lambda a: {"order": a["order"][:-1].copy()}, "order"),
        (lambda a: {"order": a["order"].astype(np.int64)}, "order"),
        (lambda a: {"keys": a["keys"][:-1].copy()}, "offsets|keys"),
        (lambda a: {"keys": a["keys"].astype(np.int64)}, "keys"),
        (lambda a: {"keys": None}, "keys"),
    ],
)
def test_an_order_cannot_be_made_of_wrong_arrays(change: object, name: str) -> None:
    arrays = order_arrays()
    with pytest.raises((ValueError, TypeError), match=name):
        _core.Order.of(**(arrays | change(arrays)))  # type: ignore[operator]


def test_sorting_names_the_wrong_argument() -> None:
    sim, a = ready()
    x, count, lattice = a["particles"].x, a["particles"].count, a["lattice"]
    right = {"x": x, "count": count, "lattice": lattice, "dimension": 2, "degree": 2}
    wrong = {
        "x": x[:1],
        "count": x.shape[1] + 1,
        "dimension": 4,
        "degree": 4,
        "lattice": changed(lattice, dx=0.0),
    }
    for name, value in wrong.items():
        with pytest.raises((ValueError, TypeError), match=name):
            _core.Order().sort(**(right | {name: value}))
    with pytest.raises(ValueError, match="count"):
        _core.Order().sort(**(right | {"count": -1}))


def test_sorting_reports_the_first_particle_that_lies_nowhere() -> None:
    sim, given = ready()
    a = given["particles"]
    for value in (np.nan, np.inf, -1e30):
        for first in (5, 0):
            x = a.x.copy()
            x[1, first] = value
            x[0, 9] = np.nan
            assert sorted_again(given, x, a.count).bad == first
    assert sorted_again(given, np.full_like(a.x, np.nan), a.count).bad == 0
    assert sorted_again(given, a.x, a.count).bad == -1


def test_every_thread_sees_the_particle_that_lies_nowhere() -> None:
    """Also where it is the first one of its share."""
    _, given = ready()
    n, before = 60_000, ct.threads()
    x = np.random.default_rng(0).uniform(0, 3, size=(2, n))
    try:
        for threads in (1, 2, 3):
            ct.set_threads(threads)
            for lost in (0, 1, n // 3, n // 2, 2 * n // 3, n - 1):
                wrong = x.copy()
                wrong[0, lost] = np.nan
                assert sorted_again(given, wrong, n).bad == lost
    finally:
        ct.set_threads(before)
