"""One velocity field: the particle sets of some bodies on a grid of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import Body
from continua.grid.blocks import BlockGrid, Lattice
from continua.transfers import Transfer
from continua.transfers.exchange import Exchange, Rule


@dataclass
class BadParticle:
    """A particle that left the finite world."""

    body: Body
    set: int  # which of its sets
    index: int  # into the arrays before the step


class Field:
    """The grid under some bodies and what their particles exchange with it.

    `exchanges[k]` are those of `bodies[k]`, one for each of its particle sets; both are those of the last `sort`.
    """

    def __init__(
        self,
        lattice: Lattice,
        degree: int,
        transfer: Transfer,
        *,
        mls: bool = False,
        exponential: bool = False,
        staggered: bool = False,
    ) -> None:
        self.lattice, self.transfer, self.staggered = lattice, transfer, staggered
        self.rule = Rule(degree, transfer.plan(lattice.dimension, degree), mls, exponential)
        self.grid = BlockGrid(lattice)
        self.bodies: list[Body] = []
        self.exchanges: list[list[Exchange]] = []
        self._known = dict[int, Exchange]()

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.lattice.dimension

    @property
    def degree(self) -> int:
        """Of the splines."""
        return self.rule.degree

    @property
    def dtype(self) -> np.dtype:
        """Of particles and nodes."""
        return self.exchanges[0][0].dtype

    @property
    def nbytes(self) -> int:
        """Memory of the exchanges [bytes]."""
        return sum(e.nbytes for exchanges in self.exchanges for e in exchanges)

    def sort(self, bodies: Sequence[Body]) -> BadParticle | None:
        """Sort the particles of all bodies into blocks and activate the grid under them."""
        self.bodies = [body for body in bodies if any(map(len, body.particle_sets()))]
        known, self._known, self.exchanges = self._known, {}, []
        for body in self.bodies:
            row = []
            for number, particles in enumerate(body.particle_sets()):
                exchange = known.get(id(particles)) or Exchange(
                    particles, self.lattice, self.rule, staggered=self.staggered
                )
                self._known[id(particles)] = exchange
                row.append(exchange)
                if (bad := exchange.sort()) >= 0:
                    return BadParticle(body, number, bad)
            self.exchanges.append(row)
        every = [exchange for row in self.exchanges for exchange in row]
        self.grid.cover([exchange.order for exchange in every])
        for number, exchange in enumerate(every):
            exchange.join(self.grid, number)
        return None

    def scatter(self, nodes: NDArray, dt: float, *, momentum: bool, stress: bool) -> None:
        """Momentum and mass of all particles, and impulses of stress and other forces of the bodies during dt [s]."""
        add = False
        for body, exchanges in zip(self.bodies, self.exchanges, strict=True):
            forces = body.impulses(dt) if stress else [None] * len(exchanges)
            for exchange, force in zip(exchanges, forces, strict=True):
                if momentum or exchange.particles.law is not None:
                    exchange.scatter(nodes, dt=dt, momentum=momentum, stress=stress, add=add)
                    add = True
                if force is not None:
                    exchange.scatter_values(force, nodes, add=add)
                    add = True
        if not add:
            nodes[:] = 0
