"""Streams: mass flow rate, density, start and stop, any time step."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.transfers import RPIC, PolyPIC

H, SPEED, RHO = 0.05, 2.0, 900.0
JELLY = ct.materials.NeoHookean(1e4, 0.3, RHO)


def stream(
    d: int,
    duration: float,
    *,
    velocity=None,
    dt: float | None = None,
    transfer="apic",
    kernel="quadratic",
    **options,
) -> tuple[ct.Simulation, ct.Body]:
    sim = ct.Simulation(H, (0.0,) * d, dt=dt, transfer=transfer, kernel=kernel)
    nozzle = ct.shapes.Box((0.0,) * d, (0.1, 0.2, 0.3)[:d])
    direction = (SPEED, 0.0, 0.0)[:d] if velocity is None else velocity
    body = sim.add(ct.Emitter(nozzle, JELLY, direction, **options))
    while sim.time < duration - 1e-12:
        sim.step(duration - sim.time)
    return sim, body


@pytest.mark.parametrize("dt", [None, 1e-3, 1.7e-3])
@pytest.mark.parametrize("d", [2, 3])
def test_mass_flow_is_density_times_area_times_speed(d: int, dt: float | None) -> None:
    area, t = (0.2, 0.2 * 0.3)[d - 2], 0.4
    _, body = stream(d, t, dt=dt)
    mass = float(body.mass.sum())
    layer = RHO * area * H / 2  # particles come in layers half a cell apart
    assert abs(mass - RHO * area * SPEED * t) <= 1.01 * layer
    assert abs(mass - RHO * area * SPEED * t * 1.1) > 1.01 * layer  # 10 % too much is noticed
    # Equal layers at equal distances, all at full speed and without strain: a seamless stream.
    assert np.abs(body.v - np.eye(d)[0] * SPEED).max() <= 1e-12
    assert np.abs(body.F - np.eye(d)).max() <= 1e-12
    layers = np.unique(np.round(body.x[:, 0], 9))
    np.testing.assert_allclose(np.diff(layers), H / 2, atol=1e-9)


def test_rate_is_steady_and_independent_of_the_time_step() -> None:
    counts = [len(stream(2, t, dt=dt)[1]) for t in (0.2, 0.4) for dt in (None, 5e-4, 2e-3)]
    per_layer = 8
    assert max(counts[:3]) - min(counts[:3]) <= per_layer and max(counts[3:]) - min(counts[3:]) <= per_layer
    assert abs(counts[3] - 2 * counts[0]) <= 2 * per_layer


def test_oblique_streams_keep_the_flow_rate() -> None:
    """Flow through a box: density times the projected inflow faces."""
    velocity = (1.5, -2.0)
    _, body = stream(2, 0.5, velocity=velocity)
    expected = RHO * (0.2 * 1.5 + 0.1 * 2.0) * 0.5
    assert float(body.mass.sum()) == pytest.approx(expected, rel=0.05)
    assert np.abs(body.F - np.eye(2)).max() <= 1e-12


def test_streams_start_and_stop_on_time() -> None:
    sim, body = stream(2, 0.5, start=0.1, stop=0.3)
    expected = RHO * 0.2 * SPEED * 0.2
    assert float(body.mass.sum()) == pytest.approx(expected, abs=1.01 * RHO * 0.2 * H / 2)
    nose, tail = body.x[:, 0].max(), body.x[:, 0].min()
    assert nose == pytest.approx(-0.05 + SPEED * 0.4, abs=H / 2) and tail == pytest.approx(
        -0.05 + SPEED * 0.2, abs=H / 2
    )
    assert len(stream(2, 0.09, start=0.1)[1]) == 0


def test_a_stream_is_a_body_like_any_other() -> None:
    """It piles up on a plane, and momentum is what flowed in and what the plane gave."""
    sim = ct.Simulation(H, (0, -9.81))
    body = sim.add(ct.Emitter(ct.shapes.Box((0, 0.6), (0.2, 0.1)), JELLY, (0, -1.0)))
    sim.add(ct.colliders.Plane((0, 1), mode="sticky"))
    carried, weight, seen = 0.0, 0.0, 0
    while sim.time < 0.6:
        weight += 9.81 * float(body.mass.sum()) * sim.step()
        carried += (len(body) - seen) * float(body.mass[0]) if len(body) else 0.0
        seen = len(body)
    momentum = float(body.mass @ body.v[:, 1])
    assert body.x[:, 1].min() >= -0.5 * H - 1e-9
    # Each new particle brings m v; gravity acts on it from the step after it appears.
    assert momentum == pytest.approx(sim.impulses[0, 1] - carried - weight, rel=1e-9)


@pytest.mark.parametrize(
    ("d", "kernel", "transfer"),
    [
        (2, "linear", RPIC()),
        (2, "quadratic", PolyPIC(9)),
        (2, "cubic", PolyPIC(16)),
        (3, "quadratic", PolyPIC(11)),
    ],
    ids=str,
)
def test_streams_are_seamless_with_every_kind_of_mode(d: int, kernel: str, transfer) -> None:
    _, body = stream(d, 0.2, transfer=transfer, kernel=kernel)
    assert np.abs(body.v - np.eye(d)[0] * SPEED).max() <= 1e-11
    assert np.abs(body.F - np.eye(d)).max() <= 1e-11
    assert np.abs(body.set.arrays.modes[: len(body)]).max(initial=0.0) <= 1e-11


def test_particles_arrive_without_modes_and_bring_only_their_momentum() -> None:
    """A jet bends a block that floats: what both have is what flowed in."""
    sim = ct.Simulation(H, (0, 0), transfer=PolyPIC(9))
    jet = sim.add(ct.Emitter(ct.shapes.Box((0, 0.3), (0.1, 0.2)), JELLY, (SPEED, 0.0)))
    block = sim.add(ct.shapes.Box((0.25, 0.35), (0.2, 0.3)), JELLY)
    seen, brought = 0, np.zeros(3)
    for _ in range(300):
        sim.step()
        new = jet.ids >= seen
        seen = len(jet)
        modes = np.abs(jet.set.arrays.modes[:seen])
        assert not modes[new].any()
        m, x = jet.mass[new], jet.x[new]
        brought += [SPEED * m.sum(), 0.0, -SPEED * float(m @ x[:, 1])]
    assert seen > 100 and modes.max() > 1e-3
    row = sim.diagnostics()
    total = np.array([row["momentum_x"], row["momentum_y"], row["angular_z"]])
    np.testing.assert_allclose(total, brought, atol=1e-11 * brought[0])
    assert abs(total[2]) > 1e-3 * brought[0] and float(block.mass @ block.v[:, 0]) > 0.05 * brought[0]


def test_room_for_more_particles_keeps_the_modes_of_the_others() -> None:
    sim = ct.Simulation(H, (0, 0), transfer=PolyPIC(9))
    body = sim.add(ct.shapes.Box((0, 0), (0.5, 0.5)), JELLY)
    n = len(body)
    body.set.arrays.modes[:n, :, :2] = np.random.default_rng(0).normal(size=(n, 6, 2))
    before = body.set.arrays.modes[:n].copy()
    body.append(np.zeros((n, 2)), np.zeros((n, 2)), np.zeros((n, 2, 2)), np.ones(n))
    assert np.array_equal(body.set.arrays.modes[:n], before) and not body.set.arrays.modes[n:].any()


def test_jittered_streams_carry_as_much_but_not_on_a_lattice() -> None:
    regular, jittered = (stream(3, 0.3, sampling=sampling)[1] for sampling in ("regular", "jittered"))
    assert len(jittered) == len(regular) > 1000
    spread = [np.std((body.x[:, 1] / (H / 2)) % 1.0) for body in (regular, jittered)]
    assert (
        spread[0] < 1e-6 and abs(spread[1] - 12**-0.5) < 0.02
    )  # one place in the cell, and all places alike
    moved = np.abs(jittered.x[np.argsort(jittered.ids)] - regular.x[np.argsort(regular.ids)])
    assert moved.max() <= H / 4 + 1e-9
    correlation = np.corrcoef((jittered.x / (H / 2) % 1.0).T) - np.eye(3)
    assert np.abs(correlation).max() < 0.1
    again = stream(3, 0.3, sampling="jittered")[1]
    assert np.array_equal(again.x, jittered.x)
