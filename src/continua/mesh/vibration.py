"""How fast a mesh can vibrate."""

from __future__ import annotations

import numpy as np

from continua.mesh.energy import Array, NativeEnergy
from continua.optimize.krylov import dot

# for the fastest vibration; they find it within a few percent, which elastic_cfl covers
POWER_ITERATIONS = 30


def fastest_vibration(energy: NativeEnergy, x: Array, mass: Array) -> float:
    """Largest angular frequency [1/s] of points of mass (N,) [kg] at x (N, d) [m], by power iteration."""
    stiffness = energy.hessian(x, positive=True)
    m = mass[:, None]
    u = np.random.default_rng(0).standard_normal(x.shape)
    square = 0.0
    for _ in range(POWER_ITERATIONS):
        u /= np.sqrt(dot(u, m * u))
        force = stiffness.product(u)
        square = dot(u, force)
        if square <= 0:
            return 0.0
        u = force / m
    return float(np.sqrt(square))
