"""Vertex indices as the core wants them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.errors import GeometryError


def vertex_indices(cells: ArrayLike, vertices: int, name: str) -> NDArray[np.int32]:
    """Checked (M, vertices) int32, always a copy; whether the vertices exist is checked by the core."""
    given = np.asarray(cells)
    if given.ndim != 2 or given.shape[1] != vertices or not np.issubdtype(given.dtype, np.integer):
        raise GeometryError(
            f"{name}: expected whole numbers of shape (any, {vertices}), got {given.dtype} of shape {given.shape}"
        )
    if given.size and not (given.min() >= 0 and given.max() <= np.iinfo(np.int32).max):
        raise GeometryError(f"{name}: vertex numbers must lie between 0 and the number of points")
    return given.astype(np.int32, order="C")
