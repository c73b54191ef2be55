"""Does a material obey the rules that the solvers rely on? `check_material` measures it.

    report = check_material(MyMaterial())
    print(report)                # one line per rule: measured value, tolerance, verdict
    report.raise_if_failed()

Works for built-in materials and for `continua.materials.PythonMaterial`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from continua.errors import MaterialError
from continua.materials.base import CATALOGUE, Array, NativeMaterial, lame
from continua.materials.python import PythonMaterial

SAMPLES = 101  # deformation gradients per gate
STEP = 1e-5  # of the finite differences of the energy
STRESS_STEP = 1e-4  # of the finite differences of the stress
State = dict[str, Array]


@dataclass(frozen=True)
class Gate:
    """One rule in one dimension: how far the material is from it.

    `passed` is None where the rule does not apply (`note` says why) or is only a property, such as isotropy.
    """

    name: str
    dimension: int
    passed: bool | None
    value: float = float("nan")
    tolerance: float = float("nan")
    note: str = ""

    def __str__(self) -> str:
        verdict = {True: "ok", False: "FAILED", None: "-"}[self.passed]
        measured = "" if np.isnan(self.tolerance) else f"{self.value:9.2e}  <= {self.tolerance:7.0e}"
        note = f"  {self.note}" if self.note else ""
        return f"{verdict:>6}  {self.dimension}D  {self.name:<34} {measured:<21}{note}".rstrip()


@dataclass(frozen=True)
class Report:
    """What `check_material` found. `report["objective", 3]` is the gate of that name in 3D."""

    material: str
    gates: list[Gate] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """No gate failed."""
        return not self.failures

    @property
    def failures(self) -> list[Gate]:
        """The gates that failed."""
        return [gate for gate in self.gates if gate.passed is False]

    def __getitem__(self, key: tuple[str, int]) -> Gate:
        for gate in self.gates:
            if (gate.name, gate.dimension) == key:
                return gate
        raise KeyError(f"no gate {key[0]!r} in {key[1]}D; there are {sorted({g.name for g in self.gates})}")

    def __str__(self) -> str:
        verdict = "all gates passed" if self.ok else f"{len(self.failures)} gates FAILED"
        return "\n".join([f"{self.material}: {verdict}", *map(str, self.gates)])

    def raise_if_failed(self) -> None:
        """Raise a `MaterialError` that names the failed gates."""
        if not self.ok:
            names = ", ".join(f"{g.name} in {g.dimension}D" for g in self.failures)
            raise MaterialError(f"{self.material} breaks rules ({names}); print the report for the numbers")


def check_material(
    material: NativeMaterial | PythonMaterial,
    *,
    dimension: int | Sequence[int] = (2, 3),
    seed: int = 0,
    isotropic: bool = False,
    skip: Sequence[str] = (),
) -> Report:
    """Measure how well a material obeys the rules every hyperelastic model must obey.

    dimension: 2, 3 or both. seed: of the random deformation gradients. isotropic: also require isotropy,
    which is otherwise only reported. skip: names of gates that are known not to apply.
    """
    report = Report(getattr(material, "label", type(material).__name__))
    for d in (dimension,) if isinstance(dimension, int) else dimension:
        probe = _Probe(material, d, seed)
        for name, gate in GATES.items():
            if name in skip:
                report.gates.append(Gate(name, d, None, note="skipped on request"))
                continue
            try:
                with np.errstate(all="ignore"):
                    value, tolerance = gate(probe)
            except _DoesNotApply as reason:
                report.gates.append(Gate(name, d, None, note=str(reason)))
            except Exception as error:  # whatever a user's formula raises is a failed gate, not a crash
                report.gates.append(Gate(name, d, False, note=f"{type(error).__name__}: {error}"))
            else:
                passed: bool | None = bool(value <= tolerance)
                if name == "isotropic" and not isotropic:
                    report.gates.append(Gate(name, d, None, value, tolerance, "yes" if passed else "no"))
                else:
                    report.gates.append(Gate(name, d, passed, value, tolerance))
    return report


class _DoesNotApply(Exception):
    """Why a gate was not measured."""


def _norm(A: Array) -> Array:
    return np.sqrt((A * A).sum(axis=(1, 2)))


def _rotations(rng: np.random.Generator, n: int, d: int) -> Array:
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


class _Probe:
    """The material, random deformation gradients (J from 0.2 to 4.5), directions and rotations."""

    def __init__(self, material: NativeMaterial | PythonMaterial, d: int, seed: int) -> None:
        self.material = material
        self.d = d
        self.modulus = material.modulus()
        rng = np.random.default_rng(seed)
        stretch = np.exp(rng.uniform(-0.5, 0.5, size=(SAMPLES, d)))
        stretch[::2] **= 0.1  # half of them nearly undeformed
        self.F = _rotations(rng, SAMPLES, d) @ (stretch[:, :, None] * _rotations(rng, SAMPLES, d))
        D = rng.normal(size=(SAMPLES, d, d))
        self.D: Array = D / _norm(D)[:, None, None]
        self.Q = _rotations(rng, SAMPLES, d)
        self.state = material.initial_state(SAMPLES)

    @property
    def plastic(self) -> bool:
        if isinstance(self.material, NativeMaterial):
            return bool(CATALOGUE[self.material.model]["plastic"])
        return self.material.plastic

    def evolved_state(self) -> State:
        """History after a plastic step, so that hardened material is tested too."""
        return self.project(self.F)[1] if self.plastic else self.state

    def states(self) -> Iterator[State]:
        yield self.state
        if self.plastic:
            yield self.evolved_state()

    def energy(self, F: Array, state: State) -> Array:
        return self._array("energy", self.material.energy(F.copy(), _copy(state)), F.shape[:1])

    def stress(self, F: Array, state: State) -> Array:
        return self._array("stress", self.material.stress(F.copy(), _copy(state)), F.shape)

    def project(self, F: Array, state: State | None = None) -> tuple[Array, State]:
        new, history = self.material.project(F.copy(), _copy(self.state if state is None else state))
        history = {name: np.asarray(value, np.float64) for name, value in history.items()}
        return self._array("project", new, F.shape), history

    def _array(self, what: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
        value = np.asarray(value, dtype=np.float64)
        if value.shape != shape:
            raise MaterialError(f"{what} must return an array of shape {shape}, not {value.shape}")
        return value


def _copy(state: State) -> Any:
    """A formula that writes into its input must not spoil the test."""
    return {name: value.copy() for name, value in state.items()}


def _slope(f: Callable[[Array], Array], F: Array, D: Array, h: float) -> Array:
    """Derivative of f at F in the direction D, fourth-order central differences."""
    return (8 * (f(F + h * D) - f(F - h * D)) - (f(F + 2 * h * D) - f(F - 2 * h * D))) / (12 * h)


def _largest(values: ArrayLike) -> float:
    """Maximum, where NaN counts as infinite."""
    return float(np.nan_to_num(np.abs(np.asarray(values)), nan=np.inf).max(initial=0.0))


# ---- the gates: each returns the measured value and its tolerance ----

Measure = Callable[[_Probe], tuple[float, float]]


def _stress_is_slope(p: _Probe) -> tuple[float, float]:
    worst = 0.0
    for state in p.states():
        P = p.stress(p.F, state)
        slope = _slope(lambda F, state=state: p.energy(F, state), p.F, p.D, STEP)  # type: ignore[misc]
        scale = _norm(P) + 1e-3 * _norm(P).max()
        worst = max(worst, _largest((slope - (P * p.D).sum(axis=(1, 2))) / scale))
    return worst, 1e-8


def _rest(p: _Probe) -> tuple[float, float]:
    psi, P = p.energy(p.Q, p.state), p.stress(p.Q, p.state)
    return max(_largest(psi), _largest(P)) / p.modulus, 1e-12


def _linear_limit(p: _Probe) -> tuple[float, float]:
    E, nu = getattr(p.material, "E", None), getattr(p.material, "nu", None)
    if E is None or nu is None:
        raise _DoesNotApply("the material has no E and nu")
    mu, lam = lame(E, nu)
    if abs(lam + 2 * mu - p.modulus) > 1e-9 * p.modulus:
        raise _DoesNotApply("E and nu do not give modulus()")
    identity = np.broadcast_to(np.eye(p.d), p.F.shape)
    slope = _slope(lambda F: p.stress(F, p.state), identity, p.D, STRESS_STEP)
    trace = np.trace(p.D, axis1=1, axis2=2)[:, None, None]
    exact = mu * (p.D + p.D.transpose(0, 2, 1)) + lam * trace * identity
    return _largest(slope - exact) / p.modulus, 1e-7


def _modulus_bounds_stiffness(p: _Probe) -> tuple[float, float]:
    identity = np.broadcast_to(np.eye(p.d), p.F.shape)
    n = p.Q[:, :, 0]
    D = n[:, :, None] * n[:, None, :]
    stiffness = (_slope(lambda F: p.stress(F, p.state), identity, D, STRESS_STEP) * D).sum(axis=(1, 2))
    return float(np.nan_to_num(stiffness, nan=np.inf).max() / p.modulus - 1), 1e-6


def _objective(p: _Probe) -> tuple[float, float]:
    worst = 0.0
    for state in p.states():
        psi, P = p.energy(p.F, state), p.stress(p.F, state)
        turned = p.Q @ p.F
        worst = max(worst, _largest(p.energy(turned, state) - psi) / _largest(psi))
        worst = max(worst, _largest(p.stress(turned, state) - p.Q @ P) / _largest(P))
    return worst, 1e-12


def _isotropic(p: _Probe) -> tuple[float, float]:
    psi, P = p.energy(p.F, p.state), p.stress(p.F, p.state)
    turned = p.F @ p.Q
    difference = _largest(p.energy(turned, p.state) - psi) / _largest(psi)
    return max(difference, _largest(p.stress(turned, p.state) - P @ p.Q) / _largest(P)), 1e-12


def _symmetric(p: _Probe) -> tuple[float, float]:
    worst = 0.0
    for state in p.states():
        tau = p.stress(p.F, state) @ p.F.transpose(0, 2, 1)
        worst = max(worst, _largest(tau - tau.transpose(0, 2, 1)) / _largest(tau))
    return worst, 1e-12


def _not_negative(p: _Probe) -> tuple[float, float]:
    lowest = min(float(np.nan_to_num(p.energy(p.F, state), nan=-np.inf).min()) for state in p.states())
    return max(0.0, -lowest / p.modulus), 1e-12


def _inverted(p: _Probe) -> tuple[float, float]:
    F = p.F.copy()
    F[:, 0] *= -1
    F[::3, 0] = 0
    return float(np.isnan(p.energy(F, p.state)).sum()), 0.0


def _projected(p: _Probe) -> tuple[Array, State]:
    if not p.plastic:
        raise _DoesNotApply("the material is elastic")
    return p.project(p.F)


def _difference(a: State, b: State) -> float:
    return max((_largest((a[k] - b[k]) / (1 + np.abs(b[k]))) for k in a), default=0.0)


def _idempotent(p: _Probe) -> tuple[float, float]:
    F, state = _projected(p)
    again, history = p.project(F, state)
    return max(_largest(again - F), _difference(history, state)), 1e-12


def _energy_not_raised(p: _Probe) -> tuple[float, float]:
    F, _ = _projected(p)  # compared at the old state: hardening itself may store energy
    before, after = p.energy(p.F, p.state), p.energy(F, p.state)
    return max(0.0, float(np.nan_to_num(after - before, nan=np.inf).max()) / p.modulus), 1e-12


def _elastic_untouched(p: _Probe) -> tuple[float, float]:
    """Half way (in logarithmic strain) from rest to a projected state nothing may flow."""
    F, state = _projected(p)
    U, s, Vt = np.linalg.svd(F)
    inside = (U * np.sqrt(s)[:, None]) @ Vt
    kept, history = p.project(inside, state)
    return max(_largest(kept - inside), _difference(history, state)), 1e-12


def _objective_flow(p: _Probe) -> tuple[float, float]:
    F, state = _projected(p)
    turned, history = p.project(p.Q @ p.F)
    return max(_largest(turned - p.Q @ F), _difference(history, state)), 1e-12


GATES: dict[str, Measure] = {
    "stress is the slope of the energy": _stress_is_slope,
    "zero at rest": _rest,
    "linear limit": _linear_limit,
    "modulus bounds the stiffness": _modulus_bounds_stiffness,
    "objective": _objective,
    "isotropic": _isotropic,
    "symmetric Kirchhoff stress": _symmetric,
    "energy not negative": _not_negative,
    "no NaN when inverted": _inverted,
    "projection idempotent": _idempotent,
    "projection does not raise energy": _energy_not_raised,
    "projection leaves elastic states": _elastic_untouched,
    "projection objective": _objective_flow,
}
