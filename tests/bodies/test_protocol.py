"""A body of a new kind needs nothing but the protocol: it meets others, is saved and is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

import continua as ct
from continua.bodies.body import Body
from continua.bodies.particles import Limits, ParticleSet
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
            one.append(x, np.tile(velocity, (len(x), 1)), np.zeros((len(x), x.shape[1] ** 2)), mass)  # type: ignore
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
        self._spread = dx**2 / 4  # of the quadratic splines: inertia of a point by its C is 2 m dx^2 / 4

    def accelerate(self, push: NDArray) -> None:
        for one, part in zip(self.sets, np.split(push, [len(self.sets[0])]), strict=True):
            one.v[:] += part[one.ids]

    def accept(self, dt: float, limits: Sequence[Limits], period: NDArray) -> None:
        d, x, m = self.dimension, _spatial(self.x), self.sets[0].mass[0]
        for one in self.sets:
            one.swap()
        v, C = _spatial(self.v), np.zeros((3, 3))  # as the grid would have them
        C[:d, :d] = self._all("C").sum(axis=0).reshape(d, d)
        middle, mean, arms, turn = x.mean(axis=0), v.mean(axis=0), x - x.mean(axis=0), (C - C.T)[_AXIAL]
        spin = m * np.cross(arms, v).sum(axis=0) + m * self._spread * turn
        rate = np.linalg.solve(self._inertia(m, arms), spin)
        arms = arms @ Rotation.from_rotvec(dt * rate).as_matrix().T
        rate = np.linalg.solve(self._inertia(m, arms), spin)  # angular momentum stays, angular velocity does not
        x, v = middle + dt * mean + arms, mean + np.cross(rate, arms)
        for one, part in zip(self.sets, np.split(np.arange(len(x)), [len(self.sets[0])]), strict=True):
            one.x[:], one.v[:] = x[part[one.ids], :d], v[part[one.ids], :d]
            one.C, one.limits = np.cross(rate, np.eye(3)).T[:d, :d], Limits(one.fastest)

    def _inertia(self, m: float, arms: NDArray) -> NDArray:
        own = (arms**2).sum() + 2 * len(arms) * self._spread
        return m * (own * np.eye(3) - arms.T @ arms)

    def fields(self) -> dict[str, NDArray]:
        return {"id": np.arange(len(self), dtype=np.int32), "x": self.x, "v": self.v}

    def snapshot(self) -> dict[str, NDArray]:
        return {f"{k}_{key}": a for k, one in enumerate(self.sets) for key, a in one.snapshot().items()}

    def restore(self, data: Mapping[str, NDArray]) -> None:
        for k, one in enumerate(self.sets):
            one.restore({key.removeprefix(f"{k}_"): a for key, a in data.items() if key.startswith(f"{k}_")})


_AXIAL = [2, 0, 1], [1, 2, 0]


def _spatial(vectors: NDArray) -> NDArray:
    return np.pad(vectors, ((0, 0), (0, 3 - vectors.shape[1])))
