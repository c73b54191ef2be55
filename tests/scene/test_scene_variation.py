"""Material that varies within a body, in scene files: loading, building, overriding, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_scene_schema import accepts

import continua as ct
from continua.errors import SceneError
from continua.materials import Snow
from continua.scene import Region, Scene, load_scene, open_scene, scene_schema
from continua.scene.build import describe, rebuild
from continua.scene.toml import parse

TEXT = """
[simulation]
dx = 0.05
gravity = [0.0, -9.81]

[[body]]
name = "slab"
shape = { type = "box", center = [0.0, 0.5], size = [1.0, 0.2] }
material = { type = "snow", E = 2e5 }

[body.vary]
E = { axis = 0, positions = [-0.5, 0.5], values = [1e4, 1e5] }
density = { type = "gradient", axis = 1, positions = [0.4, 0.5, 0.6], values = [500, 300, 400] }

[[body.regions]]
shape = { type = "sphere", center = [0.0, 0.5], radius = 0.08 }
material = { type = "snow", E = 1e6, hardening = 5 }

[[body.regions]]
shape = { type = "box", center = [0.4, 0.5], size = [0.1, 0.1] }
material = { type = "snow", density = 900 }
"""

PYTHON = """
import numpy as np
from continua import Gradient
from continua.geometry.shapes import Box, Sphere
from continua.materials import Snow
from continua.scene import BodySettings, Region, Scene, SimulationSettings

scene = Scene(
    simulation=SimulationSettings(dx=0.05, gravity=(0, -9.81)),
    body=[
        BodySettings(
            name="slab",
            shape=Box((0, 0.5), (1, 0.2)),
            material=Snow(2e5),
            vary={"E": FIELD, "density": Gradient(1, (0.4, 0.6), (500, 400))},
            regions=[Region(shape=Sphere((0, 0.5), 0.08), material=Snow(1e6))],
        )
    ],
)
"""
WAVE = "lambda x: 1e5 * (2 + np.sin(x[:, 0]))"


@pytest.fixture
def slab(tmp_path: Path) -> Callable[..., Scene]:
    """Load the scene with one piece of text replaced, and with overrides."""

    def call(old: str = "", new: str = "", overrides: tuple[str, ...] = ()) -> Scene:
        assert old in TEXT
        path = tmp_path / "slab.toml"
        path.write_text(TEXT.replace(old, new, 1) if old else TEXT)
        return load_scene(path, overrides)

    return call


@pytest.fixture
def python_slab(tmp_path: Path) -> Callable[[str], Path]:
    """File of a Python scene with this value for E."""

    def call(field: str) -> Path:
        path = tmp_path / "slab.py"
        path.write_text(PYTHON.replace("FIELD", field))
        return path

    return call


def test_file_gives_every_particle_its_material(slab: Callable[..., Scene]) -> None:
    (body,) = slab().build().bodies
    (x, y), ball = body.x.T, np.hypot(body.x[:, 0], body.x[:, 1] - 0.5) < 0.08
    block = (abs(x - 0.4) < 0.05) & (abs(y - 0.5) < 0.05)
    E = np.select([block, ball], [1.4e5, 1e6], 5.5e4 + 9e4 * x)
    density = np.select([block, ball], [900, 400], np.interp(y, (0.4, 0.5, 0.6), (500, 300, 400)))
    assert ball.any() and block.any()
    assert body.parameter_table()[0] == pytest.approx(E / 2.4, rel=1e-12)
    assert body.parameter_table()[4] == pytest.approx(np.where(ball, 5, 10))
    assert body.mass == pytest.approx(density * body.volume, rel=1e-12)


def test_scene_of_gradients_and_regions_survives_json(slab: Callable[..., Scene], tmp_path: Path) -> None:
    scene = slab()
    record = json.loads(json.dumps(describe(open_scene(tmp_path / "slab.toml"))))
    assert record["scene"]["body"][0]["vary"]["E"]["values"] == [1e4, 1e5]
    assert rebuild(record, "run.json").scene == scene
    assert accepts(scene_schema(), record["scene"]) and accepts(scene_schema(), parse(TEXT))


def test_bodies_are_uniform_by_default(slab: Callable[..., Scene]) -> None:
    text = TEXT[: TEXT.index("[body.vary]")]
    scene = slab(TEXT, text)
    assert scene.body[0].vary == {} and scene.body[0].regions == []
    assert scene.build().bodies[0].variation is None


@pytest.mark.parametrize("field", [WAVE, "Gradient(0, (-0.5, 0.5), (1e4, 1e5))"])
def test_python_scene_runs_again_from_its_record(python_slab: Callable[[str], Path], field: str) -> None:
    path = python_slab(field)
    loaded = open_scene(path, ["body.slab.regions.0.material.E=5e5"])
    record = json.loads(json.dumps(describe(loaded)))
    assert (record["scene"] is None) == (field == WAVE)  # a function needs the source
    path.unlink()
    again = rebuild(record, "run.json", trust=True).scene
    a, b = (scene.build().bodies[0] for scene in (loaded.scene, again))
    assert np.array_equal(a.parameter_table(), b.parameter_table())
    assert np.array_equal(a.mass, b.mass)
    assert a.parameter_table()[0].max() == pytest.approx(5e5 / 2.4)


def test_interrupted_run_of_a_varied_body_resumes(python_slab: Callable[[str], Path], tmp_path: Path) -> None:
    def run(name: str, frames: int, **options: Any) -> ct.Simulation:
        sim = open_scene(python_slab(WAVE)).scene.build()
        sim.run(frames=frames, fps=500, output=tmp_path / name, checkpoint_interval=1, **options)
        return sim

    whole = run("whole", 4).state()
    run("parts", 2)
    parts = run("parts", 4, resume=True).state()
    assert whole.keys() == parts.keys()
    assert all(np.array_equal(whole[key], parts[key]) for key in whole)


OVERRIDES: dict[str, tuple[str, Callable[[Any], Any], Any]] = {
    "values": ("body.slab.vary.E.values=[1, 2]", lambda b: b.vary["E"].values, (1.0, 2.0)),
    "one value": ("body.vary.E.values.1=7", lambda b: b.vary["E"].values, (1e4, 7.0)),
    "whole gradient": (
        "body.vary.nu={axis=1, positions=[0, 1], values=[0.1, 0.2]}",
        lambda b: b.vary["nu"],
        ct.Gradient(1, (0, 1), (0.1, 0.2)),
    ),
    "nothing varies": ("body.vary={}", lambda b: b.vary, {}),
    "region": ("body.regions[1].material.E=3", lambda b: b.regions[1].material.E, 3.0),
    "region by number": ("body.0.regions.0.shape.radius=0.05", lambda b: b.regions[0].shape.radius, 0.05),
    "no regions": ("body.regions=[]", lambda b: b.regions, []),
}


@pytest.mark.parametrize("case", OVERRIDES)
def test_overrides_reach_what_varies(slab: Callable[..., Scene], case: str) -> None:
    override, look, value = OVERRIDES[case]
    assert look(slab().body[0]) != value if "nu" not in override else "nu" not in slab().body[0].vary
    assert look(slab(overrides=(override,)).body[0]) == value


def test_overrides_keep_functions_and_change_gradients_of_python_scenes(
    python_slab: Callable[[str], Path],
) -> None:
    (body,) = load_scene(python_slab(WAVE), ["body.vary.density.values=[1, 2]"]).body
    assert callable(body.vary["E"]) and body.vary["density"] == ct.Gradient(1, (0.4, 0.6), (1, 2))
    assert body.regions == [Region(shape=ct.shapes.Sphere((0, 0.5), 0.08), material=Snow(1e6))]


MISTAKES: dict[str, tuple[str, str, list[str]]] = {
    "unknown field": ("E = { axis", "Young = { axis", ["body[0].vary.Young", "no number of snow", "E, nu, density"]),
    "misspelt field": ("density = { type", "densty = { type", ['did you mean "density"?']),
    "value out of range": ("[1e4, 1e5]", "[1e4, -1]", ['body[0].vary.E.values (body "slab")', "greater than 0"]),
    "no such axis": ("axis = 0", "axis = 2", ["body[0].vary.E.axis", "is 2", "only the axes 0 and 1"]),
    "axis out of range": ("axis = 0", "axis = 3", ["body[0].vary.E.axis", "is 3", "<= 2"]),
    "missing key": ("axis = 0, ", "", ["body[0].vary.E.axis", "is missing"]),
    "unknown key": ("axis = 0", "axes = 0", ["unknown key body[0].vary.E.axes", 'did you mean "axis"?']),
    "one value": ("values = [1e4, 1e5]", "values = [1e4]", ["body[0].vary.E.values", "2 or more numbers"]),
    "three values": ("values = [1e4, 1e5]", "values = [1, 2, 3]", ["2 positions need as many values, not 3"]),
    "falling positions": ("[-0.5, 0.5]", "[0.5, -0.5]", ["body[0].vary.E", "positions must rise"]),
    "number for a gradient": (
        "E = { axis = 0, positions = [-0.5, 0.5], values = [1e4, 1e5] }",
        "E = 3",
        ["body[0].vary.E", "is 3", '"gradient"'],
    ),
    "other material": (
        '{ type = "snow", E = 1e6, hardening = 5 }',
        '{ type = "neo-hookean" }',
        ['body[0].regions[0].material (body "slab") is "neo-hookean"', '"snow"'],
    ),
    "region out of range": ("density = 900", "density = 0", ["body[0].regions[1].material.density", "> 0"]),
    "3D region": ("[0.4, 0.5], size = [0.1, 0.1]", "[0, 0, 0], size = [1, 1, 1]", ["body[0].regions[1].shape", "3D"]),
    "region without shape": (
        'shape = { type = "sphere", center = [0.0, 0.5], radius = 0.08 }\n',
        "",
        ["body[0].regions[0].shape", "is missing"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_name_the_key(slab: Callable[..., Scene], mistake: str) -> None:
    old, new, words = MISTAKES[mistake]
    with pytest.raises(SceneError) as caught:
        slab(old, new)
    text = str(caught.value)
    assert text.startswith("slab.toml: ") and "\n" not in text
    assert [word for word in words if word not in text] == []


def test_mistake_of_an_override_inside_a_region_is_traced_to_it(slab: Callable[..., Scene]) -> None:
    with pytest.raises(
        SceneError, match=r"regions\[1\].material.E .* \(set by --set body.regions.1.material.E=-3\)"
    ):
        slab(overrides=("body.regions.1.material.E=-3",))


def test_function_of_the_wrong_shape_is_found_when_building(python_slab: Callable[[str], Path]) -> None:
    with pytest.raises(ct.ContinuaError, match=r'function for "E" in vary .* \(320,\), not \(320, 2\)'):
        load_scene(python_slab("lambda x: x")).build()


def test_materials_in_python_do_not_vary() -> None:
    class Jam(ct.materials.PythonMaterial):
        pass

    simulation, shape = {"dx": 0.1, "gravity": (0, -1)}, ct.shapes.Sphere((0, 0), 1)
    regions = [{"shape": shape, "material": Jam()}]
    with pytest.raises(
        ValueError, match="is written in Python, but vary and regions need a built-in material"
    ):
        Scene.model_validate(
            {"simulation": simulation, "body": [{"shape": shape, "material": Jam(), "regions": regions}]}
        )
