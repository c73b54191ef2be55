"""Push one material point along a path, as the simulation would: trial deformation, flow, stress."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from continua.errors import MaterialError
from continua.materials.base import NativeMaterial
from continua.materials.python import PythonMaterial, checked
from continua.pointtest.history import History
from continua.pointtest.paths import Array, Path

Driven = NativeMaterial | PythonMaterial
State = dict[str, Array]
FREE_STRESS = 1e-12  # of the modulus: a free axis carries no more than this
WIDEST = 1.0  # largest logarithmic strain of a free axis in one step


def drive(material: Driven, path: Path) -> History:
    """Take one point of the material through the path.

    In each step the elastic F becomes project((I + dt L) F); on free axes L is found so that the stress there,
    after the flow, is what the path asks for. All free axes stretch alike and their mean stress counts, which
    is exact for isotropic materials.
    """
    point = _Point(material, path.dimension)
    rows = [_Row.start(point)]
    guess = 0.0
    with np.errstate(all="ignore"):
        for i in range(1, path.steps + 1):
            dt = float(path.time[i] - path.time[i - 1])
            M = path.F[i] @ np.linalg.inv(path.F[i - 1])
            if path.free[i].any():
                guess = _free_strain(point, M, dt, path.free[i], float(path.pressure[i]), guess)
                M = _scaled(M, path.free[i], guess)
            step = point.step(M, dt)
            if not (np.isfinite(step.tau).all() and np.isfinite(step.energy)):
                raise MaterialError(
                    f"{material.label} has no finite stress at {_where(path, i)}; "
                    "choose a smaller amount or more steps"
                )
            rows.append(_Row.after(step, rows[-1], M))
            point.accept(step)
    return _history(material, path, rows)


@dataclass(frozen=True)
class _Step:
    """Result of one step: elastic state, stresses (d, d), energies [Pa]."""

    F: Array
    F_total: Array
    state: State
    tau: Array
    viscous: Array
    energy: float
    plastic_work: float
    hardening: float
    flow: float


class _Point:
    """One material point (N = 1) and the rules of its material."""

    def __init__(self, material: Driven, dimension: int) -> None:
        self.material = material
        self.F_total: Array = np.eye(dimension)
        self.F: Array = np.eye(dimension)
        self.state = material.initial_state(1)

    def stress_after(self, M: Array, dt: float) -> Array:
        """Kirchhoff stress (d, d) to which a step F_total <- M F_total of dt seconds would lead."""
        L = (M - np.eye(len(M))) / dt
        F, state = self.project(M @ self.F, dt, L)
        return self.kirchhoff(F, state, L)

    def step(self, M: Array, dt: float) -> _Step:
        """Where that step would lead altogether; nothing changes yet."""
        L = (M - np.eye(len(M))) / dt
        trial = M @ self.F
        F, state = self.project(trial, dt, L)
        tau = self.kirchhoff(F, state, L)
        before = self.energy(F, self.state)
        return _Step(
            F=F,
            F_total=M @ self.F_total,
            state=state,
            tau=tau,
            viscous=tau - self.kirchhoff(F, state),
            energy=self.energy(F, state),
            plastic_work=self.energy(trial, self.state) - before,
            hardening=self.energy(F, state) - before,
            flow=self.flow(trial, F),
        )

    def flow(self, trial: Array, F: Array) -> float:
        """Stress lost from the trial state to F, over the modulus; F itself is free where it carries no stress."""
        lost = self.kirchhoff(trial, self.state) - self.kirchhoff(F, self.state)
        size = float(np.linalg.norm(lost)) / self.material.modulus()
        return size if np.isfinite(size) else float(np.finfo(float).max)

    def accept(self, step: _Step) -> None:
        """Make the result of a step the present."""
        self.F, self.F_total, self.state = step.F, step.F_total, step.state

    def energy(self, F: Array, state: State) -> float:
        return float(np.asarray(self.material.energy(F[None], _copy(state))).reshape(-1)[0])

    def project(self, trial: Array, dt: float, L: Array) -> tuple[Array, State]:
        if isinstance(self.material, NativeMaterial):
            F, state = self.material.project(trial[None], _copy(self.state), dt=dt, velocity_gradient=L[None])
        else:
            F, state = self.material.project(trial[None].copy(), _copy(self.state))
            F = checked(self.material, "project", F, (1, *trial.shape))
        return F[0], {name: np.asarray(value, np.float64) for name, value in state.items()}

    def kirchhoff(self, F: Array, state: State, L: Array | None = None) -> Array:
        """Kirchhoff stress (d, d); its Newtonian part only where a velocity gradient is given."""
        if isinstance(self.material, NativeMaterial):
            gradient = None if L is None else L[None]
            return self.material.kirchhoff(F[None], _copy(state), velocity_gradient=gradient)[0]
        return self.material.kirchhoff(F[None].copy(), _copy(state))[0]


@dataclass(frozen=True)
class _Row:
    """A step and what has added up until its end."""

    step: _Step
    work: float = 0.0
    plastic_work: float = 0.0
    viscous_work: float = 0.0
    hardening: float = 0.0

    @classmethod
    def start(cls, point: _Point) -> _Row:
        """The undeformed point."""
        tau, energy = point.kirchhoff(point.F, point.state), point.energy(point.F, point.state)
        return cls(_Step(point.F, point.F_total, point.state, tau, np.zeros_like(tau), energy, 0.0, 0.0, 0.0))

    @classmethod
    def after(cls, step: _Step, last: _Row, M: Array) -> _Row:
        """Add the work of a step: trapezoidal rule for the elastic stress, end value for the viscous one."""
        eye = np.eye(len(M))
        stretching = (
            2 * (M - eye) @ np.linalg.inv(M + eye)
        )  # dt L at mid-step; tau is symmetric: tau:L = tau:D
        elastic = (last.step.tau - last.step.viscous + step.tau - step.viscous) / 2
        viscous = float((step.viscous * stretching).sum())
        return cls(
            step,
            last.work + float((elastic * stretching).sum()) + viscous,
            last.plastic_work + step.plastic_work,
            last.viscous_work + viscous,
            last.hardening + step.hardening,
        )


def _free_strain(
    point: _Point, M: Array, dt: float, free: np.ndarray, pressure: float, guess: float
) -> float:
    """Logarithmic strain of the free axes in this step that brings their mean Cauchy stress to -pressure."""
    tolerance = FREE_STRESS * point.material.modulus()

    def excess(strain: float) -> float:
        moved = _scaled(M, free, strain)
        tau = point.stress_after(moved, dt)
        return float(np.diag(tau)[free].mean() + pressure * np.linalg.det(moved @ point.F_total))

    lower = upper = guess
    low = high = excess(guess)
    width = max(abs(guess), float(np.abs(M - np.eye(len(M))).max()), 1e-6)
    while not (low <= tolerance and high >= -tolerance):
        if low > 0:  # still pulled: let it shrink
            upper, high = lower, low
            lower -= width
            low = excess(lower)
        else:
            lower, low = upper, high
            upper += width
            high = excess(upper)
        width *= 2
        if width > WIDEST or not np.isfinite(low + high):
            raise MaterialError(
                f"no stretch of the free axes of {point.material.label} gives the stress the path asks for; "
                "choose a smaller amount, a lower pressure or more steps"
            )
    if abs(low) <= tolerance:
        return lower
    if abs(high) <= tolerance:
        return upper
    return float(brentq(excess, lower, upper, xtol=1e-16, rtol=1e-14))


def _scaled(M: Array, free: np.ndarray, strain: float) -> Array:
    """M followed by a stretch exp(strain) of the free axes."""
    return np.where(free, np.exp(strain), 1.0)[:, None] * M


def _where(path: Path, i: int) -> str:
    return f"t = {path.time[i]:.4g} s" if path.against_time else f"strain {path.strain[i]:.4g}"


def _copy(state: State) -> State:
    """A formula that writes into its input must not spoil the history."""
    return {name: np.array(value, np.float64) for name, value in state.items()}


def _history(material: Driven, path: Path, rows: list[_Row]) -> History:
    steps = [row.step for row in rows]
    return History(
        material=material.label,
        path=path,
        F_total=np.array([step.F_total for step in steps]),
        F=np.array([step.F for step in steps]),
        tau=np.array([step.tau for step in steps]),
        energy=np.array([step.energy for step in steps]),
        work=np.array([row.work for row in rows]),
        plastic_work=np.array([row.plastic_work for row in rows]),
        viscous_work=np.array([row.viscous_work for row in rows]),
        hardening=np.array([row.hardening for row in rows]),
        flow=np.array([step.flow for step in steps]),
        state={name: np.array([step.state[name][0] for step in steps]) for name in material.states},
    )
