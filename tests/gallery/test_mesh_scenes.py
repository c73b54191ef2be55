"""Older methods fail on the gallery scenes of meshes, and what their checks measure has known answers."""

from __future__ import annotations

import numpy as np
import pytest

from continua import Simulation
from continua.bodies.shape_error import shape_error
from continua.bodies.solid_body import SolidBody
from continua.bodies.start import Placed
from continua.gallery._mesh_measure import drift, inverted
from continua.gallery._running import module_of
from continua.geometry.meshes import BoxMesh
from continua.materials import FixedCorotated
from continua.scene import load_scene
from continua.validation.plain_newton import plain_step

FRAME = 1 / 24  # [s]


def scene(name: str, *changes: str) -> tuple[Simulation, int]:
    """The small version, and the number of its frames."""
    loaded = load_scene(name, [*module_of(name).SMALL, *changes])
    return loaded.build(), loaded.run.frames


@pytest.mark.parametrize(("name", "least"), [("cube-stretch", 1), ("cube-pulse", 5)])
def test_plain_newton_fails_on_scripted_cubes(name: str, least: int) -> None:
    """At one step per frame (J15 table A.1); once astray it does not find back."""
    sim, frames = scene(name)
    steps = [
        plain_step(sim.world.mesh_bodies[0], FRAME, k * FRAME, tolerance=1.0, most=30).converged
        for k in range(frames)
    ]
    assert steps[0] and steps.count(False) >= least


def test_plain_newton_does_not_untangle_random_vertices() -> None:
    """Not even those of the middle cube, not within 50 iterations of the first step."""
    sim, _ = scene("cube-random")
    assert not plain_step(sim.world.mesh_bodies[1], FRAME, tolerance=1.0, most=50).converged


def crushed(contact_after: bool) -> int:
    """Most tetrahedra with less than 1 % of their volume in any frame of the dropped ball."""
    sim, frames = scene("ball-drop", *(["collider=[]"] if contact_after else []))
    (ball,), most = sim.world.mesh_bodies, 0
    assert isinstance(ball, SolidBody)
    for _ in range(frames):
        before = ball.x.copy()
        sim.step(FRAME)
        if contact_after:
            ball.x[:, 1] = np.maximum(ball.x[:, 1], 0.0)
            ball.v = (ball.x - before) / FRAME
        most = max(most, int((ball.J < 0.01).sum()))
    return most


def test_contact_after_the_solve_crushes_tetrahedra() -> None:
    """J15 Fig. A.6: the elastic solve must know of the ground."""
    assert crushed(contact_after=False) == 0
    assert crushed(contact_after=True) > 50


def test_measures_of_single_meshes() -> None:
    """A turned cube has its shape, a mirrored or stretched one has not; momentum is found in every direction."""
    turned = Placed([(0, -1, 0), (1, 0, 0), (0, 0, 1)], (3.0, 0.0, 0.0))
    placed = [turned, Placed(np.diag([1, 1, -1])), Placed(np.diag([1.5, 1, 1]))]
    found = []
    for start in placed:
        sim = Simulation(0.1, (0.0, 0.0, 0.0), integrator="optimization")
        rubber = FixedCorotated(E=1e5, nu=0.3, density=1000.0)
        cube = SolidBody(BoxMesh((0, 0, 0), (1, 1, 1), (2, 2, 2)), rubber, start=start, velocity=(0, 3, 4))
        sim.add(cube)
        found.append((shape_error(cube), inverted(sim)))
        assert drift(sim, 5.0) == pytest.approx(1.0)
    assert found[0] == (pytest.approx(0, abs=1e-12), 0)
    assert found[1] == (pytest.approx(1.0), len(cube.cells))
    assert found[2] == (pytest.approx(0.25), 0)
