"""Damping of a step as an energy of the new positions, quadratic around the old ones (J15 A.4.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from continua.mesh.energy import Array, Hessian, NodeEnergy


class _QuadraticDamping:
    """Phi = scale/2 (x - x_n)^T D (x - x_n) with a positive semidefinite D; it is its own Hessian."""

    def __init__(self, x: ArrayLike, scale: float) -> None:
        self._x = np.array(x, dtype=np.float64)
        self._scale = scale

    def _matrix_product(self, dx: Array) -> Array:
        raise NotImplementedError

    def value(self, x: Array) -> float:
        """Energy [J] at the new positions x (N, d) [m]."""
        dx = x - self._x
        return 0.5 * float(np.vdot(dx, self.product(dx)))

    def gradient(self, x: Array) -> Array:
        """Minus the damping forces, (N, d) [N]."""
        return self.product(x - self._x)

    def hessian(self, x: Array, *, positive: bool = False) -> Hessian:
        """The same for all positions, and always positive."""
        return self

    def product(self, dx: Array) -> Array:
        """Hessian [N/m] times the displacements dx (N, d) [m]: (N, d) [N]."""
        return self._scale * self._matrix_product(dx)

    def diagonal(self) -> Array:
        """Diagonal of the Hessian, (N, d) [N/m]."""
        raise NotImplementedError


class Rayleigh(_QuadraticDamping):
    """Lagged Rayleigh damping: D is the stiffness at the beginning of the step, without its negative eigenvalues.

    A mode of angular frequency omega decays at the rate coefficient omega^2 / 2 for small steps.

    energy: what is damped; x (N, d) [m]: positions at the beginning of the step; coefficient [s]; dt [s].
    """

    def __init__(self, energy: NodeEnergy, x: ArrayLike, *, coefficient: float, dt: float) -> None:
        super().__init__(x, coefficient / dt)
        self._stiffness = energy.hessian(self._x, positive=True)

    def _matrix_product(self, dx: Array) -> Array:
        return self._stiffness.product(dx)

    def diagonal(self) -> Array:
        return self._scale * self._stiffness.diagonal()


class Drag(_QuadraticDamping):
    """Drag: D is the mass matrix, so every velocity decays at the rate `coefficient` [1/s].

    mass (N,) [kg]; x (N, d) [m]: positions at the beginning of the step; dt [s].
    """

    def __init__(self, mass: ArrayLike, x: ArrayLike, *, coefficient: float, dt: float) -> None:
        super().__init__(x, coefficient / dt)
        self._mass = np.asarray(mass, dtype=np.float64)[:, None]

    def _matrix_product(self, dx: Array) -> Array:
        return self._mass * dx

    def diagonal(self) -> Array:
        return np.broadcast_to(self._scale * self._mass, self._x.shape).copy()
