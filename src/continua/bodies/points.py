"""Bodies made of particles: their arrays in two sets, so that a step reads one and writes the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.arrays import PointArrays
from continua.bodies.fields import Fields, PassiveFields
from continua.bodies.variation import Variation
from continua.errors import SetupError
from continua.materials.base import Material, NativeMaterial, from_components, upper_triangle
from continua.materials.python import PythonMaterial

MOST_ROWS = 16  # of `state`, kMaxStates of the core


@dataclass(frozen=True)
class Parameters:
    """Material parameters for the core: uniform `values`, or per particle in row `rows[k]` of the state (else -1)."""

    values: NDArray
    rows: NDArray[np.int32]

    @classmethod
    def of(cls, material: Material, variation: Variation | None, dtype: type[np.floating]) -> Parameters:
        """Those that vary follow the history variables."""
        values = material.parameter_values() if isinstance(material, NativeMaterial) else np.empty(0)
        rows = np.full(len(values), -1, np.int32)
        if variation is not None:
            varied = np.flatnonzero(variation.varied())
            rows[varied] = len(material.states) + np.arange(len(varied))
        return cls(values.astype(dtype), rows)

    @property
    def varied(self) -> NDArray[np.intp]:
        """Numbers of the parameters that are stored per particle, in the order of their rows."""
        return np.flatnonzero(self.rows >= 0)


class Body:
    """Particles of one material.

    Rows of `x`, `v`, ... follow the order of the grid and change from step to step; `ids` tells which particle is
    which, and `fields()` returns everything in the order in which the particles were added.
    A variation makes the parameters and the density differ between particles.
    """

    def __init__(
        self,
        name: str,
        material: Material,
        dimension: int,
        dtype: type[np.floating],
        variation: Variation | None = None,
        modes: int = 0,
        fields: Fields | None = None,
    ) -> None:
        self.name = name
        self.material = material
        self.variation = variation
        self.dimension = dimension
        self.created = 0  # particles so far, those that were removed included
        self.max_speed = 0.0
        self.max_wave_speed = material.wave_speed()
        self.parameters = Parameters.of(material, variation, dtype)
        self.passive = PassiveFields(fields, material, dimension)
        self._first_passive = len(material.states) + len(self.parameters.varied)
        rows = self._first_passive + len(self.passive)
        if rows > MOST_ROWS:
            raise SetupError(
                f'body "{name}" has {rows} history variables, varying parameters and fields, but a particle has room '
                f"for {MOST_ROWS}; leave some out"
            )
        self.max_viscosity = material.kinematic_viscosity()
        keeps = material.keeps_stress
        self._front = PointArrays.allocate(dimension, 0, rows, dtype, keeps_stress=keeps, modes=modes)
        self._back = self._front.like(0)

    def append(self, x: NDArray, v: NDArray, C: NDArray, volume: NDArray) -> None:
        """Add undeformed particles: x, v (N, d), C (N, d, d), volume (N,)."""
        a, n = self._front, len(x)
        if n == 0:
            return
        varying = None if self.variation is None else self.variation.at(x)
        passive = self.passive.at(x)
        if self.created + n > np.iinfo(np.int32).max:
            raise SetupError(f'body "{self.name}" would have more than 2^31 particles; use a larger dx')
        if a.count + n > a.capacity:
            room = a.count + n if a.count == 0 else (a.count + n) * 3 // 2
            self._front = a = a.grown(room)
            self._back = a.like(room)
        new = slice(a.count, a.count + n)
        a.x[:, new], a.v[:, new] = x.T, v.T
        a.C[:, new] = C.reshape(n, -1).T
        a.volume[new] = volume
        a.mass[new] = volume * (self.material.density if varying is None else varying[1])
        for row, value in enumerate(self.material.states.values()):
            a.state[row, new] = value
        if varying is not None:
            a.state[len(self.material.states) : self._first_passive, new] = varying[0][self.parameters.varied]
        a.state[self._first_passive :, new] = passive
        a.ids[new] = np.arange(self.created, self.created + n, dtype=np.int32)
        a.count += n
        self.created += n
        if isinstance(self.material, PythonMaterial):
            self._refresh_stress(new)
        self.max_speed = max(self.max_speed, float(np.sqrt((v**2).sum(axis=1).max())))
        if varying is None:
            self.max_wave_speed = max(self.max_wave_speed, self.material.wave_speed())
            self.max_viscosity = max(self.max_viscosity, self.material.kinematic_viscosity())
        else:
            self._refresh_limits()

    def remove(self, gone: NDArray[np.bool_]) -> None:
        """Remove the particles of a mask (N,); the others keep their order and their ids."""
        gone = np.asarray(gone)
        if gone.dtype != np.bool_ or gone.shape != (self.count,):
            raise SetupError(
                f"remove() needs a mask of shape ({self.count},) with True for every particle to remove"
            )
        if not gone.any():
            return
        before = self.count
        self._front.keep(~gone)
        self._back.count = self.count
        self._back.pad(before)
        if self.count == 0:  # nobody is left whose next step would tell
            self.max_speed = 0.0
            self.max_wave_speed = self.material.wave_speed()
            self.max_viscosity = self.material.kinematic_viscosity()

    @property
    def arrays(self) -> PointArrays:
        """The current particle data, component-major (for kernels)."""
        return self._front

    @property
    def next_arrays(self) -> PointArrays:
        """Where the running step writes."""
        return self._back

    def swap(self) -> None:
        """Accept the step: what was written becomes current."""
        self._back.count = self._front.count
        self._front, self._back = self._back, self._front

    def __len__(self) -> int:
        return self._front.count

    @property
    def count(self) -> int:
        """Number of particles."""
        return self._front.count

    @property
    def x(self) -> NDArray:
        """Positions (N, d) [m]; a view, fetch it again after each step."""
        return self._front.x[:, : self.count].T

    @property
    def v(self) -> NDArray:
        """Velocities (N, d) [m/s]; a view, fetch it again after each step."""
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

    @property
    def F(self) -> NDArray:
        """Deformation gradients (elastic part for plastic materials) (N, d, d); a copy, assign to change them."""
        return from_components(self._front.F[:, : self.count])

    @F.setter
    def F(self, value: NDArray) -> None:
        value = np.broadcast_to(value, (self.count, self.dimension, self.dimension))
        self._front.F[:, : self.count] = value.reshape(self.count, self.dimension**2).T
        self._refresh_stress(slice(0, self.count))

    @property
    def C(self) -> NDArray:
        """Affine velocities (N, d, d) [1/s]; a copy, assign to change them."""
        return from_components(self._front.C[:, : self.count])

    @C.setter
    def C(self, value: NDArray) -> None:
        value = np.broadcast_to(value, (self.count, self.dimension, self.dimension))
        self._front.C[:, : self.count] = value.reshape(self.count, self.dimension**2).T

    @property
    def J(self) -> NDArray:
        """Volume ratios det F (N,)."""
        return np.linalg.det(self.F)

    @property
    def state(self) -> dict[str, NDArray]:
        """History variables and passive fields (N,) by name; views."""
        rows = [*enumerate(self.material.states), *enumerate(self.passive.names, self._first_passive)]
        return {name: self._front.state[k, : self.count] for k, name in rows}

    def refresh(self) -> None:
        """Recompute what follows from the arrays, stress and limits of the time step, after changing them by hand."""
        a = self._front
        self.max_speed = (
            float(np.sqrt((self.v.astype(np.float64) ** 2).sum(axis=1).max())) if a.count else 0.0
        )
        self._refresh_limits()
        self._refresh_stress(slice(0, self.count))

    def _refresh_limits(self) -> None:
        a = self._front
        if isinstance(self.material, NativeMaterial) and a.count:
            wave2, viscosity = _core.speed_limits(self.material.model, self.dimension, a, self.parameters)
            self.max_wave_speed, self.max_viscosity = float(np.sqrt(wave2)), viscosity

    def _refresh_stress(self, some: slice) -> None:
        """Kept stress of some particles from their F and history, as if they were at rest."""
        a, material = self._front, self.material
        if len(a.tau) == 0 or a.count == 0:
            return
        F = from_components(a.F[:, some].astype(np.float64))
        state = {name: a.state[k, some].astype(np.float64) for k, name in enumerate(material.states)}
        if isinstance(material, NativeMaterial):
            tau = material.kirchhoff(F, state, parameters=self.parameter_table()[:, some])
        else:
            assert isinstance(material, PythonMaterial)
            tau = material.kirchhoff(F, state)
        a.tau[:, some] = upper_triangle(tau)

    def energy_density(self) -> NDArray[np.float64]:
        """Elastic energy per undeformed volume (N,) [Pa]."""
        material = self.material
        if not isinstance(material, (NativeMaterial, PythonMaterial)):
            return np.zeros(self.count)
        F = self.F.astype(np.float64)
        state = {name: self.state[name].astype(np.float64) for name in material.states}
        if self.variation is not None:
            assert isinstance(material, NativeMaterial)
            return material.energy(F, state, parameters=self.parameter_table())
        return material.energy(F, state)

    def parameter_table(self) -> NDArray[np.float64]:
        """The core's parameters of every particle, (n, N)."""
        table = np.repeat(self.parameters.values.astype(np.float64)[:, None], self.count, axis=1)
        rows = slice(len(self.material.states), self._first_passive)
        table[self.parameters.varied] = self._front.state[rows, : self.count]
        return table

    def fields(self) -> dict[str, NDArray]:
        """All particle data in order of creation: id, x, v, J, volume, history variables and passive fields."""
        order = np.argsort(self.ids, kind="stable")
        data = {"id": self.ids, "x": self.x, "v": self.v, "J": self.J, "volume": self.volume, **self.state}
        return {name: np.ascontiguousarray(array[order]) for name, array in data.items()}

    def snapshot(self) -> dict[str, NDArray]:
        """Copies of everything needed to continue with the same bits."""
        a = self._front
        data = {name: np.ascontiguousarray(a.some(name, a.count)) for name in PointArrays.NAMES}
        data["created"] = np.array(self.created)
        data["speeds"] = np.array([self.max_speed, self.max_wave_speed, self.max_viscosity])
        return data

    def restore(self, data: dict[str, NDArray]) -> None:
        """Inverse of `snapshot`."""
        if missing := ", ".join(sorted({*PointArrays.NAMES, "created", "speeds"} - set(data))):
            raise SetupError(f'the stored body "{self.name}" is of an older version, without {missing}')
        count = data["x"].shape[1]
        arrays = self._front.like(count)
        for name in PointArrays.NAMES:
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
        self.max_speed, self.max_wave_speed, self.max_viscosity = (float(s) for s in data["speeds"])
