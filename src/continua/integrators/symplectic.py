"""Explicit symplectic Euler: forces at the old positions, positions moved with the new velocities (J15 section 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.points import Body
from continua.bodies.vertices import Vertices
from continua.integrators.stepper import BadParticle, Obstacle, ObstacleTable, Stepper, StepResult
from continua.materials.base import from_components, upper_triangle
from continua.materials.python import PythonMaterial


@dataclass
class SymplecticEuler(Stepper):
    """The explicit pipeline: sort, particles to grid, forces, contact, grid to particles, push-out."""

    mls: bool = False
    exponential: bool = False

    PHASES: ClassVar[tuple[str, ...]] = ("sort", "p2g", "grid", "g2p", "push_out")

    def advance(
        self,
        bodies: Sequence[Body],
        obstacles: Sequence[Obstacle],
        dt: float,
        t: float,
        gravity: NDArray[np.float64],
    ) -> StepResult:
        """One step from t to t + dt, written to the bodies' other arrays."""
        result = StepResult()
        table = ObstacleTable.of(obstacles, t + dt, self.lattice)
        nodes, change = self._grid_step(bodies, table, dt, gravity, result)
        with self._phase("g2p"):
            for number, body in enumerate(bodies):
                self._grid_to_body(number, body, nodes, change, dt, result)
        self._settle(bodies, nodes, dt)
        with self._phase("push_out"):
            if self.push_out is not None and obstacles and result.bad is None:
                self._push_out(bodies, table, self.push_out * self.lattice.dx, dt, result)
        return result

    def _grid_step(
        self,
        bodies: Sequence[Body],
        table: ObstacleTable,
        dt: float,
        gravity: NDArray[np.float64],
        result: StepResult,
    ) -> tuple[NDArray, NDArray | None]:
        """New node velocities with mass and, for FLIP, by how much they changed."""
        with self._phase("p2g"):
            nodes, old = self._bodies_to_grid(bodies, dt)
        with self._phase("grid"):
            self._move_nodes(nodes, old, dt, gravity)
            result.impulses = self._contact(nodes, table)
            return nodes, None if old is None else self._change(nodes, old)

    def _settle(self, bodies: Sequence[Body], nodes: NDArray, dt: float) -> None:
        """What else happens to the new positions; nothing in the explicit step."""

    # ---- particles to grid -----------------------------------------------------------------------------------

    def _bodies_to_grid(self, bodies: Sequence[Body], dt: float) -> tuple[NDArray, NDArray | None]:
        """Node momentum and mass including the stress impulse; FLIP also needs the momentum without it."""
        if self.transfer.flip == 0:
            return self._scatter("nodes", bodies, dt, momentum=True, stress=True), None
        old = self._scatter("old nodes", bodies, dt, momentum=True, stress=False)
        force = self._scatter("nodes", bodies, dt, momentum=False, stress=True)
        force += old
        return force, old

    def _scatter(
        self,
        name: str,
        bodies: Sequence[Body],
        dt: float,
        *,
        momentum: bool,
        stress: bool,
    ) -> NDArray:
        dtype = bodies[0].arrays.x.dtype
        nodes = self.workspace.get(name, self.grid.node_shape(), dtype)
        add = False
        for number, (body, order) in enumerate(zip(bodies, self._orders, strict=True)):
            tiles = self.workspace.get("tiles", self.grid.tile_shape(order), dtype)
            meshed = isinstance(body, Vertices)
            if momentum or not meshed:
                _core.scatter(
                    particles=body.arrays,
                    parameters=body.parameters,
                    material=body.material.model,
                    lattice=self.lattice,
                    order=order,
                    plan=self.plan,
                    dimension=self.dimension,
                    degree=self.degree,
                    gradient=not self.mls,
                    dt=dt,
                    momentum=momentum,
                    stress=stress and not meshed,
                    tiles=tiles,
                )
                self._collect(number, tiles, nodes, add=add)
                add = True
            if stress and isinstance(body, Vertices):
                self.scatter_values(number, body, body.impulse(dt), tiles)
                self._collect(number, tiles, nodes, add=add)
                add = True
        return nodes

    def scatter_values(
        self,
        number: int,
        body: Vertices,
        values: NDArray[np.float64],
        tiles: NDArray,
        *,
        squared: bool = False,
    ) -> None:
        """Sums of vectors (N, d) of the vertices of a mesh with the weights of the nodes, or their squares."""
        _core.scatter_values(
            body.arrays,
            self.lattice,
            self._orders[number],
            body.to_rows(values),
            self.dimension,
            self.degree,
            squared,
            tiles,
        )

    def _collect(self, number: int, tiles: NDArray, nodes: NDArray, *, add: bool) -> None:
        _core.collect_tiles(tiles, self.grid.sources[number], self.dimension, self.degree, add, nodes)

    # ---- on the grid -----------------------------------------------------------------------------------------

    def _move_nodes(
        self, nodes: NDArray, old: NDArray | None, dt: float, gravity: NDArray[np.float64]
    ) -> None:
        _core.momentum_to_velocity(nodes, self.dimension, list(dt * gravity))
        if old is not None:
            _core.momentum_to_velocity(old, self.dimension, [0.0] * self.dimension)

    def _contact(self, nodes: NDArray, table: ObstacleTable) -> NDArray[np.float64]:
        if not len(table):
            return np.zeros((0, 3))
        impulses = np.zeros((len(table), 3))
        _core.resolve_nodes(
            nodes, self.grid.keys, self.lattice, self.dimension, table.rows, table.samples, impulses
        )
        return table.per_obstacle(impulses)

    def _change(self, nodes: NDArray, old: NDArray) -> NDArray:
        change = self.workspace.get("change", nodes.shape, nodes.dtype)
        np.subtract(nodes, old, out=change)
        return change

    # ---- grid to particles -----------------------------------------------------------------------------------

    def _grid_to_body(
        self, number: int, body: Body, nodes: NDArray, change: NDArray | None, dt: float, result: StepResult
    ) -> None:
        body.next_arrays.count = body.count
        report = _core.gather(
            particles=body.arrays,
            out=body.next_arrays,
            parameters=body.parameters,
            material=body.material.model,
            lattice=self.lattice,
            order=self._orders[number],
            plan=self.plan,
            reach=self.grid.reach[number],
            velocity=nodes,
            change=change,
            dimension=self.dimension,
            degree=self.degree,
            mls=self.mls,
            dt=dt,
            exponential=self.exponential,
        )
        result.max_strain = max(result.max_strain, report["max_strain"])
        result.halvings += report["halvings"]
        if report["bad"] >= 0 and result.bad is None:
            result.bad = BadParticle(body, report["bad"])
        wave = report["max_wave_speed"]
        if isinstance(body.material, PythonMaterial):
            wave = body.material.wave_speed()
            self._python_flow(body, body.material)
        if isinstance(body, Vertices):
            wave = body.max_wave_speed
        result.speeds.append((report["max_speed"], wave, report["max_viscosity"]))

    def _python_flow(self, body: Body, material: PythonMaterial) -> None:
        a, n = body.next_arrays, body.count
        state = {name: a.state[k, :n].astype(np.float64) for k, name in enumerate(material.states)}
        F = from_components(a.F[:, :n].astype(np.float64))
        if material.plastic:
            F, state = material.project(F, state)
            a.F[:, :n] = np.asarray(F).reshape(n, -1).T
            for k, name in enumerate(material.states):
                a.state[k, :n] = state[name]
        a.tau[:, :n] = upper_triangle(material.kirchhoff(F, state))
