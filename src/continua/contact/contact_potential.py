"""The potential between surfaces that the grid brings together: a fibre across each facet resists being shortened and
sheared (W20 section 4.6, G20 section 3.3).

Every collision particle carries a fibre d3, at first its outward unit normal n. With s = d3.n and d_t = d3 - s n,
    psi(d3) = k/3 (1 - s)^3 + g/2 |d_t|^2   for s <= 1,   g/2 |d_t|^2 beyond,
per volume. d3 follows the gradient of the grid velocity, d3 += dt (grad v) d3, so that its nodes feel
    f_i = -V dpsi/dd3 (grad w_i . d3).
All functions take fibres and normals (N, d).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _split(fibres: Array, normals: Array) -> tuple[Array, Array]:
    """s (N,) and d_t (N, d)."""
    s = np.einsum("qa,qa->q", fibres, normals)
    return s, fibres - s[:, None] * normals


def energies(fibres: Array, normals: Array, stiffness: float, shear: float) -> Array:
    """psi (N,) [J/m^3]."""
    s, across = _split(fibres, normals)
    short = np.maximum(1 - s, 0.0)
    return np.asarray(stiffness / 3 * short**3 + 0.5 * shear * (across**2).sum(axis=1))


def gradients(fibres: Array, normals: Array, stiffness: float, shear: float) -> Array:
    """dpsi/dd3 (N, d) [Pa]."""
    s, across = _split(fibres, normals)
    short = np.maximum(1 - s, 0.0)
    return np.asarray(-stiffness * short[:, None] ** 2 * normals + shear * across)


def returned(fibres: Array, normals: Array, stiffness: float, shear: float, friction: float) -> Array:
    """Fibres (N, d) that Coulomb's law allows: none is stretched, so that nothing sticks, and the shear stress is at
    most the friction coefficient times the pressure (W20 (4.35), (4.36))."""
    s, across = _split(fibres, normals)
    size = shear * np.linalg.norm(across, axis=1)
    most = friction * stiffness * np.maximum(1 - s, 0.0) ** 2
    keep = np.where(size > most, most / np.where(size > 0, size, 1.0), 1.0)
    found = s[:, None] * normals + keep[:, None] * across
    return np.asarray(np.where((s > 1)[:, None], normals, found))
