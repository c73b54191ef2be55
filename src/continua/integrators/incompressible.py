"""Incompressible flow with particles and a MAC grid: face transfers, implicit viscosity, pressure projection,
extrapolation into air and walls, and control of volume (J15 section 5.4, G20 section 2.5, Bridson 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.points import Body
from continua.errors import SetupError
from continua.flow.pressure import PoissonSystem
from continua.grid.blocks import Lattice
from continua.integrators.schemes import Incompressible
from continua.integrators.stepper import BadParticle, Obstacle, ObstacleTable, Stepper, StepResult
from continua.materials.incompressible import IncompressibleFluid

CENTRE = 3  # channel of the cell in face arrays
OPEN, CLOSED = 7, 4  # bits of valid faces, and by how many bits closed ones beside the liquid are shifted
VISCOUS_PATIENCE = 10  # max_iterations of the viscous solve, which has no multigrid, in those of the others
STICKY = 2  # number of the contact mode, see contact.colliders.MODES
CLEARANCE = 1e-3  # distance from walls to which particles are set back [cells]
CROWDED = 2.0  # density, in terms of the fluid's own, beyond which particles are shaken apart
VOLUME_TOLERANCE = 1e-2  # of the solve that spreads crowded particles, relative to the largest crowding
SOLVES = ("viscous", "pressure", "volume")  # linear solves of a step, in this order


@dataclass
class _Walls:
    """Solids on the faces: open fractions, velocities and owners (blocks, cells, 4)."""

    open: NDArray  # of the area of lower faces; the last channel: of the volume of the cell
    speed: NDArray  # of the wall, along the face's axis [m/s]
    owner: NDArray[np.int32]  # row of the obstacle table, or -1


@dataclass
class IncompressibleFlow(Stepper):
    """The incompressible pipeline. Channel a < d of node I is the lower face of cell I along axis a."""

    settings: Incompressible = field(default_factory=Incompressible)

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
    staggered: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        solves = (f"{solve}_{number}" for solve in SOLVES for number in ("iterations", "residual"))
        self.report = dict.fromkeys(("divergence", *solves, "unconverged", "volume"), 0.0)
        self.fluid = IncompressibleFluid()

    @property
    def sort_lattice(self) -> Lattice:
        """Cell centres: their stencils start before those of all faces."""
        lattice = self.lattice
        return Lattice(lattice.dx, lattice.origin + 0.5 * lattice.dx, lattice.period)

    def sort(self, bodies: Sequence[Body], *, by_cell: bool = True) -> BadParticle | None:
        """Sort every body; viscous fluids also need the faces behind the walls they stick to."""
        self.fluid = _one_fluid(bodies)
        self.grid.rim = self.fluid.viscosity > 0
        return super().sort(bodies, by_cell=by_cell)

    def advance(
        self,
        bodies: Sequence[Body],
        obstacles: Sequence[Obstacle],
        dt: float,
        t: float,
        gravity: NDArray[np.float64],
    ) -> StepResult:
        """One step from t to t + dt, written to the bodies' other arrays."""
        result = StepResult(impulses=np.zeros((len(obstacles), 3)))
        self.report.update(dict.fromkeys(self.report, 0.0))
        table = ObstacleTable.of(obstacles, t + dt, self.lattice)
        with self._phase("p2g"):
            velocity, mass = self._bodies_to_faces(bodies)
            neighbours = self._neighbours()
            valid = self._cells("valid", np.uint8)
            _core.face_velocities(velocity, mass, self.dimension, [0.0] * self.dimension, valid)
            self._extrapolate(velocity, valid, neighbours)
            old = self._copy("old velocity", velocity) if self.plan.flip else None
            velocity[..., : self.dimension] += (dt * gravity).astype(velocity.dtype)
        with self._phase("walls"):
            walls = self._walls(table, velocity)
            fluid = self._cells("fluid", np.uint8)
            _core.liquid_cells(mass, walls.open, neighbours, self.dimension, fluid)
        with self._phase("viscosity"):
            self._viscosity(velocity, fluid, walls, table, neighbours, dt, result)
        with self._phase("pressure"):
            system = PoissonSystem(self.grid.keys, self.lattice, fluid, walls.open)
            phi = self._project(system, velocity, fluid, walls, neighbours, valid, result)
            if len(table):
                result.impulses += self._wall_impulses(phi, fluid, walls, table, neighbours)
        with self._phase("volume"):
            shift = self._spread(system, velocity, fluid, walls, neighbours, result)
        with self._phase("extrapolate"):
            self._into_air_and_walls(velocity, valid, walls, table, neighbours)
            change = None if old is None else np.subtract(velocity, old, out=old)
        with self._phase("g2p"):
            for number, body in enumerate(bodies):
                self._faces_to_body(number, body, velocity, change, shift, t, dt, result)
        with self._phase("push_out"):
            if self.push_out is not None and obstacles and result.bad is None:
                self._push_out(bodies, table, -CLEARANCE * self.lattice.dx, dt, result)
        self.report["volume"] = (
            float(walls.open[..., CENTRE][fluid > 0].sum(dtype=np.float64)) * self.lattice.dx**self.dimension
        )
        return result

    # ---- arrays ----------------------------------------------------------------------------------------------

    def _faces(self, name: str, dtype: np.dtype) -> NDArray:
        return self.workspace.get(name, self.grid.node_shape(), dtype)

    def _cells(self, name: str, dtype: type[np.generic]) -> NDArray:
        return self.workspace.get(name, self.grid.node_shape()[:2], dtype)

    def _copy(self, name: str, values: NDArray) -> NDArray:
        copy = self._faces(name, values.dtype)
        copy[:] = values
        return copy

    def _neighbours(self) -> NDArray[np.int32]:
        return np.asarray(_core.neighbour_blocks(self.grid.keys, self.lattice, self.dimension))

    # ---- particles to grid -----------------------------------------------------------------------------------

    def _bodies_to_faces(self, bodies: Sequence[Body]) -> tuple[NDArray, NDArray]:
        """Momentum on faces with the mass of cells, and mass on faces with the number of particles in cells."""
        dtype, overlap = bodies[0].arrays.x.dtype, self.degree + 1
        nodes, mass = self._faces("nodes", dtype), self._faces("mass", dtype)
        size = _core.tile_nodes(self.dimension, overlap)
        for number, (body, order) in enumerate(zip(bodies, self._orders, strict=True)):
            shape = (len(order.keys), size, 4)
            tiles = [self.workspace.get(f"{kind} tiles", shape, dtype) for kind in ("momentum", "mass")]
            _core.scatter_faces(
                particles=body.arrays,
                lattice=self.lattice,
                order=order,
                plan=self.plan,
                dimension=self.dimension,
                degree=self.degree,
                momentum=tiles[0],
                mass=tiles[1],
            )
            for tile, to in zip(tiles, (nodes, mass), strict=True):
                _core.collect_tiles(tile, self.grid.sources[number], self.dimension, overlap, number > 0, to)
        return nodes, mass

    # ---- on the grid -----------------------------------------------------------------------------------------

    def _extrapolate(self, velocity: NDArray, valid: NDArray[np.uint8], neighbours: NDArray) -> None:
        """Velocities beyond the valid faces, as far as transfers reach."""
        scratch = self._cells("scratch", np.uint8)
        _core.extrapolate_faces(velocity, valid, scratch, neighbours, self.dimension, self.degree + 1)

    def _walls(self, table: ObstacleTable, velocity: NDArray) -> _Walls:
        walls = _Walls(
            self._faces("open", velocity.dtype),
            self._faces("wall", velocity.dtype),
            self._faces("owner", np.dtype(np.int32)),
        )
        if len(table):
            _core.solid_faces(
                self.grid.keys,
                self.lattice,
                self.dimension,
                table.rows,
                table.samples,
                walls.open,
                walls.speed,
                walls.owner,
            )
        else:
            walls.open[:], walls.speed[:], walls.owner[:] = 1, 0, -1
        return walls

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
        fluid: NDArray[np.uint8],
        walls: _Walls,
        table: ObstacleTable,
        neighbours: NDArray,
        dt: float,
        result: StepResult,
    ) -> None:
        nu, tolerance = self.fluid.viscosity / self.fluid.density, self.settings.viscous_tolerance
        if nu == 0 or not fluid.any():
            return
        sticky = np.append(table.rows[:, 1] == STICKY, False)  # the last one: no owner
        report = _core.solve_viscosity(
            self.grid.keys,
            self.lattice,
            self.dimension,
            neighbours,
            velocity,
            fluid,
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
        fluid: NDArray[np.uint8],
        walls: _Walls,
        neighbours: NDArray,
        valid: NDArray[np.uint8],
        result: StepResult,
    ) -> NDArray[np.float64]:
        """Make the flow free of divergence; returns p dt / (density dx) in the liquid cells [m/s]."""
        d, s = self.dimension, self.settings
        out, phi = self._cells("outflow", np.float64), self._cells("phi", np.float64)
        phi[:] = 0

        def outflow() -> float:
            most: float = _core.cell_outflow(velocity, walls.open, walls.speed, fluid, neighbours, d, out)
            return most

        left = outflow()
        fastest = max(float(np.abs(velocity[..., :d]).max(initial=0.0)), float(np.abs(walls.speed).max()))
        goal, iterations, removed, residual = s.tolerance * fastest, 0, 0.0, 0.0
        if left > goal:
            np.negative(out, out=out)
            solution = system.solve(out, phi, tolerance=0.5 * goal, max_iterations=s.max_iterations)
            iterations, removed, residual = solution.iterations, solution.removed, solution.residual
        _core.subtract_differences(phi, fluid, walls.open, neighbours, d, False, velocity, valid)
        left = outflow()
        self.report["divergence"] = left / self.lattice.dx
        # No pressure takes away what walls press out of enclosed liquid; all other outflow is the solve's, or rounding.
        wrong = max(residual, left - removed)
        self._ended("pressure", iterations, wrong / fastest if wrong > 0 else 0.0, s.tolerance, result)
        return phi

    def _wall_impulses(
        self,
        phi: NDArray[np.float64],
        fluid: NDArray[np.uint8],
        walls: _Walls,
        table: ObstacleTable,
        neighbours: NDArray,
    ) -> NDArray[np.float64]:
        impulses = np.zeros((len(table), 3))
        scale = self.fluid.density * self.lattice.dx**self.dimension
        _core.wall_impulses(phi, fluid, walls.open, walls.owner, self.dimension, neighbours, scale, impulses)
        return table.per_obstacle(impulses)

    def _spread(
        self,
        system: PoissonSystem,
        nodes: NDArray,
        fluid: NDArray[np.uint8],
        walls: _Walls,
        neighbours: NDArray,
        result: StepResult,
    ) -> NDArray | None:
        """Displacements on faces [m] that thin out crowded cells and fill empty ones (Kugelstadt et al. 2019)."""
        if self.settings.volume_control == 0:
            return None
        d, dx = self.dimension, self.lattice.dx
        crowding, psi = self._cells("outflow", np.float64), self._cells("phi", np.float64)
        full = self.fluid.density * dx**d
        _core.overfull_cells(nodes, walls.open, fluid, neighbours, d, self.degree, full, crowding)
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
        shift, valid = self._faces("shift", nodes.dtype), self._cells("shifted", np.uint8)
        _core.subtract_differences(psi, fluid, walls.open, neighbours, d, True, shift, valid)
        self._extrapolate(shift, valid, neighbours)
        return shift

    def _into_air_and_walls(
        self,
        velocity: NDArray,
        valid: NDArray[np.uint8],
        walls: _Walls,
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
            _core.constrain_faces(
                velocity,
                walls.open,
                self.grid.keys,
                self.lattice,
                self.dimension,
                neighbours,
                table.rows,
                table.samples,
            )
            if again:
                self._extrapolate(velocity, sides, neighbours)

    # ---- grid to particles -----------------------------------------------------------------------------------

    def _faces_to_body(
        self,
        number: int,
        body: Body,
        velocity: NDArray,
        change: NDArray | None,
        shift: NDArray | None,
        t: float,
        dt: float,
        result: StepResult,
    ) -> None:
        body.next_arrays.count = body.count
        full = self.fluid.density * self.lattice.dx**self.dimension
        report = _core.gather_faces(
            particles=body.arrays,
            out=body.next_arrays,
            lattice=self.lattice,
            order=self._orders[number],
            plan=self.plan,
            reach=self.grid.reach[number],
            velocity=velocity,
            change=change,
            shift=shift,
            dimension=self.dimension,
            degree=self.degree,
            dt=dt,
            crowded=CROWDED * full if self.settings.volume_control else 0.0,
            seed=int(np.float64(t).view(np.uint64)),
        )
        if report["bad"] >= 0 and result.bad is None:
            result.bad = BadParticle(body, report["bad"])
        result.speeds.append((report["max_speed"], 0.0, 0.0))


def _one_fluid(bodies: Sequence[Body]) -> IncompressibleFluid:
    """The material of all bodies."""
    material = bodies[0].material
    assert isinstance(material, IncompressibleFluid)
    for body in bodies:
        if body.material != material:
            raise SetupError(
                f'body "{body.name}" has another density or viscosity than body "{bodies[0].name}"; '
                "incompressible fluids in one simulation must have the same"
            )
    return material
