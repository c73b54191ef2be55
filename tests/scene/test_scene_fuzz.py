"""Whatever stands in a scene file: it loads, or it ends in a SceneError of one line."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from continua.errors import SceneError
from continua.scene.load import from_source, validate
from continua.scene.overrides import apply_overrides
from continua.scene.template import template
from continua.scene.toml import parse

MESHES = """
[[solid]]
mesh = { type = "box-mesh", lower = [0, 0], upper = [1, 1], counts = [1, 2] }
material = { type = "neo-hookean" }
start = { type = "placed", matrix = [[1, 0], [0, 1]] }
vary = { E = { axis = 0, positions = [0, 1], values = [1, 2] } }
[[solid.scripted]]
vertices = { type = "sphere", center = [0, 0], radius = 1 }
motion = { type = "linear", velocity = [1, 0] }
[[springs]]
springs = { type = "chain", points = [[0, 0], [1, 0]] }
scripted = [{ vertices = [0], stop = 1 }]
mass = 1
"""
TEXT = template("demo") + MESHES
DATA = parse(TEXT)
FILE = Path("demo.toml")
QUICK = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**300, max_value=10**310),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["sphere", "box", "snow", "rigid", "mesh", "box-mesh", "points", "flip", "plane", "type"]
    ),
    st.datetimes(),
)
keys = st.sampled_from(
    ["type", "shape", "shapes", "center", "radius", "E", "name", "path", "minus", "x", "a\nb", ""]
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in entries:
        found += places(entry, (*path, key))
    return found


def complaint(call: Any, *arguments: Any) -> str:
    """What it says about a mistake; anything but a SceneError goes on up."""
    try:
        call(*arguments)
    except SceneError as error:
        return str(error)
    return "nothing to complain about"


def is_a_line(text: str) -> bool:
    return bool(text) and "\n" not in text


@QUICK
@given(
    st.lists(
        st.tuples(st.integers(0, len(TEXT)), st.integers(0, 12), st.text(max_size=6)), min_size=1, max_size=4
    )
)
def test_edited_text(edits: list[tuple[int, int, str]]) -> None:
    text = TEXT
    for start, length, new in edits:
        text = text[:start] + new + text[start + length :]
    assert is_a_line(complaint(from_source, text, FILE))


@QUICK
@given(st.permutations(TEXT.splitlines()), st.integers(1, 40))
def test_shuffled_lines(lines: list[str], count: int) -> None:
    assert is_a_line(complaint(from_source, "\n".join(lines[:count]), FILE))


@QUICK
@given(st.lists(st.tuples(st.sampled_from(places(DATA)), values), min_size=1, max_size=3))
def test_replaced_values(edits: list[tuple[tuple[Any, ...], Any]]) -> None:
    data = copy.deepcopy(DATA)
    for path, value in edits:
        place: Any = data
        for key in path[:-1]:
            inside = isinstance(place, dict) and key in place
            inside = inside or (isinstance(place, list) and isinstance(key, int) and key < len(place))
            place = place[key] if inside else {}
        if isinstance(place, dict):
            place[path[-1]] = value
    assert is_a_line(complaint(validate, data, "demo.toml"))


@QUICK
@given(
    st.lists(
        st.sampled_from(
            ["body", "ball", "solid", "scripted", "material", "E", "0", "shape", "dx", "run", "[1]", "x y"]
        ),
        max_size=5,
    ),
    st.text(max_size=10),
)
def test_overrides(path: list[str], value: str) -> None:
    def change(text: str) -> None:
        data, changed = apply_overrides(DATA, [text])
        validate(data, "demo.toml", changed)

    assert is_a_line(complaint(change, ".".join(path) + "=" + value))
