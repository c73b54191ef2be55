"""The surface of a solid as facets, and points on it at which it can touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from continua.errors import GeometryError
from continua.geometry.base import Array, Shape
from continua.geometry.box_mesh import box_mesh
from continua.geometry.contour import gradient
from continua.geometry.mesh import Mesh
from continua.geometry.meshes import BoxMesh, FileMesh, ShapeMesh
from continua.geometry.primitives import Box
from continua.geometry.sampled_shape import outline, solid
from continua.geometry.simplex_mesh import SimplexMesh
from continua.geometry.stuffing import mesh_of
from continua.geometry.surface import closed_surface

Indices = NDArray[np.int32]
RESOLUTION = 32  # edges along the longest side of a shape, where no length is given
HAIR = 2e-4  # of the size of a shape, over which its curvature is measured
BENT = 0.3  # curvature times hair beyond which a point lies on an edge


@dataclass(frozen=True)
class Boundary:
    """Closed facets (F, d) of a solid between points (N, d) [m], turned outwards; in 2D with the triangles inside.

    shape: what it approximates, where that is known better than its facets.
    """

    points: Array
    facets: Indices
    cells: Indices | None = None
    shape: Shape | None = None


@dataclass(frozen=True)
class TouchPoints:
    """Points of a surface (n, d) [m] with the balls that touch it there from inside.

    Where the surface is round, the point that touches first lies between points: on a ball of radius (n,) [m] about
    its center (n, d), as long as it is not farther than `reach` (n,) [m] from the point. Flat parts and edges have
    radius 0. hull: the points that may be the first to touch a plane.
    """

    points: Array
    centers: Array
    radius: Array
    reach: Array
    hull: NDArray[np.intp]


def boundary_of(solid_: object, size: float | None = None) -> Boundary:
    """Of a shape, a mesh or a description of one; size: of the facets of curved shapes [m]."""
    if isinstance(solid_, (BoxMesh, ShapeMesh, FileMesh)):
        solid_ = solid_.build()
    if isinstance(solid_, SimplexMesh):
        return _of_cells(solid_)
    if isinstance(solid_, Mesh):
        return Boundary(solid_.surface.vertices, solid_.surface.faces)
    if not isinstance(solid_, Shape) or not solid(solid_):
        raise GeometryError("a rigid body needs a shape with an inside, or a mesh of triangles or tetrahedra")
    lower, upper = solid_.bounds()
    if not np.isfinite([lower, upper]).all():
        raise GeometryError("a rigid body needs a shape of finite size")
    longest = float((upper - lower).max())
    size = longest / RESOLUTION if size is None else size
    if isinstance(solid_, Box):
        return _of_cells(box_mesh(lower, upper, (1,) * solid_.dimension, "same"))
    if solid_.dimension == 2:
        flat = _of_cells(mesh_of(solid_, size))
        return Boundary(flat.points, flat.facets, flat.cells, solid_)
    found = outline(solid_, max(8, round(longest / size)))
    surface = closed_surface(found.vertices, found.faces, "the surface of the shape")
    return Boundary(surface.vertices, surface.faces, None, solid_)


def _of_cells(mesh: SimplexMesh) -> Boundary:
    if mesh.dimension == 2:
        return Boundary(mesh.points, mesh.surface, mesh.cells)
    used, facets = np.unique(mesh.surface, return_inverse=True)
    return Boundary(mesh.points[used], facets.reshape(-1, 3).astype(np.int32))


def touch_points(boundary: Boundary, spacing: float) -> TouchPoints:
    """Vertices of the facets, and points inside these so that they are at most about `spacing` [m] apart."""
    vertices = np.unique(boundary.facets)
    inside, reach = _inside_facets(boundary, spacing)
    points = np.concatenate([boundary.points[vertices], inside])
    longest = _longest_edges(boundary)[vertices]
    reach = np.concatenate([np.minimum(longest, 2 * spacing), reach])
    centers, radius = points, np.zeros(len(points))
    if boundary.shape is not None:
        points, centers, radius = _osculating(boundary.shape, points)
    return TouchPoints(points, centers, radius, reach, _hull(points))


def _inside_facets(boundary: Boundary, spacing: float) -> tuple[Array, Array]:
    """Points (n, d) strictly within the facets, on a lattice of each, and how far they are apart (n,)."""
    corners = boundary.points[boundary.facets]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    found, apart = [np.zeros((0, corners.shape[2]))], [np.zeros(0)]
    for parts in np.unique(np.ceil(edges / spacing).astype(int)):
        chosen = corners[np.ceil(edges / spacing).astype(int) == parts]
        weights = _lattice_weights(int(parts), corners.shape[1])
        if len(weights):
            found.append(np.einsum("wk,fkc->fwc", weights, chosen).reshape(-1, corners.shape[2]))
            apart.append(np.full(len(found[-1]), spacing))
    return np.concatenate(found), np.concatenate(apart)


def _lattice_weights(parts: int, corners: int) -> Array:
    """Barycentric weights (w, corners) of the points of a facet whose edges are cut into so many parts, without its
    corners; points on edges belong to both facets."""
    steps = np.arange(parts + 1)
    if corners == 2:
        inner = steps[1:-1] / parts
        return np.stack([1 - inner, inner], axis=1)
    i, j = np.meshgrid(steps, steps, indexing="ij")
    kept = (i + j <= parts) & (np.maximum(np.maximum(i, j), parts - i - j) < parts)
    i, j = i[kept], j[kept]
    return np.stack([parts - i - j, i, j], axis=1) / parts


def _longest_edges(boundary: Boundary) -> Array:
    """Of the facets at every point (N,) [m]."""
    corners = boundary.points[boundary.facets]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    longest = np.zeros(len(boundary.points))
    for column in boundary.facets.T:
        np.maximum.at(longest, column, edges)
    return longest


def _osculating(shape: Shape, points: Array) -> tuple[Array, Array, Array]:
    """Points (n, d) set onto the surface of a shape, and the smallest balls that touch it there from inside: their
    centers (n, d) and radii (n,); on flat parts and edges radius 0."""
    lower, upper = shape.bounds()
    hair, d = HAIR * float((upper - lower).max()), points.shape[1]
    for _ in range(3):
        points = points - shape.signed_distance(points)[:, None] * gradient(shape, points, 1e-3 * hair)
    normals = gradient(shape, points, hair)
    hessian = np.stack(
        [
            (gradient(shape, points + step, hair) - gradient(shape, points - step, hair)) / (2 * hair)
            for step in hair * np.eye(d)
        ],
        axis=2,
    )
    curvature = np.linalg.eigvalsh(0.5 * (hessian + hessian.transpose(0, 2, 1))).max(axis=1)
    size = float((upper - lower).max())
    round_ = (curvature * size > 1e-2) & (curvature * hair < BENT)
    on = np.abs(shape.signed_distance(points)) < 1e-6 * size
    radius = np.where(round_ & on, 1 / np.where(round_, curvature, 1.0), 0.0)
    # A ball touches from inside only if the surface is nowhere nearer to its center.
    centers = points - radius[:, None] * normals
    fits = -shape.signed_distance(centers) > (1 - 1e-3) * radius
    radius = np.where(fits, radius, 0.0)
    return points, points - radius[:, None] * normals, radius


def _hull(points: Array) -> NDArray[np.intp]:
    try:
        return np.sort(ConvexHull(points).vertices).astype(np.intp)
    except QhullError:
        return np.arange(len(points))
