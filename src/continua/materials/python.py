"""Materials written in Python: vectorised NumPy formulas that run through the same pipeline as the built-in ones."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from continua.errors import MaterialError
from continua.materials.base import Array, Material, lame

State = dict[str, Array]


class PythonMaterial(Material):
    """Base class for your own material.

    Set `density` [kg/m^3] and either `E` [Pa] and `nu`, or override `modulus`. Define

    - `energy(F, state) -> (N,)` [Pa],
    - `stress(F, state) -> (N, d, d)` [Pa], the first Piola-Kirchhoff stress dPsi/dF,
    - optionally `project(F, state) -> (F, state)`, plastic flow after each step,

    for F (N, d, d) and state a dict of arrays (N,) with the names in `states` (name -> initial value).
    `continua.testing.check_material` tells whether they fit together.
    """

    states: ClassVar[dict[str, float]] = {}
    density: float = 1000.0
    E: float = 1e5
    nu: float = 0.3

    def modulus(self) -> float:
        mu, lam = lame(self.E, self.nu)
        return lam + 2 * mu

    def energy(self, F: Array, state: State) -> Array:
        """Energy density (N,) [Pa]."""
        raise MaterialError(f"{type(self).__name__} must define energy(F, state)")

    def stress(self, F: Array, state: State) -> Array:
        """First Piola-Kirchhoff stress (N, d, d) [Pa]."""
        raise MaterialError(f"{type(self).__name__} must define stress(F, state)")

    def project(self, F: Array, state: State) -> tuple[Array, State]:
        """Plastic flow; the default leaves everything elastic."""
        return F, state

    @property
    def plastic(self) -> bool:
        """Whether `project` was overridden."""
        return type(self).project is not PythonMaterial.project

    def kirchhoff(self, F: Array, state: State) -> Array:
        """Kirchhoff stress tau = P F^T (N, d, d) [Pa], checked."""
        P = checked(self, "stress", self.stress(F, state), F.shape)
        tau: Array = P @ F.transpose(0, 2, 1)
        return tau


def checked(material: Material, what: str, value: Array, shape: tuple[int, ...]) -> Array:
    """The array a Python material returned, or an error that says what is wrong with it."""
    value = np.asarray(value, dtype=np.float64)
    if value.shape != shape:
        raise MaterialError(
            f"{type(material).__name__}.{what} must return an array of shape {shape}, not {value.shape}"
        )
    return value
