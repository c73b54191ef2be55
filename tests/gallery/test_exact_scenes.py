"""What the scenes of exact contact measure, and what they say beyond their own checks."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.gallery import run_scene
from continua.gallery._exact import energy_of_motion, given, intersecting, momenta, motion, unexplained
from continua.gallery._running import SceneRun

BACKWARD_EULER = 'integrator={type="optimization",tolerance=1e-9}'
FREE = ct.PenaltyContact("off")


def two_boxes(apart: float, **options: object) -> ct.Simulation:
    """Two boxes of side 0.4 m, of which one is turned, with their middles so far apart [m]."""
    sim = ct.Simulation(0.2, (0.0, -9.81, 0.0), integrator=ct.integrators.Optimization(tolerance=1e-10))
    turn = ct.Placed(((0.6, -0.8, 0.0), (0.8, 0.6, 0.0), (0.0, 0.0, 1.0)), (apart, 0.0, 0.0))
    for start in (None, turn):
        mesh = ct.meshes.box_mesh((-0.2, -0.2, -0.2), (0.2, 0.2, 0.2), (2, 2, 2))
        material = ct.materials.FixedCorotated(E=1e4, nu=0.3, density=1000.0)
        sim.add(ct.SolidBody(mesh, material, start=start, contact=FREE, **options))  # type: ignore[arg-type]
    return sim


@pytest.mark.parametrize(("apart", "crosses"), [(0.3, True), (0.47, True), (0.49, False), (0.8, False)])
def test_crossing_surfaces_are_seen(apart: float, crosses: bool) -> None:
    """The edge of a box turned by arccos 0.6 is 0.2 (0.6 + 0.8) from its middle: boxes touch at 0.48 m."""
    assert intersecting(two_boxes(apart)) is crosses


def test_a_surface_that_crosses_itself_is_seen() -> None:
    """One end of a bar is put through its other end."""
    sim = ct.Simulation(0.1, (0.0, 0.0, 0.0), integrator="optimization")
    mesh = ct.meshes.box_mesh((0.0, 0.0, 0.0), (1.0, 0.1, 0.1), (10, 1, 1))
    material = ct.materials.FixedCorotated(E=1e4, nu=0.3, density=1000.0)
    bar = sim.add(ct.SolidBody(mesh, material, contact=FREE))
    assert not intersecting(sim)
    x = bar.rest.copy()
    end = x[:, 0] > 0.85
    x[end] = np.array([0.03, 0.02, 0.03]) + (x[end] - x[end].min(axis=0)) @ np.diag([0.3, 3.0, 0.4])
    bar.x = x
    assert intersecting(sim)


def test_all_that_pushes_is_counted() -> None:
    """Weight and scripts explain the momentum of boxes; without the weight they do not (a control)."""
    hold = ct.Scripted(ct.shapes.Box((0.0, 0.2, 0.0), (1.0, 0.01, 1.0)), ct.motions.Linear((0.3, 0.0, 0.0)))
    sim = two_boxes(1.0, scripted=hold)
    start = sim.diagnostics()
    sim.run(0.1)
    assert motion(sim) > 0
    assert unexplained(SceneRun(sim, start, {})) < 1e-8
    before = np.array([start[f"momentum_{axis}"] for axis in "xyz"])
    weight = sim.time * sum(body.mass.sum() for body in sim.bodies) * sim.gravity
    assert np.abs(momenta(sim)[0] - before - given(sim)).max() < 1e-6
    assert np.abs(momenta(sim)[0] - before - given(sim) + weight).max() > 10.0


def test_energy_of_motion_of_bodies_that_fly_freely() -> None:
    """Is their kinetic energy, before the first step and after."""
    sim = ct.Simulation(0.2, (0.0, 0.0, 0.0), integrator="optimization")
    mesh = ct.meshes.box_mesh((-0.2, -0.2, -0.2), (0.2, 0.2, 0.2), (2, 2, 2))
    material = ct.materials.FixedCorotated(E=1e4, nu=0.3, density=1000.0)
    sim.add(ct.SolidBody(mesh, material, velocity=(2.0, 0.0, 0.0), contact=FREE))
    for _ in range(3):
        assert energy_of_motion(sim) == pytest.approx(0.5 * 64.0 * 4.0, rel=1e-9)
        sim.step()


@pytest.mark.parametrize("dt", [0.0015, 0.003, 0.0045])
def test_the_bent_body_is_never_in_itself_whatever_the_steps(dt: float) -> None:
    """Exactness does not depend on the step (M23 Fig. 11 has one of 3 ms)."""
    report = run_scene("bent-body", small=True, overrides=[f"dt={dt}"])
    assert report["steps after which surfaces pass through each other"] == 0, report.failure
    assert report.passed, report.failed


P = "most change of the momentum, over sum m |v|"
L = "most change of the angular momentum, over sum m |v| and the radius"


def test_what_each_way_of_stepping_keeps() -> None:
    """M23 Figs. 12 and 15: explicit both momenta, backward Euler one of them, and as printed none."""
    explicit = run_scene("momentum-plots", small=True)
    recoil = run_scene("momentum-plots", small=True, overrides=[BACKWARD_EULER])
    printed = run_scene(
        "momentum-plots",
        small=True,
        overrides=[BACKWARD_EULER, "solid.contact.final_velocity=printed"],
    )
    assert explicit[P] < 1e-12 and explicit[L] < 1e-12
    assert recoil[P] < 1e-8 and recoil[L] > 1e-4
    assert printed[P] > 1e-4 and printed[L] > 1e-4


def test_the_grid_leaves_less_to_impulses() -> None:
    """M23 section 9.2: of the meetings of pushed blocks augury prevents most, without friction of its own."""
    name = "meetings that impulses stopped"
    alone = run_scene("pushed-blocks", small=True, overrides=["solid.contact.augury=off"])
    everywhere = run_scene("pushed-blocks", small=True, overrides=["solid.contact.gate=neighbours"])
    assert alone[name] > 300
    assert everywhere[name] < 0.5 * alone[name]
