"""Scenes that compare transfers tell the schemes apart, and their checks hold for every scheme."""

from __future__ import annotations

from functools import cache

import pytest

from continua.gallery import run_scene
from continua.gallery._running import SceneReport


@cache
def measured(name: str, *changes: str) -> SceneReport:
    """The small version of a scene, run and checked."""
    return run_scene(name, small=True, overrides=changes)


def polypic(modes: int) -> str:
    return f"transfer=polypic:{modes}"


def test_compressed_square_keeps_more_energy_with_more_modes() -> None:
    """The table in the docstring of the scene; its check compares each value."""
    schemes = ["transfer=pic", "transfer=flip:0.95", "transfer=apic", polypic(6), polypic(9)]
    reports = [measured("compressed-square", scheme) for scheme in schemes]
    assert all(report.passed for report in reports)
    kept = [report["energy left"] for report in reports]
    assert kept == sorted(kept) and kept[0] < 0.01 and kept[-1] > 0.6
    assert abs(measured("compressed-square", polypic(4))["energy left"] - kept[2]) < 0.02
    assert measured("compressed-square", "transfer=rpic")["energy left"] < 0.01


def test_jelly_bounces_higher_with_more_modes() -> None:
    schemes = ("transfer=apic", polypic(8), polypic(11), polypic(18))
    reports = [measured("jello-drop", scheme) for scheme in schemes]
    assert all(report.passed for report in reports)
    energies, heights = (
        [report[key] for report in reports] for key in ("energy left", "height above the floor [m]")
    )
    assert energies == sorted(energies)
    assert energies[2] > energies[1] + 0.1 > energies[0] + 0.1  # the squares make the difference
    assert heights[2] > heights[1] + 0.02 > heights[0] + 0.02 and abs(heights[3] - heights[2]) < 0.002


@pytest.mark.parametrize("scheme", ["rpic", "apic", "polypic", '{type="apic",shear_damping=0.5}'])
def test_spinning_disc_keeps_turning(scheme: str) -> None:
    report = measured("spinning-disc", f"transfer={scheme}")
    assert (
        report.passed and abs(report["change of angular momentum"]) < 1e-12 and report["energy left"] > 0.98
    )


@pytest.mark.parametrize(
    ("scheme", "lost"), [("pic", 1.0), ("flip", 0.025), ('{type="apic",blend=0.95}', 0.59)]
)
def test_spinning_disc_slows_down(scheme: str, lost: float) -> None:
    """Schemes without the spin of particles, or with a damped one."""
    report = measured("spinning-disc", f"transfer={scheme}")
    assert report.passed and report["change of angular momentum"] == pytest.approx(-lost, abs=0.01)


def test_a_vortex_sheet_lives_longer_with_better_transfers() -> None:
    """The order of the table in the docstring of the scene; the check of the scene bounds each value."""
    schemes = ["pic", "rpic", "flip:0.95", "apic", "polypic"]
    reports = [measured("vortex-sheet", f"transfer={scheme}") for scheme in schemes]
    assert all(report.passed for report in reports)
    kept = [report["kinetic energy left"] for report in reports]
    assert kept == sorted(kept) and kept[0] < 0.15 and kept[-1] - kept[-2] > 0.02
