"""Surfaces that pass through each other at the start: say which, or move bodies apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from continua.contact.colliders import Collider
from continua.contact.exact.surfaces import Surfaces, intersections
from continua.errors import SetupError

Array = NDArray[np.float64]
NAMED = 5  # pairs of facets in a message
ROUNDS = 100  # of moving bodies apart
STEP = 0.02  # of the size of the smaller body, by which two are moved apart at a time


def crossing_text(surfaces: Surfaces, x: Array, names: Sequence[str], first: Sequence[int]) -> str:
    """Which facets of which things pass through each other, or nothing.

    names: of all parts; first: number of the first facet of every part.
    """
    pairs = intersections(surfaces, x)
    if not len(pairs):
        return ""
    parts = surfaces.part[surfaces.facets[:, 0]]
    a, b = parts[pairs[0]]
    same = (parts[pairs] == (a, b)).all(axis=1)
    kind = "triangle" if x.shape[1] == 3 else "edge"
    own = pairs[same] - np.array([first[a], first[b]])
    which = ", ".join(f"{i} and {j}" for i, j in own[:NAMED].tolist()) + (", ..." if len(own) > NAMED else "")
    where = ", ".join(f"{c:.4g}" for c in x[surfaces.facets[pairs[0]]].mean(axis=(0, 1)))
    if a == b:
        return f'the surface of "{names[a]}" passes through itself near ({where}) m: its {kind}s {which}'
    return f'"{names[a]}" and "{names[b]}" pass through each other near ({where}) m: their {kind}s {which}'


def inside_text(x: Array, name: str, collider: Collider, t: float) -> str:
    """Whether all points (N, d) of a surface are inside of a collider, so that nothing crosses, or nothing."""
    distance, _ = collider.signed_distance(x, t)
    if len(x) and float(distance.max()) < 0:
        return (
            f'"{name}" starts inside of the collider "{collider.name}", {-float(distance.min()):.3g} m deep'
        )
    return ""


def moved_apart(surfaces: Surfaces, x: Array, loose: NDArray[np.bool_], masses: Array) -> Array | None:
    """Shifts (parts, d) [m] of parts after which none passes through another, or None.

    Two that do are moved along the line between their middles, the lighter one more; parts (parts,) that are not loose
    stay. masses (parts,).
    """
    count = len(surfaces.friction)
    shifts = np.zeros((count, x.shape[1]))
    middles = np.stack([x[surfaces.part == k].mean(axis=0) for k in range(count)])
    sizes = np.array([np.ptp(x[surfaces.part == k], axis=0).max() for k in range(count)])
    parts = surfaces.part[surfaces.facets[:, 0]]
    for _ in range(ROUNDS):
        pairs = np.unique(np.sort(parts[intersections(surfaces, x + shifts[surfaces.part])], axis=1), axis=0)
        if not len(pairs):
            return shifts
        for a, b in pairs.tolist():
            ease = np.array([loose[a] / masses[a], loose[b] / masses[b]])
            way = (middles[b] + shifts[b]) - (middles[a] + shifts[a])
            far = float(np.linalg.norm(way))
            if a == b or not ease.sum() > 0 or far == 0:
                return None
            step = STEP * min(sizes[a], sizes[b]) * way / far
            shifts[a] -= step * ease[0] / ease.sum()
            shifts[b] += step * ease[1] / ease.sum()
    return None


def refuse(text: str) -> SetupError:
    """What to say of a start that cannot be."""
    return SetupError(
        f"{text}; exact contact starts from surfaces that do not cross: correct where they start, or let "
        "ExactContact(push_apart=True) move them apart"
    )
