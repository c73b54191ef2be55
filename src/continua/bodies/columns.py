"""The columns of a particle set as the core wants them: component-major arrays, padded to whole batches."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

LANES = 16  # arrays are padded to whole batches; the tail has no mass and F = I
LINE = 64  # bytes of a cache line, where every component begins: whole batches are stored past the cache


@dataclass
class Columns:
    """Component c of particle i is at [c, i]. x, v, C and mass are always there; the others have no rows unless they
    were asked for."""

    x: NDArray  # (d, capacity) [m]
    v: NDArray  # (d, capacity) [m/s]
    C: NDArray  # (d*d, capacity) [1/s]
    F: NDArray  # (d*d, capacity), where particles deform
    mass: NDArray  # (capacity,) [kg]
    volume: NDArray  # (capacity,) undeformed [m^d], where particles deform
    state: NDArray  # (history variables, then parameters that vary, then passive fields; capacity)
    ids: NDArray[np.int32]  # (capacity,)
    tau: NDArray  # (d(d+1)/2, capacity) Kirchhoff stress [Pa], upper triangle, where it is kept, else no rows
    modes: NDArray  # (capacity, modes beyond C, 4) [m/s], the last axis padded with zeros
    count: int

    NAMES = ("x", "v", "C", "F", "mass", "volume", "state", "ids", "tau", "modes")

    @classmethod
    def allocate(
        cls,
        d: int,
        capacity: int,
        dtype: type[np.floating],
        *,
        deforms: bool = True,
        states: int = 0,
        keeps_stress: bool = False,
        modes: int = 0,
    ) -> Columns:
        """Arrays for at least `capacity` particles, all of them padding."""
        capacity = max(LANES, -(-capacity // LANES) * LANES)
        arrays = cls(
            x=_zeros((d, capacity), dtype),
            v=_zeros((d, capacity), dtype),
            C=_zeros((d * d, capacity), dtype),
            F=_zeros((d * d if deforms else 0, capacity), dtype),
            mass=_zeros((capacity,), dtype),
            volume=_zeros((capacity if deforms else 0,), dtype),
            state=_zeros((states, capacity), dtype),
            ids=_zeros((capacity,), np.int32),
            tau=_zeros((d * (d + 1) // 2 if keeps_stress else 0, capacity), dtype),
            modes=_zeros((capacity, modes, 4), dtype),
            count=0,
        )
        arrays.F[:: d + 1] = 1
        return arrays

    @property
    def capacity(self) -> int:
        """Particles there is room for."""
        return self.x.shape[1]

    @property
    def deforms(self) -> bool:
        """Whether particles have a volume and a deformation gradient."""
        return len(self.F) > 0

    @property
    def nbytes(self) -> int:
        """Memory [bytes]."""
        return sum(getattr(self, name).nbytes for name in self.NAMES)

    def part(self, name: str, rows: slice | NDArray[np.intp]) -> NDArray:
        """One array for some particles: a view for a slice, a copy for numbers (n,)."""
        array: NDArray = getattr(self, name)
        return array[rows] if name == "modes" else array[..., rows]

    def some(self, name: str, count: int) -> NDArray:
        """View of one array for the first `count` particles."""
        return self.part(name, slice(count))

    def like(self, capacity: int) -> Columns:
        """Empty arrays of the same kind with another capacity."""
        return Columns.allocate(
            len(self.x),
            capacity,
            self.x.dtype.type,
            deforms=self.deforms,
            states=len(self.state),
            keeps_stress=len(self.tau) > 0,
            modes=self.modes.shape[1],
        )

    def grown(self, capacity: int) -> Columns:
        """A copy with more room."""
        bigger = self.like(capacity)
        for name in self.NAMES:
            bigger.some(name, self.count)[:] = self.some(name, self.count)
        bigger.count = self.count
        return bigger

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop all particles but those of a mask (count,), which close up in their order."""
        first = int(np.argmin(kept))  # nothing moves before the first that goes
        rows = first + np.flatnonzero(kept[first:])
        before, self.count = self.count, first + len(rows)
        for name in self.NAMES:
            array = getattr(self, name)
            for component in [array] if name == "modes" else np.atleast_2d(array):
                component[first : self.count] = component[rows]  # one at a time stays in the cache
        self.pad(before)

    def pad(self, end: int) -> None:
        """Make padding of what lies between the last particle and `end`."""
        for name in self.NAMES:
            self.part(name, slice(self.count, end))[:] = 0
        self.F[:: len(self.x) + 1, self.count : end] = 1


def _zeros(shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray:
    """Zeros that begin with a cache line."""
    size = prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(size + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + size].view(dtype).reshape(shape)
