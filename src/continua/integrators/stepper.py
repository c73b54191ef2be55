"""What all time integrators have in common: a field, obstacles, push-out, timing."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.body import Body
from continua.bodies.emitter import Emitter
from continua.bodies.particles import Limits
from continua.contact.fields import ContactField, ContactSet
from continua.grid.blocks import Buffer
from continua.integrators.field import BadParticle, Field
from continua.integrators.obstacles import FRICTION, ObstacleTable
from continua.optimize import Report
from continua.transfers.exchange import Exchange

Array = NDArray[np.float64]


@dataclass
class StepResult:
    """What one step of a continuum found out. Nothing of it is in force until the bodies accept it."""

    max_strain: float = 0.0  # largest |dt grad v|
    limits: list[list[Limits]] = field(
        default_factory=list
    )  # of every particle set of every body of the field
    impulses: Array = field(default_factory=lambda: np.zeros((0, 3)))  # per obstacle [N s]
    bad: BadParticle | None = None
    unconverged: str = ""  # how a solve ended that did not reach its tolerance
    too_long: str = ""  # why a body that moves on its own asks for a shorter step

    @classmethod
    def of(cls, step: StepSetting) -> StepResult:
        """Before a step."""
        return cls(impulses=np.zeros((step.obstacles.count, 3)))

    def note(self, body: Body, number: int, report: dict[str, float], index: int) -> None:
        """Keep what grid to particles reported of a set; index: of the body in its field."""
        self.max_strain = max(self.max_strain, report["max_strain"])
        if report["bad"] >= 0 and self.bad is None:
            self.bad = BadParticle(body, number, int(report["bad"]))
        while len(self.limits) <= index:
            self.limits.append([])
        self.limits[index].append(
            Limits(report["max_speed"], report["max_wave_speed"], report["max_viscosity"])
        )


@dataclass(frozen=True)
class StepSetting:
    """A step from time t to t + dt [s] among obstacles, under gravity (d,) [m/s^2]."""

    t: float
    dt: float
    gravity: Array
    obstacles: ObstacleTable  # at the end of the step
    friction: Mapping[str, Mapping[int, float]] = field(
        default_factory=dict
    )  # continuum -> obstacle -> coefficient
    emitters: Sequence[Emitter] = ()  # that run now

    def obstacles_of(self, continuum: str) -> ObstacleTable:
        """With the friction that they have with a continuum."""
        return self.obstacles.with_friction(self.friction.get(continuum, {}))

    def wall_friction(self, continuum: str) -> Array | None:
        """Friction of all rows of obstacles with a continuum (rows,), where it is not their own."""
        own = self.friction.get(continuum)
        return np.ascontiguousarray(self.obstacles_of(continuum).rows[:, FRICTION]) if own else None


class Stepper(ABC):
    """Advances the velocity field of one continuum: to the grid with forces or a solve, then back to its bodies."""

    PHASES: ClassVar[tuple[str, ...]] = ()

    solves_obstacles: ClassVar[bool] = True  # whether `to_grid` has dealt with obstacles already
    self_moving: ClassVar[bool] = False  # whether it is for bodies that move on their own

    def __init__(self, field: Field, *, push_out: float | None = 0.5, name: str = "main") -> None:
        self.field, self.name = field, name
        self.push_out = push_out  # tolerated depth in cells, None = no particle-level pass
        self.seconds = dict.fromkeys(self.PHASES, 0.0)
        self.report: dict[str, float] = {}  # more columns of the diagnostics, of the last step
        self.last_solve: Report | None = None  # of an integrator that minimises

    @property
    def nbytes(self) -> int:
        """Memory of nodes and exchanges [bytes]."""
        return self.field.nbytes

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - start

    def sort(self, bodies: Sequence[Body]) -> BadParticle | None:
        """Sort the particles of these bodies and activate the grid under them."""
        with self._phase("sort"):
            return self.field.sort(bodies)

    @abstractmethod
    def to_grid(self, step: StepSetting, result: StepResult) -> None:
        """Node velocities after forces, or solved for."""

    @abstractmethod
    def to_bodies(self, step: StepSetting, result: StepResult) -> None:
        """Everything at the end of the step, written to the next arrays of the particle sets."""

    def accept(self) -> None:  # noqa: B027 - most keep nothing
        """The last step counts."""

    def state(self) -> dict[str, NDArray]:
        """What the next step depends on besides the bodies, as arrays."""
        return {}

    def restore(self, state: Mapping[str, NDArray]) -> None:  # noqa: B027
        """Continue from `state()`; an empty one is that of a stepper before its first step."""

    def _push_out(self, step: StepSetting, depth: float, result: StepResult) -> None:
        """Particles deeper in obstacles than `depth` [m] are set back to it."""
        if self.push_out is None or not len(step.obstacles) or result.bad is not None:
            return
        for exchanges, limits in zip(self.field.exchanges, result.limits, strict=True):
            for exchange, limit in zip(exchanges, limits, strict=True):
                self._push_set_out(exchange, step, depth, 2 * step.dt * limit.speed, result)

    def _push_set_out(
        self, exchange: Exchange, step: StepSetting, depth: float, travel: float, result: StepResult
    ) -> None:
        table = step.obstacles_of(self.name)
        impulses = np.zeros((len(table), 3))
        _core.push_out(
            particles=exchange.particles.next_arrays,
            order=exchange.order,
            lattice=exchange.lattice,
            dimension=exchange.dimension,
            depth=depth,
            travel=travel + exchange.lattice.dx,
            table=table.rows,
            samples=table.samples,
            impulses=impulses,
        )
        result.impulses += table.per_obstacle(impulses)


class NodeStepper(Stepper):
    """A stepper with velocities at the nodes of a collocated grid, after `to_grid`."""

    def __init__(self, field: Field, *, push_out: float | None = 0.5, name: str = "main") -> None:
        super().__init__(field, push_out=push_out, name=name)
        self.nodes: NDArray = np.zeros((0, 0, 4))  # velocity after forces, and mass
        self.old: NDArray | None = None  # before forces; where the transfer or a solve needs it
        self._nodes, self._old, self._change = Buffer(), Buffer(), Buffer()

    @property
    def nbytes(self) -> int:
        return super().nbytes + sum(buffer.nbytes for buffer in (self._nodes, self._old, self._change))

    def _node_array(self, buffer: Buffer) -> NDArray:
        return buffer.get(self.field.grid.node_shape(), self.field.dtype)

    def contact_field(self, nodes: NDArray, friction: Array | None = None) -> ContactField:
        """The continuum as contact sees it, with velocities and mass at nodes; friction (rows,) with obstacles."""
        sets = []
        for body, exchanges in zip(self.field.bodies, self.field.exchanges, strict=True):
            for exchange, surface in zip(exchanges, body.contact_surfaces(), strict=True):
                particles = exchange.particles
                normals = None if surface.normals is None else particles.to_rows(surface.normals)
                sets.append(
                    ContactSet(particles.arrays, exchange.order, surface.thin, normals, surface.two_sided)
                )
        return ContactField(self.name, self.field.grid.keys, nodes, sets, friction)

    def to_bodies(self, step: StepSetting, result: StepResult) -> None:
        with self._phase("g2p"):
            change = None
            if self.field.transfer.flip and self.old is not None:
                change = np.subtract(self.nodes, self.old, out=self._node_array(self._change))
            for index, (body, exchanges) in enumerate(
                zip(self.field.bodies, self.field.exchanges, strict=True)
            ):
                for number, exchange in enumerate(exchanges):
                    result.note(body, number, exchange.advance(self.nodes, change, step.dt), index)
        self._settle(step, result)
        with self._phase("push_out"):
            self._push_out(step, (self.push_out or 0.0) * self.field.lattice.dx, result)

    def _settle(self, step: StepSetting, result: StepResult) -> None:
        """What else happens to the new positions."""
