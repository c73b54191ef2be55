"""Energies of several mesh bodies over the positions of all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from continua.mesh import NativeEnergy, Rayleigh
from continua.optimize import Term
from continua.optimize.krylov import Operator

Array = NDArray[np.float64]
LEAST = 1e-12  # of a diagonal, that rounding leaves


class BodyTerms:
    """The terms of every body, each over its own rows of the positions (N, d) of all."""

    def __init__(self, terms: Sequence[tuple[slice, Term]]) -> None:
        self._terms = terms

    def value(self, x: Array) -> float:
        return sum(term.value(x[rows]) for rows, term in self._terms)

    def gradient(self, x: Array) -> Array:
        total = np.zeros_like(x)
        for rows, term in self._terms:
            total[rows] += term.gradient(x[rows])
        return total

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        self._shape = x.shape
        for rows, term in self._terms:
            term.prepare(x[rows], positive=positive)

    def product(self, dx: Array) -> Array:
        total = np.zeros_like(dx)
        for rows, term in self._terms:
            total[rows] += term.product(dx[rows])
        return total

    def diagonal(self) -> Array:
        total = np.zeros(self._shape)
        for rows, term in self._terms:
            total[rows] += term.diagonal()
        return total

    def inverses(self, diagonal: Array) -> list[tuple[slice, Operator]]:
        """Products with about the inverse of the Hessian of a step, whose diagonal (N, d) is given, for the rows of
        bodies that have better ones than that diagonal. Damping is like a little more of what it damps."""
        found = []
        for rows, term in self._terms:
            if isinstance(term, NativeEnergy):
                damping = [d.weight for r, d in self._terms if r == rows and isinstance(d, Rayleigh)]
                weight = 1.0 + sum(damping)
                added = np.maximum(
                    diagonal[rows] - weight * np.maximum(term.diagonal(), 0.0), LEAST * diagonal[rows]
                )
                if inverse := term.inverse(added, weight):
                    found.append((rows, inverse))
        return found
