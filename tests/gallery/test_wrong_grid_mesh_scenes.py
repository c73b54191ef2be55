"""The checks of scenes with meshes on the grid fail where the physics is wrong."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from typing import Any

import pytest

from continua.scene import Scene, catalogue, load_scene


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
    content: dict[str, Any] = runpy.run_path(str(catalogue.path(name)))
    scene = load_scene(name, content["SMALL"])
    spoil(scene)
    sim = scene.build()
    start = sim.diagnostics()
    sim.run(frames=scene.run.frames, fps=scene.run.fps)
    with pytest.raises(AssertionError, match=complaint):
        content["check"](sim, start)
