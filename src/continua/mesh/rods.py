"""Discrete elastic rods."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import spsolve

from continua import _core
from continua._validation import numbers_of_shape, shown
from continua.errors import GeometryError, MaterialError
from continua.geometry.curves import Curves
from continua.materials.rod import Rod
from continua.mesh.energy import Array, BlockHessian, NativeEnergy, Operator, node_array

ALONG = 1e-6  # a director must lean away from its edge by more than this angle


class RodHessian(BlockHessian):
    """Second derivative of the energy of rods whose sections turn as their points move.

    Turning couples all points of a strand, so that the matrix has full blocks along its diagonal. Products know them
    without storing them; the pattern and its blocks are those of sections that cannot turn, and no less stiff.
    """

    _kernel: _core.MeshRods

    def __init__(self, kernel: _core.MeshRods, nodes: tuple[int, int], curve: NDArray[np.int32]) -> None:
        super().__init__(kernel, nodes)
        self._curve = curve  # of every point

    def blocks(self) -> Array:
        """The blocks of the pattern (n, 3, 3), column by column."""
        own, before = np.empty((2, len(self._curve), 9))
        self._kernel.edge_blocks(self.values, own, before)
        own, before = own.reshape(-1, 3, 3), before.reshape(-1, 3, 3)
        zero = np.zeros((1, 3, 3))
        after = np.concatenate([before[1:], zero])
        band = np.zeros((len(own), 5, 3, 3))
        band[:, 2] = own + np.concatenate([zero, own[:-1]]) - before - before.transpose(0, 2, 1)
        band[:, 3], band[:, 4] = before + after - own, -after
        for k in (1, 2):  # what is below the diagonal
            band[k:, 2 - k] = band[:-k, 2 + k].transpose(0, 2, 1)
        return np.ascontiguousarray(band[self._neighbours()].transpose(0, 2, 1))

    def matrix(self) -> sparse.bsr_matrix:
        """All of it as a SciPy matrix (N d, N d), for direct solvers."""
        count = len(self._curve)
        coupling, factors = np.empty((count, 9)), np.empty((count, 2))
        self._kernel.angle_blocks(self.values, coupling, factors)
        angles = np.repeat(np.arange(count), 9)
        edges = (np.arange(count)[:, None] + np.repeat([-1, 0, 1], 3)).ravel()
        columns = 3 * edges + np.tile([0, 1, 2], 3 * count)
        real = (edges >= 0) & (edges < count)
        turn = sparse.csr_matrix(
            (coupling.ravel()[real], (angles[real], columns[real])), shape=(count, 3 * count)
        )
        difference = sparse.eye(3 * count, k=3) - sparse.eye(3 * count)
        lower = (sparse.eye(count) + sparse.diags(factors[1:, 0], -1)).tocsc()
        moved = spsolve(lower, (turn @ difference).tocsc())
        return (super().matrix() - moved.T @ sparse.diags(factors[:, 1]) @ moved).tobsr((3, 3))

    def _neighbours(self) -> NDArray[np.bool_]:
        """Which of the points i - 2 to i + 2 are on the curve of point i, (N, 5)."""
        padded = np.concatenate([[-1, -1], self._curve, [-1, -1]])
        return np.stack([padded[k : k + len(self._curve)] for k in range(5)], axis=1) == self._curve[:, None]


class Rods(NativeEnergy):
    """Energy of stretching, bending and twisting of elastic rods (Be08, Be10, W20 section 4.3.2).

    curves: the rods at rest, without stress. material: their section and stiffness. directors: where the first half
    axis of the section points at rest, a vector (3,) or one for the edge that begins at each point (N, 3); left out, it
    turns along the curve without twist.

    Sections turn until the energy is least: it is one of the positions alone. How they are turned and twisted is
    counted from the last positions that were accepted, so that x in `value`, `gradient` and `hessian` may be a trial;
    only `accept` changes that state.
    """

    _kernel: _core.MeshRods

    def __init__(self, curves: Curves, material: Rod, *, directors: ArrayLike | None = None) -> None:
        if not isinstance(material, Rod):
            raise MaterialError(f"material: strands are made of ct.materials.Rod, not of {shown(material)}")
        self.curves, self.material = curves, material
        nodes = (len(curves.points), 3)
        stretching, bending = material.stretching_stiffness, material.bending_stiffness
        self.parameters = np.array([stretching, *bending, material.twisting_stiffness])
        try:
            kernel = _core.MeshRods(
                node_array(curves.points),
                np.require(curves.offsets, np.int32, ["C", "W"]),
                _rest_directors(curves, directors),
                stretching,
                bending,
                material.twisting_stiffness,
            )
        except ValueError as error:
            raise GeometryError(f"strands: {error}") from None
        super().__init__(kernel, nodes)

    def lumped_mass(self) -> Array:
        """Masses of the points (N,) [kg]: every edge shares its mass equally among its ends."""
        segments = self.curves.segments
        length = np.linalg.norm(np.diff(self.curves.points[segments], axis=1)[:, 0], axis=1)
        half = 0.5 * self.material.density * self.material.area * length
        return np.bincount(segments.ravel(), np.repeat(half, 2), self._nodes[0]).astype(np.float64)

    def accept(self, x: ArrayLike) -> None:
        """The rods are at x (N, 3) [m] now."""
        self._kernel.accept(node_array(x))

    def hold(self, edges: NDArray[np.int32], along: Array, directors: Array) -> None:
        """The sections of these edges (n,), named by their first points, are held; all others turn freely.

        When an edge has the direction along (n, 3), its section points where directors (n, 3) say; zeros: it goes along
        without spin.
        """
        self._kernel.hold(np.require(edges, np.int32, ["C", "W"]), node_array(along), node_array(directors))

    def angles(self, x: ArrayLike) -> Array:
        """How far the sections at x (N, 3) [m] have turned about their edges (N,) since the accepted state."""
        out = np.empty(self._nodes[0])
        self._kernel.angles(node_array(x), out)
        return out

    def frames(self) -> dict[str, Array]:
        """The accepted state: tangents and directors of the edges (N, 3), by their first points, and twist (N,) [rad]
        between the edges that meet at a point. What belongs to no edge or no two edges is constant."""
        count = self._nodes[0]
        tangent, director, twist = np.empty((count, 3)), np.empty((count, 3)), np.empty(count)
        self._kernel.state(tangent, director, twist)
        return {"tangent": tangent, "director": director, "twist": twist}

    def restore(self, frames: Mapping[str, Array]) -> None:
        """Go back to `frames`; no section is held then."""
        self._kernel.set_state(*(node_array(frames[name]) for name in ("tangent", "director", "twist")))

    def prepare(self, x: ArrayLike, *, positive: bool = False) -> None:
        super().prepare(x, positive=positive)
        self._prepared_at = node_array(x).copy()

    def inverse(self, added: Array, weight: float = 1.0) -> Operator:
        """Exact but for the turning of sections and single precision, and without negative stiffness."""
        factors = np.empty((self._nodes[0], 24), np.float32)
        self._kernel.factor(self._prepared_at, weight, node_array(added), factors)

        def solve(r: Array) -> Array:
            out = np.empty(self._nodes)
            self._kernel.solve(factors, node_array(r), out)
            return out

        return solve

    def _new_hessian(self) -> RodHessian:
        return RodHessian(self._kernel, self._nodes, self.curves.curve_of)


def _rest_directors(curves: Curves, given: ArrayLike | None) -> Array:
    """Directors (N, 3) of the edges that begin at the points, not along them."""
    a, b = curves.segments.T
    along = curves.points[b] - curves.points[a]
    along /= np.linalg.norm(along, axis=1)[:, None]
    found = np.zeros(curves.points.shape)
    if given is None:
        found[a] = _without_twist(curves, along)
        return found
    found[:] = numbers_of_shape("directors", given, found.shape, GeometryError)
    aside = np.linalg.norm(np.cross(along, found[a]), axis=1)
    wrong = ~(aside > ALONG * np.linalg.norm(found[a], axis=1))
    if wrong.any():
        raise GeometryError(
            f"directors: that of the edge from point {a[int(wrong.argmax())]} is along the edge or is no direction; "
            "choose one across the rod"
        )
    return found


def _without_twist(curves: Curves, along: Array) -> Array:
    """Directors (M, 3) of edges in these directions: any at the root, carried on by the smallest rotations."""
    edges = np.diff(curves.offsets) - 1  # of every curve
    root = np.concatenate([[0], np.cumsum(edges)[:-1]])
    u = np.eye(3)[np.abs(along[root]).argmin(axis=1)]
    before = along[root]
    directors = np.empty_like(along)
    for k in range(int(edges.max())):
        has = np.flatnonzero(edges > k)
        t = along[root[has] + k]
        turned = u[has] - _dots(t, u[has]) / np.maximum(1 + _dots(before[has], t), ALONG) * (before[has] + t)
        turned -= _dots(t, turned) * t
        u[has] = directors[root[has] + k] = turned / np.linalg.norm(turned, axis=1)[:, None]
        before[has] = t
    return directors


def _dots(u: Array, v: Array) -> Array:
    return np.asarray((u * v).sum(axis=1, keepdims=True))
