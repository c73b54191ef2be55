"""Continua and contacts in scene files: loading, building, overriding, running, resuming, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_scene_schema import accepts

import continua as ct
from continua.continuum import rules
from continua.errors import SceneError
from continua.io import RunFolder
from continua.scene import Scene, load_scene, open_scene, scene_schema
from continua.scene.build import describe, rebuild
from continua.scene.toml import parse

TEXT = """
[simulation]
dx = 0.05
gravity = [0.0, -9.81]

[[continuum]]
name = "sand"
transfer = "flip:0.9"

[[continuum]]
name = "net"

[[body]]
name = "block"
shape = { type = "box", center = [0.0, 0.2], size = [0.6, 0.4] }
material = { type = "fixed-corotated", E = 1e5, nu = 0.3, density = 1000 }

[[body]]
name = "heap"
shape = { type = "box", center = [0.0, 0.5], size = [0.4, 0.2] }
material = { type = "drucker-prager" }
velocity = [1.0, -1.0]
continuum = "sand"

[[springs]]
name = "chain"
springs = { type = "chain", points = [[-0.05, 0.8], [-0.02, 0.8], [0.02, 0.8], [0.05, 0.8]], stiffness = 500 }
density = 1.0
continuum = "net"

[[emitter]]
shape = { type = "box", center = [0.0, 1.2], size = [0.2, 0.1] }
material = { type = "drucker-prager" }
velocity = [0.0, -1.0]
continuum = "sand"

[[contact]]
a = "sand"
b = "main"
friction = 0.3

[[contact]]
a = "chain"
b = "sand"
slack = 0.0

[[contact]]
a = "floor"
b = "sand"
friction = 0.9

[[collider]]
name = "floor"
type = "plane"
normal = [0.0, 1.0]

[run]
duration = 0.1
"""

Load = Callable[..., Scene]


@pytest.fixture
def pile(tmp_path: Path) -> Load:
    """Load the scene with one piece of text replaced, and with overrides."""

    def call(old: str = "", new: str = "", overrides: tuple[str, ...] = ()) -> Scene:
        assert old in TEXT
        path = tmp_path / "pile.toml"
        path.write_text(TEXT.replace(old, new, 1) if old else TEXT)
        return load_scene(path, overrides)

    return call


def test_scene_and_python_are_the_same(pile: Load) -> None:
    world = pile().build().world
    assert list(world.continua) == ["sand", "net", "main"]
    assert [body.name for body in world.bodies_of("sand")] == ["heap", "emitter1"]
    assert [body.name for body in world.bodies_of("net")] == ["chain"]
    assert (
        world.transfer_of("sand") == ct.transfers.FLIP(0.9)
        and world.transfer_of("main") == ct.transfers.APIC()
    )
    pairs = {(pair.a, pair.b): (pair.friction, pair.slack) for pair in rules.pairs(world)}
    assert pairs == {("main", "net"): (0.0, 0.25), ("main", "sand"): (0.3, 0.25), ("net", "sand"): (0.0, 0.0)}
    assert rules.obstacle_friction(world, "sand") == {0: 0.9} and rules.obstacle_friction(world, "main") == {}


def test_overrides_reach_continua_and_contacts(pile: Load) -> None:
    scene = pile(overrides=("contact.friction=0.5", "contact[1].slack=0.1", "continuum.sand.transfer=pic"))
    assert [contact.friction for contact in scene.contact] == [0.5, 0.5, 0.5]
    assert scene.contact[1].slack == 0.1
    assert scene.continuum[0].transfer == ct.transfers.PIC()
    assert pile(overrides=("body.heap.continuum=main",)).body[1].continuum == "main"


def test_overrides_reach_those_of_python_scenes(tmp_path: Path) -> None:
    path = tmp_path / "pile.py"
    path.write_text(
        "from continua.scene import load_scene\n"
        f"import pathlib\nscene = load_scene(pathlib.Path({str(tmp_path / 'pile.toml')!r}))\n"
    )
    (tmp_path / "pile.toml").write_text(TEXT)
    scene = load_scene(path, ["contact.friction=0.7", "continuum.net.integrator=optimization"])
    assert scene.contact[0].friction == 0.7
    assert isinstance(scene.continuum[1].integrator, ct.integrators.Optimization)


def test_scene_survives_json_and_fits_the_schema(pile: Load, tmp_path: Path) -> None:
    scene = pile()
    stored = json.loads(json.dumps(describe(open_scene(tmp_path / "pile.toml"))))
    assert rebuild(stored, "run.json").scene == scene
    assert accepts(scene_schema(), parse(TEXT))
    wrong = parse(TEXT)
    wrong["contact"][0]["stickiness"] = 1
    assert not accepts(scene_schema(), wrong)


def test_run_keeps_continua_and_resumes(pile: Load, tmp_path: Path) -> None:
    """Frames and run.json know the continua, the diagnostics what they gave each other; a run goes on with its bits."""
    pile()
    loaded = open_scene(tmp_path / "pile.toml")
    one, two = loaded.scene.build(), loaded.scene.build()
    one.run(frames=2, fps=20, output=tmp_path / "one", description=describe(loaded))
    two.run(frames=1, fps=20, output=tmp_path / "two", checkpoint_interval=1)
    again = loaded.scene.build()
    again.run(frames=2, fps=20, output=tmp_path / "two", resume=True)
    np.testing.assert_array_equal(one.bodies[1].x, again.bodies[1].x)
    assert {key: tuple(v) for key, v in one.contact_impulses.items()} == {
        key: tuple(v) for key, v in again.contact_impulses.items()
    }
    run = RunFolder(tmp_path / "one")
    assert [body["continuum"] for body in run.description["bodies"]] == ["main", "sand", "net", "sand"]
    assert [body.continuum for body in run.read_frame(2).bodies] == ["main", "sand", "net", "sand"]
    assert run.diagnostics()["contact_main_sand_y"][-1] < 0


def test_summary_tells_continua_and_pairs(pile: Load) -> None:
    summary = pile().build().summary()
    assert [(one.name, one.bodies, one.transfer) for one in summary.continua] == [
        ("sand", ["heap", "emitter1"], "flip"),
        ("net", ["chain"], "apic"),
        ("main", ["block"], "apic"),
    ]
    assert [(pair.a, pair.b, pair.friction) for pair in summary.pairs] == [
        ("main", "net", 0.0),
        ("main", "sand", 0.3),
        ("net", "sand", 0.0),
    ]


MISTAKES = {
    "unknown continuum": (
        'velocity = [1.0, -1.0]\ncontinuum = "sand"',
        'velocity = [1.0, -1.0]\ncontinuum = "snad"',
        [
            'body[1].continuum (body "heap") is "snad"',
            'did you mean "sand"?',
            "sand, net, main",
            "[[continuum]]",
        ],
    ),
    "unknown continuum of springs": (
        'density = 1.0\ncontinuum = "net"',
        'density = 1.0\ncontinuum = "nett"',
        ['springs[0].continuum (springs "chain") is "nett"', 'did you mean "net"?'],
    ),
    "a continuum twice": (
        'name = "net"',
        'name = "sand"',
        ['continuum[1].name repeats "sand"', "continuum[0]"],
    ),
    "unknown thing in a contact": (
        'a = "sand"\nb = "main"',
        'a = "sand"\nb = "blok"',
        ['contact[0].b is "blok"', 'did you mean "block"?', "known: sand, net, main", "floor"],
    ),
    "a contact with itself": (
        'a = "sand"\nb = "main"',
        'a = "sand"\nb = "sand"',
        ["contact[0]", "two different things"],
    ),
    "a contact inside a continuum": (
        'a = "chain"\nb = "sand"',
        'a = "chain"\nb = "net"',
        ['contact[1].b is "net"', 'together with "chain"', "another continuum"],
    ),
    "a body that is not alone": (
        'a = "sand"\nb = "main"',
        'a = "heap"\nb = "main"',
        ['contact[0].a is "heap"', 'shares the continuum "sand" with "emitter1"'],
    ),
    "a pair twice": (
        'a = "chain"\nb = "sand"',
        'a = "main"\nb = "sand"',
        ['contact[1] is between "main" and "sand"', "contact[0]"],
    ),
    "negative friction": ("friction = 0.3", "friction = -0.3", ["contact[0].friction", "is -0.3", ">= 0"]),
    "a key it does not have": ("slack = 0.0", "slak = 0.0", ["contact[1].slak", 'did you mean "slack"?']),
    "an incompressible one beside another": (
        'transfer = "flip:0.9"',
        'integrator = "incompressible"',
        ["continuum[0].integrator", "staggered grid", "one continuum"],
    ),
    "an incompressible world": (
        "dx = 0.05",
        'dx = 0.05\nintegrator = "incompressible"',
        ["simulation.integrator", "staggered grid"],
    ),
    "a fluid without its integrator": (
        'material = { type = "drucker-prager" }\nvelocity = [1.0',
        'material = { type = "incompressible-fluid" }\nvelocity = [1.0',
        ['body[1].material (body "heap")', 'integrator = "incompressible"'],
    ),
    "a mesh off the grid of an explicit continuum": (
        "density = 1.0\n",
        "density = 1.0\non_grid = false\n",
        ['springs[0].on_grid (springs "chain") is false', '"optimization"'],
    ),
}


@pytest.mark.parametrize(("old", "new", "parts"), MISTAKES.values(), ids=MISTAKES.keys())
def test_message_tells_where_what_and_how(pile: Load, old: str, new: str, parts: list[str]) -> None:
    with pytest.raises(SceneError) as caught:
        pile(old, new)
    text = str(caught.value)
    assert text.startswith("pile.toml: ") and "\n" not in text
    for part in parts:
        assert part in text


def test_continua_may_be_named_without_declaring_any(pile: Load) -> None:
    text = TEXT.replace('[[continuum]]\nname = "sand"\ntransfer = "flip:0.9"\n', "").replace(
        '[[continuum]]\nname = "net"\n', ""
    )
    scene = Scene.model_validate(parse(text))
    assert set(scene.build().world.continua) == {"main", "sand", "net"}
