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
from continua.geometry.crossing_facets import crossing
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
ROUGH = 0.02  # of the reach of a point, by which a surface may differ from its bends there
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
    """Points of a surface (n, d) [m], and how it is round there.

    Where it is, what touches first lies between points. Seen along the normal N it bends with radii R_i along
    directions e_i, and where its normal is m the surface is at
        y = x + sum_i R_i (m.e_i) e_i - sum_i R_i (m.e_i)^2 / (1 + m.N) N,
    exactly on balls, on cylinders and on each circle of a torus. It is so near a point, within `reach` (n,) [m]; along
    flat directions, on edges and where it is hollow the radius is 0.
    """

    points: Array
    normals: Array  # (n, d), zero where nothing is round
    axes: Array  # (n, d - 1, d) unit vectors e_i
    radii: Array  # (n, d - 1) [m]
    reach: Array
    hull: NDArray[np.intp]  # numbers of the points that may be the first to touch a plane

    @property
    def round(self) -> NDArray[np.bool_]:
        """Which points (n,) have a surface that is round."""
        return np.asarray(self.radii.any(axis=1), np.bool_)


def boundary_of(solid_: object, size: float | None = None) -> Boundary:
    """Of a shape, a mesh or a description of one; size: of the facets of curved shapes [m]."""
    if isinstance(solid_, (BoxMesh, ShapeMesh, FileMesh)):
        solid_ = solid_.build()
    if isinstance(solid_, SimplexMesh):
        return _simple(_of_cells(solid_))
    if isinstance(solid_, Mesh):
        return _simple(Boundary(solid_.surface.vertices, solid_.surface.faces))
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


def _simple(boundary: Boundary) -> Boundary:
    """The same, refused where it passes through itself."""
    facet = crossing(boundary.points, boundary.facets)
    if facet is not None:
        where = ", ".join(f"{c:.4g}" for c in boundary.points[boundary.facets[facet]].mean(axis=0))
        raise GeometryError(
            f"the surface of a rigid body passes through itself near ({where}), so that its inside is not defined; "
            "join the pieces there, or repair the mesh"
        )
    return boundary


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
    count, d = points.shape
    normals, axes, radii = np.zeros((count, d)), np.zeros((count, d - 1, d)), np.zeros((count, d - 1))
    if boundary.shape is not None:
        points = _projected(boundary.shape, points)
        normals, axes, radii = _bends(boundary.shape, points, reach)
    return TouchPoints(points, normals, axes, radii, reach, _hull(points))


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


def _size(shape: Shape) -> float:
    lower, upper = shape.bounds()
    return float((upper - lower).max())


def _projected(shape: Shape, points: Array) -> Array:
    """Points (n, d) set onto the surface of a shape that they are near to."""
    for _ in range(3):
        points = points - shape.signed_distance(points)[:, None] * gradient(
            shape, points, 1e-7 * _size(shape)
        )
    return points


def _bends(shape: Shape, points: Array, reach: Array) -> tuple[Array, Array, Array]:
    """Normals, axes and radii as in `TouchPoints`, from second differences of the signed distance."""
    size = _size(shape)
    hair, d = HAIR * size, points.shape[1]
    normals = gradient(shape, points, hair)
    slopes = [
        (gradient(shape, points + step, hair) - gradient(shape, points - step, hair)) / (2 * hair)
        for step in hair * np.eye(d)
    ]
    hessian = np.stack(slopes, axis=2)
    across = np.eye(d) - normals[:, :, None] * normals[:, None, :]
    hessian = across @ (0.5 * (hessian + hessian.transpose(0, 2, 1))) @ across
    # Of its eigenvalues one is 0, along the normal; it is moved out of the way.
    values, vectors = np.linalg.eigh(hessian + (2 / hair) * normals[:, :, None] * normals[:, None, :])
    bends, axes = values[:, : d - 1], vectors[:, :, : d - 1].transpose(0, 2, 1)
    smooth = (np.abs(values[:, : d - 1]) * hair < BENT).all(axis=1)
    smooth &= np.abs(shape.signed_distance(points)) < 1e-6 * size
    radii = np.where(smooth[:, None] & (bends * size > 1e-2), 1 / np.where(bends > 0, bends, 1.0), 0.0)
    for k in range(d - 1):  # the surface must be where such a bend has it
        R = radii[:, k]
        angle = np.minimum(reach / np.where(R > 0, R, 1.0), 1.0)
        for side in (1.0, -1.0):
            along = (side * R * np.sin(angle))[:, None] * axes[:, k]
            there = points + along - (R * (1 - np.cos(angle)))[:, None] * normals
            radii[:, k] = np.where(np.abs(shape.signed_distance(there)) < ROUGH * reach, radii[:, k], 0.0)
    return normals, np.ascontiguousarray(axes), radii


def _hull(points: Array) -> NDArray[np.intp]:
    try:
        return np.sort(ConvexHull(points).vertices).astype(np.intp)
    except QhullError:
        return np.arange(len(points))
