"""Loading: every way a scene can be given leads to the same model, and back through run.json."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from continua import gallery
from continua.errors import SceneError
from continua.geometry.shapes import Box, Mesh, Sphere
from continua.materials import FixedCorotated, Snow
from continua.scene import BodySettings, Scene, SimulationSettings, load_scene, open_scene
from continua.scene.build import describe, rebuild

PYTHON_SCENE = """
from continua.geometry.shapes import Sphere
from continua.materials import Snow
from continua.scene import BodySettings, Scene, SimulationSettings

{head}Scene(
    simulation=SimulationSettings(dx=0.1, gravity=(0, -1)),
    body=[BodySettings(shape=Sphere((0, 0), 0.5), material=Snow(), velocity={velocity})],
)
"""

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def round_trip(scene: Scene) -> Scene:
    return Scene.model_validate(json.loads(json.dumps(scene.model_dump(mode="json"))))


def test_template_holds_what_it_says(load: Callable[..., Scene]) -> None:
    scene = load()
    assert scene.dimension == 2
    assert [body.name for body in scene.body] == ["jelly", "ball"]
    assert scene.body[0].shape == Box((0.0, 0.4), (0.3, 0.3))
    assert scene.body[0].material == FixedCorotated(5e4, 0.3, 1000)
    assert scene.body[1].material == Snow()
    assert scene.collider[0].friction == 0.4
    assert scene.run.frames == 36


def test_template_survives_json(load: Callable[..., Scene]) -> None:
    scene = load()
    assert round_trip(scene) == scene


@pytest.mark.parametrize("name", gallery.names())
def test_gallery_scene_loads_and_survives_json(name: str) -> None:
    scene = gallery.load(name)
    assert gallery.summary(name)
    assert scene.title
    if describe(open_scene(name))["scene"] is not None:
        assert round_trip(scene) == scene


@pytest.mark.parametrize("head", ["scene = ", "def scene():\n    return "])
def test_python_scene_as_value_or_function(tmp_path: Path, head: str) -> None:
    path = tmp_path / "ball.py"
    path.write_text(PYTHON_SCENE.format(head=head, velocity="(1, 0)"))
    scene = load_scene(path)
    assert scene.body[0].shape == Sphere((0, 0), 0.5)
    assert scene.body[0].velocity == (1.0, 0.0)


def test_python_scene_may_import_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_scene.py").write_text("SPEED = 3.0\n")
    text = PYTHON_SCENE.format(head="scene = ", velocity="(SPEED, 0)")
    path = tmp_path / "ball.py"
    path.write_text("from neighbour_of_scene import SPEED\n" + text)
    assert load_scene(path).body[0].velocity == (3.0, 0.0)


def test_overrides_reach_python_scenes_with_functions(tmp_path: Path) -> None:
    path = tmp_path / "spin.py"
    path.write_text(PYTHON_SCENE.format(head="scene = ", velocity="lambda x: x[:, ::-1]"))
    scene = load_scene(path, ["body.material.E=1e3", "dx=0.2"])
    assert scene.body[0].material.E == 1e3
    assert scene.simulation.dx == 0.2
    assert callable(scene.body[0].velocity)


def test_run_description_rebuilds_plain_scene(load: Callable[..., Scene], tmp_path: Path) -> None:
    load()
    loaded = open_scene(tmp_path / "demo.toml", ["body.material.E=1e3"])
    record = json.loads(json.dumps(describe(loaded)))
    again = rebuild(record, "run.json")
    assert again.scene == loaded.scene
    assert again.name == "demo"


def test_run_description_rebuilds_scene_with_functions_from_its_source(tmp_path: Path) -> None:
    path = tmp_path / "spin.py"
    path.write_text(PYTHON_SCENE.format(head="scene = ", velocity="lambda x: 2 * x"))
    record = json.loads(json.dumps(describe(open_scene(path, ["body.material.E=1e3"]))))
    assert record["scene"] is None
    path.unlink()
    with pytest.raises(SceneError, match="is Python code, which going on would execute"):
        rebuild(record, "run.json")
    scene = rebuild(record, "run.json", trust=True).scene
    assert scene.body[0].material.E == 1e3
    assert callable(scene.body[0].velocity)


def test_unnamed_bodies_get_free_names() -> None:
    ball, snow = Sphere((0, 0), 1), Snow()
    scene = Scene(
        simulation=SimulationSettings(dx=0.1, gravity=(0, -1)),
        body=[
            BodySettings(shape=ball, material=snow),
            BodySettings(name="body1", shape=ball, material=snow),
            BodySettings(shape=ball, material=snow),
        ],
    )
    assert [body.name for body in scene.body] == ["body1_2", "body1", "body3"]


@pytest.mark.parametrize("suffix", ["toml", "py"])
def test_mesh_paths_start_at_the_scene_file(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "scenes"
    folder.mkdir()
    (folder / "corner.obj").write_text(TETRAHEDRON)
    toml = (
        "[simulation]\ndx = 0.1\n[[body]]\nmaterial = {type = 'snow'}\n"
        "shape = {type = 'mesh', path = 'corner.obj'}\n"
    )
    python = (
        "from continua.geometry.shapes import Mesh\nfrom continua.materials import Snow\n"
        "from continua.scene import Scene\n"
        "scene = Scene(simulation={'dx': 0.1}, body=[{'shape': Mesh('corner.obj'), 'material': Snow()}])\n"
    )
    (folder / f"corner.{suffix}").write_text(toml if suffix == "toml" else python)
    monkeypatch.chdir(tmp_path)
    shape = load_scene(f"scenes/corner.{suffix}").body[0].shape
    assert isinstance(shape, Mesh)
    assert shape.path == folder.resolve() / "corner.obj"
    assert round_trip(load_scene(f"scenes/corner.{suffix}")).body[0].shape == shape


def test_missing_mesh_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "corner.toml"
    path.write_text(
        "[simulation]\ndx = 0.1\n[[body]]\nmaterial = {type = 'snow'}\n"
        "shape = {type = 'mesh', path = 'nowhere.obj'}\n"
    )
    with pytest.raises(SceneError, match=r"corner.toml: body\[0\].shape.path is \"nowhere.obj\""):
        load_scene(path)
