"""More points on the elements of a surface, so that a grid finer than the surface sees all of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from continua.contact.exact.angular import cross
from continua.errors import GeometryError, SetupError

Array = NDArray[np.float64]
Indices = NDArray[np.int32]
Mask = NDArray[np.bool_]
STRETCH = 1.25  # elements may grow by this before their points count as too far apart
LIGHTEST = (
    1e-6  # share of a vertex in its element below which the element's centre of mass is one of its corners
)


OUTSIDE = "the centre of mass of an element is not strictly inside the hull of its extra points; give it more of them"


@dataclass(frozen=True)
class Boundary:
    """Surface of all bodies that meet, in numbers of its own.

    elements (Nbe, d): edges or triangles, outward oriented (in 2D the body is to the left). mass (Nb,) [kg]: lumped
    masses of the vertices (large where a script holds the vertex). Every vertex is in some element.
    """

    elements: Indices
    mass: Array

    def __post_init__(self) -> None:
        if not (self.mass > 0).all() or not np.isfinite(self.mass).all():
            raise SetupError(
                "every vertex of a surface needs a positive mass: give its body elements of some volume"
            )
        if self.elements.size and not 0 <= self.elements.min() <= self.elements.max() < len(self.mass):
            raise SetupError("elements of a surface name vertices that do not exist: number them from 0")
        if (self.ring == 0).any():
            raise SetupError("every vertex of a surface must be in one of its elements: leave the others out")

    @cached_property
    def ring(self) -> NDArray[np.int64]:
        """Number of elements around every vertex (Nb,)."""
        return np.bincount(self.elements.ravel(), minlength=len(self.mass))

    @cached_property
    def shares(self) -> Array:
        """Masses (Nbe, d) [kg] of the corners of every element: a vertex divides its mass evenly, M23 section 3.2."""
        return (self.mass / self.ring)[self.elements]

    @cached_property
    def element_mass(self) -> Array:
        """Mass (Nbe,) [kg] of every element."""
        return self.shares.sum(axis=1)

    @cached_property
    def center(self) -> Array:
        """Barycentric coordinates (Nbe, d) of the centre of mass of every element; they never change."""
        return self.shares / self.element_mass[:, None]


@dataclass(frozen=True)
class Resampling:
    """Points on elements with max-entropy masses, fixed in barycentric coordinates (M23 section 6.1).

    The corners of all elements come first, element by element, then the extra points in ascending order of their
    elements: element (Nh,), barycentric (Nh, d), mass (Nh,) [kg]. A vertex is there once for every element around it.
    Of its mass an element leaves the share (Nbe,) at the corners and gives the rest to its extra points, so that both
    groups have its centre of mass. What is exact in one configuration is so in every other: all is linear in the
    corners. rows (Nbe,): points along an edge of the element, 1 if it has no extra points.
    """

    boundary: Boundary
    element: Indices
    barycentric: Array
    mass: Array
    share: Array
    rows: NDArray[np.int64]

    @classmethod
    def spread(
        cls, x: Array, boundary: Boundary, spacing: float, share: float = 0.1, beta: float = 0.0
    ) -> Resampling:
        """Points for the surface at x (Nb, d) [m], on average at most `spacing` [m] apart (a quarter of a grid cell).

        share: part of the mass that stays at vertices, in (0, 1]; a large one lets things slip between grid nodes.
        beta [1/m^2]: locality of the masses of extra points; 0 makes them as even as the centre of mass allows.
        """
        if not 0 < share <= 1:
            raise SetupError(f"share must be above 0 and at most 1, not {share:g}")
        if not (spacing > 0 and np.isfinite(spacing)):
            raise SetupError(f"spacing must be a positive length, not {spacing:g}")
        count, d = boundary.elements.shape
        rows = np.maximum(1, np.ceil(_size(x, boundary.elements) / spacing * (1 - 1e-12))).astype(np.int64)
        kept = np.where(rows > 1, share, 1.0)
        rows = np.where(kept < 1, rows, 1)
        element, barycentric, mass = [np.repeat(np.arange(count), d)], [np.tile(np.eye(d), (count, 1))], []
        mass.append((kept[:, None] * boundary.shares).ravel())
        for several in np.unique(rows[rows > 1]):
            for some, lam in _plans(np.flatnonzero(rows == several), boundary.center, int(several)):
                weights = max_entropy(lam, boundary.center[some], beta, x[boundary.elements[some]])
                element.append(np.repeat(some, lam.shape[1]))
                barycentric.append(lam.reshape(-1, d))
                mass.append((((1 - share) * boundary.element_mass[some])[:, None] * weights).ravel())
        each = np.concatenate(element)
        order = np.concatenate(
            [np.arange(count * d), count * d + np.argsort(each[count * d :], kind="stable")]
        )
        return cls(
            boundary,
            each[order].astype(np.int32),
            np.concatenate(barycentric)[order],
            np.concatenate(mass)[order],
            kept,
            rows,
        )

    @cached_property
    def extra(self) -> Mask:
        """Which points (Nh,) are no corners."""
        return np.arange(len(self.mass)) >= self.boundary.elements.size

    @cached_property
    def moments(self) -> Array:
        """Second moments (Nbe, d, d) [kg] of the barycentric coordinates of extra points, with their masses."""
        lam = self.barycentric[self.extra]
        d = lam.shape[1]
        products = (self.mass[self.extra, None, None] * lam[:, :, None] * lam[:, None, :]).reshape(-1, d * d)
        where = self.element[self.extra]
        sums = np.empty((len(self.share), d * d))
        for k, column in enumerate(products.T):
            sums[:, k] = np.bincount(where, column, minlength=len(sums))
        return sums.reshape(-1, d, d)

    def points(self, x: Array) -> Array:
        """Positions (Nh, d) of all points when the vertices are at x (Nb, d); other fields of vertices likewise."""
        return np.einsum("nk,nka->na", self.barycentric, x[self.boundary.elements[self.element]])

    def fits(self, x: Array, spacing: float) -> bool:
        """Whether no element has outgrown its points at x (Nb, d): a quarter more than `spacing` [m] is allowed."""
        size = _size(x, self.boundary.elements)
        return bool((size <= STRETCH * spacing * np.where(self.share < 1, self.rows, 1)).all())

    def arms(self, x: Array, which: NDArray[np.intp] | slice = slice(None)) -> Array:
        """Arms q (Nbe, d, d) [kg m] of elements `which` at x (Nb, d) [m]: sum_k q_k x v_k is delta l of M23 (8).

        So much angular momentum an element would gain if its extra points only interpolated v: that of the points
        less what their mass had at the corners. Second moments of barycentric coordinates say all about the points.
        """
        corners = x[self.boundary.elements[which]]
        place = corners - np.einsum("ek,eka->ea", self.boundary.center[which], corners)[:, None]
        moved = ((1 - self.share[which])[:, None] * self.boundary.shares[which])[:, :, None]
        return np.einsum("ekl,ela->eka", self.moments[which], place) - moved * place


def _size(x: Array, elements: Indices) -> Array:
    """Lengths of edges, or of the sides of regular triangles of the same area (Nbe,) [m]."""
    sides = x[elements[:, 1:]] - x[elements[:, :1]]
    if elements.shape[1] == 2:
        return np.linalg.norm(sides[:, 0], axis=1)
    return np.sqrt(2 / np.sqrt(3) * np.linalg.norm(cross(sides[:, 0], sides[:, 1]), axis=1))


def _plans(some: NDArray[np.intp], center: Array, rows: int) -> list[tuple[NDArray[np.intp], Array]]:
    """Barycentric coordinates (n, points, d) of the extra points of elements `some`, and those that have them.

    The pattern is moved so that its middle is the centre of mass: each of the d parts between the middle and a side
    of the element becomes the one between the centre and that side. So the centre is a point, and strictly inside the
    hull of the others. An element with a vertex of nearly no share (another one is held) has its centre alone: other
    points would get no mass.
    """
    lam = _pattern(center.shape[1], rows)
    least = lam.min(axis=1)
    light = center[some].min(axis=1) < LIGHTEST
    plans = []
    if (~light).any():
        even = some[~light]
        moved = (lam - least[:, None]) + len(lam.T) * least[None, :, None] * center[even][:, None, :]
        plans.append((even, moved))
    if light.any():
        plans.append((some[light], center[some[light]][:, None, :].copy()))
    return plans


@lru_cache(maxsize=256)
def _pattern(d: int, rows: int) -> Array:
    """Even points (n, d) of a segment or triangle in barycentric coordinates, the middle one of them.

    Midpoints of the `rows` parts of the segment, or of the upward ones of the rows^2 triangles. These are a lattice:
    by Hermite's bound nearest neighbours in a triangle of any shape are at most as far apart as in the regular one of
    its area, a side of it divided by `rows`.
    """
    if d == 2:
        first = (np.arange(rows) + 0.5) / rows
        lam = np.stack([first, 1 - first], axis=1)
    else:
        i, j = (k.ravel() for k in np.indices((rows, rows)))
        whole = np.stack([i, j, rows - 1 - i - j], axis=1)
        lam = (whole[whole[:, 2] >= 0] + 1 / 3) / rows
    middle = np.abs(lam - 1 / d).max(axis=1) < 1e-9
    return np.concatenate([np.full((1, d), 1 / d), lam[~middle]])


def max_entropy(lam: Array, center: Array, beta: float = 0.0, corners: Array | None = None) -> Array:
    """Positive weights (E, n) of n points in each of E elements with sum 1 and a given mean (Arroyo and Ortiz 2006).

    lam (E, n, d) and center (E, d): barycentric coordinates of the points and of their mean. The weights are
    exp(-beta r^2 + mu.y)/Z, where mu minimises log Z: Newton's method with all elements at once. y are d - 1 of the
    barycentric coordinates relative to the mean, which are coordinates of the element's plane in units of its size;
    weights do not depend on the choice. corners (E, d, d) [m] give the distances r; beta = 0 needs none.
    """
    y = lam[:, :, 1:] - center[:, None, 1:]
    prior = np.zeros(lam.shape[:2])
    if beta > 0 and corners is not None:
        away = np.einsum("enk,eka->ena", lam - center[:, None, :], corners)
        prior = -beta * np.einsum("ena,ena->en", away, away)
    if y.shape[1] == 1:
        if np.abs(y).max() > 1e-14:
            raise GeometryError("a single extra point of an element must be its centre of mass")
        return np.ones(lam.shape[:2])
    if not _surrounded(y).all():
        raise GeometryError(OUTSIDE)
    mu = np.zeros((len(y), y.shape[2]))
    w, level = _exponentials(prior, y, mu)
    for _ in range(100):
        g = np.einsum("en,ena->ea", w, y)
        going = np.abs(g).max(axis=1) >= 1e-15
        if not going.any():
            break
        H = np.einsum("en,ena,enb->eab", w, y, y) - g[:, :, None] * g[:, None, :]
        step = np.where(going[:, None], -_solved(H, g), 0.0)
        w, level, mu, moved = _searched(prior, y, mu, step, np.einsum("ea,ea->e", g, step), level, w)
        if not moved:
            break
    if not (np.abs(np.einsum("en,ena->ea", w, y)).max() < 1e-13 and (w > 0).all()):
        raise GeometryError(OUTSIDE)
    return w


def _surrounded(y: Array) -> Mask:
    """Whether 0 is strictly inside the hull of points (E, n, 1 or 2): no half plane is without any of them."""
    if y.shape[2] == 1:
        return (y.min(axis=1) < 0)[:, 0] & (y.max(axis=1) > 0)[:, 0]
    away = np.einsum("ena,ena->en", y, y)
    angle = np.arctan2(y[:, :, 1], y[:, :, 0])
    farthest = np.take_along_axis(angle, away.argmax(axis=1)[:, None], axis=1)
    angle = np.sort(np.where(away > 1e-30, angle, farthest), axis=1)  # a point at 0 has no direction
    gaps = np.diff(angle, axis=1, append=angle[:, :1] + 2 * np.pi)
    return gaps.max(axis=1) < np.pi - 1e-9


def _exponentials(prior: Array, y: Array, mu: Array) -> tuple[Array, Array]:
    """Normalised weights (E, n), and log Z (E,)."""
    power = prior + np.einsum("ena,ea->en", y, mu)
    top = power.max(axis=1)
    w = np.exp(power - top[:, None])
    Z = w.sum(axis=1)
    return w / Z[:, None], top + np.log(Z)


def _searched(
    prior: Array, y: Array, mu: Array, step: Array, slope: Array, level: Array, w: Array
) -> tuple[Array, Array, Array, bool]:
    """Weights, log Z and mu after steps (E, a) that are halved until log Z falls enough; and whether any did."""
    length = np.ones(len(mu))
    for _ in range(40):
        new, height = _exponentials(prior, y, mu + length[:, None] * step)
        # Near the minimum log Z is flat to rounding, and Newton's step needs no control.
        bad = (height > level + 1e-4 * length * slope) & (np.abs(slope) > 1e-9)
        if not bad.any():
            break
        length[bad] /= 2
    good = ~bad & (slope < 0)
    return (
        np.where(good[:, None], new, w),
        np.where(good, height, level),
        np.where(good[:, None], mu + length[:, None] * step, mu),
        bool(good.any()),
    )


def _solved(H: Array, g: Array) -> Array:
    """Solutions (E, a) of positive definite systems of one or two unknowns; 0 where a system is singular."""
    if H.shape[1] == 1:
        determinant, adjoint = H[:, 0, 0], g
    else:
        determinant = H[:, 0, 0] * H[:, 1, 1] - H[:, 0, 1] * H[:, 1, 0]
        adjoint = np.stack(
            [H[:, 1, 1] * g[:, 0] - H[:, 0, 1] * g[:, 1], H[:, 0, 0] * g[:, 1] - H[:, 1, 0] * g[:, 0]], axis=1
        )
    sound = determinant[:, None] > 1e-290
    return np.divide(adjoint, determinant[:, None], out=np.zeros_like(g), where=sound)
