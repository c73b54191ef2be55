"""What run.json must look like to be read: the kinds of its values, whatever has been done to the file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

_NUMBERS = ("dx", "fps", "duration", "frames", "start", "dimension")
_TEXTS = ("scene_file", "source", "name", "title", "status", "message", "version", "created")
_BODY_TEXTS = ("name", "cell", "material", "continuum")
_BODY_NUMBERS = ("particles", "cells")
_VECTORS = ("center", "size", "normal", "point", "half_size", "lower", "upper", "rotation")


def parsed(data: bytes) -> dict[str, Any]:
    """The description that run.json holds; a ValueError says what is wrong with it."""
    try:
        description = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(description, dict) or not _is_number(description.get("format")):
        raise ValueError("it is not the description of a run")
    if wrong := next(problems(description), None):
        raise ValueError(wrong)
    return description


def problems(about: Mapping[str, Any]) -> Iterator[str]:
    """What is not of its kind in a description; what is missing or null is not wrong."""
    yield from _wrong(about, _NUMBERS, _is_number, "a finite number")
    yield from _wrong(about, _TEXTS, lambda value: isinstance(value, str), "a text")
    yield from _wrong(
        about, ("bodies", "colliders", "changes"), lambda value: isinstance(value, list), "a list"
    )
    for kind in ("bodies", "colliders"):
        for number, one in enumerate(about.get(kind) or ()):
            if not isinstance(one, dict):
                yield f"{kind}[{number}] is not a table"
                return
            where = f"{kind}[{number}]."
            if kind == "bodies":
                yield from _wrong(one, _BODY_TEXTS, lambda value: isinstance(value, str), "a text", where)
                yield from _wrong(one, _BODY_NUMBERS, _is_number, "a finite number", where)
            else:
                yield from _wrong(one, _VECTORS, _are_numbers, "made of numbers", where)
                yield from _wrong(one, ("radius",), _is_number, "a finite number", where)


def _wrong(
    table: Mapping[str, Any], keys: tuple[str, ...], fits: Any, kind: str, where: str = ""
) -> Iterator[str]:
    for key in keys:
        if table.get(key) is not None and not fits(table[key]):
            yield f"{where}{key} is not {kind}"


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _are_numbers(value: Any) -> bool:
    """A number, or lists of numbers."""
    return all(map(_are_numbers, value)) if isinstance(value, list) else _is_number(value)
