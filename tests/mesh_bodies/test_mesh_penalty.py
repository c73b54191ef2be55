"""Sampled colliders push mesh bodies out by an energy (spec 2.4)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import trimesh
from mesh_worlds import block, forces, world

import continua as ct
from continua.contact.mesh_contact import ContactSurface
from continua.contact.mesh_penalty import LevelSetPenalty


@cache
def ball_mesh(radius: float, middle: float) -> ct.colliders.Mesh:
    ball = trimesh.creation.icosphere(subdivisions=3, radius=radius)
    return ct.colliders.Mesh(
        vertices=ball.vertices + [0.5, middle, 0.5], faces=ball.faces, resolution=40, friction=0.2
    )


def test_penalty_derivatives() -> None:
    ball = ball_mesh(2.0, -2.0)
    spin = ct.motions.Spin(1.0, (0.0, 0.0, 0.0), (1.0, 2.0, 0.5))
    given = {"vertices": ball.vertices, "faces": ball.faces, "resolution": 24, "motion": spin}
    rng = np.random.default_rng(3)
    pose = spin.pose(0.4)
    center = pose.position + pose.rotation @ [0.5, -2.0, 0.5]
    x = center + rng.uniform(-1.5, 1.5, (30, 3))
    for inverted in (False, True):
        (surface,) = ContactSurface.of(ct.colliders.Mesh(**given, inverted=inverted), 0, 0.4)
        at = x if not inverted else center + 3 * (x - center)
        term = LevelSetPenalty(surface, np.ones(30, bool), 1e4)
        u, eps = rng.standard_normal(at.shape), 1e-6
        slope = (term.value(at + eps * u) - term.value(at - eps * u)) / (2 * eps)
        assert (term.gradient(at) * u).sum() == pytest.approx(slope, rel=1e-7)
        term.prepare(at)
        change = (term.gradient(at + eps * u) - term.gradient(at - eps * u)) / (2 * eps)
        product = term.product(u)
        np.testing.assert_allclose(product, change, atol=1e-6 * np.abs(change).max())
        assert len(term.reaction(at)[0]) > 10


def test_a_sampled_collider_carries_a_block() -> None:
    sim = world((0.0, -9.81, 0.0))
    body = block(sim, height=0.01, cells=3, damping=0.02, drag=1.0)
    middle = (body.rest[:, [0, 2]] == body.rest[:, [0, 2]].mean(axis=0)).all(axis=1)
    assert not middle.any()
    ball = sim.add(ball_mesh(2.0, -2.0))
    for _ in range(72):
        sim.step()
    depth = -ball.signed_distance(body.x)[0].min()
    assert 0 < depth < 0.1 / 3  # a tenth of an edge
    np.testing.assert_allclose(forces(sim)[0, 1], 9810, rtol=1e-2)
    assert np.abs(body.v).max() < 0.1


def test_stiffer_penalties_are_sunk_into_less() -> None:
    """By sqrt(f / 3k) for a force f on a point."""
    depths = []
    for penalty in (1e4, 4e4):
        sim = world((0.0, -9.81, 0.0))
        mesh = ct.meshes.chain([[0.4, 0.0, 0.5], [0.6, 0.0, 0.5]], 1e3)
        contact = ct.PenaltyContact(obstacle_stiffness=penalty)
        rod = sim.add(ct.SpringBody(mesh, mass=(1.0, 1.0), drag=10.0, contact=contact))
        ball = sim.add(ball_mesh(2.0, -2.0))
        for _ in range(72):
            sim.step()
        depths.append(-ball.signed_distance(rod.x)[0].min())
        assert depths[-1] == pytest.approx(np.sqrt(9.81 / (3 * penalty)), rel=0.15)
    assert depths[0] / depths[1] == pytest.approx(2, rel=0.15)
