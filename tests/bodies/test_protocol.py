"""A body of a new kind needs nothing but the protocol: it meets others, is saved and is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

import continua as ct
from continua.bodies.body import Body
from continua.bodies.particles import Limits, ParticleSet
from continua.grid.blocks import Buffer
from continua.integrators import Optimization, SemiImplicit
from continua.io import RunFolder
from continua.running import frame_of

DX = 0.1
RUBBER = ct.materials.FixedCorotated(E=2e4, nu=0.3, density=1000.0)
TIGHT = {
    "symplectic": "symplectic",
    "semi-implicit": SemiImplicit(tolerance=1e-13),
    "optimization": Optimization(tolerance=1e-12),
}
both = pytest.mark.parametrize("d", [2, 3])
integrators = pytest.mark.parametrize("integrator", TIGHT)


class Dumbbell(Body):
    """Two balls on a rod without mass, of points of equal mass: two particle sets that move as one rigid body."""

    kind, stem, label = "points", "dumbbell", "steel"

    def __init__(self, balls: Sequence[NDArray], mass: float, velocity: ArrayLike) -> None:
        self.name, self.dimension = None, balls[0].shape[1]
        self.sets = [ParticleSet("ball", self.dimension, np.float64) for _ in balls]
        for one, x in zip(self.sets, balls, strict=True):
            one.append(x, x * 0 + velocity, np.zeros((*x.shape, x.shape[1])), np.full(len(x), mass))
            one.limits = Limits(one.fastest)

    def __len__(self) -> int:
        return sum(map(len, self.sets))

    def _all(self, name: str) -> NDArray:
        return np.concatenate([one.by_id(getattr(one.arrays, name)) for one in self.sets])

    x, v = property(lambda self: self._all("x")), property(lambda self: self._all("v"))
    mass = property(lambda self: np.concatenate([one.mass for one in self.sets]))
    max_speed = property(lambda self: max(one.limits.speed for one in self.sets))
    nbytes = property(lambda self: sum(one.nbytes for one in self.sets))

    def particle_sets(self) -> Sequence[ParticleSet]:
        return self.sets

    def ready(self, wrap: Any, dx: float, steps: int) -> None:
        self._spread = dx**2 / 4  # second moment of quadratic splines: what C adds to the spin, over mass

    def accelerate(self, push: NDArray) -> None:
        for one, part in zip(self.sets, np.split(push, [len(self.sets[0])]), strict=True):
            one.v[:] += part[one.ids]

    def accept(self, dt: float, limits: Sequence[Limits], period: NDArray) -> None:
        x, m, d = spatial(self.x), self.mass[0], self.dimension
        for one in self.sets:
            one.swap()
        v, C = spatial(self.v), np.zeros((3, 3))  # as the grid would have them
        C[:d, :d] = self._all("C").sum(axis=0).reshape(d, d)
        middle, mean, arms, turn = x.mean(axis=0), v.mean(axis=0), x - x.mean(axis=0), (C - C.T)[AXIAL]
        spin = m * (np.cross(arms, v).sum(axis=0) + self._spread * turn)
        rate = np.linalg.solve(inertia(m, arms, self._spread), spin)
        arms = arms @ Rotation.from_rotvec(dt * rate).as_matrix().T
        rate = np.linalg.solve(
            inertia(m, arms, self._spread), spin
        )  # the angular momentum stays, this does not
        x, v = middle + dt * mean + arms, mean + np.cross(rate, arms)
        for one, part in zip(self.sets, np.split(np.arange(len(x)), [len(self.sets[0])]), strict=True):
            one.x[:], one.v[:] = x[part[one.ids], :d], v[part[one.ids], :d]
            one.C, one.limits = np.cross(rate, np.eye(3)).T[:d, :d], Limits(one.fastest)

    def fields(self) -> dict[str, NDArray]:
        return {"id": np.arange(len(self), dtype=np.int32), "x": self.x, "v": self.v}

    def snapshot(self) -> dict[str, NDArray]:
        return {f"{k}_{key}": a for k, one in enumerate(self.sets) for key, a in one.snapshot().items()}

    def restore(self, data: Mapping[str, NDArray]) -> None:
        for k, one in enumerate(self.sets):
            one.restore({key[2:]: a for key, a in data.items() if key.startswith(f"{k}_")})


AXIAL = [2, 0, 1], [1, 2, 0]


def spatial(vectors: NDArray) -> NDArray:
    return np.pad(vectors, ((0, 0), (0, 3 - vectors.shape[1])))


def inertia(m: float, arms: NDArray, spread: float) -> NDArray:
    """Of points of mass m with rigid C."""
    return m * (((arms**2).sum() + 2 * len(arms) * spread) * np.eye(3) - arms.T @ arms)


def ball(center: Sequence[float], radius: float = 0.12, spacing: float = 0.05) -> NDArray:
    d, side = len(center), np.arange(-3, 4) * spacing
    points = np.array(list(product(side, repeat=d)))
    return np.asarray(center) + points[np.linalg.norm(points, axis=1) < radius]


def dumbbell(d: int, velocity: Sequence[float] = (0.0, 0.0, 0.0)) -> Dumbbell:
    """Upright, in front of the lower part of the block of `world`; its two balls are 0.4 m apart."""
    at = np.array([0.013, 0.021, 0.117])
    balls = [ball((at + offset)[:d]) for offset in ((0, 0, 0), (0.05, 0.4, 0.1))]
    return Dumbbell(balls, 3000.0 * 0.05**d, velocity[:d])


def world(d: int, integrator: str = "symplectic", gravity: float = 0.0, **options: Any) -> ct.Simulation:
    return ct.Simulation(DX, (0.0, -gravity, 0.0)[:d], integrator=TIGHT[integrator], **options)


def clash(
    d: int, integrator: str = "symplectic", **options: Any
) -> tuple[ct.Simulation, Dumbbell, ct.ParticleBody]:
    """A dumbbell flies against a block of rubber, which its lower ball hits."""
    sim = world(d, integrator, **options)
    rod = sim.add(dumbbell(d, (3.0, 0.5, -0.2)))
    block = sim.add(ct.shapes.Box((0.45, 0.0, 0.1)[:d], (0.4, 0.5, 0.4)[:d]), RUBBER)
    return sim, rod, block


def run(sim: ct.Simulation, duration: float) -> None:
    while sim.time < duration:
        sim.step(duration - sim.time)


# ---- it meets others ----


@both
def test_momentum_goes_from_a_dumbbell_to_particles(d: int) -> None:
    """Linear and angular momentum stay to round-off, and the dumbbell remains stiff while it turns."""
    sim, rod, block = clash(d)
    assert rod.name == "dumbbell1" and sim.bodies == [rod, block]
    before, distances = sim.diagnostics(), pdist(rod.x)
    own = rod.mass @ rod.v
    run(sim, 0.15)
    after = sim.diagnostics()
    assert np.linalg.norm(rod.mass @ rod.v - own) > 0.2 * np.linalg.norm(own)  # it has hit
    assert block.v[:, 0].mean() > 0.1
    names = [f"momentum_{a}" for a in "xyz"[:d]] + [f"angular_{a}" for a in ("z" if d == 2 else "xyz")]
    scale = np.linalg.norm(own)
    assert max(abs(after[name] - before[name]) for name in names) <= 1e-12 * scale
    np.testing.assert_allclose(pdist(rod.x), distances, rtol=1e-12)
    axis = rod.x[-1] - rod.x[0]
    assert abs(axis[0] / np.linalg.norm(axis) - 0.05 / np.linalg.norm((0.05, 0.4, 0.1)[:d])) > 0.05  # turned
    assert after["total"] < before["total"] and after["mass"] == before["mass"]


@integrators
@both
def test_momentum_stays_with_every_integrator(d: int, integrator: str) -> None:
    sim, rod, block = clash(d, integrator)
    before, own = sim.diagnostics(), rod.mass @ rod.v
    run(sim, 0.12)
    after, scale = sim.diagnostics(), np.linalg.norm(own)
    assert np.linalg.norm(rod.mass @ rod.v - own) > 0.1 * scale
    lost = max(abs(after[name] - before[name]) for name in (f"momentum_{a}" for a in "xyz"[:d]))
    assert lost <= (1e-12 if integrator == "symplectic" else 1e-10) * scale


@integrators
@both
def test_a_dumbbell_alone_falls_as_everything_does(
    d: int, integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body without any energy: only gravity and inertia are left, whatever scratch memory holds."""
    get = Buffer.get

    def dirty(self: Buffer, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray:
        array = get(self, shape, dtype)
        array[:] = np.nan
        return array

    monkeypatch.setattr(Buffer, "get", dirty)
    sim = world(d, integrator, gravity=9.81, dt=0.01)
    rod = sim.add(dumbbell(d, (1.0, 2.0, 0.5)))
    start = rod.x.copy()
    for _ in range(10):
        sim.step()
    way = np.array([0.1, 0.2, 0.05])[:d] + np.array([0.0, -9.81 * 0.01**2 * 55, 0.0])[:d]
    np.testing.assert_allclose(rod.x, start + way, atol=1e-12)
    np.testing.assert_allclose(
        rod.v, np.tile(np.array([1.0, 2.0 - 0.981, 0.5])[:d], (len(rod), 1)), atol=1e-12
    )


def test_body_forces_act_on_it_in_the_order_of_its_points() -> None:
    """A force that differs from ball to ball turns it; the grid has sorted the points of each."""
    sim, seen = world(2, dt=1e-3), []

    def lift(body: Body, t: float) -> NDArray:
        seen.append(body)
        return np.where(np.arange(len(body))[:, None] < len(body) // 2, (0.0, 0.0), (2.0, 0.0))

    rod = sim.add(dumbbell(2))
    sim.add(ct.BodyForce(lift))
    sim.step()
    assert seen == [rod] and not np.array_equal(rod.sets[0].ids, np.arange(len(rod.sets[0])))
    np.testing.assert_allclose(rod.v.mean(axis=0), (1e-3, 0.0), atol=1e-15)
    lower, upper = (part[:, 0].mean() for part in np.split(rod.v, 2))
    assert upper > 1.2e-3 and lower < 0.8e-3


def test_colliders_act_on_it() -> None:
    sim = world(2, gravity=9.81)
    rod = sim.add(dumbbell(2, (0.5, -2.0)))
    sim.add(ct.colliders.Plane((0.0, 1.0), (0.0, -0.2)))
    weight, before = 9.81 * rod.mass.sum(), sim.diagnostics()["momentum_y"]
    run(sim, 0.3)
    gained = sim.diagnostics()["momentum_y"] - before
    assert gained == pytest.approx(sim.impulses[0, 1] - weight * sim.time, abs=1e-11 * weight)
    assert sim.impulses[0, 1] > 0.2 * weight * sim.time


# ---- it is saved and seen ----


def bits(sim: ct.Simulation) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in sim.state().items()}


def test_it_continues_with_the_same_bits() -> None:
    whole, half, other = (clash(2)[0] for _ in range(3))
    for _ in range(40):
        whole.step(), half.step()
    other.load_state(half.state())
    for _ in range(40):
        whole.step(), other.step()
    assert bits(whole) == bits(other) and bits(whole) != bits(half)


def test_it_is_in_frames_and_a_run_resumes(tmp_path: Path) -> None:
    sim, rod, block = clash(2)
    shown = {body.name: body for body in frame_of(sim, 0).bodies}
    assert list(shown) == ["dumbbell1", block.name]
    assert (shown["dumbbell1"].kind, shown["dumbbell1"].material) == ("points", "steel")
    np.testing.assert_array_equal(shown["dumbbell1"].x, rod.x)
    sim.run(frames=4, fps=60, output=tmp_path / "whole")
    clash(2)[0].run(frames=2, fps=60, output=tmp_path / "parts")
    again, same, _ = clash(2)
    again.run(frames=4, fps=60, output=tmp_path / "parts", resume=True)
    assert bits(again) == bits(sim) and np.array_equal(same.x, rod.x)
    for index in range(5):
        a, b = (RunFolder(tmp_path / name).read_frame(index).bodies[0] for name in ("whole", "parts"))
        assert a.name == b.name == "dumbbell1" and np.array_equal(a.x, b.x) and np.array_equal(a.v, b.v)


def test_it_counts_where_things_are_counted() -> None:
    sim, rod, block = clash(3)
    summary = sim.summary()
    assert {body.name: body.particles for body in summary.bodies} == {
        "dumbbell1": len(rod),
        block.name: len(block),
    }
    assert summary.mass == pytest.approx(rod.mass.sum() + block.mass.sum(), rel=1e-14)
    assert sim.diagnostics()["mass"] == pytest.approx(summary.mass, rel=1e-14)


def test_mistakes_are_told() -> None:
    sim = world(2)
    rod = sim.add(dumbbell(2))
    with pytest.raises(ct.ContinuaError, match='"dumbbell1" has been added already'):
        sim.add(rod)
    with pytest.raises(ct.ContinuaError, match="3D|dimension"):
        sim.add(dumbbell(3))
    assert sim.add(dumbbell(2)).name == "dumbbell2"
