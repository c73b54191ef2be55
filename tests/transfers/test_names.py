"""A transfer is named the same way everywhere: "apic", or with its first parameter, "flip:0.95"."""

from __future__ import annotations

from pathlib import Path

import pytest

import continua as ct
from continua.errors import ContinuaError, SceneError, SetupError
from continua.scene import load_scene
from continua.transfers import APIC, FLIP, PIC, RPIC, PolyPIC, Transfer

NAMES: list[tuple[str, Transfer]] = [
    ("pic", PIC()),
    ("rpic", RPIC()),
    ("flip", FLIP(1.0)),
    ("FLIP:0.95", FLIP(0.95)),
    ("apic:0.9", APIC(blend=0.9)),
    ("polypic", PolyPIC()),
    ("polypic:6", PolyPIC(modes=6)),
    ("polypic: 4", PolyPIC(modes=4)),
]
WRONG = {
    "apci": "use one of pic, flip",
    "flop:0.9": 'unknown transfer "flop:0.9"',
    "pic:3": 'pic has no number; write "pic"',
    "rpic:0.5": 'rpic has no number; write "rpic"',
    "flip:": '"" is no number for flip; write it like flip:0.95',
    "flip:lots": '"lots" is no number for flip',
    "flip:1.5": "fraction: input should be less than or equal to 1",
    "flip:nan": "fraction",
    "polypic:6.5": '"6.5" is no number for polypic',
    "polypic:50": "use 1 to 9",
    "polypic:0": "use 1 to 9",
}
SCENE = """
[simulation]
dx = 0.05
gravity = [0.0, 0.0]
transfer = "apic"
[[body]]
shape = { type = "sphere", center = [0.0, 0.0], radius = 0.2 }
material = { type = "fixed-corotated", E = 1e4 }
"""


@pytest.fixture
def disc(tmp_path: Path) -> Path:
    path = tmp_path / "disc.toml"
    path.write_text(SCENE)
    return path


@pytest.mark.parametrize(("name", "scheme"), NAMES)
def test_names_mean_the_same_everywhere(name: str, scheme: Transfer, disc: Path) -> None:
    """In Python, on the command line, in a scene file."""
    assert ct.Simulation(0.1, (0.0, 0.0), transfer=name).world.transfer == scheme
    assert load_scene(disc, [f"simulation.transfer={name}"]).simulation.transfer == scheme
    disc.write_text(SCENE.replace('"apic"', f'"{name}"'))
    assert load_scene(disc).simulation.transfer == scheme


@pytest.mark.parametrize("name", WRONG)
def test_wrong_names_are_told_in_one_sentence(name: str, disc: Path) -> None:
    with pytest.raises(SetupError) as found:
        ct.Simulation(0.1, (0.0, 0.0), transfer=name)
    assert WRONG[name] in str(found.value) and "\n" not in str(found.value)
    with pytest.raises(ContinuaError) as found:
        load_scene(disc, [f"transfer={name}"]).build()
    assert WRONG[name] in str(found.value) and "\n" not in str(found.value)


def test_the_place_of_a_wrong_name_is_told(disc: Path) -> None:
    with pytest.raises(SceneError, match=r'simulation.transfer is "flip:2".*set by --set transfer=flip:2'):
        load_scene(disc, ["transfer=flip:2"])
