"""A mesh that moves on its own while the grid tells what it meets: predict, be met, respond (W20 section 4.4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import GridMotion, MeetingSurface, Predicted, Prediction, Surroundings, too_fast
from continua.bodies.particles import Limits, ParticleSet
from continua.optimize import PointState

if TYPE_CHECKING:
    from continua.bodies.mesh_body import MeshBody
    from continua.transfers.exchange import Exchange

Array = NDArray[np.float64]
# Times slower points of implicit steps cross cells: contact moves the surface alone, after the solve, and what lies
# behind it is squeezed by as much. At 0.6 cells per step that has given back ten times the energy of an impact.
SQUEEZED = 6.0
LIMIT_REFRESH = 32  # steps after which the fastest vibration is looked up again


class FreeMesh(ABC):
    """What a mesh body that moves on its own shows to the grid, and how it takes what the grid did.

    explicit: whether its own elastic waves limit the steps.
    """

    set: ParticleSet  # copies of parts of the body, in the order of creation
    walls = True  # whether it meets obstacles at nodes
    obstacle_impulses: Array  # as `Body.obstacle_impulses`, without walls

    def __init__(self, body: MeshBody, *, explicit: bool) -> None:
        self.body, self.explicit = body, explicit
        self.push = np.zeros_like(body.x)  # velocity that body forces give in this step (N, d) [m/s]
        self.wave = -1.0  # speed of waves that limits the steps [m/s]; negative: not known yet
        self._moved: PointState | None = None
        self._pulled = np.zeros(body.dimension)

    @abstractmethod
    def place(self, wrap: Callable[[NDArray], NDArray]) -> None:
        """The particle set is where the body is now."""

    @abstractmethod
    def give(self, predicted: Predicted) -> None:
        """The particle set gets the velocities that the body has without contact."""

    @abstractmethod
    def change(
        self, exchange: Exchange, nodes: GridMotion, predicted: Predicted, dt: float
    ) -> tuple[Array, Array]:
        """How the grid changes the velocities of the vertices (N, d) [m/s], and the impulse (d,) that scripts give
        against it [N s]."""

    @abstractmethod
    def surface(self) -> MeetingSurface:
        """Of the particle set, for contact with other continua."""

    def ready(self, wrap: Callable[[NDArray], NDArray], dx: float, steps: int) -> None:
        """As `Body.ready`."""
        self.place(wrap)
        if self.wave < 0 or steps % LIMIT_REFRESH == 0:
            self.wave = self.body.wave_speed_on(dx) if self.explicit else 0.0
        speed = self.body.max_speed * (1.0 if self.explicit else SQUEEZED)
        self.set.limits = Limits(speed, max(self.wave, self.grid_wave()))

    def grid_wave(self) -> float:
        """Of waves in its particles, which the grid resolves [m/s]."""
        return 0.0

    def predict(self, t: float, dt: float, gravity: Array, move: Prediction) -> str:
        """As `Body.predict`."""
        push, self.push = self.push, np.zeros_like(self.push)
        found = move(self.body, t, dt, gravity + push / dt)
        if isinstance(found, str):
            return found
        self._predicted = found
        self.give(found)
        return ""

    def respond(self, exchanges: Sequence[Exchange], nodes: GridMotion, dt: float) -> str:
        """As `Body.respond`."""
        x, v, pull = self._predicted
        change, held = self.change(exchanges[0], nodes, self._predicted, dt)
        self._moved, self._pulled = PointState(x + dt * change, v + change), pull + held
        return too_fast(self.body, self._moved.v, dt, exchanges[0].lattice.dx)

    def surround(self, obstacles: Surroundings) -> None:
        """As `Body.surround`."""
        raise TypeError(f"{type(self).__name__} meets obstacles at nodes")

    def gather(self, group: Sequence[FreeMesh], t: float) -> None:
        """As `Body.gather`."""
        return

    def meet(self, group: Sequence[FreeMesh], dt: float, dx: float) -> str:
        """As `Body.meet`."""
        return ""

    def spin(self) -> Array:
        """Angular momentum (3,) [N m s] that it holds beside that of the points of the body."""
        return np.zeros(3)

    def stored(self) -> float:
        """Elastic energy of what its particles do to each other [J]."""
        return 0.0

    def report(self) -> dict[str, float]:
        """As `Body.report`."""
        return {}

    def accept(self, dt: float) -> None:
        """The body goes there."""
        assert self._moved is not None
        self.body.move(self._moved, dt)
        self.body.pull[: self.body.dimension] += self._pulled

    def snapshot(self) -> dict[str, NDArray]:
        """What the next step depends on beside the body."""
        return {"own_wave": np.array(self.wave)}

    def restore(self, data: dict[str, NDArray]) -> None:
        """Inverse of `snapshot`."""
        self.wave = float(data.get("own_wave", -1.0))
