"""Steps of one rigid body among obstacles, by the protocol alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

import continua as ct
from continua.contact.colliders import Collider
from continua.grid.blocks import Lattice
from continua.integrators.obstacles import ObstacleTable
from continua.integrators.prediction import Explicit


def run(
    body: ct.RigidBody,
    duration: float,
    dt: float,
    *,
    gravity: ArrayLike | None = None,
    obstacles: Sequence[Collider] = (),
    dx: float = 0.05,
    watch: Callable[[float], None] | None = None,
) -> np.ndarray:
    """Step a body; the impulse (obstacles, 3) [N s] that all obstacles gave to it."""
    d = body.dimension
    lattice = Lattice(dx, np.zeros(d), np.zeros(d, np.int32))
    pull = np.zeros(d) if gravity is None else np.array(gravity, dtype=float)
    given = np.zeros((len(obstacles), 3))
    for number in range(round(duration / dt)):
        t = number * dt
        body.ready(lambda x: x, dx, number)
        body.begin(t + dt)
        table = ObstacleTable.of(obstacles, t + dt, lattice)
        body.surround(table)
        assert not body.predict(t, dt, pull, Explicit())
        assert not body.respond((), None, dt)
        given += table.per_obstacle(body.obstacle_impulses)
        body.end(dt)
        body.accept(dt, (), np.zeros(d))
        if watch is not None:
            watch(t + dt)
    return given
