"""Slides and river beds: a polyline that material runs along, with capsules below it."""

import numpy as np
from numpy.typing import NDArray

from continua.contact.colliders import Capsule

Array = NDArray[np.float64]


def capsules_below(surface: Array, radius: float, friction: float = 0.0) -> list[Capsule]:
    """Capsules to the right of those who walk along a polyline (n, 2) [m], which touch it; in 2D."""
    ahead = np.diff(surface, axis=0)
    right = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1) / np.linalg.norm(ahead, axis=1)[:, None]
    axis = surface + radius * np.concatenate([right[:1], (right[1:] + right[:-1]) / 2, right[-1:]])
    return [
        Capsule((float(a[0]), float(a[1])), (float(b[0]), float(b[1])), radius, friction=friction)
        for a, b in zip(axis[:-1], axis[1:], strict=True)
    ]
