"""Where mesh bodies are at first, if not at rest, and that they find their shape again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mesh_worlds import FRAME, block, jelly, world

import continua as ct
from continua.bodies.shape_error import shape_error

TURN = ((0.0, -1.0), (1.0, 0.0))
MESH = ct.meshes.box_mesh((0, 0), (1, 1), (3, 3))


def test_placed_turns_and_shifts_but_the_rest_shape_stays() -> None:
    body = ct.SolidBody(MESH, jelly(), start=ct.Placed(TURN, (5.0, 0.0)))
    np.testing.assert_array_equal(body.rest, MESH.points)
    np.testing.assert_allclose(
        body.x, np.column_stack([5 - body.rest[:, 1], body.rest[:, 0]]), rtol=0, atol=1e-15
    )
    assert np.abs(body.forces()).max() < 1e-9  # a rotation does not strain
    stretched = ct.SolidBody(MESH, jelly(), start=ct.Placed(2 * np.eye(2)))
    assert np.abs(stretched.forces()).max() > 1e3
    np.testing.assert_allclose(stretched.J, 4.0)


def test_scattered_is_random_but_the_same_every_time() -> None:
    bodies = [
        ct.SolidBody(MESH, jelly(), start=ct.Scattered((2, 3), (4, 5), seed=seed)) for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(bodies[0].x, bodies[1].x)
    assert (bodies[0].x != bodies[2].x).all()
    for body in bodies:
        assert (body.x >= (2, 3)).all() and (body.x <= (4, 5)).all()
        assert (body.J < 0).any()  # elements are inside out


def test_velocities_are_evaluated_where_the_points_start() -> None:
    body = ct.SpringBody(
        ct.meshes.chain([[0, 0], [1, 0]]), mass=1.0, start=lambda X: X + (0, 7), velocity=lambda x: 2 * x
    )
    np.testing.assert_allclose(body.v, [[0, 14], [2, 14]])


def test_scripted_vertices_start_where_their_script_says() -> None:
    scripts = [
        ct.Scripted([0], ct.motions.Keyframes([0, 1], [(0.5, 0.5), (1, 1)])),
        ct.Scripted([1], start=0.1),  # not yet
    ]
    body = ct.SolidBody(MESH, jelly(), start=ct.Placed(np.zeros((2, 2)), (3.0, 3.0)), scripted=scripts)
    np.testing.assert_allclose(body.x[0], body.rest[0] + 0.5)
    np.testing.assert_array_equal(body.x[1:], np.full((15, 2), 3.0))


@pytest.mark.parametrize(
    "start", [ct.Scattered((0, 0, 0), (1, 1, 1)), ct.Placed(np.zeros((3, 3)), (0.5, 0.5, 0.5))]
)
def test_a_held_cube_recovers_from_random_places_and_from_one_point(start: Any) -> None:
    sim = world((0.0, 0.0, 0.0))
    face = ct.Scripted(ct.shapes.Box((0.5, 0, 0.5), (2, 0.1, 2)))
    body = block(sim, cells=2, E=1e4, start=start, scripted=face, drag=4.0)
    first = shape_error(body)
    for _ in range(72):
        sim.step(FRAME)
    assert first > 0.3
    assert shape_error(body) < 0.02
    assert (body.J > 0.9).all()


def test_without_stiffness_there_is_no_recovery() -> None:
    sim = world((0.0, 0.0, 0.0))
    body = block(sim, cells=2, E=1e-6, start=ct.Scattered((0, 0, 0), (1, 1, 1)), drag=4.0)
    for _ in range(12):
        sim.step(FRAME)
    assert shape_error(body) > 0.3


def test_on_grid_is_kept() -> None:
    assert ct.SolidBody(MESH, jelly()).on_grid is None
    assert ct.SolidBody(MESH, jelly(), on_grid=False).on_grid is False
    assert ct.SpringBody(ct.meshes.chain([[0, 0], [1, 0]]), mass=1.0, on_grid=True).on_grid is True


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ct.Placed([[1, 0], [0, 1], [0, 0]]), "Placed: matrix must have 2 rows of 2 numbers or 3"),
        (lambda: ct.Placed([[1, 0, 0], [0, 1, 0]]), "Placed: matrix must have 2 rows of 2 numbers or 3"),
        (lambda: ct.Placed([[1, 0], [0, np.nan]]), r"Placed: matrix\[1\]\[1\]: .*finite number"),
        (lambda: ct.Placed(np.eye(2), (1, 2, 3)), "Placed: shift needs 2 coordinates like matrix"),
        (lambda: ct.Scattered((0, 0), (1, 1, 1)), "Scattered: lower and upper must have the same number"),
        (lambda: ct.Scattered((0, 0), (1, -1)), "Scattered: no coordinate of upper may be less"),
        (lambda: ct.Scattered((0, 0), (1, 1), seed=-1), "Scattered: seed: .*greater than or equal to 0"),
        (lambda: ct.Placed(np.eye(3)), "a 3D Placed cannot place a 2D mesh"),
        (lambda: ct.Scattered((0, 0, 0), (1, 1, 1)), "a 3D Scattered cannot place a 2D mesh"),
        (lambda: lambda X: X[:3], r"shape \(16, 2\) like the mesh, not \(3, 2\)"),
        (lambda: lambda X: X / 0, "must give finite positions"),
        (lambda: lambda X: "there", r"must give numbers in an array of shape \(16, 2\)"),
        (lambda: (1.0, 2.0), "must be Placed, Scattered or a function of the rest positions, not tuple"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_wrong_starts_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ct.ContinuaError, match=message):
        ct.SolidBody(MESH, jelly(), start=make())
