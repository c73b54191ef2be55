"""Points and the nodes of a grid: quadratic B-splines as sparse matrices, and affine transfers (APIC) with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from continua.errors import SetupError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stencils:
    """Nodes that some point reaches, and the weights of all of them for several sets of points.

    nodes (Ng, d) [m] are multiples of dx, in ascending order of their lattice coordinates; weights[k] (N_k, Ng) are the
    quadratic B-splines of the points of set k, 3^d in each row.
    """

    nodes: Array
    weights: tuple[sparse.csr_array, ...]


def stencils(sets: list[Array], dx: float) -> Stencils:
    """Nodes and weights of sets of points (N_k, d) [m] on a grid with a node at 0 and spacing dx [m].

    Give points relative to a node nearby: weights lose digits with the distance from 0 in cells.
    """
    points = np.concatenate(sets)
    count, d = points.shape
    place = points / dx
    base = np.floor(place - 0.5)
    weights = _products(place - base)
    lattice = base.astype(np.int64)
    lower = lattice.min(axis=0)
    extent = lattice.max(axis=0) - lower + 3
    if np.prod(extent.astype(np.float64)) > 2.0**62:
        raise SetupError("bodies are too far apart to be numbered on a grid this fine; make dx larger")
    stride = np.append(np.cumprod(extent[:0:-1])[::-1], 1)
    # Many points share a stencil: nodes are found from the few stencils there are.
    places, which = np.unique((lattice - lower) @ stride, return_inverse=True)
    steps = np.stack(np.meshgrid(*[np.arange(3)] * d, indexing="ij"), axis=-1).reshape(-1, d) @ stride
    numbers, column = np.unique(places[:, None] + steps, return_inverse=True)
    columns = column.astype(np.int32).reshape(-1, 3**d)[which.reshape(-1)]
    nodes = (numbers[:, None] // stride % extent + lower) * dx
    ends = np.cumsum([0, *(len(s) for s in sets)])
    return Stencils(
        nodes,
        tuple(
            _rows(weights[a:b], columns[a:b], len(nodes)) for a, b in zip(ends[:-1], ends[1:], strict=True)
        ),
    )


def _products(f: Array) -> Array:
    """Weights (N, 3^d) of points at f (N, d) in [1/2, 3/2) cells from the first node of their stencil."""
    axes = [np.stack([0.5 * (1.5 - t) ** 2, 0.75 - (t - 1) ** 2, 0.5 * (t - 0.5) ** 2], axis=1) for t in f.T]
    return reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1), axes)


def _rows(weights: Array, columns: NDArray[np.int32], width: int) -> sparse.csr_array:
    """A sparse matrix with equally many entries in every row."""
    count, each = weights.shape
    start = np.arange(count + 1, dtype=np.int32) * np.int32(each)
    return sparse.csr_array((weights.ravel(), columns.ravel(), start), shape=(count, width))


def to_nodes(weights: sparse.csr_array, x: Array, nodes: Array, p: Array, B: Array) -> Array:
    """Momenta (Ng, d) of the nodes: sum_p W_pi (p_p + B_p (x_i - x_p)), M23 section 5.

    weights (N, Ng); p (N, d) momenta and B (N, d, d) affine momenta (mass times A) of points x (N, d).
    """
    d = x.shape[1]
    rows = np.concatenate([p - np.einsum("nab,nb->na", B, x), B.reshape(-1, d * d)], axis=1)
    sums = weights.T @ rows
    return sums[:, :d] + np.einsum("nab,nb->na", sums[:, d:].reshape(-1, d, d), nodes)


def to_points(weights: sparse.csr_array, x: Array, nodes: Array, v: Array, dx: float) -> tuple[Array, Array]:
    """Velocities (N, d) and affine velocities (N, d, d) of points x (N, d) from those of nodes v (Ng, d).

    A_p = 4/dx^2 sum_i W_pi v_i (x_i - x_p)^T, M23 section 5: the second moment of the weights is dx^2/4 everywhere.
    """
    d = x.shape[1]
    outer = (v[:, :, None] * nodes[:, None, :]).reshape(-1, d * d)
    sums = weights @ np.concatenate([v, outer], axis=1)
    V = sums[:, :d]
    return V, 4 / dx**2 * (sums[:, d:].reshape(-1, d, d) - V[:, :, None] * x[:, None, :])
