"""Overrides: `--set key.path=value` changes what it names, and nothing it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from continua.errors import SceneError
from continua.scene import Scene, load_scene
from continua.scene.overrides import apply_overrides, parse_value


def test_key_of_all_bodies(load: Callable[..., Scene]) -> None:
    scene = load(overrides=("body.material.E=2e4",))
    assert [body.material.E for body in scene.body] == [2e4, 2e4]


@pytest.mark.parametrize("selector", ["body.ball", "body.1", "body[1]", 'body."ball"'])
def test_key_of_one_body(selector: str, load: Callable[..., Scene]) -> None:
    scene = load(overrides=(f"{selector}.material.E=2e4",))
    assert [body.material.E for body in scene.body] == [5e4, 2e4]


def test_unnamed_bodies_answer_to_their_default_name(load: Callable[..., Scene]) -> None:
    scene = load('name = "ball"', "", overrides=("body.body2.material.E=2e4",))
    assert [body.material.E for body in scene.body] == [5e4, 2e4]


def test_settings_need_no_table(load: Callable[..., Scene]) -> None:
    scene = load(overrides=("dx=0.01", "precision=single", "duration=0.5", "simulation.seed=7"))
    assert scene.simulation.dx == 0.01
    assert scene.simulation.precision == "single"
    assert scene.simulation.seed == 7
    assert scene.run.duration == 0.5


def test_entry_of_a_vector_whole_table_and_unset(load: Callable[..., Scene]) -> None:
    overrides = (
        "simulation.gravity.1=-1.6",
        "body.ball.material={type='fixed-corotated', E=7}",
        "dt=1e-4",
        "dt=none",
    )
    scene = load(overrides=overrides)
    assert scene.simulation.gravity == (0.0, -1.6)
    assert scene.body[1].material.E == 7
    assert scene.simulation.dt is None


def test_table_that_the_file_left_out(load: Callable[..., Scene]) -> None:
    overrides = ("render.camera.position=[1, 2, 3]", "render.camera.target=[0, 0, 0]", "render.size=[64, 48]")
    render = load_scene("snowball", overrides).render
    assert render.camera is not None and render.camera.position == (1.0, 2.0, 3.0)
    assert load(overrides=("render.limits=[0, 5]",)).render.limits == (0.0, 5.0)


def test_later_override_wins_and_the_file_stays(load: Callable[..., Scene]) -> None:
    assert load(overrides=("dx=0.01", "dx=0.04")).simulation.dx == 0.04
    assert load().simulation.dx == 0.02


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e5", 1e5),
        ("3", 3),
        (".5", 0.5),
        ("true", True),
        ("[0, -1.5]", [0, -1.5]),
        ('"a b"', "a b"),
        ("sticky", "sticky"),
        ("None", None),
        ("1\nx = 2", "1\nx = 2"),
        ("", ""),
    ],
)
def test_values_are_toml_or_text(text: str, value: object) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("body.materal.E=3", ['"materal" is neither', 'did you mean "material"?', "jelly"]),
        ("body.bal.velocity=[1,2]", ['did you mean "ball"?']),
        ("body.ball.material.Young=3", ["unknown key body[1].material.Young", "density"]),
        ("body.7.material.E=1", ["there is no body[7], the scene has 2"]),
        ("collider.ground.fricton=1", ['did you mean "friction"?']),
        ("simulation.gravity.7=1", ["a list with 2 entries"]),
        ("simulation.dx.y=1", ["simulation.dx is not a table"]),
        ("dxx=1", ['unknown setting "dxx"', 'did you mean "dx"?']),
        ("emitter.start=1", ["the scene has no emitter"]),
        ("dx", ["key.path=value"]),
        ("=3", ["key.path=value"]),
        ("a..b=3", ["not a key path"]),
    ],
)
def test_wrong_paths_are_explained(override: str, expected: list[str], message: Callable[..., str]) -> None:
    text = message(overrides=(override,))
    assert text.startswith(f"--set {override}: ")
    for part in expected:
        assert part in text, text


def test_wrong_values_name_the_override(message: Callable[..., str]) -> None:
    text = message(overrides=("body.ball.material.E=soft",))
    assert 'body[1].material.E (body "ball") is "soft"' in text
    assert text.endswith("(set by --set body.ball.material.E=soft)")


def test_a_scheme_that_is_only_named_can_be_refined() -> None:
    data = {
        "simulation": {"dx": 0.1, "precision": "double", "integrator": "incompressible", "transfer": "flip"}
    }
    changed, _ = apply_overrides(data, ["integrator.volume_control=0", "transfer.fraction=0.9"])
    assert changed["simulation"]["integrator"] == {"type": "incompressible", "volume_control": 0}
    assert changed["simulation"]["transfer"] == {"type": "flip", "fraction": 0.9}
    with pytest.raises(SceneError, match="volume_controll"):
        apply_overrides(data, ["integrator.volume_controll=0"])
    with pytest.raises(SceneError, match="not a table"):
        apply_overrides(data, ["simulation.precision.x=0"])
