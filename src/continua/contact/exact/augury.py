"""Augury: what would happen at a contact is read off a grid, and given to the surface without loss of momentum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from continua.contact.exact.angular import cross, turned, twist
from continua.contact.exact.resampling import Resampling
from continua.contact.exact.splines import stencils, to_nodes, to_points
from continua.errors import SetupError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Foreseen:
    """What augury makes of the velocities of a surface.

    v (Nb, d) [m/s] and A (Nb, d, d) [1/s]. iterations: how many times a refused change was taken back. residual [m/s]:
    the largest change of a vertex that is still refused.
    """

    v: Array
    A: Array
    iterations: int
    residual: float


class Augury:
    """Velocities of a surface go to a grid and come back, at fixed positions (M23 sections 5 and 6).

    The operator L^RSA resamples the surface, transfers to the grid, downsamples to the vertices and transfers back.
    It is linear, keeps linear and angular momentum, and pieces of surface that share grid nodes come back with
    velocities that fit together. Its sparse matrices are built here and serve every application.
    """

    def __init__(
        self,
        resampling: Resampling,
        x: Array,
        dx: float,
        *,
        origin: Array | None = None,
        active: Mask | None = None,
    ) -> None:
        """x (Nb, d) [m]: positions of vertices. dx [m]: spacing of the grid, with a node at `origin` (d,).

        active (Nbe,): the elements that take part, by default all. Of a vertex the part of the mass that its active
        elements have takes part, and its velocity changes by that part.
        """
        if not (dx > 0 and np.isfinite(dx)):
            raise SetupError(f"the grid spacing of augury must be a positive length, not {dx:g}")
        boundary = resampling.boundary
        self.resampling, self.dx, self.dimension = resampling, dx, x.shape[1]
        self._which = np.arange(len(boundary.elements)) if active is None else np.flatnonzero(active)
        self._nodes = np.unique(boundary.elements[self._which])
        self.normals = vertex_normals(x, boundary.elements)
        if len(self._which) == 0:
            return
        number = np.zeros(len(boundary.mass), np.int32)
        number[self._nodes] = np.arange(len(self._nodes), dtype=np.int32)
        self._elements = number[boundary.elements[self._which]]
        start = np.zeros(x.shape[1]) if origin is None else np.asarray(origin, np.float64)
        middle = x[self._nodes].mean(axis=0)
        # Near the middle coordinates have the fewest digits to lose; a whole number of cells changes nothing else.
        self.anchor = start + np.round((middle - start) / dx) * dx
        self._x = x[self._nodes] - self.anchor
        self._whole = x - self.anchor
        self._masses()
        self._gather(self._place())

    def _masses(self) -> None:
        """What takes part of every vertex, and the rigid bodies that elements are for the way back."""
        boundary, which, dx = self.resampling.boundary, self._which, self.dx
        shares = boundary.shares[which]
        self.mass = np.bincount(self._elements.ravel(), shares.ravel(), minlength=len(self._nodes))
        self.part = self.mass / boundary.mass[self._nodes]
        # All of a vertex is exactly one, whatever the order of sums.
        full = np.bincount(self._elements.ravel(), minlength=len(self._nodes)) == boundary.ring[self._nodes]
        self.part = np.where(full, 1.0, self.part)
        self.element_mass = boundary.element_mass[which]
        corners = self._x[self._elements]
        self.center = np.einsum("ek,eka->ea", boundary.center[which], corners)
        r = corners - self.center[:, None]
        moment = np.einsum("ek,eka,ekb->eab", shares, r, r)
        trace = np.einsum("eaa->e", moment) + self.element_mass * dx**2 / 2
        # The grid's own second moment dx^2/4 per axis keeps it away from singular, M23 section 6.2.
        if self.dimension == 2:
            self._inverse_inertia = (1 / trace)[:, None, None]
        else:
            self._inverse_inertia = np.linalg.inv(trace[:, None, None] * np.eye(3) - moment)
        self._shares = shares

    def _place(self) -> NDArray[np.int32]:
        """Extra points of the elements that take part, how they move, and stencils; returns their elements (Nx,)."""
        plan, which, count = self.resampling, self._which, len(self._nodes)
        local = np.full(len(plan.share), -1, np.int32)
        local[which] = np.arange(len(which), dtype=np.int32)
        extra = plan.extra & (local[plan.element] >= 0)
        element, lam = local[plan.element[extra]], plan.barycentric[extra]
        # A point moves as the corners say, and spins with its element besides: elements have columns of their own.
        columns = np.concatenate([self._elements[element], (count + element)[:, None]], axis=1)
        values = np.concatenate([lam, np.ones((len(lam), 1))], axis=1)
        self._interpolation = _csr(values, columns, count + len(which))
        self.points = np.einsum("nk,nka->na", lam, self._x[self._elements[element]])
        grid = stencils([self._x, self.points], self.dx)
        self.nodes, (self._near, self._weighted) = grid.nodes, grid.weights
        self._weighted.data *= np.repeat(plan.mass[extra], 3**self.dimension)  # N_i(x_j) m_j
        return element

    def _gather(self, element: NDArray[np.int32]) -> None:
        """Masses of nodes and of elements at nodes, and what extra points must spin."""
        plan, which, count = self.resampling, self._which, len(self._nodes)
        kept = plan.share[which]
        corners = _csr(kept[:, None] * self._shares, self._elements, count)
        start = np.searchsorted(element, np.arange(len(which) + 1)).astype(np.int32)
        ones = np.ones(len(element)), np.arange(len(element), dtype=np.int32), start
        of_element = sparse.csr_array(ones, shape=(len(which), len(element)))
        # Mass of an element at nodes: of its corners and of its extra points (in M23 section 6.2, j counts from 0).
        self.element_nodes = (corners @ self._near + of_element @ self._weighted).tocsr()
        self._element_corners = _csr(self._shares, self._elements, count)
        self._kept = corners.T @ np.ones(len(which))
        self.sampled_mass = self._near.T @ self._kept + self._weighted.T @ np.ones(len(element))
        self.node_mass = self._near.T @ self.mass
        self._arms = plan.arms(self._whole, which)
        rest = (1 - kept) * self.element_mass
        self._spin_factor = np.divide(2 / self.dx**2, rest, out=np.zeros(len(which)), where=rest > 0)

    def once(self, v: Array, A: Array) -> tuple[Array, Array]:
        """L^RSA: v (Nb, d) [m/s] and affine velocities A (Nb, d, d) [1/s] of vertices, to the grid and back once."""
        if len(self._which) == 0:
            return v.copy(), A.copy()
        return self._blended(v, A, *self._applied(v[self._nodes], A[self._nodes]))

    def __call__(
        self,
        v: Array,
        A: Array,
        *,
        iterations: int = 5,
        tolerance: float = 0.0,
        friction: float | Array | None = None,
        speed: float | None = None,
    ) -> Foreseen:
        """L^A: what of the change keeps bodies apart stays, and what glues them is taken back (M23 algorithm 2).

        A change is accepted as far as it pushes the surface inward. The rest goes to the grid again and is replaced by
        its smoothed image, `iterations` times or until it is at most tolerance times speed [m/s] (by default the
        largest). friction: how much of the tangential part of an accepted change is accepted too, None for all, 0 for
        none, else up to so many times the normal part; one number or one for each vertex (Nb,). Whatever is accepted,
        momentum is kept.
        """
        if len(self._which) == 0:
            return Foreseen(v.copy(), A.copy(), 0, 0.0)
        some = self._nodes
        before, normals = v[some], self.normals[some]
        slip = friction[some] if isinstance(friction, np.ndarray) else friction
        limit = tolerance * (np.abs(before).max() if speed is None else speed)
        now, affine = self._applied(before, A[some])
        zero = np.zeros_like(affine)
        count, left = 0, refused(now - before, normals, slip)
        residual = _largest(left)
        while count < iterations and residual > limit:
            smooth, spin = self._applied(left, zero)
            # Without an affine part of its own the increment has no momentum, of either kind.
            now, affine = now + (smooth - left), affine + spin
            count, left = count + 1, refused(now - before, normals, slip)
            residual = _largest(left)
        return Foreseen(*self._blended(v, A, now, affine), count, residual)

    def _blended(self, v: Array, A: Array, new: Array, affine: Array) -> tuple[Array, Array]:
        """Velocities of all vertices: of those that take part the old and the new by their parts of the mass."""
        out, field, some, part = v.copy(), A.copy(), self._nodes, self.part
        whole = part == 1.0
        out[some] = np.where(whole[:, None], new, v[some] + part[:, None] * (new - v[some]))
        field[some] = np.where(
            whole[:, None, None], affine, A[some] + part[:, None, None] * (affine - A[some])
        )
        return out, field

    def _applied(self, v: Array, A: Array) -> tuple[Array, Array]:
        """L^RSA on the vertices (Nn, d) that take part, with the masses that do."""
        p = self.to_grid(v, A)
        received = self.from_elements(*self.rigid_parts(_divided(p, self.sampled_mass)))
        return to_points(self._near, self._x, self.nodes, _divided(received, self.node_mass), self.dx)

    def to_grid(self, v: Array, A: Array) -> Array:
        """Momenta (Ng, d) of the nodes from the resampled vertices (Nn, d) that take part, M23 section 6.1.1."""
        kept = self._kept[:, None]
        p = to_nodes(self._near, self._x, self.nodes, kept * v, kept[:, :, None] * A)
        if not len(self.points):
            return p
        return p + to_nodes(self._weighted, self.points, self.nodes, *self.at_points(v, A))

    def at_points(self, v: Array, A: Array) -> tuple[Array, Array]:
        """Velocities (Nx, d) and affine velocities (Nx, d, d) of the extra points, M23 (5) to (10).

        Both are interpolated. That of v would change the angular momentum of the element: its points get the
        opposite as a spin.
        """
        d = self.dimension
        gained = cross(self._arms, v[self._elements]).sum(axis=1)
        spin = twist(self._spin_factor[:, None] * gained)
        fields = np.zeros((len(v) + len(spin), d + d * d))
        fields[: len(v), :d], fields[: len(v), d:] = v, A.reshape(-1, d * d)
        fields[len(v) :, d:] = spin.reshape(-1, d * d)
        sampled = self._interpolation @ fields
        return sampled[:, :d], sampled[:, d:].reshape(-1, d, d)

    def rigid_parts(self, v: Array) -> tuple[Array, Array]:
        """Momentum (E, d) of every element that takes part, and angular momentum (E, n_w) about its centre of mass.

        v (Ng, d) [m/s]: velocities of nodes; an element counts its own mass at them, that of all its points.
        """
        sums = self.element_nodes @ np.concatenate([v, cross(self.nodes, v)], axis=1)
        p = sums[:, : self.dimension]
        return p, sums[:, self.dimension :] - cross(self.center, p)

    def from_elements(self, p: Array, spin: Array) -> Array:
        """Momenta (Ng, d) of the nodes from those of elements (E, d) and (E, n_w), each one rigid body, M23 (11), (12).

        An element is there with the mass of its corners at nodes, m_i^e, and p_i = m_i^e (p/m + w x (x_i - com)).
        """
        w = np.einsum("eab,eb->ea", self._inverse_inertia, spin)
        v = p / self.element_mass[:, None] - turned(w, self.center)  # the velocity field at 0
        sums = self._near.T @ (self._element_corners.T @ np.concatenate([v, w], axis=1))
        return sums[:, : self.dimension] + turned(sums[:, self.dimension :], self.nodes)


def refused(change: Array, normals: Array, friction: float | Array | None) -> Array:
    """The part (N, d) of changes of velocity (N, d) that is not accepted: all that pulls the surface out, and of
    the tangential part of what pushes it in as much as `friction` does not hold (see `Augury.__call__`).

    A vertex without a normal (0, where the areas around it cancel) accepts nothing.
    """
    inward = np.einsum("na,na->n", change, normals)
    pushed = (inward <= 0) & (normals != 0).any(axis=1)
    if friction is None:
        return np.where(pushed[:, None], 0.0, change)
    tangential = change - inward[:, None] * normals
    size = np.linalg.norm(tangential, axis=1)
    held = np.minimum(friction * np.abs(inward), size)
    left = 1 - np.divide(held, size, out=np.ones_like(size), where=size > 0)
    return np.where(pushed[:, None], left[:, None] * tangential, change)


def vertex_normals(x: Array, elements: NDArray[np.int32]) -> Array:
    """Outward unit normals (Nb, d) from the areas of the elements around each vertex; 0 where these cancel."""
    sides = x[elements[:, 1:]] - x[elements[:, :1]]
    if elements.shape[1] == 2:
        area = np.stack([sides[:, 0, 1], -sides[:, 0, 0]], axis=1)
    else:
        area = cross(sides[:, 0], sides[:, 1])
    total, most = np.zeros_like(x), np.zeros(len(x))
    size = np.linalg.norm(area, axis=1)
    for k in range(elements.shape[1]):
        for a in range(x.shape[1]):
            total[:, a] += np.bincount(elements[:, k], area[:, a], minlength=len(x))
        most += np.bincount(elements[:, k], size, minlength=len(x))
    length = np.linalg.norm(total, axis=1)
    sure = length > 1e-9 * most  # below, rounding would point somewhere
    return np.divide(total, length[:, None], out=np.zeros_like(total), where=sure[:, None])


def _csr(values: Array, columns: NDArray[np.int32], width: int) -> sparse.csr_array:
    """A sparse matrix from the values and columns (rows, n) of rows with n entries each."""
    rows, each = values.shape
    start = np.arange(rows + 1, dtype=np.int32) * np.int32(each)
    return sparse.csr_array((values.ravel(), columns.astype(np.int32).ravel(), start), shape=(rows, width))


def _divided(p: Array, mass: Array) -> Array:
    """Velocities of nodes; 0 where there is no mass."""
    return np.divide(p, mass[:, None], out=np.zeros_like(p), where=mass[:, None] > 0)


def _largest(v: Array) -> float:
    """The largest length of vectors (N, d)."""
    return float(np.sqrt(np.einsum("na,na->n", v, v).max(initial=0.0)))
