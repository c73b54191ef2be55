"""Curves: strands of hair, ropes and wires as plain, checked arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.errors import GeometryError
from continua.geometry.base import Array

Indices = NDArray[np.int32]


class Curves:
    """Polylines in space, each from its root to its tip: points (N, 3) [m], one curve after the other.

    lengths: number of points of every curve, at least 2 each. The arrays are copies and cannot be written to.
    """

    def __init__(self, points: ArrayLike, lengths: Sequence[int] | NDArray[np.integer] | None = None) -> None:
        """lengths left out: one curve through all points."""
        try:
            self.points = np.array(points, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise GeometryError("the points of curves must be rows of three numbers") from None
        if self.points.ndim != 2 or self.points.shape[1] != 3 or not np.isfinite(self.points).all():
            raise GeometryError("the points of curves must be finite numbers of shape (N, 3)")
        counts = np.array([len(self.points)] if lengths is None else lengths)
        if (
            counts.ndim != 1
            or not np.issubdtype(counts.dtype, np.integer)
            or counts.sum() != len(self.points)
        ):
            raise GeometryError(
                f"the lengths of curves must be whole numbers that add up to the {len(self.points)} points"
            )
        if (counts < 2).any():
            number = int((counts < 2).argmax())
            raise GeometryError(f"curve {number} has {counts[number]} points; a curve needs at least 2")
        self.offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        """Number (S + 1,) of the first point of every curve, and N."""
        step = self.points[self.segments[:, 1]] - self.points[self.segments[:, 0]]
        flat = ~(np.linalg.norm(step, axis=1) > 0)
        if flat.any():
            a, b = self.segments[int(flat.argmax())]
            raise GeometryError(f"the points {a} and {b} of a curve are at the same place; leave one out")
        for array in (self.points, self.offsets):
            array.setflags(write=False)

    def __len__(self) -> int:
        """Number of curves."""
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Curves({len(self)} curves, {len(self.points)} points)"

    @property
    def dimension(self) -> int:
        """3."""
        return 3

    @cached_property
    def segments(self) -> Indices:
        """Pairs of neighbouring points (M, 2), in order; M = N - S."""
        start = np.ones(len(self.points), bool)
        start[self.offsets[1:] - 1] = False
        first = np.flatnonzero(start).astype(np.int32)
        return np.stack([first, first + 1], axis=1)

    @cached_property
    def curve_of(self) -> Indices:
        """Number (N,) of the curve of every point."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))
