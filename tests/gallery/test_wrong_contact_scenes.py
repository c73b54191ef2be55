"""The checks of meshes in contact can tell right from wrong, and what they measure has known answers."""

from __future__ import annotations

import runpy

import pytest
from wrong_scene import assert_check_fails

import continua as ct
from continua.gallery._contact import clearance, newton_per_step, overlap
from continua.scene import catalogue, load_scene

WRONG = [
    ("torus-ground", ["solid.contact.collisions=others"], "torus is in itself"),
    ("torus-hole", ["collider.mode=sticky"], "through the hole"),
    ("box-stack", ["solid.contact.collisions=off"], "box is in another"),
    ("blob-between-cubes", ["solid.material.nu=0"], "of the volume is left"),
    ("tori-bowl", ["solid.contact.collisions=off"], "tori are in each other"),
    ("tori-bowl", ["solid.contact.obstacle_stiffness=1e5"], "in the bowl"),
]


@pytest.mark.parametrize(("name", "changes", "complaint"), WRONG)
def test_a_wrong_setting_fails_the_check(name: str, changes: list[str], complaint: str) -> None:
    """Bodies that do not see themselves or each other, bars of glue, a sponge for jelly, a bowl of foam."""
    assert_check_fails(name, changes, complaint)


def test_the_check_sees_a_bar_that_was_not_there() -> None:
    """The torus passes where the bars would be, if they come only after the run."""
    content = runpy.run_path(str(catalogue.path("torus-hole")))
    scene = load_scene("torus-hole", [*content["SMALL"], "duration=0.5"])
    bars = scene.collider[:4]
    scene.collider[:] = scene.collider[4:]
    sim = scene.build()
    start = sim.diagnostics()
    sim.run(frames=scene.run.frames, fps=scene.run.fps)
    for bar in bars:
        sim.add(bar)
    with pytest.raises(AssertionError, match="inside a collider"):
        content["check"](sim, start)


def boxes(shift: float) -> ct.Simulation:
    """A cube of 1 m with one of half its size on it, as high as `shift` [m] above it."""
    sim = ct.Simulation(dx=0.1, gravity=(0.0, 0.0, 0.0), integrator="optimization")
    material = ct.materials.FixedCorotated()
    sim.add(ct.SolidBody(ct.meshes.BoxMesh((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (2, 2, 2)), material))
    lower, upper = (0.2, 1.0 + shift, 0.2), (0.7, 1.5 + shift, 0.7)
    sim.add(ct.SolidBody(ct.meshes.BoxMesh(lower, upper, (1, 1, 1)), material))
    return sim


@pytest.mark.parametrize("shift", [-0.05, 0.05])
def test_overlap_is_the_depth_of_the_deepest_vertex(shift: float) -> None:
    assert overlap(boxes(shift)) == pytest.approx(max(-shift, 0.0), abs=1e-12)


def test_clearance_is_that_of_the_nearest_analytic_collider() -> None:
    sim = boxes(0.05)
    sim.add(ct.colliders.Plane((0.0, 1.0, 0.0), (0.0, -0.3, 0.0)))
    assert clearance(sim) == pytest.approx(0.3)
    sim.add(ct.colliders.Sphere((1.0, 1.0, 1.0), 0.25))
    assert clearance(sim) == pytest.approx(-0.25)
    sim.add(ct.colliders.Box((0.5, 0.5, 0.5), (0.4, 4.0, 4.0), inverted=True))
    assert clearance(sim) == pytest.approx(-0.3)


def test_free_bodies_need_no_newton_iterations() -> None:
    sim = boxes(0.05)
    sim.step()
    assert newton_per_step(sim) == 0
