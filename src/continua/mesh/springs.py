"""Springs between nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from continua import _core
from continua.errors import GeometryError
from continua.mesh.energy import Array, NativeEnergy
from continua.mesh.indices import vertex_indices


class Springs(NativeEnergy):
    """Energy c/2 (L - l)^2 of every spring (J15 section 3.1.1).

    nodes, dimension: number of nodes and 2 or 3.
    ends (K, 2): the two nodes of every spring.
    stiffness (K,) or one number [N/m]; length (K,) or one number [m]: rest lengths.

    A spring whose ends coincide exerts no force, unless its rest length is zero: there is no direction to push in.
    """

    def __init__(
        self, nodes: int, dimension: int, ends: ArrayLike, stiffness: ArrayLike, length: ArrayLike
    ) -> None:
        self.ends = vertex_indices(ends, 2, "ends")
        given = (("stiffness", stiffness), ("length", length))
        self.parameters = np.stack([_per_spring(values, len(self.ends), name) for name, values in given])
        try:
            kernel = _core.MeshSprings(nodes, dimension, self.ends, *self.parameters)
        except ValueError as error:
            raise GeometryError(f"springs: {error}") from None
        super().__init__(kernel, (nodes, dimension))


def _per_spring(values: ArrayLike, count: int, name: str) -> Array:
    given = np.asarray(values, np.float64)
    if given.shape not in ((), (count,)):
        raise GeometryError(f"{name}: expected one number per spring, ({count},), got shape {given.shape}")
    return np.array(np.broadcast_to(given, (count,)))
