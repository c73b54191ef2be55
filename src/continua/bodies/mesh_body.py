"""Bodies made of a mesh: points with mass, joined by elements or springs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua._validation import finite_number, shown
from continua.bodies.body import (
    MAIN,
    SOLIDS,
    Body,
    BodyEnergy,
    GridMotion,
    MeetingSurface,
    Prediction,
    Totals,
)
from continua.bodies.collision_surface import CollisionSurface
from continua.bodies.free_mesh import LIMIT_REFRESH, FreeMesh
from continua.bodies.mesh_energy import MeshEnergy
from continua.bodies.particles import Limits, ParticleSet
from continua.bodies.scripted import Indices, Scripted
from continua.bodies.start import Placed, Scattered, first_positions
from continua.bodies.velocity import GivenVelocity, evaluate
from continua.contact.collision_particles import facet_normals
from continua.contact.penalty import GridContact, MeshContactSetting, PenaltyContact
from continua.contact.strand_contact import StrandContact
from continua.errors import SetupError
from continua.mesh import Drag, NativeEnergy, Rayleigh
from continua.mesh.vibration import fastest_vibration
from continua.optimize import PointState, Term

if TYPE_CHECKING:
    from continua.transfers.exchange import Exchange

ON_GRID = "grid_"  # begins the names of what is stored of its particles
Array = NDArray[np.float64]
StartLike = Placed | Scattered | Callable[[Array], ArrayLike] | None


class MeshBody(Body):
    """Points with mass, joined by elements or springs; the base of `SolidBody`, `SpringBody` and `Strands`.

    Keyword arguments of all mesh bodies:

    - velocity: at the start, a vector, `Rigid`, `Affine` or a function of the first positions [m/s];
    - name: unique in the simulation;
    - scripted: one `Scripted` or several; where two hold a vertex, the later one counts;
    - start: where the points are at first, `Placed`, `Scattered` or a function of the rest positions, X (N, d) ->
      x (N, d) [m]; left out: at rest. Vertices scripted at t = 0 are where their script says;
    - drag [1/s]: every velocity decays at this rate;
    - damping [s]: lagged Rayleigh damping, by which a mode of angular frequency w decays at the rate damping w^2 / 2;
    - on_grid: whether the points are particles of the grid, where they meet all others, or move on their own; left
      out: on their own only under the optimizer, as long as there are no particles in the world;
    - contact: how it meets others while it moves on its own: a `PenaltyContact`, for solids a `GridContact`, for
      strands a `StrandContact`;
    - continuum: name of the one it belongs to; left out: "main", with a `GridContact` "solids".

    With a `GridContact` they move on their own under any integrator and meet everything. With a `PenaltyContact` they
    need `integrator="optimization"`; they then meet colliders and move in the same time steps as particles, but do not
    meet particles; periodic axes and regions of fixed velocity do not act on them.
    """

    cell_bytes: ClassVar[int]  # of an element or a spring, with its share of the points

    def __init__(
        self,
        points: Array,
        energy: NativeEnergy,
        mass: Array,
        *,
        velocity: GivenVelocity,
        name: str | None,
        scripted: Scripted | Sequence[Scripted],
        start: StartLike,
        drag: float,
        damping: float,
        on_grid: bool | None,
        contact: MeshContactSetting | None,
        continuum: str | None,
    ) -> None:
        for what, value in (("drag", drag), ("damping", damping)):
            if finite_number(what, value, SetupError) < 0:
                raise SetupError(f"{what} must be a finite number that is not negative, not {value}")
        self.name = name
        self.rest = np.array(points, dtype=np.float64)  # undeformed positions (N, d) [m]
        self.rest.setflags(write=False)
        scripts = [scripted] if isinstance(scripted, Scripted) else scripted
        if not isinstance(scripts, (list, tuple)) or not all(isinstance(s, Scripted) for s in scripts):
            raise SetupError(f"scripted must be one Scripted or a list of them, not {shown(scripted)}")
        if not isinstance(contact, (PenaltyContact, GridContact, StrandContact, type(None))):
            raise SetupError(
                f"contact must be a PenaltyContact, a GridContact or a StrandContact, not {shown(contact)}"
            )
        if isinstance(contact, GridContact) and (on_grid or not self.is_solid):
            why = "on_grid must be left out or false" if on_grid else f"it is for solids, not for {self.stem}"
            raise SetupError(f"with a GridContact only collision particles of a solid are on the grid: {why}")
        if isinstance(contact, StrandContact) and (on_grid or self.kind != "strands"):
            why = (
                "on_grid must be left out or false" if on_grid else f"it is for strands, not for {self.stem}"
            )
            raise SetupError(f"with a StrandContact strands move on their own: {why}")
        self._scripts = [(script, script.chosen(self.rest)) for script in scripts]
        self._x = first_positions(start, self.rest)
        self.begin(0.0)
        self._x[self.held] = self.places
        self._v, self.velocity_gradient = evaluate(
            velocity, self._x
        )  # (N, d) [m/s]; (N, d, d) [1/s], at first
        self._mass = mass
        self.energy = energy
        hessian = energy.hessian(self.rest)
        self.stiffness = float(hessian.diagonal().mean())  # of a point, before any flow [N/m]
        self.hessian_bytes = hessian.values.nbytes
        self.drag, self.damping = float(drag), float(damping)
        self.on_grid = on_grid
        self.contact: MeshContactSetting = contact or PenaltyContact()
        self.continuum = continuum
        self.pull = np.zeros(3)  # impulse that scripts have given so far [N s]
        self.before: PointState | None = None  # one step ago
        self.before_dt = 0.0  # length of that step [s]
        self.set: ParticleSet | None = None  # its points as particles, while it is on the grid
        self.free: FreeMesh | None = (
            None  # what is on the grid of a body that moves on its own and meets others there
        )
        self._fresh = True  # whether it is still to take its first step on its own
        self.reaction = np.zeros(
            self.dimension
        )  # impulse of scripts against forces of the mesh, in this step

    def __len__(self) -> int:
        return len(self.rest)

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """2 or 3."""
        return int(self.rest.shape[1])

    @property
    def x(self) -> Array:
        """Positions (N, d) [m]; may be assigned to."""
        return self._x

    @x.setter
    def x(self, value: Array) -> None:
        self._x = value

    @property
    def v(self) -> Array:
        """Velocities (N, d) [m/s]; may be assigned to."""
        return self._v

    @v.setter
    def v(self, value: Array) -> None:
        self._v = value

    @property
    def mass(self) -> Array:
        """Masses (N,) [kg]."""
        return self._mass

    @property
    def ids(self) -> NDArray[np.int32]:
        """Numbers of the points (N,)."""
        return np.arange(len(self), dtype=np.int32)

    @property
    @abstractmethod
    def cells(self) -> NDArray[np.int32]:
        """Points of every element (M, d + 1), or of every spring (M, 2)."""

    @property
    def cell(self) -> str:
        """What its points are joined by: "triangle", "tetrahedron" or "spring"."""
        return {2: "spring", 3: "triangle", 4: "tetrahedron"}[self.cells.shape[1]]

    @property
    @abstractmethod
    def surface(self) -> NDArray[np.int32]:
        """Facets (F, d) of solids, or the sheet (F, 3) of springs; none of strands."""

    @cached_property
    def edge_length(self) -> float:
        """Mean distance of neighbouring points at rest [m]."""
        a, b = self.cells[:, 0], self.cells[:, 1]
        return float(np.linalg.norm(self.rest[a] - self.rest[b], axis=1).mean())

    @property
    def max_speed(self) -> float:
        """Of the fastest point [m/s]."""
        return float(np.sqrt((self.v**2).sum(axis=1).max()))

    def forces(self, x: Array | None = None) -> Array:
        """Elastic forces (N, d) [N] at positions x (N, d) [m]; left out: at the present ones."""
        return -self.energy.gradient(self.x if x is None else x)

    def scripted_at(self, t: float) -> tuple[Indices, Array]:
        """Numbers (n,) of the vertices scripted at time t [s] and where they must be (n, d) [m]."""
        where: dict[int, Array] = {}
        for script, chosen in self._scripts:
            if script.holds(t):
                where.update(zip(chosen.tolist(), script.positions(t, self.rest[chosen])))
        places = np.array(list(where.values()), dtype=np.float64).reshape(-1, self.dimension)
        return np.array(list(where), dtype=np.intp), places

    # ---- on its own ------------------------------------------------------------------------------------------

    def move(self, moved: PointState, dt: float) -> None:
        """Take over the end of a step of dt [s]."""
        self.before, self.before_dt = PointState(self._x, self._v), dt
        self._x, self._v = moved

    @property
    def penalty(self) -> PenaltyContact:
        """How it meets others under the optimizer alone."""
        return self.contact if isinstance(self.contact, PenaltyContact) else PenaltyContact("off")

    @property
    def rooted(self) -> Array:
        """1 for points (N,) that follow the body they grow on, 0 for all others."""
        return np.zeros(len(self))

    @property
    def is_solid(self) -> bool:
        """Whether it has an inside, bounded by its surface."""
        return False

    @property
    def home(self) -> str:
        return SOLIDS if self.self_moving else MAIN

    @property
    def self_moving(self) -> bool:
        return isinstance(self.contact, (GridContact, StrandContact))

    def be_free(self, dtype: type[np.floating], dx: float, *, explicit: bool) -> None:
        """From now on it moves on its own and meets others on a grid of spacing dx [m].

        explicit: whether elastic waves limit the steps.
        """
        assert isinstance(self.contact, GridContact)
        self.free = CollisionSurface(self, self.contact, dtype, dx, explicit=explicit)

    def predict(self, t: float, dt: float, gravity: Array, move: Prediction) -> str:
        assert self.free is not None
        return self.free.predict(t, dt, gravity, move)

    def respond(self, exchanges: Sequence[Exchange], nodes: GridMotion, dt: float) -> str:
        assert self.free is not None
        return self.free.respond(exchanges, nodes, dt)

    def meet(self, group: Sequence[Body], dt: float, dx: float) -> str:
        others = [body.free for body in group if isinstance(body, MeshBody) and body.free is not None]
        return "" if self.free is None else self.free.meet(others, dt, dx)

    def report(self) -> dict[str, float]:
        return {} if self.free is None else self.free.report()

    def surface_gradients(self, v: Array) -> Array:
        """Velocity gradients (F, d, d) [1/s] behind the facets of the surface, for velocities (N, d) [m/s]."""
        return np.zeros((len(self.surface), self.dimension, self.dimension))

    # ---- on the grid -----------------------------------------------------------------------------------------

    def join_grid(self, dtype: type[np.floating], modes: int, dx: float) -> ParticleSet:
        """From now on the points are particles of a grid of spacing dx [m]."""
        self.set = ParticleSet(str(self.name), self.dimension, dtype, modes=modes)
        self.set.append(self._x, self._v, self.velocity_gradient, self._mass)
        self._seen = PointState(self._x.copy(), self._v.copy())
        self.set.limits = Limits(self.set.fastest, self.wave_speed_on(dx))
        return self.set

    def particle_sets(self) -> Sequence[ParticleSet]:
        if self.free is not None:
            return (self.free.set,)
        return () if self.set is None else (self.set,)

    def ready(self, wrap: Callable[[NDArray], NDArray], dx: float, steps: int) -> None:
        self._check_finite()
        if self.set is None:
            if self._fresh:
                self.check_positions()
            if self.free is not None:
                self.free.ready(wrap, dx, steps)
            self._fresh = False
            return
        now = PointState(self._x, self._v)
        moved = not np.array_equal(now.x, self._seen.x)
        if moved:
            self.check_positions()
        if moved or not np.array_equal(now.v, self._seen.v):
            ids = self.set.ids
            self.set.x[:], self.set.v[:], self.set.C = now.x[ids], now.v[ids], np.zeros((self.dimension,) * 2)
            self.set.limits = Limits(self.set.fastest, self.set.limits.wave_speed)
        wrap(self.set.x)
        if moved or steps % LIMIT_REFRESH == 0:
            self.set.limits = Limits(self.set.limits.speed, self.wave_speed_on(dx))

    def _check_finite(self) -> None:
        """Refuse points that lie or move nowhere."""
        for what, rows in (("is at", self._x), ("moves with", self._v)):
            if not np.isfinite(rows).all():
                point = int(np.argmin(np.isfinite(rows).all(axis=1)))
                raise SetupError(
                    f'point {point} of body "{self.name}" ({self.label}) {what} {rows[point]}; give it finite numbers'
                )

    def check_positions(self) -> str:
        """Refuse points that lie nowhere, and elements that are inside out where the material has no energy for it, and
        so neither forces nor a largest time step; elsewhere tell which are."""
        self._check_finite()
        return self._inside_out()

    def _inside_out(self) -> str:
        return ""

    def wave_speed_on(self, dx: float) -> float:
        """The wave speed [m/s] that an explicit step on a grid of spacing dx [m] must resolve.

        The grid never vibrates faster than the mesh alone, at omega: weights only average. A wave that crosses a cell
        in 2/omega has the same limit. Damping explicit in time shortens it further.
        """
        omega = fastest_vibration(self.energy, self._x, self._mass)
        ratio = 0.5 * self.damping * omega + 0.5 * self.drag / max(omega, 1e-300)
        return float(0.5 * dx * omega * (np.hypot(1.0, ratio) + ratio))

    def begin(self, t: float) -> None:
        # vertices scripted at the end of the running step, and where they must be then [m]
        self.held, self.places = self.scripted_at(t)
        self._begun = t

    def expected(self, t: float, ahead: float) -> Array:
        x = super().expected(t, ahead)
        held, places = (self.held, self.places) if t == self._begun else self.scripted_at(t)
        x[held] = places
        return x

    def accelerate(self, push: Array) -> None:
        if self.free is not None:
            self.free.push = push
            return
        assert self.set is not None
        self.set.v[:] += push[self.set.ids]

    def let_go(self, forces: Array) -> Array:
        """Set forces (N, d) on scripted vertices to zero, since the grid does not feel them; returns their sum (d,)."""
        total: Array = forces[self.held].sum(axis=0)
        forces[self.held] = 0.0
        return total

    def impulses(self, dt: float) -> Sequence[Array | None]:
        return [self.own_impulse(dt)] if self.free is None else [None]

    def own_impulse(self, dt: float) -> Array:
        """Of all forces on the vertices (N, d) during dt [s], at the present positions, with damping and drag [N s]."""
        force = self.forces() - self.drag * self._mass[:, None] * self._v
        if self.damping:
            force -= self.damping * self.energy.hessian(self._x, positive=True).product(self._v)
        force *= dt
        self.reaction = -self.let_go(force)
        return force

    def terms(self, dt: float) -> list[Term]:
        """Energies of the positions at the end of a step of dt [s]."""
        terms: list[Term] = [self.energy]
        if self.damping:
            terms.append(Rayleigh(self.energy, self._x, coefficient=self.damping, dt=dt))
        if self.drag:
            terms.append(Drag(self._mass, self._x, coefficient=self.drag, dt=dt))
        return terms

    def energies(self, exchanges: Sequence[Exchange], dt: float) -> Sequence[BodyEnergy]:
        return [MeshEnergy(exchange, self, dt) for exchange in exchanges]

    def contact_surfaces(self) -> Sequence[MeetingSurface]:
        if self.free is not None:
            return [self.free.surface()]
        if not len(self.surface):
            return [MeetingSurface(thin=True)]
        return [MeetingSurface(True, self.vertex_normals(), self.kind == "springs")]

    def vertex_normals(self) -> Array:
        """Outward normals of the vertices times their areas, or lengths in 2D, (N, d); zero inside."""
        area = facet_normals(self._x, self.surface)
        normals = np.zeros_like(self._x)
        for corner in self.surface.T:
            np.add.at(normals, corner, area / self.surface.shape[1])
        return normals

    def settles(self) -> bool:
        return False

    def end(self, dt: float) -> None:
        """Put scripted vertices where they must be at the end of the step."""
        if self.set is None or not len(self.held):
            return
        new = self.set.next_arrays
        rows = np.argsort(new.ids[: new.count])[self.held]
        velocity = (self.places - self._x[self.held]) / dt
        gain = self._mass[self.held] @ (velocity - new.v[:, rows].T)
        self.pull[: self.dimension] += gain + self.reaction
        new.x[:, rows], new.v[:, rows] = self.places.T, velocity.T
        new.C[:, rows], new.modes[rows] = 0, 0

    def accept(self, dt: float, limits: Sequence[Limits], period: Array) -> None:
        """The mesh goes where its particles are, or where it has moved on its own."""
        if self.free is not None:
            self.free.accept(dt)
            return
        assert self.set is not None
        self.set.swap()
        x, v = self.set.by_id(self.set.arrays.x), self.set.by_id(self.set.arrays.v)
        for axis in np.flatnonzero(period):
            x[:, axis] += period[axis] * np.round((self._x[:, axis] - x[:, axis]) / period[axis])
        self.move(PointState(x, v), dt)
        self.set.limits = Limits(self.max_speed, self.set.limits.wave_speed)  # with the speed of scripts
        self._seen = PointState(x.copy(), v.copy())

    # ---- looking and saving ----------------------------------------------------------------------------------

    def totals(self) -> Totals:
        elastic = self.energy.value(self._x)
        if self.set is not None:
            return Totals(elastic=elastic)
        if self.free is not None:
            elastic += self.free.stored()
        d, p = self.dimension, self._mass[:, None] * self._v
        arm, push = np.zeros((len(self), 3)), np.zeros((len(self), 3))
        arm[:, :d], push[:, :d] = self._x, p
        return Totals(
            float(self._mass.sum()),
            float(0.5 * (p * self._v).sum()),
            elastic,
            push.sum(axis=0),
            np.cross(arm, push).sum(axis=0),
            self._mass @ arm,
        )

    @property
    def nbytes(self) -> int:
        held = self.hessian_bytes + self.cell_bytes * len(self.cells)
        return held + sum(one.nbytes for one in self.particle_sets())

    def topology(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self.cells, self.surface

    def described(self) -> dict[str, Any]:
        return {"cells": len(self.cells), "cell": self.cell}

    def setup(self) -> dict[str, Any]:
        scripts = [script for script, _ in self._scripts]
        arrays = {"rest positions": self.rest, "masses": self._mass, "parameters": self.energy.parameters}
        arrays |= {f"vertices of script {k}": chosen for k, (_, chosen) in enumerate(self._scripts)}
        settings = {"drag": self.drag, "damping": self.damping, "contact": self.contact, "scripted": scripts}
        return settings | {"arrays": arrays}

    def fields(self) -> dict[str, NDArray]:
        """Point data for frames: id, x, v."""
        return {"id": self.ids, "x": self.x.copy(), "v": self.v.copy()}

    def snapshot(self) -> dict[str, NDArray]:
        """Copies of everything needed to continue with the same bits."""
        data = {"x": self.x.copy(), "v": self.v.copy(), "before_dt": np.array(self.before_dt)}
        data["pull"] = self.pull.copy()
        if self.before is not None:
            data |= {"before_x": self.before.x.copy(), "before_v": self.before.v.copy()}
        if self.free is not None:
            data |= self.free.snapshot()
        if self.set is not None:
            data |= {f"{ON_GRID}{name}": array for name, array in self.set.snapshot().items()}
        return data

    def restore(self, data: Mapping[str, NDArray]) -> None:
        """Inverse of `snapshot`."""
        if data["x"].shape != self.x.shape:
            raise SetupError(
                f'the stored mesh body "{self.name}" has {len(data["x"])} points, not {len(self)}'
            )
        self._x, self._v = np.array(data["x"]), np.array(data["v"])
        self.before_dt, self.pull = float(data["before_dt"]), np.array(data["pull"])
        has = "before_x" in data
        self.before = PointState(np.array(data["before_x"]), np.array(data["before_v"])) if has else None
        if self.free is not None:
            self.free.restore(dict(data))
        if self.set is not None:
            self.set.restore({k.removeprefix(ON_GRID): v for k, v in data.items() if k.startswith(ON_GRID)})
            self._seen = PointState(self._x.copy(), self._v.copy())
