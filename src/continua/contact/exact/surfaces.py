"""The facets of all bodies and obstacles that may meet, what may meet of them on the way, and what crosses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.errors import SetupError

Array = NDArray[np.float64]
Indices = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Facets of all bodies and obstacles that may meet, as one mesh.

    facets (F, d): edges in 2D, triangles in 3D, outward oriented (which only matters for what touches exactly). part
    (N,): number of the body or obstacle of every vertex. friction (parts, parts): Coulomb coefficients, symmetric.
    """

    facets: Indices
    part: Indices
    friction: Array

    def __post_init__(self) -> None:
        facets, part = _whole(self.facets, "facets", 2), _whole(self.part, "parts", 1)
        friction = np.array(self.friction, dtype=np.float64, order="C")
        if facets.shape[1] not in (2, 3):
            raise SetupError(f"facets of surfaces have two or three vertices, got {facets.shape[1]}")
        if facets.size and facets.max() >= len(part):
            raise SetupError(
                f"a facet names vertex {facets.max()}, but only {len(part)} vertices have a part"
            )
        if friction.ndim != 2 or friction.shape[0] != friction.shape[1]:
            raise SetupError(
                f"friction of surfaces needs one row and one column per part, got {friction.shape}"
            )
        if part.size and part.max() >= len(friction):
            raise SetupError(f"part {part.max()} has no friction: give one row and one column per part")
        if not (np.isfinite(friction) & (friction >= 0)).all() or not np.array_equal(friction, friction.T):
            raise SetupError("friction of surfaces must be symmetric, finite and not negative")
        for name, value in (("facets", facets), ("part", part), ("friction", friction)):
            object.__setattr__(self, name, value)

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.facets.shape[1])

    @property
    def vertices(self) -> int:
        """N, also those that are in no facet."""
        return len(self.part)

    @cached_property
    def edges(self) -> Indices:
        """(E, 2) of all triangles, each once, ascending; none in 2D."""
        if self.dimension == 2:
            return np.empty((0, 2), np.int32)
        pairs = np.sort(self.facets[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        return np.ascontiguousarray(np.unique(pairs, axis=0), dtype=np.int32)

    @cached_property
    def points(self) -> Indices:
        """Vertices that are in some facet, ascending."""
        return np.ascontiguousarray(np.unique(self.facets), dtype=np.int32)


class Stencils(NamedTuple):
    """What may meet: rows of d + 1 vertices."""

    points: Indices  # (P, d + 1) of a facet, then a point
    edges: Indices  # (Q, 4) of an edge, then of another; none in 2D


class Hits(NamedTuple):
    """Stencils that meet on the way."""

    stencils: Indices  # (H, d + 1)
    of_edges: bool
    times: Array  # (H,) of the step, from 0 to 1
    weights: Array  # (H, d + 1) of the vertices in the way from facet or first edge to point or second edge
    normals: Array  # (H, d) from facet or first edge to point or second edge, against their relative velocity


def find_pairs(
    surfaces: Surfaces, x: Array, v: Array, dt: float, *, held: Mask | None = None, distance: float = 0.0
) -> Stencils:
    """All stencils whose boxes come within `distance` [m] on the way from x to x + dt v (N, d).

    Left out: those that share a vertex, and those of which every vertex is held.
    """
    kept = _mask(held, surfaces.vertices)
    parts = (surfaces.facets, surfaces.edges, surfaces.points, kept, distance)
    found = [_core.surface_stencils(x, v, dt, *parts, of_edges) for of_edges in kinds(surfaces)]
    rows = [np.asarray(stencils, dtype=np.int32) for stencils in found]
    return Stencils(rows[0], rows[1] if len(rows) > 1 else np.empty((0, 4), np.int32))


def find_hits(surfaces: Surfaces, x: Array, v: Array, dt: float, *, held: Mask | None = None) -> list[Hits]:
    """Stencils that meet on the way from x to x + dt v (N, d): points with facets, and in 3D edges with edges."""
    found = []
    for of_edges, stencils in zip(kinds(surfaces), find_pairs(surfaces, x, v, dt, held=held), strict=False):
        times, weights, normals = _core.surface_meetings(x, v, dt, surfaces.facets, stencils, of_edges)
        meets = times <= 1
        found.append(Hits(stencils[meets], of_edges, times[meets], weights[meets], normals[meets]))
    return found


def intersections(surfaces: Surfaces, x: Array, *, held: Mask | None = None) -> Indices:
    """Pairs of facets (P, 2) that go through each other at x (N, d), ascending; those that only touch do not.

    Left out: facets that share a vertex, and pairs of held ones.
    """
    kept = _mask(held, surfaces.vertices)
    return np.asarray(_core.facet_crossings(x, surfaces.facets, surfaces.points, kept), dtype=np.int32)


def kinds(surfaces: Surfaces) -> tuple[bool, ...]:
    """Kinds of stencils, in the order in which sweeps go: of points and facets (False), of edges (True)."""
    return (False, True) if surfaces.dimension == 3 else (False,)


def _mask(held: Mask | None, vertices: int) -> NDArray[np.uint8]:
    if held is None:
        return np.zeros(vertices, np.uint8)
    return np.ascontiguousarray(held, dtype=np.bool_).astype(np.uint8)


def _whole(values: Indices, what: str, axes: int) -> Indices:
    array = np.asarray(values)
    if array.ndim != axes or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise SetupError(
            f"{what} of surfaces must be whole numbers with {axes} axes, got shape {array.shape}"
        )
    if array.size and array.min() < 0:
        raise SetupError(f"{what} of surfaces must not be negative")
    return np.array(array, dtype=np.int32, order="C")
