"""The vertices of a mesh as particles: they bring its mass and forces to the grid, and go with it (J15 section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.mesh_body import MeshBody
from continua.bodies.points import Body
from continua.materials.base import Material
from continua.mesh import Drag, Rayleigh
from continua.mesh.energy import Array
from continua.optimize import PointState, Term
from continua.optimize.krylov import dot

POWER_ITERATIONS = (
    30  # for the fastest vibration; they find it within a few percent, which elastic_cfl covers
)


@dataclass(frozen=True)
class _Vertex(Material):
    """Mass without stress of its own."""

    type: str
    density: float = 1.0

    def modulus(self) -> float:
        return 0.0

    @property
    def keeps_stress(self) -> bool:
        return False


class Vertices(Body):
    """Particles at the vertices of a mesh. Their `volume` is their mass; stress comes from the elements.

    Rows follow the order of the grid like those of every `Body`; `ids` are the numbers of the vertices.
    """

    def __init__(self, mesh: MeshBody, dtype: type[np.floating], modes: int) -> None:
        super().__init__(str(mesh.name), _Vertex(mesh.label), mesh.dimension, dtype, modes=modes)
        self.mesh = mesh
        self.reaction = np.zeros(
            mesh.dimension
        )  # impulse of scripts against forces of the mesh, in this step
        self.held: NDArray[np.intp] = np.empty(0, np.intp)  # vertices scripted at the end of the running step
        self.places = np.empty((0, mesh.dimension))  # where they must be then [m]
        self.append(mesh.x, mesh.v, mesh.velocity_gradient, mesh.mass)
        self._seen = PointState(mesh.x.copy(), mesh.v.copy())

    # ---- between rows and vertices ---------------------------------------------------------------------------

    def to_rows(self, values: Array) -> NDArray:
        """Vectors (N, d) of the vertices as the core wants them, (d, capacity) in the order of the rows."""
        rows = np.zeros_like(self.arrays.x)
        rows[:, : self.count] = values[self.ids].T
        return rows

    def to_vertices(self, rows: NDArray) -> Array:
        """Inverse of `to_rows`."""
        values = np.empty((self.count, self.dimension))
        values[self.ids] = rows[:, : self.count].T
        return values

    def follow_mesh(self) -> None:
        """Take over positions and velocities of the mesh that were changed by hand since the last step."""
        now = PointState(self.mesh.x, self.mesh.v)
        if all(map(np.array_equal, now, self._seen)):
            return
        self.x[:], self.v[:], self.C = now.x[self.ids], now.v[self.ids], np.zeros((self.dimension,) * 2)
        self.refresh()

    # ---- the forces of the mesh ------------------------------------------------------------------------------

    def begin_step(self, t: float) -> None:
        """Find out which vertices are scripted at the end of the step, at time t [s]."""
        self.held, self.places = self.mesh.scripted_at(t)

    def let_go(self, forces: Array) -> Array:
        """Set forces (N, d) on scripted vertices to zero, since the grid does not feel them; returns their sum (d,)."""
        total = forces[self.held].sum(axis=0)
        forces[self.held] = 0.0
        return total

    def impulse(self, dt: float) -> Array:
        """Of all forces on the vertices during dt [s], at the present positions, damping and drag included [N s]."""
        mesh = self.mesh
        force = mesh.forces() - mesh.drag * mesh.mass[:, None] * mesh.v
        if mesh.damping:
            force -= mesh.damping * mesh.energy.hessian(mesh.x, positive=True).product(mesh.v)
        force *= dt
        self.reaction = -self.let_go(force)
        return force

    def terms(self, dt: float) -> list[Term]:
        """Energies of the positions at the end of a step of dt [s]."""
        mesh = self.mesh
        terms: list[Term] = [mesh.energy]
        if mesh.damping:
            terms.append(Rayleigh(mesh.energy, mesh.x, coefficient=mesh.damping, dt=dt))
        if mesh.drag:
            terms.append(Drag(mesh.mass, mesh.x, coefficient=mesh.drag, dt=dt))
        return terms

    def limit(self, dx: float) -> None:
        """Set the wave speed that an explicit step on a grid of spacing dx [m] must resolve.

        The grid never vibrates faster than the mesh alone, at omega: weights only average. A wave that crosses a cell
        in 2/omega has the same limit. Damping explicit in time shortens it further.
        """
        omega = fastest_vibration(self.mesh)
        ratio = 0.5 * self.mesh.damping * omega + 0.5 * self.mesh.drag / max(omega, 1e-300)
        self.max_wave_speed = 0.5 * dx * omega * (np.hypot(1.0, ratio) + ratio)

    # ---- the end of a step -----------------------------------------------------------------------------------

    def obey(self, dt: float) -> None:
        """Put scripted vertices where they must be at the end of a step; called before `swap`."""
        if not len(self.held):
            return
        new = self.next_arrays
        rows = np.argsort(new.ids[: self.count])[self.held]
        velocity = (self.places - self.mesh.x[self.held]) / dt
        gain = self.mesh.mass[self.held] @ (velocity - new.v[:, rows].T)
        self.mesh.pull[: self.dimension] += gain + self.reaction
        new.x[:, rows], new.v[:, rows] = self.places.T, velocity.T
        new.C[:, rows], new.modes[rows] = 0, 0

    def take_step(self, dt: float, period: NDArray[np.float64]) -> None:
        """After `swap`: the mesh goes where its vertices are. period (d,) [m]: of the grid, 0 where it has none."""
        x, v = self.to_vertices(self.arrays.x), self.to_vertices(self.arrays.v)
        for axis in np.flatnonzero(period):
            x[:, axis] += period[axis] * np.round((self.mesh.x[:, axis] - x[:, axis]) / period[axis])
        self.mesh.accept(PointState(x, v), dt)
        self.max_speed = self.mesh.max_speed  # with that of scripts
        self._seen = PointState(x.copy(), v.copy())
        self.F = np.eye(self.dimension)  # deformation is that of the elements

    def restore(self, data: dict[str, NDArray]) -> None:
        super().restore(data)
        self._seen = PointState(self.mesh.x.copy(), self.mesh.v.copy())


def fastest_vibration(mesh: MeshBody) -> float:
    """Largest angular frequency [1/s] of a mesh at its present positions, by power iteration."""
    stiffness = mesh.energy.hessian(mesh.x, positive=True)
    mass = mesh.mass[:, None]
    u = np.random.default_rng(0).standard_normal(mesh.x.shape)
    square = 0.0
    for _ in range(POWER_ITERATIONS):
        u /= np.sqrt(dot(u, mass * u))
        force = stiffness.product(u)
        square = dot(u, force)
        if square <= 0:
            return 0.0
        u = force / mass
    return float(np.sqrt(square))
