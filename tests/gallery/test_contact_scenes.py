"""What the checks of meshes in contact measure has known answers."""

from __future__ import annotations

import pytest

import continua as ct
from continua.gallery._contact import clearance, newton_per_step, overlap
from continua.gallery._running import module_of, watched_run
from continua.scene import load_scene


def test_the_check_sees_a_bar_that_was_not_there() -> None:
    """The torus passes where the bars would be, if only the check knows of them."""
    module = module_of("torus-hole")
    scene = load_scene("torus-hole", [*module.SMALL, "duration=0.5"])
    bars = scene.collider[:4]
    scene.collider[:] = scene.collider[4:]

    def watch(sim: ct.Simulation) -> dict[str, float]:
        sim.colliders.extend(bars)
        seen: dict[str, float] = module.watch(sim)
        del sim.colliders[-len(bars) :]
        return seen

    found = {m.quantity: m.passed for m in module.check(watched_run(scene, watch))}
    assert not found["deepest vertex in a collider [m]"]


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
