"""Where the solve for the pressure starts: from the pressure of the last step that counts, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.grid.blocks import SIDE

KEYS, SLOPES = "pressure_blocks", "pressure"  # names in a state


class PressureGuess:
    """p / (density dx) [m/s^2] in the blocks that held liquid.

    Single precision is plenty for a guess. A step proposes its own pressure, which is in force when the step is
    accepted: one that is repeated starts where the first try did.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._keys, self._slopes = np.empty(0, np.uint64), np.empty((0, SIDE**dimension), np.float32)
        self._proposed: tuple[NDArray[np.uint64], NDArray[np.float32]] | None = None

    @property
    def nbytes(self) -> int:
        """Memory held [bytes]."""
        proposed = self._proposed or ()
        return self._keys.nbytes + self._slopes.nbytes + sum(array.nbytes for array in proposed)

    def start(self, keys: NDArray[np.uint64], dt: float, phi: NDArray[np.float64]) -> None:
        """Fill phi = p dt / (density dx) (blocks, cells) [m/s] of the blocks with these sorted keys; 0 in new ones."""
        _core.carry_cells(self._keys, self._slopes, dt, keys, self._dimension, phi)

    def propose(
        self, keys: NDArray[np.uint64], fluid: NDArray[np.uint8], dt: float, phi: NDArray[np.float64]
    ) -> None:
        """The result of a step of dt [s], with liquid cells (blocks, cells)."""
        held = fluid.view(np.uint64).any(axis=1)  # eight cells at a time
        slopes = np.empty((np.count_nonzero(held), fluid.shape[1]), np.float32)
        self._proposed = keys[held], np.divide(phi[held], dt, out=slopes, casting="same_kind")

    def accept(self) -> None:
        """The step that proposed last counts."""
        if self._proposed is not None:
            (self._keys, self._slopes), self._proposed = self._proposed, None

    def state(self) -> dict[str, NDArray]:
        """What a run needs to continue with the same bits."""
        return {KEYS: self._keys.copy(), SLOPES: self._slopes.copy()}

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Continue from `state()`; without one, from no pressure."""
        self._keys = np.array(state.get(KEYS, ()), np.uint64)
        self._slopes = np.array(state.get(SLOPES, self._slopes[:0]), np.float32)
        self._proposed = None
