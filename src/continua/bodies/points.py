"""Bodies made of particles of one material."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua._validation import numbers_of_shape
from continua.bodies.body import Array, Body, BodyEnergy
from continua.bodies.fields import Fields, PassiveFields
from continua.bodies.law import Law, Parameters
from continua.bodies.particle_energy import ParticleEnergy
from continua.bodies.particles import Limits, ParticleSet
from continua.bodies.variation import Variation
from continua.errors import SetupError
from continua.materials.base import Material, NativeMaterial, from_components, upper_triangle
from continua.materials.python import PythonMaterial

if TYPE_CHECKING:
    from continua.transfers.exchange import Exchange


class ParticleBody(Body):
    """Particles of one material.

    Rows of `x`, `v`, ... follow the order of the grid and change from step to step; `ids` tells which particle is
    which, and `fields()` returns everything in the order in which the particles were added.
    A variation makes the parameters and the density differ between particles.
    """

    kind = "points"

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
        self.name: str = name
        self.material = material
        self.variation = variation
        self.dimension = dimension
        self.parameters = Parameters.of(material, variation, dtype)
        self.passive = PassiveFields(fields, material, dimension)
        self._varied = [f"parameter {k}" for k in self.parameters.varied]
        self.set = ParticleSet(
            name,
            dimension,
            dtype,
            law=Law(material.model, self.parameters),
            rows=[*material.states, *self._varied, *self.passive.names],
            keeps_stress=material.keeps_stress,
            modes=modes,
        )
        self.set.limits = self._limits_at_rest()
        self._relaxation_rate = 0.0
        if isinstance(material, NativeMaterial) and variation is None:
            self._relaxes(material.parameter_values()[:, None])

    def _relaxes(self, table: NDArray) -> None:
        """There are particles with the core's parameters (n, N)."""
        assert isinstance(self.material, NativeMaterial)
        fastest = float(self.material.relaxation_rates(table).max())
        self._relaxation_rate = max(self._relaxation_rate, fastest)

    def _limits_at_rest(self) -> Limits:
        return Limits(0.0, self.material.wave_speed(), self.material.kinematic_viscosity())

    def append(self, x: NDArray, v: NDArray, C: NDArray, volume: NDArray) -> None:
        """Add undeformed particles: x, v (N, d), C (N, d, d), volume (N,)."""
        if len(x) == 0:
            return
        varying = None if self.variation is None else self.variation.at(x)
        density = self.material.density if varying is None else varying[1]
        rows: dict[str, NDArray | float] = dict(self.material.states)
        rows |= dict(zip(self.passive.names, self.passive.at(x), strict=True))
        if varying is not None:
            rows |= dict(zip(self._varied, varying[0][self.parameters.varied], strict=True))
        new = self.set.append(x, v, C, volume * density, volume, rows)
        if isinstance(self.material, PythonMaterial):
            self._refresh_stress(new)
        now, rest = self.set.limits, self._limits_at_rest()
        speed = max(now.speed, float(np.sqrt((v**2).sum(axis=1).max())))
        self.set.limits = Limits(
            speed, max(now.wave_speed, rest.wave_speed), max(now.viscosity, rest.viscosity)
        )
        if varying is not None:
            self._relaxes(varying[0])
            self._refresh_limits()

    def remove(self, gone: NDArray[np.bool_]) -> None:
        """Remove the particles of a mask (N,); the others keep their order and their ids."""
        gone = np.asarray(gone)
        if gone.dtype != np.bool_ or gone.shape != (self.count,):
            raise SetupError(
                f"remove() needs a mask of shape ({self.count},) with True for every particle to remove"
            )
        if gone.any():
            self.set.remove(gone)
        if self.count == 0:  # nobody is left whose next step would tell
            self.set.limits = self._limits_at_rest()

    # ---- what particles have ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.set.count

    @property
    def label(self) -> str:
        return self.material.label

    @property
    def count(self) -> int:
        """Number of particles."""
        return self.set.count

    @property
    def max_speed(self) -> float:
        return self.set.limits.speed

    @property
    def max_wave_speed(self) -> float:
        """Of the fastest elastic wave [m/s]."""
        return self.set.limits.wave_speed

    @property
    def relaxation_rate(self) -> float:
        return self._relaxation_rate

    @property
    def x(self) -> NDArray:
        """Positions (N, d) [m]; a view, fetch it again after each step."""
        return self.set.x

    @x.setter
    def x(self, value: NDArray) -> None:
        self.set.x[:] = numbers_of_shape(f'x of body "{self.name}"', value, self.set.x.shape, SetupError)

    @property
    def v(self) -> NDArray:
        """Velocities (N, d) [m/s]; a view, fetch it again after each step."""
        return self.set.v

    @v.setter
    def v(self, value: NDArray) -> None:
        self.set.v[:] = numbers_of_shape(f'v of body "{self.name}"', value, self.set.v.shape, SetupError)

    @property
    def mass(self) -> NDArray:
        """Masses (N,) [kg]; a view."""
        return self.set.mass

    @property
    def volume(self) -> NDArray:
        """Undeformed volumes (N,) [m^3, in 2D m^2]; a view."""
        return self.set.volume

    @property
    def ids(self) -> NDArray[np.int32]:
        """Number of each particle in the order of creation (N,); a view."""
        return self.set.ids

    @property
    def F(self) -> NDArray:
        """Deformation gradients (elastic part for plastic materials) (N, d, d); a copy, assign to change them."""
        return self.set.F

    @F.setter
    def F(self, value: NDArray) -> None:
        self.set.F = value
        self._refresh_stress(slice(0, self.count))

    @property
    def C(self) -> NDArray:
        """Affine velocities (N, d, d) [1/s]; a copy, assign to change them."""
        return self.set.C

    @C.setter
    def C(self, value: NDArray) -> None:
        self.set.C = value

    @property
    def J(self) -> NDArray:
        """Volume ratios det F (N,)."""
        return np.linalg.det(self.F)

    @property
    def state(self) -> dict[str, NDArray]:
        """History variables and passive fields (N,) by name; views."""
        return {name: self.set[name] for name in (*self.material.states, *self.passive.names)}

    # ---- a step ----------------------------------------------------------------------------------------------

    def particle_sets(self) -> Sequence[ParticleSet]:
        return (self.set,)

    def accelerate(self, push: Array) -> None:
        self.set.v[:] += push

    def energies(self, exchanges: Sequence[Exchange], dt: float) -> Sequence[BodyEnergy]:
        return [ParticleEnergy(exchange, self.material, self.parameters, dt) for exchange in exchanges]

    def end(self, dt: float) -> None:
        if isinstance(self.material, PythonMaterial):
            self._python_flow(self.material)

    def accept(self, dt: float, limits: Sequence[Limits], period: Array) -> None:
        self.set.swap()
        (found,) = limits
        if isinstance(self.material, PythonMaterial):
            found = replace(found, wave_speed=self.material.wave_speed())
        self.set.limits = found

    def _python_flow(self, material: PythonMaterial) -> None:
        a, n = self.set.next_arrays, self.count
        state = {name: a.state[k, :n].astype(np.float64) for k, name in enumerate(material.states)}
        F = from_components(a.F[:, :n].astype(np.float64))
        if material.plastic:
            F, state = material.project(F, state)
            a.F[:, :n] = np.asarray(F).reshape(n, -1).T
            for k, name in enumerate(material.states):
                a.state[k, :n] = state[name]
        a.tau[:, :n] = upper_triangle(material.kirchhoff(F, state))

    # ---- what follows from the arrays ------------------------------------------------------------------------

    def refresh(self) -> None:
        """Recompute what follows from the arrays, stress and limits of the time step, after changing them by hand."""
        self.set.limits = replace(self.set.limits, speed=self.set.fastest)
        self._refresh_limits()
        self._refresh_stress(slice(0, self.count))

    def _refresh_limits(self) -> None:
        if isinstance(self.material, NativeMaterial) and self.count:
            wave2, viscosity = _core.speed_limits(
                self.material.model, self.dimension, self.set.arrays, self.parameters
            )
            self.set.limits = Limits(self.set.limits.speed, float(np.sqrt(wave2)), viscosity)

    def _refresh_stress(self, some: slice) -> None:
        """Kept stress of some particles from their F and history, as if they were at rest."""
        a, material = self.set.arrays, self.material
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

    def elastic_energies(self) -> Array:
        return self.energy_density() * self.volume.astype(np.float64)

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
        for number, name in zip(self.parameters.varied, self._varied, strict=True):
            table[number] = self.set[name]
        return table

    # ---- looking and saving ----------------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        return self.set.nbytes

    def fields(self) -> dict[str, NDArray]:
        """All particle data in order of creation: id, x, v, J, volume, history variables and passive fields."""
        order = np.argsort(self.ids, kind="stable")
        data = {"id": self.ids, "x": self.x, "v": self.v, "J": self.J, "volume": self.volume, **self.state}
        return {name: np.ascontiguousarray(array[order]) for name, array in data.items()}

    def snapshot(self) -> dict[str, NDArray]:
        return self.set.snapshot()

    def restore(self, data: Mapping[str, NDArray]) -> None:
        self.set.restore(data)
