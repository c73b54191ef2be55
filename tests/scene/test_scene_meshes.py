"""Solids and springs in scene files: loading, building, overriding, running, resuming, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_scene_schema import accepts

import continua as ct
from continua.errors import SceneError
from continua.scene import Scene, load_scene, open_scene, scene_schema
from continua.scene.build import describe, rebuild
from continua.scene.toml import parse

BOX = '{ type = "box-mesh", lower = [-0.5, 0.0, -0.5], upper = [0.5, 1.0, 0.5], counts = [2, 2, 2] }'
TEXT = f"""
[simulation]
dx = 0.1
gravity = [0.0, -9.81, 0.0]
integrator = "optimization"

[[solid]]
name = "cube"
mesh = {BOX}
material = {{ type = "fixed-corotated", E = 1e5, nu = 0.3, density = 1000 }}
velocity = [0.0, 0.1, 0.0]
start = {{ type = "placed", matrix = [[1, 0, 0], [0, 1.2, 0], [0, 0, 1]] }}
damping = 1e-3

[[solid.scripted]]
vertices = {{ type = "box", center = [0.0, 0.0, 0.0], size = [2.0, 0.1, 2.0] }}
motion = {{ type = "spin", rate = 2.0, center = [0.0, 0.0, 0.0], axis = [0.0, 1.0, 0.0] }}
stop = 0.2

[[springs]]
name = "cloth"
springs = {{ type = "cloth", counts = [4, 4], size = [1.0, 1.0], center = [0.0, 2.0, 0.0] }}
density = 0.3
scripted = [{{ vertices = [0, 3] }}]
drag = 0.5

[[collider]]
type = "plane"
normal = [0.0, 1.0, 0.0]
point = [0.0, -0.5, 0.0]

[run]
duration = 0.25
"""


def by_hand() -> ct.Simulation:
    """The same in Python."""
    sim = ct.Simulation(0.1, (0.0, -9.81, 0.0), integrator="optimization")
    turned = ct.Scripted(
        ct.shapes.Box((0, 0, 0), (2, 0.1, 2)), ct.motions.Spin(2.0, (0, 0, 0), (0, 1, 0)), stop=0.2
    )
    cube = ct.SolidBody(
        ct.meshes.BoxMesh((-0.5, 0, -0.5), (0.5, 1, 0.5), (2, 2, 2)),
        ct.materials.FixedCorotated(E=1e5, nu=0.3, density=1000),
        velocity=(0, 0.1, 0),
        start=ct.Placed(np.diag([1, 1.2, 1])),
        damping=1e-3,
        scripted=turned,
    )
    sim.add(cube)
    cloth = ct.meshes.Cloth((4, 4), (1.0, 1.0), (0.0, 2.0, 0.0))
    sim.add(ct.SpringBody(cloth, density=0.3, scripted=ct.Scripted([0, 3]), drag=0.5))
    sim.add(ct.colliders.Plane((0, 1, 0), (0, -0.5, 0)))
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
    scene = load_scene(write())
    built, made = scene.build(), by_hand()
    assert [mesh.name for mesh in built.world.mesh_bodies] == ["cube", "cloth"]
    built.run(frames=6)
    made.run(frames=6)
    same_places(built, made)
    cube = built.world.mesh_bodies[0]
    assert np.abs(cube.x - cube.rest).max() > 0.05  # it has turned and fallen


def test_a_run_resumes_from_its_folder(write: Callable[..., Path], tmp_path: Path) -> None:
    loaded = open_scene(write())
    about = json.loads(json.dumps(describe(loaded), allow_nan=False))
    assert about["scene"] is not None
    again = rebuild(about, "run.json")
    assert again.scene == loaded.scene
    loaded.scene.build().run(frames=3, output=tmp_path / "run", description=about)
    resumed, whole = again.scene.build(), by_hand()
    resumed.run(frames=6, output=tmp_path / "run", resume=True)
    whole.run(frames=6)
    same_places(resumed, whole)


def test_the_schema_knows_meshes() -> None:
    data = parse(TEXT)
    assert accepts(scene_schema(), data)
    data["solid"][0]["mesh"]["counts"] = "many"
    assert not accepts(scene_schema(), data)
    json.dumps(scene_schema(), allow_nan=False)


def test_damping_takes_its_form_from_the_scene(write: Callable[..., Path]) -> None:
    for more, form in (("", "green"), ('\ndamping_form = "printed"', "printed")):
        (cube, _) = load_scene(write("damping = 1e-3", "damping = 1e-3" + more)).build().world.mesh_bodies
        assert cube.setup()["damping_form"] == form


def test_elements_may_differ(write: Callable[..., Path]) -> None:
    more = """
[solid.vary]
E = { axis = 1, positions = [0, 1], values = [1e4, 1e5] }
density = { axis = 0, positions = [-0.5, 0.5], values = [500, 1500] }
[[solid.regions]]
shape = { type = "box", center = [0, 0.75, 0], size = [2, 0.5, 2] }
material = { type = "fixed-corotated", E = 1e6, nu = 0.3, density = 2000 }
"""
    uniform, varied = (load_scene(write("damping = 1e-3", text)).build() for text in ("", more))
    cube, other = uniform.world.mesh_bodies[0], varied.world.mesh_bodies[0]
    assert cube.mass.sum() == pytest.approx(1000)
    upper = other.rest[other.cells].mean(axis=1)[:, 1] > 0.5
    assert 0 < upper.sum() < len(upper)
    assert other.mass.sum() == pytest.approx(
        500 + 1000, rel=1e-3
    )  # lower half 1000 on average, upper half 2000
    right, left = other.mass[other.rest[:, 0] > 0.1].sum(), other.mass[other.rest[:, 0] < -0.1].sum()
    assert right > 1.1 * left
    soft, stiff = (m.energy.hessian(m.rest).diagonal()[m.rest[:, 1] == 1].mean() for m in (cube, other))
    assert stiff == pytest.approx(10 * soft, rel=1e-3)


def test_the_example_of_the_documentation_runs(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "scene-files.md"
    examples = [text.partition("```")[0] for text in page.read_text().split("```toml\n")]
    path = tmp_path / "example.toml"
    path.write_text(next(text for text in examples if "\n[[solid]]\n" in text))
    sim = load_scene(path).build()
    sim.run(frames=14)  # also beyond the moment at which the bar is let go
    bar = sim.world.mesh_bodies[0]
    left, right = bar.rest[:, 0] == 0, bar.rest[:, 0] == 1
    np.testing.assert_allclose(bar.x[left], bar.rest[left], atol=1e-12)
    assert 1.0 < bar.x[right, 0].mean() < 1.3
    assert load_scene(path, ["solid.bar.scripted[1].stop=0.8"]).solid[0].scripted[1].stop == 0.8


def test_names_are_given_and_hidden(write: Callable[..., Path]) -> None:
    scene = load_scene(write('name = "cube"\n', ""), ["springs.name=solid1", 'render.hide=["solid1"]'])
    assert [scene.solid[0].name, scene.springs[0].name] == ["solid1_2", "solid1"]


def mesh_of(scene: Scene) -> tuple[int, ...]:
    mesh = scene.solid[0].mesh
    assert isinstance(mesh, ct.meshes.BoxMesh)
    return mesh.counts


def test_overrides(write: Callable[..., Path]) -> None:
    path = write()
    assert mesh_of(load_scene(path, ["solid.mesh.counts=[1,2,3]"])) == (1, 2, 3)
    assert mesh_of(load_scene(path, ["solid[0].mesh.counts=[1,1,1]"])) == (1, 1, 1)
    scene = load_scene(
        path, ["solid.cube.material.E=7", "springs.cloth.drag=3", "solid.scripted[0].stop=none"]
    )
    assert scene.solid[0].material.E == 7  # type: ignore[union-attr]
    assert (scene.springs[0].drag, scene.solid[0].scripted[0].stop) == (3, None)
    scene = load_scene(path, ["solid.start.matrix=[[0,0,0],[0,0,0],[0,0,0]]", "solid.on_grid=false"])
    body = scene.build().world.mesh_bodies[0]
    assert not body.x[body.rest[:, 1] > 0].any() and body.on_grid is False
    assert load_scene(path, ["integrator.scheme=bdf2"]).simulation.integrator.scheme == "bdf2"  # type: ignore[union-attr]
    with pytest.raises(
        SceneError, match=r'"cub" is neither the name nor a key of a solid; did you mean "cube"'
    ):
        load_scene(path, ["solid.cub.drag=1"])
    with pytest.raises(
        SceneError, match=r"springs\[0\].density .* is -1.*\(set by --set springs.density=-1\)"
    ):
        load_scene(path, ["springs.density=-1"])


def test_mesh_files_are_found_next_to_the_scene(write: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    mesh = ct.meshes.box_mesh((-0.5, 0, -0.5), (0.5, 1, 0.5), (2, 2, 2))
    ct.meshes.write_mesh(tmp_path / "parts" / "box.vtk", mesh)
    path = write(BOX, '{ type = "file-mesh", path = "parts/box.vtk" }')
    body = load_scene(path).build().world.mesh_bodies[0]
    np.testing.assert_allclose(body.rest, mesh.points)
    with pytest.raises(SceneError, match=r'solid\[0\].mesh.path is "box.vtk", but there is no such file'):
        load_scene(path, ["solid.mesh.path=box.vtk"])


def test_python_scenes_take_meshes_and_functions(tmp_path: Path) -> None:
    path = tmp_path / "demo.py"
    path.write_text(
        "import continua as ct\n"
        "from continua.scene import Scene, SimulationSettings, SolidSettings\n"
        "scene = Scene(\n"
        "    simulation=SimulationSettings(dx=0.1, gravity=(0, -9.81), integrator='optimization'),\n"
        "    solid=[SolidSettings(\n"
        "        mesh=ct.meshes.box_mesh((0, 0), (1, 1), (2, 2)),\n"
        "        material=ct.materials.NeoHookean(1e5),\n"
        "        start=lambda X: 2 * X,\n"
        "        scripted=[ct.Scripted(lambda x: x[:, 0] == 0, lambda t: [[0, 0], [0, 1], [0, 2 + t]])],\n"
        "    )],\n"
        ")\n"
    )
    loaded = open_scene(path, ["solid.material.E=2e5"])
    body = loaded.scene.build().world.mesh_bodies[0]
    np.testing.assert_allclose(body.x, 2 * body.rest)
    about = describe(loaded)
    assert about["scene"] is None  # functions cannot be stored, so that the source is run again
    assert rebuild(about, "run.json", trust=True).scene.solid[0].material.E == 2e5  # type: ignore[union-attr]


FIELD = "{ axis = 0, positions = [0, 1], values = [1, 2] }"
REGION = '{ shape = { type = "sphere", center = [0, 0, 0], radius = 1 }, material = { type = "snow" } }'
MISTAKES = {
    "no mass": ("density = 0.3", "", ['springs[0] (springs "cloth") needs either mass or density']),
    "two masses": ("density = 0.3", "density = 1\nmass = 1", ["needs either mass or density, and not both"]),
    "incompressible": (
        '"optimization"',
        '"incompressible"',
        ['solid[0] (solid "cube") cannot move in an incompressible flow', '"symplectic"'],
    ),
    "on its own": (
        '"optimization"\n',
        '"symplectic"\n[[solid]]\non_grid = false\nmesh = MESH\nmaterial = { type = "snow" }\n',
        ["solid[0].on_grid is false", 'only integrator = "optimization"'],
    ),
    "name of another kind": (
        'name = "cloth"',
        'name = "cube"',
        ['springs[0].name repeats "cube"', "solid[0]"],
    ),
    "2D cloth": ("-9.81, 0.0]", "-9.81]", ["springs[0].springs", "is a cloth, which needs a 3D scene"]),
    "2D mesh": (
        BOX,
        '{ type = "box-mesh", lower = [0, 0], upper = [1, 1], counts = [1, 1] }',
        ["solid[0].mesh.lower", "is 2D", "scene 3D"],
    ),
    "2D velocity": ("[0.0, 0.1, 0.0]", "[0.0, 0.1]", ["solid[0].velocity", "is 2D", "scene 3D"]),
    "2D start": (
        "[[1, 0, 0], [0, 1.2, 0], [0, 0, 1]]",
        "[[1, 0], [0, 1]]",
        ["solid[0].start.matrix[0]", "is 2D"],
    ),
    "start without a matrix": (
        "matrix = [[1, 0, 0], [0, 1.2, 0], [0, 0, 1]]",
        "shift = [0, 0, 0]",
        ["solid[0].start.matrix", "is missing"],
    ),
    "kind of start": ('"placed"', '"plaed"', ['did you mean "placed"?', '"scattered"']),
    "kind of mesh": (
        '"box-mesh"',
        '"boxmesh"',
        ["solid[0].mesh.type", 'did you mean "box-mesh"?', '"file-mesh"'],
    ),
    "no cubes": ("counts = [2, 2, 2]", "counts = [2, 0, 2]", ["solid[0].mesh.counts[1]", "is 0", ">= 1"]),
    "box inside out": (
        "upper = [0.5",
        "upper = [-0.5",
        ["solid[0].mesh", "must be greater than that of lower"],
    ),
    "fluid": (
        '"fixed-corotated", E = 1e5, nu = 0.3',
        '"incompressible-fluid"',
        ["solid[0].material", "is incompressible-fluid, which does not work on meshes"],
    ),
    "viscosity": (
        '"fixed-corotated", E = 1e5, nu = 0.3',
        '"liquid", viscosity = 1',
        ["solid[0].material", "set it to 0 and use damping"],
    ),
    "damping": ("damping = 1e-3", "damping = -1", ["solid[0].damping", "is -1", ">= 0", "[s]"]),
    "form of damping": (
        "damping = 1e-3",
        'damping = 1e-3\ndamping_form = "lagged"',
        ["solid[0].damping_form", "green", "printed"],
    ),
    "damping of springs": ("drag = 0.5", 'damping_form = "green"', ["springs[0].damping_form"]),
    "unknown field": ("damping = 1e-3", f"vary = {{ X = {FIELD} }}", ["solid[0].vary.X", "is no number of"]),
    "other material": (
        "damping = 1e-3",
        f"regions = [{REGION}]",
        ["solid[0].regions[0].material", 'is "snow"'],
    ),
    "vertices by word": (
        "[0, 3]",
        '"all"',
        ["springs[0].scripted[0].vertices", 'is "all"', "vertex numbers"],
    ),
    "vertices between": (
        "[0, 3]",
        "[0.5]",
        ["springs[0].scripted[0].vertices", "is [0.5]", "vertex numbers"],
    ),
    "no vertices": ("vertices = [0, 3]", "", ["springs[0].scripted[0].vertices", "is missing"]),
    "one script": ("[{ vertices = [0, 3] }]", "{ vertices = [0] }", ["must be a list of tables"]),
    "rate of a script": (
        "rate = 2.0",
        'rate = "x"',
        ["solid[0].scripted[0].motion.rate", "must be a number"],
    ),
    "unknown key": ("drag = 0.5", "drg = 0.5", ["springs[0].drg", 'did you mean "drag"?']),
    "hiding": (
        "[run]",
        '[render]\nhide = ["cub"]\n[run]',
        ["render.hide[0]", "rigid or emitter", '"cube"?'],
    ),
    "draining": (
        "[run]",
        '[[drain]]\nbody = "cube"\nshape = { type = "sphere", center = [0, 0, 0], radius = 1 }\n[run]',
        ['drain[0].body is "cube", but there is no such body or emitter (known: none)'],
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_message_tells_where_what_and_how(case: str, write: Callable[..., Path]) -> None:
    old, new, expected = MISTAKES[case]
    with pytest.raises(SceneError) as caught:
        load_scene(write(old, new.replace("MESH", BOX)))
    text = str(caught.value)
    assert text.startswith("demo.toml: ") and "\n" not in text
    for part in expected:
        assert part in text, text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[0, 3]", "[99]", 'mesh body "cloth": scripted vertices must have numbers from 0 to 15'),
        (
            "center = [0.0, 0.0, 0.0], size",
            "center = [9, 0, 0], size",
            'mesh body "cube": no vertex of the mesh',
        ),
        (
            "damping = 1e-3",
            'damping_form = "printed"',
            'mesh body "cube": damping_form = "printed" needs damping',
        ),
    ],
)
def test_building_says_which_body(old: str, new: str, message: str, write: Callable[..., Path]) -> None:
    with pytest.raises(SceneError, match=message):
        load_scene(write(old, new)).build()
