"""Solids among other continua: weight and momentum go from one to the other, and nothing is glued."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from solid_worlds import block, jelly, run

import continua as ct
from continua.integrators import Optimization

G = 9.81
GRAINS = ct.materials.DruckerPrager(E=2e5, nu=0.3, density=1600.0, friction_angle=35.0)
TIGHT: dict[str, tuple[Any, float | None]] = {
    "symplectic": ("symplectic", None),
    "optimization": (Optimization(tolerance=1e-12), 1e-3),
}
SOFT = ct.materials.FixedCorotated(E=2e4, nu=0.3, density=1600.0)


def column(d: int, sides: float) -> tuple[ct.Simulation, ct.SolidBody, ct.ParticleBody]:
    """A box with smooth walls: an elastic slab on its bottom, a column of sand on the slab, both as wide as the box."""
    sim = ct.Simulation(0.05, (0.0, -G, 0.0)[:d])
    up, wide = np.eye(d)[1], np.full(d, sides)
    room = wide + (4 - sides) * up
    sim.add(ct.colliders.Box(tuple(room / 2), tuple(room), inverted=True))
    size = wide + (0.2 - sides) * up
    slab = block(sim, 0 * up, size, 2, material=jelly(2e5, nu=0.2), damping=2e-3)
    sand = sim.add(ct.shapes.Box(tuple(size / 2 + 0.2 * up), tuple(size)), GRAINS, continuum="sand")
    return sim, slab, sand


@pytest.mark.parametrize(("d", "sides"), [(2, 0.4), (3, 0.2)])
def test_the_slab_carries_the_sand(d: int, sides: float) -> None:
    """At rest the pair gives the slab the weight of the sand, and the floor that of both: within 2 %."""
    sim, slab, sand = column(d, sides)
    sim.run(0.8, fps=1)
    pair, floor, t = sim.contact_impulses["sand_solids"].copy(), sim.impulses.sum(axis=0), sim.time
    sim.run(1.0, fps=1)
    took = sim.time - t
    of_sand, of_slab = G * sand.mass.sum(), G * slab.mass.sum()
    assert (sim.contact_impulses["sand_solids"] - pair)[1] / took == pytest.approx(of_sand, rel=0.02)
    assert (sim.impulses.sum(axis=0) - floor)[1] / took == pytest.approx(of_sand + of_slab, rel=0.02)
    assert slab.x[:, 1].max() < sand.x[:, 1].min() + 0.5 * sim.dx


def total(sim: ct.Simulation) -> np.ndarray:
    """Momentum of everything (d,)."""
    row = sim.diagnostics()
    return np.array([row[f"momentum_{a}"] for a in "xyz"[: sim.dimension]])


def crowd(d: int, integrator: str) -> tuple[ct.Simulation, ct.SolidBody]:
    """Two solids, each in its own continuum, and sand on a rough floor; scripts pull one end of the first for 0.1 s."""
    sim = ct.Simulation(0.04, (1.0, -G, 0.3)[:d], integrator=TIGHT[integrator][0], dt=TIGHT[integrator][1])
    sim.add(ct.colliders.Plane(tuple(np.eye(d)[1]), (0.0,) * d, friction=0.3))
    end = ct.shapes.Box((0.0, 0.1, 0.1)[:d], (0.02, 0.5, 0.5)[:d])
    pulled = ct.Scripted(end, ct.motions.Linear((0.2, 0.1, 0.0)[:d]), stop=0.1)
    firm = jelly(3e5)  # and thick, so that no side of one feels another side of it
    slab = block(
        sim,
        (0.0, 0.03, 0.0)[:d],
        (0.4, 0.24, 0.24)[:d],
        2,
        material=firm,
        scripted=pulled,
        velocity=(0.3, -0.5, 0.0)[:d],
    )
    block(
        sim, (0.48, 0.05, 0.01)[:d], 0.24, 2, material=firm, velocity=(-1.0, 0.0, 0.1)[:d], continuum="second"
    )
    box = ct.shapes.Box((0.2, 0.36, 0.1)[:d], (0.3, 0.12, 0.15)[:d])
    sim.add(box, SOFT, velocity=(0.0, -1.0, 0.0)[:d], continuum="sand")
    sim.add(ct.Contact("sand", "solids", friction=0.5))
    return sim, slab


@pytest.mark.parametrize("integrator", ["symplectic", "optimization"])
@pytest.mark.parametrize("d", [2, 3])
def test_momentum_of_everything_balances(d: int, integrator: str) -> None:
    """Gravity, floor and the pull of scripts are all that changes it, to rounding, whatever friction and contact do."""
    sim, slab = crowd(d, integrator)
    before, mass = total(sim), sum(body.mass.sum() for body in sim.bodies)
    sim.run(0.2, fps=5)
    parts = [sim.impulses.sum(axis=0)[:d], slab.pull[:d], mass * sim.time * sim.gravity]
    change, scale = total(sim) - before, float(np.abs(parts).sum())
    assert np.abs(change - sum(parts)).max() <= (1e-12 if integrator == "symplectic" else 1e-9) * scale
    assert len(sim.contact_impulses) == 3
    met = [sim.contact_impulses[pair][:d] for pair in ("sand_solids", "second_solids")]
    for part in (*parts, *met):
        assert np.abs(part).max() > 1e-4 * scale  # all of them take part: leave one out and the gate fails


def lifted(own_grid: bool) -> tuple[float, float]:
    """Upward momentum of a layer of sand from which a slab is lifted at 1 m/s, without gravity, and its mass."""
    sim = ct.Simulation(0.05, (0.0, 0.0))
    sand = sim.add(ct.shapes.Box((0.2, 0.1), (0.4, 0.2)), SOFT, continuum="sand")
    contact = ct.GridContact() if own_grid else None
    mesh = ct.meshes.box_mesh((0.0, 0.21), (0.4, 0.31), (8, 2))
    slab = ct.SolidBody(
        mesh, jelly(5e4), velocity=(0.0, 1.0), contact=contact, continuum=None if own_grid else "sand",
        on_grid=None if own_grid else True,
    )  # fmt: skip
    sim.add(slab)
    run(sim, 0.1)
    return float((sand.mass * sand.v[:, 1]).sum()), float(sand.mass.sum())


def test_sand_is_not_lifted_by_a_slab_that_leaves_it() -> None:
    """No cohesion: upward momentum below 1e-10 of that of one grid for both, which lifts it."""
    own, mass = lifted(own_grid=True)
    shared, _ = lifted(own_grid=False)
    assert abs(own) < 1e-10 * mass
    assert shared > 0.01 * mass


def indentation(E: float) -> float:
    """How far the middle of a held slab sinks under the weight of sand, at rest [m]."""
    sim = ct.Simulation(0.05, (0.0, -G))
    sim.add(ct.colliders.Box((0.2, 2.0), (0.4, 4.0), inverted=True))
    held = ct.Scripted(ct.shapes.Box((0.2, 0.0), (0.5, 0.02)))
    slab = block(
        sim, (0.0, 0.0), (0.4, 0.2), 2, material=jelly(E, nu=0.2), scripted=held, damping=2e-3, drag=5.0
    )
    alone = slab.x.copy()
    sim.add(ct.shapes.Box((0.2, 0.3), (0.4, 0.2)), GRAINS, continuum="sand")
    sim.run(0.5, fps=2)
    top = alone[:, 1] > 0.199
    return float((alone - slab.x)[top, 1].mean())


def test_stiffer_solids_sink_less_under_sand() -> None:
    """G20 figure 4.3, E as 1 : 4 : 16: indentations in the order of 1/E, each by a factor of about 4."""
    depths = [indentation(E) for E in (5e4, 2e5, 8e5)]
    for soft, stiff in zip(depths, depths[1:]):
        assert 2 < soft / stiff < 6
    assert depths[2] > 0 and not 2 < indentation(1.9e5) / depths[1] < 6


def kept(mu: float) -> float:
    """Part of a layer of sand that is still on a slope of 25 degrees after a second."""
    sim = ct.Simulation(0.05, (G * np.sin(0.44), -G * np.cos(0.44)))
    everything = ct.Scripted(lambda x: np.ones(len(x), bool))
    block(sim, (-0.1, -0.2), (0.9, 0.2), 1, scripted=everything)
    sand = sim.add(ct.shapes.Box((0.2, 0.06), (0.4, 0.1)), GRAINS, continuum="sand")
    sim.add(ct.Contact("sand", "solids", friction=mu))
    sim.run(1.0, fps=1)
    return float((sand.x[:, 1] > -0.1).mean())


def test_sand_stays_on_a_slope_with_friction_and_slides_off_without() -> None:
    """W20 figure 4.9: more is left where mu is larger; without friction less than 5 %."""
    left = [kept(mu) for mu in (0.0, 0.3, 1.0)]
    assert left[0] < 0.05 and left[0] <= left[1] < left[2]
    assert left[2] > 0.8
