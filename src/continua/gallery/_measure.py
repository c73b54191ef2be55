"""What several gallery scenes measure: pieces of a torn body, momentum, energy, depth in obstacles, the trace of a
stream, the room of a fluid."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion
from scipy.spatial import cKDTree

from continua import Simulation
from continua.bodies.points import ParticleBody
from continua.geometry.connected import connected_pieces

Array = NDArray[np.float64]


def pieces(x: Array, reach: float, smallest: int = 20) -> int:
    """Number of pieces of at least `smallest` particles; particles at x (N, d) [m] hold together within `reach` [m]."""
    pairs = cKDTree(x).query_pairs(reach, output_type="ndarray")
    labels = connected_pieces(pairs, len(x))
    return int((np.bincount(labels) >= smallest).sum())


def unexplained_momentum(sim: Simulation, start: dict[str, float]) -> float:
    """Largest component of the momentum that neither weight nor obstacles explain [N s].

    For simulations without emitters; `start` is what `diagnostics()` said at the beginning.
    """
    now, axes = sim.diagnostics(), "xyz"[: sim.dimension]
    gained = np.array([now[f"momentum_{a}"] - start[f"momentum_{a}"] for a in axes])
    given = sim.impulses[:, : sim.dimension].sum(axis=0)
    return float(np.abs(gained - now["mass"] * sim.gravity * sim.time - given).max())


def momentum_gap(sim: Simulation, start: dict[str, float]) -> float:
    """Unexplained momentum, relative to all the pushing there was."""
    weight = start["mass"] * sim.gravity * sim.time
    scale = np.abs(weight).sum() + np.abs(sim.impulses[:, : sim.dimension]).sum()
    return float(unexplained_momentum(sim, start) / scale)


def momentum_error(sim: Simulation, start: dict[str, float]) -> float:
    """Unexplained momentum, relative to what the weight gave."""
    return unexplained_momentum(sim, start) / float(np.abs(start["mass"] * sim.gravity * sim.time).max())


def energy(sim: Simulation) -> float:
    """Total energy [J]."""
    return sim.diagnostics()["total"]


def depth(sim: Simulation) -> float:
    """Depth of the particle or vertex that is deepest in an obstacle, in cells; negative if all are outside."""
    bodies = [body.x.astype(np.float64) for body in sim.bodies if len(body)]
    found = [c.signed_distance(x, sim.time)[0].min() for c in sim.colliders for x in bodies]
    return -float(min(found)) / sim.dx


def volume_kept(body: ParticleBody) -> float:
    """Volume of a body over what it was at rest."""
    return float(body.J @ body.volume / body.volume.sum())


def kept(sim: Simulation, double: float, single: float = 1e-3) -> float:
    """How well a simulation should keep momentum, by its precision; implicit solves keep it up to their tolerance."""
    if sim.world.precision == "single":
        return single
    return max(double, 1e-4) if sim.world.integrator.implicit else double


def centre_line(stream: ParticleBody, count: int) -> Array:
    """Mean positions (count, d) [m] of equal shares of an emitted stream, in the order in which they came out."""
    order = np.argsort(stream.ids, kind="stable")
    shares = np.array_split(stream.x[order].astype(np.float64), count)
    return np.array([share.mean(axis=0) for share in shares])


def turns(values: Array, size: float) -> NDArray[np.intp]:
    """Where a curve, values (n,), turns round: alternating maxima and minima that differ by at least `size`."""
    found, low, high, direction = [], 0, 0, 0
    for k, value in enumerate(values):
        high = k if value > values[high] else high
        low = k if value < values[low] else low
        if direction >= 0 and value < values[high] - size:
            found.append(high)
            direction, low = -1, k
        elif direction <= 0 and value > values[low] + size:
            found.append(low)
            direction, high = 1, k
    return np.array(found, dtype=np.intp)


def fullness(bodies: Sequence[ParticleBody], dx: float) -> float:
    """Mean volume of fluid, over that of the cell, in the grid cells whose neighbours all hold fluid too.

    1 if the fluid takes as much room as it should, more if it was squeezed, less if it was thinned.
    """
    x = np.concatenate([body.x for body in bodies])
    place = np.floor(x / dx).astype(np.intp)
    place -= place.min(axis=0) - 1
    filled = np.zeros(place.max(axis=0) + 2)
    np.add.at(filled, tuple(place.T), np.concatenate([body.volume for body in bodies]) / dx ** x.shape[1])
    inside = binary_erosion(filled > 0, np.ones((3,) * x.shape[1]))
    return float(filled[inside].mean())
