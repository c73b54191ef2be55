"""What every material offers: parameters, history variables, energy and stress.

Arrays of matrices are (N, d, d) here; the core wants them component-major, (d*d, N).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua import _core

Array = NDArray[np.float64]
State = Mapping[str, ArrayLike]

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


def upper_triangle(tau: Array) -> Array:
    """Symmetric (N, d, d) -> (d(d+1)/2, N), row by row, as the core keeps stress."""
    rows, columns = np.triu_indices(tau.shape[-1])
    return np.ascontiguousarray(tau[:, rows, columns].T)


class Material(ABC):
    """Base of all materials. `density` [kg/m^3] is the mass per unit of undeformed volume."""

    model: ClassVar[str] = ""  # name of the model in the core; empty for materials written in Python
    states: ClassVar[dict[str, float]] = {}  # history variables and their initial values
    density: float

    @property
    def label(self) -> str:
        """Name shown to users."""
        return str(getattr(self, "type", type(self).__name__))

    @abstractmethod
    def modulus(self) -> float:
        """P-wave modulus lam + 2 mu [Pa] of the undeformed material."""

    def wave_speed(self) -> float:
        """Speed of pressure waves in the undeformed material [m/s]."""
        return float(np.sqrt(self.modulus() / self.density))

    def dynamic_viscosity(self) -> float:
        """Newtonian viscosity [Pa s], which limits explicit time steps; 0 for most materials."""
        return 0.0

    def kinematic_viscosity(self) -> float:
        """Newtonian viscosity over density [m^2/s]."""
        return self.dynamic_viscosity() / self.density

    @property
    def keeps_stress(self) -> bool:
        """Whether stress is kept with the particles instead of being computed from F when it is needed."""
        return True

    def initial_state(self, count: int) -> dict[str, Array]:
        """History variables (N,) of undeformed material."""
        return {name: np.full(count, value) for name, value in self.states.items()}


class NativeMaterial(Material):
    """A material whose formulas live in the core. The methods here evaluate it on arrays, in double precision.

    F is (N, d, d); `state` maps history variables to (N,), left out: undeformed material; `parameters` (n, N) holds
    the core's parameters of every point, left out: those of this material.
    """

    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """Parameter values by the names the core uses."""

    def parameter_values(self) -> Array:
        """Parameter values (n,) in the order of the core's model."""
        values = self.parameters()
        return np.array([values[name] for name in CATALOGUE[self.model]["parameters"]])

    def relaxation_rates(self, parameters: Array) -> Array:
        """How fast stress fades at rest (N,) [1/s] where the core's parameters are (n, N); 0 where it does not."""
        names = CATALOGUE[self.model]["parameters"]
        return parameters[names.index("rate")] if "rate" in names else np.zeros(parameters.shape[1])

    @property
    def keeps_stress(self) -> bool:
        return bool(CATALOGUE[self.model]["keeps_stress"])

    @property
    def flows(self) -> bool:
        """Whether `project` can change anything: plastic and viscous materials."""
        return bool(CATALOGUE[self.model]["flows"])

    def _arguments(
        self, F: ArrayLike, state: State | None, parameters: ArrayLike | None
    ) -> tuple[Array, Array, Array]:
        components = to_components(F)
        count = components.shape[1]
        values = (
            self.parameter_values()[:, None] if parameters is None else np.asarray(parameters, np.float64)
        )
        given = self.initial_state(count) | dict(state or {})
        rows = [np.broadcast_to(np.asarray(given[name], dtype=np.float64), (count,)) for name in self.states]
        table = np.array(np.broadcast_to(values, (len(values), count)), order="C")
        return components, table, np.ascontiguousarray(np.array(rows).reshape(len(rows), count))

    def energy(
        self, F: ArrayLike, state: State | None = None, *, parameters: ArrayLike | None = None
    ) -> Array:
        """Energy density (N,) [Pa] for deformation gradients F (N, d, d); +inf where F is not admissible."""
        f, p, z = self._arguments(F, state, parameters)
        out = np.empty(f.shape[1])
        _core.material_energy(self.model, f, p, z, out)
        return out

    def stress(
        self, F: ArrayLike, state: State | None = None, *, parameters: ArrayLike | None = None
    ) -> Array:
        """First Piola-Kirchhoff stress P = dPsi/dF (N, d, d) [Pa]; +inf where F is not admissible."""
        f, p, z = self._arguments(F, state, parameters)
        out = np.empty_like(f)
        _core.material_piola(self.model, f, p, z, out)
        return from_components(out)

    def kirchhoff(
        self,
        F: ArrayLike,
        state: State | None = None,
        *,
        velocity_gradient: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
    ) -> Array:
        """Kirchhoff stress tau = P F^T (N, d, d) [Pa] plus viscous stress for the velocity gradient (N, d, d) [1/s]."""
        f, p, z = self._arguments(F, state, parameters)
        out = np.empty_like(f)
        _core.material_kirchhoff(self.model, f, _gradient(velocity_gradient, f), p, z, out)
        return from_components(out)

    def differential(
        self,
        F: ArrayLike,
        dF: ArrayLike,
        state: State | None = None,
        *,
        positive: bool = False,
        parameters: ArrayLike | None = None,
    ) -> Array:
        """Change of P (N, d, d) in the direction dF; `positive` removes negative eigenvalues of the tangent."""
        f, p, z = self._arguments(F, state, parameters)
        out = np.empty_like(f)
        _core.material_differential(self.model, f, to_components(dF), p, z, positive, out)
        return from_components(out)

    def project(
        self,
        F: ArrayLike,
        state: State | None = None,
        *,
        dt: float = 0.0,
        velocity_gradient: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
    ) -> tuple[Array, dict[str, Array]]:
        """Plastic and viscous flow: admissible F and updated history for trial deformation gradients F (N, d, d).

        dt [s] is the step that led to the trial state and velocity_gradient (N, d, d) [1/s] the motion during it.
        """
        f, p, z = self._arguments(F, state, parameters)
        _core.material_flow(self.model, f, dt, _gradient(velocity_gradient, f), p, z)
        return from_components(f), {name: z[k].copy() for k, name in enumerate(self.states)}


def _gradient(velocity_gradient: ArrayLike | None, f: Array) -> Array:
    """Velocity gradients as components (d*d, N), zero if there are none."""
    if velocity_gradient is None:
        return np.zeros_like(f)
    return to_components(np.broadcast_to(velocity_gradient, from_components(f).shape))
