"""Different kinds side by side: implicit beside explicit continua, and meshes in continua of their own."""

from __future__ import annotations

import meeting_scenes as ms
import numpy as np
import pytest

import continua as ct
from continua.geometry.simplex_mesh import SimplexMesh
from continua.integrators import Optimization, SemiImplicit
from continua.validation.continua_scenes import JELLY, G, H, acceleration, mean_velocity

STIFF = ct.materials.FixedCorotated(1e9, 0.3, 2000.0)


IMPLICIT = [Optimization(), Optimization(tolerance=1e-9), SemiImplicit(), SemiImplicit(tolerance=1e-9)]


@pytest.mark.parametrize("integrator", IMPLICIT, ids=lambda one: f"{type(one).__name__}-{one.tolerance:g}")
def test_snow_meets_a_stiff_block_of_an_implicit_continuum(integrator):
    """Each solve may lose its tolerance of the momentum, contact loses none; the steps are those of snow."""
    sim = ct.Simulation(H, (0.0, 0.0))
    sim.add(ct.Continuum("stiff", integrator=integrator))
    block = sim.add(ms.box((0, 0), (6, 4)), STIFF, continuum="stiff")
    snow = sim.add(ms.box((1, 4.3), (5, 8.3)), ct.materials.Snow(), velocity=(0.2, -1.0))
    sim.add(ct.Contact("stiff", "main", friction=0.3))
    first, size = sim.diagnostics(), float(snow.mass.sum())
    ms.run(sim, 0.1)
    last = sim.diagnostics()
    assert sim.time / sim.steps > 5 * 0.4 * H / STIFF.wave_speed()
    assert mean_velocity(block)[1] < -0.05  # it was hit
    assert abs(sim.contact_impulses["main_stiff"][1]) > 0.3 * size
    for key in ("momentum_x", "momentum_y"):
        assert abs(last[key] - first[key]) < sim.steps * integrator.tolerance * size


@pytest.mark.parametrize("transfer", ["flip:0.95", "pic", "rpic", "polypic:4"])
def test_every_continuum_has_its_own_transfer(transfer):
    """Momentum is kept whatever the other side does; each side keeps what its transfer keeps alone."""
    sim = ct.Simulation(H, (0.0, 0.0))
    sim.add(ct.Continuum("other", transfer=transfer))
    sim.add(ms.box((0, 0), (6, 4)), JELLY, continuum="other")
    block = sim.add(ms.box((1, 4.1), (5, 8.1)), JELLY, velocity=(0.2, -1.0))
    sim.add(ct.Contact("other", "main", friction=0.3))
    first, size = sim.diagnostics(), float(block.mass.sum())
    for _ in range(200):
        sim.step()
    last = sim.diagnostics()
    assert last["total"] < first["total"] * (1 + 1e-12)
    assert max(abs(last[k] - first[k]) for k in ("momentum_x", "momentum_y")) < 1e-12 * size
    assert abs(sim.contact_impulses["main_other"][1]) > 0.3 * size


def cloth(height, velocity, continuum):
    mesh = ct.meshes.Cloth((13, 13), (6 * H, 6 * H), (0.0, height * H, 0.0), stiffness=100.0)
    body = ct.SpringBody(mesh, density=1.0, velocity=velocity)
    body.continuum = continuum
    return body


def cloth_and_block(side, continuum):
    """A block, and a cloth on it (side 1) or under it (-1) that moves away; the velocity that the block gets."""
    sim = ct.Simulation(H, (0.0, 0.0, 0.0))
    block = sim.add(ms.box((-2, -2, -2), (2, 2, 2)), JELLY)
    sim.add(cloth(2.05 * side, (0.0, 0.5 * side, 0.0), continuum))
    for _ in range(40):
        sim.step()
    return float(np.abs(block.v).max())


@pytest.mark.parametrize("side", [1, -1])
def test_a_cloth_that_moves_away_takes_nothing_along(side):
    assert cloth_and_block(side, "cloth") == 0
    assert cloth_and_block(side, None) > 1e-3  # one continuum for both


def test_a_cloth_stops_what_flies_at_it():
    """It does not stick to it afterwards either: free of gravity, the bodies part."""
    sim = ct.Simulation(H, (0.0, 0.0, 0.0))
    block = sim.add(ms.box((-2, -2, -2), (2, 2, 2)), JELLY, velocity=(0.0, -1.0, 0.0))
    sheet = sim.add(cloth(-2.4, None, "cloth"))
    sim.add(ct.Contact("cloth", "main", slack=0.0))
    first = sim.diagnostics()
    for _ in range(150):
        sim.step()
    last = sim.diagnostics()
    size = float(block.mass.sum())
    for axis in "xyz":
        assert abs(last[f"momentum_{axis}"] - first[f"momentum_{axis}"]) < 1e-12 * size
    middle = np.linalg.norm(sheet.x[:, [0, 2]], axis=1) < H
    assert sheet.v[middle, 1].mean() < -0.5  # pushed along
    assert sheet.x[middle, 1].max() < block.x[:, 1].min() + 0.1 * H  # and never passed


@pytest.mark.parametrize("turn", [0.0, 20.0])
def test_particles_slide_off_a_solid_mesh(turn):
    """a = g sin 30 without friction on a mesh whose lowest vertices are held."""
    t, slope = np.radians(turn), np.radians(30)
    along, up = np.array([np.cos(t), np.sin(t)]), np.array([-np.sin(t), np.cos(t)])
    sim = ct.Simulation(H, list(G * (np.sin(slope) * along - np.cos(slope) * up)))
    flat = ct.meshes.BoxMesh((-6 * H, -4 * H), (20 * H, 0.0), (52, 8)).build()
    mesh = SimplexMesh(flat.points @ np.array([along, up]), flat.cells)
    ground = ct.SolidBody(mesh, JELLY, scripted=ct.Scripted(flat.points[:, 1] < -3.9 * H))
    ground.continuum = "mesh"
    sim.add(ground)
    shape = ct.shapes.Rotated(ms.box((0, 0), (8, 4)), turn, None, (0.0, 0.0))
    block = sim.add(shape, JELLY)
    sim.add(ct.Contact("mesh", "main", slack=0.0))
    height = float((block.x @ up).mean())
    assert abs(acceleration(sim, block, along, 0.25) / G - np.sin(slope)) < 0.05
    assert abs((block.x @ up).mean() - height) < 0.2 * H  # neither sunk in nor thrown off
