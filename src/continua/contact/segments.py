"""Contact of segments: pairs close to each other, impulses that keep them apart, and which went through each other.

Segments are rows of two vertices, as `Curves.segments`. Those that share a vertex never meet. `along` (M, 2) [m] are
the places where segments begin and end on one line that has all strands in a row, with gaps between strands: segments
closer than `skip` [m] on that line are neighbours and left out as well, such as those of a straight strand that is
thicker than its segments are long. Results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua import _core
from continua.errors import GeometryError, SetupError

Array = NDArray[np.float64]
Indices = NDArray[np.int32]


def nearby_segments(
    x: ArrayLike,
    segments: ArrayLike,
    distance: float,
    *,
    motion: ArrayLike | None = None,
    along: ArrayLike | None = None,
    skip: float = 0.0,
) -> Indices:
    """All pairs (P, 2) of segments closer than `distance` [m], ascending, the smaller number first.

    x (N, 3) [m]: positions of vertices. segments (M, 2): of any mix of lengths, also points. motion (N, 3) [m]: where
    vertices go meanwhile; then all pairs that come closer on the way are among those found, and others only that are
    now within `distance` and what their vertices approach at most, and whose boxes meet on the way. The cost is
    proportional to the number of segments and of pairs whose boxes come that close.
    """
    if not (distance > 0 and math.isfinite(distance)):
        raise SetupError(f"the distance of nearby segments must be positive and finite, got {distance}")
    rows = _rows(segments, "segments")
    ways = np.empty((0, 3)) if motion is None else _vectors(motion, "motion")
    try:
        found = _core.nearby_segments(_vectors(x, "x"), ways, rows, distance, _line(along, len(rows)), skip)
    except ValueError as error:
        raise GeometryError(str(error)) from None
    return np.asarray(found, dtype=np.int32)


class Crossings(NamedTuple):
    """Pairs of segments that go through each other, ascending."""

    pairs: Indices  # (P, 2)
    times: Indices  # (P,) how often


def crossed_segments(
    before: ArrayLike,
    after: ArrayLike,
    segments: ArrayLike,
    *,
    along: ArrayLike | None = None,
    skip: float = 0.0,
) -> Crossings:
    """Pairs of segments that go through each other.

    before, after (N, 3) [m]: vertices go straight from one to the other, all in the same time. Every pair whose paths
    come close is tested, whatever contact knew of it. Segments that stay parallel to each other are never counted.
    """
    rows = _rows(segments, "segments")
    first, last = _vectors(before, "before"), _vectors(after, "after")
    try:
        return Crossings(*_core.crossed_segments(first, last, rows, _line(along, len(rows)), skip))
    except ValueError as error:
        raise GeometryError(str(error)) from None


@dataclass(frozen=True)
class Pushes:
    """What `SegmentPairs.resolve` did."""

    v: Array  # (N, 3) [m/s] velocities after
    impulses: Array  # (N, 3) [N s] of every vertex; what has no inverse mass got them too but did not move
    pressed: Array  # (P,) [N s] of every pair along its normal, 0 where it did not act

    @property
    def contacts(self) -> int:
        """Pairs that acted."""
        return int(np.count_nonzero(self.pressed))


class SegmentPairs:
    """Pairs of segments where they are closest to each other, for vertices at x (N, 3) [m].

    parameters (P, 2): places a, b from 0 to 1 on the first and the second segment; of parallel ones, the middle of
    where they are side by side. distances (P,) [m]. normals (P, 3): from the first to the second; where they touch,
    normal to both.
    """

    def __init__(self, x: ArrayLike, segments: ArrayLike, pairs: ArrayLike) -> None:
        positions = _vectors(x, "x")
        self.segments, self.pairs = _rows(segments, "segments"), _rows(pairs, "pairs")
        count = len(self.pairs)
        self.parameters, self.distances = np.empty((count, 2)), np.empty(count)
        self.normals = np.empty((count, 3))
        try:
            _core.closest_segment_points(
                positions, self.segments, self.pairs, self.parameters, self.distances, self.normals
            )
        except ValueError as error:
            raise GeometryError(str(error)) from None

    def __len__(self) -> int:
        return len(self.pairs)

    def weights(self) -> Array:
        """Of the four vertices (P, 4) in the relative velocity of the closest points, second minus first."""
        a, b = self.parameters.T
        return np.stack([a - 1, -a, 1 - b, b], axis=1)

    def relative(self, v: ArrayLike) -> Array:
        """Velocity (P, 3) [m/s] of the second closest point, seen from the first; v (N, 3)."""
        vertices = self.segments[self.pairs].reshape(-1, 4)
        return np.asarray(np.einsum("pk,pka->pa", self.weights(), _vectors(v, "v")[vertices]))

    def resolve(
        self,
        v: ArrayLike,
        inverse_mass: ArrayLike,
        *,
        radius: ArrayLike = 0.0,
        dt: ArrayLike = math.inf,
        friction: ArrayLike = 0.0,
        sweeps: int = 5,
        recovery: float = 0.0,
    ) -> Pushes:
        """Velocities v (N, 3) [m/s] changed by impulses between pairs that approach too fast.

        A pair may approach as fast as it comes to touch, at the sum of both radii [m], within dt [s]: only what is
        faster is removed. So strands do not stop wherever they were found, and the distance of the search has no
        effect of its own. Without dt all approach is removed (W20 4.5.3), and so it is of pairs for which dt (P,) is
        infinite. Pairs that are closer must not approach, and lose the part `recovery` of their overlap within dt;
        without that energy never grows.

        inverse_mass (N,) [1/kg], 0 for vertices that are moved by others. friction: Coulomb's coefficient; the slip
        is cut by at most that part of the impulse along the normal and never turned round. radius and friction are
        numbers, or one for every segment (M,): a pair has the sum of the radii and the mean of the coefficients.
        sweeps: over all pairs; momentum is kept in each.
        """
        touching = 2 * self._mean_of(radius, "radius")
        rough = self._mean_of(friction, "friction")
        if not 0 <= recovery <= 1:
            raise SetupError(f"the recovery of segments must lie between 0 and 1, got {recovery}")
        steps = np.asarray(dt, dtype=np.float64)
        if steps.shape not in ((), (len(self),)) or not (steps > 0).all():
            raise SetupError("the time step of segment contact must be positive, or one for every pair")
        after = _vectors(v, "v").copy()
        pushes = Pushes(after, np.zeros_like(after), np.zeros(len(self)))
        gap = self.distances - touching
        allowed = np.asarray(np.where(gap < 0, recovery * gap, gap) / steps)
        try:
            normals = self._normals_for(after)
            _core.segment_impulses(
                self.segments,
                self.pairs,
                self.parameters,
                normals,
                allowed,
                rough,
                sweeps,
                np.require(inverse_mass, np.float64, ["C", "W"]),
                after,
                pushes.impulses,
                pushes.pressed,
            )
        except (ValueError, IndexError) as error:
            raise SetupError(f"segment contact: {error}") from None
        return pushes

    def _mean_of(self, values: ArrayLike, what: str) -> Array:
        """Of the two segments of every pair (P,)."""
        given = np.asarray(values, dtype=np.float64)
        if given.shape not in ((), (len(self.segments),)) or not (np.isfinite(given) & (given >= 0)).all():
            raise SetupError(
                f"the {what} of segments must be a finite number that is not negative, or one for each of them"
            )
        if given.ndim == 0:
            return np.full(len(self), float(given))
        return np.asarray(given[self.pairs].mean(axis=1))

    def _normals_for(self, v: Array) -> Array:
        """Pairs that touch do not know their sides: each is held from going on, whichever way that is."""
        touching = self.distances <= 0
        if not touching.any():
            return self.normals
        parting = touching & (np.einsum("pa,pa->p", self.relative(v), self.normals) > 0)
        return np.asarray(np.where(parting[:, None], -self.normals, self.normals), order="C")


def _vectors(values: ArrayLike, name: str) -> Array:
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise GeometryError(f"{name}: expected rows of three numbers") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise GeometryError(f"{name}: expected rows of three numbers, got shape {array.shape}")
    return array if array.flags.writeable else array.copy()  # the core takes what it could write to


def _rows(values: ArrayLike, name: str) -> Indices:
    array = np.asarray(values)
    if array.size == 0:
        return np.empty((0, 2), np.int32)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise GeometryError(
            f"{name}: expected rows of two whole numbers, got {array.dtype} of shape {array.shape}"
        )
    if array.min() < 0 or array.max() > np.iinfo(np.int32).max:
        raise GeometryError(f"{name}: numbers must lie between 0 and how many there are")
    rows = np.ascontiguousarray(array, dtype=np.int32)
    return rows if rows.flags.writeable else rows.copy()


def _line(along: ArrayLike | None, segments: int) -> Array:
    if along is None:
        return np.empty((0, 2))
    line = np.array(along, dtype=np.float64, order="C")
    if line.shape != (segments, 2):
        raise GeometryError(f"along: expected shape ({segments}, 2), got {line.shape}")
    return line
