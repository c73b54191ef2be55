"""Passive fields and drains in scene files: loading, building, running, overriding, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_scene_schema import accepts

import continua as ct
from continua.errors import SceneError
from continua.io import RunFolder
from continua.scene import Scene, load_scene, open_scene, scene_schema
from continua.scene.build import describe, rebuild
from continua.scene.toml import parse

TEXT = """
[simulation]
dx = 0.05
gravity = [0.0, -9.81]

[[body]]
name = "pool"
shape = { type = "box", center = [0.0, 0.1], size = [1.0, 0.2] }
material = { type = "snow" }

[body.fields]
dye = { axis = 0, positions = [-0.5, 0.5], values = [0.0, 1.0] }
heat = 300

[[emitter]]
shape = { type = "box", center = [0.0, 0.5], size = [0.2, 0.1] }
material = { type = "snow" }
velocity = [0.0, -20.0]
fields = { dye = 2.0 }

[[drain]]
shape = { type = "box", center = [0.0, -0.28], size = [2.0, 0.6] }

[[drain]]
name = "corner"
shape = { type = "sphere", center = [0.5, 0.1], radius = 0.1 }
body = "pool"
start = 0.001
stop = 0.01

[render]
color_by = "dye"
"""


@pytest.fixture
def pool(tmp_path: Path) -> Callable[..., Scene]:
    """Load the scene with one piece of text replaced, and with overrides."""

    def call(old: str = "", new: str = "", overrides: tuple[str, ...] = ()) -> Scene:
        assert old in TEXT
        path = tmp_path / "pool.toml"
        path.write_text(TEXT.replace(old, new, 1) if old else TEXT)
        return load_scene(path, overrides)

    return call


def test_scene_carries_dye_and_drains(pool: Callable[..., Scene], tmp_path: Path) -> None:
    sim = pool().build()
    body, stream = sim.bodies
    np.testing.assert_allclose(body.state["dye"], body.x[:, 0] + 0.5, atol=1e-15)
    assert (body.state["heat"] == 300).all() and [drain.name for drain in sim.world.drains] == [
        "drain1",
        "corner",
    ]
    sim.run(frames=4, fps=200, output=tmp_path / "out")
    assert len(stream) > 0 and (stream.state["dye"] == 2).all()
    assert sim.drained["corner"] > 0 and sim.drained["drain1"] > 0
    assert RunFolder(tmp_path / "out").diagnostics()["drained"][-1] == sum(sim.drained.values())


def test_scene_survives_json(pool: Callable[..., Scene], tmp_path: Path) -> None:
    scene = pool()
    record = json.loads(json.dumps(describe(open_scene(tmp_path / "pool.toml"))))
    assert rebuild(record, "run.json").scene == scene
    assert record["scene"]["body"][0]["fields"]["heat"] == 300 and record["scene"]["drain"][1]["stop"] == 0.01
    assert accepts(scene_schema(), record["scene"]) and accepts(scene_schema(), parse(TEXT))


def test_functions_need_the_source(pool: Callable[..., Scene]) -> None:
    scene = pool()
    scene.body[0].fields["dye"] = lambda x: x[:, 1]
    again = Scene.model_validate({name: getattr(scene, name) for name in type(scene).model_fields})
    (body, _) = again.build().bodies
    assert np.array_equal(body.state["dye"], body.x[:, 1])
    from continua.scene.build import resolved

    assert resolved(again) is None


def test_overrides_reach_fields_and_drains(pool: Callable[..., Scene]) -> None:
    scene = pool(overrides=("body.pool.fields.heat=7", "drain.corner.stop=0.5", "emitter.fields.dye=3"))
    assert (scene.body[0].fields["heat"], scene.drain[1].stop) == (7.0, 0.5)
    assert scene.emitter[0].fields == {"dye": 3.0}
    dye = pool(overrides=("body.fields.dye.values=[2, 3]",)).body[0].fields["dye"]
    assert dye == ct.Gradient(0, (-0.5, 0.5), (2, 3))


MISTAKES: dict[str, tuple[str, str, list[str]]] = {
    "reserved": ("heat = 300", "mass = 1", ['body[0].fields.mass (body "pool") has a name', "snow"]),
    "history": ("heat = 300", "Jp = 1", ["body[0].fields.Jp", "has a name that particles of snow use"]),
    "no identifier": ("heat = 300", '"my heat" = 1', ['body[0].fields."my heat"', "must have a name of letters"]),
    "text": ("heat = 300", 'heat = "hot"', ["body[0].fields.heat", '"hot"', "must be a number"]),
    "not finite": ("heat = 300", "heat = inf", ["body[0].fields.heat"]),
    "axis": ("axis = 0", "axis = 2", ["body[0].fields.dye", "follows axis 2", "2D"]),
    "field of an emitter": ("{ dye = 2.0 }", "{ volume = 2.0 }", ["emitter[0]", "'volume' has a name"]),
    "unknown body": ('body = "pool"', 'body = "pol"', ["drain[1].body", '"pol"', 'did you mean "pool"?', "emitter1"]),
    "3D drain": ("[0.5, 0.1], radius", "[0.5, 0.1, 0], radius", ["drain[1].shape", "is 3D"]),
    "name": ('name = "corner"', 'name = "pool"', ["drain[1].name", 'repeats "pool"']),
    "times": ("stop = 0.01", "stop = 0.0005", ["drain[1]", "stop must be later than start"]),
    "unknown key": ("start = 0.001", "begin = 1", ["unknown key drain[1].begin"]),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_name_the_key(pool: Callable[..., Scene], mistake: str) -> None:
    old, new, words = MISTAKES[mistake]
    with pytest.raises(SceneError) as caught:
        pool(old, new)
    text = str(caught.value)
    assert text.startswith("pool.toml: ") and "\n" not in text
    assert [word for word in words if word not in text] == [], text
