"""What every material offers: parameters, history variables, energy and stress.

Arrays of matrices are (N, d, d) here; the core wants them component-major, (d*d, N).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua import _core

Array = NDArray[np.float64]

CATALOGUE: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in _core.material_catalogue()}


def lame(E: float, nu: float) -> tuple[float, float]:
    """Lame moduli mu, lam [Pa] from Young's modulus E [Pa] and Poisson's ratio nu."""
    return E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))


def to_components(F: ArrayLike) -> Array:
    """(N, d, d) -> (d*d, N), C-contiguous; always a copy, because the core may write into it."""
    F = np.asarray(F, dtype=np.float64)
    return np.array(F.reshape(len(F), -1).T, order="C")


def from_components(F: Array) -> Array:
    """(d*d, N) -> (N, d, d)."""
    d = {4: 2, 9: 3}[len(F)]
    return np.ascontiguousarray(F.T).reshape(-1, d, d)


class Material:
    """Base of all materials. `density` [kg/m^3] is the mass per unit of undeformed volume."""

    model: ClassVar[str] = ""  # name of the model in the core; empty for materials written in Python
    states: ClassVar[dict[str, float]] = {}  # history variables and their initial values
    density: float

    @property
    def label(self) -> str:
        """Name shown to users."""
        return str(getattr(self, "type", type(self).__name__))

    def modulus(self) -> float:
        """P-wave modulus lam + 2 mu [Pa] of the undeformed material."""
        raise NotImplementedError(f"{type(self).__name__} must define modulus()")

    def wave_speed(self) -> float:
        """Speed of pressure waves in the undeformed material [m/s]."""
        return float(np.sqrt(self.modulus() / self.density))

    def initial_state(self, count: int) -> dict[str, Array]:
        """History variables (N,) of undeformed material."""
        return {name: np.full(count, value) for name, value in self.states.items()}


class NativeMaterial(Material):
    """A material whose formulas live in the core. The methods here evaluate it on arrays, in double precision."""

    def parameters(self) -> dict[str, float]:
        """Parameter values by the names the core uses."""
        raise NotImplementedError

    def parameter_values(self) -> Array:
        """Parameter values (n,) in the order of the core's model."""
        values = self.parameters()
        return np.array([values[name] for name in CATALOGUE[self.model]["parameters"]])

    def _arguments(self, F: ArrayLike, state: dict[str, ArrayLike] | None) -> tuple[Array, Array, Array]:
        components = to_components(F)
        count = components.shape[1]
        parameters = np.repeat(self.parameter_values()[:, None], count, axis=1)
        given = self.initial_state(count) | dict(state or {})
        rows = [np.broadcast_to(np.asarray(given[name], dtype=np.float64), (count,)) for name in self.states]
        return components, parameters, np.ascontiguousarray(np.array(rows).reshape(len(rows), count))

    def energy(self, F: ArrayLike, state: dict[str, ArrayLike] | None = None) -> Array:
        """Energy density (N,) [Pa] for deformation gradients F (N, d, d); +inf where F is not admissible."""
        f, p, z = self._arguments(F, state)
        out = np.empty(f.shape[1])
        _core.material_energy(self.model, f, p, z, out)
        return out

    def stress(self, F: ArrayLike, state: dict[str, ArrayLike] | None = None) -> Array:
        """First Piola-Kirchhoff stress P = dPsi/dF (N, d, d) [Pa]."""
        f, p, z = self._arguments(F, state)
        out = np.empty_like(f)
        _core.material_piola(self.model, f, p, z, out)
        return from_components(out)

    def differential(
        self,
        F: ArrayLike,
        dF: ArrayLike,
        state: dict[str, ArrayLike] | None = None,
        *,
        positive: bool = False,
    ) -> Array:
        """Change of P (N, d, d) in the direction dF; `positive` removes negative eigenvalues of the tangent."""
        f, p, z = self._arguments(F, state)
        out = np.empty_like(f)
        _core.material_differential(self.model, f, to_components(dF), p, z, positive, out)
        return from_components(out)

    def project(
        self, F: ArrayLike, state: dict[str, ArrayLike] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        """Plastic flow: admissible F and updated history for trial deformation gradients F (N, d, d)."""
        f, p, z = self._arguments(F, state)
        _core.material_flow(self.model, f, p, z)
        return from_components(f), {name: z[k].copy() for k, name in enumerate(self.states)}
