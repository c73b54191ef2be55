"""Coulomb friction after a solve, the Python side of core/contact/law.hpp: what sliding points lose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def friction_loss(slide: Array, mass: Array, friction: float | Array, push: Array) -> Array:
    """Velocities (n, d) [m/s] that friction takes from sliding velocities (n, d) of points of given mass (n,) [kg].

    push (n,) [N s]: the normal impulse, of which it is at most `friction` times; and never more than there is.
    """
    stop = mass * np.linalg.norm(slide, axis=1)  # the impulse that would end the sliding
    taken = np.minimum(friction * np.maximum(push, 0.0), stop)
    part: Array = np.divide(taken, stop, out=np.zeros_like(stop), where=stop > 0)[:, None]
    return part * slide
