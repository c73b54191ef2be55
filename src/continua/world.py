"""What a simulation is made of: settings, bodies, obstacles, sources and forces, and how they are put together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.bodies.drain import Drain
from continua.bodies.emitter import Emitter
from continua.bodies.fields import Fields
from continua.bodies.force import BodyForce
from continua.bodies.mesh_body import MeshBody
from continua.bodies.points import Body
from continua.bodies.variation import Regions, Variation, Vary
from continua.bodies.velocity import Affine, Rigid, evaluate
from continua.bodies.vertices import Vertices
from continua.contact.boundaries import FixedVelocity, Periodic
from continua.contact.colliders import Collider
from continua.errors import SetupError
from continua.geometry.base import Shape
from continua.geometry.sampling import sample
from continua.grid.blocks import SIDE, Lattice
from continua.integrators.schemes import Integrator, Optimization, as_integrator
from continua.materials.base import Material, NativeMaterial
from continua.materials.incompressible import IncompressibleFluid
from continua.transfers import Transfer, as_transfer, kept_gradient

DEGREES = {"linear": 1, "quadratic": 2, "cubic": 3}

AnyMeshBody = TypeVar("AnyMeshBody", bound=MeshBody)
VelocityLike = Rigid | Affine | ArrayLike | Callable[[NDArray], ArrayLike] | None


def _one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise SetupError(f'{name} must be one of {", ".join(allowed)}, not "{value}"')
    return value


class World:
    """Everything there is, before and between steps; the base of `Simulation`, which explains the arguments."""

    def __init__(
        self,
        dx: float,
        gravity: Sequence[float] = (0.0, -9.81, 0.0),
        *,
        precision: str = "double",
        transfer: str | Transfer = "apic",
        integrator: str | Integrator = "symplectic",
        kernel: str | None = None,
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
        self.scheme = as_integrator(integrator)
        self.kernel = _one_of("kernel", kernel or self.scheme.kernel, tuple(DEGREES))
        self.stress_transfer = _one_of("stress_transfer", stress_transfer, ("gradient", "mls"))
        self.transfer.plan(self.dimension, self.degree)  # a scheme that does not fit the splines fails here
        self.deformation = _one_of("deformation", deformation, ("safe", "exponential"))
        self.fixed_dt, self.force_dt = dt, force_dt
        self.cfl, self.elastic_cfl = cfl, elastic_cfl
        self.push_out, self.seed = push_out, seed
        self.time, self.steps = 0.0, 0
        self.bodies: list[Body] = []
        self.meshes: list[MeshBody] = []
        self.vertices: list[Vertices] = []  # of the meshes on the grid, from the first step on
        self.colliders: list[Collider] = []
        self.boundaries: list[FixedVelocity | Periodic] = []
        self.emitters: list[tuple[Emitter, Body, float]] = []
        self.drains: list[Drain] = []
        self.drained: dict[str, float] = {}  # mass that each drain has removed [kg]
        self.forces: list[BodyForce] = []
        self.impulses = np.zeros((0, 3))  # total impulse each obstacle gave to the material [N s]
        self.warnings: list[str] = []

    @property
    def started(self) -> bool:
        """Whether the grid is there, so that boundaries can no longer change."""
        return False

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.gravity)

    @property
    def degree(self) -> int:
        """Degree of the B-splines."""
        return DEGREES[self.kernel]

    @property
    def modes(self) -> int:
        """Polynomial velocity modes that each particle carries beyond its velocity and C."""
        return len(self.transfer.plan(self.dimension, self.degree).high)

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
        fields: Fields | None = None,
    ) -> Body: ...
    @overload
    def add(self, thing: AnyMeshBody) -> AnyMeshBody: ...
    @overload
    def add(self, thing: Collider) -> Collider: ...
    @overload
    def add(self, thing: FixedVelocity | Periodic) -> FixedVelocity | Periodic: ...
    @overload
    def add(self, thing: Emitter) -> Body: ...
    @overload
    def add(self, thing: Drain) -> Drain: ...
    @overload
    def add(self, thing: BodyForce) -> BodyForce: ...

    def add(self, thing: Any, material: Any = None, **options: Any) -> Any:
        """Add a body (a shape and its material), a mesh body, a collider, a boundary, an emitter, a drain or a force.

        A body takes velocity (vector, `Rigid`, `Affine` or function) [m/s], name, particles_per_cell (4 in 2D,
        8 in 3D) and sampling ("regular", "jittered", "poisson"). Its material may differ between particles:
        vary gives fields of the material, {"E": f} with f(x (N, d) [m]) -> (N,), or an array (N,); regions is a list
        of (shape, material of the same kind). fields gives numbers that particles carry along, {"dye": value} with a
        number, a function or an array. Returns the body, or the thing itself.
        """
        if isinstance(thing, Shape):
            if not isinstance(material, Material):
                raise SetupError("a body needs a material: sim.add(shape, continua.materials.Snow())")
            return self._add_body(thing, material, **options)
        if material is not None or options:
            raise SetupError(f"{type(thing).__name__} takes no material and no options in add()")
        if isinstance(thing, MeshBody):
            return self._add_mesh(thing)
        if isinstance(thing, Collider):
            return self._add_collider(thing)
        if isinstance(thing, (FixedVelocity, Periodic)):
            return self._add_boundary(thing)
        if isinstance(thing, Emitter):
            return self._add_emitter(thing)
        if isinstance(thing, Drain):
            return self._add_drain(thing)
        if isinstance(thing, BodyForce):
            self.forces.append(thing)
            return thing
        raise SetupError(
            f"cannot add {thing!r}; give a shape with a material, a mesh body, a collider, a boundary, an emitter, "
            "a drain or a body force"
        )

    def _check_dimension(self, what: str, dimension: int) -> None:
        if dimension != self.dimension:
            raise SetupError(f"{what} is {dimension}D but gravity makes the world {self.dimension}D")

    def _check_material(self, material: Material) -> None:
        """Materials must fit the integrator, and incompressible fluids each other."""
        fluid = isinstance(material, IncompressibleFluid)
        if fluid != self.scheme.incompressible:
            raise SetupError(
                'an incompressible fluid needs integrator="incompressible", or use the material Liquid instead'
                if fluid
                else f'integrator="incompressible" is for IncompressibleFluid, not for {material.label}; '
                'use integrator="symplectic", or a simulation of its own'
            )
        if self.scheme.implicit and not isinstance(material, NativeMaterial):
            raise SetupError(
                f"implicit integrators need second derivatives, which the Python material {material.label} does not "
                'give; use integrator="symplectic"'
            )
        if fluid and any(body.material != material for body in self.bodies):
            raise SetupError(
                "incompressible fluids in one simulation must have the same density and viscosity"
            )

    def _new_name(self, name: str | None, stem: str, taken: Sequence[str | None]) -> str:
        if name is None:
            number = 1
            while f"{stem}{number}" in taken:
                number += 1
            return f"{stem}{number}"
        if name in taken:
            raise SetupError(
                f'the name "{name}" is already used; give every body, collider and drain its own name'
            )
        return name

    def _names(self) -> list[str | None]:
        bodies = [b.name for b in self.bodies] + [m.name for m in self.meshes]
        return bodies + [c.name for c in self.colliders] + [*self.drained]

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
        fields: Fields | None = None,
    ) -> Body:
        self._check_dimension("the shape", shape.dimension)
        self._check_material(material)
        name = self._new_name(name, "body", self._names())
        seed = self.seed + len(self.bodies)
        points, volumes = sample(shape, self._spacing(particles_per_cell), sampling, seed)  # type: ignore[arg-type]
        v, gradient = evaluate(velocity, points)
        variation = Variation(material, vary, regions) if vary or regions else None
        for number in variation.unused_regions(points) if variation else ():
            self._warn(
                f'regions[{number}] of body "{name}" holds no particle; move it, enlarge it or leave it out'
            )
        body = Body(name, material, self.dimension, self.dtype, variation, self.modes, fields)
        body.append(points, v, gradient if self.transfer.affine else 0 * gradient, volumes)
        if self.started:
            self._place(body)
        self.bodies.append(body)
        return body

    def _add_mesh(self, body: MeshBody) -> MeshBody:
        self._check_dimension("the mesh", body.dimension)
        if self.scheme.incompressible:
            raise SetupError(
                'mesh bodies do not live in integrator="incompressible"; use "symplectic" or "optimization"'
            )
        if body.on_grid is False and not isinstance(self.scheme, Optimization):
            raise SetupError(
                f'a mesh body off the grid needs integrator="optimization", not {type(self.scheme).__name__}; '
                "leave on_grid out"
            )
        if body in self.meshes:
            raise SetupError(f'the mesh body "{body.name}" has been added already; make another one')
        body.name = self._new_name(body.name, "mesh", self._names())
        self.meshes.append(body)
        if self.started:
            self.vertices += self._made_vertices([body])
        return body

    def lives_on_grid(self, body: MeshBody) -> bool:
        """Whether the vertices of a mesh are particles of the grid, where they meet all others.

        Left to us, that is so but where the optimizer has nothing else to do: worlds without particles.
        """
        if body.on_grid is not None:
            return body.on_grid
        return bool(self.bodies) or not isinstance(self.scheme, Optimization)

    def _made_vertices(self, meshes: Sequence[MeshBody]) -> list[Vertices]:
        made = [Vertices(mesh, self.dtype, self.modes) for mesh in meshes if self.lives_on_grid(mesh)]
        for vertices in made:
            self._place(vertices)
            vertices.limit(self.dx)
        return made

    @property
    def grid_bodies(self) -> list[Body]:
        """Everything made of particles: bodies, and vertices of meshes on the grid."""
        vertices = self.vertices if self.started else self._made_vertices(self.meshes)
        return [*self.bodies, *vertices]

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
        if self.started:
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
        self._check_material(emitter.material)
        name = self._new_name(emitter.name, "emitter", self._names())
        body = Body(
            name, emitter.material, self.dimension, self.dtype, modes=self.modes, fields=emitter.fields
        )
        spacing = self._spacing(emitter.particles_per_cell)
        layer = spacing / float(np.linalg.norm(emitter.velocity))
        first = emitter.released(emitter.start, emitter.start + layer, spacing)
        if len(first):  # a function that does not fit fails here rather than in the middle of a step
            body.passive.at(first)
        self.bodies.append(body)
        self.emitters.append((emitter, body, spacing))
        return body

    def _add_drain(self, drain: Drain) -> Drain:
        self._check_dimension("the drain", drain.dimension)
        known = [body.name for body in self.bodies]
        if drain.body is not None and drain.body not in known:
            raise SetupError(
                f'there is no body "{drain.body}" for the drain (there are: {", ".join(known) or "none yet"}); '
                "correct the name, or add the body before the drain"
            )
        drain.name = self._new_name(drain.name, "drain", self._names())
        self.drains.append(drain)
        self.drained[drain.name] = 0.0
        return drain

    def lattice(self) -> Lattice:
        """Where the nodes of the grid are: multiples of dx, from the lower end on periodic axes."""
        origin, period = np.zeros(self.dimension), np.zeros(self.dimension, np.int32)
        for boundary in self.boundaries:
            if isinstance(boundary, Periodic):
                origin[boundary.axis] = boundary.lower
                period[boundary.axis] = self._period(boundary)
        return Lattice(self.dx, origin, period)

    def _place(self, body: Body) -> None:
        """Fit a new body to the grid: periodic axes, and what the transfer keeps of its velocity gradient."""
        self._wrap(body.x)
        plan = self.transfer.plan(self.dimension, self.degree)
        if len(body):
            place = (body.x - self.lattice().origin) / self.dx
            body.C = kept_gradient(plan, body.C, place, self.scheme.incompressible)

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
