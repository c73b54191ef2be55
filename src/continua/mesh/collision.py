"""Collisions of mesh bodies with each other and with themselves: an energy of nodes inside a mesh (J15 A.5.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua import _core
from continua.errors import GeometryError, SetupError
from continua.geometry.connected import connected_pieces
from continua.mesh.energy import Array, node_array
from continua.mesh.indices import vertex_indices

EPSILON = 1e-15
"""Smooths the energy at the surface [m^2], for bodies of about a metre."""


class CollisionPairs:
    """Points below facets (edges in 2D, triangles in 3D) at fixed positions, and the energy that drives them out.

    Every pair has the energy k s sqrt(s + epsilon), with the squared distance s from the point to the facet: about
    k depth^3. Its forces and torques balance.

    x (N, d) [m]: positions of all nodes. nodes (P, d+1): the point of every pair, then the facet.
    stiffness: k [N/m^2]; epsilon [m^2].
    """

    def __init__(self, x: ArrayLike, nodes: ArrayLike, *, stiffness: float, epsilon: float = EPSILON) -> None:
        positions = node_array(x)
        if positions.ndim != 2 or positions.shape[1] not in (2, 3):
            raise GeometryError(f"x: expected positions of shape (any, 2 or 3), got {positions.shape}")
        self._shape = positions.shape
        self.nodes = vertex_indices(nodes, positions.shape[1] + 1, "pairs")
        try:
            self._kernel = _core.CollisionPairs(positions, self.nodes, stiffness, epsilon)
        except ValueError as error:
            raise GeometryError(str(error)) from None
        self.weights: (
            Array  # (P, d+1): -1 for the point, and the barycentric coordinates of the closest point
        )
        self.ways: Array  # (P, d) [m]: from the point to the closest point
        self.weights, self.ways = self._kernel.geometry()
        self.stiffness, self.epsilon = stiffness, epsilon

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def depths(self) -> Array:
        """Distance (P,) [m] from every point to its facet."""
        return np.asarray(np.sqrt(np.einsum("pa,pa->p", self.ways, self.ways)))

    @property
    def forces(self) -> Array:
        """Size (P,) [N] of the force on every point, along its way; the facet takes the opposite."""
        s = np.einsum("pa,pa->p", self.ways, self.ways)
        root = np.sqrt(s + self.epsilon)
        return np.asarray(2 * self.stiffness * (root + s / (2 * root)) * np.sqrt(s))  # J15 A.5.3

    def value(self) -> float:
        """Energy [J]."""
        return self._kernel.energy()

    def gradient(self) -> Array:
        """Derivative of the energy by the positions, minus the forces, (N, d) [N]."""
        out = np.empty(self._shape)
        self._kernel.gradient(out)
        return out

    def product(self, dx: ArrayLike) -> Array:
        """Exact Hessian [N/m] times the displacements dx (N, d) [m]: (N, d) [N]."""
        out = np.empty(self._shape)
        self._kernel.product(node_array(dx), out)
        return out

    def diagonal(self) -> Array:
        """Diagonal of the Hessian, (N, d) [N/m]."""
        out = np.empty(self._shape)
        self._kernel.diagonal(out)
        return out


class SelfCollision:
    """Energy of all surface nodes that are inside the mesh: a term of an implicit step (`continua.optimize.Term`).

    The mesh may hold several bodies: cells that hang together. A node is inside a body if the surface of the body goes
    around it; it is pushed to the closest facet of that body, see `CollisionPairs`. In its own body a node is inside
    where another part of the surface goes around it as well; only facets that are closer to that place than to the
    node at rest take part. Cells turned inside out are no collision. The same bits for any number of threads.

    points (N, d) [m]: undeformed positions. cells (M, d+1): triangles or tetrahedra. surface (F, d): their boundary.
    stiffness: k [N/m^2], energy over depth^3 of every node; epsilon [m^2].
    only_others (N,): nodes of bodies that do not collide with themselves although others do.
    own_body: whether bodies collide with themselves too. Bodies crumpled so much that the surface around a node turns
    inside out make that energy jump, and the minimiser stop; see `holding`.
    """

    def __init__(
        self,
        points: ArrayLike,
        cells: ArrayLike,
        surface: ArrayLike,
        *,
        stiffness: float,
        epsilon: float = EPSILON,
        own_body: bool = True,
        only_others: NDArray[np.bool_] | None = None,
    ) -> None:
        rest = np.array(points, dtype=np.float64, order="C")
        if rest.ndim != 2 or rest.shape[1] not in (2, 3) or not np.isfinite(rest).all():
            raise GeometryError(
                f"points: expected finite coordinates of shape (any, 2 or 3), got {rest.shape}"
            )
        if not (stiffness >= 0 and math.isfinite(stiffness) and epsilon > 0 and math.isfinite(epsilon)):
            raise SetupError(
                f"self-collision needs stiffness >= 0 and epsilon > 0, both finite, got {stiffness} and {epsilon}"
            )
        d = rest.shape[1]
        try:
            self._detector = _core.CollisionDetector(
                rest, vertex_indices(cells, d + 1, "cells"), vertex_indices(surface, d, "surface"), own_body
            )
        except ValueError as error:
            raise GeometryError(f"self-collision: {error}") from None
        self.own_body, self._only_others = own_body, only_others
        edges = np.asarray(cells)[:, [(i, j) for i in range(d + 1) for j in range(i)]].reshape(-1, 2)
        self._part = connected_pieces(edges, len(rest))  # (N,) the body of every node
        self._stiffness, self._epsilon = stiffness, epsilon
        self._x = rest
        self._held: NDArray[np.int32] | None = None
        self._pairs = self._found(rest)
        self._prepared = self._pairs

    def find(self, x: ArrayLike) -> NDArray[np.int32]:
        """Which surface nodes are inside, and the facets through which they should leave, (P, d+1)."""
        pairs = np.asarray(self._detector.find(node_array(x)), dtype=np.int32)
        if self._only_others is None:
            return pairs
        own = self._part[pairs[:, 0]] == self._part[pairs[:, 1]]
        return np.ascontiguousarray(pairs[~(own & self._only_others[pairs[:, 0]])])

    def pairs(self, x: ArrayLike) -> CollisionPairs:
        """What collides at the positions x (N, d) [m]; searched once for calls with the same x in a row."""
        if not np.array_equal(x, self._x):
            self._pairs = self._found(x)
            self._x = np.array(x, dtype=np.float64)
        return self._pairs

    @contextmanager
    def holding(self, x: ArrayLike) -> Iterator[None]:
        """Meanwhile the pairs are those of the positions x (N, d) [m], wherever the nodes go: the energy is smooth.

        A node that comes out of its facet is drawn back to it, and nodes that sink in elsewhere are not felt.
        """
        self._held = self.pairs(x).nodes
        try:
            yield
        finally:
            self._held = None
            self._x = np.full_like(self._x, np.nan)  # what is remembered was found otherwise

    def value(self, x: Array) -> float:
        """Energy [J] at the positions x (N, d) [m]."""
        return self.pairs(x).value() if np.isfinite(x).all() else math.inf

    def gradient(self, x: Array) -> Array:
        """Derivative of the energy, minus the forces, (N, d) [N]; pairs do not change in it."""
        return self.pairs(x).gradient()

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        """Make ready for `product` and `diagonal` at x; the Hessian is the exact one in any case."""
        self._prepared = self.pairs(x)

    def product(self, dx: Array) -> Array:
        """Exact Hessian [N/m] at the prepared positions times dx (N, d) [m]: (N, d) [N]."""
        return self._prepared.product(dx)

    def diagonal(self) -> Array:
        """Diagonal of the Hessian at the prepared positions, (N, d) [N/m]."""
        return self._prepared.diagonal()

    def _found(self, x: ArrayLike) -> CollisionPairs:
        nodes = self.find(x) if self._held is None else self._held
        return CollisionPairs(x, nodes, stiffness=self._stiffness, epsilon=self._epsilon)
