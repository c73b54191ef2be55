"""Elements that are inside out at the start are named, and refused where their material has no energy for it."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.errors import SetupError
from continua.integrators import Optimization
from continua.materials import FixedCorotated, Hencky, NeoHookean

SOFT = {"E": 1e4, "nu": 0.3, "density": 1000.0}
MIRRORED = {2: [[-1.0, 0.0], [0.0, 1.0]], 3: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]}


def mesh(d: int) -> ct.meshes.SimplexMesh:
    return ct.meshes.box_mesh((0.0,) * d, (1.0,) * d, (2,) * d)


def world(d: int, integrator: object = "symplectic") -> ct.Simulation:
    return ct.Simulation(0.5, (0.0, -9.81, 0.0)[:d], integrator=integrator)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("material", [NeoHookean(**SOFT), Hencky(**SOFT)], ids=lambda m: m.label)
@pytest.mark.parametrize("setting", [("symplectic", True), ("optimization", True), ("optimization", False)])
def test_they_are_an_error_without_an_energy(setting, material: ct.materials.Material, d: int) -> None:
    """No energy, no force, no bound on the time step."""
    sim = world(d, setting[0])
    sim.add(ct.SolidBody(mesh(d), material, start=ct.Placed(MIRRORED[d]), on_grid=setting[1], name="block"))
    count = len(mesh(d).cells)
    words = rf'{count} of {count} elements of body "block" .* 0, 1, 2, 3, 4, .*{material.label} has no energy'
    with pytest.raises(SetupError, match=words):
        sim.step()


def test_on_a_grid_they_are_named_in_any_case() -> None:
    sim = world(2)
    body = sim.add(ct.SolidBody(mesh(2), FixedCorotated(**SOFT), start=ct.Placed(MIRRORED[2])))
    with pytest.warns(UserWarning, match="8 of 8 elements .* on a grid points do not pass each other"):
        sim.step()
    assert sim.dt < 0.5 / body.particle_sets()[0].limits.wave_speed  # the bound is there


def test_they_are_named_one_by_one() -> None:
    sim = world(2)
    body = sim.add(ct.SolidBody(mesh(2), NeoHookean(**SOFT)))
    corner = int(np.argmin(body.x.sum(axis=1)))
    touching = np.flatnonzero((body.cells == corner).any(axis=1))
    body.x[corner] += 1.2  # through the opposite edges
    flipped = np.flatnonzero(~(body.J > 0))
    assert len(flipped) and set(flipped) <= set(touching)
    names = ", ".join(map(str, flipped))
    with pytest.raises(SetupError, match=rf"{len(flipped)} of 8 elements .*\(triangle {names}\)"):
        sim.step()


def test_so_are_those_that_are_turned_in_a_run() -> None:
    sim = world(2)
    body = sim.add(ct.SolidBody(mesh(2), NeoHookean(**SOFT)))
    sim.step()
    body.x[:, 0] *= -1
    with pytest.raises(SetupError, match="inside out"):
        sim.step()


def test_a_mesh_that_is_squeezed_in_a_run_takes_shorter_steps_at_once() -> None:
    """Neo-Hookean gets stiffer; the bound was looked up every 32 steps only."""
    sim = world(2)
    body = sim.add(ct.SolidBody(mesh(2), NeoHookean(**SOFT)))
    sim.step()
    before = sim.dt
    body.x[:, 1] *= 0.2
    sim.step()
    assert sim.dt < 0.5 * before


@pytest.mark.parametrize(
    "start", [ct.Placed(MIRRORED[2]), ct.Placed(np.zeros((2, 2))), ct.Scattered((0, 0), (1, 1))]
)
def test_the_optimizer_takes_them_where_there_is_an_energy(start: object) -> None:
    sim = world(2, Optimization())
    body = sim.add(ct.SolidBody(mesh(2), FixedCorotated(**SOFT), start=start, drag=4.0))
    assert not (body.J > 0).all()
    sim.step()
    assert sim.time > 0


def test_cells_of_a_mesh_at_rest_are_turned_the_right_way_round() -> None:
    """Their order is a matter of bookkeeping, unlike where points start."""
    right = mesh(2)
    wrong = ct.meshes.SimplexMesh(right.points, right.cells[:, ::-1].copy())
    sim = world(2)
    body = sim.add(ct.SolidBody(wrong, NeoHookean(**SOFT)))
    np.testing.assert_allclose(body.J, 1.0)
    sim.step()
