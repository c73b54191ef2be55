"""Small versions of gallery scenes in which something is wrong, so that their own check must fail."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Sequence

import pytest

from continua.scene import Scene, catalogue, load_scene


def assert_check_fails(
    name: str, changes: Sequence[str], complaint: str, spoil: Callable[[Scene], None] | None = None
) -> None:
    """With changed settings, or after `spoil` has changed the scene, the check of a scene must complain like this."""
    content = runpy.run_path(str(catalogue.path(name)))
    scene = load_scene(name, [*content["SMALL"], *changes])
    if spoil is not None:
        spoil(scene)
    sim = scene.build()
    start = sim.diagnostics()
    sim.run(frames=scene.run.frames, fps=scene.run.fps)
    with pytest.raises(AssertionError, match=complaint):
        content["check"](sim, start)
