"""Where the points of a mesh body are at first, if not at rest."""

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass
from pydantic.json_schema import SkipJsonSchema

from continua._model import CONFIG, FUNCTION_NAME, Seed, Vector, as_plain
from continua._validation import raises
from continua.errors import SetupError

Array = NDArray[np.float64]
StartFunction = Callable[[Array], ArrayLike]


@raises(SetupError)
@dataclass(config=CONFIG)
class Placed:
    """Turned, stretched, mirrored or flattened: a point that rests at X starts at x = matrix X + shift."""

    matrix: Annotated[tuple[Vector, ...], BeforeValidator(as_plain)] = Field(
        description="dx_a / dX_b, rows a, columns b; all zeros put every point at shift"
    )
    shift: Vector | None = Field(default=None, description="displacement after that [m]; left out: none")
    type: Literal["placed"] = Field(default="placed", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        d = self.dimension
        if d not in (2, 3) or any(len(row) != d for row in self.matrix):
            raise ValueError("matrix must have 2 rows of 2 numbers or 3 rows of 3")
        if self.shift is not None and len(self.shift) != d:
            raise ValueError(f"shift needs {d} coordinates like matrix")

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.matrix)

    def __call__(self, rest: Array) -> Array:
        """Positions (N, d) [m] of points that rest at (N, d) [m]."""
        shift = np.zeros(self.dimension) if self.shift is None else np.array(self.shift)
        return rest @ np.array(self.matrix).T + shift


@raises(SetupError)
@dataclass(config=CONFIG)
class Scattered:
    """Every point at a random place in a box, whatever its neighbours do."""

    lower: Vector = Field(description="lowest corner of the box [m]")
    upper: Vector = Field(description="highest corner of the box [m]")
    seed: Seed = Field(default=0, description="seed of the random numbers")
    type: Literal["scattered"] = Field(default="scattered", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if len(self.lower) != len(self.upper):
            raise ValueError("lower and upper must have the same number of coordinates")
        if any(high < low for low, high in zip(self.lower, self.upper, strict=True)):
            raise ValueError("no coordinate of upper may be less than that of lower")

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.lower)

    def __call__(self, rest: Array) -> Array:
        """Positions (N, d) [m] of points that rest at (N, d) [m]."""
        return np.random.default_rng(self.seed).uniform(self.lower, self.upper, rest.shape)


AnyStart = Annotated[Placed | Scattered, Field(discriminator="type")]

# What mesh bodies accept from Python: also functions, which scene files and their schema cannot hold.
StartLike = AnyStart | SkipJsonSchema[Annotated[StartFunction, FUNCTION_NAME]]


def first_positions(start: Placed | Scattered | StartFunction | None, rest: Array) -> Array:
    """Where points that rest at (N, d) [m] are at first (N, d) [m]; None means at rest."""
    if start is None:
        return rest.copy()
    d = rest.shape[1]
    if isinstance(start, (Placed, Scattered)) and start.dimension != d:
        raise SetupError(f"a {start.dimension}D {type(start).__name__} cannot place a {d}D mesh")
    if not callable(start):
        raise SetupError(
            f"start must be Placed, Scattered or a function of the rest positions, not {type(start).__name__}"
        )
    try:
        x = np.array(start(rest.copy()), dtype=np.float64)
    except (TypeError, ValueError):
        raise SetupError(f"start must give numbers in an array of shape {rest.shape}") from None
    if x.shape != rest.shape:
        raise SetupError(f"start must give an array of shape {rest.shape} like the mesh, not {x.shape}")
    if not np.isfinite(x).all():
        raise SetupError("start must give finite positions")
    return x
