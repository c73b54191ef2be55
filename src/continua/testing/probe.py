"""A material together with the deformations it is tested on, and what the gates need to measure it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from continua.errors import MaterialError
from continua.materials.base import CATALOGUE, Array, NativeMaterial
from continua.materials.python import PythonMaterial

SAMPLES = 101  # deformation gradients per gate
FLOW_TIME = 0.1  # s, the step over which materials that need time may flow
State = dict[str, Array]


class DoesNotApply(Exception):
    """Why a gate was not measured."""


class Probe:
    """The material, random deformation gradients (J from 0.2 to 4.5), directions and rotations."""

    def __init__(self, material: NativeMaterial | PythonMaterial, d: int, seed: int) -> None:
        self.material = material
        self.d = d
        self.modulus = material.modulus()
        rng = np.random.default_rng(seed)
        stretch = np.exp(rng.uniform(-0.5, 0.5, size=(SAMPLES, d)))
        stretch[::2] **= 0.1  # half of them nearly undeformed
        self.F = rotations(rng, SAMPLES, d) @ (stretch[:, :, None] * rotations(rng, SAMPLES, d))
        D = rng.normal(size=(SAMPLES, d, d))
        self.D: Array = D / norm(D)[:, None, None]
        self.Q = rotations(rng, SAMPLES, d)
        self.state = material.initial_state(SAMPLES)

    @property
    def plastic(self) -> bool:
        """Whether `project` can change anything."""
        if isinstance(self.material, NativeMaterial):
            return bool(CATALOGUE[self.material.model]["flows"])
        return self.material.plastic

    @property
    def takes_time(self) -> bool:
        """Whether the flow depends on the time step."""
        if not (self.plastic and isinstance(self.material, NativeMaterial)):
            return False
        slow, instant = self.project(self.F), self.project(self.F, dt=0.0)
        return self.distance(slow, instant) > 1e-12

    def states(self) -> Iterator[State]:
        """History of fresh material and, if it flows, after a step, so that hardened material is tested too."""
        yield self.state
        if self.plastic:
            yield self.project(self.F)[1]

    def energy(self, F: Array, state: State) -> Array:
        return self._array("energy", self.material.energy(F.copy(), _copy(state)), F.shape[:1])

    def stress(self, F: Array, state: State) -> Array:
        return self._array("stress", self.material.stress(F.copy(), _copy(state)), F.shape)

    def kirchhoff(self, F: Array, state: State) -> Array:
        """tau = P F^T, without viscous stress."""
        tau: Array = self.stress(F, state) @ F.transpose(0, 2, 1)
        return tau

    def project(self, F: Array, state: State | None = None, dt: float = FLOW_TIME) -> tuple[Array, State]:
        """Flow during dt; materials written in Python know no time."""
        given: State = _copy(self.state if state is None else state)
        if isinstance(self.material, NativeMaterial):
            new, history = self.material.project(F.copy(), given, dt=dt)
        else:
            new, history = self.material.project(F.copy(), given)
        history = {name: np.asarray(value, np.float64) for name, value in history.items()}
        return self._array("project", new, F.shape), history

    def yield_function(self, F: Array, state: State) -> Array:
        """The material's own measure of what is admissible: not positive."""
        function = getattr(self.material, "yield_function", None)
        if function is None:
            raise DoesNotApply("the material has no yield_function")
        return self._array("yield_function", function(F.copy(), _copy(state)), F.shape[:1])

    def response(self, F: Array, state: State, B: Array | None = None) -> Array:
        """What can be seen of a state: its stress, and its stress after a further deformation I + B (2N, d, d).

        Materials may change F where that cannot be seen: only F F^T matters to most fluids, only det F to a liquid.
        """
        B = 0.1 * self.D if B is None else B
        return np.concatenate([self.kirchhoff(F, state), self.kirchhoff(F + B @ F, state)])

    def distance(self, one: tuple[Array, State], other: tuple[Array, State]) -> float:
        """How differently two states (F, history) respond, relative to the stress, or differ in their history."""
        a, b = self.response(*one), self.response(*other)
        return max(largest(a - b) / max(self.modulus, largest(b)), history_difference(one[1], other[1]))

    def _array(self, what: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
        value = np.asarray(value, dtype=np.float64)
        if value.shape != shape:
            raise MaterialError(f"{what} must return an array of shape {shape}, not {value.shape}")
        return value


def _copy(state: State) -> Any:
    """A formula that writes into its input must not spoil the test."""
    return {name: value.copy() for name, value in state.items()}


def norm(A: Array) -> Array:
    """Frobenius norm (N,) of (N, d, d)."""
    return np.sqrt((A * A).sum(axis=(1, 2)))


def rotations(rng: np.random.Generator, n: int, d: int) -> Array:
    """Random rotations (n, d, d)."""
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


def slope(f: Callable[[Array], Array], F: Array, D: Array, h: float) -> Array:
    """Derivative of f at F in the direction D, fourth-order central differences."""
    return (8 * (f(F + h * D) - f(F - h * D)) - (f(F + 2 * h * D) - f(F - 2 * h * D))) / (12 * h)


def largest(values: ArrayLike) -> float:
    """Maximum of the magnitudes, where NaN counts as infinite."""
    return float(np.nan_to_num(np.abs(np.asarray(values)), nan=np.inf).max(initial=0.0))


def history_difference(a: State, b: State) -> float:
    """Largest difference of two histories, relative where they are large."""
    return max((largest((a[k] - b[k]) / (1 + np.abs(b[k]))) for k in a), default=0.0)


def log_strain(F: Array) -> Array:
    """Logarithmic strain log(F F^T)/2 (N, d, d)."""
    squares, V = np.linalg.eigh(F @ F.transpose(0, 2, 1))
    e: Array = (V * (0.5 * np.log(squares))[:, None]) @ V.transpose(0, 2, 1)
    return e
