"""Conditions on the grid: periodic axes and regions of prescribed velocity."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from continua import _core
from continua._model import CONFIG, Axis, Finite, Vector
from continua._validation import raises
from continua.contact.colliders import FAR, KINDS
from continua.errors import SetupError
from continua.grid.blocks import SIDE


def _as_list(value: object) -> object:
    """NaN stands for None where files know no null."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(None if isinstance(v, (float, np.floating)) and np.isnan(v) else v for v in value)
    return value


@raises(SetupError)
@dataclass(config=CONFIG)
class Periodic:
    """The world repeats along one axis: what leaves at `upper` enters at `lower`.

    The length must be a multiple of 4 grid spacings.
    """

    axis: Axis = Field(description="0, 1 or 2")
    lower: Finite = Field(description="lower end [m]")
    upper: Finite = Field(description="upper end [m]")
    type: Literal["periodic"] = Field(default="periodic", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if not self.upper > self.lower:
            raise ValueError("upper must be greater than lower")


@raises(SetupError)
@dataclass(config=CONFIG)
class FixedVelocity:
    """Grid nodes in a box or on its surface take a given velocity; entries left as None (nan in files) stay free."""

    lower: Vector = Field(description="lower corner [m]")
    upper: Vector = Field(description="upper corner [m]")
    velocity: Annotated[tuple[Finite | None, ...], BeforeValidator(_as_list)] = Field(
        description="velocity [m/s]; an entry that is nan leaves that component free"
    )
    name: str | None = Field(
        default=None, kw_only=True, min_length=1, description="name, unique in the scene"
    )
    type: Literal["fixed-velocity"] = Field(default="fixed-velocity", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if not len(self.lower) == len(self.upper) == len(self.velocity):
            raise ValueError("lower, upper and velocity must have the same number of entries")
        if any(u <= low for low, u in zip(self.lower, self.upper, strict=True)):
            raise ValueError("upper must be greater than lower in every direction")

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.lower)

    @property
    def bounded(self) -> bool:
        """Regions have images on periodic axes."""
        return True

    @property
    def samples(self) -> None:
        """Boxes need no lattice."""
        return None

    def row(self, t: float) -> NDArray[np.float64]:
        """Row of the core's collider table (the region does not move)."""
        d = self.dimension
        row = np.zeros(_core.collider_columns)
        row[0], row[3] = KINDS.index("region"), 1.0
        row[7:16] = np.eye(3).ravel()
        row[16 : 16 + d] = [np.nan if v is None else v for v in self.velocity]
        lower, upper = np.array(self.lower), np.array(self.upper)
        row[22 : 22 + d] = (lower + upper) / 2
        row[25:28] = FAR
        row[25 : 25 + d] = (upper - lower) / 2
        return row


def blocks_of_period(boundary: Periodic, dx: float) -> int:
    """Length of a periodic axis in blocks of a grid of spacing dx [m]."""
    blocks = (boundary.upper - boundary.lower) / (SIDE * dx)
    if abs(blocks - round(blocks)) > 1e-6 or round(blocks) < 1:
        length, best = boundary.upper - boundary.lower, max(1, round(blocks))
        raise SetupError(
            f"a periodic length must be a multiple of {SIDE} dx: {length:.6g} m is {blocks:.4g} times {SIDE} dx, "
            f"use dx = {length / (SIDE * best):.6g}"
        )
    return round(blocks)


AnyBoundary = Annotated[Periodic | FixedVelocity, Field(discriminator="type")]
