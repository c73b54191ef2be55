"""A scene with its own transfer beside PIC and FLIP, as in J15 chapter 5: noise, vorticity and what scenes look at."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from continua import Simulation
from continua.gallery._running import SceneRun, Watch, watched_run
from continua.scene.load import load_scene
from continua.transfers import FLIP, PIC, Transfer

Array = NDArray[np.float64]
Look = Callable[[SceneRun], dict[str, float]]

ORDER = 1.01  # ratio from which two schemes are in order, as in the validation case step-counts


def compared(
    name: str,
    overrides: Sequence[str],
    own: Transfer,
    look: Look,
    watch: Watch | None = None,
    others: Sequence[Transfer] = (PIC(), FLIP()),
) -> list[dict[str, float]]:
    """What `look` finds at the end of a scene of the gallery, for each of the other transfers and then for its own.

    The scene is run with `overrides`, which make it small and short; `own` is the transfer of the run that is checked,
    so that a wrong one there is a wrong one here. What `watch` sees on the way is in `seen`.
    """
    scene = load_scene(name, overrides)
    found = []
    for transfer in (*others, own):
        settings = scene.simulation.model_copy(update={"transfer": transfer})
        found.append(look(watched_run(scene.model_copy(update={"simulation": settings}), watch)))
    return found


def particles(sim: Simulation) -> tuple[Array, Array, Array]:
    """Places (N, d) [m], velocities (N, d) [m/s] and masses (N,) [kg] of all particles."""
    bodies = [body for body in sim.world.particle_bodies if len(body)]
    x, v = (np.concatenate([getattr(b, key) for b in bodies]).astype(np.float64) for key in ("x", "v"))
    return x, v, np.concatenate([body.mass for body in bodies]).astype(np.float64)


class Nodes:
    """Mass and momentum of particles on a grid of their own, by linear weights.

    `mass` (nodes,) [kg] and `velocity` (nodes, d) [m/s] are flat arrays of a box of `shape` nodes.
    """

    def __init__(self, x: Array, v: Array, mass: Array, dx: float) -> None:
        place = x / dx
        place -= np.floor(place.min(axis=0)) - 1
        self.base = np.floor(place).astype(np.intp)
        self.fraction = place - self.base
        self.shape = tuple(self.base.max(axis=0) + 3)
        size = int(np.prod(self.shape))
        self.mass = np.zeros(size)
        momentum = [np.zeros(size) for _ in v.T]
        for index, weight in self.corners():
            self.mass += np.bincount(index, weight * mass, size)
            for sums, speed in zip(momentum, v.T, strict=True):
                sums += np.bincount(index, weight * mass * speed, size)
        self.velocity = np.stack(momentum, axis=1) / np.maximum(self.mass, np.finfo(float).tiny)[:, None]

    def corners(self) -> list[tuple[NDArray[np.intp], Array]]:
        """Node (N,) and weight (N,) of every particle, for each corner of its cell."""
        found = []
        for corner in itertools.product((0, 1), repeat=len(self.shape)):
            index = np.ravel_multi_index(tuple((self.base + corner).T), self.shape)
            found.append((index, np.prod(np.where(corner, self.fraction, 1 - self.fraction), axis=1)))
        return found

    def at_particles(self) -> Array:
        """Velocity that the nodes give back to the particles (N, d) [m/s]."""
        total = np.zeros((len(self.base), len(self.shape)))
        for index, weight in self.corners():
            total += weight[:, None] * self.velocity[index]
        return total


def noise(sim: Simulation) -> float:
    """Part of the velocities that neighbours do not share: rms of what a transfer to nodes and back takes away, over
    the rms speed. A smooth flow has a little of it at its surface and where it bends within a cell."""
    x, v, mass = particles(sim)
    rest = v - Nodes(x, v, mass, sim.dx).at_particles()
    return float(np.sqrt((mass @ rest**2).sum() / (mass @ v**2).sum()))


def vorticity(sim: Simulation) -> float:
    """Root mean square of the vorticity over the mass [1/s], by differences of node velocities two cells apart."""
    x, v, mass = particles(sim)
    nodes = Nodes(x, v, mass, sim.dx)
    d, filled = sim.dimension, (nodes.mass > 0).reshape(nodes.shape)
    velocity = nodes.velocity.reshape(*nodes.shape, d)
    inside = filled.copy()
    for axis in range(d):
        inside &= np.roll(filled, 1, axis) & np.roll(filled, -1, axis)
    square = np.zeros(nodes.shape)
    for a, b in itertools.combinations(range(d), 2):
        turn = _slope(velocity[..., b], a) - _slope(velocity[..., a], b)
        square += (turn / (2 * sim.dx)) ** 2
    weight = nodes.mass.reshape(nodes.shape)[inside]
    return float(np.sqrt(weight @ square[inside] / max(weight.sum(), np.finfo(float).tiny)))


def _slope(values: Array, axis: int) -> Array:
    """Difference of the neighbours along an axis."""
    difference: Array = np.roll(values, -1, axis) - np.roll(values, 1, axis)
    return difference
