"""The energy of Coulomb friction with known normal forces."""

from __future__ import annotations

import numpy as np
import pytest

from continua.contact import mesh_friction
from continua.contact.mesh_friction import FrictionEnergy, SlidingContacts

REACH = 0.1


def contacts(d: int, points: int, rng: np.random.Generator) -> SlidingContacts:
    """Some that slide, some that creep, some at rest, on 12 nodes."""
    count = 8
    normals = rng.normal(size=(count, d))
    nodes = np.array([rng.choice(12, points, replace=False) for _ in range(count)])
    weights = np.ones((count, 1))
    if points > 1:
        weights = np.concatenate([-weights, rng.dirichlet(np.ones(points - 1), count)], axis=1)
    return SlidingContacts(
        nodes=nodes,
        weights=weights,
        normals=normals / np.linalg.norm(normals, axis=1)[:, None],
        limits=rng.uniform(0.5, 2.0, count),
        bases=rng.normal(size=(count, d)) * np.repeat([0.0, 0.02, 0.5, 2.0], 2)[:, None],
        reaches=np.full(count, REACH),
    )


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("points", [1, 3])
def test_derivatives(d: int, points: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Central differences, relative 1e-7 (O1); the Hessian is symmetric and nowhere negative."""
    monkeypatch.setattr(mesh_friction, "CAUTION", 0.0)
    rng = np.random.default_rng(1)
    energy = FrictionEnergy([contacts(d, points, rng), contacts(d, 1, rng)])
    x, u, w = (scale * rng.normal(size=(12, d)) for scale in (0.05, 1.0, 1.0))
    h = 1e-6
    slope = (energy.value(x + h * u) - energy.value(x - h * u)) / (2 * h)
    assert np.sum(energy.gradient(x) * u) == pytest.approx(slope, rel=1e-7)
    energy.prepare(x)
    bend = (energy.gradient(x + h * u) - energy.gradient(x - h * u)) / (2 * h)
    np.testing.assert_allclose(energy.product(u), bend, atol=1e-6 * np.abs(bend).max())
    assert np.sum(w * energy.product(u)) == pytest.approx(np.sum(u * energy.product(w)), rel=1e-12)
    columns = [energy.product(e.reshape(12, d)).ravel() for e in np.eye(12 * d)]
    np.testing.assert_allclose(energy.diagonal().ravel(), np.diag(columns), atol=1e-12)
    assert np.linalg.eigvalsh(columns).min() > -1e-9


def test_force_is_coulomb_beyond_the_reach_and_grows_smoothly_below_it() -> None:
    def pull(way: float) -> float:
        one = SlidingContacts(
            nodes=np.array([[0]]),
            weights=np.ones((1, 1)),
            normals=np.array([[0.0, 1.0]]),
            limits=np.array([3.0]),
            bases=np.zeros((1, 2)),
            reaches=np.array([REACH]),
        )
        (force,) = one.forces(np.array([[way, 7.0]]))  # what it moves along the normal does not matter
        assert force[1] == 0
        return float(force[0])

    assert pull(0.0) == 0
    assert pull(-5.0) == pytest.approx(3.0) and pull(REACH) == pytest.approx(-3.0)
    assert pull(REACH / 2) == pytest.approx(-3.0 * 0.75)
    ways = np.linspace(0.0, 2 * REACH, 50)
    assert (np.diff([pull(way) for way in ways]) <= 1e-12).all()


def test_friction_of_pairs_gives_no_force_in_all() -> None:
    rng = np.random.default_rng(2)
    energy = FrictionEnergy([contacts(3, 4, rng)])
    assert np.abs(energy.gradient(rng.normal(size=(12, 3))).sum(axis=0)).max() < 1e-14
