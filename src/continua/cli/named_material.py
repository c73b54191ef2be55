"""Materials by name: `snow`, `snow.dry-sand`, `FILE.py:ClassName`, and `--set` changes to them."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from continua.errors import MaterialError, SceneError
from continua.materials import NamedMaterial, NativeMaterial, PythonMaterial
from continua.scene.load import _executing as executing
from continua.scene.load import read
from continua.scene.messages import suggestion
from continua.scene.overrides import split

AnyDriven = NativeMaterial | PythonMaterial


def classes() -> dict[str, type[NativeMaterial]]:
    """Built-in materials that have stress at a point, by the name that scene files use."""
    union = get_args(NamedMaterial)[0]
    return {kind.type: kind for kind in get_args(union) if issubclass(kind, NativeMaterial)}


def presets(kind: type) -> dict[str, Any]:
    """Class methods without arguments that make a material, by their names with hyphens."""
    found = {}
    for name, member in vars(kind).items():
        if isinstance(member, classmethod) and not name.startswith("_"):
            bound = getattr(kind, name)
            needed = [p for p in inspect.signature(bound).parameters.values() if p.default is p.empty]
            if not needed:
                found[name.replace("_", "-")] = bound
    return found


def find(name: str) -> AnyDriven:
    """Material of a name; an unknown one is an error that suggests a known one."""
    if ".py:" in name or name.endswith(".py"):
        return from_file(name)
    kind, _, preset = name.partition(".")
    known = classes()
    if kind not in known:
        raise MaterialError(
            f'there is no material "{kind}"{suggestion(kind, known)} '
            f"(known: {', '.join(known)}; or FILE.py:ClassName)"
        )
    if not preset:
        return known[kind]()
    choices = presets(known[kind])
    chosen = preset.replace("_", "-")
    if chosen not in choices:
        offer = f"(known: {', '.join(f'{kind}.{name}' for name in choices)})" if choices else "(it has none)"
        raise MaterialError(f'{kind} has no preset "{preset}"{suggestion(chosen, choices)} {offer}')
    return choices[chosen]()


def from_file(name: str) -> PythonMaterial:
    """Material made by the class `ClassName` of a Python file, which is run."""
    file, _, class_name = name.rpartition(":")
    if not file or not class_name:
        raise MaterialError(f"{name}: write FILE.py:ClassName for a material of your own")
    path = Path(file)
    module = types.ModuleType(f"continua_material_{path.stem}")
    module.__file__ = str(path)
    source = read(path)
    with executing(module, path):
        exec(compile(source, str(path), "exec"), module.__dict__)
        kind = getattr(module, class_name, None)
        if not (isinstance(kind, type) and issubclass(kind, PythonMaterial)):
            defined = [
                n for n, v in vars(module).items() if isinstance(v, type) and v.__module__ == module.__name__
            ]
            raise MaterialError(
                f"there is no material class {class_name}{suggestion(class_name, defined)}; "
                "it must derive from PythonMaterial"
            )
        return kind()


def changed(materials: Sequence[AnyDriven], names: Sequence[str], settings: Sequence[str]) -> list[AnyDriven]:
    """Materials with every `KEY=VALUE` applied to those that have the key.

    `NAME.KEY=VALUE` and `NUMBER.KEY=VALUE` (counted from 0) mean one material only.
    """
    result = list(materials)
    for text in settings:
        *selector, key = (keys := split(text)[0])
        value = split(text)[1]
        chosen = _selected(names, ".".join(selector), text) if len(keys) > 1 else range(len(result))
        having = [index for index in chosen if key in parameters(result[index])]
        if not having:
            allowed = list(dict.fromkeys(name for index in chosen for name in parameters(result[index])))
            raise MaterialError(
                f'--set {text}: {" and ".join(names[index] for index in chosen)} has no parameter "{key}"'
                f"{suggestion(key, allowed)} (allowed: {', '.join(allowed)})"
            )
        for index in having:
            result[index] = _with(result[index], key, value, text)
    return result


def parameters(material: AnyDriven) -> dict[str, Any]:
    """What can be set on a material, with its present value."""
    if dataclasses.is_dataclass(material):
        names = [field.name for field in dataclasses.fields(material) if field.name != "type"]
    else:
        names = [
            name
            for kind in type(material).__mro__
            for name, value in vars(kind).items()
            if isinstance(value, (int, float)) and not name.startswith("_")
        ]
    return {name: getattr(material, name) for name in dict.fromkeys(names)}


def _with(material: AnyDriven, key: str, value: Any, text: str) -> AnyDriven:
    if dataclasses.is_dataclass(material):
        try:
            made: AnyDriven = type(material)(**{**parameters(material), key: value})
            return made
        except MaterialError as error:
            raise MaterialError(f"--set {text}: {error}") from None
    if not isinstance(value, (int, float)):
        raise MaterialError(f"--set {text}: {key} must be a number")
    setattr(material, key, value)
    return material


def _selected(names: Sequence[str], selector: str, text: str) -> list[int]:
    if selector.isdigit() and int(selector) < len(names):
        return [int(selector)]
    found = [
        index for index, name in enumerate(names) if name.replace("_", "-") == selector.replace("_", "-")
    ]
    if not found:
        raise SceneError(
            f'--set {text}: "{selector}" is no material of this test{suggestion(selector, names)} '
            f"(there are: {', '.join(names)})"
        )
    return found
