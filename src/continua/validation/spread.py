"""How far something has spread over a floor: to where its layer has a given thickness.

The foremost particle, or a quantile of all, may belong to a sheet as thin as the grid allows, longer on finer grids. A
thickness and a window that are lengths of the problem and not of the grid mean the same on all grids.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def layer_front(x: NDArray[np.floating], volume: ArrayLike, *, thickness: float, window: float) -> float:
    """The furthest place [m] that ends a stretch of length `window` [m] on which the layer is at least `thickness` [m]
    thick, in the mean; nan if there is none.

    x (N,) are places along the floor [m], `volume` (N,) or one for all what lies there per depth of the plane [m^2].
    """
    order = np.argsort(x)
    places = np.asarray(x, np.float64)[order]
    below = np.append(0.0, np.cumsum(np.broadcast_to(np.asarray(volume, np.float64), places.shape)[order]))
    # Of two particles at the ends of the stretch one counts: a row with the spacing s has window / s of them.
    inside = below[1:] - below[np.searchsorted(places, places - window * (1 - 1e-9))]
    thick = np.flatnonzero(inside >= thickness * window * (1 - 1e-9))
    return float(places[thick[-1]]) if len(thick) else float("nan")
