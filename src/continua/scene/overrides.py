"""Changes to a scene given on the command line: `--set body.ball.material.E=2e5`."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from typing import Any

from continua.errors import SceneError
from continua.scene import schema as lookup
from continua.scene.messages import Path, key_path, suggestion, unknown_key
from continua.scene.toml import TOMLError, parse

LISTS = (
    "body",
    "solid",
    "springs",
    "strands",
    "rigid",
    "continuum",
    "contact",
    "collider",
    "boundary",
    "emitter",
    "drain",
)
# Settings of explicit steps alone.
EXPLICIT_ONLY = ("elastic_cfl", "stress_transfer", "deformation")


def apply_overrides(data: dict[str, Any], overrides: Iterable[str]) -> tuple[dict[str, Any], dict[Path, str]]:
    """Copy of the scene data with every `key.path=value` applied in turn, and the paths they changed."""
    data = _copy(data)
    changed: dict[Path, str] = {}
    for text in overrides:
        label = " ".join(text.split())
        keys, value = split(text)
        for path in targets(keys, data, label):
            changed[assign(data, path, copy.deepcopy(value), label)] = label
    if any("integrator" in path for path in changed):
        _let_go_of_explicit_settings(data, changed)
    return data, changed


def _let_go_of_explicit_settings(data: dict[str, Any], changed: dict[Path, str]) -> None:
    """Another integrator takes along what the scene had set for the explicit one, unless that is asked for as well."""
    schemes = [lookup.child(data.get("simulation"), "integrator") or "symplectic"]
    schemes += [
        scheme for item in data.get("continuum") or () if (scheme := lookup.child(item, "integrator"))
    ]
    names = [scheme if isinstance(scheme, str) else lookup.child(scheme, "type") for scheme in schemes]
    if "symplectic" not in names and isinstance(data.get("simulation"), dict):
        for key in EXPLICIT_ONLY:
            if ("simulation", key) not in changed:
                data["simulation"].pop(key, None)


def split(text: str) -> tuple[list[str], Any]:
    """`"a.b=1e5"` -> `(["a", "b"], 100000.0)`; what is not a TOML value is taken as text."""
    name, equals, value = text.partition("=")
    text = " ".join(text.split())
    name = re.sub(r"\[(\d+)\]", r".\1", name.strip())
    if not equals or not name:
        raise SceneError(f"--set {text}: write it as key.path=value, for example --set body.material.E=1e5")
    try:
        nested: Any = parse(f"{name} = 0")
    except TOMLError:
        raise SceneError(f'--set {text}: "{name}" is not a key path such as body.material.E') from None
    keys = []
    while isinstance(nested, dict):
        key, *others = nested
        if others:
            raise SceneError(f"--set {text}: give one key path, and each change in a --set of its own")
        keys.append(key)
        nested = nested[key]
    return keys, parse_value(value.strip())


def parse_value(text: str) -> Any:
    """A TOML value, a number in another spelling (`.5`), `none`, or else the text itself."""
    try:
        found = parse(f"value = {text}\n")
        if list(found) == ["value"]:
            return found["value"]
    except TOMLError:
        pass
    try:
        return float(text)
    except ValueError:
        return None if text.lower() == "none" else text


def targets(keys: list[str], data: dict[str, Any], text: str) -> Iterator[Path]:
    """Concrete paths that an override addresses: `body.x` means x of every body."""
    keys = expand_shorthand(keys, data, text)
    if keys[0] not in LISTS or len(keys) == 1:
        yield tuple(keys)
        return
    kind, selector = keys[0], keys[1]
    items: Any = data.get(kind)
    count = len(items) if isinstance(items, list) else 0
    names = [_name(items[index], kind, index) for index in range(count)] if isinstance(items, list) else []
    if selector.isdigit():
        if int(selector) >= count:
            raise SceneError(f"--set {text}: there is no {kind}[{selector}], the scene has {count}")
        yield (kind, int(selector), *keys[2:])
    elif selector in names:
        yield (kind, names.index(selector), *keys[2:])
    elif count == 0:
        raise SceneError(f"--set {text}: the scene has no {kind}")
    elif any(selector in lookup.allowed_keys(lookup.at((kind, i), data), items[i]) for i in range(count)):
        for index in range(count):
            yield (kind, index, *keys[1:])
    else:
        known = [*names, *lookup.allowed_keys(lookup.at((kind, 0), data), items[0])]
        raise SceneError(
            f'--set {text}: "{selector}" is neither the name nor a key of a {kind}'
            f"{suggestion(selector, known)} (known: {', '.join(known)})"
        )


def expand_shorthand(keys: list[str], data: dict[str, Any], text: str) -> list[str]:
    """Settings of the simulation and the run may be given without their table: `dx=0.01`, `duration=2`."""
    tables = lookup.allowed_keys(lookup.at((), data), data)
    if keys[0] in tables:
        return keys
    known = list(tables)
    for table in ("simulation", "run"):
        names = lookup.allowed_keys(lookup.at((table,), data), data.get(table))
        if keys[0] in names:
            return [table, *keys]
        known += names
    raise SceneError(
        f'--set {text}: unknown setting "{keys[0]}"{suggestion(keys[0], known)} '
        f"(scene keys: {', '.join(tables)}; or a key of simulation or run)"
    )


def assign(data: dict[str, Any], path: Path, value: Any, text: str) -> Path:
    """Set the value at a path, making tables on the way where the scene may have them.

    Returns the path with numbers for the entries of lists.
    """
    place: Any = data
    here: Path = ()
    for depth, key in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(place, list):
            key = _index(key, place, here, data, text)
        elif not isinstance(place, dict):
            raise SceneError(f"--set {text}: {key_path(here, data)} is not a table and has no {key}")
        here = (*here, key)
        if isinstance(place, dict) and not lookup.at(here, data) and not (last and key == "type"):
            raise SceneError(f"--set {text}: {unknown_key(here, data)}")
        if last:
            place[key] = value
        elif isinstance(place, dict):
            _open_table(data, place, here, path[depth + 1])
        place = place[key]
    return here


def _open_table(data: dict[str, Any], table: dict[str, Any], here: Path, following: str | int) -> None:
    """Make room for `following` below `here`: an empty table, or a scheme that was only named (`transfer = "flip"`)."""
    key = str(here[-1])
    named = table.get(key)
    if named is None:
        table[key] = {}
    elif isinstance(named, str):
        table[key] = {"type": named}
        if not lookup.at((*here, following), data):
            table[key] = named


def _index(key: str | int, items: list[Any], place: Path, data: Any, text: str) -> int:
    if str(key).isdigit() and int(key) < len(items):
        return int(key)
    raise SceneError(
        f"--set {text}: {key_path(place, data)} is a list with {len(items)} entries, "
        f'so "{key}" must be a number below {len(items)}'
    )


def _name(item: Any, kind: str, index: int) -> str:
    name = lookup.child(item, "name")
    return name if isinstance(name, str) and name else f"{kind}{index + 1}"


def _copy(value: Any) -> Any:
    """Copy tables and lists; everything else (functions, Python materials) is shared."""
    if isinstance(value, dict):
        return {key: _copy(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copy(entry) for entry in value]
    return value
