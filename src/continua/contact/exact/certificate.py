"""An independent look whether surfaces pass through each other, by the library `ipctk` (Ferguson et al. 2020)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from continua.errors import MissingExtraError

Array = NDArray[np.float64]


class Certificate:
    """For facets (F, d) between points that are at x (N, d) [m] at first."""

    def __init__(self, x: Array, facets: NDArray[np.int32]) -> None:
        self._library = ipctk()
        d = x.shape[1]
        faces = facets if d == 3 else np.empty((0, 3), np.int32)
        edges = self._library.edges(faces) if d == 3 else facets
        self._used = np.unique(facets)  # others would count as points that collide
        lookup = np.full(len(x), -1, np.int32)
        lookup[self._used] = np.arange(len(self._used), dtype=np.int32)
        self._mesh = self._library.CollisionMesh(
            _column(x[self._used]), _column(lookup[edges]), _column(lookup[faces])
        )

    def holds(self, x: Array) -> bool:
        """Whether no edge passes through a facet, in 2D through another edge, with the points at x (N, d) [m]."""
        return not self._library.has_intersections(self._mesh, _column(x[self._used]))


def ipctk() -> Any:
    """The library; if it is absent, say which extra of Continua brings it."""
    try:
        return importlib.import_module("ipctk")
    except ImportError as error:
        raise MissingExtraError("ipctk", "contact") from error


def _column(array: NDArray) -> NDArray:
    return np.asfortranarray(array)
