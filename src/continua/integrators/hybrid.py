"""Bodies that move on their own and meet others on a grid: what contact does to nodes is given back as impulses (W20
chapter 4, G20 chapter 4)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.body import Body, GridMotion, Prediction
from continua.contact.collision_particles import FACING
from continua.contact.fields import ContactField
from continua.grid.blocks import Buffer
from continua.integrators.field import Field
from continua.integrators.stepper import NodeStepper, StepResult, StepSetting
from continua.transfers.exchange import Exchange

# Surfaces creep into each other, since nodes between touching ones are still free. Overlaps are undone with a time
# constant in which what falls from rest crosses a fraction of a cell, or in a few steps, and at a part of its speed.
PROMPT, STEPS, GENTLE = 5.0, 10.0, 0.3
SPEED = 0.1  # of the fastest point, counts where there is no gravity
OTHERS = -1.0  # in place of FACING: only other bodies count


class HybridStepper(NodeStepper):
    """Bodies predict their motion without contact, the grid says what they meet, bodies respond."""

    PHASES: ClassVar[tuple[str, ...]] = ("sort", "predict", "p2g", "grid", "contact", "respond")
    solves_obstacles: ClassVar[bool] = False
    self_moving: ClassVar[bool] = True

    def __init__(self, field: Field, move: Prediction, *, name: str = "main") -> None:
        super().__init__(field, push_out=None, name=name)
        self.move = move
        self._given, self._forced = Buffer(), Buffer()

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._given.nbytes + self._forced.nbytes

    def to_grid(self, step: StepSetting, result: StepResult) -> None:
        self._recovery = self._undoing(step)
        with self._phase("predict"):
            table = step.obstacles_of(self.name)
            for body in self.field.bodies:
                if not body.walls:
                    body.surround(table)
            for group in self._groups():
                group[0].gather(group, step.t)
            for body in self.field.bodies:
                result.too_long = result.too_long or body.predict(step.t, step.dt, step.gravity, self.move)
        with self._phase("p2g"):
            d = self.field.dimension
            self.given = self._node_array(self._given)
            self.field.scatter(self.given, step.dt, momentum=True, stress=False)
            self.forced = self._node_array(self._forced)
            self.field.scatter(self.forced, step.dt, momentum=False, stress=True)
            self.forced += self.given
        with self._phase("grid"):
            _core.momentum_to_velocity(self.given, d, [0.0] * d)
            self.neighbours = _Neighbours(self.field)
            motion = self._motion(self.forced)
            for body, exchanges in zip(self.field.bodies, self.field.exchanges, strict=True):
                body.press(exchanges, motion, step.dt)
            _core.momentum_to_velocity(self.forced, d, [0.0] * d)
            self.nodes = self._node_array(self._nodes)
            self.nodes[:] = self.forced

    def _undoing(self, step: StepSetting) -> tuple[float, float]:
        """Rate at which overlaps are undone [1/s], and the fastest [m/s]."""
        dx = self.field.lattice.dx
        fastest = max(body.max_speed for body in self.field.bodies)
        speed = max(float(np.sqrt(np.linalg.norm(step.gravity) * dx)), SPEED * fastest)
        return min(PROMPT * speed / dx, 1 / (STEPS * step.dt)), GENTLE * speed

    def contact_field(self, nodes: NDArray, friction: NDArray | None = None) -> ContactField:
        field = super().contact_field(nodes, friction)
        field.walls = any(body.walls for body in self.field.bodies)
        if any(
            surface.normals is not None for body in self.field.bodies for surface in body.contact_surfaces()
        ):
            field.slack = 0.0
            field.recovery, field.undone = self._recovery
        return field

    def to_bodies(self, step: StepSetting, result: StepResult) -> None:
        with self._phase("respond"):
            met = self.forced if np.array_equal(self.nodes, self.forced) else self.nodes
            motion = self._motion(met)
            for body, exchanges in zip(self.field.bodies, self.field.exchanges, strict=True):
                if not result.too_long:
                    result.too_long = body.respond(exchanges, motion, step.dt)
                result.limits.append([exchange.particles.limits for exchange in exchanges])
            for group in self._groups():
                if not result.too_long:
                    result.too_long = group[0].meet(group, step.dt, self.field.lattice.dx)
            for body in self.field.bodies:
                if not body.walls and not result.too_long:
                    result.impulses += step.obstacles.per_obstacle(body.obstacle_impulses)

    def _groups(self) -> list[list[Body]]:
        """The bodies of each kind."""
        groups: dict[str, list[Body]] = {}
        for body in self.field.bodies:
            groups.setdefault(body.kind, []).append(body)
        return list(groups.values())

    def _motion(self, met: NDArray) -> GridMotion:
        near = self.neighbours
        return GridMotion(self.given, self.forced, met, near.company, near.others)


class _Neighbours:
    """Which particles of a field have others to meet, found when it is first asked."""

    def __init__(self, field: Field) -> None:
        self._field = field
        self._found: dict[bool, dict[int, NDArray[np.bool_]]] = {}

    def company(self, exchange: Exchange) -> NDArray[np.bool_]:
        """Of the particles of a set (N,), in order of creation."""
        return self._near(exchange, own=True)

    def others(self, exchange: Exchange) -> NDArray[np.bool_]:
        """The same without surfaces of the same body."""
        if len(self._field.bodies) == 1:
            return np.zeros(len(exchange.particles), bool)
        return self._near(exchange, own=False)

    def _near(self, exchange: Exchange, *, own: bool) -> NDArray[np.bool_]:
        if own not in self._found:
            self._found[own] = self._find(own)
        return self._found[own][id(exchange)]

    def _find(self, own: bool) -> dict[int, NDArray[np.bool_]]:
        every, x, normals, bodies = [], [], [], []
        for number, body in enumerate(self._field.bodies):
            surfaces = body.contact_surfaces()
            for exchange, surface in zip(self._field.exchanges[number], surfaces, strict=True):
                places = exchange.particles.by_id(exchange.particles.arrays.x)
                area = np.zeros_like(places) if surface.normals is None else surface.normals
                size = np.linalg.norm(area, axis=1, keepdims=True)
                every.append(exchange)
                x.append(places)
                normals.append(area / np.where(size > 0, size, 1.0))
                bodies.append(np.full(len(places), number, np.int32))
        out = np.zeros(sum(map(len, x)), np.uint8)
        _core.collision_company(
            np.concatenate(x),
            np.concatenate(normals),
            np.concatenate(bodies),
            self._field.lattice,
            self._field.degree,
            FACING if own else OTHERS,
            out,
        )
        parts = np.split(out.astype(bool), np.cumsum([len(part) for part in x])[:-1])
        return {id(exchange): part for exchange, part in zip(every, parts, strict=True)}
