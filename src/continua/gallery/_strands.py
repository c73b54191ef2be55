"""What the gallery scenes of strands measure: what went through what, lengths, and energy that nobody gave."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from continua import Simulation, Strands
from continua.gallery._running import SceneRun

Array = NDArray[np.float64]


def strands(sim: Simulation) -> list[Strands]:
    """All strands, body after body."""
    return [body for body in sim.bodies if isinstance(body, Strands)]


def crossed_share(sim: Simulation) -> float:
    """Pairs of segments that went through each other, over all that met: those, and pairs that an impulse held.

    Both are counted in every step, and crossings by the paths of the segments, whatever contact knew of them.
    """
    now = sim.diagnostics()
    met = now["strand_contacts"] + now["strand_crossings"]
    return now["strand_crossings"] / met if met else 0.0


def lengths(body: Strands, x: Array) -> Array:
    """Lengths of the strands (S,) [m] with points at x (N, 3) [m]."""
    ends = x[body.curves.segments]
    segments = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    return np.bincount(body.curves.curve_of[body.curves.segments[:, 0]], segments).astype(np.float64)


def length_change(sim: Simulation) -> float:
    """Largest change of the length of a strand, over its length at rest."""
    return max(
        float(np.abs(lengths(body, body.x) / lengths(body, body.curves.points) - 1).max())
        for body in strands(sim)
    )


def gained_after(run: SceneRun, t: float, name: str = "energy") -> float:
    """Most by which a watched energy rose above any earlier value of its own after time t [s], over what it lost."""
    values = run.seen[name][run.seen["time"] > t]
    return float((values - np.minimum.accumulate(values)).max() / (values[0] - values[-1]))


def bundle_volume(body: Strands) -> float:
    """Volume [m^3] of a bundle over the middle third of its length: of the hulls of its cross sections."""
    count = len(body.curves.offsets) - 1
    rings = body.x.reshape(count, -1, 3)
    middle = rings.mean(axis=0)
    way = np.gradient(middle, axis=0)
    third = len(middle) // 3
    volume = 0.0
    for k in range(third, len(middle) - third):
        length = float(np.linalg.norm(way[k]))
        flat = np.linalg.svd(way[k : k + 1])[2][1:]  # two directions across
        volume += length * float(ConvexHull((rings[:, k] - middle[k]) @ flat.T).volume)
    return volume
