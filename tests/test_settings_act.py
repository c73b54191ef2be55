"""Every setting acts or is refused: a test of all pairs of setting and integrator."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import continua as ct
from continua.errors import SceneError, SetupError
from continua.scene import SimulationSettings, load_scene

JELLY = ct.materials.FixedCorotated(E=1e4, nu=0.3, density=1000.0)
WATER = ct.materials.IncompressibleFluid(1000.0)
INTEGRATORS = ["symplectic", "semi-implicit", "optimization", "incompressible"]
# other than by default, and the integrators in which they act
SETTINGS: dict[str, tuple[object, set[str]]] = {
    "transfer": ("flip:0.9", set(INTEGRATORS)),
    "kernel": ("cubic", set(INTEGRATORS)),
    "stress_transfer": ("mls", {"symplectic"}),
    "deformation": ("exponential", {"symplectic"}),
    "dt": (1e-3, set(INTEGRATORS)),
    "cfl": (0.01, set(INTEGRATORS)),
    "elastic_cfl": (0.1, {"symplectic"}),
    "push_out": (0.0, {"symplectic", "semi-implicit", "optimization"}),  # flow sets particles back by itself
    "seed": (7, set(INTEGRATORS)),
    "precision": ("single", set(INTEGRATORS)),
}
OWN = {
    "semi-implicit": {"implicitness": 0.5, "krylov": "minres", "positive": False, "positions": "implicit"},
    "optimization": {"krylov": "minres", "positions": "explicit", "tolerance": 1e-1},
    "incompressible": {"volume_control": 0.0, "tolerance": 1e-1, "viscous_tolerance": 1e-1},
}


def end(integrator: object, **settings: object) -> np.ndarray:
    """Positions after a few steps of a block that falls on a floor, turning."""
    sim = ct.Simulation(0.05, (0.0, -9.81), integrator=integrator, **settings)  # type: ignore[arg-type]
    flow = sim.world.integrator.incompressible
    spin = ct.velocities.Rigid((0.3, -1.0), angular=3.0, center=(0.0, 0.1))
    material = ct.materials.IncompressibleFluid(1000.0, 5.0) if flow else JELLY
    body = sim.add(ct.shapes.Box((0.0, 0.1), (0.2, 0.2)), material, velocity=spin, sampling="jittered")
    sim.add(ct.colliders.Plane((0.0, 1.0), (0.0, 0.004)))
    while sim.time < 0.04:
        sim.step(0.04 - sim.time)
    return body.x[np.argsort(body.ids)].astype(np.float64)


@pytest.mark.parametrize(("name", "integrator"), list(itertools.product(SETTINGS, INTEGRATORS)))
def test_a_setting_acts_or_is_refused(name: str, integrator: str) -> None:
    value, acts = SETTINGS[name]
    if integrator in acts:
        assert not np.array_equal(end(integrator, **{name: value}), end(integrator))
    else:
        with pytest.raises(SetupError, match=name):
            end(integrator, **{name: value})


@pytest.mark.parametrize(("integrator", "name"), [(i, n) for i, own in OWN.items() for n in own])
def test_settings_of_integrators_act(integrator: str, name: str) -> None:
    made = {
        "semi-implicit": ct.integrators.SemiImplicit,
        "optimization": ct.integrators.Optimization,
        "incompressible": ct.integrators.Incompressible,
    }[integrator]
    assert not np.array_equal(end(made(**{name: OWN[integrator][name]})), end(made()))


def free_cube(**options: object) -> ct.SolidBody:
    return ct.SolidBody(ct.meshes.BoxMesh((0, 0), (0.2, 0.2), (2, 2)), JELLY, **options)  # type: ignore[arg-type]


def test_boundaries_are_refused_for_meshes_on_their_own() -> None:
    for boundary in (
        ct.boundaries.Periodic(0, 0.0, 0.8),
        ct.boundaries.FixedVelocity((0, 0), (1, 1), (0, 0)),
    ):
        sim = ct.Simulation(0.05, (0.0, -9.81), integrator="optimization")
        sim.add(free_cube())
        sim.add(boundary)
        with pytest.raises(SetupError, match="boundary.*on_grid"):
            sim.step(0.01)


def test_contact_of_meshes_is_refused_on_the_grid() -> None:
    sim = ct.Simulation(0.05, (0.0, -9.81))
    sim.add(free_cube(contact=ct.PenaltyContact(friction=0.3)))
    with pytest.raises(SetupError, match="on the grid.*Contact between continua"):
        sim.step()


def test_schemes_of_second_order_are_for_meshes_on_their_own() -> None:
    sim = ct.Simulation(0.05, (0.0, -9.81), integrator=ct.integrators.Optimization(scheme="bdf2"))
    sim.add(ct.shapes.Box((0, 0), (0.2, 0.2)), JELLY)
    with pytest.raises(SetupError, match="scheme.*bdf2.*backward-euler"):
        sim.step()


def test_friction_of_walls_is_refused_in_incompressible_flow() -> None:
    sim = ct.Simulation(0.05, (0.0, -9.81), integrator="incompressible")
    sim.add(ct.shapes.Box((0, 0.1), (0.2, 0.2)), WATER)
    sim.add(ct.colliders.Plane((0, 1), friction=0.5, name="floor"))
    with pytest.raises(SetupError, match='friction of the collider "floor".*sticky'):
        sim.step()


def test_another_integrator_takes_along_what_the_scene_set_for_explicit_steps() -> None:
    """`--set integrator=optimization` of a scene with elastic_cfl; what is asked for beside it is still refused."""

    def settings(*overrides: str) -> SimulationSettings:
        return load_scene("bar", list(overrides)).simulation

    assert settings().elastic_cfl == 0.2
    assert settings("integrator=optimization").elastic_cfl == 0.4
    assert settings("integrator=symplectic").elastic_cfl == 0.2
    assert settings("integrator=optimization", "elastic_cfl=0.3").elastic_cfl == 0.3
    with pytest.raises(SetupError, match="elastic_cfl limits explicit steps only"):
        load_scene("bar", ["integrator=optimization", "elastic_cfl=0.3"]).build().step()


def test_a_contact_between_colliders_is_refused() -> None:
    sim = ct.Simulation(0.05, (0.0, -9.81))
    sim.add(ct.shapes.Box((0, 0.1), (0.2, 0.2)), JELLY)
    sim.add(ct.colliders.Plane((0, 1), name="floor"))
    sim.add(ct.colliders.Plane((1, 0), (-1, 0), name="wall"))
    sim.add(ct.Contact("floor", "wall", friction=0.3))
    with pytest.raises(SetupError, match="both colliders"):
        sim.step()


def test_waves_that_cross_more_than_a_cell_are_refused_unless_forced() -> None:
    """In Python and in scenes with the same sentence."""
    sentence = "elastic_cfl is 1.1, but steps in which waves cross more than a cell are unstable.*force_dt"
    with pytest.raises(SetupError, match=sentence):
        ct.Simulation(0.05, elastic_cfl=1.1)
    with pytest.raises(SceneError, match=sentence):
        load_scene("bar", ["elastic_cfl=1.1"])
    assert ct.Simulation(0.05, elastic_cfl=1.0).world.elastic_cfl == 1.0
    assert load_scene("bar", ["elastic_cfl=1.0"]).simulation.elastic_cfl == 1.0
    forced = load_scene("bar", ["elastic_cfl=1.1", "force_dt=true"]).build()
    assert forced.choose_dt().dt == pytest.approx(5.5 * load_scene("bar").build().choose_dt().dt)
