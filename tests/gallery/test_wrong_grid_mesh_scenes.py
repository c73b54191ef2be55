"""The checks of scenes with meshes on the grid fail where the physics is wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from wrong_scene import assert_check_fails

from continua.scene import Scene


def without_upright_plate(scene: Scene) -> None:
    del scene.collider[1]


def without_springs(scene: Scene) -> None:
    scene.springs[0].springs.stiffness = 1.0  # type: ignore[union-attr]


def without_bars(scene: Scene) -> None:
    scene.springs[0].scripted.clear()


WRONG: list[tuple[str, Callable[[Scene], None], str]] = [
    ("jello-plates", without_upright_plate, "not thrown back"),
    ("yogurt-on-cloth", without_springs, "sags|below"),
    ("yogurt-on-cloth", without_bars, "sags|below"),
]


@pytest.mark.parametrize(("name", "spoil", "complaint"), WRONG)
def test_a_wrong_world_is_noticed(name: str, spoil: Callable[[Scene], None], complaint: str) -> None:
    assert_check_fails(name, [], complaint, spoil)
