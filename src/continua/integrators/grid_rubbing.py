"""Objectives of implicit steps on the grid with friction on obstacles, over node velocities (N, 3) [m/s]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from continua.contact.friction import FrictionEnergy
from continua.integrators.grid_energy import GridEnergy
from continua.optimize import Objective
from continua.optimize.krylov import dot

Array = NDArray[np.float64]


class Expanded:
    """An energy replaced by its second-order expansion: v.A v / 2 - b.v, with A as a product; an `Objective`."""

    def __init__(self, energy: GridEnergy, product: Callable[[Array], Array], b: Array) -> None:
        self.product, self._b = product, b
        self.precondition = energy.precondition

    def value(self, x: Array) -> float:
        return 0.5 * dot(self.product(x), x) - dot(self._b, x)

    def gradient(self, x: Array) -> Array:
        return self.product(x) - self._b

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        pass


class Rubbed:
    """An objective and the friction of nodes on obstacles."""

    def __init__(self, objective: Objective, friction: FrictionEnergy) -> None:
        self._objective, self._friction = objective, friction

    def value(self, x: Array) -> float:
        return self._objective.value(x) + self._friction.value(x)

    def gradient(self, x: Array) -> Array:
        return self._objective.gradient(x) + self._friction.gradient(x)

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        self._objective.prepare(x, positive=positive)
        self._friction.prepare(x)
        self._steepness = self._friction.diagonal()

    def product(self, dx: Array) -> Array:
        return self._objective.product(dx) + self._friction.product(dx)

    def precondition(self, r: Array) -> Array:
        """As without friction, but for nodes that rub: 1 / (a + f) in place of 1 / a."""
        inverse = self._objective.precondition(np.ones_like(r))
        return self._objective.precondition(r) / (1 + inverse * self._steepness)
