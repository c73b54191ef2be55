"""Coulomb friction of points of meshes as an energy of their positions, with normal forces that are known (Li20).

A contact joins a few points with weights: one point with weight 1 slides on an obstacle, a point with weight -1 and the
corners of a facet slide on each other. During a step it slides by

    u = Q (sum_i w_i x_i - base),    Q = I - n n^T,

measured so that u over the time of the step is the sliding velocity at its end. Friction pulls with a force of size
limit f'(|u|) against u, of the energy limit f(|u|): f' = 1 for what slides farther than `reach`, and below it
f' = s (2 - s), s = |u| / reach, so that what sticks creeps by a part of `reach`. The energy is convex, and the
work of the force is never positive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CAUTION = 0.01  # least stiffness along the way that a contact slides, as a part of that of its chord


@dataclass(frozen=True)
class SlidingContacts:
    """K contacts of m points each, with what is kept while the energy is minimised."""

    nodes: NDArray[np.intp]  # (K, m)
    weights: Array  # (K, m)
    normals: Array  # (K, d), unit vectors
    limits: Array  # (K,) [N] friction coefficient times normal force
    bases: Array  # (K, d) [m]: sum_i w_i x_i where nothing has slid
    reaches: Array  # (K,) [m], positive
    obstacle: int | None = None  # number of the collider they slide on; None: bodies on each other

    def _slid(self, x: Array) -> tuple[Array, Array]:
        """Ways u (K, d) and their lengths (K,) [m]."""
        way = np.einsum("km,kma->ka", self.weights, x[self.nodes]) - self.bases
        way -= np.einsum("ka,ka->k", self.normals, way)[:, None] * self.normals
        return way, np.sqrt(np.einsum("ka,ka->k", way, way))

    def value(self, x: Array) -> float:
        """Energy [J] at x (N, d) [m]."""
        _, length = self._slid(x)
        s = np.minimum(length / self.reaches, 1.0)
        within = self.reaches * s * s * (1 - s / 3)
        return float(np.sum(self.limits * (within + length - self.reaches * s)))

    def forces(self, x: Array) -> Array:
        """Friction (K, d) [N]; point i of a contact feels w_i times it."""
        way, length = self._slid(x)
        return -self._over_length(length)[:, None] * way

    def _over_length(self, length: Array) -> Array:
        """limit f'(|u|) / |u| (K,) [N/m]."""
        s = np.minimum(length / self.reaches, 1.0)
        steepness: Array = self.limits * (2 - s) / np.maximum(self.reaches, length)
        return steepness

    def blocks(self, x: Array, caution: float = 0.0) -> Array:
        """Second derivatives of the energy by u (K, d, d) [N/m], none of them negative; along the way that a contact
        slides at least `caution` times the stiffness of its chord."""
        way, length = self._slid(x)
        across = self._over_length(length)
        along = self.limits * 2 * np.maximum(1 - length / self.reaches, 0.0) / self.reaches
        along = np.maximum(along, caution * across)
        unit = np.divide(way, length[:, None], out=np.zeros_like(way), where=length[:, None] > 0)
        tangent = np.eye(x.shape[1]) - self.normals[:, :, None] * self.normals[:, None, :]
        found: Array = across[:, None, None] * tangent
        return found + (along - across)[:, None, None] * unit[:, :, None] * unit[:, None, :]


class FrictionEnergy:
    """The energy of several `SlidingContacts` over the positions (N, d) of all points; a term of a step.

    A point that two contacts hold feels both.
    """

    def __init__(self, groups: list[SlidingContacts]) -> None:
        self.groups = groups

    def value(self, x: Array) -> float:
        return sum(group.value(x) for group in self.groups)

    def gradient(self, x: Array) -> Array:
        total = np.zeros_like(x)
        for group in self.groups:
            _add(total, group, -group.forces(x))
        return total

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        """What slides feels the same force wherever it is: no stiffness along its way, so that a Newton step does not
        see where sliding ends and turns round. With many contacts one of them always turns, and cuts the steps of all
        to nothing (an impact needs hundreds of iterations, or never ends); a small part of the chord's stiffness, which
        could never overshoot, prevents that and hardly slows down what slides.
        """
        self._shape = x.shape
        self._blocks = [group.blocks(x, CAUTION) for group in self.groups]

    def product(self, dx: Array) -> Array:
        total = np.zeros_like(dx)
        for group, blocks in zip(self.groups, self._blocks):
            change = np.einsum("km,kma->ka", group.weights, dx[group.nodes])
            _add(total, group, np.einsum("kab,kb->ka", blocks, change))
        return total

    def diagonal(self) -> Array:
        total = np.zeros(self._shape)
        for group, blocks in zip(self.groups, self._blocks):
            own = np.einsum("kaa->ka", blocks)
            np.add.at(total, group.nodes, (group.weights**2)[:, :, None] * own[:, None, :])
        return total


def _add(total: Array, group: SlidingContacts, of_contacts: Array) -> None:
    """Share what belongs to contacts (K, d) among their points."""
    np.add.at(total, group.nodes, group.weights[:, :, None] * of_contacts[:, None, :])
