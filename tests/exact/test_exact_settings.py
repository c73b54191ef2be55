"""Every setting of an `ExactContact` acts or is refused with a sentence that says what to change."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from exact_worlds import BE, balls, block, jelly

import continua as ct
from continua.errors import ContinuaError, MissingExtraError, SceneError, SetupError
from continua.scene import load_scene

MESH = ct.meshes.box_mesh((0.0, 0.0), (1.0, 1.0), (2, 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"friction": -0.1}, "friction"),
        ({"augury": -1}, "augury"),
        ({"augury": "on"}, "augury"),
        ({"grip": "some"}, "grip"),
        ({"share": 0.0}, "share"),
        ({"share": 1.5}, "share"),
        ({"gate": "yes"}, "gate"),
        ({"thickness": 0.0}, "thickness"),
        ({"gap": -1e-3}, "gap"),
        ({"impulses": "printed"}, "impulses"),
        ({"final_velocity": "naive"}, "final_velocity"),
        ({"stiffness": 1e5}, "stiffness"),
        ({"augury": "off", "gate": "off"}, "gate.*augury.*give augury a number"),
        ({"augury": "off", "share": 0.5}, "share.*augury"),
        ({"augury": "off", "grip": "all"}, "grip.*augury"),
    ],
)
def test_impossible_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SetupError, match=message):
        ct.ExactContact(**options)


def end_of(contact: ct.ExactContact) -> np.ndarray:
    sim = ct.Simulation(0.1, (0.0, 0.0), integrator=BE, dt=4e-3)
    a, b = balls(sim, size=0.07, spin=8.0, offset=0.02, gap=0.01, contact=contact)
    for _ in range(20):
        sim.step()
    return np.concatenate([a.x, b.x, a.v, b.v])


@pytest.mark.parametrize(
    ("base", "others"),
    [
        (
            {"friction": 0.1, "augury": 5, "gate": "neighbours"},
            [{"friction": 0.5}, {"augury": 0}, {"augury": "off", "gate": "impacts"}, {"grip": "all"}, {"grip": "none"},
             {"share": 0.5}, {"gate": "off"}, {"gate": "impacts"}, {"final_velocity": "printed"}],
        ),
        (
            {"augury": "off", "friction": 0.3},
            [{"thickness": 0.02}, {"gap": 0.01}, {"impulses": "naive"}, {"friction": 0.0}],
        ),
    ],
)  # fmt: skip
def test_every_setting_acts(base: dict[str, Any], others: list[dict[str, Any]]) -> None:
    """Two discs that meet move differently with each."""
    ends = [end_of(ct.ExactContact(**base | given)) for given in [{}, *others]]
    for k, one in enumerate(ends):
        for other in ends[:k]:
            assert np.abs(one - other).max() > 1e-7, others[k - 1]


def test_only_the_surface_of_solids_meets() -> None:
    with pytest.raises(SetupError, match="ExactContact.*on_grid must be left out or false"):
        ct.SolidBody(MESH, jelly(), contact=ct.ExactContact(), on_grid=True)
    cloth = ct.meshes.Cloth((3, 3), (1.0, 1.0), (0.0, 0.0, 0.0), stiffness=10.0)
    with pytest.raises(SetupError, match="ExactContact.*it is for solids, not for springs"):
        ct.SpringBody(cloth, density=1.0, contact=ct.ExactContact())
    with pytest.raises(SetupError, match="PenaltyContact, a GridContact, an ExactContact or a StrandContact"):
        ct.SolidBody(MESH, jelly(), contact="exact")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"contact": ct.GridContact()}, 'GridContact, but that of "one" an ExactContact.*same kind'),
        ({"contact": ct.PenaltyContact()}, 'PenaltyContact, but that of "one" an ExactContact.*same kind'),
        ({"contact": ct.ExactContact(augury=5)}, 'differs from that of "one" in more than its friction'),
        ({"continuum": "another"}, 'is "another", but that of "one" is "solids".*leave it out'),
    ],
)
def test_solids_meet_in_one_way(others: dict[str, Any], message: str) -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0), integrator="optimization")
    block(sim, (0.0, 0.0), 0.3, name="one")
    sim.add(
        ct.SolidBody(
            ct.meshes.box_mesh((1.0, 0.0), (1.3, 0.3), (2, 2)),
            jelly(),
            **{"contact": ct.ExactContact()} | others,
        )
    )
    with pytest.raises(SetupError, match=message):
        sim.step()


def test_frictions_may_differ() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    block(sim, (0.0, 0.0), 0.3, contact=ct.ExactContact(friction=0.1))
    block(sim, (1.0, 0.0), 0.3, contact=ct.ExactContact(friction=0.5))
    sim.step()
    assert sim.steps == 1


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (ct.boundaries.Periodic(0, -2.0, 2.0), 'boundary of type "periodic".*ExactContact.*GridContact'),
        (ct.boundaries.FixedVelocity((0, 0), (1, 1), (0, 0)), "fixed-velocity.*collider with a motion"),
        (
            ct.colliders.Plane((0.0, 1.0), (0.0, -1.0), mode="sticky"),
            'mode of the collider "plane1".*"separate"',
        ),
        (
            ct.colliders.Plane((0.0, 1.0), (0.0, -1.0), mode="slip"),
            'mode of the collider "plane1".*"separate"',
        ),
    ],
)
def test_what_cannot_act_on_it_is_refused(thing: Any, message: str) -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    block(sim, (0.0, 0.0), 0.3)
    sim.add(thing)
    with pytest.raises(SetupError, match=message):
        sim.step()


def test_a_missing_library_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    real = importlib.import_module

    def without(name: str, package: str | None = None) -> Any:
        if name == "ipctk":
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    sim = ct.Simulation(0.1, (0.0, 0.0))
    block(sim, (0.0, 0.0), 0.3)
    with pytest.raises(MissingExtraError, match=r'ipctk.*pip install "continua\[contact\]"'):
        sim.step()
    assert builtins is not None


SCENE = """
[simulation]
dx = 0.1
gravity = [0.0, -9.81]
integrator = "optimization"

[[solid]]
name = "low"
mesh = {{ type = "box-mesh", lower = [0.0, 0.01], upper = [0.4, 0.41], counts = [3, 3] }}
material = {{ type = "fixed-corotated", E = 5e4 }}
contact = {{ type = "exact", friction = 0.3 }}

[[{kind}]]
name = "high"
{mesh}
contact = {{ type = "exact"{more} }}

[[collider]]
type = "plane"
normal = [0.0, 1.0]

[run]
duration = 0.05
"""
SOLID = """mesh = { type = "box-mesh", lower = [0.1, 0.45], upper = [0.4, 0.75], counts = [2, 2] }
material = { type = "fixed-corotated", E = 5e4 }"""


def test_scene_files_know_it(tmp_path: Any) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(SCENE.format(kind="solid", mesh=SOLID, more=""))
    sim = load_scene(path).build()
    assert all(body.contact == ct.ExactContact(friction=f) for body, f in zip(sim.bodies, (0.3, 0.0)))
    sim.step(0.02)
    assert sim.world.continuum_of(sim.bodies[0]) == "solids"


@pytest.mark.parametrize(
    ("kind", "mesh", "more", "message"),
    [
        ("solid", SOLID, ", augury = 5, share = 2.0", "share"),
        ("solid", SOLID, ", stiffness = 2.0", "stiffness"),
        ("solid", SOLID + "\non_grid = true", "", "on_grid.*leave one of them out"),
        (
            "springs",
            'springs = { type = "chain", points = [[0.1, 0.6], [0.4, 0.6]], stiffness = 10.0 }\nmass = 1.0',
            "",
            'of the type "exact", which is for solids',
        ),
    ],
)
def test_scene_files_name_the_key(tmp_path: Any, kind: str, mesh: str, more: str, message: str) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(SCENE.format(kind=kind, mesh=mesh, more=more))
    with pytest.raises((SceneError, ContinuaError), match=message):
        load_scene(path).build()
