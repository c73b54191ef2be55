"""The simulation: bodies, obstacles, a grid, and the loop that advances them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.bodies.emitter import Emitter
from continua.bodies.force import BodyForce, pushed
from continua.bodies.points import Body
from continua.bodies.variation import Regions, Variation, Vary
from continua.bodies.velocity import Affine, Rigid, evaluate
from continua.contact.boundaries import FixedVelocity, Periodic
from continua.contact.colliders import Collider
from continua.errors import SetupError
from continua.geometry.base import Shape
from continua.geometry.sampling import sample
from continua.grid.blocks import SIDE, Lattice
from continua.instability import runaway, unstable
from continua.integrators import StepResult, SymplecticEuler
from continua.materials.base import Material
from continua.summary import Progress, Summary, summarise
from continua.timestep import Bound, check_fixed, fit_to, stability_bounds, strictest
from continua.transfers import Transfer, as_transfer

DEGREES = {"linear": 1, "quadratic": 2, "cubic": 3}
MAX_STRAIN = 0.5  # |dt grad v| beyond which a step is repeated with half the dt
CELL_SORT = 8  # steps between sorts by cell; in between particles are sorted by block only
COLLAPSE = 1e-4  # a dt below this fraction of the first one means that particles run away

VelocityLike = Rigid | Affine | ArrayLike | Callable[[NDArray], ArrayLike] | None


def _one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise SetupError(f'{name} must be one of {", ".join(allowed)}, not "{value}"')
    return value


class Simulation:
    """A world of material on a grid. SI units throughout.

    dx: grid spacing [m]. gravity: acceleration [m/s^2]; two numbers make the world 2D, three make it 3D.

    Keyword arguments:

    - precision: "double" or "single";
    - transfer: "apic", "pic", "flip" or an object of `continua.transfers`;
    - kernel: "quadratic", "cubic" or "linear" B-splines;
    - stress_transfer: "gradient" (true B-spline gradients) or "mls";
    - deformation: "safe" (I + dt grad v, kept invertible) or "exponential" (exp(dt grad v));
    - dt: fixed time step [s], None for automatic; one that breaks a stability bound is refused unless force_dt;
    - cfl, elastic_cfl: cells a particle, and an elastic wave, may cross per step;
    - push_out: depth in cells up to which particles may sink into colliders, None to leave them to the grid;
    - seed: of all random sampling.
    """

    def __init__(
        self,
        dx: float,
        gravity: Sequence[float] = (0.0, -9.81, 0.0),
        *,
        precision: str = "double",
        transfer: str | Transfer = "apic",
        kernel: str = "quadratic",
        stress_transfer: str = "gradient",
        deformation: str = "safe",
        dt: float | None = None,
        force_dt: bool = False,
        cfl: float = 0.6,
        elastic_cfl: float = 0.4,
        push_out: float | None = 0.5,
        seed: int = 0,
    ) -> None:
        if not (np.isfinite(dx) and dx > 0):
            raise SetupError(f"dx must be a positive number of metres, not {dx}")
        self.gravity = np.array(gravity, dtype=np.float64)
        if self.gravity.shape not in ((2,), (3,)) or not np.isfinite(self.gravity).all():
            raise SetupError("gravity needs two numbers for a 2D world or three for a 3D world")
        if dt is not None and not (np.isfinite(dt) and dt > 0):
            raise SetupError(f"dt must be a positive number of seconds, not {dt}")
        if not 0 < cfl < 1 or elastic_cfl <= 0:
            raise SetupError("cfl must lie between 0 and 1, and elastic_cfl must be positive")
        self.dx = float(dx)
        self.precision = _one_of("precision", precision, ("single", "double"))
        self.transfer = as_transfer(transfer)
        self.kernel = _one_of("kernel", kernel, tuple(DEGREES))
        self.stress_transfer = _one_of("stress_transfer", stress_transfer, ("gradient", "mls"))
        self.deformation = _one_of("deformation", deformation, ("safe", "exponential"))
        self.fixed_dt, self.force_dt = dt, force_dt
        self.cfl, self.elastic_cfl = cfl, elastic_cfl
        self.push_out, self.seed = push_out, seed
        self.time, self.steps = 0.0, 0
        self.dt, self.bound = 0.0, Bound(0.0, "none")
        self.bodies: list[Body] = []
        self.colliders: list[Collider] = []
        self.boundaries: list[FixedVelocity | Periodic] = []
        self.emitters: list[tuple[Emitter, Body, float]] = []
        self.forces: list[BodyForce] = []
        self.impulses = np.zeros((0, 3))  # total impulse each obstacle gave to the material [N s]
        self.warnings: list[str] = []
        self._integrator: SymplecticEuler | None = None
        self._first_dt: float | None = None

    # ---- setting up ------------------------------------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.gravity)

    @property
    def degree(self) -> int:
        """Degree of the B-splines."""
        return DEGREES[self.kernel]

    @property
    def dtype(self) -> type[np.floating]:
        """Number type of all particle and grid data."""
        return np.float32 if self.precision == "single" else np.float64

    @property
    def particles(self) -> int:
        """Number of particles in all bodies."""
        return sum(len(body) for body in self.bodies)

    @overload
    def add(
        self,
        thing: Shape,
        material: Material,
        *,
        velocity: VelocityLike = None,
        name: str | None = None,
        particles_per_cell: int | None = None,
        sampling: str = "regular",
        vary: Vary | None = None,
        regions: Regions | None = None,
    ) -> Body: ...
    @overload
    def add(self, thing: Collider) -> Collider: ...
    @overload
    def add(self, thing: FixedVelocity | Periodic) -> FixedVelocity | Periodic: ...
    @overload
    def add(self, thing: Emitter) -> Body: ...
    @overload
    def add(self, thing: BodyForce) -> BodyForce: ...

    def add(self, thing: Any, material: Any = None, **options: Any) -> Any:
        """Add a body (a shape and its material), a collider, a boundary, an emitter or a body force.

        A body takes velocity (vector, `Rigid`, `Affine` or function) [m/s], name, particles_per_cell (4 in 2D,
        8 in 3D) and sampling ("regular", "jittered", "poisson"). Its material may differ between particles:
        vary gives fields of the material, {"E": f} with f(x (N, d) [m]) -> (N,), or an array (N,); regions is a list
        of (shape, material of the same kind). Returns the body, or the thing itself.
        """
        if isinstance(thing, Shape):
            if not isinstance(material, Material):
                raise SetupError("a body needs a material: sim.add(shape, continua.materials.Snow())")
            return self._add_body(thing, material, **options)
        if material is not None or options:
            raise SetupError(f"{type(thing).__name__} takes no material and no options in add()")
        if isinstance(thing, Collider):
            return self._add_collider(thing)
        if isinstance(thing, (FixedVelocity, Periodic)):
            return self._add_boundary(thing)
        if isinstance(thing, Emitter):
            return self._add_emitter(thing)
        if isinstance(thing, BodyForce):
            self.forces.append(thing)
            return thing
        raise SetupError(
            f"cannot add {thing!r}; give a shape with a material, a collider, a boundary, an emitter or a body force"
        )

    def _check_dimension(self, what: str, dimension: int) -> None:
        if dimension != self.dimension:
            raise SetupError(f"{what} is {dimension}D but gravity makes the world {self.dimension}D")

    def _new_name(self, name: str | None, stem: str, taken: Sequence[str | None]) -> str:
        if name is None:
            number = 1
            while f"{stem}{number}" in taken:
                number += 1
            return f"{stem}{number}"
        if name in taken:
            raise SetupError(f'the name "{name}" is already used; give every body and collider its own name')
        return name

    def _names(self) -> list[str | None]:
        return [b.name for b in self.bodies] + [c.name for c in self.colliders]

    def _spacing(self, particles_per_cell: int | None) -> float:
        count = 2**self.dimension if particles_per_cell is None else particles_per_cell
        if count < 1:
            raise SetupError(f"particles_per_cell must be at least 1, not {count}")
        return float(self.dx / count ** (1 / self.dimension))

    def _add_body(
        self,
        shape: Shape,
        material: Material,
        *,
        velocity: VelocityLike = None,
        name: str | None = None,
        particles_per_cell: int | None = None,
        sampling: str = "regular",
        vary: Vary | None = None,
        regions: Regions | None = None,
    ) -> Body:
        self._check_dimension("the shape", shape.dimension)
        name = self._new_name(name, "body", self._names())
        seed = self.seed + len(self.bodies)
        points, volumes = sample(shape, self._spacing(particles_per_cell), sampling, seed)  # type: ignore[arg-type]
        v, gradient = evaluate(velocity, points)
        variation = Variation(material, vary, regions) if vary or regions else None
        for number in variation.unused_regions(points) if variation else ():
            self._warn(
                f'regions[{number}] of body "{name}" holds no particle; move it, enlarge it or leave it out'
            )
        body = Body(name, material, self.dimension, self.dtype, variation)
        body.append(points, v, gradient if self.transfer.affine else 0 * gradient, volumes)
        if self._integrator is not None:
            self._wrap(body.x)
        self.bodies.append(body)
        return body

    def _add_collider(self, collider: Collider) -> Collider:
        self._check_dimension(f"the {collider.kind} collider", collider.dimension)
        collider.name = self._new_name(collider.name, collider.kind, self._names())
        self.colliders.append(collider)
        if len(self.impulses):  # added during the run: the others keep what they gave
            self.impulses = np.insert(self.impulses, len(self.colliders) - 1, 0.0, axis=0)
        if collider.thickness() < 2 * self.dx:
            self._warn(
                f'collider "{collider.name}" is {collider.thickness():.3g} m thick, less than 2 dx = '
                f"{2 * self.dx:.3g} m, so material may pass through it; make it thicker or dx smaller"
            )
        return collider

    def _warn(self, text: str) -> None:
        self.warnings.append(text)
        warnings.warn(text, stacklevel=4)

    def _add_boundary(self, boundary: FixedVelocity | Periodic) -> FixedVelocity | Periodic:
        if self._integrator is not None:
            raise SetupError("boundaries must be added before the first step")
        if isinstance(boundary, FixedVelocity):
            self._check_dimension("the fixed-velocity region", boundary.dimension)
        else:
            if boundary.axis >= self.dimension:
                raise SetupError(f"a {self.dimension}D world has no axis {boundary.axis}")
            if any(isinstance(b, Periodic) and b.axis == boundary.axis for b in self.boundaries):
                raise SetupError(f"axis {boundary.axis} is already periodic")
            self._period(boundary)
        self.boundaries.append(boundary)
        return boundary

    def _period(self, boundary: Periodic) -> int:
        """Length of a periodic axis in blocks."""
        blocks = (boundary.upper - boundary.lower) / (SIDE * self.dx)
        if abs(blocks - round(blocks)) > 1e-6 or round(blocks) < 1:
            length, best = boundary.upper - boundary.lower, max(1, round(blocks))
            raise SetupError(
                f"a periodic length must be a multiple of {SIDE} dx: {length:.6g} m is {blocks:.4g} times {SIDE} dx, "
                f"use dx = {length / (SIDE * best):.6g}"
            )
        return round(blocks)

    def _add_emitter(self, emitter: Emitter) -> Body:
        self._check_dimension("the emitter", emitter.dimension)
        name = self._new_name(emitter.name, "emitter", self._names())
        body = Body(name, emitter.material, self.dimension, self.dtype)
        self.bodies.append(body)
        self.emitters.append((emitter, body, self._spacing(emitter.particles_per_cell)))
        return body

    # ---- stepping --------------------------------------------------------------------------------------------

    @property
    def integrator(self) -> SymplecticEuler:
        """The time integrator and its grid, made at the first step."""
        if self._integrator is None:
            origin, period = np.zeros(self.dimension), np.zeros(self.dimension, np.int32)
            for boundary in self.boundaries:
                if isinstance(boundary, Periodic):
                    origin[boundary.axis] = boundary.lower
                    period[boundary.axis] = self._period(boundary)
            self._integrator = SymplecticEuler(
                Lattice(self.dx, origin, period),
                self.degree,
                self.transfer,
                mls=self.stress_transfer == "mls",
                exponential=self.deformation == "exponential",
                push_out=self.push_out,
            )
            for body in self.bodies:
                self._wrap(body.x)
        return self._integrator

    def _wrap(self, x: NDArray) -> NDArray:
        """Positions x (N, d) [m] inside the periodic axes, changed in place."""
        for boundary in self.boundaries:
            if isinstance(boundary, Periodic):
                column, length = x[:, boundary.axis], boundary.upper - boundary.lower
                column[:] = boundary.lower + (column - boundary.lower) % length
                column[column >= boundary.upper] = boundary.lower  # rounding
        return x

    @property
    def obstacles(self) -> list[Collider | FixedVelocity]:
        """Everything that acts on grid nodes, in order: colliders, then regions of fixed velocity."""
        return [*self.colliders, *(b for b in self.boundaries if isinstance(b, FixedVelocity))]

    def choose_dt(self, remaining: float = float("inf")) -> Bound:
        """The time step for now and what sets it, at most `remaining` [s]."""
        bounds = stability_bounds(self.bodies, self.dx, self.cfl, self.elastic_cfl)
        if not bounds:
            return Bound(fit_to(remaining, self.fixed_dt or 1e-3), "none")
        bound = strictest(bounds)
        if self.fixed_dt is not None:
            if not self.force_dt:
                check_fixed(self.fixed_dt, bounds, {b.name: b.material.label for b in self.bodies})
            bound = Bound(self.fixed_dt, "fixed")
        elif self._first_dt is None:
            self._first_dt = bound.dt
        elif bound.dt < COLLAPSE * self._first_dt:
            raise runaway(self, bound)
        return Bound(fit_to(remaining, bound.dt), bound.name, bound.body)

    def step(self, remaining: float = float("inf")) -> float:
        """Advance by one time step of at most `remaining` [s]; returns the step taken [s]."""
        bound = self.choose_dt(remaining)
        integrator, bodies = self.integrator, [b for b in self.bodies if len(b)]
        if bodies:
            if bad := integrator.sort(bodies, by_cell=self.steps % CELL_SORT == 0):
                raise unstable(self, bad, bound)
            result = self._advance(bodies, bound.dt)
            while result.max_strain > MAX_STRAIN and not self.force_dt and result.bad is None:
                bound = Bound(bound.dt / 2, "strain")
                if self._first_dt is not None and bound.dt < COLLAPSE * self._first_dt:
                    raise runaway(self, bound)
                result = self._advance(bodies, bound.dt)
            if result.bad is not None:
                raise unstable(self, result.bad, bound)
            self._accept(bodies, result)
        self._emit(bound.dt)
        self.time += bound.dt
        self.steps += 1
        self.dt, self.bound = bound.dt, bound
        return bound.dt

    def _advance(self, bodies: Sequence[Body], dt: float) -> StepResult:
        with pushed(bodies, self.forces, self.time, dt):
            return self.integrator.advance(bodies, self.obstacles, dt, self.time, self.gravity)

    def _accept(self, bodies: Sequence[Body], result: StepResult) -> None:
        for body, speeds in zip(bodies, result.speeds, strict=True):
            body.swap()
            body.max_speed, body.max_wave_speed, body.max_viscosity = speeds
        if len(self.impulses) != len(result.impulses):
            self.impulses = np.zeros_like(result.impulses)
        self.impulses += result.impulses

    def _emit(self, dt: float) -> None:
        for emitter, body, spacing in self.emitters:
            x = self._wrap(emitter.released(self.time, self.time + dt, spacing))
            v = np.tile(np.array(emitter.velocity), (len(x), 1))
            volume = np.full(len(x), spacing**self.dimension)
            body.append(x, v, np.zeros((len(x), self.dimension, self.dimension)), volume)

    # ---- looking ---------------------------------------------------------------------------------------------

    def diagnostics(self) -> dict[str, float]:
        """Time, step, energies [J], momenta, counts and seconds spent per phase.

        In 2D energies and momenta are per metre of depth. `angular` is about the origin.
        """
        from continua.diagnostics import diagnose

        return diagnose(self)

    def summary(self) -> Summary:
        """What there is and what a step will cost, before running."""
        return summarise(self)

    # ---- saving and running ----------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray]:
        """Everything needed to continue with the same bits, as arrays."""
        first = np.nan if self._first_dt is None else self._first_dt
        data = {"clock": np.array([self.time, self.steps, self.dt, first]), "impulses": self.impulses.copy()}
        for number, body in enumerate(self.bodies):
            data.update({f"body{number}/{key}": array for key, array in body.snapshot().items()})
        return data

    def load_state(self, state: dict[str, NDArray]) -> None:
        """Continue from `state()` of a simulation that was set up in the same way."""
        stored = {key.split("/")[0] for key in state if key.startswith("body")}
        if len(stored) != len(self.bodies):
            raise SetupError(
                f"the stored state has {len(stored)} bodies but this simulation has {len(self.bodies)}"
            )
        self.time, steps, self.dt, first = (float(v) for v in state["clock"])
        self.steps = int(steps)
        self._first_dt = None if np.isnan(first) else first
        self.impulses = np.array(state["impulses"])
        for number, body in enumerate(self.bodies):
            prefix = f"body{number}/"
            body.restore({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})

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
