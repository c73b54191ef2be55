"""Drops in free flight: a whole step takes nothing of their momentum and of the angular momentum of their faces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from water import DX, SCHEMES, WATER, G, box, room, schemes, world

import continua as ct
from continua.flow.drops import Drops
from continua.materials import IncompressibleFluid

both = pytest.mark.parametrize("d", [2, 3])
STRAIN = np.array([[1.5, 0.4, 0.3], [0.2, -2.0, 0.1], [-0.3, 0.2, 0.5]])
SPIN = np.array([[0.0, -3.0, 1.0], [3.0, 0.0, -2.0], [-1.0, 2.0, 0.0]])


def motion(
    centre: tuple[float, ...], drift: tuple[float, ...], rate: NDArray
) -> Callable[[NDArray], NDArray]:
    d = len(centre)
    return lambda x: np.array(drift[:d]) + (x - np.array(centre)) @ rate[:d, :d].T


def drops_above_a_pool(
    d: int, precision: str = "double", **options
) -> tuple[ct.Simulation, tuple[ct.Body, ...]]:
    """So far from each other and from walls that no face gets mass from two of them."""
    sim = world(d, precision=precision, **options)
    sim.add(room((0.0,) * d, (2.4, 2.4, 1.4)[:d]))
    sim.add(box((0.0,) * d, (2.4, 0.3, 1.4)[:d]), WATER, sampling="jittered")
    first, second = (0.63, 1.51, 0.71)[:d], (1.72, 1.63, 0.68)[:d]
    bodies = (
        sim.add(
            ct.shapes.Sphere(first, 0.27),
            WATER,
            velocity=motion(first, (0.4, -0.2, 0.1), STRAIN),
            sampling="jittered",
        ),
        sim.add(
            ct.shapes.Box(second, (0.4, 0.6, 0.4)[:d]),
            WATER,
            velocity=motion(second, (-0.1, -0.5, 0.0), SPIN),
            sampling="jittered",
        ),
    )
    return sim, bodies


def lost(sim: ct.Simulation, bodies: tuple[ct.Body, ...], steps: int, dt: float = 0.01) -> list[float]:
    """Momentum that is missing in the end, apart from gravity's, over mass times mean speed; of every body."""
    before = [(b.mass @ b.v.astype(float), b.mass @ np.linalg.norm(b.v, axis=1)) for b in bodies]
    for _ in range(steps):
        sim.step(dt)
    pull = steps * dt * sim.world.gravity
    return [
        float(np.abs(b.mass @ b.v.astype(float) - p - b.mass.sum() * pull).max() / scale)
        for b, (p, scale) in zip(bodies, before, strict=True)
    ]


@pytest.mark.parametrize("kernel", ["linear", "quadratic"])
@schemes
@both
def test_falling_drops_keep_their_momentum_above_a_pool(d: int, scheme: str, kernel: str) -> None:
    """Under strain and spin; exact but for rounding, with any transfer and with volume control."""
    sim, bodies = drops_above_a_pool(d, transfer=SCHEMES[scheme], kernel=kernel)
    assert max(lost(sim, bodies, 8)) <= 1e-12


@both
def test_single_precision_keeps_it_to_its_own_rounding(d: int) -> None:
    sim, bodies = drops_above_a_pool(d, precision="single")
    assert max(lost(sim, bodies, 8)) <= 1e-5


@both
def test_without_giving_back_drops_lose_momentum(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Drops, "restore", lambda *_: None)
    sim, bodies = drops_above_a_pool(d)
    assert min(lost(sim, bodies, 8)) > 1e-3


@both
def test_drops_that_meet_keep_the_sum_of_their_momenta(d: int) -> None:
    """Faces between them belong to one of them."""
    sim = world(d, gravity=(0, 0, 0))
    bodies = tuple(
        sim.add(
            ct.shapes.Sphere((side * 0.4, 0.03, 0.01)[:d], 0.28),
            WATER,
            velocity=(-2 * side, 0.1, 0.0)[:d],
            sampling="jittered",
        )
        for side in (1.0, -0.9)
    )
    total = sum(b.mass @ b.v for b in bodies)
    for _ in range(16):
        sim.step(0.01)
    assert bodies[0].x[:, 0].min() < bodies[1].x[:, 0].max() + 0.2 * DX
    scale = sum(b.mass.sum() for b in bodies) * 2
    assert np.abs(sum(b.mass @ b.v for b in bodies) - total).max() <= 1e-12 * scale


def test_a_drop_across_the_seam_of_a_periodic_axis_keeps_its_momentum() -> None:
    momenta = []
    for centre in (0.0, 0.43):  # across the seam, and inside
        sim = world(2, 0.05, (0, -G))
        sim.add(ct.boundaries.Periodic(0, 0.0, 0.8))
        flow = motion((centre, 1.0), (0.7, -0.3), STRAIN)
        drop = sim.add(ct.shapes.Sphere((centre, 1.0), 0.2), WATER, velocity=flow, sampling="jittered")
        assert lost(sim, (drop,), 20, 0.005)[0] <= 1e-12
        momenta.append(drop.mass @ drop.v / drop.mass.sum())
    np.testing.assert_allclose(momenta[0], momenta[1], atol=0.05)  # another jitter


# ---- faces ----


def face_momenta(sim: ct.Simulation, mass: NDArray, velocity: NDArray) -> NDArray:
    """Linear and angular momentum (d + 1 or 2 d) of all faces, about the origin, by plain sums."""
    flow, d = sim.steppers["main"], sim.dimension
    corner, total, turn = flow.field.grid.node_positions(), np.zeros(d), np.zeros(3)
    for a in range(d):
        x = np.zeros((*corner.shape[:-1], 3))
        x[..., :d] = corner + 0.5 * flow.field.lattice.dx * (np.arange(d) != a)
        p = np.zeros_like(x)
        p[..., a] = mass[..., a] * velocity[..., a]
        total[a] = p.sum(axis=(0, 1))[a]
        turn += np.cross(x, p).sum(axis=(0, 1))
    return np.concatenate([total, turn[2:] if d == 2 else turn])


class FaceWatch:
    """Momenta of faces after gravity and at the end of every step."""

    def __init__(self, sim: ct.Simulation, monkeypatch: pytest.MonkeyPatch, give_back: bool = True) -> None:
        self.before: list[NDArray] = []
        self.after: list[NDArray] = []
        remember, restore = Drops.remember, Drops.restore

        def remembered(drops, mass, velocity):
            self.before.append(face_momenta(sim, mass, velocity))
            remember(drops, mass, velocity)

        def restored(drops, mass, velocity):
            if give_back:
                restore(drops, mass, velocity)
            self.after.append(face_momenta(sim, mass, velocity))

        monkeypatch.setattr(Drops, "remember", remembered)
        monkeypatch.setattr(Drops, "restore", restored)

    def change(self) -> float:
        """Largest one, over the largest momentum."""
        before, after = np.array(self.before), np.array(self.after)
        return float(np.abs(after - before).max() / np.abs(before).max())


@pytest.mark.parametrize("viscosity", [0.0, 500.0])
@pytest.mark.parametrize("rate", [STRAIN, SPIN], ids=["strain", "spin"])
@both
def test_faces_keep_momentum_and_angular_momentum(
    d: int, rate: NDArray, viscosity: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of viscous liquids, about any point."""
    found = []
    for give_back in (True, False):
        with monkeypatch.context() as patch:
            sim = world(d)
            centre = (0.53, 0.61, 0.47)[:d]
            drop = sim.add(
                ct.shapes.Sphere(centre, 0.33),
                IncompressibleFluid(1000.0, viscosity),
                velocity=motion(centre, (0.3, 0.2, 0.1), rate),
                sampling="jittered",
            )
            watch = FaceWatch(sim, patch, give_back)
            momentum = lost(sim, (drop,), 5)[0]
            found.append((watch.change(), momentum))
    assert max(found[0]) <= 1e-12 and min(found[1]) > 1e-4
