"""Emitters at walls: behind a stream that leaves a wall the wall is open, and lets in what leaves.

A stream in the air has air behind it, which gives way. At a wall nothing does: liquid without divergence that touches
a wall cannot leave it, and the wall would hold the stream back. So the closed faces of walls behind an emitter, those
that face along its velocity, move with the stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.emitter import Emitter
from continua.flow.cells import Walls
from continua.grid.blocks import SIDE, Lattice

BEHIND = 0.75  # cells from a wall along the stream to a point that must lie in the emitter
LAYER = 0.99  # cells from the surface of a wall to its faces that count: the first layer
FACING = 0.7  # cosine between the normal of a wall and the stream, at least
REGION = 5  # number of the kind of obstacle that prescribes velocities, see contact.colliders.KINDS


@dataclass
class Inlets:
    """Faces of walls that let a stream in: their places in arrays (blocks, cells, 4), and its velocity there [m/s]."""

    place: tuple[NDArray[np.intp], ...]
    speed: NDArray[np.float64]

    def moving(self, walls: Walls) -> Walls:
        """Walls whose faces move with the stream."""
        if not len(self.speed):
            return walls
        speed = walls.speed.copy()
        self.set(speed)
        return replace(walls, speed=speed)

    def set(self, velocity: NDArray) -> None:
        """Give a field on faces the velocity of the stream."""
        velocity[self.place] = self.speed


def find_inlets(
    emitters: Sequence[Emitter],
    keys: NDArray[np.uint64],
    lattice: Lattice,
    opening: NDArray,
    owner: NDArray[np.int32],
    rows: NDArray[np.float64],
    samples: Sequence[tuple[NDArray, NDArray, float] | None],
) -> Inlets:
    """Among the closed faces of obstacles (rows of the table) behind these emitters.

    opening, owner (blocks, cells, 4): open part of faces and row of the obstacle that closes the rest.
    """
    d, dx = lattice.dimension, lattice.dx
    places: list[tuple[NDArray[np.intp], ...]] = []
    speeds: list[NDArray[np.float64]] = []
    first = np.asarray(_core.node_coordinates(keys, d))[:, 0] if emitters else np.empty((0, d))
    for emitter in emitters:
        velocity = np.asarray(emitter.velocity, np.float64)
        along = velocity / np.linalg.norm(velocity)
        low, high = ((end - lattice.origin) / dx for end in emitter.shape.bounds())
        near = np.flatnonzero(((first <= high + 2) & (first + SIDE >= low - 2)).all(axis=1))
        cells = np.asarray(_core.node_coordinates(keys[near], d), np.float64)
        for axis in np.flatnonzero(velocity):
            block, cell = np.nonzero((opening[near, :, axis] < 1) & (owner[near, :, axis] >= 0))
            x = lattice.origin + dx * (cells[block, cell] + 0.5 - 0.5 * (np.arange(d) == axis))
            row = owner[near[block], cell, axis]
            own = np.zeros(len(x), bool)
            for wall in np.unique(row[rows[row, 0] != REGION]):
                of = row == wall
                surface, normal = _surface(rows[wall], samples[wall], x[of])
                outer = np.linalg.norm(surface - x[of], axis=1) < LAYER * dx
                own[of] = (
                    emitter.shape.contains(surface + BEHIND * dx * along) & (normal @ along > FACING) & outer
                )
            places.append((near[block[own]], cell[own], np.full(own.sum(), axis)))
            speeds.append(np.full(own.sum(), velocity[axis]))
    if not places:
        return Inlets((np.empty(0, np.intp),) * 3, np.empty(0))
    return Inlets(tuple(np.concatenate(part) for part in zip(*places, strict=True)), np.concatenate(speeds))


def _surface(
    row: NDArray[np.float64], samples: tuple[NDArray, NDArray, float] | None, x: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of the surface of an obstacle nearest to x (N, d), and its normals there (N, d)."""
    d = x.shape[1]
    points, phi, normal = np.zeros((len(x), 3)), np.empty(len(x)), np.empty((len(x), 3))
    points[:, :d] = x
    _core.collider_surface(row[None].copy(), [samples], points, phi, normal)
    return x - phi[:, None] * normal[:, :d], normal[:, :d]
