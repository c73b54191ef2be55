"""Incompressible flow with particles and a MAC grid: face transfers, implicit viscosity, pressure projection,
extrapolation into air and walls, and control of volume (J15 section 5.4, G20 section 2.5, Bridson 2015)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.body import Body
from continua.bodies.kinds import particle_bodies
from continua.errors import SetupError
from continua.flow.cells import Surface, Walls
from continua.flow.drops import Drops
from continua.flow.guess import PressureGuess
from continua.flow.inlets import Inlets, find_inlets
from continua.flow.pressure import PoissonSystem
from continua.flow.walls import WallFinder
from continua.grid.blocks import Workspace
from continua.integrators.field import BadParticle, Field
from continua.integrators.obstacles import ObstacleTable
from continua.integrators.schemes import Incompressible
from continua.integrators.stepper import Stepper, StepResult, StepSetting
from continua.materials.incompressible import IncompressibleFluid

CENTRE = 3  # channel of the cell in face arrays
OPEN, CLOSED = 7, 4  # bits of valid faces, and by how many bits closed ones beside the liquid are shifted
VISCOUS_PATIENCE = 10  # max_iterations of the viscous solve, which has no multigrid, in those of the others
STICKY = 2  # number of the contact mode, see contact.colliders.MODES
CLEARANCE = 1e-3  # distance from walls to which particles are set back [cells]
CROWDED = 2.0  # density, in terms of the fluid's own, beyond which particles are shaken apart
VOLUME_TOLERANCE = 1e-2  # of the solve that spreads crowded particles, relative to the largest crowding
SOLVES = ("viscous", "pressure", "volume")  # linear solves of a step, in this order


class IncompressibleFlow(Stepper):
    """The incompressible pipeline. Channel a < d of node I is the lower face of cell I along axis a."""

    PHASES: ClassVar[tuple[str, ...]] = (
        "sort",
        "p2g",
        "walls",
        "viscosity",
        "pressure",
        "volume",
        "extrapolate",
        "g2p",
        "push_out",
    )

    def __init__(
        self, field: Field, settings: Incompressible, *, push_out: float | None = 0.5, name: str = "main"
    ) -> None:
        super().__init__(field, push_out=push_out, name=name)
        self.settings, self.workspace = settings, Workspace()
        self._finder, self._guess = WallFinder(self.workspace), PressureGuess(field.dimension)
        self._around: tuple[NDArray[np.uint64], NDArray[np.int32]] | None = (
            None  # keys and neighbours of blocks
        )
        field.grid.rim = True  # liquid may reach beyond the cells of particles, and walls behind it count
        solves = (f"{solve}_{number}" for solve in SOLVES for number in ("iterations", "residual"))
        self.report = dict.fromkeys(("divergence", *solves, "unconverged", "volume"), 0.0)

    @property
    def nbytes(self) -> int:
        return super().nbytes + sum(part.nbytes for part in (self.workspace, self._finder, self._guess))

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.field.dimension

    def sort(self, bodies: Sequence[Body]) -> BadParticle | None:
        """Sort every body."""
        self.fluid = _common_fluid(bodies)
        return super().sort(bodies)

    def to_grid(self, step: StepSetting, result: StepResult) -> None:
        """Velocities on faces that are free of divergence and know the walls."""
        table = step.obstacles
        self.report.update(dict.fromkeys(self.report, 0.0))
        with self._phase("p2g"):
            velocity, mass = self._bodies_to_faces()
            neighbours = self._neighbours()
            valid = self._cells("valid", np.uint8)
            _core.face_velocities(velocity, mass, self.dimension, [0.0] * self.dimension, valid)
            self._extrapolate(velocity, valid, neighbours)
            self._old = self._copy("old velocity", velocity) if self.field.rule.plan.flip else None
            _core.accelerate_faces(velocity, self.dimension, list(step.dt * step.gravity))
        with self._phase("walls"):
            walls = self._walls(table, velocity)
            inlets = self._inlets(step, walls)
            walls = inlets.moving(walls)
            surface = self._surface(velocity, walls, neighbours)
            self.report["volume"] = surface.volume
        with self._phase("pressure"):
            system = PoissonSystem(
                self.field.grid.keys,
                self.field.lattice,
                surface.fluid,
                walls.open,
                distance=surface.distance,
                neighbours=neighbours,
            )
            drops = self._drops(system, surface, walls, neighbours)
            drops.remember(mass, velocity)
        with self._phase("viscosity"):
            self._viscosity(velocity, mass, surface, walls, table, neighbours, step.dt, result)
        with self._phase("pressure"):
            phi = self._project(system, velocity, surface, walls, neighbours, valid, step.dt, result)
            if len(table):
                result.impulses += self._wall_impulses(phi, surface, walls, neighbours, step)
        with self._phase("volume"):
            self._shift = self._spread(system, velocity, surface, walls, neighbours, result)
            if self._shift is not None:
                drops.hold(mass, self._shift)
        with self._phase("extrapolate"):
            self._into_air_and_walls(velocity, valid, table, neighbours)
            inlets.set(velocity)
            drops.restore(mass, velocity)
        self._velocity = velocity

    def to_bodies(self, step: StepSetting, result: StepResult) -> None:
        with self._phase("g2p"):
            old, velocity = self._old, self._velocity
            change = None if old is None else np.subtract(velocity, old, out=old)
            full = self.fluid.density * self.field.lattice.dx**self.dimension
            for index, (body, exchanges) in enumerate(
                zip(self.field.bodies, self.field.exchanges, strict=True)
            ):
                for number, exchange in enumerate(exchanges):
                    report = exchange.advance_on_faces(
                        velocity,
                        change,
                        self._shift,
                        step.dt,
                        crowded=CROWDED * full if self.settings.volume_control else 0.0,
                        seed=int(np.float64(step.t).view(np.uint64)),
                    )
                    result.note(body, number, report | NO_WAVES, index)
        with self._phase("push_out"):
            self._push_out(step, -CLEARANCE * self.field.lattice.dx, result)

    def accept(self) -> None:
        self._guess.accept()

    def state(self) -> dict[str, NDArray]:
        return self._guess.state()

    def restore(self, state: Mapping[str, NDArray]) -> None:
        self._guess.restore(state)

    # ---- arrays ----------------------------------------------------------------------------------------------

    def _faces(self, name: str, dtype: np.dtype) -> NDArray:
        return self.workspace.get(name, self.field.grid.node_shape(), dtype)

    def _cells(self, name: str, dtype: type[np.generic]) -> NDArray:
        return self.workspace.get(name, self.field.grid.node_shape()[:2], dtype)

    def _copy(self, name: str, values: NDArray) -> NDArray:
        copy = self._faces(name, values.dtype)
        copy[:] = values
        return copy

    def _neighbours(self) -> NDArray[np.int32]:
        """Blocks around every block (blocks, 3^d), or -1; kept while particles stay in the same blocks."""
        keys = self.field.grid.keys
        if self._around is None or self._around[0] is not keys:
            found = _core.neighbour_blocks(keys, self.field.lattice, self.dimension)
            self._around = keys, np.asarray(found)
        return self._around[1]

    # ---- particles to grid -----------------------------------------------------------------------------------

    def _bodies_to_faces(self) -> tuple[NDArray, NDArray]:
        """Momentum on faces with the mass of cells, and mass on faces with the number of particles in cells."""
        nodes, mass = (self._faces(name, self.field.dtype) for name in ("nodes", "mass"))
        every = [exchange for exchanges in self.field.exchanges for exchange in exchanges]
        for number, exchange in enumerate(every):
            exchange.scatter_faces(nodes, mass, add=number > 0)
        return nodes, mass

    # ---- on the grid -----------------------------------------------------------------------------------------

    def _extrapolate(self, velocity: NDArray, valid: NDArray[np.uint8], neighbours: NDArray) -> None:
        """Velocities beyond the valid faces, as far as transfers reach."""
        _core.extrapolate_faces(velocity, valid, neighbours, self.dimension, self.field.degree + 1)

    def _walls(self, table: ObstacleTable, velocity: NDArray) -> Walls:
        return self._finder.find(self.field.grid, table.rows, table.samples, velocity.dtype)

    def _inlets(self, step: StepSetting, walls: Walls) -> Inlets:
        """Walls behind emitters, whose closed faces move with the stream."""
        grid, table = self.field.grid, step.obstacles
        emitters = step.emitters if len(table) else ()
        return find_inlets(
            emitters, grid.keys, grid.lattice, walls.open, walls.owner, table.rows, table.samples
        )

    def _surface(self, nodes: NDArray, walls: Walls, neighbours: NDArray) -> Surface:
        """From the mass of cells, the last channel of `nodes`."""
        d, dx = self.dimension, self.field.lattice.dx
        fill, distance = (self._cells(name, np.float64) for name in ("fill", "distance"))
        fluid, full = self._cells("fluid", np.uint8), self.fluid.density * dx**d
        cells = _core.surface_cells(
            nodes, walls.open, neighbours, d, self.field.degree, full, fill, distance, fluid
        )
        return Surface(fill, distance, fluid, cells * dx**d)

    def _drops(self, system: PoissonSystem, surface: Surface, walls: Walls, neighbours: NDArray) -> Drops:
        grid, layers = self.field.grid, self.field.degree + 1  # as many as are extrapolated
        return Drops(system, grid.keys, grid.lattice, surface.fluid, walls.open, neighbours, layers)

    def _ended(
        self, solve: str, iterations: int, residual: float, tolerance: float, result: StepResult
    ) -> None:
        """Note how a linear solve ended; beyond the tolerance, whatever its iterations, the step does not count."""
        self.report[f"{solve}_iterations"] = iterations
        self.report[f"{solve}_residual"] = residual
        if not residual <= tolerance:
            self.report["unconverged"] = 1.0
            result.unconverged = result.unconverged or solve

    def _viscosity(
        self,
        velocity: NDArray,
        mass: NDArray,
        surface: Surface,
        walls: Walls,
        table: ObstacleTable,
        neighbours: NDArray,
        dt: float,
        result: StepResult,
    ) -> None:
        """Stresses in liquid cells and in all that hold particles: threads thinner than a cell feel them too."""
        nu, tolerance = self.fluid.viscosity / self.fluid.density, self.settings.viscous_tolerance
        if nu == 0:
            return
        held = self._cells("held", np.uint8)
        _core.liquid_cells(mass, walls.open, neighbours, self.dimension, held)
        np.maximum(held, surface.fluid, out=held)
        sticky = np.append(table.rows[:, 1] == STICKY, False)  # the last one: no owner
        report = _core.solve_viscosity(
            self.field.grid.keys,
            self.field.lattice,
            self.dimension,
            neighbours,
            velocity,
            held,
            walls.open,
            walls.speed,
            sticky[walls.owner].view(np.uint8),
            nu,
            dt,
            tolerance,
            VISCOUS_PATIENCE * self.settings.max_iterations,
        )
        self._ended("viscous", report["iterations"], report["residual"], tolerance, result)

    def _project(
        self,
        system: PoissonSystem,
        velocity: NDArray,
        surface: Surface,
        walls: Walls,
        neighbours: NDArray,
        valid: NDArray[np.uint8],
        dt: float,
        result: StepResult,
    ) -> NDArray[np.float64]:
        """Make the flow free of divergence; returns p dt / (density dx) in the liquid cells [m/s]."""
        d, s, keys = self.dimension, self.settings, self.field.grid.keys
        out, phi = self._cells("outflow", np.float64), self._cells("phi", np.float64)

        def outflow() -> float:
            most: float = _core.cell_outflow(
                velocity, walls.open, walls.speed, surface.fluid, neighbours, d, out
            )
            return most

        left = outflow()
        fastest = max(_core.fastest_face(field, d) for field in (velocity, walls.speed))
        goal, iterations, removed, residual = s.tolerance * fastest, 0, 0.0, 0.0
        if left > goal:
            np.negative(out, out=out)
            self._guess.start(keys, dt, phi)
            solution = system.solve(out, phi, tolerance=0.5 * goal, max_iterations=s.max_iterations)
            iterations, removed, residual = solution.iterations, solution.removed, solution.residual
        else:
            phi[:] = 0
        self._guess.propose(keys, surface.fluid, dt, phi)
        self._subtract(phi, surface, walls, neighbours, velocity, valid, overwrite=False)
        left = outflow()
        self.report["divergence"] = left / self.field.lattice.dx
        # No pressure takes away what walls press out of enclosed liquid; all other outflow is the solve's, or rounding.
        wrong = max(residual, left - removed)
        self._ended("pressure", iterations, wrong / fastest if wrong > 0 else 0.0, s.tolerance, result)
        return phi

    def _subtract(
        self,
        phi: NDArray[np.float64],
        surface: Surface,
        walls: Walls,
        neighbours: NDArray,
        velocity: NDArray,
        valid: NDArray[np.uint8],
        *,
        overwrite: bool,
    ) -> None:
        _core.subtract_differences(
            phi,
            surface.fluid,
            surface.distance,
            walls.open,
            neighbours,
            self.dimension,
            overwrite,
            velocity,
            valid,
        )

    def _wall_impulses(
        self,
        phi: NDArray[np.float64],
        surface: Surface,
        walls: Walls,
        neighbours: NDArray,
        step: StepSetting,
    ) -> NDArray[np.float64]:
        """Impulses (obstacles, 3) [N s] of the pressure at the walls: half a cell on from the middles of cells."""
        table, lattice = step.obstacles, self.field.lattice
        impulses = np.zeros((len(table), 3))
        _core.wall_impulses(
            phi,
            surface.fluid,
            walls.open,
            walls.owner,
            self.field.grid.keys,
            lattice,
            self.dimension,
            neighbours,
            table.rows,
            table.at(step.t).rows,
            table.samples,
            np.asarray(step.gravity, np.float64),
            step.dt,
            self.fluid.density * lattice.dx**self.dimension,
            impulses,
        )
        return table.per_obstacle(impulses)

    def _spread(
        self,
        system: PoissonSystem,
        velocity: NDArray,
        surface: Surface,
        walls: Walls,
        neighbours: NDArray,
        result: StepResult,
    ) -> NDArray | None:
        """Displacements on faces [m] that thin out crowded cells and fill empty ones (Kugelstadt et al. 2019)."""
        if self.settings.volume_control == 0:
            return None
        d, dx = self.dimension, self.field.lattice.dx
        crowding, psi = self._cells("outflow", np.float64), self._cells("phi", np.float64)
        _core.crowded_cells(
            surface.fill,
            surface.distance,
            surface.fluid,
            walls.open,
            neighbours,
            d,
            self.field.degree,
            crowding,
        )
        crowding *= self.settings.volume_control * dx
        psi[:] = 0
        largest = float(np.abs(crowding).max(initial=0.0))
        if largest == 0:
            return None
        tolerance = VOLUME_TOLERANCE * largest
        most = self.settings.max_iterations
        solution = system.solve(crowding, psi, tolerance=tolerance, max_iterations=most)
        # Steps correct a part of the crowding only, so one that spreads less than it should is no harm.
        self._ended("volume", solution.iterations, solution.residual / largest, 1.0, result)
        shift, valid = self._faces("shift", velocity.dtype), self._cells("shifted", np.uint8)
        self._subtract(psi, surface, walls, neighbours, shift, valid, overwrite=True)
        self._extrapolate(shift, valid, neighbours)
        return shift

    def _into_air_and_walls(
        self,
        velocity: NDArray,
        valid: NDArray[np.uint8],
        table: ObstacleTable,
        neighbours: NDArray,
    ) -> None:
        """Velocities beyond the liquid, so that nothing is carried through walls.

        Faces in walls beside the liquid come first; what lies behind them then follows them too, as it must in corners.
        """
        sides = np.asarray((valid & OPEN) | (valid >> CLOSED), np.uint8)
        self._extrapolate(velocity, valid, neighbours)
        if not len(table):
            return
        for again in (True, False):
            self._finder.constrain(velocity, self.field.grid, neighbours)
            if again:
                self._extrapolate(velocity, sides, neighbours)


NO_WAVES = {
    "max_wave_speed": 0.0,
    "max_viscosity": 0.0,
    "max_strain": 0.0,
}  # implicit viscosity, no elasticity


def _common_fluid(bodies: Sequence[Body]) -> IncompressibleFluid:
    """The one fluid that all bodies of a flow are made of."""
    fluids = [body.material for body in particle_bodies(bodies)]
    first = fluids[0] if fluids else None
    for body, fluid in zip(bodies, fluids, strict=True):
        if fluid != first:
            raise SetupError(
                f'body "{body.name}" has another density or viscosity than body "{bodies[0].name}"; '
                "incompressible fluids in one simulation must have the same"
            )
    assert isinstance(first, IncompressibleFluid)
    return first
