"""When a step of mesh bodies is done: what forces may be left over, body by body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.mesh_body import MeshBody
from continua.optimize.krylov import norm

Array = NDArray[np.float64]
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # error of a sum of products, relative to its parts


@dataclass(frozen=True)
class LeftOver:
    """Forces that may be left over at the end of a step, as norms over the points of every body.

    A gradient is measured in units of what is allowed, so that a small body beside a large one counts as much as it
    would alone, and no unit of length, mass or time is special.
    """

    allowed: Array  # (N, 1) [N] of the body of every point
    forcing: float  # of the Krylov solves, see `continua.optimize.Options`
    at_start: float | None  # measure below which a start needs no iteration; None: 1

    def measure(self, gradient: Array) -> float:
        """A step is done where this is below 1."""
        return norm(gradient / self.allowed)


def left_over(
    bodies: Sequence[MeshBody],
    rows: Sequence[slice],
    acting: Sequence[Array],
    inertia: Array,
    *,
    relative: float,
    absolute: float | None,
) -> LeftOver:
    """Small against the forces that act on a body, or against an absolute force [N].

    acting: the kinds of forces (N, d) [N] at the start of the step, zero for points that cannot move. inertia (N, 1)
    [N/m]: of the points against a change of their place in this step. absolute: left out, what rounding makes of the
    stiffness and the size of the body.
    """
    allowed = np.empty((len(inertia), 1))
    forcing, at_start = 0.0, 0.0
    for body, some in zip(bodies, rows):
        root = float(np.sqrt(len(body)))
        largest = max(_finite_norm(force[some]) for force in acting)
        far = float(np.abs(body.x).max()) + body.edge_length
        floor = ROUNDING * root * far * (body.stiffness + float(inertia[some].mean()))
        own = max(relative * largest, floor if absolute is None else absolute)
        allowed[some] = own
        # Krylov solves become exact when forces are small against what moves a point by an edge.
        forcing = max(forcing, own / max(root * body.stiffness * body.edge_length, largest))
        at_start = max(at_start, floor / own)
    return LeftOver(allowed, float(np.sqrt(forcing)), at_start if absolute is None else None)


def _finite_norm(force: Array) -> float:
    """Its norm; 0 outside the domain of an energy."""
    size = norm(force)
    return size if np.isfinite(size) else 0.0
