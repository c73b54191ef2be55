"""Points with normals that move on their own: collision particles with no mesh and no energy behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.bodies.body import Body, GridMotion, MeetingSurface, Prediction, too_fast
from continua.bodies.particles import Limits, ParticleSet
from continua.contact.collision_particles import coulomb_impulses
from continua.transfers.exchange import Exchange

Array = NDArray[np.float64]


class SurfacePoints(Body):
    """x, v and normals (N, d) of points of 1 kg each; impulses of the grid are cut by Coulomb's law.

    rigid: all get the mean impulse, as points of one body that does not deform or turn.
    """

    kind, stem, label, home = "points", "points", "nothing", "solids"
    self_moving = True

    def __init__(
        self,
        x: ArrayLike,
        v: ArrayLike,
        normals: ArrayLike,
        *,
        friction: float = 0.0,
        restitution: float = 0.0,
        rigid: bool = False,
        dtype: type[np.floating] = np.float64,
    ) -> None:
        self._x = np.array(x, float)
        self._v = np.broadcast_to(np.asarray(v, float), self._x.shape).copy()
        self.normals = np.broadcast_to(np.asarray(normals, float), self._x.shape).copy()
        self.name, self.dimension = None, self._x.shape[1]
        self.friction, self.restitution, self.rigid = friction, restitution, rigid
        self.set = ParticleSet("points", self.dimension, dtype)
        self.set.append(self._x, self._v, np.zeros((*self._x.shape, self.dimension)), np.ones(len(self._x)))
        self._push = np.zeros_like(self._x)

    def __len__(self) -> int:
        return len(self._x)

    x, v = property(lambda self: self._x), property(lambda self: self._v)
    mass = property(lambda self: np.ones(len(self)))
    max_speed = property(lambda self: float(np.linalg.norm(self._v, axis=1).max()))
    nbytes = property(lambda self: self.set.nbytes)

    def particle_sets(self) -> Sequence[ParticleSet]:
        return (self.set,)

    def contact_surfaces(self) -> Sequence[MeetingSurface]:
        return [MeetingSurface(True, self.normals)]

    def ready(self, wrap: Any, dx: float, steps: int) -> None:
        self.set.x[:] = self._x[self.set.ids]
        wrap(self.set.x)
        self.set.limits = Limits(self.max_speed)

    def predict(self, t: float, dt: float, gravity: Array, move: Prediction) -> str:
        self._given = self._v + dt * gravity
        self.set.v[:] = self._given[self.set.ids]
        return ""

    def respond(self, exchanges: Sequence[Exchange], nodes: GridMotion | None, dt: float) -> str:
        assert nodes is not None
        common = exchanges[0].values_at(nodes.forced)
        change = (common - self._given) * nodes.company(exchanges[0])[:, None]
        impulse = coulomb_impulses(
            change, self.normals, self.mass, friction=self.friction, restitution=self.restitution
        )
        if nodes.met is not nodes.forced:
            impulse += exchanges[0].values_at(nodes.met) - common
        if self.rigid:
            impulse[:] = impulse.mean(axis=0)
        self._next = self._given + impulse
        return too_fast(self, self._next, dt, exchanges[0].lattice.dx)

    def accept(self, dt: float, limits: Sequence[Limits], period: Array) -> None:
        self._x, self._v = self._x + dt * self._next, self._next

    def fields(self) -> dict[str, NDArray]:
        return {"id": np.arange(len(self), dtype=np.int32), "x": self._x, "v": self._v}

    def snapshot(self) -> dict[str, NDArray]:
        return {"x": self._x.copy(), "v": self._v.copy()}

    def restore(self, data: Mapping[str, NDArray]) -> None:
        self._x, self._v = np.array(data["x"]), np.array(data["v"])
