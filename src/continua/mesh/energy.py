"""Energies of the node positions of a mesh: value, gradient and Hessian, computed in the core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from continua import _core
from continua.errors import SetupError

Array = NDArray[np.float64]
Operator = Callable[[Array], Array]
Kernel = _core.MeshElements | _core.MeshSprings | _core.MeshRods


class BlockHessian:
    """Assembled Hessian of a native energy: one d x d block for every pair of nodes that share an element.

    Made by `NativeEnergy.hessian`. An assembled product takes a third of the time of one element by element, and
    assembly as much as five of those, so that a Newton iteration with 30 products is twice as fast.
    """

    def __init__(self, kernel: Kernel, nodes: tuple[int, int]) -> None:
        self._kernel: Kernel = kernel
        self._nodes = nodes
        self.values: Array = np.empty(
            kernel.hessian_size()
        )  # blocks column by column, and four numbers of padding

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self._nodes[1]

    def product(self, dx: ArrayLike) -> Array:
        """Hessian [N/m] times the displacements dx (N, d) [m]: (N, d) [N]."""
        out = np.empty(self._nodes)
        self._kernel.product(self.values, node_array(dx), out)
        return out

    def diagonal(self) -> Array:
        """Diagonal of the Hessian, (N, d) [N/m]."""
        out = np.empty(self._nodes)
        self._kernel.diagonal(self.values, out)
        return out

    def pattern(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """First block of every row (N + 1,), and the column of every block."""
        return self._kernel.pattern()

    def blocks(self) -> Array:
        """The blocks of the pattern (n, d, d), column by column."""
        d = self._nodes[1]
        return self.values[: len(self.pattern()[1]) * d * d].reshape(-1, d, d)

    def matrix(self) -> sparse.bsr_matrix:
        """The same as a SciPy matrix (N d, N d), for direct solvers."""
        rows, columns = self.pattern()
        count, d = self._nodes
        shape = (count * d, count * d)
        return sparse.bsr_matrix((self.blocks().transpose(0, 2, 1), columns, rows), shape=shape)


class NativeEnergy:
    """A `continua.optimize.Term` whose formulas live in the core. The same bits for any number of threads."""

    parameters: Array  # (n,) or (n, M): numbers of all elements or of every one

    def __init__(self, kernel: Kernel, nodes: tuple[int, int]) -> None:
        self._kernel: Kernel = kernel
        self._nodes = nodes  # number of nodes, dimension
        self._prepared: BlockHessian | None = None

    def value(self, x: ArrayLike) -> float:
        """Energy [J] at the positions x (N, d) [m], +inf where x is not admissible."""
        return self._kernel.energy(node_array(x))

    def gradient(self, x: ArrayLike) -> Array:
        """Derivative of the energy, minus the forces, (N, d) [N]."""
        out = np.empty(self._nodes)
        self._kernel.gradient(node_array(x), out)
        return out

    def hessian(
        self, x: ArrayLike, *, positive: bool = False, into: BlockHessian | None = None
    ) -> BlockHessian:
        """Second derivative at x (N, d); `positive` removes the negative eigenvalues of every element.

        `into`: an earlier Hessian of this energy that is no longer needed, to be overwritten.
        """
        made = self._new_hessian() if into is None else into
        self._kernel.hessian(node_array(x), positive, made.values)
        return made

    def damping(self, x: ArrayLike, *, into: BlockHessian | None = None) -> BlockHessian:
        """Matrix K of Rayleigh damping, forces -k K v for velocities v (N, d) and a coefficient k [s], at x (N, d).

        Symmetric, without negative eigenvalues, and the Hessian where nothing is deformed. Here: the Hessian at x,
        without the negative eigenvalues of every element. `into` as in `hessian`.
        """
        return self.hessian(x, positive=True, into=into)

    def prepare(self, x: ArrayLike, *, positive: bool = False) -> None:
        """Make ready for `product` and `diagonal` at x (N, d); `positive` as in `hessian`."""
        self._prepared = self.hessian(x, positive=positive, into=self._prepared)

    def product(self, dx: ArrayLike) -> Array:
        """Hessian at the prepared positions times dx (N, d) [m]: (N, d) [N]."""
        return self._ready().product(dx)

    def diagonal(self) -> Array:
        """Diagonal of the Hessian at the prepared positions, (N, d) [N/m]."""
        return self._ready().diagonal()

    def inverse(self, added: Array, weight: float = 1.0) -> Operator | None:
        """Product with about the inverse of weight K + diag(added), positive definite, for a preconditioner.

        K is the Hessian at the prepared positions, added (N, d) [N/m] positive. None where the diagonal has to do.
        """
        return None

    def _new_hessian(self) -> BlockHessian:
        return BlockHessian(self._kernel, self._nodes)

    def _ready(self) -> BlockHessian:
        if self._prepared is None:
            raise SetupError("call prepare(x) before asking for products or the diagonal of a Hessian")
        return self._prepared


def node_array(x: ArrayLike) -> Array:
    """As the core wants arrays: double precision, contiguous and writable."""
    return np.require(x, np.float64, ["C", "W"])
