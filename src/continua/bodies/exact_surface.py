"""A solid whose surface meets others exactly (M23): what it keeps, and how a step of it is put together.

A step without contact is its prediction. What other continua did on the grid, and then the meeting with all solids of
its kind and with colliders (`ExactMeeting`), change the velocities of its surface; the inside follows (M23 section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import GridMotion, Predicted, Prediction, Surroundings, too_fast
from continua.bodies.exact_meeting import ExactMeeting
from continua.bodies.free_mesh import FreeMesh
from continua.bodies.particles import Limits
from continua.bodies.surface_on_grid import SurfaceOnGrid
from continua.contact.exact.ledger import affine_spin
from continua.contact.penalty import ExactContact
from continua.optimize import PointState
from continua.transfers.exchange import Exchange

if TYPE_CHECKING:
    from continua.bodies.mesh_body import MeshBody

Array = NDArray[np.float64]
PACE = 2.0  # times slower points of implicit steps cross cells
SPACING = 0.5  # of the points by which it meets other continua [cells]
AFFINE, COUNTS, INERTIA = "exact_affine", "exact_counts", "exact_inertia"  # names of what is stored


class ExactSurface(SurfaceOnGrid):
    """The surface of a solid with `ExactContact`, on a grid of spacing dx [m].

    affine (Nb, d, d) [1/s]: affine velocities of the points of the surface, which remember between steps what the grid
    could not give back as velocities (APIC). numbers (Nb,): of these points in the body; facets (F, d): between them.
    """

    walls = False

    def __init__(
        self, body: MeshBody, contact: ExactContact, dtype: type[np.floating], dx: float, *, explicit: bool
    ) -> None:
        super().__init__(body, SPACING * dx, dtype, explicit=explicit)
        self.contact, self.dx = contact, dx
        self.numbers, facets = np.unique(body.surface, return_inverse=True)
        self.facets = facets.reshape(body.surface.shape).astype(np.int32)
        d = body.dimension
        self.affine = np.zeros((len(self.numbers), d, d))
        self._fresh = True  # whether there are no affine velocities yet
        self.around: Surroundings | None = None  # the obstacles
        # Mass of points in contact over their own: what lies behind them is carried along in an implicit step.
        self.known_inertia = self.inertia = self.next_inertia = 1.0
        self.counts = np.zeros(
            4
        )  # hits, rounds, pairs that repelled and zones so far, for all bodies that meet
        self.columns: dict[str, float] = {}  # of the ledger, for all bodies that meet
        self.obstacle_impulses = np.zeros((0, 3))  # by row of the obstacles around [N s]
        self._meeting: ExactMeeting | None = None
        self._next_affine = self.affine

    # ---- a step ----------------------------------------------------------------------------------------------

    def ready(self, wrap: Callable[[NDArray], NDArray], dx: float, steps: int) -> None:
        super().ready(wrap, dx, steps)
        if not self.explicit:
            self.set.limits = Limits(PACE * self.body.max_speed, self.set.limits.wave_speed)
        if self._fresh:
            self.affine, self._fresh = self._first_affine(), False

    def surround(self, obstacles: Surroundings) -> None:
        self.around = obstacles

    def gather(self, group: Sequence[FreeMesh], t: float) -> None:
        solids = [one for one in group if isinstance(one, ExactSurface)]
        if self._meeting is None or not self._meeting.serves(solids):
            self._meeting = ExactMeeting(solids)
        self._meeting.look(t)

    def predict(self, t: float, dt: float, gravity: Array, move: Prediction) -> str:
        self.t, self.acceleration, self.move = t, gravity + self.push / dt, move
        return super().predict(t, dt, gravity, move)

    @property
    def free(self) -> Predicted:
        """The end of the step without contact."""
        return self._predicted

    def change(
        self, exchange: Exchange, nodes: GridMotion, predicted: Predicted, dt: float
    ) -> tuple[Array, Array]:
        """Other continua got the opposite of what is taken here."""
        if nodes.met is nodes.forced:
            return np.zeros_like(predicted.v), np.zeros(self.body.dimension)
        change = exchange.values_at(nodes.met) - exchange.values_at(nodes.forced)
        impulse = self.points.collected(self.points.mass[:, None] * change, len(self.body))
        held = -self.body.let_go(impulse)
        return impulse / self.body.mass[:, None], held

    def respond(self, exchanges: Sequence[Exchange], nodes: GridMotion, dt: float) -> str:
        """What other continua did acts during the whole step, as any force."""
        push, self._held = self.change(exchanges[0], nodes, self._predicted, dt)
        if push.any():
            self.acceleration = self.acceleration + push / dt
            found = self.move(self.body, self.t, dt, self.acceleration)
            if isinstance(found, str):
                return found
            self._predicted = found
        self._moved = PointState(self._predicted.x, self._predicted.v)
        return ""

    def given(self, dt: float) -> Array:
        """Impulse (d,) [N s] of gravity, body forces, drag and other continua in a step of dt [s] without contact."""
        body = self.body
        rubbed = self._predicted.v if self.move.implicit else body.v
        return np.asarray(dt * body.mass @ (self.acceleration - body.drag * rubbed), float)

    def meet(self, group: Sequence[FreeMesh], dt: float, dx: float) -> str:
        assert self._meeting is not None
        if text := self._meeting.advance(dt):
            return text
        ends = [(one.body, one.moved.v) for one in self._meeting.solids]
        return next((text for body, v in ends if (text := too_fast(body, v, dt, dx))), "")

    @property
    def moved(self) -> PointState:
        """The end of the step that is tried."""
        assert self._moved is not None
        return self._moved

    def take(self, end: Predicted, pull: Array, affine: Array) -> None:
        """The end of the step; pull (d,) [N s]: what scripts gave beside that of `end`."""
        self._pulled = end.pull + self._held + pull
        self._moved, self._next_affine = PointState(end.x, end.v), affine

    def accept(self, dt: float) -> None:
        super().accept(dt)
        self.affine = self._next_affine * (self.inertia / self.next_inertia)  # the same angular momentum
        self.known_inertia = self.inertia = self.next_inertia
        if self._meeting is not None:
            self._meeting.accept()

    def _first_affine(self) -> Array:
        """Mean velocity gradient of the elements around every point, by their volumes: a spin begins as a spin."""
        body = self.body
        edges, moves, rest = (
            rows[body.cells[:, 1:]] - rows[body.cells[:, :1]] for rows in (body.x, body.v, body.rest)
        )
        flat = np.abs(np.linalg.det(edges)) <= 1e-12 * np.abs(np.linalg.det(rest))
        edges[flat], moves[flat] = np.eye(body.dimension), 0.0
        gradients = np.linalg.solve(edges, moves).transpose(0, 2, 1)
        volume = np.abs(np.linalg.det(rest))
        total, weight = np.zeros((len(body), body.dimension, body.dimension)), np.zeros(len(body))
        for corner in body.cells.T:
            np.add.at(total, corner, volume[:, None, None] * gradients)
            np.add.at(weight, corner, volume)
        return np.asarray(total[self.numbers] / weight[self.numbers, None, None], float)

    # ---- looking and saving ----------------------------------------------------------------------------------

    def spin(self) -> Array:
        """Angular momentum (3,) in its affine velocities [N m s]."""
        affine = self._first_affine() if self._fresh else self.affine
        mass = self.known_inertia * self.body.mass[self.numbers]
        total, own = np.zeros(3), affine_spin(mass, affine, self.dx)
        total[3 - len(own) :] = own
        return total

    def report(self) -> dict[str, float]:
        names = ("hits", "rounds", "repelled", "zones")
        found = {f"exact_{name}": float(n) for name, n in zip(names, self.counts, strict=True)} | self.columns
        if self._meeting is not None and self._meeting.solids[0] is self:
            found |= {f"exact_seconds_{phase}": spent for phase, spent in self._meeting.seconds.items()}
        return found

    def snapshot(self) -> dict[str, NDArray]:
        return super().snapshot() | {
            COUNTS: self.counts.copy(),
            AFFINE: self.affine.copy(),
            INERTIA: np.array(self.known_inertia),
        }

    def restore(self, data: dict[str, NDArray]) -> None:
        super().restore(data)
        self.affine, self.counts, self._fresh = np.array(data[AFFINE]), np.array(data[COUNTS]), False
        self.known_inertia = self.inertia = float(data[INERTIA])
