"""The checks of the gallery can tell right from wrong: scenes with one wrong setting fail their own check."""

from __future__ import annotations

import pytest
from wrong_scene import assert_check_fails

DOUGH = '{type = "von-mises", E = 2e4, density = 1000.0, yield_stress = 800.0}'
WRONG = [
    ("clay-press", ["body.material.yield_stress=6e4"], "N s/m"),
    ("dam-break", ["body.material.viscosity=10.0"], "front"),
    ("ink-drop", ["integrator.tolerance=10.0"], "not 2/3"),
    ("sand-column", ["body.material.friction_angle=63.4", "collider.floor.friction=2.0"], "runs out"),
    (
        "sand-hourglass",
        ["body.material.friction_angle=1.0", "collider.friction=0.0", "duration=1.6"],
        "kg/s after",
    ),
    ("sand-slides-on-jello", ["body.sand.continuum=main"], "left on the jelly"),
    ("snow-off-roof", ["body.snow.continuum=main"], "still on the roof"),
    ("sand-on-jello-2d", [f"body.material={DOUGH}"], "comes back"),
    ("vortex-sheet", ["body.material.viscosity=5.0"], "kinetic energy is left"),
    ("water-dam", ["body.material.viscosity=10.0"], "front"),
    ("water-dam", ["integrator.volume_control=0"], "of their volume"),
]


@pytest.mark.parametrize(("name", "changes", "complaint"), WRONG)
def test_a_wrong_setting_fails_the_check(name: str, changes: list[str], complaint: str) -> None:
    """Clay twice as strong, water like honey, flow with divergence, sand with friction 2 or none, dough for jelly,
    water that may be squeezed, sand and snow that stick to what they lie on."""
    assert_check_fails(name, changes, complaint)
