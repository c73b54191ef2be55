"""What a `GridContact` cannot do is refused with a sentence that says what to change; nothing is ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from solid_worlds import block, jelly

import continua as ct
from continua.errors import ContinuaError, SetupError

MESH = ct.meshes.box_mesh((0.0, 0.0), (1.0, 1.0), (2, 2))
FLUID = ct.materials.IncompressibleFluid()


def solid(**options: Any) -> ct.SolidBody:
    return ct.SolidBody(MESH, jelly(), contact=ct.GridContact(), **options)


def test_its_vertices_are_not_on_a_grid() -> None:
    with pytest.raises(SetupError, match="on_grid must be left out or false"):
        solid(on_grid=True)
    assert solid(on_grid=False).self_moving


def test_springs_have_no_inside() -> None:
    cloth = ct.meshes.Cloth((3, 3), (1.0, 1.0), (0.0, 0.0, 0.0), stiffness=10.0)
    with pytest.raises(SetupError, match="it is for solids, not for springs"):
        ct.SpringBody(cloth, density=1.0, contact=ct.GridContact())


@pytest.mark.parametrize("order", ["solid first", "particles first"])
def test_it_shares_no_continuum_with_particles(order: str) -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    add = [
        lambda: sim.add(solid(continuum="one")),
        lambda: sim.add(ct.shapes.Box((3.0, 0.0), (1.0, 1.0)), jelly(), continuum="one"),
    ]
    first, second = add if order == "solid first" else add[::-1]
    first()
    with pytest.raises(
        SetupError, match='cannot share the continuum "one".*give one of them another continuum'
    ):
        second()


def test_it_shares_no_continuum_with_meshes_on_the_grid() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    sim.add(solid())
    with pytest.raises(SetupError, match="cannot share the continuum"):
        sim.add(ct.SolidBody(MESH, jelly(), on_grid=True, continuum="solids"))


def test_it_does_not_live_in_an_incompressible_flow() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0), integrator="incompressible")
    with pytest.raises(ContinuaError, match="incompressible"):
        sim.add(solid())
    mixed = ct.Simulation(0.1, (0.0, 0.0))
    mixed.add(ct.Continuum("water", integrator="incompressible"))
    with pytest.raises(ContinuaError, match="staggered grid"):
        mixed.add(solid())


def test_a_transfer_of_its_own_would_not_act() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    sim.add(ct.Continuum("solids", transfer="pic"))
    sim.add(solid())
    with pytest.raises(SetupError, match='transfer of the continuum "solids".*leave it out'):
        sim.step()
    plain = ct.Simulation(0.1, (0.0, 0.0), transfer="flip:0.95")  # that of others
    plain.add(solid())
    plain.add(ct.shapes.Box((3.0, 0.0), (1.0, 1.0)), jelly())
    plain.step()


@pytest.mark.parametrize(
    "setting", [{"transfer": "pic"}, {"stress_transfer": "mls"}, {"deformation": "exponential"}]
)
def test_settings_of_particles_are_refused_where_there_are_none(setting: dict[str, Any]) -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0), **setting)
    sim.add(solid())
    with pytest.raises(SetupError, match=next(iter(setting))):
        sim.step()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"friction": -0.1}, "friction"),
        ({"restitution": 1.1}, "restitution"),
        ({"spacing": 0.0}, "spacing"),
        ({"spacing": 2.1}, "spacing"),
        ({"scatter": "even"}, "scatter"),
        ({"gate": "yes"}, "gate"),
        ({"stiffness": 1e5}, "stiffness"),
    ],
)
def test_impossible_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SetupError, match=message):
        ct.GridContact(**options)


def test_every_setting_acts() -> None:
    """Two blocks in contact move differently with each."""
    settings: list[dict[str, Any]] = [
        {}, {"friction": 0.5}, {"restitution": 0.5}, {"gate": False}, {"affine": True}, {"scatter": "averaged"},
        {"spacing": 0.25},
    ]  # fmt: skip
    ends = []
    for given in settings:
        sim = ct.Simulation(0.05, (0.0, 0.0), dt=2e-3)
        contact = ct.GridContact(**given)
        a = block(sim, (0.0, 0.0), 0.3, 3, contact=contact, velocity=(1.0, 0.3))
        block(sim, (0.35, 0.03), 0.3, 3, contact=contact, velocity=(-1.0, -0.3))
        for _ in range(30):
            sim.step()
        ends.append(a.x.copy())
    for k, one in enumerate(ends):
        assert all(np.abs(one - other).max() > 1e-6 for other in ends[:k]), settings[k]


def test_a_first_step_that_is_too_long_is_shortened_and_the_body_named() -> None:
    """A force that no bound knows carries vertices over several cells; steps are halved until it is less than 0.9."""
    sim = ct.Simulation(0.1, (0.0, 0.0))
    body = block(sim, (0.0, 0.0), 0.4, 2, name="jelly", material=jelly(1.0))
    sim.add(ct.BodyForce(lambda body, t: np.full((len(body), 2), 1e4)))
    sim.step()
    assert sim.bound.name == 'points of "jelly" that cross a cell'
    assert 0.2 < body.max_speed * sim.dt / sim.dx <= 0.9


def test_a_body_with_velocities_that_no_step_survives_is_an_error() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    body = block(sim, (0.0, 0.0), 0.4, 2, name="jelly")
    sim.step()
    body.v = np.full_like(body.v, np.nan)
    with pytest.raises(ContinuaError, match="jelly"):
        sim.step()
