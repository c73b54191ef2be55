"""Deformation histories: total deformation gradients over time, with axes that may be left to the stress.

Strains of stretching paths are logarithmic: an amount of 0.1 is a stretch of exp(0.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from continua.errors import MaterialError

Array = NDArray[np.float64]
Measure = Literal["shear", "axial", "deviator", "pressure", "equivalent"]

STEPS = 400


@dataclass(frozen=True)
class Path:
    """A deformation history of n steps in d dimensions.

    time: (n+1,) [s], growing.
    F: (n+1, d, d) total deformation gradient; on free axes the stretch beyond it is found.
    strain: (n+1,) the number curves are drawn against (shear, logarithmic or compressive strain, or time).
    free: (n+1, d) axes whose normal Cauchy stress is -pressure at the end of the step; row 0 is not used.
    pressure: (n+1,) [Pa], compression positive.
    measure: which stress the curves show; `History.stress` says what each one is.
    """

    name: str
    time: Array
    F: Array
    strain: Array
    free: NDArray[np.bool_]
    pressure: Array
    measure: Measure = "equivalent"
    against_time: bool = False

    @property
    def dimension(self) -> int:
        """2 (plane strain) or 3."""
        return int(self.F.shape[1])

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.time) - 1


def prescribed(name: str, time: Array, F: Array, strain: Array, measure: Measure, **more: bool) -> Path:
    """A path on which no axis is free."""
    free = np.zeros(F.shape[:2], bool)
    return Path(name, time, F, strain, free, np.zeros(len(time)), measure, **more)


def shear(amount: float = 1.0, *, rate: float = 1.0, steps: int = STEPS, dimension: int = 3) -> Path:
    """Simple shear F = I + gamma e_x e_y^T up to gamma = amount, at d gamma/dt = rate [1/s]."""
    time, gamma = _ramp(amount, rate, steps)
    return prescribed("shear", time, _sheared(gamma, dimension), gamma, "shear")


def uniaxial(amount: float = 0.5, *, rate: float = 1.0, steps: int = STEPS, dimension: int = 3) -> Path:
    """Stretch along x by the logarithmic strain `amount` (negative: compression) with stress-free sides.

    rate: of the logarithmic strain [1/s]. In 2D only y is free (plane strain).
    """
    time, strain = _ramp(amount, rate, steps)
    path = prescribed("uniaxial", time, _stretched(strain, (0,), dimension), strain, "axial")
    return _freed(path, axes=range(1, dimension))


def biaxial(amount: float = 0.5, *, rate: float = 1.0, steps: int = STEPS, dimension: int = 3) -> Path:
    """Stretch along x and y by the logarithmic strain `amount` each; z is stress-free in 3D."""
    time, strain = _ramp(amount, rate, steps)
    path = prescribed("biaxial", time, _stretched(strain, (0, 1), dimension), strain, "axial")
    return _freed(path, axes=range(2, dimension))


def triaxial(
    amount: float = 0.1,
    *,
    pressure: float,
    rate: float = 1.0,
    steps: int = STEPS,
    dimension: int = 3,
) -> Path:
    """The soil test: confine by `pressure` [Pa], then shorten along x by `amount` while the sides stay at it.

    amount: compressive logarithmic strain.
    """
    _positive(pressure=pressure)
    time, strain = _ramp(amount, rate, steps)
    path = prescribed("triaxial", time, _stretched(-strain, (0,), dimension), strain, "deviator")
    return confined(_freed(path, axes=range(1, dimension)), pressure)


def compress(amount: float = 0.2, *, rate: float = 1.0, steps: int = STEPS, dimension: int = 3) -> Path:
    """Isotropic compression to ln J = -amount and back to J = 1; rate: of ln J [1/s]."""
    half = max(1, steps // 2)
    time, strain = _ramp(amount, rate, half)
    strain = np.concatenate([strain, strain[-2::-1]])
    time = np.concatenate([time, time[-1] + time[1:]])
    F = _stretched(-strain / dimension, range(dimension), dimension)
    return prescribed("compress", time, F, strain, "pressure")


def relax(
    amount: float = 0.1,
    *,
    rate: float = 1.0,
    steps: int = STEPS,
    dimension: int = 3,
    quickness: float = 100.0,
    hold: float = 5.0,
) -> Path:
    """A quick simple shear gamma = amount, then rest.

    The shear takes 1/(quickness rate) seconds in a tenth of the steps, the rest hold/rate seconds.
    """
    quick = max(1, steps // 10)
    time, gamma = _ramp(amount, quickness * rate * abs(amount), quick)
    rest = time[-1] + np.linspace(0, hold / rate, max(1, steps - quick) + 1)[1:]
    time = np.concatenate([time, rest])
    gamma = np.concatenate([gamma, np.full(len(rest), amount)])
    F = _sheared(gamma, dimension)
    return prescribed("relax", time, F, time, "shear", against_time=True)


PATHS: dict[str, Callable[..., Path]] = {
    "shear": shear,
    "uniaxial": uniaxial,
    "biaxial": biaxial,
    "triaxial": triaxial,
    "compress": compress,
    "relax": relax,
}


def confined(path: Path, pressure: float, steps: int | None = None) -> Path:
    """The path after an isotropic confinement that grows to `pressure` [Pa]; free axes are kept at it.

    steps: of the confinement; an eighth of those of the path if left out. They are as long as its first one.
    """
    _positive(pressure=pressure)
    d, n = path.dimension, max(10, path.steps // 8) if steps is None else steps
    early = (path.time[1] - path.time[0]) * np.arange(n)
    time = np.concatenate([early, path.time - path.time[0] + n * (path.time[1] - path.time[0])])
    rest = np.broadcast_to(path.F[0], (n, d, d))
    return replace(
        path,
        time=time,
        F=np.concatenate([rest, path.F]),
        strain=time if path.against_time else np.concatenate([np.full(n, path.strain[0]), path.strain]),
        free=np.concatenate([np.ones((n + 1, d), bool), path.free[1:]]),
        pressure=np.concatenate([pressure * np.arange(n) / n, np.full(path.steps + 1, pressure)]),
    )


def _ramp(amount: float, rate: float, steps: int) -> tuple[Array, Array]:
    """Times (n+1,) and strains (n+1,) of a constant rate."""
    _positive(rate=rate, steps=steps)
    if not (np.isfinite(amount) and amount != 0):
        raise MaterialError(f"the amount of deformation is {amount:g}; give a number other than zero")
    strain = np.linspace(0, amount, steps + 1)
    return np.abs(strain) / rate, strain


def _sheared(gamma: Array, dimension: int) -> Array:
    F = np.tile(np.eye(_checked(dimension)), (len(gamma), 1, 1))
    F[:, 0, 1] = gamma
    return F


def _stretched(strain: Array, axes: range | tuple[int, ...], dimension: int) -> Array:
    F = np.tile(np.eye(_checked(dimension)), (len(strain), 1, 1))
    with np.errstate(over="ignore"):
        for axis in axes:
            F[:, axis, axis] = np.exp(strain)
    if not (np.isfinite(F).all() and np.linalg.det(F).min() > 0):
        raise MaterialError(
            f"a logarithmic strain of {strain[np.abs(strain).argmax()]:g} is too large; choose a smaller amount"
        )
    return F


def _freed(path: Path, axes: range) -> Path:
    free = path.free.copy()
    free[:, list(axes)] = True
    return replace(path, free=free)


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise MaterialError(f"the {name} of a material test is {value:g}, but must be positive")


def _checked(dimension: int) -> int:
    if dimension not in (2, 3):
        raise MaterialError(f"the dimension of a material test is {dimension}; choose 2 or 3")
    return dimension
