"""Strands in scene files: loading, building, overriding, running, resuming, showing, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_scene_schema import accepts

import continua as ct
from continua.cli import main
from continua.errors import SceneError
from continua.io import RunFolder, export
from continua.render import still
from continua.scene import Scene, load_scene, open_scene, scene_schema
from continua.scene.build import describe, rebuild
from continua.scene.toml import parse

TEXT = """
[simulation]
dx = 0.05
gravity = [0.0, -9.81, 0.0]

[[solid]]
name = "head"
mesh = { type = "box-mesh", lower = [-0.1, -0.1, -0.1], upper = [0.1, 0.1, 0.1], counts = [2, 2, 2] }
material = { type = "fixed-corotated", E = 1e5, nu = 0.3, density = 1000 }

[[solid.scripted]]
vertices = { type = "box", center = [0.0, 0.0, 0.0], size = [1.0, 1.0, 1.0] }
motion = { type = "spin", rate = 2.0, center = [0.0, 0.0, 0.0], axis = [0.0, 1.0, 0.0] }

[[strands]]
name = "hair"
curves = { type = "fur", on = "head", count = 10, length = 0.2, segments = 5, lean = [0.0, -1.0, 0.0] }
material = { E = 1e6, radius = 4e-3 }
damping = 1e-4

[[strands]]
curves = { type = "fur", on = "ball", count = 5, length = 0.1, segments = 12, curl = { radius = 0.01, turns = 2 } }
material = { type = "rod", E = 1e6, radius = [4e-3, 5e-3] }
directors = [0.0, 0.0, 1.0]

[[strands]]
curves = { type = "bundle", start = [1.0, 0.0, 0.0], end = [1.0, 0.3, 0.0], radius = 0.02, count = 4, segments = 4 }
material = { E = 1e6, radius = 4e-3 }
roots = { type = "linear", velocity = [0.0, 0.5, 0.0] }
drag = 0.5

[[collider]]
name = "ball"
type = "sphere"
center = [-0.5, 0.0, 0.0]
radius = 0.1
motion = { type = "linear", velocity = [0.2, 0.0, 0.0] }

[run]
duration = 0.04
fps = 100
"""


def by_hand() -> ct.Simulation:
    """The same in Python."""
    sim = ct.Simulation(0.05, (0.0, -9.81, 0.0))
    everywhere = ct.shapes.Box((0, 0, 0), (1, 1, 1))
    head = sim.add(
        ct.SolidBody(
            ct.meshes.BoxMesh((-0.1, -0.1, -0.1), (0.1, 0.1, 0.1), (2, 2, 2)),
            ct.materials.FixedCorotated(E=1e5, nu=0.3, density=1000),
            scripted=ct.Scripted(everywhere, ct.motions.Spin(2.0, (0, 0, 0), (0, 1, 0))),
        )
    )
    ball = ct.colliders.Sphere((-0.5, 0, 0), 0.1, motion=ct.motions.Linear((0.2, 0, 0)))
    hair = ct.meshes.Fur(head, 10, 0.2, 5, lean=(0, -1, 0))
    sim.add(ct.Strands(hair, ct.materials.Rod(1e6, 4e-3), damping=1e-4))
    curls = ct.meshes.Fur(ball, 5, 0.1, 12, curl=ct.meshes.Curl(0.01, 2))
    sim.add(ct.Strands(curls, ct.materials.Rod(1e6, (4e-3, 5e-3)), directors=(0, 0, 1)))
    rope = ct.meshes.Bundle((1, 0, 0), (1, 0.3, 0), 0.02, 4, 4)
    up = ct.motions.Linear((0, 0.5, 0))
    sim.add(ct.Strands(rope, ct.materials.Rod(1e6, 4e-3), roots=up, drag=0.5))
    sim.add(ball)
    return sim


def same_places(one: ct.Simulation, other: ct.Simulation) -> None:
    for a, b in zip(one.world.mesh_bodies, other.world.mesh_bodies, strict=True):
        np.testing.assert_array_equal(a.x, b.x)
        np.testing.assert_array_equal(a.v, b.v)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """The scene file with one piece of text replaced."""

    def call(old: str = "", new: str = "") -> Path:
        assert old in TEXT
        path = tmp_path / "demo.toml"
        path.write_text(TEXT.replace(old, new, 1) if old else TEXT)
        return path

    return call


def test_a_file_and_python_give_the_same_bits(write: Callable[..., Path]) -> None:
    built, made = load_scene(write()).build(), by_hand()
    assert [mesh.name for mesh in built.world.mesh_bodies] == ["head", "hair", "strands2", "strands3"]
    built.run(frames=3, fps=100)
    made.run(frames=3, fps=100)
    same_places(built, made)
    _, hair, curls, rope = built.world.mesh_bodies
    for body, speed in ((curls, (0.2, 0, 0)), (rope, (0, 0.5, 0))):
        numbers = body.roots.numbers
        assert np.abs(body.x[numbers] - body.rest[numbers] - 0.03 * np.array(speed)).max() < 1e-12
    assert np.abs(hair.x - hair.rest).max() > 2.0 * 0.03 * 0.1 * 0.5  # it turns with the head


def test_a_run_resumes_is_drawn_and_exported(write: Callable[..., Path], tmp_path: Path) -> None:
    loaded = open_scene(write())
    about = json.loads(json.dumps(describe(loaded), allow_nan=False))
    again = rebuild(about, "run.json")
    assert again.scene == loaded.scene
    folder = tmp_path / "run"
    loaded.scene.build().run(0.02, fps=100, output=folder, description=about, checkpoint_interval=1)
    resumed, whole = again.scene.build(), by_hand()
    resumed.run(0.04, fps=100, output=folder, resume=True)
    whole.run(0.04, fps=100)
    same_places(resumed, whole)
    frame = RunFolder(folder).read_frame(4)
    assert [body.kind for body in frame.bodies] == ["mesh", "strands", "strands", "strands"]
    assert np.diff(frame.bodies[1].strands()).tolist() == [6] * 10
    assert frame.bodies[2].arrays["radius"][0] == pytest.approx(np.sqrt(4e-3 * 5e-3))
    assert still(frame, tmp_path / "a.png", size=(64, 48), color_by="strand").path.stat().st_size > 0
    assert len(export(folder, "vtk")) == 1 + 5 * 4
    assert main(["info", str(folder)]) == 0


def test_the_command_line_runs_it(write: Callable[..., Path], tmp_path: Path) -> None:
    path, out = str(write()), str(tmp_path / "out")
    assert main(["run", path, "-o", out, "--set", "strands.hair.curves.count=4", "--frames", "1"]) == 0
    assert RunFolder(Path(out)).read_frame(1).bodies[1].strands().tolist() == [0, 6, 12, 18, 24]


def test_the_schema_knows_strands() -> None:
    data = parse(TEXT)
    assert accepts(scene_schema(), data)
    data["strands"][0]["curves"]["count"] = "many"
    assert not accepts(scene_schema(), data)
    json.dumps(scene_schema(), allow_nan=False)


@pytest.mark.parametrize("roots", ['"free"', '"held"', '"head"', '"ball"'])
def test_roots_by_name(write: Callable[..., Path], roots: str) -> None:
    text = 'roots = { type = "linear", velocity = [0.0, 0.5, 0.0] }'
    there = {'"head"': "start = [1.0, 0.0, 0.0]", '"ball"': "start = [1.0, 0.0, 0.0]"}.get(roots)
    path = write(text, f"roots = {roots}")
    if there:  # where the head is
        path.write_text(
            path.read_text().replace(there, "start = [0.0, 0.1, 0.0]").replace("[1.0, 0.3", "[0.0, 0.3")
        )
    rope = load_scene(path).build().world.mesh_bodies[3]
    if roots == '"free"':
        assert rope.roots is None
    elif roots == '"head"':
        assert rope.roots.follow.name == "head"
    else:
        expected = ct.motions.Linear((0.2, 0, 0)) if roots == '"ball"' else ct.motions.Fixed()
        assert rope.roots.follow == expected


MISTAKES = [
    (
        'on = "head"',
        'on = "haed"',
        'strands[0].curves.on (strands "hair") is "haed", but there is no such solid, springs, rigid or collider',
    ),
    (
        'on = "head"',
        'on = "strands3"',
        'strands[0].curves.on (strands "hair") is "strands3", but there is no such',
    ),
    (
        'roots = { type = "linear", velocity = [0.0, 0.5, 0.0] }',
        'roots = "hold"',
        'strands[2].roots is "hold"',
    ),
    ("count = 10", "count = 0", 'strands[0].curves.count (strands "hair") is 0'),
    (
        'type = "fur", on = "head"',
        'type = "furr", on = "head"',
        'strands[0].curves.type (strands "hair") is "furr"',
    ),
    ("radius = 4e-3 }", "radius = 0 }", 'strands[0].material.radius (strands "hair") is 0'),
    ("radius = 4e-3 }", "radius = 4e-3, yield = 3 }", "unknown key strands[0].material.yield"),
    ('name = "hair"', 'name = "head"', 'strands[0].name repeats "head", which solid[0] has already'),
    ("gravity = [0.0, -9.81, 0.0]", "gravity = [0.0, -9.81]", 'strands[0] (strands "hair") is for 3D scenes'),
    (
        "damping = 1e-4",
        "on_grid = false",
        'strands[0].on_grid (strands "hair") is false, but only integrator = "optimization"',
    ),
    (
        "damping = 1e-4",
        "on_grid = true\nfriction = 0.3",
        'strands[0].friction (strands "hair") is that of strands that move on their own',
    ),
    ("turns = 2", "turns = 5", "a curl of 5 turns needs at least 30 segments"),
    ("directors = [0.0, 0.0, 1.0]", "directors = [0.0, 1.0]", "strands[1].directors is 2D"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_name_the_key(write: Callable[..., Path], old: str, new: str, message: str) -> None:
    with pytest.raises(SceneError) as caught:
        load_scene(write(old, new))
    assert message in str(caught.value) and "demo.toml" in str(caught.value)


def test_what_only_building_finds_names_the_body(write: Callable[..., Path]) -> None:
    far = write('roots = { type = "linear", velocity = [0.0, 0.5, 0.0] }', 'roots = "head"')
    with pytest.raises(
        SceneError, match='mesh body "strands3": strand . is rooted .* from the surface of the solid'
    ):
        load_scene(far).build()
    plane = write(
        'type = "sphere"\ncenter = [-0.5, 0.0, 0.0]\nradius = 0.1', 'type = "plane"\nnormal = [0, 1, 0]'
    )
    with pytest.raises(
        SceneError, match='mesh body "strands2": strands need a surface that ends, not that of a Plane'
    ):
        load_scene(plane).build()


def test_settings_hold_all_arguments() -> None:
    import inspect

    from continua.scene.models import StrandsSettings

    arguments = set(inspect.signature(ct.Strands.__init__).parameters) - {"self"}
    assert arguments == set(StrandsSettings.model_fields)


def test_arrays_from_python(tmp_path: Path) -> None:
    curves = ct.meshes.Curves([(0, 0, 0), (0, 0.1, 0), (0, 0.2, 0)])
    scene = Scene.model_validate(
        {
            "simulation": {"dx": 0.1, "gravity": (0, -9.81, 0)},
            "strands": [{"curves": curves, "material": ct.materials.Rod(1e6, 4e-3)}],
        }
    )
    assert np.array_equal(scene.build().world.mesh_bodies[0].rest, curves.points)
