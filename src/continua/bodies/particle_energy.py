"""The elastic energy of particles in an implicit step on the grid (J15 A.6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import NDArray

from continua.bodies.law import Parameters
from continua.materials.base import Material
from continua.materials.fluid import OldroydB

if TYPE_CHECKING:
    from continua.transfers.exchange import Exchange


class ParticleEnergy:
    """Elastic energy of particles, deformed by the gradient of the node velocities; a `BodyEnergy`."""

    def __init__(self, exchange: Exchange, material: Material, parameters: Parameters, dt: float) -> None:
        self._exchange, self._dt = exchange, dt
        self._parameters = parameters_over(material, parameters, dt)

    def value(self, v: NDArray) -> float:
        return self._exchange.energy(v, self._dt, self._parameters)

    def gradient(self, v: NDArray, nodes: NDArray, *, add: bool) -> None:
        self._exchange.scatter_energy_gradient(v, self._dt, self._parameters, nodes, add=add)

    def prepare(self, v: NDArray, *, positive: bool) -> None:
        self._tangents = self._exchange.tangents(v, self._dt, self._parameters, positive=positive)

    def product(self, u: NDArray, nodes: NDArray, *, add: bool) -> None:
        self._exchange.scatter_tangent_product(u, self._tangents, nodes, add=add)

    def diagonal(self, nodes: NDArray, *, add: bool) -> None:
        self._exchange.scatter_tangent_diagonal(self._dt, self._parameters, nodes, add=add)

    def points(self) -> None:
        """Particles are not joined."""

    def react(self, change: float) -> None:
        """Particles have no scripts."""


def parameters_over(material: Material, parameters: Parameters, dt: float) -> Parameters:
    """Material parameters for a step of dt [s]: relaxing materials count what they lose during it."""
    if isinstance(material, OldroydB):
        values = material.parameters_over(dt).ravel().astype(parameters.values.dtype)
        return Parameters(values, parameters.rows)
    return parameters
