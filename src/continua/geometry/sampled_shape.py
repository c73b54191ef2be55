"""Signed distance of any shape on a lattice. Combined shapes only know a bound of theirs, which is made exact here."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from continua._core import mesh_signed_distance
from continua.errors import GeometryError
from continua.geometry.base import Array, Shape
from continua.geometry.combine import Difference, Intersection, Rotated, Union
from continua.geometry.contour import HAIR, Contour, contour, gradient
from continua.geometry.mesh import SampledDistance, lattice_round
from continua.geometry.points import Points

PADDING = 3  # lattice cells round a shape
# Lattices for contours are moved by these parts of a cell, so that no node lies on an edge, nor where two parts only
# touch: there the bound is zero although it is inside, or outside, on both sides.
SHIFT = np.array([0.1234, 0.3456, 0.2717])
BEYOND = 1e-3  # of a cell
SEGMENTS = 8  # the nearest one of a 2D outline is among that many with the nearest middles


def sample_shape(shape: Shape, resolution: int = 64) -> SampledDistance:
    """Distance to the surface of a shape, negative inside, on a lattice of `resolution` cells along its longest side.

    A 2D shape gets two equal layers, below and above z = 0.
    """
    counts, origin, spacing = _lattice(shape, resolution, shifted=not exact(shape))
    values = _values(shape, counts, origin, spacing)
    if not exact(shape):
        values = _made_exact(shape, values, origin, spacing)
    if shape.dimension == 3:
        return SampledDistance(values, origin, spacing)
    layers = np.repeat(values[:, :, None], 2, axis=2)
    return SampledDistance(layers, np.append(origin, -spacing / 2), spacing)


def outline(shape: Shape, resolution: int) -> Contour:
    """Surface of a shape as triangles or segments, from a lattice of `resolution` cells along its longest side."""
    counts, origin, spacing = _lattice(shape, resolution, shifted=True)
    return contour(shape, _values(shape, counts, origin, spacing), origin, spacing)


def solid(shape: Shape) -> bool:
    """Whether a shape has an inside."""
    return not isinstance(_unturned(shape), Points)


def exact(shape: Shape) -> bool:
    """Whether the signed distance of a shape is exact, and not only a bound as for combined shapes."""
    return not isinstance(_unturned(shape), (Union, Difference, Intersection))


def _unturned(shape: Shape) -> Shape:
    while isinstance(shape, Rotated):
        shape = shape.shape
    return shape


def _lattice(shape: Shape, resolution: int, *, shifted: bool) -> tuple[tuple[int, ...], Array, float]:
    """Nodes along each axis, first node (d,) [m] and spacing [m]."""
    if not solid(shape):
        raise GeometryError("points have no inside and no surface, use another shape")
    counts, origin, spacing = lattice_round(*shape.bounds(), resolution, PADDING)
    return counts, origin + shifted * spacing * SHIFT[: shape.dimension], spacing


def _values(shape: Shape, counts: tuple[int, ...], origin: Array, spacing: float) -> Array:
    """Signed distance at the nodes of a lattice; for combined shapes its bound."""
    values = np.empty(counts)
    for i in range(counts[0]):  # one layer at a time bounds the memory
        values[i] = shape.signed_distance(_layer(i, counts, origin, spacing)).reshape(counts[1:])
    if not (values < 0).any():
        raise GeometryError(
            f"no point of a lattice with cells of {spacing:.3g} m lies inside the {type(shape).__name__.lower()}; "
            "use a larger resolution, or look whether anything is left of the shape"
        )
    return values


def _layer(i: int, counts: tuple[int, ...], origin: Array, spacing: float) -> Array:
    axes = [origin[a] + spacing * np.arange(counts[a]) for a in range(1, len(counts))]
    return np.stack(np.meshgrid([origin[0] + spacing * i], *axes, indexing="ij"), axis=-1).reshape(
        -1, len(counts)
    )


def _made_exact(shape: Shape, bound: Array, origin: Array, spacing: float) -> Array:
    """The bound where the surface is where it says, elsewhere the distance to the contour, which is never less."""
    surface = contour(shape, bound, origin, spacing)
    values = bound.copy()
    for i in range(len(bound)):
        x, phi = _layer(i, bound.shape, origin, spacing), bound[i].ravel()
        n, side = gradient(shape, x, HAIR * spacing), np.where(phi < 0, -1.0, 1.0)
        # If the surface is there, a little further along the normal is the other side.
        further = x - (phi + side * BEYOND * spacing)[:, None] * n
        doubtful = np.flatnonzero((shape.signed_distance(further) < 0) == (phi < 0))
        found = np.maximum(_distance(surface, x[doubtful]), np.abs(phi[doubtful]))
        values[i].flat[doubtful] = side[doubtful] * found
    return values


def _distance(surface: Contour, x: Array) -> Array:
    """Distance (N,) [m] from points x (N, d) to a contour."""
    if not len(x):
        return np.zeros(0)
    if surface.vertices.shape[1] == 3:
        faces = np.ascontiguousarray(surface.faces, dtype=np.int32)
        return np.abs(
            mesh_signed_distance(np.ascontiguousarray(surface.vertices), faces, np.ascontiguousarray(x))
        )
    ends = surface.vertices[surface.faces]
    near = cKDTree(ends.mean(axis=1)).query(x, min(SEGMENTS, len(ends)))[1].reshape(len(x), -1)
    start, along = ends[near, 0], ends[near, 1] - ends[near, 0]
    t = np.einsum("nkj,nkj->nk", x[:, None] - start, along) / np.maximum((along**2).sum(axis=2), 1e-300)
    foot = start + np.clip(t, 0, 1)[..., None] * along
    return np.asarray(np.linalg.norm(x[:, None] - foot, axis=2).min(axis=1))
