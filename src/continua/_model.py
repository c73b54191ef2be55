"""Shared pydantic settings and field types of all domain objects (shapes, materials, colliders, ...)."""

from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainSerializer

CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def as_plain(value: Any) -> Any:
    """Accept NumPy arrays and scalars wherever numbers or lists are expected."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def as_whole(value: Any) -> Any:
    """As `as_plain`; a float that is a whole number counts as one."""
    value = as_plain(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _vector_length(value: tuple[float, ...]) -> tuple[float, ...]:
    if len(value) not in (2, 3):
        raise ValueError(f"expected 2 or 3 numbers, got {len(value)}")
    return value


# Strict: neither a text such as "0.05" nor true is a number, and no text or number is true or false. Limits stand
# before PLAIN or WHOLE, so that the JSON Schema has them.
PLAIN, WHOLE = BeforeValidator(as_plain), BeforeValidator(as_whole)
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False), PLAIN]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0), PLAIN]
NonNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0), PLAIN]
Fraction = Annotated[float, Field(strict=True, ge=0, le=1), PLAIN]
Whole = Annotated[int, Field(strict=True), WHOLE]
Axis = Annotated[int, Field(strict=True, ge=0, le=2), WHOLE]
Count = Annotated[int, Field(strict=True, ge=1), WHOLE]
Seed = Annotated[int, Field(strict=True, ge=0), WHOLE]
Flag = Annotated[bool, Field(strict=True), PLAIN]
Numbers = Annotated[tuple[Finite, ...], PLAIN]
Vector = Annotated[tuple[Finite, ...], PLAIN, AfterValidator(_vector_length)]

# In JSON a Python function is only a name, from which nothing can be built again.
FUNCTION_NAME = PlainSerializer(lambda f: f"<python function {getattr(f, '__name__', '')}>", when_used="json")
