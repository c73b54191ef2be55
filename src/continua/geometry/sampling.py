"""Fill shapes with particles."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from continua._core import poisson_disk
from continua._validation import shown
from continua.errors import GeometryError
from continua.geometry.base import Array, Shape
from continua.geometry.combine import Rotated
from continua.geometry.points import Points

Indices = NDArray[np.int64]
Method = Literal["regular", "jittered", "poisson"]

MAX_CELLS = 4_000_000_000  # lattice cells in the bounds of a shape
MAX_POINTS = 200_000_000  # particles of one body, 5 GB
MAX_POISSON_BLOCKS = 10_000_000  # blocks with Poisson-disk points, 3 GB
CHUNK = 1 << 20  # points whose distance is evaluated at once

# Smallest distance of Poisson-disk points over the spacing of a lattice of the same density (measured).
POISSON_RATIO = {2: 0.783, 3: 0.835}


class TooManyPoints(GeometryError):
    """More points than allowed fit into a shape: at least `count`."""

    def __init__(self, message: str, count: float) -> None:
        super().__init__(message)
        self.count = count


def sample(
    shape: Shape, spacing: float, method: Method = "regular", seed: int = 0, most: float = math.inf
) -> tuple[Array, Array]:
    """Points (N, d) [m] that fill the shape, and their volumes (N,) [m^3] ([m^2] in 2D).

    `spacing` [m] is the side of the cell (square, cube) that one particle stands for.

    - regular: lattice in the middle of the shape's bounds; a box whose sides are multiples of the spacing is
      filled exactly.
    - jittered: the same lattice, every point moved at random within its cell.
    - poisson: random, but no two points closer than 0.783 spacings in 2D and 0.835 in 3D; same mean density.

    The volumes share out the volume of the shape where it is known and are spacing^d otherwise. Equal seeds
    give equal points. `Points` are returned as they are; a `Rotated` shape is filled before it is turned.
    More than `most` points raise `TooManyPoints` before they are made.
    """
    if not (math.isfinite(spacing) and spacing > 0):
        raise GeometryError(f"the spacing of particles must be greater than 0, not {spacing}")
    if not isinstance(method, str) or method not in get_args(Method):
        raise GeometryError(
            f"there is no sampling method {shown(method)}, use one of {', '.join(get_args(Method))}"
        )
    if seed < 0:
        raise GeometryError(f"the seed of the sampling must not be negative, got {seed}")
    if isinstance(shape, Rotated):
        points, volumes = sample(shape.shape, spacing, method, seed, most)
        return shape.to_world(points), volumes
    points = (
        shape.positions.copy() if isinstance(shape, Points) else _fill(shape, spacing, method, seed, most)
    )
    return points, _volumes(shape, spacing, len(points))


def _fill(shape: Shape, spacing: float, method: Method, seed: int, most: float) -> Array:
    lower, upper = shape.bounds()
    # Less than half a spacing wide in all directions is a mistake in the units rather than one particle.
    if np.all(upper - lower < spacing / 2):
        raise _empty(shape, spacing)
    points = _poisson(shape, spacing, seed) if method == "poisson" else _lattice(shape, spacing, most)
    if len(points) == 0:
        raise _empty(shape, spacing)
    if method == "jittered":
        points += spacing * (uniform(seed, points.size).reshape(points.shape) - 0.5)
    return points


def _volumes(shape: Shape, spacing: float, count: int) -> Array:
    if isinstance(shape, Points) and shape.volumes is not None:
        return shape.volumes.copy()
    total = shape.volume()
    return np.full(count, spacing**shape.dimension if total is None else total / count)


def _empty(shape: Shape, spacing: float) -> GeometryError:
    return GeometryError(
        f"no particles fit into this {type(shape).__name__} of size {_size(shape)} m at a spacing of "
        f"{spacing:g} m, use a finer grid or a larger body"
    )


def _size(shape: Shape) -> str:
    lower, upper = shape.bounds()
    return " x ".join(f"{side:g}" for side in upper - lower)


def uniform(seed: int, count: int) -> Array:
    """Random numbers (count,) in [0, 1), the same on every machine and for every NumPy version."""
    bits: NDArray[np.uint64] = np.random.PCG64(seed).random_raw(count)
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _lattice(shape: Shape, spacing: float, most: float = math.inf) -> Array:
    """Cell centres inside the shape. The lattice has its middle in the middle of the bounds."""
    lower, upper = shape.bounds()
    # More than half a cell beyond the bounds has its centre outside: rounding loses nothing.
    counts = np.maximum(np.floor((upper - lower) / spacing + (0.5 - 1e-9)), 1)
    if np.prod(counts) > MAX_CELLS:
        raise _too_many(shape, spacing, "use a coarser grid")
    counts = counts.astype(np.int64)
    origin = (lower + upper) / 2 - counts * spacing / 2
    cells_per_block = {2: 16, 3: 8}[shape.dimension]
    blocks = _near_blocks(shape, origin, counts, spacing, cells_per_block)
    cells = np.indices((cells_per_block,) * shape.dimension).reshape(shape.dimension, -1).T
    # Points on the surface stay out, whatever the rounding of their coordinates.
    skin = max(1e-9 * spacing, 8 * float(np.spacing(np.abs([lower, upper]).max())))
    inside: list[Indices] = []
    pieces = np.array_split(blocks, 1 + len(blocks) * len(cells) // CHUNK)
    for number, piece in enumerate(pieces, 1):
        index = (piece[:, None] * cells_per_block + cells).reshape(-1, shape.dimension)
        index = index[(index < counts).all(axis=1)]
        index = index[shape.signed_distance(_centers(origin, index, spacing)) < -skin]
        inside.append(np.ravel_multi_index(tuple(index.T), tuple(counts)))
        found = sum(map(len, inside))
        if found > min(most, MAX_POINTS):
            error = _too_many(shape, spacing, "use a coarser grid")
            raise TooManyPoints(str(error), found * len(pieces) / number)
    flat = np.sort(np.concatenate(inside))
    return _centers(origin, np.stack(np.unravel_index(flat, tuple(counts)), axis=1), spacing)


def _centers(origin: Array, index: Indices, spacing: float) -> Array:
    return origin + (index + 0.5) * spacing


def _near_blocks(
    shape: Shape, origin: Array, counts: Indices, spacing: float, cells: int, margin: float = 0.0
) -> Indices:
    """Numbers (B, d) of the blocks of cells^d lattice cells that may come within `margin` [m] of the shape.

    The signed distance is never larger than the true one, so that a block whose centre lies further out than
    half its diagonal holds nothing. Long thin shapes in large bounds therefore cost little.
    """
    blocks = -(-counts // cells)
    total = int(np.prod(blocks))
    reach = margin + 0.5 * cells * spacing * math.sqrt(shape.dimension)
    near = []
    for start in range(0, total, CHUNK):
        flat = np.arange(start, min(start + CHUNK, total))
        index = np.stack(np.unravel_index(flat, tuple(blocks)), axis=1)
        near.append(index[shape.signed_distance(_centers(origin, index, cells * spacing)) <= reach])
    return np.concatenate(near)


def _poisson(shape: Shape, spacing: float, seed: int) -> Array:
    """Poisson-disk points of the space round the shape, those inside.

    Sampling a little more than the shape keeps the density even up to its surface.
    """
    radius = POISSON_RATIO[shape.dimension] * spacing
    lower, upper = shape.bounds()
    origin = lower - radius
    counts = np.ceil((upper + radius - origin) / (2 * radius))  # blocks of two radii
    if np.prod(counts) > MAX_CELLS / 8:
        raise _too_many(shape, spacing, "use a coarser grid")
    index = _near_blocks(shape, origin, counts.astype(np.int64), 2 * radius, 1, margin=radius)
    if len(index) > MAX_POISSON_BLOCKS:
        raise _too_many(shape, spacing, "use a coarser grid or regular sampling")
    blocks = np.zeros(counts.astype(np.int64), dtype=np.uint8)
    blocks[tuple(index.T)] = 1
    points: Array = origin + radius * poisson_disk(blocks, seed)
    keep = [shape.signed_distance(x) < 0 for x in np.array_split(points, 1 + len(points) // CHUNK)]
    return points[np.concatenate(keep)]


def _too_many(shape: Shape, spacing: float, advice: str) -> GeometryError:
    return GeometryError(
        f"this {type(shape).__name__} of size {_size(shape)} m would need too many particles at a spacing of "
        f"{spacing:g} m, {advice}"
    )
