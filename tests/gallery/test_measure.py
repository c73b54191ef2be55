"""What the checks of the gallery measure: known answers, and scenes that are wrong on purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from continua import Simulation
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.gallery import pie, sponge_twist
from continua.gallery._measure import centre_line, fullness, momentum_gap, pieces, turns
from continua.geometry import shapes
from continua.materials import FixedCorotated


def test_pieces_counts_lumps_but_no_crumbs() -> None:
    lattice = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3)
    x = np.concatenate([lattice, lattice + (10.0, 0.0, 0.0), [[30.0, 0.0, 0.0]]])
    assert pieces(x, 1.2) == 2
    assert pieces(x, 1.2, smallest=1) == 3
    assert pieces(x, 7.0) == 1
    assert pieces(x, 0.5) == 0


def test_turns_finds_every_fold_and_ignores_ripples() -> None:
    s = np.linspace(0, 1, 500)
    wave = np.sin(2 * np.pi * 3 * s)
    found = turns(wave + 0.05 * np.sin(2 * np.pi * 60 * s), 0.5)
    assert s[found[1:]] == pytest.approx((2 * np.arange(6) + 1) / 12, abs=0.02)
    assert len(turns(np.full(100, 0.3), 0.1)) == 0


def test_centre_line_follows_the_order_of_emission() -> None:
    sim = Simulation(dx=0.1, gravity=(0.0, 0.0))
    stream = sim.add(Emitter(shapes.Box((0.0, 0.0), (0.4, 0.4)), FixedCorotated(), (0.0, -1.0)))
    sim.run(2.0)
    height = centre_line(stream, 20)[:, 1]
    assert (np.diff(height) > 0).all()
    assert np.ptp(height) == pytest.approx(2.0, abs=0.2)


def test_momentum_gap_sees_a_lost_impulse() -> None:
    sim = Simulation(dx=0.1, gravity=(0.0, -9.81))
    sim.add(shapes.Box((0.0, 0.3), (0.4, 0.4)), FixedCorotated(E=1e5, nu=0.3, density=1000.0))
    sim.add(colliders.Plane((0.0, 1.0)))
    start = sim.diagnostics()
    sim.run(0.3)
    assert momentum_gap(sim, start) < 1e-12
    sim.impulses[:] *= 0.99
    assert momentum_gap(sim, start) > 1e-3


def test_fullness_sees_squeezed_fluid() -> None:
    """Two bodies with different particles that fill a box together; then squeezed to a half."""
    sim = Simulation(dx=0.1, gravity=(0.0, 0.0))
    sim.add(shapes.Box((0.0, 0.5), (1.0, 1.0)), FixedCorotated())
    sim.add(shapes.Box((1.0, 0.5), (1.0, 1.0)), FixedCorotated(), particles_per_cell=16)
    assert fullness(sim.bodies, sim.dx) == pytest.approx(1.0)
    for body in sim.bodies:
        body.x[:, 1] /= 2
    assert fullness(sim.bodies, sim.dx) == pytest.approx(2.0)


def test_saint_venant_gate_fails_when_the_free_length_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clamps hold what they fill. A cell more of free length at either end, or half a cell less, breaks the gate of
    10 %."""
    assert abs(sponge_twist.saint_venant_error(0.08)) < 0.1  # -0.048
    clamp = sponge_twist.clamp
    for inwards, error in ((-0.08, -0.202), (0.04, 0.162)):

        def moved(side: int, *others: float, by: float = inwards) -> colliders.Box:
            box = clamp(side, *others)
            return replace(box, center=(box.center[0] - side * by, 0.0, 0.0))

        monkeypatch.setattr(sponge_twist, "clamp", moved)
        assert sponge_twist.saint_venant_error(0.08) == pytest.approx(error, abs=0.05)


def test_crack_gate_fails_for_cracks_anywhere() -> None:
    """If all neighbours were torn apart, less than half of the pairs would have a particle of a line."""
    sim = pie.pie(0.04).build()
    torn, _ = pie.torn_pairs(sim, 2 * sim.dx)
    assert torn == 0
    sim.bodies[1].x[:] *= 100
    torn, share = pie.torn_pairs(sim, 2 * sim.dx)
    assert torn > 1000 and share < 0.8
