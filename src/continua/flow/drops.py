"""Liquid that touches no wall: a part of it keeps its momentum and its angular momentum through a whole step.

On faces nothing does by itself: pressure takes all faces for equally heavy, and what is extrapolated beyond the
surface replaces what particles brought there. What a part loses by that is given back to its faces as one rigid motion,
which has no divergence. Nor may the control of volume move or turn a part as a whole.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.flow.pressure import PoissonSystem
from continua.grid.blocks import Lattice

SINGULAR = (
    1e-9  # of the largest eigenvalue of the moments of a part, in cells: motions below it are left alone
)


class Drops:
    """Connected parts of the liquid without walls, with the layers of faces around them that are extrapolated."""

    def __init__(
        self,
        system: PoissonSystem,
        keys: NDArray[np.uint64],
        lattice: Lattice,
        fluid: NDArray[np.uint8],
        opening: NDArray,
        neighbours: NDArray[np.int32],
        layers: int,
    ) -> None:
        self._labels = np.empty(fluid.shape, np.int32)
        self.count = system.label_open_parts(self._labels)
        if not self.count:
            return
        d = self._dimension = lattice.dimension
        centres = np.zeros((self.count, 3))
        centres[:, :d] = self._middles(np.asarray(_core.node_coordinates(keys, d)))
        _core.spread_labels(self._labels, np.empty_like(self._labels), neighbours, d, layers)
        self._parts = (keys, neighbours, self._labels, fluid, opening, centres)
        # A part may reach around a periodic axis, about which it cannot turn then.
        planes = [(0, 1)] if d == 2 else [(1, 2), (2, 0), (0, 1)]
        turns = [d + k for k, plane in enumerate(planes) if not lattice.period[list(plane)].any()]
        self._motions = np.array([*range(d), *turns])

    def _middles(self, place: NDArray) -> NDArray[np.float64]:
        """Mean coordinates (count, d) of the cells of every part."""
        own = (self._labels >= 0) & (self._labels < self.count)
        labels, x = self._labels[own], place[own].astype(np.float64)
        cells = np.bincount(labels, minlength=self.count)
        sums = [np.bincount(labels, column, self.count) for column in x.T]
        return np.stack(sums, axis=1) / cells[:, None]

    def _momenta(self, mass: NDArray, velocity: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Moments (count, k, k) of rigid motions, and momenta (count, k) of the faces for them."""
        k = 3 if self._dimension == 2 else 6
        gram, momentum = np.empty((self.count, k, k)), np.empty((self.count, k))
        _core.part_momenta(*self._parts, mass, velocity, self._dimension, gram, momentum)
        return gram, momentum

    def remember(self, mass: NDArray, velocity: NDArray) -> None:
        """What the parts have, with the mass of faces, before anything but gravity acted (blocks, cells, 4)."""
        if self.count:
            self._gram, self._before = self._momenta(mass, velocity)

    def restore(self, mass: NDArray, velocity: NDArray) -> None:
        """Give it back to the velocities on faces (blocks, cells, 4)."""
        if self.count:
            self._take(self._momenta(mass, velocity)[1] - self._before, velocity)

    def hold(self, mass: NDArray, displacement: NDArray) -> None:
        """Take from displacements on faces (blocks, cells, 4) what moves or turns a part as a whole."""
        if self.count:
            self._take(self._momenta(mass, displacement)[1], displacement)

    def _take(self, momenta: NDArray[np.float64], field: NDArray) -> None:
        """Subtract the rigid motions with these momenta (count, k) from a field on faces."""
        use, motions = self._motions, np.zeros_like(momenta)
        inverse = np.linalg.pinv(self._gram[:, use][:, :, use], rcond=SINGULAR, hermitian=True)
        motions[:, use] = (inverse @ momenta[:, use, None])[..., 0]
        _core.subtract_motions(*self._parts, motions, self._dimension, field)
