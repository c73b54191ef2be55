"""Wrong arguments never reach the kernels: they raise ValueError and name the argument."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import continua as ct
from continua import _core
from continua.grid.blocks import BlockOrder


def ready() -> tuple[ct.Simulation, dict[str, object]]:
    sim = ct.Simulation(0.1, gravity=(0, 0))
    body = sim.add(ct.shapes.Box((0, 0), (0.5, 0.5)), ct.materials.NeoHookean())
    integrator = sim.steppers["main"]
    integrator.sort([body])
    order = integrator._orders[0]
    arguments = {
        "particles": body.arrays,
        "parameters": body.parameters,
        "material": "neo-hookean",
        "lattice": integrator.lattice,
        "order": order,
        "plan": integrator.plan,
        "dimension": 2,
        "degree": 2,
        "gradient": True,
        "dt": 1e-4,
        "momentum": True,
        "stress": True,
        "tiles": np.empty(integrator.grid.tile_shape(order)),
    }
    _core.scatter(**arguments)
    return sim, arguments


def changed(thing: object, **values: object) -> SimpleNamespace:
    names = [n for n in dir(thing) if not n.startswith("_")]
    return SimpleNamespace(**({n: getattr(thing, n) for n in names} | values))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda a: {"degree": 4}, "degree"),
        (lambda a: {"dimension": 3}, "dimension|shape|lattice|tiles|particles"),
        (lambda a: {"material": "chocolate"}, "material"),
        (lambda a: {"material": ""}, "tau"),
        (lambda a: {"tiles": a["tiles"][:-1].copy()}, "tiles"),
        (lambda a: {"tiles": a["tiles"].astype(np.float32)}, "tiles|type"),
        (lambda a: {"tiles": np.asfortranarray(a["tiles"])}, "tiles"),
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
        (lambda a: {"order": changed(a["order"], offsets=a["order"].offsets[::-1].copy())}, "order"),
        (lambda a: {"order": changed(a["order"], order=a["order"].order + 1)}, "order"),
    ],
)
def test_scatter_names_the_wrong_argument(change: object, name: str) -> None:
    _, arguments = ready()
    with pytest.raises((ValueError, TypeError), match=name):
        _core.scatter(**(arguments | change(arguments)))  # type: ignore[operator]


def test_gather_refuses_to_write_over_its_input() -> None:
    sim, a = ready()
    body, integrator = sim.bodies[0], sim.steppers["main"]
    nodes = np.zeros(integrator.grid.node_shape())
    shared = {
        k: a[k]
        for k in (
            "particles",
            "parameters",
            "material",
            "lattice",
            "order",
            "plan",
            "dimension",
            "degree",
            "dt",
        )
    }
    options = {
        "mls": False,
        "exponential": False,
        "change": None,
        "velocity": nodes,
    }
    with pytest.raises(ValueError, match="out"):
        _core.gather(out=body.arrays, reach=integrator.grid.reach[0], **shared, **options)
    with pytest.raises(ValueError, match="reach"):
        _core.gather(out=body.next_arrays, reach=integrator.grid.reach[0] + 99, **shared, **options)


def test_sorting_reports_the_first_particle_that_lies_nowhere() -> None:
    sim, _ = ready()
    a, lattice = sim.bodies[0].arrays, sim.steppers["main"].lattice
    for value in (np.nan, np.inf, -1e30):
        x = a.x.copy()
        x[1, 5] = value
        x[0, 9] = np.nan
        buffers = np.empty(a.count, np.int32), np.empty(a.count, np.int32)
        keys, offsets, bad = _core.sort_particles(x, a.count, lattice, 2, 2, True, *buffers)
        assert bad == 5 and BlockOrder(keys, offsets, buffers[0], bad).bad == 5
