"""Particles that lie nowhere, not finite or beyond the reach of the grid, are found before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import continua as ct
from continua import _core
from continua.grid.blocks import Lattice
from continua.grid.reach import REACH
from continua.integrators import Incompressible, Optimization
from continua.materials import FixedCorotated, IncompressibleFluid

JELLY = FixedCorotated(E=1e5, nu=0.3, density=1000.0)
NOWHERE = {"nan": np.nan, "inf": np.inf, "far": 1.5 * REACH, "below": -1.5 * REACH, "farthest": -1e300}
MANY = 3 * 8192 + 100  # particles, enough for three threads


@pytest.fixture(params=[1, 2, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = ct.threads()
    ct.set_threads(request.param)
    yield request.param
    ct.set_threads(before)


def which(count: int) -> dict[str, np.ndarray]:
    """Index sets of particles that go astray."""
    every = np.arange(count)
    return {
        "first": every[:1],
        "some at first": every[: count // 2 + 1],
        "all": every,
        "middle": every[count // 2 : count // 2 + 1],
        "last": every[-1:],
    }


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("where", ["first", "some at first", "all", "middle", "last"])
@pytest.mark.parametrize("what", NOWHERE)
def test_the_first_of_them_is_found(threads: int, what: str, where: str, dtype: type, d: int) -> None:
    x = np.random.default_rng(1).uniform(-20, 20, (d, MANY)).astype(dtype)
    chosen = which(MANY)[where]
    with np.errstate(over="ignore"):
        x[d - 1, chosen] = dtype(NOWHERE[what])
    order = _core.Order()
    order.sort(x, MANY, Lattice(1.0, np.zeros(d), np.zeros(d, np.int32)), d, 2)
    assert order.bad == chosen[0]
    assert order.blocks == 0


def particles() -> ct.Simulation:
    sim = ct.Simulation(1.0, (0.0, -9.81))
    sim.add(ct.shapes.Box((0.0, 0.0), (80.0, 80.0)), JELLY)
    assert sim.particles > MANY
    return sim


def fluid() -> ct.Simulation:
    sim = ct.Simulation(1.0, (0.0, -9.81), integrator=Incompressible())
    sim.add(ct.shapes.Box((0.0, 0.0), (8.0, 8.0)), IncompressibleFluid(1000.0))
    return sim


def implicit() -> ct.Simulation:
    sim = ct.Simulation(1.0, (0.0, -9.81), integrator="optimization")
    sim.add(ct.shapes.Box((0.0, 0.0), (8.0, 8.0)), JELLY)
    return sim


def solid(on_grid: bool) -> Callable[[], ct.Simulation]:
    def make() -> ct.Simulation:
        sim = ct.Simulation(1.0, (0.0, -9.81), integrator="symplectic" if on_grid else Optimization())
        sim.add(ct.SolidBody(ct.meshes.box_mesh((0.0, 0.0), (4.0, 4.0), (4, 4)), JELLY, on_grid=on_grid))
        return sim

    return make


def springs(on_grid: bool) -> Callable[[], ct.Simulation]:
    def make() -> ct.Simulation:
        sim = ct.Simulation(1.0, (0.0, -9.81, 0.0), integrator="symplectic" if on_grid else Optimization())
        sim.add(ct.SpringBody(ct.meshes.Cloth((5, 5), (4.0, 4.0)), mass=10.0, on_grid=on_grid))
        return sim

    return make


ON_GRID = {
    "particles": particles,
    "fluid": fluid,
    "implicit": implicit,
    "mesh": solid(True),
    "springs": springs(True),
}


CASES = [(what, False) for what in ("nan", "inf", "farthest")] + [(what, True) for what in NOWHERE]


@pytest.mark.parametrize(("what", "started"), CASES)  # at the start the lattice goes where bodies are
@pytest.mark.parametrize("kind", ON_GRID)
def test_every_kind_of_body_says_it(threads: int, kind: str, what: str, started: bool) -> None:
    for where in ("first", "some at first", "all"):
        sim = ON_GRID[kind]()
        body = sim.bodies[0]
        if started:
            sim.step(1e-4)
        body.x[which(len(body.x))[where]] = NOWHERE[what]
        with pytest.raises(ct.ContinuaError) as error:
            sim.step()
        text = str(error.value)
        assert f'body "{body.name}"' in text
        assert any(word in text for word in ("no place", "finite", "the grid reaches", "zero", "inside out"))


@pytest.mark.parametrize("kind", ["mesh", "springs"])
@pytest.mark.parametrize("where", ["first", "all"])
def test_a_mesh_on_its_own_says_it(kind: str, where: str) -> None:
    sim = {"mesh": solid(False), "springs": springs(False)}[kind]()
    body = sim.bodies[0]
    body.x[which(len(body.x))[where]] = np.nan
    with pytest.raises(ct.ContinuaError, match=f'point 0 of body "{body.name}".* finite numbers'):
        sim.step()
