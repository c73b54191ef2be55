"""Points spread evenly over a surface, and where other points are nearest to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from continua.errors import GeometryError
from continua.geometry.base import Array, Shape
from continua.geometry.combine import Rotated
from continua.geometry.contour import HAIR, gradient
from continua.geometry.mesh import Mesh
from continua.geometry.sampled_shape import outline
from continua.geometry.surface import vertex_normals

Indices = NDArray[np.integer]
RESOLUTION = 64  # lattice cells along the longest side of a shape whose surface is looked for
CANDIDATES = 32  # points looked at for every point that is kept
ROUNDS = 12  # in which points move to the middle of what is nearest to them
SMOOTH = np.cos(np.radians(30.0))  # facets that turn less between neighbours stand for a curved surface
PULL = 4  # times that a point is moved onto the surface of a shape
ON = 1e-6  # of the size of a shape: what is that near lies on its surface
SPLITS = 8  # times that facets on the edge of a part are cut in four
MOST_FACETS = 50_000  # after which they are not


@runtime_checkable
class Surfaced(Protocol):
    """A body with a surface: positions x (N, 3) [m] and, by `topology()`, facets (F, 3) between them."""

    @property
    def x(self) -> NDArray: ...

    def topology(self) -> tuple[NDArray | None, NDArray | None]: ...


@runtime_checkable
class Shaped(Protocol):
    """An obstacle of some shape, or without end."""

    def as_shape(self) -> Shape | None: ...


@dataclass(frozen=True)
class Skin:
    """Triangles (F, 3) over vertices (V, 3) [m], facing outwards.

    shape: the one whose surface they only approximate; None where they are the surface itself.
    """

    vertices: Array
    faces: Indices
    shape: Shape | None = None

    @property
    def corners(self) -> Array:
        """Places (F, 3, 3) [m] of the corners of all triangles."""
        return np.asarray(self.vertices[self.faces], dtype=np.float64)


def skin_of(on: Shape | Shaped | Surfaced) -> Skin:
    """The surface of a 3D shape, of an obstacle of such a shape, or of a body where it is now."""
    if isinstance(on, Shaped):
        shape = on.as_shape()
        if shape is None:
            raise GeometryError(f"strands need a surface that ends, not that of a {type(on).__name__}")
        on = shape
    if not isinstance(on, Shape):
        return _skin_of_body(on)
    if on.dimension != 3:
        raise GeometryError(f"strands need a surface in space, not that of a 2D {type(on).__name__}")
    if isinstance(on, Rotated):
        inner = skin_of(on.shape)
        return Skin(on.to_world(inner.vertices), inner.faces, on if inner.shape else None)
    if isinstance(on, Mesh):
        return Skin(on.surface.vertices, on.surface.faces)
    found = outline(on, RESOLUTION)
    return Skin(found.vertices, found.faces, on)


def _skin_of_body(body: Surfaced) -> Skin:
    facets = body.topology()[1] if isinstance(body, Surfaced) else None
    if facets is None or facets.ndim != 2 or facets.shape[1] != 3 or not len(facets):
        name = getattr(body, "name", None)
        raise GeometryError(
            f"{type(body).__name__}{f' {name!r}' if name else ''} has no surface of triangles; "
            "use a body made of a 3D mesh, or a shape"
        )
    return Skin(np.asarray(body.x, dtype=np.float64), facets)


def spread(skin: Skin, count: int, *, seed: int = 0, part: Shape | None = None) -> tuple[Array, Array]:
    """`count` points (n, 3) [m] evenly over the area of a surface, and its outward unit normals (n, 3) there.

    part: only where the surface lies inside it. Equal seeds give equal points. Points drawn at random from equal
    areas move to the middle of what is nearest to them, a few times (Ll82); places that face elsewhere
    count as far, so that both sides of something thin get their share.
    """
    corners, normals = _turned_outwards(skin)
    triangles, owner = _within(skin.corners, part)
    places, across = _candidates(skin, triangles, owner, corners, normals, count, seed, part)
    area = np.linalg.norm(_areas(triangles), axis=1).sum()
    seen = np.hstack([places, np.sqrt(area / count) * across])
    middles = seen[np.sort(np.random.default_rng([seed, 1]).permutation(len(seen))[:count])]
    for _ in range(ROUNDS):
        nearest = cKDTree(middles).query(seen)[1]
        owned = np.bincount(nearest, minlength=count)
        sums = np.stack([np.bincount(nearest, column, count) for column in seen.T], axis=1)
        middles = np.where(owned[:, None] > 0, sums / np.maximum(owned, 1)[:, None], middles)
    chosen = _nearest_each(middles, seen)
    return places[chosen], across[chosen]


def _nearest_each(middles: Array, seen: Array) -> NDArray[np.intp]:
    """Numbers of the points seen (M, k) that are nearest to middles (n, k), none of them twice."""
    taken = np.zeros(len(seen), bool)
    chosen = np.full(len(middles), -1)
    left = np.arange(len(middles))
    while len(left):
        free = np.flatnonzero(~taken)
        off, nearest = map(np.asarray, cKDTree(seen[free]).query(middles[left]))
        order = np.lexsort((left, off))
        first = order[np.unique(nearest[order], return_index=True)[1]]
        chosen[left[first]] = free[nearest[first]]
        taken[chosen[left[first]]] = True
        left = np.delete(left, first)
    return chosen


def _areas(triangles: Array) -> Array:
    """Normals (F, 3) [m^2] of triangles (F, 3, 3), as long as they are large."""
    return 0.5 * np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])


def _turned_outwards(skin: Skin) -> tuple[Array, Array]:
    """Corners of the facets (F, 3, 3) and unit normals there (F, 3, 3): of the vertex where the surface is smooth."""
    facing = _areas(skin.corners)
    facing /= np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-300)
    normals = vertex_normals(skin.vertices, skin.faces)[skin.faces]
    smooth = np.einsum("fkc,fc->fk", normals, facing) > SMOOTH
    return skin.corners, np.where(smooth[..., None], normals, facing[:, None])


def _within(triangles: Array, part: Shape | None) -> tuple[Array, Indices]:
    """Pieces (K, 3, 3) of the triangles that may lie in the part, and the triangle (K,) each of them is cut from."""
    owner = np.arange(len(triangles))
    if part is None:
        return triangles, owner
    for _ in range(SPLITS):
        middle = triangles.mean(axis=1)
        reach = np.linalg.norm(triangles - middle[:, None], axis=2).max(axis=1)
        depth = part.signed_distance(middle)  # never larger than it is, so that nothing is lost
        whole, edge = depth <= -reach, np.abs(depth) < reach
        if not edge.any() or len(triangles) > MOST_FACETS:
            keep = whole | edge
            return triangles[keep], owner[keep]
        a, b, c = triangles[edge].transpose(1, 0, 2)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        quarters = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        cut = np.concatenate([np.stack(quarter, axis=1) for quarter in quarters])
        triangles, owner = (
            np.concatenate([triangles[whole], cut]),
            np.append(owner[whole], np.tile(owner[edge], 4)),
        )
    return triangles, owner


def _candidates(
    skin: Skin,
    triangles: Array,
    owner: Indices,
    corners: Array,
    normals: Array,
    count: int,
    seed: int,
    part: Shape | None,
) -> tuple[Array, Array]:
    """Many more points than `count` at random over the area, and normals there; the pieces are of facets `owner`."""
    size = np.linalg.norm(_areas(triangles), axis=1)
    wanted = max(CANDIDATES * count, 2000)
    rng = np.random.default_rng([seed, 0])
    found: list[tuple[Array, Array]] = []
    for _ in range(20 if len(triangles) else 0):
        one = np.searchsorted(np.cumsum(size), (np.arange(wanted) + rng.random(wanted)) / wanted * size.sum())
        one = np.minimum(one, len(size) - 1)
        root, share = np.sqrt(rng.random(wanted)), rng.random(wanted)
        weights = np.stack([1 - root, root * (1 - share), root * share], axis=1)
        x = np.einsum("nk,nkc->nc", weights, triangles[one])
        x, n = _on_surface(skin, x, _normals_at(x, corners[owner[one]], normals[owner[one]]))
        if part is not None:
            inside = part.contains(x)
            x, n = x[inside], n[inside]
        found.append((x, n))
        if sum(len(places) for places, _ in found) >= wanted // 2:
            break
    if sum(len(places) for places, _ in found) < count:
        where = "inside part; move or enlarge it" if part is not None else "to grow strands on"
        raise GeometryError(f"there is no surface {where}")
    places, across = (np.concatenate(rows) for rows in zip(*found, strict=True))
    return places, across


def _normals_at(x: Array, corners: Array, normals: Array) -> Array:
    """Unit normals (n, 3) at points x (n, 3) of triangles (n, 3, 3), between those at their corners (n, 3, 3)."""
    n = np.einsum("nk,nkc->nc", weights_at(x, corners), normals)
    return np.asarray(n / np.linalg.norm(n, axis=1, keepdims=True))


def _on_surface(skin: Skin, x: Array, normals: Array) -> tuple[Array, Array]:
    """Points x (n, 3) moved onto the true surface, those that get there, and the normals."""
    if skin.shape is None:
        return x, normals
    size = float(np.ptp(skin.vertices, axis=0).max())
    hair = HAIR * size / RESOLUTION
    for _ in range(PULL):
        x = x - skin.shape.signed_distance(x)[:, None] * gradient(skin.shape, x, hair)
    there = np.abs(skin.shape.signed_distance(x)) < ON * size
    return x[there], gradient(skin.shape, x[there], hair)


def weights_at(x: Array, corners: Array) -> Array:
    """Barycentric coordinates (n, 3) of the feet of points x (n, 3) in the planes of triangles (n, 3, 3)."""
    a = corners[:, 0]
    u, v, w = corners[:, 1] - a, corners[:, 2] - a, x - a
    uu, uv, vv = (np.einsum("nc,nc->n", p, q) for p, q in ((u, u), (u, v), (v, v)))
    wu, wv = np.einsum("nc,nc->n", w, u), np.einsum("nc,nc->n", w, v)
    scale = np.maximum(uu * vv - uv * uv, 1e-300)
    second, third = (vv * wu - uv * wv) / scale, (uu * wv - uv * wu) / scale
    return np.stack([1 - second - third, second, third], axis=1)


def nearest_facets(x: Array, vertices: Array, faces: Indices) -> tuple[NDArray[np.intp], Array, Array]:
    """For points x (n, 3): the nearest facet (n,), weights (n, 3) of its corners there, and the distance (n,) [m]."""
    corners = np.asarray(vertices[faces], dtype=np.float64)
    middle = corners.mean(axis=1)
    reach = float(np.linalg.norm(corners - middle[:, None], axis=2).max())
    tree = cKDTree(middle)
    # No facet whose middle is further off than this can be nearer than the middle that is nearest.
    far = tree.query(x)[0] + (1 + 1e-12) * reach
    near: Any = tree.query_ball_point(x, far, return_sorted=True)
    point = np.repeat(np.arange(len(x)), [len(facets) for facets in near])
    facet = np.concatenate([np.asarray(facets, dtype=np.intp) for facets in near])
    weights = _nearest_weights(x[point], corners[facet])
    off = np.linalg.norm(np.einsum("nk,nkc->nc", weights, corners[facet]) - x[point], axis=1)
    order = np.lexsort((facet, off, point))
    first = order[np.searchsorted(point[order], np.arange(len(x)))]
    return facet[first], weights[first], off[first]


def _nearest_weights(x: Array, corners: Array) -> Array:
    """Barycentric coordinates (n, 3) of the points of triangles (n, 3, 3) that are nearest to x (n, 3)."""
    best = weights_at(x, corners)
    inside = (best >= 0).all(axis=1)
    off = np.where(inside, np.linalg.norm(np.einsum("nk,nkc->nc", best, corners) - x, axis=1), np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        along = corners[:, j] - corners[:, i]
        part = np.einsum("nc,nc->n", x - corners[:, i], along) / np.maximum((along**2).sum(axis=1), 1e-300)
        part = np.clip(part, 0.0, 1.0)
        distance = np.linalg.norm(corners[:, i] + part[:, None] * along - x, axis=1)
        nearer = ~inside & (distance < off)
        best[nearer] = 0.0
        best[nearer, i], best[nearer, j] = 1 - part[nearer], part[nearer]
        off = np.where(nearer, distance, off)
    return best
