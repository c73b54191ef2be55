"""What the gallery scenes of solids with collision particles measure: how deep one thing is in another."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from trimesh.triangles import closest_point

from continua import Simulation
from continua.bodies.solid_body import SolidBody
from continua.contact.collision_particles import CollisionParticles

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
HAIR = 1e-9  # barycentric coordinate down to which a point belongs to a tetrahedron
LOOKS = 24.0  # at depths, per second: they take as long as a step


def time_to_look(sim: Simulation) -> bool:
    """Whether a look at depths is due after this step."""
    return bool(np.floor(LOOKS * sim.time) > np.floor(LOOKS * (sim.time - sim.dt)))


def solids(sim: Simulation) -> list[SolidBody]:
    """All solid bodies."""
    return [body for body in sim.bodies if isinstance(body, SolidBody)]


def surface_points(body: SolidBody, dx: float) -> tuple[Array, NDArray[np.int32]]:
    """Points half a cell apart on the surface of a solid (Q, 3) [m], and the corners (Q, 3) of their facets."""
    points = CollisionParticles.spread(body.rest, body.surface, 0.5 * dx, body.mass)
    return points.at(body.x), points.corners


def deepest_in(body: SolidBody, x: Array, corners: NDArray[np.int32] | None = None) -> float:
    """Depth [m] below the surface of a solid of the deepest of points (n, 3) [m]; 0 if none is inside.

    corners (n, 3): given if the points are on facets of the same solid; whatever shares a vertex with the facet of a
    point does not count for it.
    """
    near = np.flatnonzero(((x > body.x.min(axis=0)) & (x < body.x.max(axis=0))).all(axis=1))
    own = None if corners is None else corners[near]
    inside = near[_inside(body.x, body.cells, x[near], own)]
    if not len(inside):
        return 0.0
    facets = body.x[body.surface]
    deepest = 0.0
    for point in inside:
        distance = np.linalg.norm(
            closest_point(facets, np.tile(x[point], (len(facets), 1))) - x[point], axis=1
        )
        if corners is not None:
            distance[np.isin(body.surface, corners[point]).any(axis=1)] = np.inf
        deepest = max(deepest, float(distance.min()))
    return deepest


def _inside(
    vertices: Array, cells: NDArray[np.int32], x: Array, corners: NDArray[np.int32] | None
) -> Indices:
    """Numbers of the points (n, 3) that are in one of the tetrahedra, other than those at their own corners."""
    if not len(x):
        return np.zeros(0, np.intp)
    tets = vertices[cells]
    middle = tets.mean(axis=1)
    reach = np.linalg.norm(tets - middle[:, None], axis=2).max(axis=1)
    found = cKDTree(x).query_ball_point(middle, reach)
    cell = np.repeat(np.arange(len(cells)), [len(points) for points in found])
    point = np.concatenate([np.array(points, np.intp) for points in found])
    if corners is not None:
        apart = ~(cells[cell][:, :, None] == corners[point][:, None, :]).any(axis=(1, 2))
        cell, point = cell[apart], point[apart]
    edges = (tets[:, 1:] - tets[:, :1]).transpose(0, 2, 1)
    flat = np.abs(np.linalg.det(edges)) < 1e-300
    edges[flat] = np.eye(3)
    weights = np.einsum("cab,cb->ca", np.linalg.inv(edges)[cell], x[point] - tets[cell, 0])
    within = (weights > -HAIR).all(axis=1) & (weights.sum(axis=1) < 1 + HAIR) & ~flat[cell]
    return np.unique(point[within])


def solid_depth(sim: Simulation) -> float:
    """Depth [cells] of the surface point of a solid that is deepest in another solid, or in another part of its own."""
    bodies = solids(sim)
    points = [surface_points(body, sim.dx) for body in bodies]
    deepest = 0.0
    for body in bodies:
        for other, (x, corners) in zip(bodies, points, strict=True):
            deepest = max(deepest, deepest_in(body, x, corners if other is body else None))
    return deepest / sim.dx


def grain_depth(sim: Simulation) -> float:
    """Depth [cells] of the particle that is deepest in a solid."""
    grains = [body.x.astype(np.float64) for body in sim.world.particle_bodies if len(body)]
    return max((deepest_in(body, x) for body in solids(sim) for x in grains), default=0.0) / sim.dx
