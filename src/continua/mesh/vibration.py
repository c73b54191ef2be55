"""How fast a mesh can vibrate."""

from __future__ import annotations

import numpy as np

from continua.mesh.energy import Array, BlockHessian, NativeEnergy
from continua.optimize.krylov import dot

# for the fastest vibration; they find it within a few percent, which elastic_cfl covers
POWER_ITERATIONS = 30


def fastest_vibration(energy: NativeEnergy, x: Array, mass: Array) -> float:
    """Largest angular frequency [1/s] of points of mass (N,) [kg] at x (N, d) [m]."""
    return float(np.sqrt(_largest(energy.hessian(x, positive=True), mass)))


def fastest_decay(energy: NativeEnergy, x: Array, mass: Array, damping: float) -> float:
    """Largest rate [1/s] at which Rayleigh damping with the coefficient `damping` [s] slows points at x (N, d) [m]."""
    return damping * _largest(energy.damping(x), mass) if damping else 0.0


def _largest(stiffness: BlockHessian, mass: Array) -> float:
    """Largest eigenvalue [1/s^2] over masses (N,) [kg], by power iteration."""
    m = mass[:, None]
    u = np.random.default_rng(0).standard_normal((len(mass), stiffness.dimension))
    square = 0.0
    for _ in range(POWER_ITERATIONS):
        u /= np.sqrt(dot(u, m * u))
        force = stiffness.product(u)
        square = dot(u, force)
        if square <= 0:
            return 0.0
        u = force / m
    return square
