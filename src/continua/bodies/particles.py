"""Particle sets: what travels with grids, in two sets of arrays, so that a step reads one and writes the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from continua._validation import numbers_of_shape
from continua.bodies.columns import Columns
from continua.bodies.law import Law
from continua.errors import SetupError
from continua.materials.base import from_components

MOST_ROWS = 16  # of `state`, kMaxStates of the core


@dataclass(frozen=True)
class Limits:
    """What bounds the time step: fastest particle [m/s], fastest wave [m/s], largest kinematic viscosity [m^2/s]."""

    speed: float = 0.0
    wave_speed: float = 0.0
    viscosity: float = 0.0


class ParticleSet:
    """Particles with x, v, C and mass; those of a deforming material also have F, volume and named rows of numbers.

    Rows follow the order of the grid and change from step to step; `ids` tells which particle is which. law: how
    stress follows from F and the rows; None for particles without stress of their own, such as vertices of a mesh.
    modes: polynomial velocity modes beyond C.
    """

    def __init__(
        self,
        name: str,
        dimension: int,
        dtype: type[np.floating],
        *,
        law: Law | None = None,
        rows: Sequence[str] = (),
        keeps_stress: bool = False,
        modes: int = 0,
    ) -> None:
        if len(rows) > MOST_ROWS:
            raise SetupError(
                f'body "{name}" has {len(rows)} history variables, varying parameters and fields, but a particle has '
                f"room for {MOST_ROWS}; leave some out"
            )
        self.name = name
        self.dimension = dimension
        self.law = law
        self.rows = tuple(rows)
        self.created = 0  # particles so far, those that were removed included
        self.limits = Limits()
        self._front = Columns.allocate(
            dimension,
            0,
            dtype,
            deforms=law is not None,
            states=len(rows),
            keeps_stress=keeps_stress,
            modes=modes,
        )
        self._back = self._front.like(0)

    # ---- particles come and go -------------------------------------------------------------------------------

    def append(
        self,
        x: NDArray,
        v: NDArray,
        C: NDArray,
        mass: NDArray,
        volume: NDArray | None = None,
        rows: Mapping[str, NDArray | float] | None = None,
    ) -> slice:
        """Add undeformed particles: x, v (N, d), C (N, d, d), mass and volume (N,), and their named rows (N,).

        Returns where they are in the arrays.
        """
        a, n = self._front, len(x)
        if self.created + n > np.iinfo(np.int32).max:
            raise SetupError(f'body "{self.name}" would have more than 2^31 particles; use a larger dx')
        if a.count + n > a.capacity:
            room = a.count + n if a.count == 0 else (a.count + n) * 3 // 2
            self._front = a = a.grown(room)
            self._back = a.like(room)
        new = slice(a.count, a.count + n)
        a.x[:, new], a.v[:, new] = x.T, v.T
        a.C[:, new] = C.reshape(n, -1).T
        a.mass[new] = mass
        if volume is not None:
            a.volume[new] = volume
        for name, values in (rows or {}).items():
            a.state[self.rows.index(name), new] = values
        a.ids[new] = np.arange(self.created, self.created + n, dtype=np.int32)
        a.count += n
        self.created += n
        return new

    def remove(self, gone: NDArray[np.bool_]) -> None:
        """Remove the particles of a mask (N,); the others keep their order and their ids."""
        before = self.count
        self._front.keep(~gone)
        self._back.count = self.count
        self._back.pad(before)

    # ---- two sets of arrays ----------------------------------------------------------------------------------

    @property
    def arrays(self) -> Columns:
        """The current particle data, component-major (for kernels)."""
        return self._front

    @property
    def next_arrays(self) -> Columns:
        """Where the running step writes."""
        return self._back

    def swap(self) -> None:
        """Accept the step: what was written becomes current."""
        self._back.count = self._front.count
        self._front, self._back = self._back, self._front

    @property
    def nbytes(self) -> int:
        """Memory [bytes], with that of sorting."""
        return self._front.nbytes + self._back.nbytes + 5 * self._front.capacity

    # ---- what particles have ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._front.count

    @property
    def count(self) -> int:
        """Number of particles."""
        return self._front.count

    @property
    def x(self) -> NDArray:
        """Positions (N, d) [m]; a view."""
        return self._front.x[:, : self.count].T

    @property
    def v(self) -> NDArray:
        """Velocities (N, d) [m/s]; a view."""
        return self._front.v[:, : self.count].T

    @property
    def mass(self) -> NDArray:
        """Masses (N,) [kg]; a view."""
        return self._front.mass[: self.count]

    @property
    def volume(self) -> NDArray:
        """Undeformed volumes (N,) [m^3, in 2D m^2]; a view."""
        return self._front.volume[: self.count]

    @property
    def ids(self) -> NDArray[np.int32]:
        """Number of each particle in the order of creation (N,); a view."""
        return self._front.ids[: self.count]

    def __getitem__(self, name: str) -> NDArray:
        """A named row (N,); a view."""
        return self._front.state[self.rows.index(name), : self.count]

    @property
    def C(self) -> NDArray:
        """Affine velocities (N, d, d) [1/s]; a copy, assign to change them."""
        return from_components(self._front.C[:, : self.count])

    @C.setter
    def C(self, value: NDArray) -> None:
        value = self._matrices("C", value)
        self._front.C[:, : self.count] = value.reshape(self.count, self.dimension**2).T

    @property
    def F(self) -> NDArray:
        """Deformation gradients (N, d, d); a copy, assign to change them."""
        return from_components(self._front.F[:, : self.count])

    @F.setter
    def F(self, value: NDArray) -> None:
        value = self._matrices("F", value)
        self._front.F[:, : self.count] = value.reshape(self.count, self.dimension**2).T

    def _matrices(self, name: str, value: Any) -> NDArray[np.float64]:
        """What a user assigns to a matrix of all particles, as (N, d, d)."""
        shape = (self.count, self.dimension, self.dimension)
        return numbers_of_shape(f'{name} of body "{self.name}"', value, shape, SetupError)

    @property
    def fastest(self) -> float:
        """Speed of the fastest particle [m/s]."""
        return float(np.sqrt((self.v.astype(np.float64) ** 2).sum(axis=1).max())) if self.count else 0.0

    # ---- between rows and the order of creation --------------------------------------------------------------

    def to_rows(self, values: NDArray) -> NDArray:
        """Vectors (N, k) in the order of creation as the core wants them, (k, capacity) in the order of the rows."""
        rows = np.zeros((values.shape[1], self._front.capacity), self._front.x.dtype)
        rows[:, : self.count] = values[self.ids].T
        return rows

    def by_id(self, rows: NDArray) -> NDArray[np.float64]:
        """Inverse of `to_rows`, where no particle has been removed."""
        values = np.empty((self.count, len(rows)))
        values[self.ids] = rows[:, : self.count].T
        return values

    # ---- saving ----------------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, NDArray]:
        """Copies of everything needed to continue with the same bits."""
        a = self._front
        data = {name: np.array(a.some(name, a.count), order="C") for name in Columns.NAMES}
        data["created"] = np.array(self.created)
        data["speeds"] = np.array([self.limits.speed, self.limits.wave_speed, self.limits.viscosity])
        return data

    def restore(self, data: Mapping[str, NDArray]) -> None:
        """Inverse of `snapshot`."""
        if missing := ", ".join(sorted({*Columns.NAMES, "created", "speeds"} - set(data))):
            raise SetupError(f'the stored body "{self.name}" is of an older version, without {missing}')
        count = data["x"].shape[1]
        arrays = self._front.like(count)
        for name in Columns.NAMES:
            own = arrays.some(name, count)
            if data[name].dtype != own.dtype or data[name].shape != own.shape:
                raise SetupError(
                    f'the stored body "{self.name}" has another precision, material, transfer or fields'
                )
            own[:] = data[name]
        arrays.count = count
        self._front = arrays
        self._back = arrays.like(count)
        self.created = int(data["created"])
        self.limits = Limits(*(float(s) for s in data["speeds"]))
