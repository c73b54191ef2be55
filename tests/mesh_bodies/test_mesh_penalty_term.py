"""The energy of sampled colliders and its derivatives (O1): to 1e-7, symmetric, and with a sign that repels."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import continua as ct
from continua.contact.mesh_contact import ContactSurface
from continua.contact.mesh_penalty import LevelSetPenalty

STIFFNESS = 1e4  # [N/m^2]


@pytest.fixture(scope="module")
def surface() -> ContactSurface:
    ball = trimesh.creation.icosphere(subdivisions=3, radius=1.0)
    collider = ct.colliders.Mesh(vertices=ball.vertices, faces=ball.faces, resolution=24)
    return ContactSurface.of(collider, 0, 0.0)[0]


@pytest.fixture(scope="module")
def x() -> np.ndarray:
    """Points in the ball and around it."""
    return np.random.default_rng(0).uniform(-0.8, 0.8, (20, 3))


def penalty(surface: ContactSurface, x: np.ndarray, stiffness: float = STIFFNESS) -> LevelSetPenalty:
    term = LevelSetPenalty(surface, np.ones(len(x), bool), stiffness)
    term.prepare(x)
    return term


def derivative_errors(term: LevelSetPenalty, other: LevelSetPenalty, x: np.ndarray) -> tuple[float, float]:
    """Of the gradient and the products of `other` against central differences of `term`, relative."""
    dx = np.random.default_rng(1).standard_normal(x.shape)
    h = 1e-5

    def slope(f):  # type: ignore[no-untyped-def]
        return (8 * (f(x + h * dx) - f(x - h * dx)) - (f(x + 2 * h * dx) - f(x - 2 * h * dx))) / (12 * h)

    gradient, change = other.gradient(x), other.product(dx)
    return (
        abs(slope(term.value) - np.vdot(gradient, dx)) / np.linalg.norm(gradient),
        float(np.linalg.norm(slope(term.gradient) - change) / np.linalg.norm(change)),
    )


def test_o1_derivatives_of_the_penalty(surface: ContactSurface, x: np.ndarray) -> None:
    term = penalty(surface, x)
    assert max(derivative_errors(term, term, x)) < 1e-7
    assert min(derivative_errors(term, penalty(surface, x, 1.001 * STIFFNESS), x)) > 1e-5


def test_o1_products_of_the_penalty_are_symmetric(surface: ContactSurface, x: np.ndarray) -> None:
    term = penalty(surface, x)
    u, w = np.random.default_rng(2).standard_normal((2, *x.shape))
    Hu, Hw = term.product(u), term.product(w)
    assert abs(np.vdot(w, Hu) - np.vdot(u, Hw)) < 1e-12 * np.abs(w * Hu).sum()


def test_negative_stiffness_of_the_penalty_is_left_out_on_request(
    surface: ContactSurface, x: np.ndarray
) -> None:
    """Points in a ball lose force as they move along its surface; those outside feel nothing."""
    term = penalty(surface, x)
    units = np.broadcast_to(np.eye(3)[:, None], (3, *x.shape))
    exact = np.linalg.eigvalsh(np.stack([term.product(u) for u in units], axis=2))
    term.prepare(x, positive=True)
    positive = np.linalg.eigvalsh(np.stack([term.product(u) for u in units], axis=2))
    np.testing.assert_allclose(positive, np.maximum(exact, 0), atol=1e-10 * exact.max())
    assert exact.min() < -0.1 * exact.max()


def test_the_penalty_is_positive_and_pushes_out(surface: ContactSurface, x: np.ndarray) -> None:
    """The printed sign, +k phi^3, attracts (J15 A.5.2)."""
    term, printed = penalty(surface, x), LevelSetPenalty(surface, np.ones(len(x), bool), -STIFFNESS)
    some, force = term.reaction(x)
    outwards = (force * x[some]).sum(axis=1)
    assert len(some) >= 10 and (outwards > 0).all() and term.value(x) > 0
    assert (-printed.gradient(x)[some] * x[some]).sum(axis=1).max() < 0 > printed.value(x)
