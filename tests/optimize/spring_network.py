"""Springs in NumPy: the energy term of the minimiser's tests, and networks to hang it on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.optimize import ImplicitStep, Options, PointState, Report, Scheme, StepEnergy, Term, minimise


class Springs:
    """Phi = sum c/2 (L - l)^2 over springs i-j (J15 3.1.1). pairs (K, 2), stiffness c [N/m], rest length l (K,) [m]."""

    def __init__(self, pairs: NDArray[np.int64], stiffness: float, rest: NDArray[np.float64]) -> None:
        self.pairs, self.stiffness, self.rest = pairs, stiffness, rest

    def _lengths(self, x: NDArray) -> tuple[NDArray, NDArray]:
        """Length (K,) and unit vector (K, d) of every spring; 0 for a spring of no length."""
        r = x[self.pairs[:, 0]] - x[self.pairs[:, 1]]
        length = np.sqrt((r * r).sum(axis=1))
        return length, r / np.where(length > 0, length, 1.0)[:, None]

    def _scatter(self, on_first: NDArray, like: NDArray) -> NDArray:
        out = np.zeros_like(like)
        np.add.at(out, self.pairs[:, 0], on_first)
        np.subtract.at(out, self.pairs[:, 1], on_first)
        return out

    def value(self, x: NDArray) -> float:
        length, _ = self._lengths(x)
        return float(0.5 * self.stiffness * ((length - self.rest) ** 2).sum())

    def gradient(self, x: NDArray) -> NDArray:
        length, n = self._lengths(x)
        return self._scatter((self.stiffness * (length - self.rest))[:, None] * n, x)

    def prepare(self, x: NDArray, *, positive: bool = False) -> None:
        length, n = self._lengths(x)
        nn = n[:, :, None] * n[:, None, :]
        across = 1 - self.rest / np.where(length > 0, length, np.inf)
        across = np.maximum(across, 0.0) if positive else across
        self._blocks = self.stiffness * (nn + across[:, None, None] * (np.eye(x.shape[1]) - nn))
        self._blocks[length == 0] = 0
        self._like = x

    def product(self, dx: NDArray) -> NDArray:
        r = dx[self.pairs[:, 0]] - dx[self.pairs[:, 1]]
        return self._scatter((self._blocks @ r[:, :, None])[:, :, 0], dx)

    def diagonal(self) -> NDArray:
        out = np.zeros_like(self._like)
        for end in (0, 1):
            np.add.at(out, self.pairs[:, end], np.einsum("kii->ki", self._blocks))
        return out


def lattice(side: int, dimension: int) -> tuple[NDArray, NDArray]:
    """Points (side^d, d) of a square or cubic lattice of spacing 1 m, and pairs (K, 2) of neighbours and diagonals."""
    x = np.stack(np.meshgrid(*[np.arange(side)] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    distance = np.sqrt(((x[:, None] - x[None, :]) ** 2).sum(axis=2))
    pairs = np.argwhere(np.triu((distance > 0) & (distance < 1.5)))
    return x.astype(np.float64), pairs


def body(side: int, dimension: int, stiffness: float) -> tuple[NDArray, Springs]:
    """A lattice at rest."""
    x, pairs = lattice(side, dimension)
    rest = np.sqrt(((x[pairs[:, 0]] - x[pairs[:, 1]]) ** 2).sum(axis=1))
    return x, Springs(pairs, stiffness, rest)


class Run:
    """Masses (N,) under energy terms, advanced by implicit steps."""

    def __init__(self, x: NDArray, v: NDArray, mass: NDArray, terms: list[Term], options: Options) -> None:
        self.now, self.before = PointState(x, v), None
        self.mass, self.terms, self.options = mass, terms, options
        self.reports: list[Report] = []

    def acceleration(self) -> NDArray:
        return -sum(term.gradient(self.now.x) for term in self.terms) / self.mass[:, None]

    def step(self, dt: float, scheme: Scheme = "backward-euler", drag: float = 0.0) -> StepEnergy:
        a = self.acceleration()
        step = ImplicitStep.of(scheme, dt, self.now, a, before=self.before, drag=drag)
        energy = StepEnergy(step, self.mass, self.terms)
        x, report = minimise(energy, step.starts(a), self.options)
        self.before, self.now = self.now, PointState(x, step.velocity(x))
        self.reports.append(report)
        return energy

    def kinetic(self) -> float:
        return 0.5 * float((self.mass[:, None] * self.now.v**2).sum())

    def potential(self) -> float:
        return sum(term.value(self.now.x) for term in self.terms)
