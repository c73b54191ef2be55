"""Solids made of triangles or tetrahedra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from continua.bodies.mesh_body import Array, MeshBody, StartLike
from continua.bodies.scripted import Scripted
from continua.bodies.variation import Regions, Variation, Vary, checked_variation
from continua.bodies.velocity import GivenVelocity
from continua.contact.penalty import MeshContactSetting
from continua.errors import SetupError
from continua.geometry.meshes import BoxMesh, FileMesh, ShapeMesh, SimplexMesh
from continua.materials.base import Material
from continua.mesh import DampingForm, Elements
from continua.optimize import PointState


class SolidBody(MeshBody):
    """Elastic or plastic solid of linear triangles (2D) or tetrahedra (3D).

    mesh: a `SimplexMesh`, or a description of one (`ct.meshes`). material: a built-in solid without Newtonian
    viscosity. vary and regions make it differ between elements, as for particle bodies: functions and shapes are
    evaluated at the middle of every element. The other arguments are those of `MeshBody`.

    damping_form: how `damping` acts where the solid is deformed; small strains do not tell. "green" takes Hooke's law
    for the rate of Green's strain: it never slows or turns rigid motion, grows where the solid is stretched and fades
    where it is crushed. "printed" takes it in the rest frame of every element, turned with it (M23 section 8): it is as
    strong in any shape, but has a torque on deformed solids that turn.
    """

    kind = "mesh"
    stem = "solid"
    cell_bytes = 425

    def __init__(
        self,
        mesh: SimplexMesh | BoxMesh | ShapeMesh | FileMesh,
        material: Material,
        *,
        velocity: GivenVelocity = None,
        name: str | None = None,
        vary: Vary | None = None,
        regions: Regions | None = None,
        scripted: Scripted | Sequence[Scripted] = (),
        start: StartLike = None,
        drag: float = 0.0,
        damping: float = 0.0,
        damping_form: DampingForm = "green",
        on_grid: bool | None = None,
        contact: MeshContactSetting | None = None,
        continuum: str | None = None,
    ) -> None:
        if not isinstance(mesh, (SimplexMesh, BoxMesh, ShapeMesh, FileMesh)):
            raise SetupError("a SolidBody needs a mesh of triangles or tetrahedra, or a description of one")
        self.mesh = mesh if isinstance(mesh, SimplexMesh) else mesh.build()
        self.material = material
        parameters, density = None, None
        vary, regions = checked_variation(vary, regions)
        if vary or regions:
            middle = self.mesh.points[self.mesh.cells].mean(axis=1)
            parameters, density = Variation(material, vary, regions).at(middle)
        self.elements = Elements(
            self.mesh.points, self.mesh.cells, material, parameters=parameters, damping_form=damping_form
        )
        mass = self.elements.lumped_mass(density)
        super().__init__(
            self.mesh.points,
            self.elements,
            mass,
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
        if damping_form != "green" and not self.damping:
            raise SetupError(f'damping_form = "{damping_form}" needs damping; give it or leave the form out')

    @property
    def label(self) -> str:
        return self.material.label

    @property
    def relaxation_rate(self) -> float:
        return self.elements.relaxation_rate

    @property
    def cells(self) -> NDArray[np.int32]:
        return self.mesh.cells

    @property
    def surface(self) -> NDArray[np.int32]:
        return self.mesh.surface

    @property
    def J(self) -> Array:
        """Volume ratios (M,) of the elements, negative where they are inside out."""
        return np.linalg.det(self.elements.deformation(self.x))

    @property
    def is_solid(self) -> bool:
        return True

    def surface_gradients(self, v: Array) -> Array:
        corners = self.cells[self.mesh.cell_behind]
        edges, moves = (rows[corners][:, 1:] - rows[corners][:, :1] for rows in (self._x, v))
        rows = np.linalg.solve(edges, moves)  # dv = (grad v) dx, row by row
        return np.asarray(rows.transpose(0, 2, 1), np.float64)

    def reversed_facets(self) -> NDArray[np.bool_]:
        corners = self._x[self.cells[self.mesh.cell_behind]]
        return np.asarray(np.linalg.det(corners[:, 1:] - corners[:, :1]) <= 0)

    def _inside_out(self) -> str:
        wrong = np.flatnonzero(~(self.J > 0))
        if not len(wrong):
            return ""
        which = ", ".join(map(str, wrong[:5])) + (", ..." if len(wrong) > 5 else "")
        text = (
            f'{len(wrong)} of {len(self.cells)} elements of body "{self.name}" are inside out or flat '
            f"({self.cell} {which})"
        )
        if np.isfinite(self.energy.value(self.x)):
            return text
        raise SetupError(
            f"{text}, for which {self.label} has no energy; correct where its points start, or use a material that has "
            "one, such as fixed-corotated"
        )

    def move(self, moved: PointState, dt: float) -> None:
        super().move(moved, dt)
        self.elements.flow(self.x, self.v, dt)  # plastic flow is explicit, after the solve

    def setup(self) -> dict[str, Any]:
        return super().setup() | {"damping_form": self.elements.damping_form}

    def snapshot(self) -> dict[str, NDArray]:
        return super().snapshot() | {f"history_{k}": v for k, v in self.elements.history().items()}

    def restore(self, data: Mapping[str, NDArray]) -> None:
        super().restore(data)
        mark = "history_"
        self.elements.restore({k.removeprefix(mark): v for k, v in data.items() if k.startswith(mark)})
