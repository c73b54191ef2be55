"""Solids that meet each other exactly meet sand, rigid bodies, strands and meshes on the grid by the law of nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from exact_worlds import BE, Watched, block, momenta, motion

import continua as ct

EXACT = ct.ExactContact(friction=0.3)


def sand(sim: ct.Simulation) -> None:
    heap = ct.shapes.Box((0.1, 0.52, 0.1), (0.2, 0.1, 0.2))
    sim.add(heap, ct.materials.DruckerPrager(E=1e5), velocity=(0.0, -2.0, 0.0))


def wheel(sim: ct.Simulation) -> None:
    ball = ct.shapes.Sphere((0.15, 0.6, 0.15), 0.12)
    sim.add(ct.RigidBody(ball, density=500.0, velocity=(0.0, -2.0, 0.0)))


def jelly_on_grid(sim: ct.Simulation) -> None:
    block(
        sim, (0.05, 0.5, 0.05), 0.2, 2, contact=ct.PenaltyContact(), on_grid=True, velocity=(0.0, -2.0, 0.0)
    )


def hair(sim: ct.Simulation) -> None:
    curves = ct.meshes.Bundle((0.0, 0.53, 0.15), (0.3, 0.53, 0.15), 0.03, 24, 6)
    sim.add(ct.Strands(curves, ct.materials.Rod(radius=4e-3, E=1e6, density=1e3), velocity=(0.0, -2.0, 0.0)))


@pytest.mark.parametrize("others", [sand, wheel, jelly_on_grid, hair])
@pytest.mark.parametrize("integrator", ["symplectic", "optimization"])
def test_momentum_goes_from_one_to_the_other(
    others: Callable[[ct.Simulation], None], integrator: str
) -> None:
    """What falls on a pile of two solids pushes it; together they keep momentum."""
    sim = ct.Simulation(0.05, (0.0, 0.0, 0.0), integrator=BE if integrator == "optimization" else integrator)
    if integrator == "optimization":
        sim.add(ct.Continuum("main", integrator="symplectic"))
    low = block(sim, (0.0, 0.0, 0.0), 0.3, 3, contact=EXACT)
    high = block(sim, (0.0, 0.32, 0.0), (0.3, 0.15, 0.3), 2, contact=EXACT)
    others(sim)
    P = momenta(sim)[0]
    watched, size = Watched(sim), motion(sim)
    while sim.time < 0.08:
        sim.step()
        assert not watched.crosses()
    tolerance = 1e-6 if integrator == "optimization" else 1e-11
    assert np.abs(momenta(sim)[0] - P).max() < tolerance * size
    assert (high.mass @ high.v)[1] + (low.mass @ low.v)[1] < -0.05 * size
    assert min(low.J.min(), high.J.min()) > 0.2


def test_energy_does_not_grow_where_sand_lands_on_it() -> None:
    """The surface moves at once and the inside follows: what that squeezes must not come back as more."""
    sim = ct.Simulation(0.05, (0.0, 0.0, 0.0), integrator="optimization")
    sim.add(ct.Continuum("main", integrator="symplectic"))
    block(sim, (0.0, 0.0, 0.0), (0.3, 0.45, 0.3), 2, contact=EXACT)
    sand(sim)
    most = sim.diagnostics()["total"]
    while sim.time < 0.1:
        sim.step()
        assert sim.diagnostics()["total"] < 1.01 * most


def test_particles_do_not_enter_exact_solids() -> None:
    sim = ct.Simulation(0.05, (0.0, -9.81, 0.0))
    body = block(sim, (0.0, 0.01, 0.0), 0.3, 3, contact=EXACT)
    sim.add(ct.colliders.Plane((0.0, 1.0, 0.0), friction=0.5))
    sim.add(ct.shapes.Box((0.1, 0.4, 0.1), (0.15, 0.1, 0.15)), ct.materials.DruckerPrager(E=1e5))
    while sim.time < 0.2:
        sim.step()
    top = body.x[:, 1].max()
    heap = sim.world.particle_bodies[0].x
    over = (heap[:, 0] > 0.02) & (heap[:, 0] < 0.28) & (heap[:, 2] > 0.02) & (heap[:, 2] < 0.28)
    assert heap[over, 1].min() > top - sim.dx
    assert body.x[:, 1].min() > 0
