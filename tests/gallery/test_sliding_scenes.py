"""Friction between continua decides what stays: sand on jelly, snow on a roof, yogurt on a cloth of its own."""

from __future__ import annotations

import runpy
from typing import Any

from continua import Simulation
from continua.scene import catalogue, load_scene


def ran(name: str, *changes: str) -> tuple[Simulation, dict[str, Any], dict[str, float]]:
    """The small version of a scene after its run, its module, and its first diagnostics."""
    content = runpy.run_path(str(catalogue.path(name)))
    scene = load_scene(name, [*content["SMALL"], *changes])
    sim = scene.build()
    start = sim.diagnostics()
    sim.run(frames=scene.run.frames, fps=scene.run.fps)
    return sim, content, start


def test_more_sand_stays_with_more_friction() -> None:
    """Friction 0, 0.3 and 1, and one continuum, where nothing slides at all."""
    left = []
    for changes in (
        ["contact.friction=0"],
        ["contact.friction=0.3"],
        ["contact.friction=1"],
        ["body.sand.continuum=main"],
    ):
        sim, content, _ = ran("sand-slides-on-jello", *changes)
        left.append(content["left_on_top"](sim))
    assert left[0] < 0.05
    assert left[0] + 0.1 < left[1] < left[2] - 0.1
    assert left[3] > left[1] + 0.1  # the wrong variant


def test_snow_stays_on_a_rough_roof() -> None:
    sim, content, start = ran("snow-off-roof", "contact.friction=1", "duration=0.5")
    assert content["check"](sim, start)["on_roof"] > 0.9


def test_yogurt_on_a_cloth_of_its_own() -> None:
    """The cloth carries the yogurt as before, and it is the yogurt that it pushes down."""
    sim, content, start = ran("yogurt-on-cloth", "springs.continuum=cloth")
    assert content["check"](sim, start)["cells_below"] < 1
    assert sim.contact_impulses["cloth_main"][1] < 0


def test_yogurt_does_not_stick_to_a_cloth_of_its_own() -> None:
    """Thrown sideways it slides on and over the edge; in one continuum it hangs on the cloth."""
    reached = [
        float(ran("yogurt-on-cloth", "body.velocity=[0.0, -1.0, 0.8]", *changes)[0].bodies[0].x[:, 2].mean())
        for changes in ((), ("springs.continuum=cloth",))
    ]
    assert reached[0] < 0.55 and reached[1] > reached[0] + 0.25
