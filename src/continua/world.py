"""What a simulation is made of: settings, bodies, obstacles, sources and forces, and how they are put together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from continua import adding
from continua._validation import (
    finite_number,
    flag,
    known_keywords,
    positive_number,
    real_array,
    shown,
    whole_number,
)
from continua.bodies.body import HOMES, MAIN, Body
from continua.bodies.drain import Drain
from continua.bodies.emitter import Emitter
from continua.bodies.fields import Fields
from continua.bodies.force import BodyForce
from continua.bodies.kinds import mesh_bodies, particle_bodies
from continua.bodies.mesh_body import MeshBody
from continua.bodies.points import ParticleBody
from continua.bodies.variation import Regions, Vary
from continua.bodies.velocity import GivenVelocity
from continua.contact.boundaries import FixedVelocity, Periodic, blocks_of_period
from continua.contact.colliders import Collider
from continua.continuum.settings import Contact, Continuum
from continua.errors import SetupError
from continua.geometry.base import Shape
from continua.grid.blocks import SIDE, Lattice
from continua.grid.reach import box_of, check_reach, check_resolution, lattice_offset
from continua.integrators.schemes import Integrator, Optimization, as_integrator
from continua.materials.base import Material
from continua.materials.rod import Rod
from continua.timestep import beyond_stability
from continua.transfers import Transfer, as_transfer, kept_gradient

MIN_DX, MAX_DX = 1e-90, 1e90  # [m]
DEGREES = {"linear": 1, "quadratic": 2, "cubic": 3}

AnyBody = TypeVar("AnyBody", bound=Body)


def _one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise SetupError(f"{name} must be one of {', '.join(allowed)}, not {shown(value)}")
    return value


class World:
    """What there is: settings, bodies, continua, contacts, obstacles, sources, forces. It knows nothing of time.

    `Simulation` explains the arguments.
    """

    @known_keywords("a simulation", SetupError)
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
        self.dx = positive_number("dx", dx, SetupError)
        if not MIN_DX <= self.dx <= MAX_DX:  # volumes of cells must be numbers
            raise SetupError(f"dx must lie between {MIN_DX:g} and {MAX_DX:g} m, not {shown(dx)}")
        try:
            self.gravity = real_array(gravity)
        except (TypeError, ValueError):
            raise SetupError(f"gravity must be two or three numbers, not {shown(gravity)}") from None
        if self.gravity.shape not in ((2,), (3,)) or not np.isfinite(self.gravity).all():
            raise SetupError("gravity needs two numbers for a 2D world or three for a 3D world")
        dt = None if dt is None else positive_number("dt", dt, SetupError)
        force_dt = flag("force_dt", force_dt, SetupError)
        cfl = finite_number("cfl", cfl, SetupError)
        elastic_cfl = finite_number("elastic_cfl", elastic_cfl, SetupError)
        if push_out is not None and not (push_out := finite_number("push_out", push_out, SetupError)) >= 0:
            raise SetupError(f"push_out must not be negative, got {push_out}")
        seed = whole_number("seed", seed, SetupError)
        if not 0 < cfl < 1 or elastic_cfl <= 0:
            raise SetupError("cfl must lie between 0 and 1, and elastic_cfl must be positive")
        if wrong := beyond_stability(elastic_cfl, force_dt):
            raise SetupError(f"elastic_cfl {wrong}")
        self.precision = _one_of("precision", precision, ("single", "double"))
        self.transfer = as_transfer(transfer)
        self.integrator = as_integrator(integrator)
        self.kernel = _one_of("kernel", self.integrator.kernel if kernel is None else kernel, tuple(DEGREES))
        self.stress_transfer = _one_of("stress_transfer", stress_transfer, ("gradient", "mls"))
        self.transfer.plan(self.dimension, self.degree)  # a scheme that does not fit the splines fails here
        self.deformation = _one_of("deformation", deformation, ("safe", "exponential"))
        self.fixed_dt, self.force_dt = dt, force_dt
        self.cfl, self.elastic_cfl = cfl, elastic_cfl
        self.push_out, self.seed = push_out, seed
        self.bodies: list[Body] = []
        self.continua: dict[str, Continuum] = {}
        self.contacts: list[Contact] = []
        self.colliders: list[Collider] = []
        self.boundaries: list[FixedVelocity | Periodic] = []
        self.emitters: list[tuple[Emitter, ParticleBody, float]] = []
        self.drains: list[Drain] = []
        self.forces: list[BodyForce] = []
        self.warnings: list[str] = []
        self.offset: NDArray[np.int64] | None = (
            None  # of the lattice from zero (d,), in blocks; None before the start
        )
        self.started = False  # whether there are grids, so that boundaries and continua can no longer change
        self.changed = True  # whether something was added since the simulation last looked
        self._declared = False  # whether a continuum has been declared, so that names must be known

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
        """Number of particles in all bodies made of them."""
        return sum(len(body) for body in self.particle_bodies)

    @property
    def vertices(self) -> int:
        """Number of points of all other bodies: meshes, strands, rigid bodies."""
        return sum(map(len, self.bodies)) - self.particles

    @property
    def particle_bodies(self) -> list[ParticleBody]:
        """Bodies made of particles."""
        return particle_bodies(self.bodies)

    @property
    def mesh_bodies(self) -> list[MeshBody]:
        """Bodies made of a mesh."""
        return mesh_bodies(self.bodies)

    @overload
    def add(
        self,
        thing: Shape,
        material: Material,
        *,
        velocity: GivenVelocity = None,
        name: str | None = None,
        particles_per_cell: int | None = None,
        sampling: str = "regular",
        vary: Vary | None = None,
        regions: Regions | None = None,
        fields: Fields | None = None,
        continuum: str | None = None,
    ) -> ParticleBody: ...
    @overload
    def add(self, thing: AnyBody) -> AnyBody: ...
    @overload
    def add(self, thing: Collider) -> Collider: ...
    @overload
    def add(self, thing: FixedVelocity | Periodic) -> FixedVelocity | Periodic: ...
    @overload
    def add(self, thing: Emitter) -> ParticleBody: ...
    @overload
    def add(self, thing: Continuum) -> Continuum: ...
    @overload
    def add(self, thing: Contact) -> Contact: ...
    @overload
    def add(self, thing: Drain) -> Drain: ...
    @overload
    def add(self, thing: BodyForce) -> BodyForce: ...

    def add(self, thing: Any, material: Any = None, **options: Any) -> Any:
        """Add a body (a shape and its material, or a mesh body), a continuum, a contact, a collider, a boundary, an
        emitter, a drain or a force.

        A body takes velocity (vector, `Rigid`, `Affine` or function) [m/s], name, particles_per_cell (4 in 2D,
        8 in 3D) and sampling ("regular", "jittered", "poisson"). Its material may differ between particles:
        vary gives fields of the material, {"E": f} with f(x (N, d) [m]) -> (N,), or an array (N,); regions is a list
        of (shape, material of the same kind). fields gives numbers that particles carry along, {"dye": value} with a
        number, a function or an array. continuum names the one it belongs to. Returns the body, or the thing itself.
        """
        self.changed = True
        if isinstance(thing, Shape):
            if isinstance(material, Rod):
                raise SetupError(
                    "a Rod is the material of Strands, not of shapes: sim.add(ct.Strands(curves, rod))"
                )
            if not isinstance(material, Material):
                raise SetupError("a body needs a material: sim.add(shape, continua.materials.Snow())")
            return adding.add_body(self, thing, material, **options)
        if material is not None or options:
            raise SetupError(f"{type(thing).__name__} takes no material and no options in add()")
        for kind, take in self._adders():
            if isinstance(thing, kind):
                return take(thing)
        raise SetupError(
            f"cannot add {shown(thing)}; give a shape with a material, a mesh body, a continuum, a contact, a "
            "collider, a boundary, an emitter, a drain or a body force"
        )

    def _adders(self) -> list[tuple[type | tuple[type, ...], Callable[[Any], Any]]]:
        return [
            (Body, partial(adding.add_made_body, self)),
            (Continuum, self._add_continuum),
            (Contact, partial(adding.add_contact, self)),
            (Collider, partial(adding.add_collider, self)),
            ((FixedVelocity, Periodic), partial(adding.add_boundary, self)),
            (Emitter, partial(adding.add_emitter, self)),
            (Drain, partial(adding.add_drain, self)),
            (BodyForce, partial(adding.add_force, self)),
        ]

    # ---- continua --------------------------------------------------------------------------------------------

    def _add_continuum(self, continuum: Continuum) -> Continuum:
        if continuum.name in self.continua:
            raise SetupError(
                f'the continuum "{continuum.name}" is there already; declare every continuum once, before its bodies'
            )
        self._declared = True
        self._make_continuum(continuum)
        return continuum

    def _make_continuum(self, continuum: Continuum) -> None:
        if self.started:
            raise SetupError(
                f'the continuum "{continuum.name}" must be added before the first step; bodies may join one later'
            )
        integrators = [self.integrator_of(name) for name in self.continua]
        integrators.append(continuum.integrator or self.integrator)
        if len(integrators) > 1 and any(integrator.incompressible for integrator in integrators):
            raise SetupError(
                "an incompressible flow lives on a staggered grid and cannot meet another continuum yet; use the "
                'material Liquid with integrator="symplectic", or one continuum'
            )
        self.continua[continuum.name] = continuum
        self.transfer_of(continuum.name).plan(self.dimension, self.degree)  # one that does not fit fails here

    def continuum_for(self, name: str | None) -> str:
        """The continuum of a new body, made at first use unless continua are declared one by one."""
        name = MAIN if name is None else name
        if not isinstance(name, str) or not name:
            raise SetupError(f"continuum must be a name, not {shown(name)}")
        if name not in self.continua:
            if self._declared and name not in HOMES:
                raise SetupError(
                    f'there is no continuum "{name}" (there are: {", ".join(self.continua)}); correct the name, or '
                    f'add ct.Continuum("{name}") first'
                )
            self._make_continuum(Continuum(name))
        return name

    def settle_continua(self) -> None:
        """Before the first step: there is at least one continuum."""
        if not self.continua:
            self._make_continuum(Continuum(MAIN))

    def free_integrator(self) -> Integrator:
        """Of the meshes that move on their own."""
        return self.integrator_of(self.continuum_of(self.free_meshes[0]))

    def continuum_of(self, body: Body) -> str:
        """Name of the continuum of a body."""
        return body.continuum or body.home

    def bodies_of(self, continuum: str) -> list[Body]:
        """The bodies of a continuum."""
        return [body for body in self.bodies if self.continuum_of(body) == continuum]

    def integrator_of(self, continuum: str) -> Integrator:
        """How a continuum advances in time."""
        return self.continua[continuum].integrator or self.integrator

    def transfer_of(self, continuum: str) -> Transfer:
        """How particles and grid of a continuum exchange momentum."""
        return self.continua[continuum].transfer or self.transfer

    def modes(self, continuum: str) -> int:
        """Polynomial velocity modes that each particle carries beyond its velocity and C."""
        return len(self.transfer_of(continuum).plan(self.dimension, self.degree).high)

    def names(self) -> list[str | None]:
        """Of everything that has one: bodies, colliders, drains."""
        bodies = [body.name for body in self.bodies]
        return [*bodies, *(c.name for c in self.colliders), *(d.name for d in self.drains)]

    def take(self, body: Body) -> None:
        self.bodies.append(body)
        if self.started:
            self.place(body)

    def lives_on_grid(self, body: MeshBody) -> bool:
        """Whether the points of a mesh are particles of the grid, where they meet all others.

        Left to us, that is so but where the optimizer has nothing else to do: worlds without particles.
        """
        if body.on_grid is not None or body.self_moving:
            return bool(body.on_grid)
        optimized = isinstance(self.integrator_of(self.continuum_of(body)), Optimization)
        return bool(self.particle_bodies) or not optimized

    def join_grids(self) -> None:
        """Meshes that meet particles become particles of the grid, whichever came first, or show their surface."""
        for one in self.bodies:
            if one.self_moving and not one.particle_sets():
                adding.check_resolution(self, f'body "{one.name}"', one.x.min(axis=0), one.x.max(axis=0))
                explicit = not self.integrator_of(self.continuum_of(one)).implicit
                one.be_free(self.dtype, self.dx, explicit=explicit)
                if self.started:
                    self.place(one)
        for body in self.mesh_bodies:
            if body.set is None and self.lives_on_grid(body):
                if text := body.check_positions():
                    self.warn(
                        f"{text}, and on a grid points do not pass each other; correct where its points start"
                    )
                adding.check_resolution(self, f'body "{body.name}"', body.x.min(axis=0), body.x.max(axis=0))
                body.join_grid(self.dtype, self.modes(self.continuum_of(body)), self.dx)
                if self.started:
                    self.place(body)

    @property
    def grid_bodies(self) -> list[Body]:
        """Bodies with particles on a grid."""
        return [body for body in self.bodies if body.particle_sets()]

    def moves_itself(self, continuum: str) -> bool:
        """Whether the bodies of a continuum move on their own."""
        return any(body.self_moving for body in self.bodies_of(continuum))

    def grid_bodies_of(self, continuum: str) -> list[Body]:
        """Bodies of a continuum with particles on its grid."""
        return [body for body in self.bodies_of(continuum) if body.particle_sets()]

    @property
    def free_meshes(self) -> list[MeshBody]:
        """Mesh bodies that move on their own and meet nothing on a grid."""
        return [body for body in self.mesh_bodies if body.set is None and not body.self_moving]

    def warn(self, text: str) -> None:
        """Tell the user, now and in the summary."""
        self.warnings.append(text)
        warnings.warn(text, stacklevel=4)

    def lattice(self) -> Lattice:
        """Where the nodes of the grid are: multiples of dx, from the lower end on periodic axes."""
        origin, period = np.zeros(self.dimension), np.zeros(self.dimension, np.int32)
        if self.offset is not None:
            origin += self.dx * SIDE * self.offset
        for boundary in self.boundaries:
            if isinstance(boundary, Periodic):
                origin[boundary.axis] = boundary.lower
                period[boundary.axis] = blocks_of_period(boundary, self.dx)
        return Lattice(self.dx, origin, period)

    def settle_lattice(self) -> None:
        """Before the first step: the lattice is where material is or enters; from then on it stays there."""
        if self.offset is None:
            boxes = [box_of(particles.x) for body in self.bodies for particles in body.particle_sets()]
            boxes += [emitter.shape.bounds() for emitter, _, _ in self.emitters]
            self.offset = lattice_offset([box for box in boxes if box], self.dimension, self.dx)

    def place(self, body: Body) -> None:
        """Fit a new body to its grid: reach, periodic axes, and what the transfer keeps of its velocity gradient."""
        continuum, lattice = self.continuum_of(body), self.lattice()
        plan = self.transfer_of(continuum).plan(self.dimension, self.degree)
        staggered = self.integrator_of(continuum).incompressible
        for particles in body.particle_sets():
            if box := box_of(particles.x):
                check_resolution(f'body "{body.name}"', *box, self.dx, self.dtype)
                check_reach(f'body "{body.name}"', *box, lattice)
            self.wrap(particles.x)
            if len(particles):
                place = (particles.x - lattice.origin) / self.dx
                particles.C = kept_gradient(plan, particles.C, place, staggered)

    def wrap(self, x: NDArray) -> NDArray:
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
