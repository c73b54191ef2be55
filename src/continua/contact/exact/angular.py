"""Cross products and spins in 2D (one component) and 3D (three), and the momenta of points with affine velocities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def cross(a: Array, b: Array) -> Array:
    """a x b of vectors (..., d): (..., 1) in 2D and (..., 3) in 3D."""
    if a.shape[-1] == 2:
        return (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])[..., None]
    return np.stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        axis=-1,
    )


def turned(w: Array, r: Array) -> Array:
    """w x r of spins w (..., n_w) and vectors r (..., d)."""
    if r.shape[-1] == 3:
        return cross(w, r)
    return np.stack([-w[..., 0] * r[..., 1], w[..., 0] * r[..., 0]], axis=-1)


def twist(w: Array) -> Array:
    """eps:w, the matrices (..., d, d) of eps_abc w_c: r -> r x w, thus the opposite of the spin w."""
    d = 2 if w.shape[-1] == 1 else 3
    out = np.zeros((*w.shape[:-1], d, d))
    if d == 2:
        out[..., 0, 1], out[..., 1, 0] = w[..., 0], -w[..., 0]
        return out
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., a, b], out[..., b, a] = w[..., c], -w[..., c]
    return out


def axial(A: Array) -> Array:
    """eps:A^T of matrices A (..., d, d): (..., n_w), twice the spin that A holds."""
    if A.shape[-1] == 2:
        return (A[..., 1, 0] - A[..., 0, 1])[..., None]
    return np.stack(
        [A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1]], axis=-1
    )


def momentum(v: Array, A: Array, x: Array, mass: Array, dx: float) -> tuple[Array, Array]:
    """Linear (d,) [kg m/s] and angular momentum (n_w,) about the origin [kg m^2/s] of points with affine velocities.

    Points of `mass` (N,) [kg] at x (N, d) [m] move with v (N, d) [m/s] and A (N, d, d) [1/s]. The affine part counts:
    transfers to a grid of spacing dx [m] move spin between v and A. Without A, pass zeros.
    """
    p = mass[:, None] * v
    L = cross(x, p).sum(axis=0) + dx**2 / 4 * (mass[:, None] * axial(A)).sum(axis=0)
    return p.sum(axis=0), L
