"""What a transfer scheme asks of the core: which velocity modes particles carry and what happens to them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from continua.errors import SetupError

Exponents = tuple[int, ...]

# How the core keeps the velocity gradient of a particle.
NONE, GRADIENT, MOMENT, SPIN = range(4)


@dataclass(frozen=True)
class Plan:
    """Settings of both transfers for one dimension and degree."""

    affine: int = NONE
    flip: float = 0.0  # fraction of FLIP
    keep: float = 1.0  # factor on C and higher modes in every step
    shear_damping: float = 0.0  # fraction of the symmetric part of C removed in every step
    light: float = 0.0  # nodes lighter than this fraction of a particle switch off its differences
    moving_map: bool = False
    linear: NDArray[np.int32] = field(
        default_factory=lambda: np.ones(3, np.int32)
    )  # (d,) axes of C that are kept
    high: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 3), np.int32))  # (n, 3) exponents


def kept_gradient(plan: Plan, C: NDArray, offset: NDArray, staggered: bool = False) -> NDArray:
    """What particles keep of a velocity gradient C (N, d, d) [1/s]; offset (N, d): their place in the grid in cells.

    Only linear splines keep something else than C: its moment C D, or the skew part of that (J15 5.4, 5.8). On a
    staggered grid the components of the velocity lie half a cell off along the other axes.
    """
    if plan.affine not in (MOMENT, SPIN):
        return C
    d = C.shape[-1]
    place = offset[:, None, :] - 0.5 * (1 - np.eye(d)) * staggered  # of every component
    fraction = place - np.floor(place)
    moment: NDArray = C * (fraction * (1 - fraction))
    return moment - moment.transpose(0, 2, 1) if plan.affine == SPIN else moment


def mode_order(dimension: int, degree: int) -> list[Exponents]:
    """All modes in the order in which they are counted (G20 A.1.2, A.6); 2 means the orthogonalised square."""
    corners = sorted(itertools.product((0, 1), repeat=dimension), key=lambda e: (sum(e), [-k for k in e]))
    if degree != 2:
        return corners + sorted(set(itertools.product(range(degree + 1), repeat=dimension)) - set(corners))
    pure = [tuple(2 * (a == b) for b in range(dimension)) for a in range(dimension)]
    if dimension == 2:
        return [*corners, *pure, (2, 1), (1, 2), (2, 2)]
    words = "220 202 022 222 210 201 211 120 021 121 102 012 112 221 212 122"
    return [*corners, *pure, *(tuple(int(k) for k in word) for word in words.split())]


def resolve_modes(modes: int | Sequence[Exponents] | None, dimension: int, degree: int) -> list[Exponents]:
    """Exponents of the modes that are asked for, by number or one by one; None: all products of linear factors."""
    everything = mode_order(dimension, degree)
    products = 2**dimension
    if modes is None:
        return everything[:products]
    if isinstance(modes, int):
        most = len(everything)
        if modes == most or 1 <= modes <= (most if degree == 2 else products):
            return everything[:modes]
        some = f"1 to {products}, or all {most}" if degree == 3 else f"1 to {most}"
        raise SetupError(
            f"PolyPIC has no {modes} modes in {dimension}D with splines of degree {degree}; use {some}"
        )
    given = [tuple(int(k) for k in mode) for mode in modes]
    for mode in given:
        if mode not in everything:
            raise SetupError(
                f"PolyPIC mode {mode} does not fit: it needs {dimension} exponents between 0 and {degree}"
            )
    if len(set(given)) < len(given):
        raise SetupError("PolyPIC modes must differ from each other")
    if (0,) * dimension not in given:
        raise SetupError("PolyPIC needs the constant mode " + str((0,) * dimension))
    return given


def split(modes: Sequence[Exponents]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Which linear modes are there (d,), and the exponents of all higher ones (n, 3), 2D ones with a leading 0."""
    dimension = len(modes[0])
    linear = [tuple(int(a == b) for b in range(dimension)) in modes for a in range(dimension)]
    high = [mode for mode in modes if sum(mode) > 1]
    table = np.zeros((len(high), 3), np.int32)
    if high:
        table[:, 3 - dimension :] = high
    return np.array(linear, np.int32), table
