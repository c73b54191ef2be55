"""The grid that foresees impacts between solids with `ExactContact` (M23 sections 5 and 6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from continua import _core
from continua.bodies.exact_surfaces import SolidSurfaces
from continua.contact.collision_particles import FACING, facet_normals
from continua.contact.exact.augury import Augury
from continua.contact.exact.resampling import STRETCH, Boundary, Resampling
from continua.contact.exact.surfaces import find_hits
from continua.contact.penalty import ExactContact
from continua.grid.blocks import Lattice

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
HEAVY = 1e3  # times the mass of a point that is held
CLOSE = 1e-3  # of the fastest point: what augury may leave
AROUND = 0.5  # of a cell: how far around an impact the grid acts
SAMPLES = 0.25  # of a cell: mean distance of points that stand for a facet (M23 section 6.1)


class ContactGrid:
    """Augury for the surfaces of some solids, on a grid of spacing dx [m]."""

    def __init__(self, surfaces: SolidSurfaces, settings: ExactContact, dx: float) -> None:
        self.all, self.settings, self.dx = surfaces, settings, dx
        self._resampled: dict[tuple[int, bytes], Resampling] = {}

    def __call__(
        self, x: Array, v: Array, A: Array, held: Mask, inertia: Array, dt: float
    ) -> tuple[Array, Array, list[Array]]:
        """Velocities and affine velocities after augury, and what scripts gave to every body [N s].

        x, v (N, d), A (N, d, d): of the points of the surfaces, held by scripts or not (N,); inertia (N,): their mass
        in contact over their own.
        """
        pulls = [np.zeros(x.shape[1]) for _ in self.all.solids]
        if self.settings.augury == "off":
            return v, A, pulls
        active = self._active(x, v, held, dt)
        if not active.any():
            return v, A, pulls
        resampling = self._heavier(self._resampling(x, held), inertia)
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
            pulls[k] -= HEAVY * (inertia * self.all.mass)[rows][some] @ change
        return after, seen.A, pulls

    def _resampling(self, x: Array, held: Mask) -> Resampling:
        """Points that stand for the facets: as many as at rest, or as if all facets were larger by some steps.

        It depends on where the bodies are now alone, so that a run that is resumed finds the same.
        """
        spacing, grown = SAMPLES * self.dx, 0
        while True:
            key = grown, held.tobytes()
            if key not in self._resampled:
                self._resampled = {
                    known: plan for known, plan in self._resampled.items() if known[1] == key[1]
                }
                boundary = Boundary(self.all.facets, np.where(held, HEAVY, 1.0) * self.all.mass)
                larger = STRETCH**grown * self.all.rest
                self._resampled[key] = Resampling.spread(larger, boundary, spacing, self.settings.share)
            found = self._resampled[key]
            if found.fits(x, spacing):
                return found
            grown += 1

    def _heavier(self, plan: Resampling, inertia: Array) -> Resampling:
        """The same points, with masses (N,) of vertices times the inertia of their body."""
        boundary = Boundary(self.all.facets, inertia * plan.boundary.mass)
        of_facets = inertia[self.all.facets[:, 0]]
        return replace(plan, boundary=boundary, mass=of_facets[plan.element] * plan.mass)

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
