"""The simulation: it has a world, picks dt, runs the step and keeps the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from continua._validation import flag, known_keywords, positive_number, shown
from continua.bodies.body import Body
from continua.bodies.force import pushed
from continua.contact.colliders import Collider
from continua.continuum import rules
from continua.continuum.homes import Homes
from continua.continuum.meeting import MeetingResult, Pair, advance
from continua.continuum.overlap import warn_of_overlaps
from continua.continuum.refusals import check_settings
from continua.errors import InstabilityError, SetupError
from continua.grid.blocks import SIDE
from continua.instability import WITHOUT_END, nowhere, runaway, unstable
from continua.integrators import (
    BadParticle,
    Friction,
    MeshResult,
    MeshStepper,
    ObstacleTable,
    Optimization,
    Stepper,
    StepSetting,
    make_stepper,
)
from continua.optimize import Report
from continua.summary import Progress, Summary, summarise
from continua.timestep import (
    Bound,
    check_fixed,
    fastest,
    fit_to,
    gravity_bound,
    relaxation_bounds,
    stability_bounds,
    strictest,
)
from continua.world import World

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from continua.options import Options

MAX_STRAIN = 0.5  # |dt grad v| beyond which a step is repeated with half the dt
FRAME = 1 / 24  # [s], the step of mesh bodies on their own unless a frame is shorter
SHORTEST_FRAME = 1 / 16  # of such a step that does not converge is tried before it is an error
THIN_APPROACH = 0.2  # cells by which sheets, which touch by their extent alone, may approach in a step
COLLAPSE = 1e-4  # a dt below this fraction of the first one means that particles run away


class Simulation:
    """A world of material on a grid. SI units throughout.

    dx: grid spacing [m]. gravity: acceleration [m/s^2]; two numbers make the world 2D, three make it 3D.

    Keyword arguments:

    - precision: "double" or "single";
    - transfer: "apic", "pic", "flip:0.95", "polypic:6", ... or an object of `continua.transfers`;
    - integrator: "symplectic" (explicit, all materials), "optimization" (implicit, particles and mesh bodies),
      "semi-implicit", "incompressible" (fluids on a staggered grid), or an object of `continua.integrators`;
    - kernel: "quadratic", "cubic" or "linear" B-splines; left out: quadratic, linear for incompressible flow; no
      explicit step is stable everywhere with linear ones;
    - stress_transfer: "gradient" (true B-spline gradients) or "mls";
    - deformation: "safe" (I + dt grad v, kept invertible) or "exponential" (exp(dt grad v), which keeps the volume of
      rotations but costs 2 pi omega dt of the energy per turn);
    - dt: fixed time step [s], None for automatic; one that breaks a stability bound is refused unless force_dt;
    - force_dt: take dt as it is, or an elastic_cfl above 1, even where that breaks a stability bound;
    - cfl, elastic_cfl: cells a particle, and an elastic wave of an explicit step, may cross per step;
    - push_out: depth in cells up to which particles may sink into colliders, None to leave them to the grid;
    - seed: of all random sampling.
    """

    def __init__(
        self, dx: float, gravity: Sequence[float] = (0.0, -9.81, 0.0), **options: Unpack[Options]
    ) -> None:
        self.world = World(dx, gravity, **options)
        self.add = self.world.add
        self.time, self.steps = 0.0, 0
        self.dt = 0.0  # of the last step [s]
        self.bound = Bound(0.0, "none")  # what set it
        self._impulses = np.zeros((0, 3))
        self.contact_impulses: dict[
            str, NDArray
        ] = {}  # that the first continuum of each pair got so far (3,) [N s]
        self._drained: dict[str, float] = {}
        self._steppers: dict[str, Stepper] = {}
        self._mesh_stepper: MeshStepper | None = None
        self._first_dt: float | None = None
        self._pairs: list[Pair] = []
        self._homes = Homes()
        self._counted: list[object] = []  # obstacles that the rows of `impulses` belong to

    # ---- what there is ---------------------------------------------------------------------------------------

    @property
    def bodies(self) -> list[Body]:
        """All bodies, in the order in which they were added."""
        return self.world.bodies

    @property
    def colliders(self) -> list[Collider]:
        """All obstacles."""
        return self.world.colliders

    @property
    def dx(self) -> float:
        """Grid spacing [m]."""
        return self.world.dx

    @property
    def gravity(self) -> NDArray[np.float64]:
        """Acceleration (d,) [m/s^2]."""
        return self.world.gravity

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.world.dimension

    @property
    def particles(self) -> int:
        """Number of particles in all bodies made of them."""
        return self.world.particles

    @property
    def drained(self) -> dict[str, float]:
        """Mass that each drain has removed so far, by name [kg]."""
        return {str(drain.name): self._drained.get(str(drain.name), 0.0) for drain in self.world.drains}

    @property
    def impulses(self) -> NDArray[np.float64]:
        """Total impulse that each obstacle gave to the material so far, (obstacles, 3) [N s]."""
        obstacles = self.world.obstacles
        if len(self._counted) != len(obstacles):  # those that came during the run have given nothing yet
            grown = np.zeros((len(obstacles), 3))
            for row, known in zip(self._impulses, self._counted, strict=True):
                grown[next(k for k, one in enumerate(obstacles) if one is known)] = row
            self._impulses, self._counted = grown, list(obstacles)
        return self._impulses

    # ---- stepping --------------------------------------------------------------------------------------------

    @property
    def steppers(self) -> Mapping[str, Stepper]:
        """What advances each continuum, with its grid, by name; made at the first step."""
        if not self.world.started:
            self.start()
        return self._steppers

    def start(self) -> None:
        """Make the grids and fit the bodies to them; the first step does it by itself."""
        world = self.world
        world.settle_continua()
        self._homes.check(world.bodies, world.continua)
        world.join_grids()
        world.settle_lattice()
        self._steppers = {name: self._make_stepper(name) for name in world.continua}
        world.started = True
        for body in world.bodies:
            world.place(body)
        self._look_at_changes()

    def _look_at_changes(self) -> None:
        """What was added since the last step, a contact or a collider as well as a body, counts from now on."""
        if self.world.changed:
            for name, stepper in self._steppers.items():
                if stepper.self_moving != self.world.moves_itself(name):  # its first body has come
                    self._steppers[name] = self._make_stepper(name)
            self._pairs = rules.pairs(self.world)
            self.contact_impulses = {
                pair.label: self.contact_impulses.get(pair.label, np.zeros(3)) for pair in self._pairs
            }
            check_settings(self.world)
            self.world.changed = False

    def _make_stepper(self, continuum: str) -> Stepper:
        world = self.world
        return make_stepper(
            world.integrator_of(continuum),
            world.transfer_of(continuum),
            world.lattice(),
            world.degree,
            mls=world.stress_transfer == "mls",
            exponential=world.deformation == "exponential",
            push_out=world.push_out,
            name=continuum,
            self_moving=world.moves_itself(continuum),
        )

    @property
    def mesh_stepper(self) -> MeshStepper:
        """What advances mesh bodies that are not on a grid."""
        if self._mesh_stepper is None:
            integrator = self.world.free_integrator()
            assert isinstance(integrator, Optimization)
            friction = Friction(
                partial(rules.mesh_friction, self.world), partial(rules.obstacle_mesh_friction, self.world)
            )
            self._mesh_stepper = MeshStepper(integrator, friction)
        return self._mesh_stepper

    def choose_dt(self, remaining: float = float("inf")) -> Bound:
        """The time step for now and what sets it, at most `remaining` [s]."""
        remaining = _time_left(remaining)
        fixed, moving = self.world.fixed_dt, self._bounds()
        bounds = moving + relaxation_bounds(self.bodies)
        if fixed is not None:
            if bounds and not self.world.force_dt:
                check_fixed(fixed, bounds, {str(b.name): b.label for b in self.bodies})
            return Bound(fit_to(remaining, fixed), "fixed")
        bound = strictest(bounds if moving else [*bounds, self._idle_bound(remaining)])
        if moving:
            if self._first_dt is None:
                self._first_dt = bound.dt
            if bound.dt < COLLAPSE * self._first_dt:
                raise runaway(self, bound)
        return Bound(fit_to(remaining, bound.dt), bound.name, bound.body)

    def _idle_bound(self, remaining: float) -> Bound:
        """The step where nothing on a grid limits it: a frame for meshes on their own."""
        if self.world.mesh_bodies:
            return Bound(FRAME if np.isinf(remaining) else remaining, "frame")
        return Bound(1e-3, "none")

    def _bounds(self) -> list[Bound]:
        world, bounds = self.world, []
        world.join_grids()
        for name in world.continua:
            bodies = [body for body in world.bodies_of(name) if body.particle_sets()]
            found = stability_bounds(bodies, world.dx, world.cfl, world.elastic_cfl)
            integrator, own = world.integrator_of(name), world.moves_itself(name)
            if integrator.implicit and not own:  # those that move on their own know what limits them
                found = [bound for bound in found if bound.name == "cfl"]
            if bodies and (own or integrator.implicit or integrator.incompressible) and world.gravity.any():
                found.append(gravity_bound(world.gravity, world.dx, world.cfl))
            bounds += found
        speed = {name: fastest(world.grid_bodies_of(name)) for name in world.continua}
        for pair in self._pairs:
            if pair.slack == 0 and pair.passable and speed[pair.a] + speed[pair.b] > 0:
                dt = THIN_APPROACH * world.dx / (speed[pair.a] + speed[pair.b])
                bounds.append(Bound(dt, f"contact of thin {pair.a} and {pair.b}"))
        return bounds

    def step(self, remaining: float = float("inf")) -> float:
        """Advance by one time step of at most `remaining` [s]; returns the step taken [s]."""
        remaining = _time_left(remaining)
        world, every = self.world, self.steppers
        self._homes.check(world.bodies, world.continua)
        world.join_grids()
        self._look_at_changes()
        for body in world.bodies:
            body.ready(world.wrap, world.dx, self.steps)
        moving = {name: every[name] for name in every if any(map(len, world.grid_bodies_of(name)))}
        if bad := self._sort(moving):
            raise nowhere(self, bad)
        bound = self.choose_dt(remaining)
        result = None
        if moving:
            if self.steps == 0:
                warn_of_overlaps(moving, self._pairs, world.warnings)
            result, bound = self._advance(moving, bound)
        moved = None
        if world.free_meshes:
            moved, bound = self._advance_meshes(bound, alone=result is None)
        if result is not None:
            self._accept(moving, result, bound.dt)
        if moved is not None:
            moved.accept(world.free_meshes, bound.dt)
            self._add_impulses(moved.impulses)
        self._emit(bound.dt)
        self._drain(self.time + bound.dt)
        self.time += bound.dt
        self.steps += 1
        self.dt, self.bound = bound.dt, bound
        return bound.dt

    def _sort(self, moving: Mapping[str, Stepper]) -> BadParticle | None:
        for name, stepper in moving.items():
            if bad := stepper.sort(self.world.grid_bodies_of(name)):
                return bad
        return None

    def _advance(self, moving: Mapping[str, Stepper], bound: Bound) -> tuple[MeetingResult, Bound]:
        """A good step of all continua, not yet accepted, and its length: it is halved until it is good."""
        result = self._try(moving, bound.dt)
        shortest = COLLAPSE * (bound.dt if self._first_dt is None else self._first_dt)
        insisted = self.world.fixed_dt is not None and self.world.force_dt
        while (why := self._too_long(result)) and not (insisted and self._has_end(result)):
            bound = Bound(bound.dt / 2, why)
            if bound.dt < shortest:
                raise runaway(self, bound)
            result = self._try(moving, bound.dt)
        for found in result.results.values():
            if found.bad is not None:
                raise unstable(self, found.bad, bound)
        return result, bound

    def _has_end(self, result: MeetingResult) -> bool:
        """Whether all bodies found an end of the step, which is taken if somebody insists on its length."""
        return not any(one.too_long.startswith(WITHOUT_END) for one in result.results.values())

    def _too_long(self, result: MeetingResult) -> str:
        """Why a step must be repeated with half the dt, or nothing."""
        found = list(result.results.values())
        if any(one.bad is not None for one in found):
            return ""
        for one in found:
            if one.unconverged or one.too_long:
                return one.too_long or f"solver: {one.unconverged}"
        return "strain" if result.max_strain > MAX_STRAIN else ""

    def _try(self, moving: Mapping[str, Stepper], dt: float) -> MeetingResult:
        world = self.world
        bodies = [body for stepper in moving.values() for body in stepper.field.bodies]
        for body in bodies:
            body.begin(self.time + dt)
        table = ObstacleTable.of(world.obstacles, self.time + dt, world.lattice())
        friction = {name: rules.obstacle_friction(world, name) for name in moving}
        emitters = [emitter for emitter, _, _ in world.emitters if emitter.runs(self.time)]
        step = StepSetting(self.time, dt, world.gravity, table, friction, emitters)
        with pushed(bodies, world.forces, self.time, dt):
            return advance(moving, self._pairs, step)

    def _accept(self, moving: Mapping[str, Stepper], result: MeetingResult, dt: float) -> None:
        period = SIDE * self.dx * self.world.lattice().period.astype(np.float64)
        for name, stepper in moving.items():
            for body, limits in zip(stepper.field.bodies, result.results[name].limits, strict=True):
                body.end(dt)
                body.accept(dt, limits, period)
            stepper.accept()
        self._add_impulses(result.impulses)
        for pair, impulse in result.met.items():
            self.contact_impulses[pair] += impulse

    def _advance_meshes(self, bound: Bound, *, alone: bool) -> tuple[MeshResult, Bound]:
        """A step of the meshes that are not on the grid, and its length: where they are `alone` it may be shortened."""
        world = self.world
        shortest = bound.dt if world.fixed_dt or not alone else SHORTEST_FRAME * bound.dt
        while True:
            try:
                return self.mesh_stepper.advance(
                    world.free_meshes, world.colliders, world.forces, bound.dt, self.time, world.gravity
                ), bound
            except InstabilityError:
                bound = Bound(bound.dt / 2, "solver")
                if bound.dt < shortest:
                    raise

    def _add_impulses(self, impulses: NDArray[np.float64]) -> None:
        """impulses (n, 3) [N s] of the first n obstacles."""
        self.impulses[: len(impulses)] += impulses

    def _emit(self, dt: float) -> None:
        for emitter, body, spacing in self.world.emitters:
            x = self.world.wrap(emitter.released(self.time, self.time + dt, spacing))
            v = np.tile(np.array(emitter.velocity), (len(x), 1))
            volume = np.full(len(x), spacing**self.dimension)
            body.append(x, v, np.zeros((len(x), self.dimension, self.dimension)), volume)

    def _drain(self, t: float) -> None:
        for drain in self.world.drains:
            if drain.is_open(t):
                gone = sum(drain.drain(body) for body in self.world.particle_bodies)
                self._drained[str(drain.name)] = self._drained.get(str(drain.name), 0.0) + gone

    # ---- looking ---------------------------------------------------------------------------------------------

    def diagnostics(self) -> dict[str, float]:
        """Time, step, energies [J], momenta, counts and seconds spent per phase.

        In 2D energies and momenta are per metre of depth. `angular` is about the origin.
        """
        from continua.diagnostics import diagnose

        return diagnose(self)

    @property
    def solves(self) -> list[Report]:
        """How the minimisations of the last step went, of grids and of meshes on their own: status, iterations, and
        gradient and energy after each of them."""
        found = [stepper.last_solve for stepper in self.steppers.values()]
        found.append(self._mesh_stepper.last_solve if self._mesh_stepper else None)
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
        if self.world.offset is not None:
            data["lattice"] = self.world.offset.copy()
        for pair in self._pairs:
            data[f"contact/{pair.label}"] = self.contact_impulses[pair.label].copy()
        for name, stepper in self._steppers.items():
            data.update({f"stepper/{key}/{name}": array for key, array in stepper.state().items()})
        for number, body in enumerate(self.bodies):
            data.update({f"body{number}/{key}": array for key, array in body.snapshot().items()})
        return data

    def load_state(self, state: dict[str, NDArray]) -> None:
        """Continue from `state()` of a simulation that was set up in the same way."""
        if not isinstance(state, Mapping) or np.shape(state.get("clock", ())) != (4,):
            raise SetupError(f"this is not a state of a simulation, as sim.state() gives it: {shown(state)}")
        stored = {key.split("/")[0] for key in state if key.startswith("body")}
        if len(stored) != len(self.bodies):
            raise SetupError(
                f"the stored state has {len(stored)} bodies but this simulation has {len(self.bodies)}"
            )
        drained = state.get("drained", np.zeros(0))
        if len(drained) != len(self.world.drains):
            raise SetupError(
                f"the stored state has {len(drained)} drains but this simulation has {len(self.world.drains)}"
            )
        self._start_on(
            state.get("lattice")
        )  # before the stored bodies are taken over, which fit the grid already
        self.time, steps, self.dt, first = (float(v) for v in state["clock"])
        self.steps = int(steps)
        self._first_dt = None if np.isnan(first) else first
        self._impulses, self._counted = np.array(state["impulses"]), list(self.world.obstacles)
        self._drained = {str(d.name): float(m) for d, m in zip(self.world.drains, drained, strict=True)}
        met = {key.removeprefix("contact/"): v for key, v in state.items() if key.startswith("contact/")}
        self.contact_impulses = {pair: np.array(impulse) for pair, impulse in met.items()}
        own = [(key.split("/", 2), v) for key, v in state.items() if key.startswith("stepper/")]
        for name, stepper in self._steppers.items():
            stepper.restore({key: v for (_, key, of), v in own if of == name})
        for number, body in enumerate(self.bodies):
            prefix = f"body{number}/"
            body.restore({key.removeprefix(prefix): v for key, v in state.items() if key.startswith(prefix)})

    def _start_on(self, offset: NDArray | None) -> None:
        """Start with a lattice where another simulation had it; None: where the bodies of this one want it."""
        if not self.world.started or (offset is not None and (offset != self.world.offset).any()):
            self.world.offset = None if offset is None else np.array(offset, np.int64)
            self.start()

    @known_keywords("run()", SetupError)
    def run(
        self,
        duration: float | None = None,
        *,
        frames: int | None = None,
        fps: float = 24.0,
        output: str | PathLike[str] | None = None,
        resume: bool = False,
        overwrite: bool = False,
        accept_changes: bool = False,
        checkpoint_interval: int = 10,
        progress: Callable[[Progress], None] | None = None,
        after_step: Callable[[Simulation], None] | None = None,
        description: dict[str, Any] | None = None,
    ) -> None:
        """Simulate `duration` [s] (or a number of frames), writing frames, checkpoints and diagnostics to `output`.

        Frames are 1 / fps apart [s], the last one ends where the duration does.
        `resume` continues a run found in `output` from its last good checkpoint; `overwrite` replaces it. A run whose
        setup or files have changed, or whose earlier frames are damaged, goes on only with `accept_changes`.
        `after_step` is called with the simulation after every step, for what must hold all the time.
        Ctrl-C writes a checkpoint and raises KeyboardInterrupt.
        """
        from continua.plan import RunPlan
        from continua.running import run

        if output is not None and not isinstance(output, (str, PathLike)):
            raise SetupError(f"output must be the path of a folder, not {shown(output)}")
        for name, function in (("progress", progress), ("after_step", after_step)):
            if function is not None and not callable(function):
                raise SetupError(f"{name} must be a function, not {shown(function)}")
        if not isinstance(description, (Mapping, type(None))):
            raise SetupError(f"description must be a dict, not {shown(description)}")
        plan = RunPlan.of(duration, frames, fps, checkpoint_interval)
        run(
            self,
            plan,
            output,
            resume=flag("resume", resume, SetupError),
            overwrite=flag("overwrite", overwrite, SetupError),
            accept_changes=flag("accept_changes", accept_changes, SetupError),
            progress=progress,
            after_step=after_step,
            description=description or {},
        )


def _time_left(remaining: float) -> float:
    """Time left for a step [s], which may be infinite."""
    if isinstance(remaining, float) and remaining == float("inf"):
        return remaining
    return positive_number("the time left for a step [s]", remaining, SetupError)
