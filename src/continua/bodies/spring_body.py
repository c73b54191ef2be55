"""Chains and cloths of springs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.bodies.mesh_body import Array, MeshBody, StartLike
from continua.bodies.scripted import Scripted
from continua.bodies.velocity import GivenVelocity
from continua.contact.penalty import PenaltyContact
from continua.errors import SetupError
from continua.geometry.meshes import Chain, Cloth, SpringMesh
from continua.mesh import Springs


class SpringBody(MeshBody):
    """Chain or cloth of springs.

    springs: a `SpringMesh`, or a description of one (`ct.meshes`). Either mass, the total [kg] or (N,) per point, or
    density, of a sheet [kg/m^2] or, without a sheet, of the springs [kg/m]. The other arguments are those of
    `MeshBody`.
    """

    kind = "springs"
    stem = "springs"
    cell_bytes = 140

    def __init__(
        self,
        springs: SpringMesh | Chain | Cloth,
        *,
        mass: ArrayLike | None = None,
        density: float | None = None,
        velocity: GivenVelocity = None,
        name: str | None = None,
        scripted: Scripted | Sequence[Scripted] = (),
        start: StartLike = None,
        drag: float = 0.0,
        damping: float = 0.0,
        on_grid: bool | None = None,
        contact: PenaltyContact | None = None,
        continuum: str | None = None,
    ) -> None:
        if not isinstance(springs, (SpringMesh, Chain, Cloth)):
            raise SetupError("a SpringBody needs springs; use a SolidBody for triangles or tetrahedra")
        self.mesh = springs if isinstance(springs, SpringMesh) else springs.build()
        points, edges = self.mesh.points, self.mesh.edges
        super().__init__(
            points,
            Springs(len(points), points.shape[1], edges, self.mesh.stiffness, self.mesh.rest_lengths),
            _spring_masses(self.mesh, mass, density),
            velocity=velocity,
            name=name,
            scripted=scripted,
            start=start,
            drag=drag,
            damping=damping,
            on_grid=on_grid,
            contact=contact,
            continuum=continuum,
        )

    @property
    def label(self) -> str:
        return "springs"

    @property
    def cells(self) -> NDArray[np.int32]:
        return self.mesh.edges

    @property
    def surface(self) -> NDArray[np.int32]:
        return self.mesh.triangles


def _spring_masses(mesh: SpringMesh, mass: ArrayLike | None, density: float | None) -> Array:
    """Masses of the points (N,) [kg]."""
    if (mass is None) == (density is None):
        raise SetupError("a SpringBody needs either mass (total, or of every point) or density")
    measure = _measures(mesh)
    if density is not None:
        given = density * measure
    else:
        given = np.asarray(mass, dtype=np.float64)
        if given.ndim == 0:
            given = given * measure / measure.sum()
    if given.shape != measure.shape or not (np.isfinite(given) & (given > 0)).all():
        raise SetupError(
            f"every one of the {len(measure)} points of a SpringBody needs a positive finite mass"
        )
    return given


def _measures(mesh: SpringMesh) -> Array:
    """Area [m^2] of the sheet, or without a sheet length [m] of the springs, that belongs to every point (N,)."""
    if len(mesh.triangles):
        corners = mesh.points[mesh.triangles]
        sides = np.zeros((2, len(corners), 3))
        sides[..., : mesh.dimension] = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        parts, size = mesh.triangles, np.linalg.norm(np.cross(*sides), axis=1) / 2
    else:
        parts, size = mesh.edges, mesh.rest_lengths
    share = np.repeat(size / parts.shape[1], parts.shape[1])
    return np.bincount(parts.ravel(), share, minlength=len(mesh.points)).astype(np.float64)
