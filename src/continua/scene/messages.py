"""Turn pydantic's error lists into one sentence: where, what was found, what is allowed."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from continua.errors import SceneError
from continua.scene import schema as lookup
from continua.scene.schema import Key

Path = tuple[Key, ...]


UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


@dataclass(frozen=True)
class Problem:
    """One validation error, its place expressed as keys of the scene file."""

    path: Path
    kind: str
    message: str
    value: Any
    limits: str = ""

    @property
    def rank(self) -> tuple[bool, bool]:
        """Order of telling: misspelt keys and tags explain most of the others."""
        return self.kind not in (*UNKNOWN, "union_tag_invalid"), self.kind.startswith("missing")

    @property
    def wrong_type(self) -> bool:
        """The value is of another kind altogether, so this branch of a union was probably not meant."""
        if self.kind == "literal_error":
            return not isinstance(self.value, str)
        return self.kind.endswith("_type") or self.kind == "is_instance_of"


def scene_error(
    error: ValidationError, data: Any, where: str, overrides: dict[Path, str] | None = None
) -> SceneError:
    """SceneError for the most telling problem; `overrides` maps the paths set by --set to their text."""
    problems = collect(error, data)
    first = min(problems, key=lambda item: item.rank)
    text = f"{where}: {sentence(first, data)}"
    for path, override in (overrides or {}).items():
        if first.path[: len(path)] == path:
            text += f" (set by --set {override})"
    others = len({item.path for item in problems}) - 1
    if others > 0:
        text += f"; {others} more problem{'s' if others > 1 else ''} after this one"
    return SceneError(text)


def collect(error: ValidationError, data: Any) -> list[Problem]:
    """Problems of a scene; of the branches of a union only the one that fits the input best is kept."""
    problems = [_problem(dict(entry), data) for entry in error.errors(include_url=False)]

    def outdone(item: Problem) -> bool:
        return item.wrong_type and any(
            other.path[: len(item.path)] == item.path and (other.path != item.path or not other.wrong_type)
            for other in problems
        )

    return [item for item in problems if not outdone(item)]


def _problem(entry: dict[str, Any], data: Any) -> Problem:
    kind, context = entry["type"], entry.get("ctx", {})
    path = context["path"] if kind == "scene_rule" else file_path(entry["loc"], data, kind)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        path = (*path, "type")
    signs = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    limits = "".join(f" {sign} {context[word]:g}" for word, sign in signs.items() if word in context)
    message = entry["msg"].removeprefix("Value error, ")
    return Problem(path, kind, message, value_at(path, data), limits)


def file_path(location: Iterable[Key], data: Any, kind: str) -> Path:
    """Drop the names of union branches from a pydantic location, so that only keys of the file remain."""
    path: list[Key] = []
    keys = list(location)
    tagged = False  # the branch of this table has been named; the same word once more is a key, as in a shape's shape
    for position, key in enumerate(keys):
        last = position == len(keys) - 1
        branch = isinstance(data, dict) and key == data.get("type") and not last and not tagged
        if isinstance(key, int):
            known = isinstance(data, (list, tuple))
        elif isinstance(data, dict):
            known = (key in data and not branch) or (last and kind.startswith("missing"))
        else:
            known = False
        tagged = branch
        if known:
            path.append(key)
            data = lookup.child(data, key)
    return tuple(path)


def value_at(path: Iterable[Key], data: Any) -> Any:
    """Value at a path of the scene data, None where there is nothing."""
    for key in path:
        data = lookup.child(data, key)
    return data


def sentence(problem: Problem, data: Any) -> str:
    """`body[0].shape.radius (body "ball") is -1, must be a number > 0 (radius [m])`."""
    place = key_path(problem.path, data)
    if problem.kind == "scene_rule":
        return f"{place or 'the scene'} {problem.message}"
    schemas = lookup.at(problem.path, data)
    about = lookup.meaning(schemas)
    about = f" ({about})" if about else ""
    if problem.kind in UNKNOWN:
        return unknown_key(problem.path, data)
    if problem.kind == "union_tag_invalid":
        tags = lookup.allowed_tags(lookup.at(problem.path[:-1], data))
        hint = suggestion(problem.value, tags)
        return f"{place} is {shown(problem.value)}{hint} (allowed: {lookup.quoted(tags)})"
    if problem.kind == "union_tag_not_found":
        tags = lookup.allowed_tags(lookup.at(problem.path[:-1], data))
        return f"{place} is missing: give {lookup.quoted(tags)}"
    if problem.kind.startswith("missing"):
        return f"{place} is missing: give {lookup.expected(schemas) or 'a value'}{about}"
    hint = suggestion(problem.value, literals(schemas))
    if problem.kind in ("value_error", "assertion_error"):
        found = "" if isinstance(problem.value, dict) else f" is {shown(problem.value)}"
        return f"{place or 'the scene'}{found}: {problem.message}{hint}"
    allowed = lookup.expected(schemas) or problem.message.removeprefix("Input should be ")
    if problem.limits and problem.limits not in allowed:
        allowed += problem.limits
    return f"{place} is {shown(problem.value)}, must be {allowed}{about}{hint}"


def unknown_key(path: Path, data: Any) -> str:
    """Sentence about a key that its table does not have."""
    table = value_at(path[:-1], data)
    allowed = lookup.allowed_keys(lookup.at(path[:-1], data), table)
    hint = suggestion(path[-1], allowed)
    return f"unknown key {key_path(path, data)}{hint} (allowed: {', '.join(allowed)})"


def key_path(path: Path, data: Any) -> str:
    """`body[0].material.E (body "ball")`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += ("." if text else "") + (key if re.fullmatch(r"[\w-]+", key) else json.dumps(key))
    if len(path) > 1 and isinstance(path[1], int) and path[2:] != ("name",):
        name = lookup.child(value_at(path[:2], data), "name")
        if isinstance(name, str) and name:
            text += f" ({path[0]} {shown(name)})"
    return text


def literals(schemas: list[lookup.Schema]) -> list[str]:
    """Words allowed where a word is expected."""
    words = []
    for schema in schemas:
        for choice in lookup.choices(schema):
            words += [word for word in choice.get("enum", [choice.get("const")]) if isinstance(word, str)]
    return words


def suggestion(word: Any, allowed: Iterable[str]) -> str:
    """`; did you mean "friction"?`, or nothing."""
    names = list(allowed)
    folded = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(str(word).lower(), list(folded), n=1, cutoff=0.6)
    return f'; did you mean "{folded[close[0]]}"?' if close and isinstance(word, str) else ""


def shown(value: Any, limit: int = 60) -> str:
    """Short TOML-like text of a value."""
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, dict):
        text = "a table"
    elif value is None:
        text = "empty"
    elif isinstance(value, (list, tuple)) and any(isinstance(item, dict) for item in value):
        text = "a list of tables"
    elif isinstance(value, (list, tuple)):
        text = "[" + ", ".join(shown(item) for item in value[:6]) + (", ..." if len(value) > 6 else "") + "]"
    elif isinstance(value, (int, float)):
        text = number(value)
    else:
        text = str(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def number(value: int | float) -> str:
    """Digits of a number, kept short even for absurdly long integers."""
    return f"{value}" if isinstance(value, float) or value.bit_length() < 200 else "a huge number"
