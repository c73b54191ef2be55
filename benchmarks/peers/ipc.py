"""Incremental potential contact with the barrier, the distances and the CCD of `ipctk` around our finite elements.

Backward Euler as the minimum of inertia, elastic energy and barriers (Li et al. 2020, Incremental Potential Contact),
without friction. Energies, Hessians and conjugate gradients are those of Continua, so that both sides pay the same for
elasticity; what is compared is how contact is solved. The method is that of the publication: Newton with what is
negative left out of every element and barrier, steps cut to what collides with nothing and then halved until the energy
falls, and a stiffness of the barrier that is chosen at the start of a step and doubled where surfaces come too close.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

import ipctk
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from continua.materials import Material
from continua.mesh import Elements, Rayleigh
from continua.optimize import Stopping, cg
from continua.optimize.krylov import dot, norm

Array = NDArray[np.float64]
Indices = NDArray[np.int32]
Ending = Literal["forces", "velocity"]
DHAT = 1e-3  # distance at which barriers begin, over the diagonal of the scene
FORCES = 1e-5  # left over at the end of a step, relative to those that act: as `integrators.Optimization`
VELOCITY = 1e-2  # the rule of the publication: a Newton step over dt below this part of the diagonal [1/s]
POSITIVE = ipctk.PSDProjectionMethod.CLAMP
MOST = 500  # Newton iterations
HALVINGS = 40
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of sums of forces
NEARLY = 10.0  # times the tolerance: where rounding of the energy ends the search, as in our own steps


@dataclass
class Body:
    """A solid: points at rest (N, 3), tetrahedra (M, 4), triangles of the surface (F, 3), velocities (N, 3)."""

    rest: Array
    cells: Indices
    surface: Indices
    x: Array
    v: Array


@dataclass
class Counts:
    """What all steps so far took."""

    newton: int = 0
    products: int = 0
    energies: int = 0  # evaluations in line searches
    doubled: int = 0  # times the barrier became stiffer
    unfinished: int = 0  # steps that ended above the tolerance
    seconds: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("elastic", "contact", "solve", "search"), 0.0)
    )


class Peer:
    """Bodies of one material that meet each other and themselves."""

    def __init__(
        self,
        bodies: list[Body],
        material: Material,
        dt: float,
        *,
        damping: float = 0.0,
        dhat: float = DHAT,
        ending: Ending = "forces",
    ) -> None:
        """dt [s]; damping [s]: as of `SolidBody`; dhat: over the diagonal; ending: when a step is done."""
        first = np.cumsum([0, *(len(body.rest) for body in bodies)])
        self.rows = [slice(a, b) for a, b in zip(first[:-1], first[1:], strict=True)]
        rest, self.x, self.v = (
            np.concatenate([getattr(body, name) for body in bodies]) for name in ("rest", "x", "v")
        )
        cells, surface = (
            np.concatenate([getattr(body, name) + n for body, n in zip(bodies, first, strict=False)])
            for name in ("cells", "surface")
        )
        self.dt, self.damping, self.ending = dt, damping, ending
        self.elements = Elements(rest, cells, material)
        self.mass = self.elements.lumped_mass()[:, None]
        self.inertia = self.mass / dt**2
        self.stiff = float(self.elements.hessian(rest).diagonal().mean())  # of a point at rest [N/m]
        self.edge = float(np.linalg.norm(rest[cells[:, 0]] - rest[cells[:, 1]], axis=1).mean())
        faces = np.asfortranarray(surface, np.int32)
        self.surfaces = ipctk.CollisionMesh.build_from_full_mesh(
            np.asfortranarray(rest), ipctk.edges(faces), faces
        )
        self.diagonal = float(np.linalg.norm(np.ptp(self.x, axis=0)))
        self.dhat = dhat * self.diagonal
        self.ccd, self.broad = ipctk.AdditiveCCD(), ipctk.LBVH()
        self.pairs = ipctk.NormalCollisions()
        self.counts = Counts()
        self._stiffen(1.0)

    # ---- energies --------------------------------------------------------------------------------------------

    def _stiffen(self, stiffness: float) -> None:
        """A barrier of this stiffness, for energies of which inertia counts as m / 2 dx^2."""
        self.stiffness = stiffness
        self.barrier = ipctk.BarrierPotential(self.dhat, stiffness / self.dt**2)

    def _elastic(self, x: Array) -> float:
        """Energy without barriers."""
        away = x - self.target
        total = 0.5 * dot(self.inertia * away, away) + self.elements.value(x)
        return total + (self.rubbing.value(x) if self.rubbing else 0.0)

    def _elastic_gradient(self, x: Array) -> Array:
        total = self.inertia * (x - self.target) + self.elements.gradient(x)
        return total + self.rubbing.gradient(x) if self.rubbing else total

    def _value(self, x: Array, candidates: ipctk.Candidates) -> float:
        places = self.surfaces.vertices(np.asfortranarray(x))
        self.pairs.build(candidates, self.surfaces, places, self.dhat)
        return self._elastic(x) + self.barrier(self.pairs, self.surfaces, places)

    def _barrier_gradient(self, x: Array, barrier: ipctk.BarrierPotential) -> Array:
        places = self.surfaces.vertices(np.asfortranarray(x))
        gradient = barrier.gradient(self.pairs, self.surfaces, places)
        return np.asarray(self.surfaces.to_full_dof(gradient)).reshape(x.shape)

    def _closest(self, x: Array) -> float:
        """The smallest distance of the pairs, which were found at x [m]."""
        places = self.surfaces.vertices(np.asfortranarray(x))
        if self.pairs.empty():
            return np.inf
        return float(np.sqrt(self.pairs.compute_minimum_distance(self.surfaces, places)))

    # ---- a step ----------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Advance by dt."""
        self.target = self.x + self.dt * self.v
        self.rubbing = None
        if self.damping:
            self.rubbing = Rayleigh(self.elements, self.x, coefficient=self.damping, dt=self.dt)
        x = self._start()
        places = self.surfaces.vertices(np.asfortranarray(x))
        self.pairs.build(self.surfaces, places, self.dhat, broad_phase=self.broad)
        close = self._closest(x)
        self._choose_stiffness(x)
        allowed, forcing = self._tolerance()
        for _ in range(MOST):
            begin = time.perf_counter()
            g = self._elastic_gradient(x) + self._barrier_gradient(x, self.barrier)
            size = norm(g / allowed)
            self.counts.seconds["elastic"] += time.perf_counter() - begin
            if self.ending == "forces" and size < 1.0:
                break
            p = self._direction(x, g, allowed, forcing * np.sqrt(size))
            if self.ending == "velocity" and np.abs(p).max() / self.dt < VELOCITY * self.diagonal:
                break
            self.counts.newton += 1
            moved = self._search(x, p, dot(g, p))
            if moved is None:
                self.counts.unfinished += self.ending == "forces" and size > NEARLY
                break
            x, before = moved, close
            close = self._closest(x)
            self._adapt(before, close)
        else:
            self.counts.unfinished += 1
        self.x, self.v = x, (x - self.x) / self.dt

    def _start(self) -> Array:
        """As far along the free flight as nothing collides, or where it is, whichever has less energy."""
        away = self._free_part(self.x, self.target) * (self.target - self.x)
        ahead = self.x + away
        return ahead if self._elastic(ahead) < self._elastic(self.x) else self.x.copy()

    def _free_part(self, x: Array, y: Array) -> float:
        """How much of the way from x to y nothing collides."""
        a, b = (self.surfaces.vertices(np.asfortranarray(one)) for one in (x, y))
        return float(
            ipctk.compute_collision_free_stepsize(
                self.surfaces, a, b, broad_phase=self.broad, narrow_phase_ccd=self.ccd
            )
        )

    def _choose_stiffness(self, x: Array) -> None:
        """The rule of `ipctk`, in its units: energies times dt^2."""
        pull = self.dt**2 * self._elastic_gradient(x)
        push = self._barrier_gradient(x, ipctk.BarrierPotential(self.dhat, 1.0))
        chosen, self.stiffest = ipctk.initial_barrier_stiffness(
            self.diagonal,
            self.barrier.barrier,
            self.dhat,
            float(self.mass.mean()),
            pull.ravel(),
            push.ravel(),
        )
        self._stiffen(chosen)

    def _adapt(self, before: float, now: float) -> None:
        """Stiffer, where surfaces came too close."""
        if not np.isfinite(before) or not np.isfinite(now):
            return
        wanted = ipctk.update_barrier_stiffness(
            before**2, now**2, self.stiffest, self.stiffness, self.diagonal
        )
        if wanted != self.stiffness:
            self.counts.doubled += 1
            self._stiffen(wanted)

    def _tolerance(self) -> tuple[Array, float]:
        """Forces (N, 1) [N] that may be left over, as norms over the points of every body, and the forcing of the
        linear solves: the rule of our own implicit steps, by loads, elasticity and inertia without contact."""
        kinds = [self.elements.gradient(self.x), self.elements.gradient(self.target)]
        allowed, forcing = np.empty_like(self.mass), 0.0
        for some in self.rows:
            root, largest = np.sqrt(some.stop - some.start), max(norm(force[some]) for force in kinds)
            stiff = root * (self.stiff + float(self.inertia[some].mean()))
            own = max(FORCES * largest, ROUNDING * stiff * float(np.abs(self.x[some]).max()))
            allowed[some] = own
            forcing = max(forcing, own / max(root * self.stiff * self.edge, largest))
        return allowed, float(np.sqrt(forcing))

    def _direction(self, x: Array, g: Array, allowed: Array, relative: float) -> Array:
        """Newton direction: conjugate gradients with the diagonal as preconditioner, as in our own steps."""
        begin = time.perf_counter()
        self.elements.prepare(x, positive=True)
        diagonal = self.inertia + np.maximum(self.elements.diagonal(), 0.0)
        if self.rubbing:
            diagonal = diagonal + self.rubbing.diagonal()
        middle = time.perf_counter()
        places = self.surfaces.vertices(np.asfortranarray(x))
        own = self.barrier.hessian(self.pairs, self.surfaces, places, POSITIVE)
        pushing = sparse.csr_matrix(self.surfaces.to_full_dof(own))
        diagonal = diagonal + pushing.diagonal().reshape(x.shape)
        end = time.perf_counter()

        def product(dx: Array) -> Array:
            total = self.inertia * dx + self.elements.product(dx)
            if self.rubbing:
                total += self.rubbing.product(dx)
            return total + (pushing @ dx.ravel()).reshape(dx.shape) if pushing.nnz else total

        stopping = Stopping(
            relative=min(0.5, relative), max_iterations=1000, measure=lambda r: norm(r / allowed)
        )
        found = cg(product, -g, lambda r: r / diagonal, stopping)
        self.counts.products += found.iterations
        spent = self.counts.seconds
        spent["elastic"] += middle - begin
        spent["contact"] += end - middle
        spent["solve"] += time.perf_counter() - end
        return found.x

    def _search(self, x: Array, p: Array, slope: float) -> Array | None:
        """As far along p as nothing collides, then half as far until the energy falls; None where it does not.

        The pairs are those of the place that it returns.
        """
        begin = time.perf_counter()
        a, b = (self.surfaces.vertices(np.asfortranarray(one)) for one in (x, x + p))
        candidates = ipctk.Candidates()
        candidates.build(self.surfaces, a, b, self.dhat / 2, self.broad)
        part = candidates.compute_collision_free_stepsize(self.surfaces, a, b, 0.0, self.ccd)
        middle = time.perf_counter()
        self.counts.seconds["contact"] += middle - begin
        now = self._value(x, candidates)
        found = None
        for _ in range(HALVINGS):
            y = x + part * p
            self.counts.energies += 1
            if self._value(y, candidates) < now + 1e-14 * abs(now):
                found = y
                break
            part *= 0.5
        self.counts.seconds["search"] += time.perf_counter() - middle
        return found

    # ---- looking ---------------------------------------------------------------------------------------------

    def momentum(self) -> Array:
        """Of all bodies (3,) [kg m/s]."""
        return np.asarray((self.mass * self.v).sum(axis=0))

    def energy(self) -> float:
        """Kinetic and elastic [J]."""
        return 0.5 * dot(self.mass * self.v, self.v) + self.elements.value(self.x)

    def intersects(self) -> bool:
        """Whether surfaces pass through each other."""
        places = self.surfaces.vertices(np.asfortranarray(self.x))
        return bool(ipctk.has_intersections(self.surfaces, places, self.broad))

    def meets(self) -> bool:
        """Whether barriers act."""
        return not self.pairs.empty()
