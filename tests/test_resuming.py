"""A run that goes on says what is not as it was: its setup, its files, its frames; and it loses no counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import continua as ct
from continua.errors import OutputError
from continua.io import RunFolder

TETRAHEDRON = "v 0 -1 0\nv 1 -1 0\nv 0 0 0\nv 0 -1 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def world(folder: Path, *, E: float = 1e4, friction: float = 0.3, **options: object) -> ct.Simulation:
    sim = ct.Simulation(0.1, **options)  # type: ignore[arg-type]
    sim.add(ct.shapes.Sphere((0, 0.5, 0), 0.3), ct.materials.FixedCorotated(E=E), name="ball")
    sim.add(ct.colliders.Plane((0, 1, 0), friction=friction))
    sim.add(ct.colliders.Mesh(folder / "rock.obj"))
    return sim


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "rock.obj").write_text(TETRAHEDRON)
    world(tmp_path).run(frames=4, fps=200, output=tmp_path / "run", checkpoint_interval=1)
    return tmp_path / "run"


def go_on(run: Path, *, accept_changes: bool = False, **changed: float) -> None:
    sim = world(run.parent, **changed)
    sim.run(frames=5, fps=200, output=run, resume=True, accept_changes=accept_changes)


def test_an_unchanged_run_goes_on(run: Path) -> None:
    go_on(run)
    assert RunFolder(run).frame_indices() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"E": 2e4}, r"bodies\[0\].material.E was 10000.0 and is 20000.0"),
        ({"friction": 0.5}, r"colliders\[0\].friction was 0.3 and is 0.5"),
        ({"cfl": 0.3}, r"cfl was 0.6 and is 0.3"),
        ({"transfer": "pic"}, r"transfer was APIC and is PIC"),
    ],
)
def test_a_changed_setup_is_noticed(run: Path, changed: dict[str, float], said: str) -> None:
    with pytest.raises(OutputError, match=said):
        go_on(run, **changed)
    assert RunFolder(run).status == "finished"
    with pytest.warns(UserWarning, match=said):
        go_on(run, accept_changes=True, **changed)
    assert RunFolder(run).frame_indices()[-1] == 5
    assert "from t = 0.02 s on" in RunFolder(run).description["changes"][0]


def test_a_changed_mesh_file_is_noticed(run: Path) -> None:
    (run.parent / "rock.obj").write_text(TETRAHEDRON.replace("v 1 -1 0", "v 2 -1 0"))
    with pytest.raises(OutputError, match="the file rock.obj has changed or is gone"):
        go_on(run)


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda frames: (frames / "frame_00001.npz").unlink(), "frame 1 is missing"),
        (lambda frames: damage(frames / "frame_00002.npz"), "frame 2 is damaged"),
        (
            lambda frames: (frames / "frame_00003.npz").replace(frames / "frame_00001.npz"),
            "the file of frame 1 holds frame 3; frame 3 is missing",
        ),
        (lambda frames: (frames.parent / "diagnostics.csv").unlink(), r"diagnostics.csv has 0 of 5 rows"),
    ],
)
def test_damage_is_noticed(run: Path, harm: object, said: str) -> None:
    harm(run / "frames")  # type: ignore[operator]
    with pytest.raises(OutputError, match=f"is not as it was: {said}"):
        go_on(run)
    with pytest.warns(UserWarning, match=said.partition(";")[0]):
        go_on(run, accept_changes=True)
    assert RunFolder(run).status == "finished"


@pytest.mark.parametrize("fps", [100, 205, 400])
@pytest.mark.parametrize("accept_changes", [False, True])
def test_another_frame_rate_is_refused(run: Path, fps: float, accept_changes: bool) -> None:
    sim = world(run.parent)
    with pytest.raises(
        OutputError, match=f"has 200 frames per second and cannot go on with {fps}; give the same"
    ):
        sim.run(0.04, fps=fps, output=run, resume=True, accept_changes=accept_changes)
    assert RunFolder(run).status == "finished"
    sim.run(0.04, fps=200, output=run, resume=True)
    assert sim.time == RunFolder(run).read_frame(8).time == 0.04


def checkpoints(run: Path) -> list[Path]:
    return sorted((run / "checkpoints").iterdir())


def test_a_damaged_newest_checkpoint_is_told(run: Path) -> None:
    damage(checkpoints(run)[-1])
    with pytest.warns(UserWarning, match=r"step_\d+.npz is damaged.*; the run goes on from t = 0.015 s"):
        go_on(run)
    assert RunFolder(run).frame_indices() == [0, 1, 2, 3, 4, 5]


def test_a_run_without_a_good_checkpoint_begins_anew_only_if_told(run: Path) -> None:
    for path in checkpoints(run):
        damage(path)
    with pytest.raises(
        OutputError, match=r"no checkpoint .* can be read: .*restore one, or begin anew with --acc"
    ):
        go_on(run)
    assert RunFolder(run).frame_indices() == [0, 1, 2, 3, 4]
    with pytest.warns(UserWarning, match="no checkpoint of the run .* can be read; it begins anew"):
        go_on(run, accept_changes=True)
    assert RunFolder(run).description["changes"] == ["begun anew: no checkpoint could be read"]


def test_a_changed_mesh_of_a_body_is_noticed(tmp_path: Path) -> None:
    def solid(counts: tuple[int, int]) -> ct.Simulation:
        sim = ct.Simulation(0.1, (0, -1), integrator="optimization")
        mesh = ct.meshes.BoxMesh((0, 0), (1, 1), counts)
        sim.add(ct.SolidBody(mesh, ct.materials.NeoHookean(E=1e4)))
        return sim

    solid((2, 2)).run(frames=1, output=tmp_path)
    with pytest.raises(OutputError, match=r"the mesh of bodies\[0\] has changed"):
        solid((2, 3)).run(frames=2, output=tmp_path, resume=True)


def tetrahedra(top: float, **options: object) -> ct.Simulation:
    """Two tetrahedra."""
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, top]]
    mesh = ct.meshes.SimplexMesh(np.array(points, float), np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))
    sim = ct.Simulation(0.1, integrator="optimization")
    sim.add(ct.SolidBody(mesh, ct.materials.NeoHookean(E=1e4), **options))  # type: ignore[arg-type]
    return sim


@pytest.mark.parametrize(
    ("top", "options", "said"),
    [
        (1.5, {}, r"the rest positions of bodies\[0\] have changed"),
        (1.0, {"vary": {"E": np.array([1e3, 1e6])}}, r"the parameters of bodies\[0\] have changed"),
        (1.0, {"vary": {"density": np.array([1e3, 2e3])}}, r"the masses of bodies\[0\] have changed"),
        (1.0, {"scripted": [ct.Scripted([0, 1])]}, r"there were 0 bodies\[0\].scripted and are 1"),
        (1.0, {"damping": 0.1}, r"bodies\[0\].damping was 0.0 and is 0.1"),
        (
            1.0,
            {"damping": 0.1, "damping_form": "printed"},
            r"bodies\[0\].damping_form was green and is printed",
        ),
        (1.0, {"drag": 0.1}, r"bodies\[0\].drag was 0.0 and is 0.1"),
        (1.0, {"contact": ct.PenaltyContact(friction=0.2)}, r"contact.friction was 0.0 and is 0.2"),
    ],
)
def test_a_changed_mesh_body_is_noticed(
    top: float, options: dict[str, object], said: str, tmp_path: Path
) -> None:
    tetrahedra(1.0).run(frames=1, fps=200, output=tmp_path / "run")
    with pytest.raises(OutputError, match=said):
        tetrahedra(top, **options).run(frames=2, fps=200, output=tmp_path / "run", resume=True)
    tetrahedra(1.0).run(frames=2, fps=200, output=tmp_path / "run", resume=True)


def test_other_scripted_vertices_are_noticed(tmp_path: Path) -> None:
    for frames, chosen in ((1, 0.5), (2, 0.5)):
        low = ct.Scripted(lambda x, top=chosen: x[:, 1] < top)
        tetrahedra(1.0, scripted=low).run(frames=frames, fps=200, output=tmp_path / "run", resume=True)
    low = ct.Scripted(lambda x: x[:, 0] < 0.5)
    with pytest.raises(OutputError, match=r"the vertices of script 0 of bodies\[0\] have changed"):
        tetrahedra(1.0, scripted=low).run(frames=3, fps=200, output=tmp_path / "run", resume=True)


def test_springs_of_another_stiffness_are_noticed(tmp_path: Path) -> None:
    def chain(stiffness: float) -> ct.Simulation:
        sim = ct.Simulation(0.1, (0, -1), integrator="optimization")
        springs = ct.meshes.SpringMesh(
            np.array([[0.0, 0], [1, 0]]),
            np.array([[0, 1]]),
            np.ones(1),
            np.full(1, stiffness),
            np.zeros((0, 3), int),
        )
        sim.add(ct.SpringBody(springs, mass=1.0))
        return sim

    chain(10).run(frames=1, output=tmp_path)
    with pytest.raises(OutputError, match=r"the parameters of bodies\[0\] have changed"):
        chain(20).run(frames=2, output=tmp_path, resume=True)


@pytest.mark.parametrize("kind", ["particles", "mesh"])
def test_iterations_are_counted_on(kind: str, tmp_path: Path) -> None:
    def make() -> ct.Simulation:
        sim = ct.Simulation(0.1, (0, -9.81), integrator="optimization")
        material = ct.materials.NeoHookean(E=1e4)
        if kind == "particles":
            sim.add(ct.shapes.Box((0, 0.5), (0.4, 0.4)), material)
        else:
            sim.add(ct.SolidBody(ct.meshes.BoxMesh((0, 0.2), (0.4, 0.6), (4, 4)), material))
        sim.add(ct.colliders.Plane((0, 1)))
        return sim

    make().run(frames=6, output=tmp_path / "whole")
    make().run(frames=3, output=tmp_path / "parts")
    make().run(frames=6, output=tmp_path / "parts", resume=True)
    whole, parts = (RunFolder(tmp_path / name).diagnostics() for name in ("whole", "parts"))
    assert whole["total_newton_iterations"][-1] > 0
    for name in whole:
        if name.startswith("total_"):
            np.testing.assert_array_equal(parts[name], whole[name])
        if name.startswith("seconds_"):
            assert (np.diff(parts[name]) >= 0).all()
