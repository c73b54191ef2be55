"""The JSON Schema accepts what loads and rejects what does not, as judged by a small independent checker."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import pytest

from continua import gallery
from continua.scene import open_scene, scene_schema
from continua.scene.build import describe
from continua.scene.template import template
from continua.scene.toml import parse

TYPES: dict[str, Any] = {
    "object": dict,
    "array": (list, tuple),
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def accepts(schema: dict[str, Any], value: Any) -> bool:
    """Whether the value fits the schema, for the words of JSON Schema that ours uses."""
    if "$ref" in schema and not accepts(scene_schema()["$defs"][schema["$ref"].split("/")[-1]], value):
        return False
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return False
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        return False
    if "anyOf" in schema and not any(accepts(part, value) for part in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(accepts(part, value) for part in schema["oneOf"]) != 1:
        return False
    if isinstance(value, dict):
        return accepts_table(schema, value)
    if isinstance(value, (list, tuple)):
        return accepts_list(schema, value)
    return accepts_number(schema, value) if isinstance(value, (int, float)) else True


def accepts_table(schema: dict[str, Any], value: dict[str, Any]) -> bool:
    known = schema.get("properties", {})
    return (
        all(key in value for key in schema.get("required", []))
        and (schema.get("additionalProperties", True) or all(key in known for key in value))
        and all(accepts(known[key], item) for key, item in value.items() if key in known)
    )


def accepts_list(schema: dict[str, Any], value: Any) -> bool:
    fixed = schema.get("prefixItems", [])
    rest = schema.get("items", {})
    return (
        schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        and all(accepts(part, item) for part, item in zip(fixed, value, strict=False))
        and (rest is False or all(accepts(rest, item) for item in value[len(fixed) :]))
    )


def accepts_number(schema: dict[str, Any], value: float) -> bool:
    return (
        value >= schema.get("minimum", value)
        and value <= schema.get("maximum", value)
        and value > schema.get("exclusiveMinimum", -math.inf)
        and value < schema.get("exclusiveMaximum", math.inf)
    )


def test_schema_is_json() -> None:
    schema = json.loads(json.dumps(scene_schema()))
    assert schema["$schema"].endswith("2020-12/schema")
    assert set(schema["required"]) == {"simulation"}


def test_schema_accepts_the_template() -> None:
    assert accepts(scene_schema(), parse(template("demo")))


@pytest.mark.parametrize("name", gallery.names())
def test_schema_accepts_the_gallery(name: str) -> None:
    resolved = describe(open_scene(name))["scene"]
    assert resolved is None or accepts(scene_schema(), resolved)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("colider",), []),
        (("simulation", "dx"), "fine"),
        (("body", 0, "material", "young"), 1.0),
        (("body", 0, "material", "type"), "jam"),
        (("body", 0, "shape"), 3),
        (("collider", 0, "mode"), "glue"),
        (("run", "checkpoint_interval"), 0),
        (("render", "size"), [1, 2, 3]),
    ],
)
def test_schema_rejects_mistakes(path: tuple[str | int, ...], value: Any) -> None:
    data = copy.deepcopy(parse(template("demo")))
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not accepts(scene_schema(), data)


def test_every_key_has_a_description() -> None:
    schema = scene_schema()
    silent = [
        f"{name}.{key}"
        for name, table in {"Scene": schema, **schema["$defs"]}.items()
        for key, entry in table.get("properties", {}).items()
        if key != "type" and not entry.get("description")
    ]
    assert silent == []
