"""How the stress of particles follows from their deformation, as the core needs to know it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.variation import Variation
from continua.materials.base import Material, NativeMaterial


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


@dataclass(frozen=True)
class Law:
    """A model of the core and its parameters; without a name the stress is kept with the particles."""

    model: str
    parameters: Parameters


NO_PARAMETERS = Parameters(np.empty(0), np.empty(0, np.int32))
