"""Vertices that go where they are told, and what a body does in between."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import FRAME, block, world

import continua as ct

LEFT, RIGHT = ct.shapes.Box((0, 0.5, 0.5), (0.1, 2, 2)), ct.shapes.Box((1, 0.5, 0.5), (0.1, 2, 2))


def pulled(times: list[float], shifts: list[float]) -> list[ct.Scripted]:
    """Both ends of a cube move apart by twice these shifts."""
    return [
        ct.Scripted(end, ct.motions.Keyframes(times, [(side * shift, 0, 0) for shift in shifts]))
        for end, side in ((LEFT, -1), (RIGHT, 1))
    ]


def test_a_bar_stretched_at_frame_steps_follows_its_ends_and_thins() -> None:
    sim = world((0.0, 0.0, 0.0))
    body = block(sim, scripted=pulled([0, 0.5], [0, 0.25]), nu=0.3)
    for _ in range(24):
        sim.step(FRAME)
        ends = np.isin(body.rest[:, 0], [0, 1])
        shift = 0.5 * min(sim.time, 0.5) * (2 * body.rest[ends, 0] - 1)
        np.testing.assert_allclose(body.x[ends, 0], body.rest[ends, 0] + shift, atol=1e-12)
    middle = np.isclose(body.rest[:, 0], 1 / 3) & (body.rest[:, 1] == 1)
    assert body.x[middle, 1].max() < 0.97  # thinner than at rest, as nu > 0 wants
    assert sim.diagnostics()["newton_iterations"] <= 4


def test_scripts_take_masks_numbers_functions_shapes_and_may_end() -> None:
    chosen = np.arange(4)
    for vertices in (chosen, np.arange(16) < 4, lambda x: x[:, 0] == 0, ct.shapes.Box((0, 0.5), (0.1, 2))):
        sim = world()
        body = block(sim, scripted=ct.Scripted(vertices, stop=2 * FRAME))
        for _ in range(2):
            sim.step(FRAME)
        np.testing.assert_array_equal(body.x[chosen], body.rest[chosen])
        assert not body.v[chosen].any()
        assert body.x[-1, 1] < body.rest[-1, 1]
        sim.step(FRAME)
        assert (body.x[chosen, 1] < body.rest[chosen, 1]).all()


def test_a_function_moves_every_vertex_on_its_own() -> None:
    sim = world()
    body = block(
        sim, scripted=ct.Scripted([0, 5], lambda t: np.array([[t, 0.0], [0.5 - t, 0.5]])), velocity=(0.0, 0.0)
    )
    sim.step(FRAME)
    np.testing.assert_allclose(body.x[[0, 5]], [[FRAME, 0], [0.5 - FRAME, 0.5]])
    np.testing.assert_allclose(body.v[0], [1, 0])


@pytest.mark.parametrize(
    ("vertices", "motion", "message"),
    [
        ([99], None, "must have numbers from 0 to 15"),
        (np.zeros(16, bool), None, "no vertex of the mesh is chosen"),
        (np.ones(7, bool), None, "needs 16 entries, not 7"),
        (LEFT, None, "3D shape cannot choose vertices of a 2D mesh"),
        ([0], lambda t: [[np.nan, 0]], r"finite positions of shape \(1, 2\)"),
        ([0], lambda t: "there", r"finite positions of shape \(1, 2\)"),
        ("all", None, "vertices"),
    ],
)
def test_wrong_scripts_are_refused(vertices: object, motion: object, message: str) -> None:
    sim = world()
    with pytest.raises(ct.ContinuaError, match=message):
        block(sim, scripted=ct.Scripted(vertices, motion))
        sim.step()


def test_scripts_account_for_the_momentum_they_give() -> None:
    """A block that hangs by its upper edge and is carried along: pull and weight make up its momentum."""
    sim = world(tolerance=1e-10)
    top = ct.Scripted(lambda x: x[:, 1] > 0.99, ct.motions.Linear(velocity=(0.5, 0.0)))
    body = block(sim, scripted=top)
    for _ in range(12):
        sim.step(1 / 24)
    gained = body.mass @ body.v
    assert gained == pytest.approx(body.mass.sum() * sim.gravity * sim.time + body.pull[:2], abs=1e-6 * 9810)
    assert body.pull[1] > 0.5 * 9.81 * body.mass.sum() * sim.time  # and it carries weight
