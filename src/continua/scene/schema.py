"""JSON Schema of scene files, and look-ups in it for messages and overrides."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticOmit, core_schema

Schema = dict[str, Any]
Key = str | int


class _FileSchema(GenerateJsonSchema):
    """Leaves out what a file cannot hold: Python functions and user-written Python classes."""

    def handle_invalid_for_json_schema(
        self, schema: core_schema.CoreSchema, error_info: str
    ) -> JsonSchemaValue:
        raise PydanticOmit


@lru_cache(maxsize=1)
def scene_schema() -> Schema:
    """JSON Schema (draft 2020-12) of a TOML scene file."""
    from continua.scene.models import Scene

    schema = Scene.model_json_schema(schema_generator=_FileSchema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Continua scene",
        **{key: value for key, value in schema.items() if key != "title"},
    }


def resolve(schema: Schema) -> Schema:
    """Follow `$ref`; keys next to the reference (a description, say) win."""
    while "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**scene_schema()["$defs"][name], **beside}
    return schema


def choices(schema: Schema, value: Any = None) -> list[Schema]:
    """The plain schemas a union consists of; a `type` tag in `value` picks one."""
    schema = resolve(schema)
    for word in ("oneOf", "anyOf", "allOf"):
        if word in schema:
            parts = schema[word]
            mapping = schema.get("discriminator", {}).get("mapping", {})
            tag = value.get("type") if isinstance(value, dict) else None
            if isinstance(tag, str) and tag in mapping:
                parts = [{"$ref": mapping[tag]}]
            return [choice for part in parts for choice in choices(part, value)]
    return [schema]


def below(schemas: list[Schema], key: Key) -> list[Schema]:
    """Schemas of the entry `key` (a name, or an index of a list)."""
    found = []
    for schema in schemas:
        if isinstance(key, str) and key in schema.get("properties", {}):
            found.append(schema["properties"][key])
        elif isinstance(key, str) and isinstance(schema.get("additionalProperties"), dict):
            found.append(schema["additionalProperties"])
        elif isinstance(key, int) and schema.get("type") == "array":
            fixed = schema.get("prefixItems", [])
            if key < len(fixed):
                found.append(fixed[key])
            elif "items" in schema:
                found.append(schema["items"])
    return found


def at(path: tuple[Key, ...], data: Any) -> list[Schema]:
    """Schemas of the value at `path`; the `type` tags in `data`, the scene, pick the branches of unions."""
    schemas = [scene_schema()]
    for key in path:
        schemas = below([choice for schema in schemas for choice in choices(schema, data)], key)
        data = child(data, key)
    return schemas


def child(data: Any, key: Key) -> Any:
    """`data[key]`, or None where there is no such entry."""
    if isinstance(data, dict):
        return data.get(key)
    if isinstance(data, (list, tuple)) and isinstance(key, int) and -len(data) <= key < len(data):
        return data[key]
    return None


def allowed_keys(schemas: list[Schema], data: Any) -> list[str]:
    """Names a table may hold, in the order of the documentation."""
    names: dict[str, None] = {}
    for schema in schemas:
        for choice in choices(schema, data):
            names.update(dict.fromkeys(choice.get("properties", {})))
    return list(names)


def allowed_tags(schemas: list[Schema]) -> list[str]:
    """Values of `type` that a union accepts."""
    tags: dict[str, None] = {}
    for schema in schemas:
        for choice in choices(schema):
            tag = choice.get("properties", {}).get("type", {}).get("const")
            if tag is not None:
                tags[tag] = None
    return list(tags)


def meaning(schemas: list[Schema]) -> str:
    """Description (with unit) of a value, of a longer one the first paragraph; empty if there is none."""
    for schema in schemas:
        text = schema.get("description") or resolve(schema).get("description")
        if text:
            return " ".join(str(text).partition("\n\n")[0].split())
    return ""


def expected(schemas: list[Schema]) -> str:
    """Words for what is allowed, as 'a number > 0' or 'one of "separate", "slip"'."""
    phrases: dict[str, None] = {}
    tags = allowed_tags(schemas)
    for schema in schemas:
        for choice in choices(schema):
            if "const" not in choice.get("properties", {}).get("type", {}):
                phrases[_phrase(choice)] = None
    if tags:
        phrases["a table with type " + quoted(tags)] = None
    return " or ".join(phrase for phrase in phrases if phrase)


def quoted(words: list[str]) -> str:
    """`"a", "b" or "c"`."""
    items = [f'"{word}"' for word in words]
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " or " + items[-1] if items else "nothing"


def _phrase(schema: Schema) -> str:
    if "enum" in schema:
        return _literals(schema["enum"])
    if "const" in schema:
        return _literals([schema["const"]])
    kind = schema.get("type")
    if kind in ("number", "integer"):
        return ("a number" if kind == "number" else "a whole number") + _limits(schema)
    if kind == "array":
        return _list_phrase(schema)
    return {"string": "a text", "boolean": "true or false", "object": "a table"}.get(kind or "", "")


def _list_phrase(schema: Schema) -> str:
    """`a list of 2 to 3 numbers`."""
    words = {"number": "numbers", "integer": "whole numbers", "string": "texts", "array": "lists"}
    kinds = [choice.get("type", "") for choice in choices(schema["items"])] if schema.get("items") else []
    low, high = schema.get("minItems"), schema.get("maxItems")
    if high is None:
        count = f"{low} or more " if low else ""
    else:
        count = f"{low} " if low == high else f"{low or 0} to {high} "
    items = {words.get(kind, "tables" if kind == "object" else "values") for kind in kinds}
    return f"a list of {count}{' or '.join(sorted(items))}" if len(items) else "a list"


def _literals(values: list[Any]) -> str:
    if all(isinstance(value, str) for value in values):
        return quoted(values)
    return " or ".join(str(value) for value in values)


def _limits(schema: Schema) -> str:
    signs = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
    limits = [f"{sign} {schema[word]:g}" for word, sign in signs.items() if word in schema]
    return " " + " and ".join(limits) if limits else ""
