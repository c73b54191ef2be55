"""Scenes that compare transfers tell the schemes apart, and their checks hold for every scheme."""

from __future__ import annotations

import runpy
from functools import cache
from typing import Any

import pytest

from continua.scene import catalogue, load_scene


@cache
def content(name: str) -> dict[str, Any]:
    return runpy.run_path(str(catalogue.path(name)))


@cache
def measured(name: str, *changes: str) -> dict[str, float]:
    """What the check of the small version finds."""
    scene = load_scene(name, [*content(name)["SMALL"], *changes])
    sim = scene.build()
    start = sim.diagnostics()
    sim.run(frames=scene.run.frames, fps=scene.run.fps)
    numbers: dict[str, float] = content(name)["check"](sim, start)
    return numbers


def polypic(modes: int) -> str:
    return f"transfer=polypic:{modes}"


def test_compressed_square_keeps_more_energy_with_more_modes() -> None:
    """The table in the docstring of the scene; its check compares each value."""
    schemes = ["transfer=pic", "transfer=flip:0.95", "transfer=apic", polypic(6), polypic(9)]
    kept = [measured("compressed-square", scheme)["energy_kept"] for scheme in schemes]
    assert kept == sorted(kept) and kept[0] < 0.01 and kept[-1] > 0.6
    assert abs(measured("compressed-square", polypic(4))["energy_kept"] - kept[2]) < 0.02
    assert measured("compressed-square", "transfer=rpic")["energy_kept"] < 0.01


def test_compressed_square_check_fails_for_another_time_step() -> None:
    """Five times more transfers lose more energy than the table says."""
    with pytest.raises(AssertionError, match="of the energy is left, not 0.532"):
        measured("compressed-square", "dt=2e-5")


def test_jelly_bounces_higher_with_more_modes() -> None:
    numbers = [
        measured("jello-drop", scheme) for scheme in ("transfer=apic", polypic(8), polypic(11), polypic(18))
    ]
    energies, heights = ([entry[key] for entry in numbers] for key in ("energy_kept", "height"))
    assert energies == sorted(energies)
    assert energies[2] > energies[1] + 0.1 > energies[0] + 0.1  # the squares make the difference
    assert heights[2] > heights[1] + 0.02 > heights[0] + 0.02 and abs(heights[3] - heights[2]) < 0.002


def test_jelly_that_flows_fails_the_check() -> None:
    dough = '{type="von-mises",E=2e4,density=1000.0,yield_stress=800.0}'
    with pytest.raises(AssertionError, match="of the energy is left"):
        measured("jello-drop", f"body.material={dough}", polypic(11))


@pytest.mark.parametrize("scheme", ["rpic", "apic", "polypic", '{type="apic",shear_damping=0.5}'])
def test_spinning_disc_keeps_turning(scheme: str) -> None:
    numbers = measured("spinning-disc", f"transfer={scheme}")
    assert abs(numbers["angular_change"]) < 1e-12 and numbers["energy_kept"] > 0.98


@pytest.mark.parametrize(
    ("scheme", "lost"), [("pic", 1.0), ("flip", 0.025), ('{type="apic",blend=0.95}', 0.59)]
)
def test_spinning_disc_slows_down(scheme: str, lost: float) -> None:
    """Schemes without the spin of particles, or with a damped one."""
    numbers = measured("spinning-disc", f"transfer={scheme}")
    assert numbers["angular_change"] == pytest.approx(-lost, abs=0.01)


def test_a_vortex_sheet_lives_longer_with_better_transfers() -> None:
    """The order of the table in the docstring of the scene; the check of the scene bounds each value."""
    schemes = ["pic", "rpic", "flip:0.95", "apic", "polypic"]
    kept = [measured("vortex-sheet", f"transfer={scheme}")["energy_kept"] for scheme in schemes]
    assert kept == sorted(kept) and kept[0] < 0.15 and kept[-1] - kept[-2] > 0.02
