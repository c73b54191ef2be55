"""Pieces that hang together."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def connected_pieces(links: ArrayLike, count: int) -> NDArray[np.int32]:
    """Number (count,) of the piece that every point belongs to, from 0; links (L, 2) join points."""
    # SciPy 1.11 reads indices of 32 bits only, and takes others for no links at all, without an error.
    ends = np.asarray(links, dtype=np.int32).T
    graph = coo_array((np.ones(ends.shape[1], dtype=bool), (ends[0], ends[1])), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int32)
