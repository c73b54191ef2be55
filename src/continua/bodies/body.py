"""What every kind of body can do: the protocol between bodies and the step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from continua.bodies.particles import Limits, ParticleSet

if TYPE_CHECKING:
    from continua.mesh.on_grid import PointsOnGrid
    from continua.transfers.exchange import Exchange

Array = NDArray[np.float64]
MAIN = "main"  # the continuum of bodies that name none
SOLIDS, STRANDS, RIGID = "solids", "strands", "rigid"  # and of those that move on their own
HOMES = (MAIN, SOLIDS, STRANDS, RIGID)


class BodyEnergy(Protocol):
    """Potential energy of a body as a function of node velocities v (blocks, nodes, 4) of its grid.

    Derivatives are sums at nodes: they overwrite `nodes`, or are added to it.
    """

    def value(self, v: NDArray) -> float:
        """Phi(x + dt v) [J], +inf where it is not defined."""

    def gradient(self, v: NDArray, nodes: NDArray, *, add: bool) -> None:
        """By v [N s]."""

    def prepare(self, v: NDArray, *, positive: bool) -> None:
        """Make ready for `product` at v; `positive` leaves out negative stiffness."""

    def product(self, u: NDArray, nodes: NDArray, *, add: bool) -> None:
        """Second derivative times u."""

    def diagonal(self, nodes: NDArray, *, add: bool) -> None:
        """Diagonal of the second derivative at rest, or one like it [kg]."""

    def points(self) -> PointsOnGrid | None:
        """Where the second derivative is W^T K W with few points: these, for a preconditioner."""

    def react(self, change: float) -> None:
        """The solve is done: by the last gradient, and `change` times the last product, scripts know what they gave."""


@dataclass(frozen=True)
class MeetingSurface:
    """How a particle set meets other continua: bulky ones by the volume of their particles, thin ones by points."""

    thin: bool = False
    normals: Array | None = None  # (N, d) outward normals times areas [m^(d-1)], in order of creation
    two_sided: bool = False  # a sheet, whose normals do not tell inside from outside


@dataclass(frozen=True)
class GridMotion:
    """Velocities and masses of nodes (blocks, nodes, 4) in a step of bodies that move on their own."""

    given: NDArray  # as their points gave them
    forced: NDArray  # after forces on the grid
    met: NDArray  # after contact with other continua and obstacles
    company: Callable[[Exchange], NDArray[np.bool_]]
    """Which particles of a set (N,), in order of creation, share nodes with another body, or with a surface that faces
    theirs: others feel nothing but the smoothing of the grid."""
    others: Callable[[Exchange], NDArray[np.bool_]]
    """Which of them share nodes with another body: enough for bodies that cannot touch themselves."""


class Prediction(Protocol):
    """How the integrator of a continuum moves the points of a mesh that feels no contact."""

    implicit: bool

    def __call__(self, body: Any, t: float, dt: float, acceleration: Array) -> Predicted | str:
        """From t to t + dt [s] under an acceleration (N, d) [m/s^2] beside its own forces; or why dt is too long."""

    def around(
        self,
        body: Any,
        t: float,
        dt: float,
        acceleration: Array,
        free: Predicted,
        points: NDArray[np.intp],
        v: Array,
    ) -> tuple[Predicted, Array] | str:
        """The same step, `free` without contact, where contact has some points (n,) go with velocities v (n, d)
        [m/s] and all others follow; and the impulses (n, d) [N s] that it took to hold these there."""


class Predicted(NamedTuple):
    """Points at the end of a step without contact: positions and velocities (N, d), and the impulse (d,) of scripts."""

    x: Array
    v: Array
    pull: Array


MOST_CROSSED = (
    0.9  # cells that a point may cross in a step; from 1 on points have been seen to pass each other
)


def too_fast(body: Body, v: Array, dt: float, dx: float) -> str:
    """Why a step of dt [s], at whose end points of a body have velocities v (N, d) [m/s], is too long, or nothing."""
    speed = float(np.sqrt((v**2).sum(axis=1).max(initial=0.0)))
    return "" if speed * dt <= MOST_CROSSED * dx else f'points of "{body.name}" that cross a cell'


class Surroundings(Protocol):
    """Obstacles at the end of a step as the core wants them (see ObstacleTable)."""

    rows: Array  # (n, columns)
    samples: list[tuple[NDArray, NDArray, float] | None]
    owners: list[int]  # obstacle of every row
    obstacles: Sequence[Any]


@dataclass
class Totals:
    """Sums over a body beside those of its particle sets: elastic energy [J] of what is not in them, and, where it is
    not on the grid, mass [kg], kinetic energy [J], momentum, angular momentum and first moment of mass (3,)."""

    mass: float = 0.0
    kinetic: float = 0.0
    elastic: float = 0.0
    momentum: Array = field(default_factory=lambda: np.zeros(3))
    angular: Array = field(default_factory=lambda: np.zeros(3))
    first_moment: Array = field(default_factory=lambda: np.zeros(3))


class Body(ABC):
    """Something with material and Lagrangian state: particles, a solid, springs.

    Everything a step asks of it is here. In a step a body reads its state and writes a new one beside it; nothing is
    visible before `accept`.
    """

    kind: ClassVar[str] = ""  # in frames: "points", "mesh", "springs", "strands"
    stem: ClassVar[str] = "body"  # of names that are not given: body1, body2, ...
    name: str | None
    dimension: int
    continuum: str | None = None  # its name; None: `home`

    @abstractmethod
    def __len__(self) -> int:
        """Number of particles or points."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What it is made of."""

    @property
    @abstractmethod
    def x(self) -> NDArray:
        """Positions (N, d) [m]."""

    @property
    @abstractmethod
    def v(self) -> NDArray:
        """Velocities (N, d) [m/s]."""

    @property
    @abstractmethod
    def mass(self) -> NDArray:
        """Masses (N,) [kg]."""

    @property
    @abstractmethod
    def max_speed(self) -> float:
        """Of its fastest point [m/s]."""

    @property
    def max_wave_speed(self) -> float:
        """Of the fastest elastic wave in its particles [m/s], 0 where there is none of its own."""
        return 0.0

    @property
    def relaxation_rate(self) -> float:
        """How fast its stress fades at rest, at most [1/s]; 0 where it stays."""
        return 0.0

    # ---- a step ----------------------------------------------------------------------------------------------

    def particle_sets(self) -> Sequence[ParticleSet]:
        """What exchanges with the grid; nothing for a body that moves on its own."""
        return ()

    def ready(self, wrap: Callable[[NDArray], NDArray], dx: float, steps: int) -> None:
        """Before dt is chosen, after so many steps on a grid of spacing dx [m]: take over what was changed by hand.

        wrap puts positions (N, d) [m] inside the periodic axes.
        """
        return

    def begin(self, t: float) -> None:
        """A step that ends at time t [s] is tried: look up scripts."""
        return

    def accelerate(self, push: Array) -> None:
        """While the step reads them, all points have a velocity (N, d) [m/s] more."""
        raise TypeError(f"{type(self).__name__} has no particle sets")

    def impulses(self, dt: float) -> Sequence[Array | None]:
        """For every set: impulses (N, d) [N s] of forces that are not stress of its particles, in order of creation."""
        return [None] * len(self.particle_sets())

    def energies(self, exchanges: Sequence[Exchange], dt: float) -> Sequence[BodyEnergy]:
        """Its terms for a minimiser over node velocities; one exchange for every set."""
        return ()

    def follows(self) -> Sequence[Body]:
        """Bodies whose places it looks up in a step; they must be in the same world, and there first."""
        return ()

    def expected(self, t: float, ahead: float) -> Array:
        """Where its points (N, d) [m] get by the end of a step at time t [s], `ahead` [s] from now, as far as can be
        said before it: for what follows it."""
        return np.asarray(self.x + ahead * self.v, dtype=np.float64)

    @property
    def self_moving(self) -> bool:
        """Whether it moves on its own, by `predict`, and takes from the grid only what contact does, by `respond`.

        Its particle sets are then where it can touch others: copies of parts of its state, or nothing.
        """
        return False

    @property
    def home(self) -> str:
        """Name of the continuum it belongs to if it names none."""
        return MAIN

    @property
    def walls(self) -> bool:
        """Whether it meets obstacles at nodes, as all particles do; else it meets them by itself."""
        return True

    def gather(self, group: Sequence[Body], t: float) -> None:
        """Before `predict` at time t [s], asked once for all bodies of its kind and continuum, itself the first."""
        return

    def predict(self, t: float, dt: float, gravity: Array, move: Prediction) -> str:
        """Velocities at t + dt [s] without contact, from the state at t, given to its particle sets; gravity (d,).

        move: how the integrator moves meshes. May be called again with another dt before the step is accepted. Why dt
        is too long, or nothing.
        """
        raise TypeError(f"{type(self).__name__} does not move on its own")

    def press(self, exchanges: Sequence[Exchange], nodes: GridMotion, dt: float) -> None:
        """Add impulses of forces that depend on node velocities, `nodes.given`, to the momentum in `nodes.forced`."""
        return

    def respond(self, exchanges: Sequence[Exchange], nodes: GridMotion, dt: float) -> str:
        """What the grid did is taken over: the state at the end of the step, written to the new side.

        Why dt is too long, or nothing.
        """
        raise TypeError(f"{type(self).__name__} does not move on its own")

    def meet(self, group: Sequence[Body], dt: float, dx: float) -> str:
        """Asked once for all bodies of its kind and continuum, itself the first, when all of them have responded to a
        grid of spacing dx [m]: contact between them that no grid resolves. Why dt is too long, or nothing."""
        return ""

    def be_free(self, dtype: type[np.floating], dx: float, *, explicit: bool) -> None:
        """From now on particles of its surface are on a grid of spacing dx [m].

        explicit: whether elastic waves limit the steps.
        """
        raise TypeError(f"{type(self).__name__} does not move on its own")

    def surround(self, obstacles: Surroundings) -> None:
        """Before `predict`, without `walls`: the obstacles of the step, with their friction with its continuum."""
        return

    @property
    def obstacle_impulses(self) -> Array:
        """After `meet`, without `walls`: what the rows of obstacles gave to it (rows, 3) [N s]."""
        raise TypeError(f"{type(self).__name__} meets obstacles at nodes")

    def settles(self) -> bool:
        """Whether its particles may move implicitly; else their energy was that of the explicit positions."""
        return True

    def contact_surfaces(self) -> Sequence[MeetingSurface]:
        """Of every set, for contact with other continua."""
        return [MeetingSurface(thin=particles.law is None) for particles in self.particle_sets()]

    def end(self, dt: float) -> None:
        """After the grid, where the step was good: plastic flow, scripts. Writes to the new side."""
        return

    def accept(self, dt: float, limits: Sequence[Limits], period: Array) -> None:
        """What was written becomes current. limits: of every set, as the step found them; period (d,) [m] of the grid,
        0 where it has none."""
        return

    # ---- looking and saving ----------------------------------------------------------------------------------

    def totals(self) -> Totals:
        """Energies and momenta that its particle sets do not hold."""
        return Totals()

    def report(self) -> dict[str, float]:
        """More columns of the diagnostics; those of the same name are added up."""
        return {}

    def elastic_energies(self) -> Array | None:
        """Energy of every particle (N,) [J] of its set; None where `totals` holds it."""
        return None

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory, about [bytes]."""

    @abstractmethod
    def fields(self) -> dict[str, NDArray]:
        """Data of all points for frames, in order of creation: id, x, v and more."""

    def topology(self) -> tuple[NDArray[np.int32] | None, NDArray[np.int32] | None]:
        """What joins its points: cells (M, k) and facets (F, d) of its surface; None for loose particles."""
        return None, None

    def described(self) -> dict[str, Any]:
        """What the description of a run says of it beside its name and material."""
        return {}

    def setup(self) -> dict[str, Any]:
        """What decides how it goes on, beside its state, its material and what joins its points; the arrays among it
        by name under "arrays"."""
        return {}

    @abstractmethod
    def snapshot(self) -> dict[str, NDArray]:
        """Copies of everything needed to continue with the same bits."""

    @abstractmethod
    def restore(self, data: Mapping[str, NDArray]) -> None:
        """Inverse of `snapshot`."""
