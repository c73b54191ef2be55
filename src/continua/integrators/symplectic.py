"""Explicit symplectic Euler: forces at the old positions, positions moved with the new velocities (J15 section 2.2)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.points import Body
from continua.grid.blocks import SIDE, BlockGrid, BlockOrder, Lattice, Workspace, sort_particles
from continua.materials.base import from_components, upper_triangle
from continua.materials.python import PythonMaterial
from continua.transfers import Transfer

PHASES = ("sort", "p2g", "grid", "g2p", "push_out")


class Obstacle(Protocol):
    """Anything that acts on grid nodes: colliders and regions of fixed velocity."""

    @property
    def samples(self) -> tuple[NDArray, NDArray, float] | None: ...
    @property
    def bounded(self) -> bool: ...
    def row(self, t: float) -> NDArray[np.float64]: ...


@dataclass
class BadParticle:
    """A particle that left the finite world."""

    body: Body
    index: int  # into the arrays before the step


@dataclass
class StepResult:
    """What one step found out. Nothing of it is in force until the bodies are swapped."""

    max_strain: float = 0.0  # largest |dt grad v|
    halvings: int = 0  # particles whose F update had to be split
    # per body: fastest particle [m/s], fastest wave [m/s], largest kinematic viscosity [m^2/s]
    speeds: list[tuple[float, float, float]] = field(default_factory=list)
    impulses: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))  # per obstacle [N s]
    bad: BadParticle | None = None


@dataclass
class SymplecticEuler:
    """The explicit pipeline: sort, particles to grid, forces, contact, grid to particles, push-out."""

    lattice: Lattice
    degree: int
    transfer: Transfer
    mls: bool = False
    exponential: bool = False
    push_out: float | None = 0.5  # tolerated depth in cells, None = no particle-level pass
    workspace: Workspace = field(default_factory=Workspace)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))

    def __post_init__(self) -> None:
        self.grid = BlockGrid(self.lattice, self.degree)
        self.plan = self.transfer.plan(self.lattice.dimension, self.degree)
        self._orders: list[BlockOrder] = []

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - start

    def sort(self, bodies: Sequence[Body], *, by_cell: bool = True) -> BadParticle | None:
        """Sort every body into blocks (and cells) and activate the grid under them."""
        with self._phase("sort"):
            self._orders = []
            for number, body in enumerate(bodies):
                a = body.arrays
                order = sort_particles(
                    a.x, a.count, self.lattice, self.degree, self.workspace, str(number), by_cell=by_cell
                )
                if order.bad >= 0:
                    return BadParticle(body, order.bad)
                self._orders.append(order)
            self.grid.cover(self._orders)
        return None

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
        with self._phase("p2g"):
            nodes, old = self._bodies_to_grid(bodies, dt)
        with self._phase("grid"):
            self._move_nodes(nodes, old, dt, gravity)
            result.impulses = self._contact(nodes, obstacles, t + dt)
            change = None if old is None else self._change(nodes, old)
        with self._phase("g2p"):
            for number, body in enumerate(bodies):
                self._grid_to_body(number, body, nodes, change, dt, result)
        with self._phase("push_out"):
            if self.push_out is not None and obstacles and result.bad is None:
                self._push_out(bodies, obstacles, dt, t + dt, result)
        return result

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
        for number, (body, order) in enumerate(zip(bodies, self._orders, strict=True)):
            tiles = self.workspace.get("tiles", self.grid.tile_shape(order), dtype)
            _core.scatter(
                particles=body.arrays,
                parameters=body.parameters,
                material=body.material.model,
                lattice=self.lattice,
                order=order,
                plan=self.plan,
                dimension=self.lattice.dimension,
                degree=self.degree,
                gradient=not self.mls,
                dt=dt,
                momentum=momentum,
                stress=stress,
                tiles=tiles,
            )
            _core.collect_tiles(
                tiles, self.grid.sources[number], self.lattice.dimension, self.degree, number > 0, nodes
            )
        return nodes

    # ---- on the grid -----------------------------------------------------------------------------------------

    def _move_nodes(
        self, nodes: NDArray, old: NDArray | None, dt: float, gravity: NDArray[np.float64]
    ) -> None:
        _core.momentum_to_velocity(nodes, self.lattice.dimension, list(dt * gravity))
        if old is not None:
            _core.momentum_to_velocity(old, self.lattice.dimension, [0.0] * self.lattice.dimension)

    def _obstacle_table(
        self, obstacles: Sequence[Obstacle], t: float
    ) -> tuple[NDArray[np.float64], list[tuple[NDArray, NDArray, float] | None], list[int]]:
        """Rows for the core, their lattices, and the obstacle each row belongs to.

        On periodic axes every bounded obstacle also acts through its images one period away.
        """
        rows, samples, owners = [], [], []
        length = SIDE * self.lattice.dx * self.lattice.period
        for number, obstacle in enumerate(obstacles):
            row = obstacle.row(t)
            shifts = [(0, s, -s) if s and obstacle.bounded else (0,) for s in length]
            for shift in itertools.product(*shifts):
                image = row.copy()
                image[4 : 4 + len(shift)] += shift
                rows.append(image)
                samples.append(obstacle.samples)
                owners.append(number)
        return np.array(rows), samples, owners

    def _contact(self, nodes: NDArray, obstacles: Sequence[Obstacle], t: float) -> NDArray[np.float64]:
        total = np.zeros((len(obstacles), 3))
        if obstacles:
            table, samples, owners = self._obstacle_table(obstacles, t)
            impulses = np.zeros((len(table), 3))
            _core.resolve_nodes(
                nodes, self.grid.keys, self.lattice, self.lattice.dimension, table, samples, impulses
            )
            np.add.at(total, owners, impulses)
        return total

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
            dimension=self.lattice.dimension,
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

    def _push_out(
        self, bodies: Sequence[Body], obstacles: Sequence[Obstacle], dt: float, t: float, result: StepResult
    ) -> None:
        assert self.push_out is not None
        table, samples, owners = self._obstacle_table(obstacles, t)
        for number, body in enumerate(bodies):
            impulses = np.zeros((len(table), 3))
            _core.push_out(
                particles=body.next_arrays,
                order=self._orders[number],
                lattice=self.lattice,
                dimension=self.lattice.dimension,
                depth=self.push_out * self.lattice.dx,
                travel=2 * dt * result.speeds[number][0] + self.lattice.dx,
                table=table,
                samples=samples,
                impulses=impulses,
            )
            np.add.at(result.impulses, owners, impulses)
