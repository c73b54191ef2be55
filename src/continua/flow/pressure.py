"""Symmetric systems on the cells of a block-sparse grid: pressure, and whatever else diffuses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.grid.blocks import Lattice


@dataclass(frozen=True)
class PoissonReport:
    """How a solve ended; residuals are largest absolute entries, in the units of the right-hand side."""

    iterations: int
    residual: float  # true residual of the result
    first_residual: float  # of the initial guess
    unknowns: int
    levels: int  # of the multigrid hierarchy
    removed: float  # largest mean taken out of the right-hand side of a part without any known value


class PoissonSystem:
    """For every unknown cell: sum over faces of coupling (phi - phi_neighbour) + diagonal phi = rhs.

    phi is 0 in all other cells (beyond a free surface); a coupling of 0 is a wall. With distances from the surface phi
    is 0 where the surface is: the coupling across it is divided by the part of the way to the other cell (ghost fluid,
    Gi02), which changes the diagonal only. Parts of the unknowns that are connected neither to such a cell nor to a
    positive diagonal are free up to a constant: there the mean of the right-hand side is ignored and phi has mean 0.
    Solved by conjugate gradients in double precision, with one multigrid
    cycle in single precision as the preconditioner; the same bits for any number of threads.

    keys (blocks,) uint64: sorted Morton keys; every block with a face of an unknown cell must be there.
    fluid (blocks, 4^d) uint8: 1 where there is an unknown.
    coupling (blocks, 4^d, 4) float32 or float64: channel a belongs to the lower face of the cell along axis a.
    diagonal (blocks, 4^d) float64 or None. Couplings and diagonal must not be negative.
    distance (blocks, 4^d) float64 or None: signed, in any unit, negative in unknown cells and not in those beside them.
    neighbours (blocks, 3^d) or None: blocks around each, or -1, if they are known already.
    """

    def __init__(
        self,
        keys: NDArray[np.uint64],
        lattice: Lattice,
        fluid: NDArray[np.uint8],
        coupling: NDArray,
        diagonal: NDArray[np.float64] | None = None,
        distance: NDArray[np.float64] | None = None,
        neighbours: NDArray[np.int32] | None = None,
    ) -> None:
        self._system = _core.PoissonSystem(
            keys, lattice, lattice.dimension, fluid, coupling, diagonal, distance, neighbours
        )

    def solve(
        self,
        rhs: NDArray[np.float64],
        phi: NDArray[np.float64],
        *,
        tolerance: float,
        max_iterations: int = 200,
    ) -> PoissonReport:
        """Solve for rhs (blocks, 4^d); phi (blocks, 4^d) is the initial guess and is overwritten by the result.

        Stops when the largest residual is at most the tolerance, or when rounding allows no further progress.
        """
        return PoissonReport(**self._system.solve(rhs, phi, tolerance, max_iterations))

    def apply(self, phi: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Left-hand side for phi (blocks, 4^d) into out (blocks, 4^d)."""
        self._system.apply(phi, out)

    def precondition(self, r: NDArray[np.float64], z: NDArray[np.float64]) -> None:
        """One multigrid cycle for the right-hand side r (blocks, 4^d) into z (blocks, 4^d)."""
        self._system.precondition(r, z)

    def label_open_parts(self, labels: NDArray[np.int32]) -> int:
        """Number the connected parts of the unknowns none of whose couplings is below 1: they touch no wall.

        labels (blocks, 4^d): their numbers from 0 in them, the largest integer in other unknowns, -1 elsewhere; returns
        how many there are, and without any leaves -1 everywhere.
        """
        return self._system.label_open_parts(labels)
