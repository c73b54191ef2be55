"""Damping of a step as an energy of the new positions, quadratic around the old ones (J15 A.4.2)."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from continua.errors import SetupError
from continua.mesh.energy import Array, NativeEnergy

DampingForm = Literal["green", "printed"]  # of finite elements, see `Elements.damping`
DAMPING_FORMS: tuple[str, ...] = get_args(DampingForm)


class Rayleigh:
    """Lagged Rayleigh damping: Phi = k/(2 dt) (x - x_n)^T K (x - x_n), a `continua.optimize.Term` of one step.

    K is the damping matrix of the energy at the beginning of the step, without negative eigenvalues, so that damping
    never does positive work. A mode of angular frequency omega decays at the rate k omega^2 / 2 for small steps.

    energy: what is damped; x (N, d) [m]: positions x_n; coefficient [s]: k; dt [s]. Drag belongs to `ImplicitStep`.
    Schemes with v_new = (x - center) / dt give their own center (N, d) [m]; K is still that at x_n.
    """

    def __init__(
        self,
        energy: NativeEnergy,
        x: ArrayLike,
        *,
        coefficient: float,
        dt: float,
        center: ArrayLike | None = None,
    ) -> None:
        if not (coefficient >= 0 and dt > 0):
            raise SetupError(
                "damping: the coefficient must not be negative, and the time step must be positive"
            )
        self._center = np.array(x if center is None else center, dtype=np.float64)
        self._scale = coefficient / dt
        self._stiffness = energy.damping(x)

    @property
    def weight(self) -> float:
        """Of the damping matrix, which is the Hessian of springs and rods and about that of solids."""
        return self._scale

    def value(self, x: Array) -> float:
        """Energy [J] at the new positions x (N, d) [m]."""
        dx = x - self._center
        return 0.5 * float(np.sum(dx * self.product(dx)))

    def gradient(self, x: Array) -> Array:
        """Minus the damping forces, (N, d) [N]."""
        return self.product(x - self._center)

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        """Nothing to do: the Hessian is the same for all x."""

    def product(self, dx: Array) -> Array:
        """Hessian times dx (N, d) [m]: (N, d) [N]."""
        return self._scale * self._stiffness.product(dx)

    def diagonal(self) -> Array:
        """Diagonal of the Hessian, (N, d) [N/m]."""
        return self._scale * self._stiffness.diagonal()


class Drag:
    """Drag towards rest: Phi = k/(2 dt) (x - x_n)^T M (x - x_n), a `continua.optimize.Term` of one step (J15 A.4.2).

    For vertices that move with a grid; elsewhere drag belongs to `ImplicitStep`. mass (N,) [kg]; x (N, d) [m]:
    positions x_n; coefficient [1/s]: k; dt [s].
    """

    def __init__(self, mass: Array, x: Array, *, coefficient: float, dt: float) -> None:
        self._start = np.array(x)
        self._stiffness = np.broadcast_to(coefficient / dt * mass[:, None], x.shape)

    def value(self, x: Array) -> float:
        """Energy [J] at the new positions x (N, d) [m]."""
        dx = x - self._start
        return 0.5 * float(np.sum(self._stiffness * dx * dx))

    def gradient(self, x: Array) -> Array:
        """Minus the drag, (N, d) [N]."""
        return self._stiffness * (x - self._start)

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        """Nothing to do: the Hessian is the same for all x."""

    def product(self, dx: Array) -> Array:
        """Hessian times dx (N, d) [m]: (N, d) [N]."""
        return self._stiffness * dx

    def diagonal(self) -> Array:
        """Diagonal of the Hessian, (N, d) [N/m]."""
        return np.array(self._stiffness)
