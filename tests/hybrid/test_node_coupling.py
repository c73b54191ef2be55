"""A node of a solid and another continuum: one impulse for both, and no cohesion (W20 section 4.7, G20 appendix C)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from continua import _core
from continua.contact.collision_particles import coulomb_impulses

Array = NDArray[np.float64]
COUNT = 3000


class Node(NamedTuple):
    """Masses (2,), velocities (2, 3) of a body and what it meets, outward normal of the body (3,), friction."""

    mass: Array
    u: Array
    n: Array
    mu: float

    @property
    def approach(self) -> float:
        return float((self.u[0] - self.u[1]) @ self.n)

    @property
    def reduced(self) -> float:
        return float(self.mass[0] * self.mass[1] / self.mass.sum())


def nodes() -> list[Node]:
    rng = np.random.default_rng(19)
    n = rng.normal(size=(COUNT, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    mass, u, mu = rng.uniform(0.1, 3, (COUNT, 2)), rng.normal(size=(COUNT, 2, 3)), rng.uniform(0, 1.2, COUNT)
    return [Node(*each) for each in zip(mass, u, n, mu)]


Law = Callable[[Node], Array]


def library(node: Node) -> Array:
    """What a step does at a node where both are in contact: velocities after (2, 3)."""
    u, impulse, pair = node.u.copy(), np.zeros((1, 3)), np.array([[0, 1]], np.int32)
    _core.resolve_meeting(node.mass, u, pair, node.n[None].copy(), np.zeros(1), np.array([node.mu]), impulse)
    return u


def as_printed(node: Node) -> Array:
    """W20 (4.46)-(4.50): friction is cut for each side by its own mass."""
    r, push = node.u[0] - node.u[1], max(node.reduced * node.approach, 0.0)
    slide = r - node.approach * node.n
    t, size = slide / np.linalg.norm(slide), np.linalg.norm(slide)
    sides = [push * node.n / m + (min(node.mu * push / m, size) if push else 0.0) * t for m in node.mass]
    return node.u - np.array([1, -1])[:, None] * sides


def glued(node: Node) -> Array:
    """One velocity for both, as on a single grid."""
    return np.tile(node.mass @ node.u / node.mass.sum(), (2, 1))


def errors(law: Law) -> dict[str, float]:
    """The worst of every property over random nodes."""
    worst = dict.fromkeys(("momentum", "energy", "approach", "parting", "turning"), 0.0)
    for node in nodes():
        after = law(node)
        r, s = node.u[0] - node.u[1], after[0] - after[1]
        found = {
            "momentum": np.abs(node.mass @ (after - node.u)).max() / (node.mass @ np.abs(node.u)).max(),
            "energy": 0.5 * node.mass @ ((after**2).sum(axis=1) - (node.u**2).sum(axis=1)),
        }
        if node.approach > 0:
            t, after_t = (v - v @ node.n * node.n for v in (r, s))
            found |= {"approach": abs(s @ node.n), "turning": -float(t @ after_t)}
        else:
            found["parting"] = np.abs(after - node.u).max()
        worst = {name: max(value, float(found.get(name, 0.0))) for name, value in worst.items()}
    return worst


def test_one_impulse_for_both() -> None:
    """Momentum 1e-13, energy not raised, no approach left, separating pairs untouched, sliding never turned round."""
    found = errors(library)
    assert found["parting"] == 0.0
    assert max(found.values()) <= 1e-13


def test_friction_cut_for_each_side_would_not_do() -> None:
    found = errors(as_printed)
    assert found["momentum"] > 0.1 and found["turning"] > 1e-3


def test_a_common_grid_would_glue() -> None:
    found = errors(glued)
    assert found["momentum"] <= 1e-13 and found["parting"] > 0.1


def three_grids(node: Node, e: float = 0.0) -> Array:
    """Impulse on the body as a collision particle reads it from the grid of both: G20 (C.11), W20 (4.20)-(4.23)."""
    common = node.mass @ node.u / node.mass.sum()
    change = (common - node.u[0])[None]
    return coulomb_impulses(change, node.n[None], node.mass[:1], friction=node.mu, restitution=e)[0]


@pytest.mark.parametrize("e", [0.0, 1.0])
def test_two_and_three_grids_agree_at_one_node_without_restitution(e: float) -> None:
    """For e = 0 both give the body the opposite of what the other gets; a factor 1 + e on one side would not."""
    gap, balance = 0.0, 0.0
    for node in nodes():
        other = node.mass[1] * (library(node)[1] - node.u[1])
        two = node.mass[0] * (library(node)[0] - node.u[0])
        three = three_grids(node, e)
        gap = max(gap, float(np.abs(three - two).max()))
        balance = max(balance, float(np.abs(three + other).max()))
    if e == 0:
        assert gap <= 1e-13 and balance <= 1e-13
    else:
        assert gap > 0.1 and balance > 0.1
