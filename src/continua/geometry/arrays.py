"""Field types that hold NumPy arrays inside pydantic dataclasses."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainSerializer, PlainValidator, WithJsonSchema


def _numbers(value: Any, expected: str) -> NDArray[np.float64]:
    """A copy of the value as an array of floats; texts, truth values and uneven rows are no numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(expected) from None
    if array.size and array.dtype.kind not in "iuf":
        raise ValueError(expected)
    return array.astype(np.float64)


def _rows_of_numbers(value: Any) -> NDArray[np.float64]:
    array = _numbers(value, "expected rows of numbers, all of the same length")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ValueError(f"expected an array of shape (N, 2) or (N, 3), not {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("all coordinates must be finite")
    return array


def _row_of_numbers(value: Any) -> NDArray[np.float64]:
    array = _numbers(value, "expected a list of numbers")
    if array.ndim != 1:
        raise ValueError(f"expected an array of shape (N,), not {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("all numbers must be finite")
    return array


def _rows_of_indices(value: Any) -> NDArray[np.int32]:
    array = np.asarray(value)
    if array.ndim != 2 or array.shape[1] != 3 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError("expected whole numbers in an array of shape (F, 3)")
    if array.size and (array.min() < 0 or array.max() > np.iinfo(np.int32).max):
        raise ValueError("vertex numbers start at 0")
    return array.astype(np.int32)


_to_list = PlainSerializer(lambda array: array.tolist(), when_used="json")


def _json_schema(items: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"type": "array", "items": items})


_NUMBER: dict[str, Any] = {"type": "number"}
_INDICES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0},
    "minItems": 3,
    "maxItems": 3,
}
_ROW: dict[str, Any] = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 3}

Numbers = Annotated[
    NDArray[np.float64], PlainValidator(_row_of_numbers), _to_list, _json_schema(_NUMBER)
]  # (N,)
Coordinates = Annotated[
    NDArray[np.float64], PlainValidator(_rows_of_numbers), _to_list, _json_schema(_ROW)
]  # (N, d)
Triangles = Annotated[
    NDArray[np.int32], PlainValidator(_rows_of_indices), _to_list, _json_schema(_INDICES)
]  # (F, 3)


def same_value(a: Any, b: Any) -> bool:
    """Equality that also works for arrays."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)
