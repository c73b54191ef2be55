"""One step of contact between all solids with `ExactContact` and colliders (M23 section 4).

From the velocities of surfaces without contact: augury on a grid, impulses that let nothing pass, and the step of the
bodies around where their surfaces go. Nothing is in force before it is accepted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from continua import _core
from continua.bodies.body import Predicted
from continua.bodies.exact_surfaces import ObstacleSurfaces, SolidSurfaces, check_start
from continua.contact.collision_particles import FACING, facet_normals
from continua.contact.exact.augury import Augury
from continua.contact.exact.certificate import Certificate
from continua.contact.exact.impulses import Impulses, Resolved
from continua.contact.exact.ledger import Ledger, affine_spin
from continua.contact.exact.resampling import STRETCH, Boundary, Resampling
from continua.contact.exact.surfaces import find_hits
from continua.contact.exact.zones import rigid_velocities
from continua.grid.blocks import Lattice

if TYPE_CHECKING:
    from continua.bodies.exact_surface import ExactSurface

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
HEAVY = 1e3  # times the mass of a point that is held, for the grid
THICKNESS, GAP = 1e-3, 0.1  # of a mean edge, and of the thickness, where they are not given
REPULSION = 0.1  # stiffness over that of a point that is pushed over an edge in place of the thickness
MOST_INERTIA = 1e3  # of points in contact over their own mass
CLOSE = 1e-3  # of the fastest point: what augury may leave
PHASES = ("grid", "impulses", "follow", "certify")
AROUND = 0.5  # of a cell: how far around an impact the grid acts
SAMPLES = 0.25  # of a cell: mean distance of points that stand for a facet (M23 section 6.1)


class ExactMeeting:
    """Contact of some solids, which keep what it found for all of them with the first."""

    def __init__(self, solids: Sequence[ExactSurface]) -> None:
        self.all = SolidSurfaces(solids)
        self.settings, self.dx = solids[0].contact, solids[0].dx
        self._certificate = Certificate(self.all.rest, self.all.facets)
        ends = np.cumsum([0, *(len(one.body) for one in solids)])
        self._numbers = np.concatenate([one.numbers + k for one, k in zip(solids, ends, strict=False)])
        self._resampled: dict[tuple[int, bytes], Resampling] = {}
        self._obstacles: ObstacleSurfaces | None = None
        self._found: tuple[Array, dict[str, float]] | None = None
        self.seconds = dict.fromkeys(PHASES, 0.0)  # spent so far
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
        """At time t [s], where bodies are not as the last step left them: refuse surfaces that pass through each other,
        or move bodies apart."""
        if self._left is None or any(
            one.body.x is not x and not np.array_equal(one.body.x, x)
            for one, x in zip(self.solids, self._left, strict=True)
        ):
            check_start(self.all, self._around(), t, push_apart=self.settings.push_apart)
            self._left = [one.body.x for one in self.solids]

    def advance(self, dt: float) -> str:
        """The bodies get the end of a step of dt [s]; or why it is too long."""
        solids, every = self.solids, self.all
        x, held = every.joined([one.body.x for one in solids]), every.held()
        v = every.joined([one.others.v for one in solids])
        A = np.concatenate([one.affine for one in solids])
        ledger, momenta = self._opened(A, dt)
        with self._phase("grid"):
            seen, affine, pulls = self._foreseen(x, v, A, held, dt)
        momenta = self._given(ledger, "grid", momenta, seen - v, affine, sum(pulls))
        with self._phase("impulses"):
            found = self._resolved(x, seen, held, dt)
        if found.failed:
            return f"exact contact: {found.failed}"
        hit, reaction = found.v[: len(every)], found.impulses.copy()
        reaction[: len(every)][~held] = 0.0
        self._given(ledger, "impulses", momenta, hit - seen, affine, -reaction.sum(axis=0))
        with self._phase("follow"):
            ends = []
            for one, rows in zip(solids, every.rows, strict=True):
                end = self._followed(one, hit[rows], v[rows], held[rows], dt)
                if isinstance(end, str):
                    return end
                ends.append(end)
        with self._phase("certify"):
            certified = self._certificate.holds(every.joined([end.x for end in ends]))
        if not certified:
            return "exact contact: surfaces would pass through each other"
        outside = sum(end.pull - one.free.pull for end, one in zip(ends, solids, strict=True))
        after = self._momenta([end.v for end in ends])
        places = np.concatenate([end.x for end in ends])
        ledger.enter("follow", places, after, self._spin(affine), outside)
        for one, rows, end, pull in zip(solids, every.rows, ends, pulls, strict=True):
            one.take(end, pull - reaction[rows].sum(axis=0), affine[rows])
        self._keep(found, ledger)
        return ""

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - begin

    def _keep(self, found: Resolved, ledger: Ledger) -> None:
        counts = np.array([found.hits, found.iterations, found.proximity, found.zones], float)
        self._found = counts, ledger.columns()
        around = self.solids[0].around
        for one in self.solids:
            one.obstacle_impulses = np.zeros((0 if around is None else len(around.rows), 3))
        self.solids[0].obstacle_impulses = self._around().given(found.impulses, around)

    def accept(self) -> None:
        """The step counts; the first body keeps the books."""
        if self._found is not None:
            counts, columns = self._found
            leader = self.solids[0]
            leader.counts, leader.columns = leader.counts + counts, columns
            self._found = None
            self._left = [one.others.x for one in self.solids]

    # ---- the grid --------------------------------------------------------------------------------------------

    def _foreseen(
        self, x: Array, v: Array, A: Array, held: Mask, dt: float
    ) -> tuple[Array, Array, list[Array]]:
        """Velocities and affine velocities after augury, and what scripts gave to every body (d,) [N s]."""
        pulls = [np.zeros(x.shape[1]) for _ in self.solids]
        if self.settings.augury == "off":
            return v, A, pulls
        active = self._active(x, v, held, dt)
        if not active.any():
            return v, A, pulls
        resampling = self._resampling(x, held)
        grip: dict[str, Array | float | None] = {
            "all": None,
            "none": 0.0,
            "coulomb": self.all.friction[self.all.part],
        }
        seen = Augury(resampling, x, self.dx, active=active)(
            v,
            A,
            iterations=self.settings.augury,
            tolerance=CLOSE,
            friction=grip[self.settings.grip],
        )
        after = seen.v.copy()
        after[held] = v[held]
        for k, rows in enumerate(self.all.rows):
            some = held[rows]
            change = seen.v[rows][some] - v[rows][some]
            pulls[k] -= HEAVY * self.solids[k].inertia * self.all.mass[rows][some] @ change
        return after, seen.A, pulls

    def _resampling(self, x: Array, held: Mask) -> Resampling:
        """Points that stand for the facets: as many as at rest, or as if all facets were larger by some steps.

        It depends on where the bodies are now alone, so that a run that is resumed finds the same.
        """
        spacing, grown = SAMPLES * self.dx, 0
        while True:
            key = grown, held.tobytes()
            if key not in self._resampled:
                boundary = Boundary(self.all.facets, np.where(held, HEAVY, 1.0) * self.all.mass)
                larger = STRETCH**grown * self.all.rest
                self._resampled[key] = Resampling.spread(larger, boundary, spacing, self.settings.share)
            found = self._resampled[key]
            if found.fits(x, spacing):
                boundary = Boundary(self.all.facets, self._inertia * found.boundary.mass)
                inertia = self._inertia[self.all.facets[:, 0]]
                return replace(found, boundary=boundary, mass=inertia[found.element] * found.mass)
            grown += 1

    def _active(self, x: Array, v: Array, held: Mask, dt: float) -> Mask:
        """Facets (F,) that the grid acts on.

        Wherever it acts it damps what it cannot resolve, also in bodies that only lie beside each other or part, and
        the more often the shorter the steps are: it should act on impacts alone.
        """
        if self.settings.gate == "off":
            return np.ones(len(self.all.facets), bool)
        if self.settings.gate == "neighbours":
            return self._neighbours(x, self._resampling(x, held))
        found = find_hits(self.all.surfaces, x, v, dt, held=held)
        struck = np.unique(np.concatenate([hits.stencils.ravel() for hits in found]))
        if not len(struck):
            return np.zeros(len(self.all.facets), bool)
        facets = self.all.facets
        distance, _ = cKDTree(x[struck]).query(x[facets].mean(axis=1), distance_upper_bound=AROUND * self.dx)
        return np.isfinite(distance) | np.isin(facets, struck).any(axis=1)

    def _neighbours(self, x: Array, resampling: Resampling) -> Mask:
        """Facets (F,) with another piece, or a surface that faces theirs, on the nodes that they reach."""
        facets = self.all.facets
        area = facet_normals(x, facets)
        size = np.linalg.norm(area, axis=1, keepdims=True)
        normals = area / np.where(size > 0, size, 1.0)
        corner = np.floor(x.mean(axis=0) / self.dx) * self.dx
        lattice = Lattice(self.dx, corner, np.zeros(x.shape[1], np.int32))
        at, near = resampling.element, np.zeros(len(resampling.element), np.uint8)
        points, pieces = resampling.points(x), self.all.piece[facets[:, 0]][at]
        _core.collision_company(points, normals[at], pieces, lattice, 2, FACING, near)
        return np.bincount(at, near, len(facets)) > 0

    # ---- impulses --------------------------------------------------------------------------------------------

    def _around(self) -> ObstacleSurfaces:
        """The colliders as surfaces."""
        around = self.solids[0].around
        if self._obstacles is None or not self._obstacles.serve(around):
            self._obstacles = ObstacleSurfaces(self.all, around, self.dx)
        return self._obstacles

    def _resolved(self, x: Array, v: Array, held: Mask, dt: float) -> Resolved:
        """Velocities that let nothing pass, of the surfaces and of what stands for colliders."""
        obstacles, leader, settings = self._around(), self.solids[0], self.settings
        fastest = float(np.sqrt((v**2).sum(axis=1).max()))
        start, end = obstacles.ends(x, dt * fastest + self.dx, leader.t, dt)
        others = np.ones(len(start))
        thickness = THICKNESS * self.all.edge if settings.thickness is None else settings.thickness
        impulses = Impulses(
            obstacles.surfaces(leader.around),
            np.concatenate([self._inertia * self.all.mass, others]),
            np.concatenate([held, others > 0]),
            thickness=thickness,
            gap=GAP * thickness if settings.gap is None else settings.gap,
            form=settings.impulses,
            stiffness=REPULSION * max(one.body.stiffness for one in self.solids) * thickness / self.all.edge,
        )
        return impulses.resolve(np.concatenate([x, start]), np.concatenate([v, (end - start) / dt]), dt)

    # ---- the bodies ------------------------------------------------------------------------------------------

    def _followed(
        self, one: ExactSurface, hit: Array, before: Array, held: Mask, dt: float
    ) -> Predicted | str:
        """The end of the step of a body whose surface goes with velocities `hit` in place of those before contact.

        Contact found impulses J for points of a certain mass. What it takes to bring them there is H: elements pull at
        them, and what lies behind is carried along. With J = H nothing is left to do. But J is what the other side got,
        so the body takes the difference too, piece by piece as a rigid body, and momentum is kept. Point by point it
        would be an explicit step of all that contact has deformed, unstable where waves cross stiff elements in a step.
        The mass of points in contact is set so that J does the work of H: else surfaces that are brought to a place
        bring energy with them.
        """
        one.next_inertia = one.inertia
        if np.array_equal(hit, before) and np.array_equal(one.others.v, one.free.v):
            return one.free
        points, loose = one.numbers[~held].astype(np.intp), ~held
        found = one.move.around(one.body, one.t, dt, one.gravity, one.free, points, hit[loose])
        if isinstance(found, str):
            return found
        end, holding = found
        mass = one.body.mass[points, None]
        change, others = hit[loose] - before[loose], before[loose] - one.free.v[points]
        if one.move.implicit and self.settings.final_velocity == "recoil":
            one.next_inertia = _inertia(mass * change, change, holding - mass * others, one.inertia)
            end.v[:] += _recoil(one, end.x, points, mass * (one.inertia * change + others) - holding)
        return end

    # ---- the books -------------------------------------------------------------------------------------------

    def _opened(self, A: Array, dt: float) -> tuple[Ledger, Array]:
        """The books of a step and the momenta (n, d) of all points, after what other continua did."""
        solids = self.solids
        every, mass = (np.concatenate([getattr(one.body, name) for one in solids]) for name in ("x", "mass"))
        ledger = Ledger(mass @ every / mass.sum())
        ledger.enter("start", every, self._momenta([one.body.v for one in solids]), self._spin(A))
        outside = sum(
            one.free.pull + dt * (one.body.mass[:, None] * one.gravity).sum(axis=0) for one in solids
        )
        ledger.enter("elastic", every, self._momenta([one.free.v for one in solids]), self._spin(A), outside)
        momenta = self._momenta([one.others.v for one in solids])
        ledger.enter("others", every, momenta, self._spin(A))
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
