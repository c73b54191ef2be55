"""Every gallery scene documents itself, runs in its small version, and meets the numbers it promises."""

from __future__ import annotations

import ast
import math
import runpy
from typing import Any

import pytest

from continua.scene import catalogue, load_scene

NAMES = catalogue.names()


def module(name: str) -> dict[str, Any]:
    return runpy.run_path(str(catalogue.path(name)))


def test_the_gallery_is_complete() -> None:
    promised = {"bar", "incline", "jello-cubes", "sandcastle-wheel", "snowball", "snowball-wall", "snowballs"}
    granular = {
        "sand-column",
        "sand-hourglass",
        "sand-on-jello",
        "sand-on-jello-2d",
        "clay-press",
        "dam-break",
    }
    viscoelastic = {"sponge-twist", "sponge-shot", "shaving-foam", "toothpaste", "viennetta", "pie"}
    transfers = {"spinning-disc", "compressed-square", "jello-drop"}
    flow = {"vortex-sheet", "ink-drop", "dust-column", "water-dam", "water-dam-3d", "water-on-sphere"}
    meshes = {"cube-stretch", "cube-pulse", "cube-random", "cube-point", "ball-drop", "two-spheres"}
    contact = {"torus-ground", "torus-hole", "box-stack", "blob-between-cubes", "tori-bowl"}
    continua = {"sand-slides-on-jello", "snow-off-roof"}
    assert promised | granular | viscoelastic | transfers | flow | meshes | contact | continua <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_scene_documents_itself(name: str) -> None:
    """A docstring that says what to look at, a cost, a small version and a check."""
    tree = ast.parse(catalogue.path(name).read_text(encoding="utf-8"))
    text = ast.get_docstring(tree) or ""
    assert len(text.splitlines()[0]) < 100 and text.splitlines()[0].endswith(".")
    content = module(name)
    scene = content["scene"]
    unit = "particles" if scene.body or scene.emitter else "vertices"
    assert "What to look at" in text and unit in text and "steps" in text
    assert unit in content["COST"] and content["COST"] == catalogue.cost(name)
    assert isinstance(content["SMALL"], list) and all("=" in override for override in content["SMALL"])
    assert callable(content["check"]) and content["check"].__doc__


@pytest.mark.parametrize("name", NAMES)
def test_small_scene_meets_its_promise(name: str) -> None:
    """The small version runs through the same loop as `continua run`, and the scene's own check passes."""
    content = module(name)
    scene = load_scene(name, content["SMALL"])
    sim = scene.build()
    assert not sim.world.warnings
    start = sim.diagnostics()
    sim.run(frames=scene.run.frames, fps=scene.run.fps)
    assert sim.particles + sum(len(mesh) for mesh in sim.world.mesh_bodies) > 100  # emitters start empty
    assert sim.time == pytest.approx(scene.run.frames / scene.run.fps)
    numbers = content["check"](sim, start)
    assert numbers and all(math.isfinite(value) for value in numbers.values())
