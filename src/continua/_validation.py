"""Turn pydantic's multi-line reports into one sentence of the right error class.

A domain object built from Python raises its own `ContinuaError`; the same object read inside a scene file
still raises pydantic's `ValidationError`, which knows the place in the file.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable
from math import isfinite
from numbers import Real
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from continua.errors import ContinuaError, SetupError

T = TypeVar("T")


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


def positive(what: str, value: Any) -> float:
    """An argument that must be a positive, finite number."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else 0.0
    if not (isfinite(number) and number > 0):
        raise SetupError(f"{what} must be a positive number, not {value!r}")
    return number


def count(what: str, value: Any) -> int:
    """An argument that must be a whole number of at least 1."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise SetupError(f"{what} must be a whole number of at least 1, not {value!r}")
    return number


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
    shown = repr(value)
    return f"{where}: {text}, got {shown if len(shown) <= 60 else type(value).__name__}"


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
