"""The surface of a solid as points on a grid, which say where it can meet others (W20 4.4.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import MeetingSurface, Predicted
from continua.bodies.free_mesh import FreeMesh
from continua.bodies.particles import ParticleSet
from continua.contact.collision_particles import CollisionParticles

if TYPE_CHECKING:
    from continua.bodies.mesh_body import MeshBody

Array = NDArray[np.float64]


class SurfaceOnGrid(FreeMesh):
    """Collision particles of a solid as a particle set, about `spacing` [m] apart."""

    def __init__(self, body: MeshBody, spacing: float, dtype: type[np.floating], *, explicit: bool) -> None:
        super().__init__(body, explicit=explicit)
        self.points = CollisionParticles.spread(body.rest, body.surface, spacing, body.mass)
        count, d = self.points.weights.shape
        self.set = ParticleSet(str(body.name), d, dtype)
        self._given = np.zeros((count, d))  # velocities that the points gave to the grid
        self.set.append(self.points.at(body.x), self._given, np.zeros((count, d, d)), self.points.mass)

    def place(self, wrap: Callable[[NDArray], NDArray]) -> None:
        self.set.x[:] = self.points.at(self.body.x)[self.set.ids]
        wrap(self.set.x)

    def give(self, predicted: Predicted) -> None:
        self._given = self.points.at(predicted.v)
        self.set.v[:] = self._given[self.set.ids]

    def surface(self) -> MeetingSurface:
        return MeetingSurface(True, self.points.areas(self.body.x))
