"""Nodes that particles hardly touch: next to no mass, speeds without bound, and no influence on anything."""

from __future__ import annotations

import contextlib

import pytest

import continua as ct
from continua.errors import InstabilityError
from continua.integrators import implicit

RUBBER = ct.materials.FixedCorotated(E=1e4, nu=0.3, density=1000.0)


def newton_iterations(floor: bool) -> float:
    """Of a block that is pressed into another one, or a floor; particles lie on a lattice, so that some reach a node
    by rounding only."""
    sim = ct.Simulation(0.1, (0.0, -9.81, 0.0) if floor else (0.0, 0.0, 0.0), integrator="optimization")
    sim.add(
        ct.shapes.Box((0.0, 0.25 if floor else 0.0, 0.0), (0.5, 0.5, 0.5)), RUBBER, velocity=(1.0, 0.0, 0.2)
    )
    if floor:
        sim.add(ct.colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.3))
    else:
        sim.add(ct.shapes.Box((0.65, 0.0, 0.0), (1.05, 0.5, 0.5)), RUBBER)
    sim.run(0.3)
    return sim.diagnostics()["total_newton_iterations"] / sim.steps


@pytest.mark.parametrize("floor", [False, True])
def test_light_nodes_do_not_slow_the_solve(floor: bool) -> None:
    assert newton_iterations(floor) < (12 if floor else 8)  # friction takes several solves


def test_cutting_steps_to_a_length_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a limit on the length of Newton steps counts speeds that do not matter."""
    monkeypatch.setattr(implicit, "FAR", 1e3)
    monkeypatch.setattr(implicit, "NEGLIGIBLE", 0.0)
    with contextlib.suppress(InstabilityError):
        assert newton_iterations(False) > 16


@pytest.mark.parametrize("cfl", [0.6, 0.05])
def test_the_balance_of_momentum_does_not_depend_on_the_step(cfl: float) -> None:
    """The tolerance is measured by how fast things move, not by the step."""
    sim = ct.Simulation(0.1, (0.0, -9.81, 0.0), integrator="optimization", cfl=cfl)
    body = sim.add(ct.shapes.Box((0.25, 0.3, 0.25), (0.4, 0.4, 0.4)), RUBBER, velocity=(0.0, -1.0, 0.0))
    sim.add(ct.colliders.Plane(normal=(0.0, 1.0, 0.0)))
    before = sim.diagnostics()["momentum_y"]
    sim.run(0.1)
    weight = -9.81 * float(body.mass.sum()) * sim.time
    gap = sim.diagnostics()["momentum_y"] - before - weight - sim.impulses[0, 1]
    assert abs(gap) < 1e-4 * abs(weight)
