"""The surfaces of all solids that meet exactly, and of the colliders around them, as one mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import Surroundings
from continua.contact.exact.obstacles import ObstacleMesh
from continua.contact.exact.start import crossing_text, inside_text, moved_apart, refuse
from continua.contact.exact.surfaces import Surfaces
from continua.geometry.connected import connected_pieces

if TYPE_CHECKING:
    from continua.bodies.exact_surface import ExactSurface

Array = NDArray[np.float64]
FRICTION = 2  # column of the table of obstacles


class SolidSurfaces:
    """The points of the surfaces of solids, one body after the other.

    facets (F, d): between them; part (N,): number of the body of every point; piece (N,): the same for parts of bodies
    that hang together; mass (N,) [kg]; edge [m]: mean length of the edges at rest, of the body where they are shortest.
    """

    def __init__(self, solids: Sequence[ExactSurface]) -> None:
        self.solids = tuple(solids)
        ends = np.cumsum([0, *(len(one.numbers) for one in solids)])
        self.rows = [slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)]
        self.first_facets = np.cumsum([0, *(len(one.facets) for one in solids)])
        facets = [one.facets + rows.start for one, rows in zip(solids, self.rows, strict=True)]
        self.facets = np.concatenate(facets).astype(np.int32)
        self.part = np.repeat(np.arange(len(solids), dtype=np.int32), np.diff(ends))
        d = self.facets.shape[1]
        links = np.concatenate([self.facets[:, [k, k + 1]] for k in range(d - 1)])
        self.piece = np.asarray(connected_pieces(links, len(self)), np.int32)
        self.mass = self.joined([one.body.mass for one in solids])
        self.rest = self.joined([one.body.rest for one in solids])
        corners = self.rest[self.facets]
        edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean(axis=1)
        firsts = self.first_facets[:-1]
        self.edge = float((np.add.reduceat(edges, firsts) / np.diff(self.first_facets)).min())
        self.friction = np.array([one.contact.friction for one in solids])
        pairs = 0.5 * (self.friction[:, None] + self.friction)
        self.surfaces = Surfaces(self.facets, self.part, pairs)  # without colliders

    def __len__(self) -> int:
        return int(self.rows[-1].stop)

    def joined(self, values: Sequence[NDArray]) -> NDArray:
        """Values of all points of the bodies at the points of their surfaces."""
        return np.concatenate([value[one.numbers] for value, one in zip(values, self.solids, strict=True)])

    def held(self) -> NDArray[np.bool_]:
        """Which points scripts hold (N,)."""
        masks = []
        for one in self.solids:
            mask = np.zeros(len(one.body), bool)
            mask[one.body.held] = True
            masks.append(mask)
        return self.joined(masks)


class ObstacleSurfaces:
    """What stands for the colliders around, one after the other, behind the points of the solids.

    size [m]: of facets of curved colliders.
    """

    def __init__(self, solids: SolidSurfaces, around: Surroundings | None, size: float) -> None:
        things = [] if around is None else list(around.obstacles)
        self.numbers = [n for n, thing in enumerate(things) if hasattr(thing, "movement")]  # colliders
        self.things = [things[n] for n in self.numbers]
        self.meshes = [ObstacleMesh(thing, size) for thing in self.things]
        counts = [len(one) for one in self.meshes]
        ends = len(solids) + np.cumsum([0, *counts])
        self.rows = [slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)]
        facets = [one.facets + rows.start for one, rows in zip(self.meshes, self.rows, strict=True)]
        self.facets = np.concatenate([solids.facets, *facets]).astype(np.int32)
        of_facets = [len(one.facets) for one in self.meshes]
        self.first_facets = np.append(
            solids.first_facets[:-1], solids.first_facets[-1] + np.cumsum([0, *of_facets])
        )
        bodies = len(solids.solids)
        parts = [np.full(count, bodies + k, np.int32) for k, count in enumerate(counts)]
        self.part = np.concatenate([solids.part, *parts])
        self._solids = solids
        self._surfaces: Surfaces | None = None

    def serve(self, around: Surroundings | None) -> bool:
        """Whether these are still the colliders."""
        things = [] if around is None else [one for one in around.obstacles if hasattr(one, "movement")]
        return len(things) == len(self.things) and all(
            a is b for a, b in zip(things, self.things, strict=True)
        )

    def ends(self, x: Array, reach: float, t: float, dt: float) -> tuple[Array, Array]:
        """Where their points are at time t [s], and dt [s] later, among solids at x that go at most `reach` [m]."""
        middle = 0.5 * (x.min(axis=0) + x.max(axis=0))
        radius = float(np.linalg.norm(x - middle, axis=1).max()) + reach
        found = [one.ends(t, dt, middle, radius) for one in self.meshes]
        none = np.empty((0, x.shape[1]))
        return np.concatenate([none, *(a for a, _ in found)]), np.concatenate([none, *(b for _, b in found)])

    def surfaces(self, around: Surroundings | None) -> Surfaces:
        """All facets, with the friction of every pair: of two bodies the mean, else that of the collider."""
        bodies = len(self._solids.solids)
        friction = np.zeros((bodies + len(self.meshes),) * 2)
        friction[:bodies, :bodies] = self._solids.surfaces.friction
        for k, row in enumerate(self.table_rows(around)):
            assert around is not None
            friction[bodies + k, :bodies] = friction[:bodies, bodies + k] = around.rows[row][FRICTION]
        if self._surfaces is None or not np.array_equal(self._surfaces.friction, friction):
            self._surfaces = Surfaces(self.facets, self.part, friction)
        return self._surfaces

    def table_rows(self, around: Surroundings | None) -> list[int]:
        """Row of the table of obstacles for every collider."""
        return [] if around is None else [around.owners.index(number) for number in self.numbers]

    def given(self, impulses: Array, around: Surroundings | None) -> Array:
        """What they gave (rows, 3) [N s], from impulses (N, d) [N s] that all points got."""
        out = np.zeros((0 if around is None else len(around.rows), 3))
        for rows, row in zip(self.rows, self.table_rows(around), strict=True):
            out[row, : impulses.shape[1]] -= impulses[rows].sum(axis=0)
        return out


def check_start(solids: SolidSurfaces, obstacles: ObstacleSurfaces, t: float, *, push_apart: bool) -> bool:
    """Refuse surfaces that pass through each other, or move bodies that are free apart; whether any was moved."""
    x = solids.joined([one.body.x for one in solids.solids])
    start, _ = obstacles.ends(x, 0.0, t, 0.0)
    every = np.concatenate([x, start])
    surfaces = obstacles.surfaces(None if not obstacles.meshes else solids.solids[0].around)
    names = [str(one.body.name) for one in solids.solids] + [str(one.name) for one in obstacles.things]
    for k in range(len(solids.solids)):
        for thing in obstacles.things:
            if text := inside_text(x[solids.rows[k]], names[k], thing, t):
                raise refuse(text)
    text = crossing_text(surfaces, every, names, obstacles.first_facets.tolist())
    if not text:
        return False
    shifts = None
    if push_apart:
        loose = np.array([not len(one.body.held) for one in solids.solids] + [False] * len(obstacles.things))
        masses = np.array([one.body.mass.sum() for one in solids.solids] + [1.0] * len(obstacles.things))
        shifts = moved_apart(surfaces, every, loose, masses)
    if shifts is None:
        raise refuse(text if not push_apart else f"{text}; they cannot be moved apart as they are")
    for one, shift in zip(solids.solids, shifts, strict=False):
        one.body.x = one.body.x + shift
    return True
