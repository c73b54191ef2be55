"""Messages: each names the file, the key, what was found and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from continua.errors import SceneError
from continua.scene import load_scene

MISTAKES = {
    "unknown key": (
        "friction = 0.4",
        "fricton = 0.4",
        ['unknown key collider[0].fricton (collider "ground")', 'did you mean "friction"?', "mode, friction"],
    ),
    "unknown key in a union": ("linear =", "linar =", ["body[0].velocity.linar", 'did you mean "linear"?']),
    "unknown table": (
        "[simulation]",
        "[simulatoin]",
        ["simulatoin", 'did you mean "simulation"?', "collider"],
    ),
    "unknown type": (
        '"snow"',
        '"snwo"',
        ['body[1].material.type (body "ball") is "snwo"', 'did you mean "snow"?', '"fixed-corotated"'],
    ),
    "unknown type in a union": ('"rigid"', '"rigd"', ["body[0].velocity.type", 'did you mean "rigid"?']),
    "missing type": ('type = "plane"\n', "", ["collider[0].type", "is missing", '"plane"']),
    "missing key": (", radius = 0.1", "", ["body[1].shape.radius", "is missing", "a number", "[m]"]),
    "number out of range": ("E = 5e4", "E = -5", ['body[0].material.E (body "jelly") is -5', "> 0", "[Pa]"]),
    "text for a number": ("E = 5e4", 'E = "stiff"', ['is "stiff"', "must be a number", "[Pa]"]),
    "not a number": ("dx = 0.02", "dx = nan", ["simulation.dx is nan", "must be"]),
    "fraction for a whole number": (
        "# particles_per_cell = 4",
        "particles_per_cell = 2.5",
        ["body[1].particles_per_cell", "is 2.5", "a whole number >= 1"],
    ),
    "word not in the list": (
        '"separate"',
        '"seperate"',
        ['collider[0].mode (collider "ground") is "seperate"', '"slip"', 'did you mean "separate"?'],
    ),
    "vector too short": ("[0.0, -2.0]", "[0.0]", ["body[1].velocity", "is [0.0]", "2 or 3 numbers"]),
    "vector with a word": ("[0.0, -2.0]", '[0.0, "x"]', ["body[1].velocity[1]", 'is "x"', "a number"]),
    "no vector at all": ("[0.0, -2.0]", '"fast"', ['is "fast"', "a list", '"rigid"', '"affine"']),
    "3D vector in a 2D scene": ("[0.0, -2.0]", "[0.0, -2.0, 0.0]", ["body[1].velocity", "is 3D", "scene 2D"]),
    "two keys that do not fit": (
        "point = [0.0, 0.0]",
        "point = [0, 0, 0]",
        ['collider[0] (collider "ground"): normal'],
    ),
    "3D motion in a 2D scene": (
        "point = [0.0, 0.0]",
        "motion = { type = 'linear', velocity = [1, 0, 0] }",
        ["collider[0].motion.velocity", "is 3D", "scene 2D"],
    ),
    "wrong number in a motion": (
        "point = [0.0, 0.0]",
        "motion = { type = 'spin', rate = 'fast', center = [0, 0] }",
        ['collider[0].motion.rate (collider "ground") is "fast"', "must be a number", "[rad/s]"],
    ),
    "camera in a 2D scene": (
        "# size = ",
        "camera = { position = [0, 1], target = [0, 0], up = [0, 1] } #",
        ["render.camera is for 3D scenes"],
    ),
    "picture too small": ("# size = [1280, 720]", "size = [1280, 7]", ["render.size[1] is 7", ">= 16"]),
    "hiding what is not there": (
        "# size = ",
        'hide = ["bal"] #',
        ['render.hide[0] is "bal"', 'did you mean "ball"?'],
    ),
    "repeated name": ('name = "ball"', 'name = "jelly"', ['body[1].name repeats "jelly"', "body[0]"]),
    "value instead of a table": ('{ type = "snow" }', "3", ["body[1].material", "is 3", "a table", '"snow"']),
    "list instead of a table": ("[run]", "[[run]]", ["run is a list of tables", "a table"]),
    "option of a transfer": (
        "# transfer = ",
        "transfer = { type = 'flip', rato = 1 } #",
        ["simulation.transfer.rato"],
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_message_tells_where_what_and_how(case: str, message: Callable[..., str]) -> None:
    old, new, expected = MISTAKES[case]
    text = message(old, new)
    assert text.startswith("demo.toml: ")
    for part in expected:
        assert part in text, text


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("dx = 0.02 ", "dx = = ", ", line 10, column 6: "),
        ("[simulation]", "[simulation", ", line 9, column 12: "),
        ("duration = 1.5", "duration = 1.5.5", ", line "),
    ],
)
def test_syntax_errors_name_line_and_column(
    old: str, new: str, place: str, message: Callable[..., str]
) -> None:
    text = message(old, new)
    assert text.startswith(f"demo.toml{place}")
    assert ", column " in text


def test_two_mistakes_are_counted(message: Callable[..., str]) -> None:
    assert "1 more problem" in message("E = 5e4, nu = 0.3", "E = -1, nu = 3")


def test_scene_without_material(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text("[simulation]\ndx = 0.1\n")
    with pytest.raises(
        SceneError, match=r"nothing to simulate: add at least one \[\[body\]\], \[\[solid\]\]"
    ):
        load_scene(path)


def test_scene_without_settings(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text("title = 'x'\n")
    with pytest.raises(SceneError, match="empty.toml: simulation is missing: give a table"):
        load_scene(path)


def test_table_given_twice(message: Callable[..., str]) -> None:
    assert "declare simulation twice" in message("[run]", "[simulation]")


PYTHON_MISTAKES = {
    "syntax": ("x = (\n", ", line 1: "),
    "name": ("\n\nx = y\n", ", line 3: NameError"),
    "exit": ("raise SystemExit(1)\n", ", line 1: SystemExit"),
    "no scene": ("x = 3\n", "define scene"),
    "other scene": ("scene = 3\n", "scene is 3"),
    "argument": ("from continua.geometry.shapes import Sphere\nSphere((0, 0), -1)\n", ", line 2: Sphere: "),
    "scene": ("from continua.scene import Scene\nscene = Scene(simulation={'dx': -1})\n", "-1"),
    "rule": (
        "from continua.scene import Scene\nscene = Scene(simulation={'dx': 1})\n",
        "nothing to simulate",
    ),
    "unknown": ("from continua.scene import Scene\nscene = Scene(simulaton={'dx': 1})\n", "simulaton"),
}


@pytest.mark.parametrize("case", PYTHON_MISTAKES)
def test_python_scenes_name_their_line(case: str, tmp_path: Path) -> None:
    text, expected = PYTHON_MISTAKES[case]
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(SceneError) as caught:
        load_scene(path)
    found = str(caught.value)
    assert found.startswith("mine.py") and expected in found and "\n" not in found, found


def test_unknown_gallery_name_is_corrected() -> None:
    with pytest.raises(SceneError, match='no gallery scene "snowbal"; did you mean "snowball"?'):
        load_scene("snowbal")


def test_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "avalanche.toml").write_text("")
    with pytest.raises(SceneError, match='did you mean ".*avalanche.toml"'):
        load_scene(tmp_path / "avalance.toml")


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"\x00", b"a = " + b"[" * 100_000, b"a" + b".a" * 3_000 + b" = 1"]
)
def test_files_that_are_not_scenes(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "noise.toml"
    path.write_bytes(content)
    with pytest.raises(SceneError, match=r"noise\.toml"):
        load_scene(path)


def test_folder_and_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"give a \.toml or \.py file"):
        load_scene(tmp_path)
