"""Colliders of any shape in scene files: read, refused, overridden, kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import continua as ct
from continua.io import RunFolder
from continua.render.view import colliders_of
from continua.scene import Scene

SHAPE = """
[[collider]]
type = "shape"
name = "rock"
friction = 0.3
resolution = 32
shape = { type = "difference", shape = { type = "ellipsoid", center = [0.0, -0.3], radii = [0.4, 0.3] }, minus = [
  { type = "sphere", center = [0.2, 0.0], radius = 0.2 },
] }

[run]
"""


def test_a_shape_in_a_file_is_the_collider_of_python(load: Callable[..., Scene]) -> None:
    scene = load("[run]\n", SHAPE)
    rock = scene.collider[-1]
    hill = ct.shapes.Ellipsoid((0.0, -0.3), (0.4, 0.3)) - ct.shapes.Sphere((0.2, 0.0), 0.2)
    assert rock == ct.colliders.Shape(hill, friction=0.3, resolution=32, name="rock")
    assert Scene.model_validate(scene.model_dump(mode="json")) == scene
    sim = scene.build()
    assert sim.colliders[-1].signed_distance(np.array([[0.0, -0.3]]))[0][0] < 0


def test_overrides_reach_into_the_shape(load: Callable[..., Scene]) -> None:
    scene = load("[run]\n", SHAPE, ("collider.rock.shape.shape.radii=[0.5,0.2]", "collider.rock.friction=0"))
    assert scene.collider[-1].shape.shape.radii == (0.5, 0.2) and scene.collider[-1].friction == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("radii = [0.4, 0.3]", "radii = [0.4, 0.3, 0.1]", ["rock", "center and radii"]),
        ("center = [0.0, -0.3], radii = [0.4, 0.3]", "center = [0, 0, 0], radii = [1, 1, 1]", ["2D and 3D"]),
        ('shape = { type = "diff', 'shap = { type = "diff', ["unknown key collider[1].shap"]),
        ('type = "sphere"', 'type = "spere"', ["shape.minus[0].type", 'did you mean "sphere"?']),
        ("radius = 0.2", "radius = -0.2", ["shape.minus[0].radius", "> 0"]),
        ("resolution = 32", "resolution = 4", ["resolution", ">= 8"]),
        ("resolution = 32", "resolutoin = 32", ['did you mean "resolution"?']),
    ],
)
def test_mistakes_are_found(message: Callable[..., str], old: str, new: str, words: list[str]) -> None:
    text = message("[run]\n", SHAPE.replace(old, new))
    assert all(word in text for word in words), text


def test_a_run_keeps_the_shape_for_pictures(load: Callable[..., Scene], tmp_path: Path) -> None:
    load("[run]\n", SHAPE).build().run(frames=1, output=tmp_path / "run")
    kept = colliders_of(RunFolder(tmp_path / "run"))[-1]
    assert kept["type"] == "shape" and kept["shape"]["shape"]["radii"] == [0.4, 0.3]
