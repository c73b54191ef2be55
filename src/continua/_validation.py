"""Turn pydantic's multi-line reports into one sentence of the right error class.

A domain object built from Python raises its own `ContinuaError`; the same object read inside a scene file
still raises pydantic's `ValidationError`, which knows the place in the file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import inspect
import math
import numbers
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from continua.errors import ContinuaError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def raises(error: type[ContinuaError]) -> Callable[[type[T]], type[T]]:
    """Class decorator, above `@dataclass`: wrong constructor arguments raise `error` with one sentence."""

    def decorate(cls: type[T]) -> type[T]:
        original: Callable[..., None] = cls.__init__

        @functools.wraps(original)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            try:
                original(self, *args, **kwargs)
            except ValidationError as report:
                raise error(f"{cls.__name__}: {sentence(report, cls)}") from None

        cls.__init__ = init  # type: ignore[method-assign]
        return cls

    return decorate


def known_keywords(what: str, error: type[ContinuaError]) -> Callable[[F], F]:
    """Decorator: keyword arguments that a function `what` does not have raise `error`, with similar names."""

    def decorate(function: F) -> F:
        names = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for name in kwargs.keys() - set(names):
                similar = difflib.get_close_matches(name, names, 1)
                meant = f"did you mean {similar[0]}?" if similar else "leave it out"
                raise error(f"{what} has no argument called {name}; {meant}")
            return function(*args, **kwargs)

        return cast(F, call)

    return decorate


def real_array(value: Any) -> NDArray[np.float64]:
    """A copy of numbers in double precision; a TypeError where they are texts, truth values, complex or nothing."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{array.dtype} is no kind of number")
    return array.astype(np.float64)


def finite_number(name: str, value: Any, error: type[ContinuaError]) -> float:
    """An argument that must be a finite number: neither a text nor a truth value is one."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):  # whole numbers have no end
            if math.isfinite(number := float(value)):
                return number
    raise error(f"{name} must be a finite number, not {shown(value)}")


def positive_number(name: str, value: Any, error: type[ContinuaError]) -> float:
    """An argument that must be a finite number above 0."""
    number = finite_number(name, value, error)
    if not number > 0:
        raise error(f"{name} must be a positive number, not {shown(value)}")
    return number


def whole_number(name: str, value: Any, error: type[ContinuaError], *, least: int = 0) -> int:
    """An argument that must be a whole number of at least `least`."""
    number = finite_number(name, value, error)
    if not number.is_integer() or number < least:
        raise error(f"{name} must be a whole number of at least {least}, not {shown(value)}")
    return int(value)


def numbers_of_shape(
    name: str, value: Any, shape: tuple[int, ...], error: type[ContinuaError]
) -> NDArray[np.float64]:
    """An argument that must be an array of numbers of that shape, or one that can be repeated to it."""
    try:
        array = real_array(value)
    except (TypeError, ValueError):
        raise error(f"{name} must be an array of numbers of shape {shape}, not {shown(value)}") from None
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise error(f"{name} must have the shape {shape}, not {array.shape}") from None


def flag(name: str, value: Any, error: type[ContinuaError]) -> bool:
    """An argument that must be True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise error(f"{name} must be True or False, not {shown(value)}")


def shown(value: Any) -> str:
    """A value as a sentence shows it: its text if that is short, else its type."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"this {type(value).__name__}"


def sentence(report: ValidationError, cls: type | None = None) -> str:
    """First problem of a report as one sentence; `cls` gives names to positional arguments."""
    problems = report.errors(include_url=False)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return _describe(problems[0], cls) + more


def _describe(problem: ErrorDetails, cls: type | None) -> str:
    where = _place(problem["loc"], cls)
    kind, message, value = problem["type"], problem["msg"], problem["input"]
    if kind in ("missing", "missing_argument"):
        return f"{where} is missing"
    if kind in ("unexpected_keyword_argument", "extra_forbidden", "no_such_attribute"):
        return f"there is no argument called {where}"
    if kind == "unexpected_positional_argument":
        return "too many arguments"
    if kind in ("model_attributes_type", "dataclass_type", "union_tag_not_found"):
        message = "expected an object of this library"
    if kind == "value_error":
        text = message.removeprefix("Value error, ")
        return f"{where}: {text}" if where else text
    text = message[0].lower() + message[1:]
    return f"{where}: {text}, got {shown(value)}"


def _place(location: tuple[int | str, ...], cls: type | None) -> str:
    """`radius` or `center[1]` from a pydantic location, where positional arguments arrive as numbers."""
    names: list[str] = []
    if cls is not None and dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(cls)]
    place = ""
    for depth, part in enumerate(location):
        if depth == 0 and isinstance(part, int) and part < len(names):
            place = names[part]
        elif isinstance(part, int):
            place += f"[{part}]"
        else:
            place += f".{part}" if place else part
    return place
