"""One step of contact between all solids with `ExactContact` and colliders (M23 section 4).

From the velocities of surfaces without contact: augury on a grid, impulses that let nothing pass, and the step of the
bodies around where their surfaces go. Nothing is in force before it is accepted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import Predicted
from continua.bodies.exact_grid import ContactGrid
from continua.bodies.exact_surfaces import ObstacleSurfaces, SolidSurfaces, check_start
from continua.contact.exact.certificate import Certificate
from continua.contact.exact.impulses import Impulses, Resolved
from continua.contact.exact.ledger import Ledger, affine_spin
from continua.contact.exact.surfaces import intersections
from continua.contact.exact.zones import rigid_velocities
from continua.mesh.vibration import fastest_vibration

if TYPE_CHECKING:
    from continua.bodies.exact_surface import ExactSurface

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
THICKNESS, GAP = 1e-3, 0.1  # of a mean edge, and of the thickness, where they are not given
REPULSION = 0.1  # stiffness over that of a point that is pushed over an edge in place of the thickness
ROUNDS = 4  # of impulses and of the steps of the bodies around them; in the last one whole surfaces are held
ATTEMPTS, SETTLED = 3, 1.5  # at a step until the inertia of bodies changes by less than this factor
MUCH = 0.3  # of the energy that a step begins with, for what contact may add
MOST_INERTIA = 1e3  # of points in contact over their own mass
PHASES = ("grid", "impulses", "follow", "certify")


class Followed(NamedTuple):
    """The end of a step of a body, the points (n,) that were held in it, the velocities (n, d) [m/s] with which they
    went there, and the impulses (n, d) [N s] that held them."""

    end: Predicted
    points: NDArray[np.intp]
    v: Array
    holding: Array


@dataclass
class _Met:
    """What contact did: changes of the velocities of surfaces (N, d) [m/s], impulses (N, d) [N s] on these and what
    stands for colliders, ends of the bodies, and counts: hits, rounds of impulses, pairs that repelled, zones."""

    change: Array
    impulses: Array
    counts: Array = field(default_factory=lambda: np.zeros(4))
    ends: list[Followed] = field(default_factory=list)


class ExactMeeting:
    """Contact of some solids, which keep what it found for all of them with the first."""

    def __init__(self, solids: Sequence[ExactSurface]) -> None:
        self.all = SolidSurfaces(solids)
        self.settings, self.dx = solids[0].contact, solids[0].dx
        self._certificate = Certificate(self.all.rest, self.all.facets)
        ends = np.cumsum([0, *(len(one.body) for one in solids)])
        self._numbers = np.concatenate([one.numbers + k for one, k in zip(solids, ends, strict=False)])
        self._grid = ContactGrid(self.all, self.settings, self.dx)
        self._obstacles: ObstacleSurfaces | None = None
        self._found: tuple[Array, dict[str, float]] | None = None
        self.seconds = dict.fromkeys(PHASES, 0.0)  # spent so far
        self._ways = np.empty((0, self.all.rest.shape[1]))  # velocities of what stands for colliders
        self._quickest: float | None = None  # angular frequency of the stiffest element [1/s]
        self._known: ObstacleSurfaces | None = None  # colliders that are known to be good
        self._left: list[Array] | None = None  # positions of the bodies that are known to be good

    @property
    def _inertia(self) -> Array:
        """Mass of points in contact over their own (N,)."""
        return np.array([one.inertia for one in self.solids])[self.all.part]

    def serves(self, solids: Sequence[ExactSurface]) -> bool:
        """Whether it is for these."""
        return self.all.solids == tuple(solids)

    # ---- a step ----------------------------------------------------------------------------------------------

    @property
    def solids(self) -> tuple[ExactSurface, ...]:
        """The bodies."""
        return self.all.solids

    def look(self, t: float) -> None:
        """At time t [s], where bodies or colliders are not as the last step left them: refuse surfaces that pass
        through each other, or move bodies apart."""
        obstacles = self._around()
        same = self._left is not None and all(
            one.body.x is x or np.array_equal(one.body.x, x)
            for one, x in zip(self.solids, self._left, strict=True)
        )
        if not same or obstacles is not self._known:
            check_start(self.all, obstacles, t, push_apart=self.settings.push_apart)
            self._left, self._known = [one.body.x for one in self.solids], obstacles

    def advance(self, dt: float) -> str:
        """The bodies get the end of a step of dt [s]; or why it is too long."""
        for one in self.solids:
            one.inertia = one.known_inertia
        for attempt in range(ATTEMPTS):
            if text := self._tried(dt):
                return text
            ratio = [one.next_inertia / one.inertia for one in self.solids]
            if attempt == ATTEMPTS - 1 or max(max(ratio), 1 / min(ratio)) < SETTLED:
                break
            for one in self.solids:
                one.inertia = one.next_inertia
        return ""

    def _tried(self, dt: float) -> str:
        """The end of a step with the inertia that bodies have now; or why it is too long."""
        solids, every = self.solids, self.all
        x, held = every.joined([one.body.x for one in solids]), every.held()
        v = every.joined([one.free.v for one in solids])
        A = np.concatenate([one.affine * (one.known_inertia / one.inertia) for one in solids])
        ledger, momenta = self._opened(A, dt)
        with self._phase("grid"):
            seen, affine, pulls = self._grid(x, v, A, held, self._inertia, dt)
        momenta = self._given(ledger, "grid", momenta, seen - v, affine, sum(pulls))
        met = self._met(x, v, seen, held, dt)
        if isinstance(met, str):
            return met
        reaction = met.impulses.copy()
        reaction[: len(every)][~held] = 0.0
        change = met.change - (seen - v)
        self._given(ledger, "impulses", momenta, change, affine, -reaction.sum(axis=0))
        ends = [
            self._with_recoil(one, followed, met.change[rows])
            for one, followed, rows in zip(solids, met.ends, every.rows, strict=True)
        ]
        if not self._certified(every.joined([end.x for end in ends])):
            return "exact contact: surfaces would pass through each other"
        if self._gains(ends, met.impulses, dt):
            return "exact contact: stiff elements would gain energy"
        outside = sum(end.pull - one.free.pull for end, one in zip(ends, solids, strict=True))
        after = self._momenta([end.v for end in ends])
        places = np.concatenate([end.x for end in ends])
        ledger.enter("follow", places, after, self._spin(affine), outside)
        for one, rows, end, pull in zip(solids, every.rows, ends, pulls, strict=True):
            one.take(end, pull - reaction[rows].sum(axis=0), affine[rows])
        self._keep(met, ledger)
        return ""

    def _certified(self, x: Array) -> bool:
        """Whether surfaces at x (N, d) are seen not to pass through each other; the library takes what only touches, as
        bodies may at the start, for more."""
        with self._phase("certify"):
            return self._certificate.holds(x) or not len(intersections(self.all.surfaces, x))

    def _gains(self, ends: Sequence[Predicted], impulses: Array, dt: float) -> bool:
        """Whether a step is so long, for waves in elements, that contact would make much energy.

        Not asked where scripts hold points, which may do work.
        """
        solids, before, after, scale = self.solids, 0.0, 0.0, 0.0
        if not solids[0].move.implicit or any(len(one.body.held) for one in solids) or not impulses.any():
            return False
        if self._quickest is None:
            self._quickest = max(
                fastest_vibration(b.energy, b.rest, b.mass) for b in (one.body for one in solids)
            )
        if dt * self._quickest < 1:
            return False
        momentum, mass = (
            sum(part) for part in zip(*[(b.mass @ b.v, b.mass.sum()) for b in (o.body for o in solids)])
        )
        for one, end in zip(solids, ends, strict=True):
            body, m = one.body, one.body.mass[:, None]
            stored = body.energy.value(body.x)
            before += stored + 0.5 * float((m * body.v**2).sum())
            before += float((m * one.acceleration * (end.x - body.x)).sum())
            after += body.energy.value(end.x) + 0.5 * float((m * end.v**2).sum())
            scale += stored + 0.5 * float((m * (one.free.v - momentum / mass) ** 2).sum())
        work = -float((impulses[len(self.all) :] * self._ways).sum())
        return after - before - work > MUCH * scale

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - begin

    def _keep(self, met: _Met, ledger: Ledger) -> None:
        self._found = met.counts, ledger.columns()
        around = self.solids[0].around
        for one in self.solids:
            one.obstacle_impulses = np.zeros((0 if around is None else len(around.rows), 3))
        self.solids[0].obstacle_impulses = self._around().given(met.impulses, around)

    def accept(self) -> None:
        """The step counts; the first body keeps the books."""
        if self._found is not None:
            counts, columns = self._found
            leader = self.solids[0]
            leader.counts, leader.columns = leader.counts + counts, columns
            self._found = None
            self._left = [one.moved.x for one in self.solids]

    # ---- impulses --------------------------------------------------------------------------------------------

    def _around(self) -> ObstacleSurfaces:
        """The colliders as surfaces."""
        around = self.solids[0].around
        if self._obstacles is None or not self._obstacles.serve(around):
            self._obstacles = ObstacleSurfaces(self.all, around, self.dx)
        return self._obstacles

    def _resolved(self, x: Array, v: Array, held: Mask, dt: float, *, repel: bool) -> Resolved:
        """Velocities that let nothing pass, of the surfaces and of what stands for colliders. repel: whether what is
        close is pushed apart as well."""
        obstacles, leader, settings, edge = self._around(), self.solids[0], self.settings, self.all.edge
        fastest = float(np.sqrt((v**2).sum(axis=1).max()))
        start, end = obstacles.ends(x, dt * fastest + self.dx, leader.t, dt)
        others = np.ones(len(start))
        thickness = THICKNESS * edge if settings.thickness is None else settings.thickness
        stiffness = REPULSION * max(one.body.stiffness for one in self.solids) * thickness / edge
        impulses = Impulses(
            obstacles.surfaces(leader.around),
            np.concatenate([self._inertia * self.all.mass, others]),
            np.concatenate([held, others > 0]),
            thickness=thickness,
            gap=GAP * thickness if settings.gap is None else settings.gap,
            form=settings.impulses,
            stiffness=stiffness if repel else 0.0,
        )
        self._ways = (end - start) / dt
        return impulses.resolve(np.concatenate([x, start]), np.concatenate([v, self._ways]), dt)

    # ---- the bodies ------------------------------------------------------------------------------------------

    def _met(self, x: Array, v: Array, seen: Array, held: Mask, dt: float) -> _Met | str:
        """Where the bodies end if impulses act on their surfaces, which would go with v (N, d) [m/s] without contact
        and with `seen` after the grid.

        Points that contact has moved are held where it has them go, all others follow by the forces of the body, and
        are looked at again. In the last of several rounds whole surfaces are held (M23 section 4): nothing can pass.
        But what is held where it would have gone squeezes what stops: (c dt / h)^2 times the energy of its motion.
        """
        count, hit, met = len(x), seen, _Met(seen - v, self._no_impulses(x))
        nothing = np.empty((0, x.shape[1]))
        near = [Followed(one.free, np.empty(0, np.intp), nothing, nothing) for one in self.solids]
        for number in range(ROUNDS + 1):
            with self._phase("impulses"):
                found = self._resolved(x, hit, held, dt, repel=number == 0)
            if found.failed:
                return f"exact contact: {found.failed}"
            met.counts += found.hits, found.iterations, found.proximity, found.zones
            met.impulses += found.impulses
            met.change += found.v[:count] - hit
            if number > 0 and not found.hits:
                break
            touched = (met.change != 0).any(axis=1)
            with self._phase("follow"):
                for k, (one, rows) in enumerate(zip(self.solids, self.all.rows, strict=True)):
                    some = touched[rows] | ((number == ROUNDS) & touched[rows].any())
                    end = self._followed(one, near[k], some & ~held[rows], found.v[rows], dt)
                    if isinstance(end, str):
                        return end
                    near[k] = end
            if not self.solids[0].move.implicit:
                break
            hit = (self.all.joined([one.end.x for one in near]) - x) / dt
        met.ends = near
        return met

    def _no_impulses(self, x: Array) -> Array:
        return np.zeros((len(x) + sum(map(len, self._around().meshes)), x.shape[1]))

    def _followed(self, one: ExactSurface, near: Followed, some: Mask, v: Array, dt: float) -> Followed | str:
        """The end of the step of a body where some points of its surface go with velocities v (n, d), from an end that
        is near to it."""
        points, v = one.numbers[some].astype(np.intp), v[some]
        if np.array_equal(points, near.points) and np.array_equal(v, near.v):
            return near
        found = one.move.around(one.body, one.t, dt, one.acceleration, near.end, points, v)
        return found if isinstance(found, str) else Followed(found[0], points, v, found[1])

    def _with_recoil(self, one: ExactSurface, followed: Followed, change: Array) -> Predicted:
        """The end of the step of a body that got impulses J, where surfaces changed their velocities (n, d) by contact.

        Impulses were found for points of a certain mass. What it takes to bring them there is H: elements pull at
        them, and what lies behind is carried along. With J = H nothing is left to do. But J is what the other side got,
        so the body takes the difference too, piece by piece as a rigid body, and momentum is kept. Point by point it
        would be an explicit step of all that contact has deformed, unstable where waves cross stiff elements in a step.
        The mass of points in contact is such that J does the work of H, as far as the last step or the last attempt
        knew: else surfaces that are brought to a place bring energy with them.
        """
        end, points, _, holding = followed
        one.next_inertia = one.inertia
        if not one.move.implicit or self.settings.final_velocity == "printed" or not len(points):
            return end
        whole = np.zeros_like(end.v)
        whole[one.numbers] = one.body.mass[one.numbers, None] * change
        momenta = whole[points]
        one.next_inertia = _inertia(momenta, momenta / one.body.mass[points, None], holding, one.inertia)
        recoil = _recoil(one, end.x, points, one.inertia * momenta - holding)
        return Predicted(end.x, end.v + recoil, end.pull)

    # ---- the books -------------------------------------------------------------------------------------------

    def _opened(self, A: Array, dt: float) -> tuple[Ledger, Array]:
        """The books of a step and the momenta (n, d) of all points there."""
        solids = self.solids
        every, mass = (np.concatenate([getattr(one.body, name) for one in solids]) for name in ("x", "mass"))
        ledger = Ledger(mass @ every / mass.sum())
        ledger.enter("start", every, self._momenta([one.body.v for one in solids]), self._spin(A))
        outside = sum(one.free.pull + one.given(dt) for one in solids)
        momenta = self._momenta([one.free.v for one in solids])
        ledger.enter("elastic", every, momenta, self._spin(A), outside)
        return ledger, momenta

    def _given(
        self, ledger: Ledger, stage: str, before: Array, change: Array, A: Array, outside: Array | float
    ) -> Array:
        """Momenta (n, d) of all points after velocities of surfaces have changed (N, d) by impulses of contact."""
        momenta = before.copy()
        momenta[self._numbers] += (self._inertia * self.all.mass)[:, None] * change
        every = np.concatenate([one.body.x for one in self.solids])
        ledger.enter(stage, every, momenta, self._spin(A), outside)
        return momenta

    def _momenta(self, v: Sequence[Array]) -> Array:
        """Of all points of the bodies (n, d) [N s]."""
        return np.concatenate([one.body.mass[:, None] * u for one, u in zip(self.solids, v, strict=True)])

    def _spin(self, A: Array) -> Array:
        """Angular momentum in affine velocities."""
        return affine_spin(self._inertia * self.all.mass, A, self.dx)


def _inertia(momenta: Array, change: Array, holding: Array, known: float) -> float:
    """Mass of points in contact over their own, with which impulses do the work of those that hold them."""
    own = float((change * momenta).sum())
    if not own > 0:
        return known
    return float(np.clip((change * holding).sum() / own, 1.0, MOST_INERTIA))


def _recoil(one: ExactSurface, x: Array, points: NDArray[np.intp], impulses: Array) -> Array:
    """Change of the velocities (N, d) [m/s] of a body at x (N, d) [m] by impulses (n, d) [N s] on points (n,)."""
    mass = one.body.mass.copy()
    mass[one.body.held] = 0.0
    r, change = np.zeros_like(x), np.zeros_like(x)
    r[points] = impulses
    for piece in range(int(one.body.pieces.max()) + 1):
        some = np.flatnonzero((one.body.pieces == piece) & (mass > 0))
        if r[some].any():
            change[some] = rigid_velocities(x[some], r[some] / mass[some, None], mass[some])
    return change
