"""Friction decides how much sand stays on a solid; what the checks of solids in contact measure has known answers."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.bodies.start import Placed
from continua.gallery import run_scene
from continua.gallery._hybrid import deepest_in, grain_depth, solid_depth
from continua.gallery.twisted_tori import linking

LEFT = "part of the sand left on the bunnies"


def test_more_sand_stays_where_there_is_more_friction() -> None:
    """No layer rests on a slope steeper than the angle of friction (W20 Fig. 4.9)."""
    small = ("dx=0.04", "duration=0.7")
    left = [
        run_scene("bunnies-in-sand", small=True, overrides=[*small, f"contact.friction={friction}"])[LEFT]
        for friction in (0.0, 0.3, 1.0)
    ]
    assert left[0] < 0.05 < left[1] < left[2]


def cubes(gap: float) -> ct.Simulation:
    """Two cubes of 1 m, a gap [m] apart along x."""
    sim = ct.Simulation(dx=0.1, gravity=(0.0, 0.0, 0.0))
    for low in (0.0, 1.0 + gap):
        mesh = ct.meshes.BoxMesh((low, 0.0, 0.0), (low + 1.0, 1.0, 1.0), (2, 2, 2))
        sim.add(ct.SolidBody(mesh, ct.materials.FixedCorotated(), contact=ct.GridContact()))
    return sim


@pytest.mark.parametrize("gap", [-0.15, 0.05])
def test_depth_is_that_of_the_deepest_point_of_a_surface(gap: float) -> None:
    assert solid_depth(cubes(gap)) == pytest.approx(max(-gap, 0.0) / 0.1, abs=1e-9)


def test_depth_of_points_and_of_grains() -> None:
    """Distance to the nearest facet; points on the surface and outside are not in it."""
    sim = cubes(5.0)
    cube = sim.bodies[0]
    assert isinstance(cube, ct.SolidBody)
    x = np.array([[0.5, 0.7, 0.5], [0.2, 0.5, 0.5], [1.0, 0.5, 0.5], [2.0, 0.5, 0.5]])
    assert [deepest_in(cube, x[k : k + 1]) for k in range(4)] == pytest.approx([0.3, 0.2, 0.0, 0.0])
    sim.add(ct.shapes.Box((0.5, 0.5, 1.0), (0.1, 0.1, 0.1)), ct.materials.DruckerPrager(), continuum="sand")
    lowest = sim.world.particle_bodies[0].x[:, 2].min()
    assert grain_depth(sim) == pytest.approx((1.0 - lowest) / 0.1)


def test_a_body_folded_through_itself_is_in_itself() -> None:
    """A bar whose ends are laid into each other."""
    sim = ct.Simulation(dx=0.1, gravity=(0.0, 0.0, 0.0))
    mesh = ct.meshes.BoxMesh((0.0, 0.0, 0.0), (8.0, 1.0, 1.0), (8, 1, 1))
    bar = ct.SolidBody(mesh, ct.materials.FixedCorotated(), contact=ct.GridContact())
    sim.add(bar)
    assert solid_depth(sim) == 0
    angle = bar.rest[:, 0] / 8.0 * 2.2 * np.pi  # more than once around
    radius = 2.0 + bar.rest[:, 1]
    bar.x = np.stack([radius * np.cos(angle), radius * np.sin(angle), bar.rest[:, 2] * 1.0], axis=1)
    assert solid_depth(sim) > 1


@pytest.mark.parametrize(("shift", "links"), [(0.0, 1.0), (3.0, 0.0)])
def test_linked_rings_are_linked_once(shift: float, links: float) -> None:
    sim = ct.Simulation(dx=0.1, gravity=(0.0, 0.0, 0.0))
    for side, axis in ((-1, (0.0, 1.0, 0.0)), (1, (0.0, 0.0, 1.0))):
        torus = ct.shapes.Torus((0.25 * side, 0.0, 0.0), 0.5, 0.12, axis)
        away = Placed(np.eye(3).tolist(), (shift if side > 0 else 0.0, 0.0, 0.0))
        sim.add(ct.SolidBody(ct.meshes.ShapeMesh(torus, 0.12), ct.materials.FixedCorotated(), start=away))
    assert linking(sim) == pytest.approx(links, abs=0.01)
