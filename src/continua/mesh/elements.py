"""Linear finite elements on triangles and tetrahedra."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from continua import _core
from continua._validation import shown
from continua.errors import GeometryError, MaterialError, SetupError
from continua.materials import Material, NativeMaterial
from continua.materials.base import CATALOGUE, State, from_components
from continua.materials.rod import Rod
from continua.mesh.damping import DAMPING_FORMS, DampingForm
from continua.mesh.energy import Array, BlockHessian, NativeEnergy, node_array
from continua.mesh.indices import vertex_indices


class Elements(NativeEnergy):
    """Elastic energy of a mesh of linear triangles (d = 2, per unit thickness) or tetrahedra (d = 3).

    points (N, d) [m]: undeformed positions. cells (M, d + 1): vertices of every element, with positive volume.
    material: any built-in material without Newtonian viscosity.
    parameters (n, M): the core's parameters of every element; left out: those of the material.
    state: history variables (M,) by name; left out: undeformed material.
    damping_form: how `damping` sees a deformed element.
    """

    def __init__(
        self,
        points: ArrayLike,
        cells: ArrayLike,
        material: Material,
        *,
        parameters: ArrayLike | None = None,
        state: State | None = None,
        damping_form: DampingForm = "green",
    ) -> None:
        if damping_form not in DAMPING_FORMS:
            known = " or ".join(f'"{name}"' for name in DAMPING_FORMS)
            raise SetupError(f"damping_form must be {known}, not {shown(damping_form)}")
        self.damping_form: DampingForm = damping_form
        self.material = _usable(material)
        rest = node_array(points)
        if rest.ndim != 2 or rest.shape[1] not in (2, 3) or not np.isfinite(rest).all():
            raise GeometryError(
                f"points: expected finite coordinates of shape (any, 2 or 3), got {rest.shape}"
            )
        nodes = (rest.shape[0], rest.shape[1])
        self.cells = vertex_indices(cells, nodes[1] + 1, "cells")
        table = self._table(parameters)
        rows = self._state_rows(state or {})
        try:
            kernel = _core.MeshElements(rest, self.cells, self.material.model, table, rows)
        except ValueError as error:
            raise GeometryError(str(error)) from None
        super().__init__(kernel, nodes)
        self._elements = kernel
        self._damped: tuple[Array, BlockHessian] | None = None  # positions and damping asked for last
        self.relaxation_rate = self._fastest_relaxation(table)  # at which stress fades at rest [1/s]
        out = np.empty((1, len(self)))
        kernel.volumes(out)
        self.volumes = out[0]  # undeformed (M,) [m^3, in 2D m^2]

    def __len__(self) -> int:
        return len(self.cells)

    def set_parameters(self, parameters: ArrayLike) -> None:
        """Replace the parameters, (n, M) or (n,) for all elements."""
        table = self._table(parameters)
        self._elements.set_parameters(table)
        self._damped = None
        self.relaxation_rate = self._fastest_relaxation(table)

    def _fastest_relaxation(self, table: Array) -> float:
        return float(self.material.relaxation_rates(table).max(initial=0.0))

    def deformation(self, x: ArrayLike) -> Array:
        """Deformation gradients (M, d, d) at the positions x (N, d) [m]; elastic parts where material has flowed."""
        out = np.empty((self._nodes[1] ** 2, len(self)))
        self._elements.deformation(node_array(x), out)
        return from_components(out)

    def damping(self, x: ArrayLike, *, into: BlockHessian | None = None) -> BlockHessian:
        """Matrix K of Rayleigh damping at x (N, d): Hooke's law for strain rates, without negative eigenvalues (M23
        section 8).

        With A = F ("green") or the rotation of F ("printed"), and mu and lam as for small strains,
        v^T K v is the sum over elements of V (2 mu |e|^2 + lam tr(e)^2), e = sym(A^T grad v). Green's form has neither
        work nor torque for rigid motion at any x, the printed one only where elements are not strained. The last one is
        kept: a step asks for it more than once where it began.
        """
        positions = node_array(x)
        if into is None and self._damped is not None and np.array_equal(self._damped[0], positions):
            return self._damped[1]
        made = self._new_hessian() if into is None else into
        self._elements.damping(positions, self.damping_form == "green", made.values)
        if into is None:
            self._damped = positions.copy(), made
        return made

    def flow(self, x: ArrayLike, v: ArrayLike, dt: float) -> None:
        """Plastic and viscous flow after a step dt [s] that ended at x (N, d) [m] with velocities v (N, d) [m/s]."""
        self._elements.flow(node_array(x), node_array(v), dt)
        if self.material.flows:
            self._damped = None

    def history(self) -> dict[str, Array]:
        """What flow has changed: `inverse_edges` (d*d, M) [1/m] and the history variables (M,) by name."""
        inverse = np.empty((self._nodes[1] ** 2, len(self)))
        rows = np.empty((len(self.material.states), len(self)))
        self._elements.inverse_edges(inverse)
        self._elements.state(rows)
        return {"inverse_edges": inverse} | {name: rows[k] for k, name in enumerate(self.material.states)}

    def restore(self, history: Mapping[str, Array]) -> None:
        """Go back to a `history`."""
        self._damped = None
        self._elements.set_inverse_edges(node_array(history["inverse_edges"]))
        self._elements.set_state(self._state_rows({name: history[name] for name in self.material.states}))

    def lumped_mass(self, density: ArrayLike | None = None) -> Array:
        """Node masses (N,) [kg]: every element shares its mass equally among its vertices.

        density [kg/m^3]: one number or (M,); left out: that of the material.
        """
        rho = self.material.density if density is None else np.asarray(density, np.float64)
        share = np.repeat(rho * self.volumes / self.cells.shape[1], self.cells.shape[1])
        return np.bincount(self.cells.ravel(), share, minlength=self._nodes[0]).astype(np.float64)

    def _table(self, parameters: ArrayLike | None) -> Array:
        """Parameters of every element, (n, M); remembers those given."""
        own = self.material.parameter_values()
        given = own if parameters is None else np.array(parameters, np.float64)
        wanted = (len(own), len(self))
        if given.shape not in ((len(own),), wanted) or not np.isfinite(given).all():
            raise MaterialError(
                f"parameters: expected finite numbers of shape {wanted}, got shape {given.shape}"
            )
        self.parameters = given
        return np.array(np.broadcast_to(given.reshape(len(own), -1), wanted), order="C")

    def _state_rows(self, state: State) -> Array:
        """History variables of every element, (k, M)."""
        unknown = set(state) - set(self.material.states)
        if unknown:
            raise MaterialError(
                f"state: {self.material.label} has no history variable {', '.join(sorted(unknown))}"
            )
        given = self.material.initial_state(len(self)) | dict(state)
        rows = np.empty((len(self.material.states), len(self)))
        for k, name in enumerate(self.material.states):
            value = np.asarray(given[name], np.float64)
            if value.shape not in ((), (len(self),)):
                raise MaterialError(f"state: {name} needs one value per element, got shape {value.shape}")
            rows[k] = value
        return rows


def _usable(material: Material) -> NativeMaterial:
    """The material, if elements can be made of it."""
    if isinstance(material, Rod):
        raise MaterialError(
            "material: a Rod is for Strands; use a built-in solid for triangles and tetrahedra"
        )
    if not isinstance(material, Material):
        raise MaterialError(f"material: expected one of continua.materials, not {shown(material)}")
    if not isinstance(material, NativeMaterial) or material.model not in CATALOGUE:
        raise MaterialError(
            f"material: {material.label} does not work on meshes, use a built-in solid instead"
        )
    if material.dynamic_viscosity() > 0:
        raise MaterialError(
            f"material: meshes know no Newtonian viscosity, set that of {material.label} to 0 and use damping"
        )
    return material
