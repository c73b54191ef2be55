"""How far a grid reaches from the origin of its lattice, and where that origin has to be for bodies far from zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

from continua.errors import SetupError
from continua.grid.blocks import SIDE, Lattice

Box = tuple[NDArray[np.float64], NDArray[np.float64]]  # lowest and highest coordinates (d,) [m]
REACH = SIDE * (2**20 - 2)
"""Cells that a grid reaches from its origin along every axis, either way: keys have 21 bits per axis."""
NEAR = REACH // 2  # cells from zero up to which bodies leave the origin at zero
FINE, COARSE = (
    1e-3,
    1e-2,
)  # cells between neighbouring numbers: above the first a warning, above the second an error


def box_of(x: NDArray) -> Box | None:
    """Lowest and highest coordinates (d,) of the finite ones of some points (N, d) [m], if there are any."""
    x = x[np.isfinite(x).all(axis=1)]
    return (x.min(axis=0).astype(np.float64), x.max(axis=0).astype(np.float64)) if len(x) else None


def lattice_offset(boxes: Sequence[Box], dimension: int, dx: float) -> NDArray[np.int64]:
    """Blocks (d,) by which the lattice of a grid with spacing dx [m] is moved so that it reaches all boxes.

    Whole blocks, and none at all up to two million cells from zero: what is computed there does not depend on how far a
    grid can be made to reach.
    """
    if not boxes:
        return np.zeros(dimension, np.int64)
    lower = np.min([low for low, _ in boxes], axis=0)
    upper = np.max([high for _, high in boxes], axis=0)
    far = np.maximum(np.abs(lower), np.abs(upper)) > NEAR * dx
    middle = np.clip(np.round((lower / 2 + upper / 2) / (SIDE * dx)), -(2.0**53), 2.0**53)
    return np.where(far, middle, 0.0).astype(np.int64)


def resolution(lower: NDArray, upper: NDArray, dtype: DTypeLike) -> float:
    """Distance of neighbouring numbers of a type at the far end of a box from lower to upper (d,) [m]."""
    with np.errstate(over="ignore", invalid="ignore"):
        gap = np.spacing(np.abs([lower, upper]).max().astype(dtype))
    return float(gap) if np.isfinite(gap) else np.inf


def check_resolution(what: str, lower: NDArray, upper: NDArray, dx: float, dtype: DTypeLike) -> str:
    """Refuse positions between lower and upper (d,) [m] that the numbers of a simulation cannot tell apart, or return a
    warning if they hardly can."""
    gap = resolution(lower, upper, dtype)
    if gap <= FINE * dx:
        return ""
    single = np.dtype(dtype) == np.float32
    far = max(lower.min(), upper.max(), key=abs)
    instead = 'use precision = "double", or ' if single else ""
    text = (
        f"{what} reaches to {far:.6g} m, where neighbouring numbers of {'single' if single else 'double'} precision "
        f"are {gap:.2g} m apart, too much for cells of dx = {dx:.4g} m; {instead}move the scene nearer to zero"
    )
    if gap > COARSE * dx:
        raise SetupError(text)
    return text


def check_reach(what: str, lower: NDArray, upper: NDArray, lattice: Lattice) -> None:
    """Refuse a body between lower and upper (d,) [m] that the grid does not reach."""
    for axis in np.flatnonzero(lattice.period == 0):
        low, high = range_of(lattice, int(axis))
        if lower[axis] <= low or upper[axis] >= high:
            raise SetupError(
                f"{what} lies between {lower[axis]:.6g} m and {upper[axis]:.6g} m along {'xyz'[axis]}, but the grid "
                f"reaches from {low:.6g} m to {high:.6g} m ({REACH} cells either way); bring the bodies closer "
                "together, add far ones before the first step, or use a larger dx"
            )


def range_of(lattice: Lattice, axis: int) -> tuple[float, float]:
    """Between which positions [m] particles have nodes on an axis that is not periodic."""
    origin, reach = float(lattice.origin[axis]), REACH * lattice.dx
    return origin - reach, origin + reach
