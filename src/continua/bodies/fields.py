"""Passive fields: numbers such as dye that particles carry along and that act on nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from continua._model import FUNCTION_NAME, Finite
from continua.bodies.variation import FieldFunction, Gradient, field_values
from continua.errors import SetupError
from continua.materials.base import Material

Array = NDArray[np.float64]
Fields = Mapping[str, FieldFunction | ArrayLike]

# What scenes accept for the value of a passive field: like `FieldLike` of what varies, and also one number for all.
PassiveLike = Annotated[
    Finite | Gradient | SkipJsonSchema[Annotated[FieldFunction, FUNCTION_NAME]],
    Field(union_mode="left_to_right"),
]

# Names of what every particle has, and words that pictures may be coloured by.
RESERVED = ("id", "x", "v", "J", "volume", "mass", "speed", "body", "material")


def mistake(name: Any, value: Any, material: Material, dimension: int) -> str | None:
    """What is wrong with a passive field, as the rest of a sentence that the field begins; None if nothing is."""
    if not (isinstance(name, str) and name.isascii() and name.isidentifier()):
        return 'must have a name of letters, digits and "_" that does not begin with a digit, such as "dye"'
    if name in RESERVED or name in material.states:
        return f'has a name that particles of {material.label} use for something else; choose another, such as "dye"'
    if isinstance(value, Gradient) and value.axis >= dimension:
        return f"follows axis {value.axis}, but a {dimension}D world has only the axes 0 and 1"
    return None


class PassiveFields:
    """The passive fields of a body: names, and the value of each particle given where it starts.

    A value is a number for all particles, a function of their positions, x (N, d) [m] -> (N,), or an array (N,) in
    the order of the particles.
    """

    def __init__(self, fields: Any, material: Material, dimension: int) -> None:
        given = {} if fields is None else fields
        if not isinstance(given, Mapping):
            raise SetupError('fields must be a dict such as {"dye": 1.0}')
        for name, value in given.items():
            if wrong := mistake(name, value, material, dimension):
                raise SetupError(f"the field {name!r} {wrong}")
        self.given: Fields = dict(given)

    def __len__(self) -> int:
        return len(self.given)

    @property
    def names(self) -> list[str]:
        """In the order of the rows of `at`."""
        return list(self.given)

    def at(self, x: Array) -> Array:
        """Values (fields, N) of particles that start at x (N, d) [m]."""
        rows = np.empty((len(self), len(x)))
        for row, (name, given) in zip(rows, self.given.items(), strict=True):
            what = f'the {"function" if callable(given) else "value"} of the field "{name}"'
            row[:] = field_values(given, x, what, SetupError, uniform=True)
            if not np.isfinite(row).all():
                raise SetupError(f"{what} must give finite numbers")
        return rows
