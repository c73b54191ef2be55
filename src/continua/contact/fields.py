"""Contact between continua: several velocity fields on one lattice, coupled where they meet.

Each continuum has its own grid. At nodes that two of them share they exchange impulses: along a common normal, from the
smoothed difference of their volume gradients, once together they fill the node or their particles overlap; with Coulomb
friction, without cohesion (Bardenhagen et al. 2000, Nairn 2013, Nairn et al. 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.bodies.columns import Columns
from continua.grid.blocks import Lattice

SLACK = 0.25  # overlap of particles [cells] below which bodies that do not fill a node do not touch there


@dataclass
class ContactSet:
    """Some particles of a continuum. Sheets, shells and meshes are thin: their points have no volume."""

    particles: Columns
    order: _core.Order
    thin: bool = False
    normals: NDArray | None = None  # (d, capacity) outward normals times areas, of a surface that has them
    two_sided: bool = False  # the normals do not tell inside from outside (cloth)


@dataclass
class ContactField:
    """One continuum in one step."""

    name: str
    keys: NDArray[np.uint64]  # (blocks,) of its grid, sorted
    nodes: NDArray  # (blocks, nodes, 4) velocities after forces [m/s] and mass [kg]; changed in place
    sets: Sequence[ContactSet]
    wall_friction: NDArray[np.float64] | None = None  # (rows,) with obstacles, in place of their own
    walls: bool = True  # whether obstacles act on its nodes
    slack: float = -1.0  # overlap with obstacles [cells], in place of that of `ObstacleLaw` if not negative
    recovery: float = 0.0  # rate at which overlaps are undone [1/s], of bodies that have an inside
    undone: float = 0.0  # and at most so fast [m/s]


@dataclass(frozen=True)
class PairRule:
    """How two continua, given by their numbers, meet. slack [cells]: 0 for thin bodies."""

    a: int
    b: int
    friction: float = 0.0
    slack: float = SLACK


@dataclass
class PairContacts:
    """Nodes that pairs of continua share (n,)."""

    pair: NDArray[np.int32]  # (n,) number of the rule
    key: NDArray[np.uint64]  # (n,) block
    node: NDArray[np.int32]  # (n,) number in the block
    normal: NDArray[np.float64]  # (n, 3) from a to b, zero where there is none
    gap_fill: NDArray[np.float64]  # (n,) [m] by how much they fail to fill the node, infinite without volume
    gap_extent: NDArray[np.float64]  # (n,) [m] between their particles; infinite where it was not needed
    gap: NDArray[np.float64]  # (n,) [m] the one that counts

    def positions(self, lattice: Lattice) -> NDArray[np.float64]:
        """Of the nodes (n, d) [m]."""
        d = lattice.dimension
        blocks, place = np.unique(self.key, return_inverse=True)
        grid = np.asarray(_core.node_coordinates(blocks, d), np.float64)
        return lattice.origin + lattice.dx * grid[place, self.node]


class Obstacles(Protocol):
    """Obstacles as the core wants them (see ObstacleTable)."""

    rows: NDArray[np.float64]  # (n, columns)
    samples: list[tuple[NDArray, NDArray, float] | None]


@dataclass(frozen=True)
class ObstacleLaw:
    """Numbers of contact with obstacles, in cells; the tests change them to see what they are for."""

    slack: float = SLACK  # overlap of particles with an obstacle that does not fill their node
    reach: float = 0.9  # nodes farther away never touch
    correction: float = 1.0  # factor on the second term of what an obstacle fills
    cone: float = 0.7  # slope of the surface beside a particle, for obstacles that let go


@dataclass
class ObstacleContacts:
    """Nodes of one continuum that obstacles may touch (n,), in the order of nodes; some touch several obstacles."""

    node: NDArray[np.int64]  # (n,) number in the flat node array
    row: NDArray[np.int32]  # (n,) of the table
    normal: NDArray[np.float64]  # (n, 3) out of the obstacle
    velocity: NDArray[np.float64]  # (n, 3) of the obstacle there [m/s]
    gap: NDArray[
        np.float64
    ]  # (n,) [m]: the approach in one step is at most max(gap, 0); infinite: not in contact
    gap_fill: NDArray[np.float64]  # (n,) [m] by how much body and obstacle fail to fill the node
    gap_extent: NDArray[
        np.float64
    ]  # (n,) [m] between particles and obstacle; infinite where it was not needed
    distance: NDArray[np.float64]  # (n,) [m] of the node
    held: NDArray[np.bool_]  # (n,) by a sticky or slip obstacle, which it may not leave


@dataclass
class FieldContact:
    """Resolves the contacts of all continua of a step, with each other and with obstacles."""

    law: ObstacleLaw = field(default_factory=ObstacleLaw)
    impulses: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))  # (rules, 3) [N s]
    contacts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # nodes per pair
    wall_impulses: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))  # (rows, 3) [N s]
    wall_contacts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # nodes per row

    def resolve(
        self,
        fields: Sequence[ContactField],
        rules: Sequence[PairRule],
        lattice: Lattice,
        degree: int,
        dt: float,
        obstacles: Obstacles | None = None,
    ) -> NDArray[np.float64]:
        """Let the fields meet: node velocities change in place where they touch, and nowhere else.

        Gives the impulse (rules, 3) [N s] that every pair gave to its first continuum; the second got the opposite.
        `wall_impulses` (rows, 3) [N s] are those of the rows of obstacles on all continua. Rules are to be sorted by
        the names of the continua, which decides between equal impulses.
        """
        rows = np.zeros((0, _core.collider_columns)) if obstacles is None else obstacles.rows
        self.impulses, self.contacts = np.zeros((len(rules), 3)), np.zeros(len(rules), np.int64)
        self.wall_impulses, self.wall_contacts = np.zeros((len(rows), 3)), np.zeros(len(rows), np.int64)
        if fields and (rules or len(rows)):
            _core.resolve_fields(
                fields=list(fields),
                rules=list(rules),
                lattice=lattice,
                dimension=lattice.dimension,
                degree=degree,
                dt=dt,
                impulses=self.impulses,
                contacts=self.contacts,
                table=rows,
                samples=[] if obstacles is None else list(obstacles.samples),
                wall_impulses=self.wall_impulses,
                wall_contacts=self.wall_contacts,
                law=self.law,
            )
        return self.impulses


def obstacle_contacts(
    one: ContactField, obstacles: Obstacles, lattice: Lattice, degree: int, law: ObstacleLaw | None = None
) -> ObstacleContacts:
    """Where a continuum may touch obstacles: the conditions of an implicit solve.

    Regions of fixed velocity are not among them.
    """
    node, row, normal, velocity, gaps, held = _core.obstacle_contacts(
        one, lattice, lattice.dimension, degree, obstacles.rows, list(obstacles.samples), law or ObstacleLaw()
    )
    gap, gap_fill, gap_extent, distance = gaps.T.copy()
    return ObstacleContacts(
        node, row, normal, velocity, gap, gap_fill, gap_extent, distance, held.astype(bool)
    )


def pair_contacts(
    fields: Sequence[ContactField], rules: Sequence[PairRule], lattice: Lattice, degree: int
) -> PairContacts:
    """Where continua meet and how, without doing anything about it."""
    pair, key, node, normal, gaps = _core.pair_contacts(
        list(fields), list(rules), lattice, lattice.dimension, degree
    )
    return PairContacts(pair, key, node, normal, gaps[:, 0], gaps[:, 1], gaps[:, 2])


def all_pairs(names: Sequence[str], friction: float = 0.0, slack: float = SLACK) -> list[PairRule]:
    """The same rule for every pair, sorted by names."""
    order = sorted(range(len(names)), key=lambda k: names[k])
    return [PairRule(a, b, friction, slack) for i, a in enumerate(order) for b in order[i + 1 :]]
