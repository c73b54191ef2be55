"""Strands that are rooted: in bodies, in what moves as told, or in the air."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import continua as ct
from continua.bodies.roots import Roots, roots_of
from continua.errors import GeometryError, SetupError
from continua.geometry.curves import Curves
from continua.geometry.rotation import rotation_matrix

CUBE = ct.meshes.BoxMesh((-0.1, -0.1, -0.1), (0.1, 0.1, 0.1), (2, 2, 2))
SOFT = ct.materials.FixedCorotated(E=1e5, density=1000)
ROD = ct.materials.Rod(E=1e6, radius=4e-3)
TURN = rotation_matrix(0.7, (1, 2, -1), 3)
SHIFT = np.array([0.3, -0.2, 0.5])
SPIN = ct.motions.Spin(2.0, (0, 0, 0), (0, 0, 1))


def cube(**options: object) -> ct.SolidBody:
    return ct.SolidBody(CUBE, SOFT, **options)  # type: ignore[arg-type]


def fur(on: object, **options: object) -> ct.meshes.Fur:
    return ct.meshes.Fur(on, 12, 0.2, 5, **options)  # type: ignore[arg-type]


def rooted(curves: Curves) -> np.ndarray:
    """The first two points (2 S, 3) of every strand."""
    first = curves.offsets[:-1]
    return curves.points[np.stack([first, first + 1], axis=1).ravel()]


def test_roots_are_the_first_two_vertices() -> None:
    curves = Curves(np.random.default_rng(0).random((9, 3)), [2, 4, 3])
    roots = Roots(curves, ct.motions.Fixed())
    assert roots.numbers.tolist() == [0, 1, 2, 3, 6, 7]
    assert np.array_equal(roots.places(3.0), curves.points[[0, 1, 2, 3, 6, 7]])
    assert roots.bodies == []


def test_a_motion_moves_them_as_one() -> None:
    curves = fur(ct.shapes.Sphere((0, 0, 0), 0.1)).build()
    roots = Roots(curves, SPIN)
    turn = rotation_matrix(2.0 * 0.4, (0, 0, 1), 3)
    assert np.abs(roots.places(0.4) - rooted(curves) @ turn.T).max() < 1e-15
    assert np.abs(roots.rotations(0.4) - turn).max() < 1e-15


def moved_rigidly(x: np.ndarray) -> np.ndarray:
    return np.asarray(SHIFT + x @ TURN.T)


def shifted_only(x: np.ndarray) -> np.ndarray:
    return np.asarray(x + (moved_rigidly(x) - x).mean(axis=0))


@pytest.mark.parametrize(("move", "right"), [(moved_rigidly, True), (shifted_only, False)])
def test_roots_go_with_a_body_that_moves_rigidly(
    move: Callable[[np.ndarray], np.ndarray], right: bool
) -> None:
    body = cube()
    curves = fur(body, lean=(0, -1, 0)).build()
    roots = Roots(curves, body)
    assert np.abs(roots.places(0.0) - rooted(curves)).max() < 1e-15
    body.x = moved_rigidly(body.x)
    expected = move(rooted(curves))
    assert (np.abs(roots.places(0.0) - expected).max() < 1e-14) == right
    assert (np.abs(roots.rotations(0.0) - TURN).max() < 1e-13) == right or not right


def test_a_body_that_is_stretched_bends_no_root() -> None:
    """The root stays at its place in the facet, the first segment keeps its length and its angle to the facet."""
    body = cube()
    curves = fur(body).build()
    roots = Roots(curves, body)
    stretch = np.array([[1.5, 0.4, 0.0], [0.1, 0.8, 0.0], [0.2, 0.0, 1.1]])
    body.x = body.x @ stretch.T
    before, after = rooted(curves).reshape(-1, 2, 3), roots.places(0.0).reshape(-1, 2, 3)
    assert np.abs(after[:, 0] - before[:, 0] @ stretch.T).max() < 1e-15
    step, normal = after[:, 1] - after[:, 0], before[:, 1] - before[:, 0]
    length = np.linalg.norm(normal, axis=1)
    assert np.linalg.norm(step, axis=1) == pytest.approx(length, rel=1e-12)
    turned = normal @ np.linalg.inv(stretch)  # normals go with the inverse transposed
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    assert np.einsum("sc,sc->s", step, turned) == pytest.approx(length, rel=1e-12)


def test_roots_go_ahead_of_the_body_at_its_velocity() -> None:
    body = cube()
    roots = Roots(fur(body).build(), body)
    body.v = np.tile([1.0, 2.0, 3.0], (len(body), 1))
    here = roots.places(5.0)  # nobody has said of which time the body is
    roots.time = 4.5
    assert np.abs(roots.places(5.0) - here - 0.5 * np.array([1, 2, 3])).max() < 1e-14


def test_strands_beside_their_body_are_refused() -> None:
    hair = ct.meshes.Bundle((0, 0.35, 0), (0, 1, 0), 0.01, 3, 5)
    with pytest.raises(
        GeometryError, match=r'rooted 0.25 m from the surface of the solid "box", further than'
    ):
        ct.Strands(hair, ROD, roots=cube(name="box"))
    near = ct.meshes.Bundle((0, 0.11, 0), (0, 1, 0), 0.01, 3, 5)
    assert ct.Strands(near, ROD, roots=cube()).roots is not None


def test_what_strands_follow_if_nothing_is_said() -> None:
    ball, body = ct.shapes.Sphere((0, 0, 0), 0.1), cube()
    held, grown = fur(ball), fur(body)
    assert isinstance(ct.Strands(held, ROD).roots.follow, ct.motions.Fixed)
    assert ct.Strands(grown, ROD).roots.follow is body
    assert ct.Strands(grown, ROD, roots="held").roots.bodies == []
    assert ct.Strands(grown, ROD, roots=SPIN).roots.follow is SPIN
    assert ct.Strands(held, ROD, roots="free").roots is None
    assert ct.Strands(ct.meshes.Strand([(0, 0, 0), (1, 0, 0)], 4), ROD).roots is None
    with pytest.raises(SetupError, match='roots must be a body, a motion, "held" or "free", not 3'):
        roots_of(held, held.build(), 3)  # type: ignore[arg-type]


def test_a_body_that_is_not_there_is_an_error() -> None:
    sim = ct.Simulation(0.05, (0, -9.81, 0))
    body = cube(name="head")
    strands = ct.Strands(fur(body), ROD)
    with pytest.raises(
        SetupError, match='the strands grow on a body "head" .* not in this simulation; add that'
    ):
        sim.add(strands)
    sim.add(body)
    sim.add(strands)


def simulation(integrator: str = "symplectic", **options: object) -> tuple[ct.Simulation, ct.Strands]:
    """Fur on a cube that turns as told."""
    sim = ct.Simulation(0.05, (0, -9.81, 0), integrator=integrator)
    body = sim.add(cube(name="head", scripted=ct.Scripted(lambda x: np.ones(len(x), bool), SPIN)))
    return sim, sim.add(ct.Strands(fur(body), ROD, name="hair", **options))  # type: ignore[arg-type]


def run_for(sim: ct.Simulation, duration: float) -> float:
    """Steps until then; the longest [s]."""
    largest = 0.0
    while sim.time < duration:
        before = sim.time
        sim.step(duration - sim.time)
        largest = max(largest, sim.time - before)
    return largest


@pytest.mark.parametrize("on_grid", [None, True])
@pytest.mark.parametrize("integrator", ["symplectic", "optimization"])
def test_hair_turns_with_the_head_that_it_grows_on(integrator: str, on_grid: bool | None) -> None:
    sim, hair = simulation(integrator, on_grid=on_grid)
    start = hair.x[hair.roots.numbers]
    run_for(sim, 0.1)
    turned = start @ rotation_matrix(2.0 * sim.time, (0, 0, 1), 3).T
    assert np.abs(hair.x[hair.roots.numbers] - turned).max() < 1e-12
    assert np.abs(start - turned).max() > 0.01
    length = np.linalg.norm(np.diff(hair.x.reshape(12, 6, 3), axis=1), axis=2)
    assert length == pytest.approx(0.04, rel=0.05)  # the strands hang together


@pytest.mark.parametrize("integrator", ["symplectic", "optimization"])
def test_hair_flies_with_a_head_that_nobody_holds(integrator: str) -> None:
    """Roots are where the surface gets at its velocity in a step, so that they are late by its acceleration only."""
    sim = ct.Simulation(0.05, (0, 0, 0), integrator=integrator)
    spin = ct.velocities.Rigid((1.0, 0, 0), angular=(0, 0, 2.0), center=(0, 0, 0))
    body = sim.add(cube(velocity=spin))
    hair = sim.add(ct.Strands(fur(body), ROD, velocity=spin))
    largest = run_for(sim, 0.05)
    off = hair.x[hair.roots.numbers[::2]]
    near = ct.shapes.Mesh(vertices=body.x, faces=body.surface)
    # 2 m/s^2 is twice the acceleration of the corners, 2^2 0.17 m/s^2, and more than the pull of hair
    late = np.abs(near.signed_distance(off)).max()
    assert late < 2.0 * largest**2 + 1e-12
    assert late < 0.05 * 0.1 * 1.0  # much less than a root that stays


def test_hair_flies_with_a_rigid_body() -> None:
    """The feet of all roots stay at their places on it, but for its acceleration in a step."""
    sim = ct.Simulation(0.05, (0, -9.81, 0))
    spin = ct.velocities.Rigid((1.0, 0, 0), angular=(0, 3.0, 2.0), center=(0, 0, 0))
    body = sim.add(ct.RigidBody(ct.shapes.Box((0, 0, 0), (0.2, 0.3, 0.4)), density=500, velocity=spin))
    hair = sim.add(ct.Strands(fur(body), ROD))
    largest = run_for(sim, 0.05)
    assert np.abs(hair.x[hair.roots.numbers] - hair.rest[hair.roots.numbers]).max() > 0.04
    # gravity and 3.6^2 0.27 m/s^2 of the corners, twice
    late = np.abs(hair.x[hair.roots.numbers] - hair.roots.places(sim.time)).max()
    assert late < 2 * (9.81 + 3.6**2 * 0.27) * largest**2 + 1e-12


def test_free_strands_fall_and_held_ones_hang() -> None:
    ends = {}
    for roots in ("held", "free"):
        sim = ct.Simulation(0.05, (0, -9.81, 0))
        hair = sim.add(ct.Strands(fur(ct.shapes.Sphere((0, 0, 0), 0.1)), ROD, roots=roots))
        start = hair.x.copy()
        while sim.time < 0.05:
            sim.step(0.05 - sim.time)
        ends[roots] = hair.x - start
        rooted = Roots(hair.curves, ct.motions.Fixed()).numbers
        moved = np.abs(ends[roots][rooted]).max()
        assert moved == 0 if roots == "held" else moved > 0.01
    assert ends["free"][:, 1].mean() == pytest.approx(-9.81 * 0.05**2 / 2, rel=0.1)


def test_a_script_counts_more_than_the_root() -> None:
    _, hair = simulation(scripted=ct.Scripted([0, 1], ct.motions.Linear((0, 1, 0))))
    held, places = hair.scripted_at(0.5)
    assert len(np.unique(held)) == len(held) == 24
    where = dict(zip(held.tolist(), places, strict=True))
    assert np.abs(where[0] - hair.rest[0] - [0, 0.5, 0]).max() < 1e-15
    assert np.abs(where[6] - hair.roots.places(0.5)[2]).max() < 1e-15


def test_a_run_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    whole, hair = simulation()
    whole.run(0.04, output=tmp_path / "whole", fps=100, checkpoint_interval=1)
    part, _ = simulation()
    part.run(0.02, output=tmp_path / "part", fps=100, checkpoint_interval=1)
    again, other = simulation()
    again.run(0.04, output=tmp_path / "part", fps=100, checkpoint_interval=1, resume=True)
    assert np.array_equal(hair.x, other.x) and np.array_equal(hair.v, other.v)
    assert hair.roots.time == other.roots.time == pytest.approx(0.04)
