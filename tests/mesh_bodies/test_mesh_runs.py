"""Mesh bodies in runs: frames, checkpoints, diagnostics, time steps, mixtures with particles, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mesh_worlds import FRAME, block, jelly, world

import continua as ct
from continua.io.frames import read_frame
from continua.running import frame_of


def busy(scheme: str = "bdf2") -> ct.Simulation:
    """A plastic block, a cloth and a floor."""
    sim = world((0.5, -9.81, 0.0), scheme=scheme)
    mesh = ct.meshes.box_mesh((0, 0.1, 0), (1, 1.1, 1), (2, 2, 2))
    sim.add(ct.SolidBody(mesh, ct.materials.VonMises(E=1e5, nu=0.3, yield_stress=2e3), velocity=(0, -3, 0)))
    cloth = ct.meshes.Cloth((4, 4), (1.0, 1.0), (3.0, 0.5, 0.0))
    sim.add(
        ct.SpringBody(cloth, mass=2.0, scripted=ct.Scripted([0, 3]), drag=0.5, damping=1e-3, name="cloth")
    )
    sim.add(ct.colliders.Plane((0, 1, 0), friction=0.3))
    return sim


def test_a_run_continues_with_the_same_bits(tmp_path: Path) -> None:
    whole, first = busy(), busy()
    for _ in range(8):
        whole.step(FRAME)
    for _ in range(4):
        first.step(FRAME)
    state = first.state()
    second = busy()
    second.load_state(state)
    for _ in range(4):
        second.step(FRAME)
    for a, b in zip(whole.world.mesh_bodies, second.world.mesh_bodies):
        np.testing.assert_array_equal(a.x, b.x)
        np.testing.assert_array_equal(a.v, b.v)
    np.testing.assert_array_equal(whole.impulses, second.impulses)
    solid = whole.world.mesh_bodies[0]
    assert isinstance(solid, ct.SolidBody)
    history = solid.elements.history()
    assert any(values.any() for name, values in history.items() if name != "inverse_edges")  # it has flowed


def test_frames_show_the_surface(tmp_path: Path) -> None:
    sim = busy("backward-euler")
    sim.run(frames=2, fps=24, output=tmp_path / "run")
    assert sim.steps == 2  # one step per frame
    frame = read_frame(sorted((tmp_path / "run" / "frames").glob("*.npz"))[-1])
    solid, cloth = frame.bodies
    assert (solid.kind, cloth.kind) == ("mesh", "springs")
    np.testing.assert_allclose(solid.x, sim.world.mesh_bodies[0].x, rtol=1e-6)
    np.testing.assert_array_equal(solid.surface, sim.world.mesh_bodies[0].surface)
    np.testing.assert_array_equal(cloth.cells, sim.world.mesh_bodies[1].cells)
    assert cloth.name == "cloth" and frame_of(sim, 2).particles == 27 + 16
    resumed = busy("backward-euler")
    resumed.run(frames=4, fps=24, output=tmp_path / "run", resume=True)
    again = busy("backward-euler")
    again.run(frames=4, fps=24)
    np.testing.assert_array_equal(resumed.world.mesh_bodies[1].x, again.world.mesh_bodies[1].x)


def test_diagnostics_count_mesh_bodies() -> None:
    sim = world((0.0, -9.81, 0.0))
    body = block(sim, height=1.0, velocity=ct.velocities.Rigid((1.0, 0.0, 0.0), (0.0, 0.0, 2.0)))
    sim.step()
    row = sim.diagnostics()
    assert row["mass"] == pytest.approx(1000)
    assert row["kinetic"] == pytest.approx(0.5 * body.mass @ (body.v**2).sum(axis=1))
    assert row["elastic"] == pytest.approx(body.energy.value(body.x))
    assert row["potential"] == pytest.approx(9810 * row["center_y"])
    assert row["momentum_x"] == pytest.approx(1000)
    spin = (body.mass[:, None] * np.cross(body.x, body.v)).sum(axis=0)
    assert row["angular_z"] == pytest.approx(spin[2])
    assert {"newton_iterations", "krylov_iterations", "unconverged", "seconds_meshes"} <= row.keys()
    assert row["max_speed"] == pytest.approx(np.linalg.norm(body.v, axis=1).max())


def test_the_step_is_a_frame_unless_given() -> None:
    sim = world()
    block(sim)
    summary = sim.summary()
    assert (summary.expected_dt, summary.dt_bound) == (FRAME, "frame")
    assert (summary.bodies[0].name, summary.bodies[0].particles) == ("solid1", 16)
    assert sim.step() == FRAME
    assert sim.step(0.1) == 0.1
    sim = world(dt=0.01)
    block(sim)
    assert sim.step(1.0) == 0.01


def test_threads_do_not_change_the_bits() -> None:
    found, threads = [], ct.threads()
    for count in (1, 2):
        ct.set_threads(count)
        sim = busy()
        for _ in range(4):
            sim.step(FRAME)
        found.append(np.concatenate([body.x for body in sim.world.mesh_bodies]))
    ct.set_threads(threads)
    np.testing.assert_array_equal(*found)


def test_stiffness_may_differ_between_elements() -> None:
    sim = world((0.0, 0.0))
    mesh = ct.meshes.box_mesh((0, 0), (2, 1), (8, 4))
    ends = [
        ct.Scripted(lambda x: x[:, 0] == 0),
        ct.Scripted(lambda x: x[:, 0] == 2, ct.motions.Linear((0.1, 0.0), stop=1.0)),
    ]
    vary = {"E": lambda x: np.where(x[:, 0] < 1, 1e5, 4e5), "density": lambda x: 1000 + 0 * x[:, 0]}
    body = sim.add(ct.SolidBody(mesh, jelly(nu=0.0), vary=vary, scripted=ends, drag=5.0))
    for _ in range(72):
        sim.step(FRAME)
    middle = body.rest[:, 0] == 1
    assert (body.x[middle, 0] - 1).mean() == pytest.approx(0.08, rel=0.02)  # springs in a row: 4 to 1
    assert body.mass.sum() == pytest.approx(2000)


def test_forces_act_on_mesh_bodies_too() -> None:
    sim = world((0.0, 0.0), dt=0.01)
    body = block(sim)
    sim.add(ct.BodyForce(lambda body, t: np.tile([2.0, 0.0], (len(body.x), 1))))
    for _ in range(10):
        sim.step()
    np.testing.assert_allclose(body.v, np.tile([0.2, 0.0], (16, 1)), atol=1e-9)


def test_meshes_off_the_grid_share_steps_with_particles_but_do_not_meet_them() -> None:
    sim = ct.Simulation(0.1, (0.0, -9.81), integrator="optimization")
    particles = sim.add(ct.shapes.Box((0.5, 0.5), (0.6, 0.6)), jelly(), velocity=(0, -3))
    mesh = block(sim, height=0.0, on_grid=False)
    sim.add(ct.colliders.Plane((0, 1), (0, -1)))
    alone = ct.Simulation(0.1, (0.0, -9.81), integrator="optimization")
    same = alone.add(ct.shapes.Box((0.5, 0.5), (0.6, 0.6)), jelly(), velocity=(0, -3))
    alone.add(ct.colliders.Plane((0, 1), (0, -1)))
    for _ in range(3):
        assert sim.step() == alone.step() < FRAME
    np.testing.assert_array_equal(particles.x, same.x)
    assert sim.diagnostics()["mass"] == pytest.approx(1000 + 360, rel=0.05)
    assert mesh.v[:, 1].max() < 0


def test_what_does_not_fit_is_refused() -> None:
    mesh = ct.meshes.box_mesh((0, 0), (1, 1), (1, 1))
    with pytest.raises(
        ct.ContinuaError, match='off the grid needs integrator="optimization", not Symplectic'
    ):
        ct.Simulation(0.1, (0, -9.81)).add(ct.SolidBody(mesh, jelly(), on_grid=False))
    with pytest.raises(ct.ContinuaError, match="the solid is 2D but gravity makes the world 3D"):
        world((0.0, -9.81, 0.0)).add(ct.SolidBody(mesh, jelly()))
    with pytest.raises(ct.ContinuaError, match="needs springs; use a SolidBody"):
        ct.SpringBody(mesh, mass=1.0)
    with pytest.raises(ct.ContinuaError, match="needs either mass"):
        ct.SpringBody(ct.meshes.chain([[0, 0], [1, 0]]))
    with pytest.raises(ct.ContinuaError, match="positive finite mass"):
        ct.SpringBody(ct.meshes.chain([[0, 0], [1, 0]]), mass=(1.0, 0.0))
    sim = world()
    body = block(sim, name="jelly")
    with pytest.raises(ct.ContinuaError, match="added already"):
        sim.add(body)
    with pytest.raises(ct.ContinuaError, match='the name "jelly" is already used'):
        block(sim, name="jelly")
    with pytest.raises(ct.ContinuaError, match="has 1 bodies but this simulation has 0"):
        world().load_state(sim.state())


def test_masses_of_springs_follow_the_sheet_or_the_length() -> None:
    chain = ct.SpringBody(ct.meshes.chain([[0, 0], [1, 0], [3, 0]]), density=2.0)
    np.testing.assert_allclose(chain.mass, [1, 3, 2])
    cloth = ct.SpringBody(ct.meshes.Cloth((5, 5), (2.0, 2.0)), density=0.5)
    assert cloth.mass.sum() == pytest.approx(2.0)
    assert ct.SpringBody(ct.meshes.Cloth((5, 5), (2.0, 2.0)), mass=3.0).mass.sum() == pytest.approx(3.0)


def test_a_step_that_does_not_converge_says_so() -> None:
    sim = world((0.0, 0.0, 0.0), max_iterations=1)
    body = block(sim, name="ball", E=1e8)
    body.x[:] = np.random.default_rng(0).random(body.x.shape)
    with pytest.raises(
        ct.ContinuaError, match='mesh body "ball" .*"max_iter" after 5 iterations.*use a smaller dt'
    ):
        sim.step()
    assert sim.steps == 0


def struck(dt: float | None = None) -> ct.Simulation:
    """A block hits the ground so hard that two iterations are not enough for a whole frame."""
    sim = world(max_iterations=2, dt=dt)
    sim.add(ct.colliders.Plane((0, 1)))
    block(sim, height=0.1, cells=6, nu=0.4, velocity=(0, -20))
    return sim


def test_a_frame_that_does_not_converge_is_taken_in_parts() -> None:
    sim = struck()
    assert sim.step(FRAME) <= FRAME / 2 and sim.bound.name == "solver"
    while sim.time < 6 * FRAME - 1e-9:
        sim.step(6 * FRAME - sim.time)
    (body,) = sim.world.mesh_bodies
    assert body.x[:, 1].min() >= -1e-12 and body.max_speed < 5  # it has been stopped


def test_a_fixed_step_that_does_not_converge_is_an_error() -> None:
    sim = struck(FRAME)
    before = sim.world.mesh_bodies[0].x.copy()
    with pytest.raises(ct.ContinuaError, match=r'"solid1" .* did not converge: it ended as "max_iter"'):
        sim.step(FRAME)
    np.testing.assert_array_equal(sim.world.mesh_bodies[0].x, before)
