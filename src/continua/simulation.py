"""The simulation: a world, a grid, and the loop that advances them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from continua.bodies.force import pushed
from continua.bodies.mesh_body import MeshBody
from continua.bodies.points import Body
from continua.bodies.vertices import Vertices
from continua.errors import InstabilityError, SetupError
from continua.grid.blocks import SIDE
from continua.instability import runaway, unstable
from continua.integrators import (
    ImplicitGrid,
    Incompressible,
    IncompressibleFlow,
    MeshResult,
    MeshStepper,
    Optimization,
    SemiImplicit,
    Stepper,
    StepResult,
    SymplecticEuler,
)
from continua.optimize import Report
from continua.summary import Progress, Summary, summarise
from continua.timestep import Bound, check_fixed, fit_to, gravity_bound, stability_bounds, strictest
from continua.world import World

MAX_STRAIN = 0.5  # |dt grad v| beyond which a step is repeated with half the dt
CELL_SORT = 8  # steps between sorts by cell; in between particles are sorted by block only
LIMIT_REFRESH = 32  # steps after which the fastest vibration of meshes on the grid is looked up again
FRAME = 1 / 24  # [s], the step of mesh bodies on their own unless a frame is shorter
SHORTEST_FRAME = 1 / 16  # of such a step that does not converge is tried before it is an error
COLLAPSE = 1e-4  # a dt below this fraction of the first one means that particles run away


class Simulation(World):
    """A world of material on a grid. SI units throughout.

    dx: grid spacing [m]. gravity: acceleration [m/s^2]; two numbers make the world 2D, three make it 3D.

    Keyword arguments:

    - precision: "double" or "single";
    - transfer: "apic", "pic", "flip:0.95", "polypic:6", ... or an object of `continua.transfers`;
    - integrator: "symplectic" (explicit, all materials), "optimization" (implicit, particles and mesh bodies),
      "semi-implicit", "incompressible" (fluids on a staggered grid), or an object of `continua.integrators`;
    - kernel: "quadratic", "cubic" or "linear" B-splines; left out: quadratic, linear for incompressible flow;
    - stress_transfer: "gradient" (true B-spline gradients) or "mls";
    - deformation: "safe" (I + dt grad v, kept invertible) or "exponential" (exp(dt grad v));
    - dt: fixed time step [s], None for automatic; one that breaks a stability bound is refused unless force_dt;
    - cfl, elastic_cfl: cells a particle, and an elastic wave, may cross per step;
    - push_out: depth in cells up to which particles may sink into colliders, None to leave them to the grid;
    - seed: of all random sampling.
    """

    dt: float = 0.0  # of the last step [s]
    bound: Bound = Bound(0.0, "none")  # what set it
    _integrator: Stepper | None = None
    _mesh_stepper: MeshStepper | None = None
    _first_dt: float | None = None

    # ---- stepping --------------------------------------------------------------------------------------------

    @property
    def started(self) -> bool:
        return self._integrator is not None

    @property
    def integrator(self) -> Stepper:
        """The time integrator and its grid, made at the first step."""
        if self._integrator is None:
            self._integrator = self._make_integrator()
            for body in self.bodies:
                self._place(body)
            self.vertices = self._made_vertices(self.meshes)
        return self._integrator

    @property
    def free_meshes(self) -> list[MeshBody]:
        """Mesh bodies that are not on the grid."""
        on_grid = [vertices.mesh for vertices in self.vertices]
        return [mesh for mesh in self.meshes if mesh not in on_grid]

    @property
    def mesh_stepper(self) -> MeshStepper:
        """What advances mesh bodies."""
        if self._mesh_stepper is None:
            assert isinstance(self.scheme, Optimization)
            self._mesh_stepper = MeshStepper(self.scheme)
        return self._mesh_stepper

    def _make_integrator(self) -> Stepper:
        if isinstance(self.scheme, Incompressible):
            return IncompressibleFlow(
                self.lattice(), self.degree, self.transfer, push_out=self.push_out, settings=self.scheme
            )
        options: dict[str, Any] = {
            "mls": self.stress_transfer == "mls",
            "exponential": self.deformation == "exponential",
            "push_out": self.push_out,
        }
        if isinstance(self.scheme, (SemiImplicit, Optimization)):
            return ImplicitGrid(self.lattice(), self.degree, self.transfer, settings=self.scheme, **options)
        return SymplecticEuler(self.lattice(), self.degree, self.transfer, **options)

    def choose_dt(self, remaining: float = float("inf")) -> Bound:
        """The time step for now and what sets it, at most `remaining` [s]."""
        bounds = self._bounds()
        if not bounds:
            if self.meshes and self.fixed_dt is None:
                return Bound(min(remaining, FRAME) if np.isinf(remaining) else remaining, "frame")
            return Bound(fit_to(remaining, self.fixed_dt or 1e-3), "fixed" if self.fixed_dt else "none")
        bound = strictest(bounds)
        if self.fixed_dt is not None:
            if not self.force_dt:
                check_fixed(self.fixed_dt, bounds, {b.name: b.material.label for b in self.grid_bodies})
            bound = Bound(self.fixed_dt, "fixed")
        elif self._first_dt is None:
            self._first_dt = bound.dt
        elif bound.dt < COLLAPSE * self._first_dt:
            raise runaway(self, bound)
        return Bound(fit_to(remaining, bound.dt), bound.name, bound.body)

    def _bounds(self) -> list[Bound]:
        bodies = self.grid_bodies
        bounds = stability_bounds(bodies, self.dx, self.cfl, self.elastic_cfl)
        if self.scheme.implicit:
            bounds = [bound for bound in bounds if bound.name == "cfl"]
        if bodies and (self.scheme.implicit or self.scheme.incompressible) and self.gravity.any():
            bounds.append(gravity_bound(self.gravity, self.dx, self.cfl))
        return bounds

    def step(self, remaining: float = float("inf")) -> float:
        """Advance by one time step of at most `remaining` [s]; returns the step taken [s]."""
        integrator, bodies = self.integrator, [b for b in self.grid_bodies if len(b)]
        for vertices in self.vertices:
            vertices.follow_mesh()
            self._wrap(vertices.x)
            if self.steps % LIMIT_REFRESH == 0:
                vertices.limit(self.dx)
        bound = self.choose_dt(remaining)
        result = None
        if bodies:
            if bad := integrator.sort(bodies, by_cell=self.steps % CELL_SORT == 0):
                raise unstable(self, bad, bound)
            result = self._advance(bodies, bound.dt)
            shortest = COLLAPSE * (bound.dt if self._first_dt is None else self._first_dt)
            while (why := self._too_long(result)) and not self.force_dt:
                bound = Bound(bound.dt / 2, why)
                if bound.dt < shortest:
                    raise runaway(self, bound)
                result = self._advance(bodies, bound.dt)
            if result.bad is not None:
                raise unstable(self, result.bad, bound)
        moved = None
        if self.free_meshes:
            moved, bound = self._advance_meshes(bound, alone=result is None)
        if result is not None:
            self._accept(bodies, result, bound.dt)
        if moved is not None:
            moved.accept(self.free_meshes, bound.dt)
            self._add_impulses(moved.impulses)
        self._emit(bound.dt)
        self._drain(self.time + bound.dt)
        self.time += bound.dt
        self.steps += 1
        self.dt, self.bound = bound.dt, bound
        return bound.dt

    def _too_long(self, result: StepResult) -> str:
        """Why a step must be repeated with half the dt, or nothing."""
        if result.bad is not None:
            return ""
        if result.unconverged:
            return f"solver: {result.unconverged}"
        return "strain" if result.max_strain > MAX_STRAIN else ""

    def _advance(self, bodies: Sequence[Body], dt: float) -> StepResult:
        for vertices in self.vertices:
            vertices.begin_step(self.time + dt)
        with pushed(bodies, self.forces, self.time, dt):
            return self.integrator.advance(bodies, self.obstacles, dt, self.time, self.gravity)

    def _accept(self, bodies: Sequence[Body], result: StepResult, dt: float) -> None:
        period = SIDE * self.dx * self.lattice().period.astype(np.float64)
        for body, speeds in zip(bodies, result.speeds, strict=True):
            if isinstance(body, Vertices):
                body.obey(dt)
            body.swap()
            body.max_speed, body.max_wave_speed, body.max_viscosity = speeds
            if isinstance(body, Vertices):
                body.take_step(dt, period)
        self._add_impulses(result.impulses)

    def _advance_meshes(self, bound: Bound, *, alone: bool) -> tuple[MeshResult, Bound]:
        """A step of the meshes that are not on the grid, and its length: where they are `alone` it may be shortened."""
        shortest = bound.dt if self.fixed_dt or not alone else SHORTEST_FRAME * bound.dt
        while True:
            try:
                return self.mesh_stepper.advance(
                    self.free_meshes, self.colliders, self.forces, bound.dt, self.time, self.gravity
                ), bound
            except InstabilityError:
                bound = Bound(bound.dt / 2, "solver")
                if bound.dt < shortest:
                    raise

    def _add_impulses(self, impulses: NDArray[np.float64]) -> None:
        """impulses (n, 3) [N s] of the first n obstacles."""
        if len(self.impulses) != len(self.obstacles):
            self.impulses = np.zeros((len(self.obstacles), 3))
        self.impulses[: len(impulses)] += impulses

    def _emit(self, dt: float) -> None:
        for emitter, body, spacing in self.emitters:
            x = self._wrap(emitter.released(self.time, self.time + dt, spacing))
            v = np.tile(np.array(emitter.velocity), (len(x), 1))
            volume = np.full(len(x), spacing**self.dimension)
            body.append(x, v, np.zeros((len(x), self.dimension, self.dimension)), volume)

    def _drain(self, t: float) -> None:
        for name, drain in zip(self.drained, self.drains, strict=True):
            if drain.is_open(t):
                self.drained[name] += sum(drain.drain(body) for body in self.bodies)

    # ---- looking ---------------------------------------------------------------------------------------------

    def diagnostics(self) -> dict[str, float]:
        """Time, step, energies [J], momenta, counts and seconds spent per phase.

        In 2D energies and momenta are per metre of depth. `angular` is about the origin.
        """
        from continua.diagnostics import diagnose

        return diagnose(self)

    @property
    def solves(self) -> list[Report]:
        """How the minimisations of the last step went, of the grid and of meshes on their own: status, iterations, and
        gradient and energy after each of them."""
        found = [self.integrator.last_solve, self._mesh_stepper.last_solve if self._mesh_stepper else None]
        return [report for report in found if report is not None]

    def summary(self) -> Summary:
        """What there is and what a step will cost, before running."""
        return summarise(self)

    # ---- saving and running ----------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray]:
        """Everything needed to continue with the same bits, as arrays."""
        first = np.nan if self._first_dt is None else self._first_dt
        data = {"clock": np.array([self.time, self.steps, self.dt, first]), "impulses": self.impulses.copy()}
        data["drained"] = np.array(list(self.drained.values()), dtype=np.float64)
        for number, body in enumerate(self.bodies):
            data.update({f"body{number}/{key}": array for key, array in body.snapshot().items()})
        for number, mesh in enumerate(self.meshes):
            data.update({f"mesh{number}/{key}": array for key, array in mesh.snapshot().items()})
        for number, vertices in enumerate(self.vertices):
            data.update({f"vertices{number}/{key}": array for key, array in vertices.snapshot().items()})
        return data

    def load_state(self, state: dict[str, NDArray]) -> None:
        """Continue from `state()` of a simulation that was set up in the same way."""
        for kind, own in (("body", self.bodies), ("mesh", self.meshes)):
            stored = {key.split("/")[0] for key in state if key.startswith(kind)}
            if len(stored) != len(own):
                what = "bodies" if kind == "body" else "mesh bodies"
                raise SetupError(
                    f"the stored state has {len(stored)} {what} but this simulation has {len(own)}"
                )
        drained = state.get("drained", np.zeros(0))
        if len(drained) != len(self.drains):
            raise SetupError(
                f"the stored state has {len(drained)} drains but this simulation has {len(self.drains)}"
            )
        _ = self.integrator  # made now, it fits the bodies to the grid; the stored ones fit already
        self.time, steps, self.dt, first = (float(v) for v in state["clock"])
        self.steps = int(steps)
        self._first_dt = None if np.isnan(first) else first
        self.impulses = np.array(state["impulses"])
        self.drained = dict(zip(self.drained, drained.tolist(), strict=True))

        def part(prefix: str) -> dict[str, NDArray]:
            return {key.removeprefix(prefix): v for key, v in state.items() if key.startswith(prefix)}

        for number, body in enumerate(self.bodies):
            body.restore(part(f"body{number}/"))
        for number, mesh in enumerate(self.meshes):
            mesh.restore(part(f"mesh{number}/"))
        for number, vertices in enumerate(self.vertices):
            vertices.restore(part(f"vertices{number}/"))

    def run(
        self,
        duration: float | None = None,
        *,
        frames: int | None = None,
        fps: float = 24.0,
        output: str | PathLike[str] | None = None,
        resume: bool = False,
        overwrite: bool = False,
        checkpoint_interval: int = 10,
        progress: Callable[[Progress], None] | None = None,
        description: dict[str, Any] | None = None,
    ) -> None:
        """Simulate `duration` [s] (or a number of frames), writing frames, checkpoints and diagnostics to `output`.

        `resume` continues a run found in `output` from its last good checkpoint; `overwrite` replaces it.
        Ctrl-C writes a checkpoint and raises KeyboardInterrupt.
        """
        from continua.running import RunPlan, run

        plan = RunPlan.of(duration, frames, fps, checkpoint_interval)
        run(
            self,
            plan,
            output,
            resume=resume,
            overwrite=overwrite,
            progress=progress,
            description=description or {},
        )
