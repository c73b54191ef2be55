"""A number is a number: texts and truth values are refused wherever one is expected, and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import continua as ct
from continua.errors import ContinuaError
from continua.scene import Scene, load_scene
from continua.scene.template import template


def lax_numbers(schema: Any, seen: set[int], path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places in a schema where a number or truth value is made from something else."""
    if isinstance(schema, dict) and id(schema) not in seen:
        seen.add(id(schema))
        if schema.get("type") in ("float", "int", "bool") and not schema.get("strict"):
            yield path
        for key, value in schema.items():
            if key not in ("metadata", "serialization"):
                yield from lax_numbers(value, seen, (*path, key))
    elif isinstance(schema, (list, tuple)):
        for key, value in enumerate(schema):
            yield from lax_numbers(value, seen, (*path, key))


def test_every_number_of_a_scene_is_strict() -> None:
    assert not list(lax_numbers(Scene.__pydantic_core_schema__, set()))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("dx = 0.02", "dx = true", "simulation.dx is true, must be a number > 0"),
        ("dx = 0.02", 'dx = "0.05"', 'simulation.dx is "0.05", must be a number > 0'),
        ("gravity = [0.0, -9.81]", 'gravity = [0.0, "-9.81"]', 'simulation.gravity[1] is "-9.81"'),
        ("# dt = 1e-4", 'force_dt = "yes"', 'simulation.force_dt is "yes", must be true or false'),
        ("# dt = 1e-4", "seed = true", "simulation.seed is true, must be a whole number"),
        ("# particles_per_cell = 4", "particles_per_cell = true", "particles_per_cell"),
        ("# particles_per_cell = 4", 'particles_per_cell = "4"', "particles_per_cell"),
    ],
)
def test_a_text_or_a_truth_value_is_no_number(
    old: str, new: str, said: str, message: Callable[..., str]
) -> None:
    assert said in message(old, new)


def test_whole_numbers_may_be_written_as_floats(load: Callable[..., Scene]) -> None:
    scene = load("# particles_per_cell = 4", "particles_per_cell = 9.0", ("seed=3.0",))
    assert (scene.body[1].particles_per_cell, scene.simulation.seed) == (9, 3)


def test_overrides_still_read_numbers(load: Callable[..., Scene]) -> None:
    scene = load(overrides=("dx=.05", "duration=1e-3", "force_dt=true", "body.ball.particles_per_cell=9"))
    assert (scene.simulation.dx, scene.run.duration, scene.simulation.force_dt) == (0.05, 1e-3, True)


def test_a_text_or_a_truth_value_is_no_number_in_python() -> None:
    for make in (
        lambda: ct.shapes.Sphere((0, "0"), 0.5),
        lambda: ct.shapes.Sphere((0, 0), True),
        lambda: ct.shapes.Points([["0", "1"]]),
        lambda: ct.materials.Snow(E="1e5"),
        lambda: ct.materials.Snow(preserve_volume="no"),
        lambda: ct.colliders.Plane((0, 1), inverted=1),
        lambda: ct.boundaries.Periodic(axis=True, lower=0, upper=1),
    ):
        with pytest.raises(ContinuaError):
            make()


def test_numpy_numbers_are_numbers() -> None:
    assert ct.shapes.Sphere(np.zeros(2, np.float32), np.float32(0.5)).radius == 0.5
    assert ct.boundaries.Periodic(axis=np.int64(1), lower=np.float64(0), upper=np.int8(1)).axis == 1
    assert ct.colliders.Plane((0, 1), inverted=np.bool_(True)).inverted is True


def test_a_byte_order_mark_in_front_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "marked.toml"
    path.write_text("\ufeff" + template("marked"), encoding="utf-8")
    assert load_scene(path).simulation.dx == 0.02
