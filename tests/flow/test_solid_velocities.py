"""Velocities in and at solids on the MAC grid: what walls pass on, stop or let slide."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray
from solid_grids import Grid

import continua as ct
from continua.contact.colliders import Collider


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 3])
def test_walls_along_the_grid_pass_on_their_speed_exactly(d: int, dtype: DTypeLike) -> None:
    tank = ct.colliders.Box(
        (0.0,) * d, (1.0,) * d, inverted=True, mode="slip", motion=ct.motions.Linear((0.3, -0.1, 0.7)[:d])
    )
    grid = Grid(d, dtype=dtype).put([tank])
    velocity = np.random.default_rng(4).normal(size=grid.open.shape).astype(dtype)
    bound = grid.constrain(velocity)
    for a in range(d):
        other = np.delete(grid.cells, a, -1)
        beside = np.all((other >= -5) & (other < 5), axis=-1)
        wall = beside & (np.abs(grid.cells[..., a]) == 5)
        assert np.count_nonzero(wall) == 2 * 10 ** (d - 1)
        assert np.all(bound[wall, a] == dtype((0.3, -0.1, 0.7)[a]))
        inside = beside & (np.abs(grid.cells[..., a]) < 5)
        assert np.array_equal(bound[inside, a], velocity[inside, a])
    assert np.array_equal(bound[..., d:], velocity[..., d:])


def _reference(grid: Grid, solid: Collider, velocity: NDArray, a: int) -> tuple[NDArray, NDArray, NDArray]:
    """Distance (cells), normal and full velocity at the centres of faces a (axis order as in dense arrays)."""
    phi, n = solid.signed_distance(grid.face_centres(a).reshape(-1, grid.d))
    field = grid.dense(velocity)
    full = np.empty((*field.shape[:-1], grid.d))
    for b in range(grid.d):
        f = field[..., b]
        full[..., b] = f if b == a else (f + np.roll(f, -1, b) + np.roll(f + np.roll(f, -1, b), 1, a)) / 4
    shape = grid.cells.shape[:-1]
    return grid.dense(phi.reshape(shape)) / grid.dx, grid.dense(n.reshape(*shape, -1)), full


@pytest.mark.parametrize("mode", ["slip", "separate", "sticky"])
@pytest.mark.parametrize("d", [2, 3])
def test_flow_in_a_sphere_keeps_what_its_surface_allows(d: int, mode: str) -> None:
    drift = np.array([0.4, 0.2, -0.3][:d])
    ball = ct.colliders.Sphere(
        (0.01, 0.02, 0.03)[:d], 0.55, mode=mode, motion=ct.motions.Linear(tuple(drift))
    )
    grid = Grid(d).put([ball])
    velocity = np.random.default_rng(5).normal(size=grid.open.shape)
    bound = grid.dense(grid.constrain(velocity))
    for a in range(d):
        phi, n, u = _reference(grid, ball, velocity, a)
        w = u - drift
        speed = np.sum(w * n, -1)
        if mode == "separate":
            speed = np.minimum(speed, 0)
        allowed = u[..., a] - speed * n[..., a]
        if mode == "sticky":
            allowed = np.full_like(allowed, drift[a])
        allowed = np.where(phi < -3, drift[a], allowed)
        closed = grid.dense(grid.open)[..., a] == 0
        np.testing.assert_allclose(bound[closed, a], allowed[closed], atol=1e-12)
        assert np.array_equal(bound[~closed, a], u[~closed, a])
        assert np.any(closed & (phi < -3)) and np.any(closed & (phi > -1))


def test_a_uniform_flow_slides_around_a_disc() -> None:
    """The constrained field has hardly a normal component left near the surface, and its full tangential one."""
    disc = ct.colliders.Sphere((0.01, 0.02), 0.6, mode="slip")
    grid = Grid(2).put([disc])
    velocity = np.zeros(grid.open.shape)
    velocity[..., 0] = 1.0
    phi, n = disc.signed_distance(grid.dx * (grid.cells.reshape(-1, 2) + 0.5))
    near = (grid.dense(phi.reshape(grid.cells.shape[:-1])) / grid.dx < -0.9) & (
        grid.dense(phi.reshape(grid.cells.shape[:-1])) / grid.dx > -2
    )
    normal = grid.dense(n.reshape(grid.cells.shape))[near]
    tangent = np.stack([-normal[:, 1], normal[:, 0]], -1)

    def parts(field: NDArray) -> tuple[float, float]:
        f = grid.dense(field)
        centre = np.stack([(f[..., b] + np.roll(f[..., b], -1, b)) / 2 for b in range(2)], -1)[near]
        along = np.sum(centre * tangent, -1) - tangent[:, 0]
        return float(np.abs(np.sum(centre * normal, -1)).max()), float(np.abs(along).max())

    through, along = parts(grid.constrain(velocity))
    assert through < 0.03
    assert along < 0.1
    assert parts(velocity)[0] > 0.9  # nothing done
