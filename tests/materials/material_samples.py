"""Random deformation gradients, finite differences and the materials of the material tests."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from continua import _core
from continua.materials import (
    DeviatoricCorotated,
    FixedCorotated,
    Hencky,
    Liquid,
    NativeMaterial,
    NeoHookean,
    OldroydB,
    QuadraticNeoHookean,
    Snow,
)
from continua.materials.base import from_components, to_components


def rotations(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


def with_stretches(rng: np.random.Generator, s: np.ndarray) -> np.ndarray:
    """U diag(s) V^T with random rotations; s (n, d)."""
    n, d = s.shape
    return rotations(rng, n, d) @ (s[:, :, None] * rotations(rng, n, d))


def random_F(rng: np.random.Generator, n: int, d: int, low: float = 0.15, high: float = 5.0) -> np.ndarray:
    """F with det F spread over [low, high]."""
    s = np.exp(rng.uniform(-0.5, 0.5, size=(n, d)))
    J = np.exp(rng.uniform(np.log(low), np.log(high), n))
    return with_stretches(rng, s * (J / s.prod(axis=1))[:, None] ** (1 / d))


def directions(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    D = rng.normal(size=(n, d, d))
    return D / np.linalg.norm(D, axis=(1, 2))[:, None, None]


def slope(f, F: np.ndarray, D: np.ndarray, h: float) -> np.ndarray:
    """Derivative of f at F in the direction D, fourth-order central differences."""
    return (8 * (f(F + h * D) - f(F - h * D)) - (f(F + 2 * h * D) - f(F - 2 * h * D))) / (12 * h)


def norm(A: np.ndarray) -> np.ndarray:
    return np.linalg.norm(A, axis=(1, 2))


@dataclass
class Case:
    """A material with the history and parameters at which its elastic part is tested."""

    name: str
    material: NativeMaterial
    state: dict[str, tuple[float, float]] = field(default_factory=dict)  # ranges of random history
    parameters: np.ndarray | None = None
    inverted: bool = False  # whether det F <= 0 is admissible

    def _given(self, F: np.ndarray) -> dict:
        rng = np.random.default_rng(99)
        return {
            "state": {k: rng.uniform(*span, len(F)) for k, span in self.state.items()} or None,
            "parameters": self.parameters,
        }

    def energy(self, F: np.ndarray) -> np.ndarray:
        return self.material.energy(F, **self._given(F))

    def stress(self, F: np.ndarray) -> np.ndarray:
        return self.material.stress(F, **self._given(F))

    def differential(self, F: np.ndarray, D: np.ndarray, *, positive: bool = False) -> np.ndarray:
        return self.material.differential(F, D, positive=positive, **self._given(F))


FOAM = OldroydB(mu=5.0, lam=50.0, relaxation_time=0.5)
CASES = [
    Case("fixed-corotated", FixedCorotated(3e4, 0.3), inverted=True),
    Case("neo-hookean", NeoHookean(3e4, 0.3)),
    Case("neo-hookean-0.45", NeoHookean(2e5, 0.45)),
    Case("quadratic-neo-hookean", QuadraticNeoHookean(3e4, 0.3)),
    Case("deviatoric-corotated", DeviatoricCorotated(3e4, 0.3)),
    Case("hencky", Hencky(3e4, 0.3)),
    Case("snow", Snow(), {"Jp": (0.7, 1.2)}, inverted=True),
    Case("oldroyd-b", FOAM, {"stretch_scale": (0.6, 1.6)}),
    Case("oldroyd-b-step", FOAM, {"stretch_scale": (0.6, 1.6)}, FOAM.parameters_over(0.2)),
    Case("liquid", Liquid(tension=True)),
    Case("liquid-linear", Liquid(tension=True, exponent=1)),
]
both = pytest.mark.parametrize("d", [2, 3])
every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def core_call(
    function: str, material: NativeMaterial, F: np.ndarray, dtype: type, state=None, direction=None
) -> np.ndarray:
    """A function of the core in a given precision: energy, piola, kirchhoff (at rest), differential, positive
    (differential without negative eigenvalues) or flow, which returns F and the history (k, n). F is (n, d, d)."""
    n, model = len(F), material.model
    f = to_components(F).astype(dtype)
    p = np.repeat(material.parameter_values()[:, None], n, axis=1).astype(dtype)
    given = material.initial_state(n) | (state or {})
    z = np.array([given[k] for k in material.states], dtype).reshape(len(material.states), n)
    out = np.empty(n, dtype) if function == "energy" else np.zeros_like(f)
    if function == "flow":
        _core.material_flow(model, f, 0.05, np.zeros_like(f), p, z)
        return from_components(f.astype(np.float64)), z.astype(np.float64)
    if function in ("differential", "positive"):
        D = to_components(direction).astype(dtype)
        _core.material_differential(model, f, D, p, z, function == "positive", out)
    elif function == "kirchhoff":
        _core.material_kirchhoff(model, f, np.zeros_like(f), p, z, out)
    else:
        getattr(_core, f"material_{function}")(model, f, p, z, out)
    return out.astype(np.float64) if function == "energy" else from_components(out.astype(np.float64))
