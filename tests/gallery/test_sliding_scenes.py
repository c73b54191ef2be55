"""Friction between continua decides what stays: sand on jelly, snow on a roof, yogurt on a cloth of its own."""

from __future__ import annotations

from continua.gallery import run_scene


def test_more_sand_stays_with_more_friction() -> None:
    """Friction 0, 0.3 and 1, and one continuum, where nothing slides at all."""
    left = []
    for changes in (
        ["contact.friction=0"],
        ["contact.friction=0.3"],
        ["contact.friction=1"],
        ["body.sand.continuum=main"],
    ):
        report = run_scene("sand-slides-on-jello", small=True, overrides=changes)
        left.append(report["part of the sand left on the jelly"])
    assert left[0] < 0.05
    assert left[0] + 0.1 < left[1] < left[2] - 0.1
    assert left[3] > left[1] + 0.1  # the wrong variant


def test_snow_stays_on_a_rough_roof() -> None:
    assert run_scene("snow-off-roof", small=True, overrides=["contact.friction=1", "duration=0.5"]).passed


def test_yogurt_on_a_cloth_of_its_own() -> None:
    """The cloth carries the yogurt as before, and it is the yogurt that it pushes down."""
    report = run_scene("yogurt-on-cloth", small=True, overrides=["springs.continuum=cloth"])
    assert report.passed and report["lowest yogurt below the cloth [cells]"] < 1
    assert report.run is not None and report.run.sim.contact_impulses["cloth_main"][1] < 0


def test_yogurt_does_not_stick_to_a_cloth_of_its_own() -> None:
    """Thrown sideways it slides on and over the edge; in one continuum it hangs on the cloth."""
    reached = []
    for changes in ((), ("springs.continuum=cloth",)):
        report = run_scene(
            "yogurt-on-cloth", small=True, overrides=["body.velocity=[0.0, -1.0, 0.8]", *changes]
        )
        assert report.run is not None
        reached.append(float(report.run.sim.bodies[0].x[:, 2].mean()))
    assert reached[0] < 0.55 and reached[1] > reached[0] + 0.25
