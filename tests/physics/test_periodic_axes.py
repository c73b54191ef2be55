"""Periodic axes: the seam is nowhere."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct

H = 0.05
JELLY = ct.materials.NeoHookean(1e4, 0.3, 1000.0)


def crossing(
    d: int, start: float, *, periodic: bool = True, options: dict[str, str] | None = None
) -> dict[str, np.ndarray]:
    """Two turning blocks that collide, carried along x across one and a half periods of 16 cells."""
    period = 16 * H
    sim = ct.Simulation(H, (0.0,) * d, dt=1e-3, **(options or {}))
    if periodic:
        sim.add(ct.boundaries.Periodic(0, 0.0, period))
        if d == 3:
            sim.add(ct.boundaries.Periodic(2, -8 * H, 8 * H))
    spin: object = 4.0 if d == 2 else (1.0, 2.0, 3.0)
    for number, (offset, speed) in enumerate(((0.0, 4.2), (0.31, 3.6))):
        centre = (start + offset, 0.03 * number, 0.01)[:d]
        velocity = ct.velocities.Rigid((speed, 0.2, 0.9)[:d], spin, centre)
        sim.add(ct.shapes.Box(centre, (0.2, 0.25, 0.2)[:d]), JELLY, velocity=velocity)
    for _ in range(300):
        sim.step()
    out = {}
    for number, body in enumerate(sim.bodies):
        order = np.argsort(body.ids)
        x = body.x[order].copy()
        x[:, 0] -= start
        out |= {f"x{number}": x, f"v{number}": body.v[order], f"F{number}": body.F[order]}
    return out


def difference(a: dict[str, np.ndarray], b: dict[str, np.ndarray], d: int) -> float:
    worst = 0.0
    for name in a:
        gap = a[name] - b[name]
        if name.startswith("x"):
            period = np.array([16 * H, 1e9, 16 * H])[:d]
            gap = gap - np.round(gap / period) * period
        worst = max(worst, float(np.abs(gap).max() / np.abs(b[name]).max()))
    return worst


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "cubic"}, {"transfer": "flip"}, {"stress_transfer": "mls"}], ids=str
)
@pytest.mark.parametrize("d", [2, 3])
def test_a_body_on_the_seam_moves_like_one_in_the_middle(d: int, options: dict[str, str]) -> None:
    middle = crossing(d, 8 * H, options=options)
    assert difference(crossing(d, 0.0, options=options), middle, d) <= 1e-12
    assert difference(crossing(d, 0.0, periodic=False, options=options), middle, d) <= 1e-12
    assert np.abs(middle["F0"] - np.eye(d)).max() > 1e-2  # they did collide
    # half a cell further the grid sees the bodies differently: the comparison is not blind
    assert difference(crossing(d, 8.5 * H, options=options), middle, d) > 1e-6


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "cubic"])
@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_waves_do_not_see_where_a_short_period_begins(blocks: int, kernel: str) -> None:
    """A standing wave in a filled box of 4, 8 or 12 cells, displaced by one cell: the same energies."""
    period = 4 * blocks * H

    def energies(shift: float) -> tuple[float, float]:
        sim = ct.Simulation(H, (0, 0), kernel=kernel, dt=2e-4)
        sim.add(ct.boundaries.Periodic(0, 0.0, period))
        wave = 2 * np.pi / period
        body = sim.add(
            ct.shapes.Box((period / 2, 2 * H), (period, 4 * H)),
            JELLY,
            velocity=lambda x: np.stack(
                [np.sin(wave * (x[:, 0] - shift)), np.cos(wave * (x[:, 0] - shift))], axis=1
            ),
        )
        for _ in range(100):
            sim.step()
        row = sim.diagnostics()
        assert abs(row["momentum_x"]) <= 1e-12 * body.mass.sum()
        return row["kinetic"], row["elastic"]

    np.testing.assert_allclose(energies(H), energies(0.0), rtol=1e-10)
    assert abs(energies(0.3 * H)[1] / energies(0.0)[1] - 1) > 1e-10  # the lattice itself may be felt


def test_blocks_touch_across_the_seam() -> None:
    """Two blocks at opposite ends of the period push each other apart through the seam."""
    sim = ct.Simulation(H, (0, 0))
    sim.add(ct.boundaries.Periodic(0, 0.0, 16 * H))
    left = sim.add(ct.shapes.Box((2.5 * H, 0), (4 * H, 4 * H)), JELLY, velocity=(-1, 0))
    right = sim.add(ct.shapes.Box((13.5 * H, 0), (4 * H, 4 * H)), JELLY, velocity=(1, 0))
    start = sim.diagnostics()["momentum_x"]
    while sim.time < 0.15:
        sim.step()
    assert left.v[:, 0].mean() > 0.3 and right.v[:, 0].mean() < -0.3
    assert abs(sim.diagnostics()["momentum_x"] - start) <= 1e-12 * left.mass.sum()
    assert left.x[:, 0].min() >= 0 and right.x[:, 0].max() < 16 * H


def test_bodies_and_streams_outside_the_period_enter_it() -> None:
    """Material placed one period further, also during the run, and emitted there, moves undisturbed inside."""
    sim = ct.Simulation(H, (0, 0), dt=1e-3)
    sim.add(ct.boundaries.Periodic(0, 0.0, 16 * H))
    early = sim.add(ct.shapes.Box((-0.5, 0), (0.2, 0.2)), JELLY, velocity=(1, 0))
    flow = sim.add(ct.Emitter(ct.shapes.Box((16 * H + 0.1, 1.0), (0.1, 0.2)), JELLY, (1, 0)))
    sim.step()
    late = sim.add(ct.shapes.Box((16 * H + 0.3, -1.0), (0.2, 0.2)), JELLY, velocity=(1, 0))
    for _ in range(100):
        sim.step()
    for body in (early, flow, late):
        assert body.x[:, 0].min() >= 0 and body.x[:, 0].max() < 16 * H
        assert np.abs(body.v - (1, 0)).max() <= 1e-12 and np.abs(body.F - np.eye(2)).max() <= 1e-12
    assert early.x[:, 0].mean() == pytest.approx(-0.5 + 16 * H + sim.time)
    assert late.x[:, 0].mean() == pytest.approx(0.3 + 0.1)


def test_a_collider_across_the_seam_acts_on_both_sides() -> None:
    def blocked(center: float) -> np.ndarray:
        sim = ct.Simulation(0.05, gravity=(0, 0))
        sim.add(ct.boundaries.Periodic(0, 0.0, 0.8))
        sim.add(ct.colliders.Sphere((center, 0.0), 0.2))
        body = sim.add(ct.shapes.Box((0.4, 0.4), (0.8, 0.2)), ct.materials.NeoHookean(), velocity=(0, -2))
        sim.run(duration=0.12, fps=10)
        x = body.fields()["x"]
        return np.sort((x[:, 0] - center) % 0.8 + 1j * x[:, 1])

    # The same obstacle in the middle and on the seam: the picture is only shifted by half a period.
    middle, seam = blocked(0.4), blocked(0.0)
    assert np.abs(middle - seam).max() < 1e-6
