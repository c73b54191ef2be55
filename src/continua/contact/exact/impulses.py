"""Impulses that let no surfaces meet during a step in which all vertices go straight on (M23 section 7).

Three stages. Pairs closer than a thickness at the start are pushed apart by a spring. Then all that meets on the
way gets impulses, iteration after iteration, until nothing does: along the normal of the meeting without the rigid
part, later along the whole relative velocity. What still meets becomes a rigid zone. All of them keep the linear
momentum of the step and its angular momentum sum x^n x m v^{n+1}; what is held exchanges momentum with those who
hold it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from continua import _core
from continua.contact.exact.surfaces import (
    Array,
    Mask,
    Surfaces,
    find_hits,
    find_pairs,
    intersections,
    kinds,
)
from continua.contact.exact.zones import RigidZones
from continua.errors import InstabilityError, SetupError

__all__ = ["Form", "Impulses", "Resolved", "Surfaces", "find_hits", "find_pairs", "intersections"]

Form = Literal["exact", "naive"]


@dataclass
class Resolved:
    """What `Impulses.resolve` did."""

    v: Array  # (N, d) [m/s] velocities after: nothing meets on the way to x + dt v
    impulses: Array  # (N, d) [N s] of every vertex; of held ones, minus what they gave
    hits: int  # stencils that met, over all iterations
    iterations: int  # in which something met
    zones: int  # rigid impact zones in the end
    proximity: int  # pairs that were pushed apart because they were close
    failed: str  # why the step must be shorter, or nothing


class Impulses:
    """Impulses between the surfaces of bodies and obstacles.

    surfaces: what may meet. mass (N,) [kg] of the vertices. held (N,): vertices that others move; they get impulses
    but keep their velocities. thickness [m]: pairs closer than this are pushed apart by a spring of `stiffness` [N/m];
    there is none without stiffness. gap [m]: to be left where surfaces would have met; without one the impulses are
    inelastic and energy never grows. most: iterations before rigid zones. stick_after: iterations in which impulses
    are along normals. form: "exact", or "naive" for impulses at the place of the meeting, which do not keep angular
    momentum.
    """

    def __init__(
        self,
        surfaces: Surfaces,
        mass: Array,
        held: Mask,
        *,
        thickness: float,
        gap: float,
        most: int = 60,
        stick_after: int = 4,
        form: Form = "exact",
        stiffness: float = 0.0,
    ) -> None:
        self.surfaces = surfaces
        self.mass = np.array(mass, dtype=np.float64, order="C")
        self.held = np.array(held, dtype=np.bool_, order="C")
        count = surfaces.vertices
        if self.mass.shape != (count,) or self.held.shape != (count,):
            raise SetupError(
                f"contact of surfaces needs one mass and one mark of being held for each of {count} vertices"
            )
        moving = self.mass[~self.held]
        if not (np.isfinite(moving) & (moving > 0)).all():
            raise SetupError("vertices of surfaces that are not held need a positive, finite mass")
        for name, value in (("thickness", thickness), ("gap", gap), ("stiffness", stiffness)):
            if not (value >= 0 and math.isfinite(value)):
                raise SetupError(
                    f"the {name} of surface contact must be finite and not negative, got {value}"
                )
        for name, number in (("most", most), ("stick_after", stick_after)):
            if number < 0:
                raise SetupError(f"{name}: the number of iterations of surface contact must not be negative")
        if form not in ("exact", "naive"):
            raise SetupError(f'the form of surface impulses is "exact" or "naive", got {form!r}')
        self.thickness, self.gap, self.stiffness = float(thickness), float(gap), float(stiffness)
        self.most, self.stick_after, self.form = int(most), int(stick_after), form
        self._marks = self.held.astype(np.uint8)
        self._inverse = np.zeros(count)
        self._inverse[~self.held] = 1 / moving

    def resolve(self, x: Array, v: Array, dt: float) -> Resolved:
        """Velocities with which nothing meets on the way from x to x + dt v.

        x, v (N, d) [m], [m/s] at the start of the step, v that of the whole step; dt [s].
        """
        start = self._rows(x, "positions")
        after = self._rows(v, "velocities")
        if not (dt > 0 and math.isfinite(dt)):
            raise SetupError(f"the time step of surface contact must be positive and finite, got {dt}")
        done = Resolved(after, np.zeros_like(after), 0, 0, 0, 0, "")
        if len(self.surfaces.facets) == 0:
            return done
        exact = self.form == "exact"
        weighed = (self._inverse, self.surfaces.part, self.surfaces.friction)
        if self.thickness > 0 and self.stiffness > 0:
            near = find_pairs(
                self.surfaces, start, np.zeros_like(start), 0.0, held=self.held, distance=self.thickness
            )
            for of_edges, stencils in zip(kinds(self.surfaces), near, strict=False):
                done.proximity += _core.proximity_impulses(
                    start,
                    dt,
                    stencils,
                    of_edges,
                    *weighed,
                    self.thickness,
                    self.stiffness,
                    exact,
                    after,
                    done.impulses,
                )
        s = self.surfaces
        done.hits, done.iterations, clean = _core.collision_impulses(
            start,
            dt,
            s.facets,
            s.edges,
            s.points,
            self._marks,
            *weighed,
            self.gap,
            exact,
            self.most,
            self.stick_after,
            after,
            done.impulses,
        )
        if not clean:
            zones = RigidZones(s, self.mass, self.held, start, dt)
            done.failed = zones.resolve(after, done.impulses)
            done.zones = zones.count
        return done

    def _rows(self, values: Array, what: str) -> Array:
        rows = np.array(values, dtype=np.float64, order="C")
        if rows.shape != (self.surfaces.vertices, self.surfaces.dimension):
            raise SetupError(
                f"{what} of surfaces: expected ({self.surfaces.vertices}, {self.surfaces.dimension}), got {rows.shape}"
            )
        if not np.isfinite(rows).all():
            raise InstabilityError(f"{what} of surfaces are not finite; take a smaller time step")
        return rows
