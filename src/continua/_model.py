"""Shared pydantic settings and field types of all domain objects (shapes, materials, colliders, ...)."""

from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainSerializer

CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def as_plain(value: Any) -> Any:
    """Accept NumPy arrays and scalars wherever numbers or lists are expected."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _vector_length(value: tuple[float, ...]) -> tuple[float, ...]:
    if len(value) not in (2, 3):
        raise ValueError(f"expected 2 or 3 numbers, got {len(value)}")
    return value


Finite = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(as_plain)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(as_plain)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False), BeforeValidator(as_plain)]
Numbers = Annotated[tuple[Finite, ...], BeforeValidator(as_plain)]
Vector = Annotated[tuple[Finite, ...], BeforeValidator(as_plain), AfterValidator(_vector_length)]

# In JSON a Python function is only a name, from which nothing can be built again.
FUNCTION_NAME = PlainSerializer(lambda f: f"<python function {getattr(f, '__name__', '')}>", when_used="json")
