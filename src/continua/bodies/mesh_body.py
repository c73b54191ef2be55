"""Bodies made of a mesh, and how they move: with a grid, on their own, or on their own among others on a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from continua._validation import shown
from continua.bodies.body import (
    MAIN,
    SOLIDS,
    Body,
    BodyEnergy,
    GridMotion,
    MeetingSurface,
    Prediction,
    Surroundings,
    Totals,
)
from continua.bodies.collision_surface import CollisionSurface
from continua.bodies.exact_surface import ExactSurface
from continua.bodies.free_mesh import LIMIT_REFRESH, FreeMesh
from continua.bodies.mesh_energy import MeshEnergy
from continua.bodies.mesh_points import Array, MeshPoints, StartLike
from continua.bodies.particles import Limits, ParticleSet
from continua.bodies.scripted import Scripted
from continua.bodies.velocity import GivenVelocity
from continua.contact.penalty import ExactContact, GridContact, MeshContactSetting, PenaltyContact
from continua.contact.strand_contact import StrandContact
from continua.errors import SetupError
from continua.mesh import NativeEnergy
from continua.optimize import PointState

if TYPE_CHECKING:
    from continua.transfers.exchange import Exchange

__all__ = ["Array", "MeshBody", "StartLike"]
OWN_SURFACE = (GridContact, ExactContact)  # of solids that move on their own and show a grid their surface
ON_GRID = "grid_"  # begins the names of what is stored of its particles


class MeshBody(MeshPoints):
    """Points with mass, joined by elements or springs; the base of `SolidBody`, `SpringBody` and `Strands`.

    Keyword arguments of all mesh bodies:

    - velocity: at the start, a vector, `Rigid`, `Affine` or a function of the first positions [m/s];
    - name: unique in the simulation;
    - scripted: one `Scripted` or several; where two hold a vertex, the later one counts;
    - start: where the points are at first, `Placed`, `Scattered` or a function of the rest positions, X (N, d) ->
      x (N, d) [m]; left out: at rest. Vertices scripted at t = 0 are where their script says;
    - drag [1/s]: every velocity decays at this rate;
    - damping [s]: Rayleigh damping, by which a mode of angular frequency w decays at the rate damping w^2 / 2;
    - on_grid: whether the points are particles of the grid, where they meet all others, or move on their own; left
      out: on their own only under the optimizer, as long as there are no particles in the world;
    - contact: how it meets others while it moves on its own: a `PenaltyContact`, for solids a `GridContact` or an
      `ExactContact`, for strands a `StrandContact`;
    - continuum: name of the one it belongs to; left out: "main", with a `GridContact` or `ExactContact` "solids".

    With a `GridContact` or an `ExactContact` they move on their own under any integrator and meet everything. With a
    `PenaltyContact` they need `integrator="optimization"`; they then meet colliders and move in the same time steps as
    particles, but do not meet particles; periodic axes and regions of fixed velocity do not act on them.
    """

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
        if not isinstance(contact, (PenaltyContact, *OWN_SURFACE, StrandContact, type(None))):
            raise SetupError(
                "contact must be a PenaltyContact, a GridContact, an ExactContact or a StrandContact, not "
                f"{shown(contact)}"
            )
        if isinstance(contact, OWN_SURFACE) and (on_grid or not self.is_solid):
            why = "on_grid must be left out or false" if on_grid else f"it is for solids, not for {self.stem}"
            kind = type(contact).__name__
            raise SetupError(f"with a {kind} only points of the surface of a solid are on the grid: {why}")
        if isinstance(contact, StrandContact) and (on_grid or self.kind != "strands"):
            why = (
                "on_grid must be left out or false" if on_grid else f"it is for strands, not for {self.stem}"
            )
            raise SetupError(f"with a StrandContact strands move on their own: {why}")
        self.on_grid = on_grid
        self.contact: MeshContactSetting = contact or PenaltyContact()
        self.set: ParticleSet | None = None  # its points as particles, while it is on the grid
        self.free: FreeMesh | None = None  # on the grid of one that moves on its own and meets others there
        self._fresh = True  # whether it is still to take its first step on its own
        super().__init__(
            points,
            energy,
            mass,
            velocity=velocity,
            name=name,
            scripted=scripted,
            start=start,
            drag=drag,
            damping=damping,
            continuum=continuum,
        )

    @property
    def penalty(self) -> PenaltyContact:
        """How it meets others under the optimizer alone."""
        return self.contact if isinstance(self.contact, PenaltyContact) else PenaltyContact("off")

    @property
    def home(self) -> str:
        return SOLIDS if self.self_moving else MAIN

    @property
    def self_moving(self) -> bool:
        return isinstance(self.contact, (*OWN_SURFACE, StrandContact))

    @property
    def walls(self) -> bool:
        return not isinstance(self.contact, ExactContact)

    def be_free(self, dtype: type[np.floating], dx: float, *, explicit: bool) -> None:
        """From now on it moves on its own and meets others on a grid of spacing dx [m].

        explicit: whether elastic waves limit the steps.
        """
        if isinstance(self.contact, ExactContact):
            self.free = ExactSurface(self, self.contact, dtype, dx, explicit=explicit)
            return
        assert isinstance(self.contact, GridContact)
        self.free = CollisionSurface(self, self.contact, dtype, dx, explicit=explicit)

    def surround(self, obstacles: Surroundings) -> None:
        if self.free is not None:
            self.free.surround(obstacles)

    @property
    def obstacle_impulses(self) -> Array:
        assert self.free is not None
        return self.free.obstacle_impulses

    def gather(self, group: Sequence[Body], t: float) -> None:
        if self.free is not None:
            self.free.gather(_free(group), t)

    def predict(self, t: float, dt: float, gravity: Array, move: Prediction) -> str:
        assert self.free is not None
        return self.free.predict(t, dt, gravity, move)

    def respond(self, exchanges: Sequence[Exchange], nodes: GridMotion, dt: float) -> str:
        assert self.free is not None
        return self.free.respond(exchanges, nodes, dt)

    def meet(self, group: Sequence[Body], dt: float, dx: float) -> str:
        return "" if self.free is None else self.free.meet(_free(group), dt, dx)

    def report(self) -> dict[str, float]:
        return {} if self.free is None else self.free.report()

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

    def accelerate(self, push: Array) -> None:
        if self.free is not None:
            self.free.push = push
            return
        assert self.set is not None
        self.set.v[:] += push[self.set.ids]

    def impulses(self, dt: float) -> Sequence[Array | None]:
        return [self.own_impulse(dt)] if self.free is None else [None]

    def energies(self, exchanges: Sequence[Exchange], dt: float) -> Sequence[BodyEnergy]:
        return [MeshEnergy(exchange, self, dt) for exchange in exchanges]

    def contact_surfaces(self) -> Sequence[MeetingSurface]:
        if self.free is not None:
            return [self.free.surface()]
        if not len(self.surface):
            return [MeetingSurface(thin=True)]
        return [MeetingSurface(True, self.vertex_normals(), self.kind == "springs")]

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
        if self.set is not None:
            return Totals(elastic=self.energy.value(self._x))
        found = super().totals()
        if self.free is not None:
            found.elastic += self.free.stored()
            found.angular = found.angular + self.free.spin()
        return found

    def setup(self) -> dict[str, Any]:
        return super().setup() | {"contact": self.contact}

    def snapshot(self) -> dict[str, NDArray]:
        data = super().snapshot()
        if self.free is not None:
            data |= self.free.snapshot()
        if self.set is not None:
            data |= {f"{ON_GRID}{name}": array for name, array in self.set.snapshot().items()}
        return data

    def restore(self, data: Mapping[str, NDArray]) -> None:
        super().restore(data)
        if self.free is not None:
            self.free.restore(dict(data))
        if self.set is not None:
            self.set.restore({k.removeprefix(ON_GRID): v for k, v in data.items() if k.startswith(ON_GRID)})
            self._seen = PointState(self._x.copy(), self._v.copy())


def _free(group: Sequence[Body]) -> list[FreeMesh]:
    """What those that move on their own show to the grid."""
    return [body.free for body in group if isinstance(body, MeshBody) and body.free is not None]
