"""Strands among each other and among others: a continuum on the grid, and impulses between segments (W20 section 4.5).

A step of strands without contact is that of their rods. Their points carry its velocities v* to the grid, with a
deformation gradient of their own that only serves contact; the grid adds the impulse of its stress, and contact with
other continua and obstacles acts on the nodes. With V* the velocity that the points gave to the nodes, and V what it
has become, a point gets

    v = (1 - pic) (v* + sum w (V - V*)) + pic sum w V                                            W20 (4.33)

Momentum is that of the nodes for any `pic`. Then pairs of segments exchange impulses (`contact.segments`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import GridMotion, MeetingSurface, Predicted, too_fast
from continua.bodies.free_mesh import FreeMesh
from continua.bodies.law import Law, Parameters
from continua.bodies.particles import ParticleSet
from continua.contact.collision_particles import CollisionParticles
from continua.contact.segments import Crossings, SegmentPairs, crossed_segments, nearby_segments
from continua.contact.strand_contact import StrandContact
from continua.errors import SetupError
from continua.optimize import PointState
from continua.transfers.exchange import Exchange

if TYPE_CHECKING:
    from continua.bodies.mesh_body import MeshBody

Array = NDArray[np.float64]
ON_GRID = "contact_"  # begins the names of what is stored of its particles
MOST_STRAIN = 0.5  # of the continuum in a step: beyond, its deformation is not that of the flow
RECOVERY = 0.1  # of an overlap that a step undoes
ROUNDS = 4  # of sweeps at most, where segments would go through each other
MARGIN = 1.5  # on how close segments may come by the velocities known before their impulses


class StrandsAmongOthers(FreeMesh):
    """Strands of rods as a continuum on a grid, and as segments.

    area [m^2]: of their section; radius [m]: at which they touch. Roots are not on the grid: they are in the skin of
    what they grow on, which would push them out for ever.
    """

    def __init__(
        self,
        body: MeshBody,
        contact: StrandContact,
        dtype: type[np.floating],
        *,
        area: float,
        radius: float,
        explicit: bool,
    ) -> None:
        super().__init__(body, explicit=explicit)
        self.contact = contact
        self.segments = body.cells
        self.radius = radius if contact.radius is None else contact.radius
        lengths = np.linalg.norm(np.diff(body.rest[self.segments], axis=1)[:, 0], axis=1)
        self.lengths = lengths
        self.points, volumes = _points_on(self.segments, area * lengths, body.mass, contact.points)
        loose = (self.points.weights * body.rooted[self.points.corners]).sum(axis=1) < 1
        if not loose.any():
            raise SetupError(f'all points of "{body.name}" are roots: give its strands more segments')
        self.points, volumes = self.points.some(loose), volumes[loose]
        law = self.law = contact.law(float(self.points.mass.sum() / volumes.sum()))
        self.set = ParticleSet(
            str(body.name),
            3,
            dtype,
            law=Law(law.model, Parameters.of(law, None, dtype)),
            rows=list(law.states),
            keeps_stress=law.keeps_stress,
        )
        zero = np.zeros((len(self.points), 3, 3))
        self.set.append(self.points.at(body.x), zero[:, 0], zero, self.points.mass, volumes, dict(law.states))
        self.stiffening = law.wave_speed()  # waves of the continuum [m/s]
        self.contacts, self.crossings = (
            0,
            0,
        )  # pairs that acted and that went through each other, in all steps so far
        self._found = (self.stiffening, 0, 0)  # the same in the step that is tried

    # ---- on the grid -----------------------------------------------------------------------------------------

    def place(self, wrap: Callable[[NDArray], NDArray]) -> None:
        self.set.x[:] = self.points.at(self.body.x)[self.set.ids]
        wrap(self.set.x)

    def grid_wave(self) -> float:
        return self.stiffening

    def give(self, predicted: Predicted) -> None:
        self._given = self.points.at(predicted.v)
        self.set.v[:] = self._given[self.set.ids]

    def surface(self) -> MeetingSurface:
        return MeetingSurface(thin=True)

    def change(
        self, exchange: Exchange, nodes: GridMotion, predicted: Predicted, dt: float
    ) -> tuple[Array, Array]:
        report = exchange.advance(nodes.met, None, dt)  # C, F and plastic flow of the continuum
        self._too_long = self._trouble(report)
        self._found = (report["max_wave_speed"], 0, 0)
        now = exchange.values_at(nodes.met)
        pic = self.contact.pic
        gain = (1 - pic) * (now - exchange.values_at(nodes.given)) + pic * (now - self._given)
        impulse = self.points.collected(self.points.mass[:, None] * gain, len(self.body))
        held = -self.body.let_go(impulse)
        return impulse / self.body.mass[:, None], held

    def _trouble(self, report: dict[str, float]) -> str:
        if report["bad"] >= 0 or not report["max_strain"] <= MOST_STRAIN:
            return f'strain between strands of "{self.body.name}"'
        return ""

    def respond(self, exchanges: Sequence[Exchange], nodes: GridMotion, dt: float) -> str:
        text = super().respond(exchanges, nodes, dt)
        return self._too_long or text

    # ---- segment by segment ----------------------------------------------------------------------------------

    def meet(self, group: Sequence[FreeMesh], dt: float, dx: float) -> str:
        strands = [one for one in group if isinstance(one, StrandsAmongOthers)]
        Crowd(strands).meet(dt)
        found = (too_fast(one.body, one.moved.v, dt, dx) for one in strands)
        return next((text for text in found if text), "")

    @property
    def moved(self) -> PointState:
        """Where the body is at the end of the step that is tried."""
        assert self._moved is not None
        return self._moved

    def take(self, moved: PointState, impulses: Array) -> None:
        """Another end of the step, by impulses (N, 3) [N s], which scripts give as well."""
        self._moved = moved
        self._pulled = self._pulled - impulses[self.body.held].sum(axis=0)

    def count(self, contacts: int, crossings: int) -> None:
        """Pairs of segments that acted in the step that is tried, and that went through each other."""
        self._found = (self._found[0], contacts, crossings)

    def accept(self, dt: float) -> None:
        super().accept(dt)
        self.set.swap()
        self.stiffening = self._found[0]
        self.contacts += self._found[1]
        self.crossings += self._found[2]

    # ---- looking and saving ----------------------------------------------------------------------------------

    def stored(self) -> float:
        state = {name: self.set[name].astype(np.float64) for name in self.law.states}
        density = self.law.energy(self.set.F.astype(np.float64), state)
        return float(density @ self.set.volume)

    def report(self) -> dict[str, float]:
        return {"strand_contacts": float(self.contacts), "strand_crossings": float(self.crossings)}

    def snapshot(self) -> dict[str, NDArray]:
        counted = np.array([self.stiffening, self.contacts, self.crossings])
        stored = {f"{ON_GRID}{name}": array for name, array in self.set.snapshot().items()}
        return super().snapshot() | stored | {"contact_counts": counted}

    def restore(self, data: dict[str, NDArray]) -> None:
        super().restore(data)
        self.set.restore({k.removeprefix(ON_GRID): v for k, v in data.items() if k.startswith(ON_GRID)})
        self.stiffening, contacts, crossings = (float(number) for number in data["contact_counts"])
        self.contacts, self.crossings = int(contacts), int(crossings)


class Crowd:
    """The segments of all strands of a continuum, after each of their bodies has responded to the grid."""

    def __init__(self, strands: Sequence[StrandsAmongOthers]) -> None:
        self.strands = strands
        self.first = np.cumsum([0, *(len(one.body) for one in strands)])
        self.body_of = np.repeat(np.arange(len(strands)), [len(one.segments) for one in strands])
        self.segments = np.concatenate(
            [one.segments + k for one, k in zip(strands, self.first, strict=False)]
        )
        self.radius = np.array([one.radius for one in strands])[self.body_of]
        self.friction = np.array([one.contact.friction for one in strands])[self.body_of]
        self.sweeps = max(one.contact.sweeps for one in strands)
        self.skip = 2 * float(self.radius.max())  # strands are this thick: closer along one is no contact
        self.along = _in_a_row(self.segments, np.concatenate([one.lengths for one in strands]), 2 * self.skip)
        self.x = np.concatenate([one.body.x for one in strands])
        self.mass = np.concatenate([one.body.mass for one in strands])

    def meet(self, dt: float) -> None:
        """Impulses between segments; the bodies get their new ends of the step.

        Sweeps stop what comes too close. Where segments would still go through each other, which is looked up whether
        they were thought to come close or not, they must not approach at all, and all sweep twice as often.
        Overlaps that sweeps have left are undone by moving segments apart, which gives them no velocity.
        """
        straight = np.concatenate([one.moved.x for one in self.strands])
        v = first = np.concatenate([one.moved.v for one in self.strands])
        found, inverse_mass, impulses = self._found(straight - self.x), self._inverse_mass(), np.zeros_like(v)
        contacts, crossed = [0] * len(self.strands), Crossings(found[:0], np.empty(0, np.int32))
        for number in range(ROUNDS):
            found = _united(found, crossed.pairs)
            pairs, steps = SegmentPairs(self.x, self.segments, found), np.full(len(found), dt)
            sweeps = self.sweeps << number
            steps[_rows_in(found, crossed.pairs)] = np.inf
            pushes = pairs.resolve(
                v, inverse_mass, radius=self.radius, dt=steps, friction=self.friction, sweeps=sweeps
            )
            v, impulses = pushes.v, impulses + pushes.impulses
            if number == 0:
                contacts = self._by_body(found, pushes.pressed > 0)
            shift = (straight - self.x) / dt + (v - first)
            apart = pairs.resolve(
                shift, inverse_mass, radius=self.radius, dt=steps, sweeps=sweeps, recovery=RECOVERY
            )
            end = self.x + dt * apart.v
            crossed = crossed_segments(self.x, end, self.segments, along=self.along, skip=self.skip)
            if not len(crossed.pairs) or not self.sweeps:
                break
        crossings = self._by_body(crossed.pairs, crossed.times)
        for k, one in enumerate(self.strands):
            part = slice(self.first[k], self.first[k + 1])
            one.take(PointState(end[part], v[part]), impulses[part])
            one.count(contacts[k], crossings[k])

    def _found(self, motion: Array) -> NDArray[np.int32]:
        """Pairs that may touch in a step in which vertices go that far (N, 3) [m], by velocities before impulses."""
        motion = motion - self.mass @ motion / self.mass.sum()  # what all do together brings none closer
        return nearby_segments(
            self.x,
            self.segments,
            MARGIN * self.skip,
            motion=MARGIN * motion,
            along=self.along,
            skip=self.skip,
        )

    def _inverse_mass(self) -> Array:
        inverse = 1 / self.mass
        for one, start in zip(self.strands, self.first, strict=False):
            inverse[start + one.body.held] = 0.0
        return inverse

    def _by_body(self, pairs: NDArray[np.int32], values: NDArray) -> list[int]:
        """Sums over pairs (P, 2), each counted for the body of its first segment."""
        return [int(n) for n in np.bincount(self.body_of[pairs[:, 0]], values, len(self.strands))]


def _number(pairs: NDArray[np.int32]) -> NDArray[np.int64]:
    return (pairs[:, 0].astype(np.int64) << 32) + pairs[:, 1]


def _united(some: NDArray[np.int32], more: NDArray[np.int32]) -> NDArray[np.int32]:
    """Pairs that are in either list, ascending."""
    new = more[~_rows_in(more, some)]
    if not len(new):
        return some
    every = np.concatenate([some, new])
    return every[np.argsort(_number(every))]


def _rows_in(pairs: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which pairs (P,) are among others."""
    if not len(others):
        return np.zeros(len(pairs), bool)
    return np.isin(_number(pairs), _number(others))


def _points_on(
    segments: NDArray[np.int32], volumes: Array, mass: Array, count: int
) -> tuple[CollisionParticles, Array]:
    """Points of strands that are particles, and their volumes: `count` on every segment, or the vertices.

    A vertex has half of the volume of its segments, and a point its part of their mass, which vertices have halves of.
    """
    if count == 0:
        rows = np.arange(len(mass), dtype=np.int32)
        own: Array = np.bincount(segments.ravel(), np.repeat(0.5 * volumes, 2), len(mass)).astype(np.float64)
        return CollisionParticles(rows[:, None], rows, np.ones((len(mass), 1)), mass), own
    segment = np.repeat(np.arange(len(segments), dtype=np.int32), count)
    place = np.tile((np.arange(count) + 0.5) / count, len(segments))
    total = np.bincount(segments.ravel(), np.repeat(0.5 * volumes, 2), len(mass))
    density = mass.sum() / total.sum()
    points = CollisionParticles(
        segments, segment, np.stack([1 - place, place], axis=1), (density * volumes / count)[segment]
    )
    return points, (volumes / count)[segment]


def _in_a_row(segments: NDArray[np.int32], lengths: Array, gap: float) -> Array:
    """Where segments begin and end (M, 2) [m] on a line that has all strands in a row, with gaps [m] between."""
    before = np.zeros(len(segments))
    before[1:] = np.where(segments[1:, 0] == segments[:-1, 1], 0.0, gap)
    end = np.cumsum(lengths + before)
    return np.stack([end - lengths, end], axis=1)
